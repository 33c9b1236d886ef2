"""Run scorers beside the event loop: neural ones in a thread, lexical ones in a thread or in processes."""

import asyncio
import gc
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol, TypeVar

from core.errors import AssayError, InputError
from core.metrics.lexical.family import Choice
from core.metrics.scorer import Group, Scorer, ScoringPair
from core.schema.scores import Metric, Score

Opener = Callable[[], Scorer]
"""Makes a scorer; must be picklable for worker processes."""
Plain = tuple[tuple[float | None, ...], Mapping[int, str], float, str | None]
Done = TypeVar("Done")
NO_NUMBER = "the metric gave no finite number"
TEXTS_IN_BLOCK = 1_000
"""Texts that a cluster's worker scores at a time: about half a second, so that sending them costs little."""
BLOCKS_AHEAD = 2
"""Blocks in a batch for each worker of a cluster."""
DIED = "worker died"
"""Failure of a text that no worker survives."""


def open_lexical(names: tuple[str, ...], synonyms: Choice) -> Scorer:
    """The scorer of these lexical metrics. Defined here, because a worker process loads this module and little else."""
    # Imported lazily: metric libraries load slowly.
    from core.metrics.lexical.scorer import open_lexical as opened
    from core.metrics.registry import find_metrics

    return opened(find_metrics(names), synonyms=synonyms)


@dataclass(frozen=True)
class PairScores:
    """The scores of one text as plain numbers, which pass between processes faster than Score objects."""

    values: tuple[float | None, ...]
    """One value for each metric of the part."""
    reasons: Mapping[int, str]
    """Position of a metric without a value -> the reason."""
    seconds: float
    """The text's share of the time for its batch."""
    failure: str | None = None
    """Type of the exception if a metric failed on the text: a defect, so the result is not cached."""


def score_pairs(scorer: Scorer, pairs: Sequence[ScoringPair]) -> list[PairScores]:
    """Score texts. If a scorer fails, retry in halves, until only the text that it fails on has no score.

    An AssayError, such as missing weights, is raised at once: other texts would fail too.
    """
    if not pairs:
        return []
    begun = time.monotonic()
    try:
        scores = scorer.score(pairs)
        if len(scores) != len(pairs):
            raise RuntimeError(f"{len(pairs)} texts got {len(scores)} tuples of scores")
    except AssayError:
        raise
    except Exception as problem:
        if len(pairs) > 1:
            half = len(pairs) // 2
            return [*score_pairs(scorer, pairs[:half]), *score_pairs(scorer, pairs[half:])]
        traceback.print_exc(file=sys.stderr)
        name = type(problem).__name__
        broken = Score(None, f"the metric failed on this text ({name})")
        return [_plain((broken,) * len(scorer.metrics), time.monotonic() - begun, name)]
    share = (time.monotonic() - begun) / len(pairs)
    return [_plain(each, share) for each in scores]


def _plain(scores: Sequence[Score], seconds: float, failure: str | None = None) -> PairScores:
    """Scores as plain numbers, with None for NaN and infinity, which neither JSON nor tables can store."""
    values = tuple(
        float(one.value) if one.value is not None and math.isfinite(one.value) else None for one in scores
    )
    reasons = {at: scores[at].reason or NO_NUMBER for at, value in enumerate(values) if value is None}
    return PairScores(values, reasons, seconds, failure)


class ThreadPart:
    """A scorer in a thread, so that the run can report that it is alive meanwhile."""

    def __init__(self, group: Group, opener: Opener) -> None:
        self.group = group
        """The group to which its time is added."""
        self.processes = 1
        """Number of processes that score in parallel."""
        self.texts_at_once: int | None = None
        """Texts that a batch should have; None: as the time of the last batch suggests."""
        self._opener = opener
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=f"score-{group}")
        self._scorer: Scorer | None = None

    @property
    def hands(self) -> int:
        """Batches to work on at the same time: one being scored and one being saved, for each process."""
        return 2 * self.processes

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics with full signatures, after start()."""
        return self._opened.metrics

    @property
    def _opened(self) -> Scorer:
        assert self._scorer is not None, "not started"
        return self._scorer

    async def start(self) -> None:
        """Open the scorer. Raises InputError if this fails."""
        self._scorer = await asyncio.get_running_loop().run_in_executor(self._executor, self._opener)

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Score the texts; results are in their order."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, score_pairs, self._opened, pairs)

    async def close(self) -> None:
        """Wait for the current batch, then close the thread."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)


class PoolPart(ThreadPart):
    """A scorer in several processes, each with its own copy of it."""

    def __init__(self, group: Group, opener: Opener, workers: int) -> None:
        super().__init__(group, opener)
        self.processes = workers
        self._metrics: tuple[Metric, ...] = ()
        self._pool = ProcessPoolExecutor(
            workers,
            # A fork would copy the locks of this process's threads, perhaps while held.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin_worker,
            initargs=(opener,),
        )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics with full signatures, after start()."""
        return self._metrics

    async def start(self) -> None:
        """Start a process and ask it for its metrics, so that this process need not load the libraries."""
        self._metrics = await self._call(_metrics_in_worker)

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Score the texts; results are in their order."""
        texts = [(pair.text, pair.reference, pair.source) for pair in pairs]
        return [PairScores(*plain) for plain in await self._call(_score_in_worker, texts)]

    async def _call(self, function: Callable[..., Done], *arguments: object) -> Done:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)
        except BrokenExecutor as problem:
            raise InputError(
                "A scoring process was ended from outside, perhaps because memory ran out. Finished scores are saved. "
                "Resume the run, with fewer workers if memory is short."
            ) from problem

    async def close(self) -> None:
        """Wait for the current batch, then close the processes."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
        await super().close()


class NotDone(Protocol):
    """Takes the place of a result that a cluster could not make."""

    @property
    def reason(self) -> str:
        """Why, without a full stop."""


class Spreading(Protocol):
    """A cluster as a part needs it; core.runs.working.cluster is one."""

    @property
    def width(self) -> int:
        """After start, the number of blocks that are worked on at the same time."""

    def start(self) -> None:
        """Start the cluster, or join it; nothing if that was done."""

    def spread(
        self,
        function: Callable[[Sequence[Any]], Sequence[Any]],
        batches: Sequence[Sequence[Any]],
        *,
        gpus: float,
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield (index of a batch, its results)."""

    def close(self) -> None:
        """End it; nothing if that was done."""


