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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from core.errors import AssayError, InputError
from core.metrics.lexical.family import Choice
from core.metrics.scorer import Group, Scorer, ScoringPair
from core.schema.scores import Metric, Score

Opener = Callable[[], Scorer]
"""Makes a scorer; must be picklable for worker processes."""
Plain = tuple[tuple[float | None, ...], Mapping[int, str], float, str | None]
Done = TypeVar("Done")
NO_NUMBER = "the metric gave no finite number"


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
        self._opener = opener
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=f"score-{group}")
        self._scorer: Scorer | None = None

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


_worker_opener: Opener | None = None
"""The opener in a worker process."""


def _begin_worker(opener: Opener) -> None:
    """Store the worker's opener, and make the worker end with the run's process even if that is killed."""
    global _worker_opener
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run's process handles it and ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # If they are installed, nltk loads both for classifiers that no metric uses: a second and 150 MB per process.
    sys.modules.update(dict.fromkeys(("sklearn", "scipy")))  # type: ignore[arg-type]  # None blocks the import
    _worker_opener = opener


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def _worker_scorer() -> Scorer:
    """The worker's scorer, opened at the first request, so that problems are reported as for any request."""
    assert _worker_opener is not None
    scorer = _worker_opener()
    # Loaded objects stay and scores have no cycles, but collecting garbage would take a tenth of the time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    return scorer


def _metrics_in_worker() -> tuple[Metric, ...]:
    return _worker_scorer().metrics


def _score_in_worker(texts: Sequence[tuple[str, str | None, str | None]]) -> list[Plain]:
    """The fields of PairScores as tuples, which pass between processes several times as fast as objects."""
    scored = score_pairs(_worker_scorer(), [ScoringPair(*each) for each in texts])
    return [(one.values, one.reasons, one.seconds, one.failure) for one in scored]