class ClusterPart(ThreadPart):
    """A scorer on the workers of a cluster, each with its own copy of it."""

    def __init__(
        self,
        group: Group,
        opener: Opener,
        cluster: Spreading,
        *,
        in_block: int = TEXTS_IN_BLOCK,
        gpus: float = 0,
    ) -> None:
        """in_block: texts that a worker scores at a time. gpus: GPUs that a worker needs."""
        super().__init__(group, opener)
        self._cluster, self._in_block, self._gpus = cluster, in_block, gpus
        self._function = _ScoreOnWorker(group, opener)
        self._metrics: tuple[Metric, ...] = ()
        self._executor = ThreadPoolExecutor(self.hands, thread_name_prefix=f"score-{group}")

    @property
    def hands(self) -> int:
        """Two batches being scored, so that no worker waits for the end of one, and one being saved."""
        return 3

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics with full signatures, after start()."""
        return self._metrics

    async def start(self) -> None:
        """Start the cluster, and ask a worker for the metrics."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._executor, self._cluster.start)
        self.processes = self._cluster.width
        self.texts_at_once = self._in_block * BLOCKS_AHEAD * self.processes
        (found,) = await loop.run_in_executor(self._executor, self._spread, [[None]])
        if not isinstance(found, tuple):
            raise InputError(f"The metrics cannot be opened on the cluster: {found.reason}.")
        self._metrics = found

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Score the texts; results are in their order. A text that no worker survives has a reason instead of scores."""
        texts = [(pair.text, pair.reference, pair.source) for pair in pairs]
        n = max(1, min(self._in_block, -(-len(texts) // (BLOCKS_AHEAD * self.processes))))
        blocks = [texts[at : at + n] for at in range(0, len(texts), n)]
        found = await asyncio.get_running_loop().run_in_executor(self._executor, self._spread, blocks)
        return [PairScores(*one) if isinstance(one, tuple) else self._lost(one) for one in found]

    def _spread(self, blocks: Sequence[Sequence[Any]]) -> list[Any]:
        made = dict(self._cluster.spread(self._function, blocks, gpus=self._gpus))
        if len(made) < len(blocks):
            raise InputError("The cluster was left before the batch was scored.")
        return [one for at in range(len(blocks)) for one in made[at]]

    def _lost(self, why: NotDone) -> PairScores:
        reason = f"the metric failed on this text ({why.reason})"
        n = len(self._metrics)
        return PairScores((None,) * n, dict.fromkeys(range(n), reason), 0.0, DIED)

    async def close(self) -> None:
        """Leave the cluster, then close the threads."""
        await asyncio.to_thread(self._cluster.close)
        await super().close()


@dataclass(frozen=True)
class _ScoreOnWorker:
    """What a cluster's worker does with a block. A worker keeps it, and with it the opened scorer."""

    group: Group
    opener: Opener

    @cached_property
    def _scorer(self) -> Scorer:
        if self.group == "lexical":
            _spare_libraries()
        return _opened_for_long(self.opener)

    def __call__(self, texts: Sequence[tuple[str, str | None, str | None] | None]) -> Sequence[Any]:
        """The scores of the texts as plain tuples; for None, the metrics."""
        given = [text for text in texts if text is not None]
        if len(given) < len(texts):
            return [self._scorer.metrics]
        return _plain_scores(self._scorer, given)


_worker_opener: Opener | None = None
"""The opener in a worker process."""


def _begin_worker(opener: Opener) -> None:
    """Store the worker's opener, and make the worker end with the run's process even if that is killed."""
    global _worker_opener
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run's process handles it and ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _spare_libraries()
    _worker_opener = opener


def _spare_libraries() -> None:
    """Block libraries that nltk loads, if they are installed, for classifiers that no metric uses: a second and 150 MB."""
    for name in ("sklearn", "scipy"):
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # None blocks the import


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def _worker_scorer() -> Scorer:
    """The worker's scorer, opened at the first request, so that problems are reported as for any request."""
    assert _worker_opener is not None
    return _opened_for_long(_worker_opener)


def _opened_for_long(opener: Opener) -> Scorer:
    """The scorer of a process that does nothing else."""
    scorer = opener()
    # Loaded objects stay and scores have no cycles, but collecting garbage would take a tenth of the time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    return scorer


def _metrics_in_worker() -> tuple[Metric, ...]:
    return _worker_scorer().metrics


def _score_in_worker(texts: Sequence[tuple[str, str | None, str | None]]) -> list[Plain]:
    return _plain_scores(_worker_scorer(), texts)


def _plain_scores(scorer: Scorer, texts: Sequence[tuple[str, str | None, str | None]]) -> list[Plain]:
    """The fields of PairScores as tuples, which pass between processes several times as fast as objects."""
    scored = score_pairs(scorer, [ScoringPair(*each) for each in texts])
    return [(one.values, one.reasons, one.seconds, one.failure) for one in scored]
