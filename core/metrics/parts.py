"""Scorers at work beside the event loop: neural ones in a thread, lexical ones in one or in processes."""

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
"""Makes a scorer; for worker processes it has to be picklable."""
Plain = tuple[tuple[float | None, ...], Mapping[int, str], float, str | None]
Done = TypeVar("Done")
NO_NUMBER = "the metric gave no finite number"


def open_lexical(names: tuple[str, ...], synonyms: Choice) -> Scorer:
    """The scorer of these lexical metrics; here, as a worker process loads this module and little else."""
    # Imported late: the metrics' libraries take their time to load, and most commands score nothing.
    from core.metrics.lexical.scorer import open_lexical as opened
    from core.metrics.registry import find_metrics

    return opened(find_metrics(names), synonyms=synonyms)


@dataclass(frozen=True)
class PairScores:
    """What came of one text: plain numbers, which pass between processes faster than scores."""

    values: tuple[float | None, ...]
    """One a metric of the part."""
    reasons: Mapping[int, str]
    """Place of a metric that has no value -> why."""
    seconds: float
    """Its share of the time that its batch took."""
    failure: str | None = None
    """Type of the exception, where a metric broke on it: a defect, which is never kept in the cache."""


def score_pairs(scorer: Scorer, pairs: Sequence[ScoringPair]) -> list[PairScores]:
    """Score texts; where a scorer breaks, halves are tried again, until only the text that it breaks on has no score.

    Raises AssayError as it comes: such as weights that cannot be had, which no other text would mend.
    """
    if not pairs:
        return []
    begun = time.monotonic()
    try:
        scores = scorer.score(pairs)
        if len(scores) != len(pairs):
            raise RuntimeError(f"{len(scores)} tuples of scores came back for {len(pairs)} texts")
    except AssayError:
        raise
    except Exception as problem:
        if len(pairs) > 1:
            half = len(pairs) // 2
            return [*score_pairs(scorer, pairs[:half]), *score_pairs(scorer, pairs[half:])]
        traceback.print_exc(file=sys.stderr)
        name = type(problem).__name__
        broken = Score(None, f"the metric broke on this text ({name})")
        return [_plain((broken,) * len(scorer.metrics), time.monotonic() - begun, name)]
    share = (time.monotonic() - begun) / len(pairs)
    return [_plain(each, share) for each in scores]


def _plain(scores: Sequence[Score], seconds: float, failure: str | None = None) -> PairScores:
    """No NaN and no infinity gets further: neither JSON nor a table holds them."""
    values = tuple(
        float(one.value) if one.value is not None and math.isfinite(one.value) else None for one in scores
    )
    reasons = {at: scores[at].reason or NO_NUMBER for at, value in enumerate(values) if value is None}
    return PairScores(values, reasons, seconds, failure)


class ThreadPart:
    """One scorer and the place where it works: a thread, so that the run goes on telling that it lives."""

    def __init__(self, group: Group, opener: Opener) -> None:
        self.group = group
        """Under which its time is counted."""
        self.processes = 1
        """That score side by side."""
        self._opener = opener
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=f"score-{group}")
        self._scorer: Scorer | None = None

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """With full signatures, once it was started."""
        return self._opened.metrics

    @property
    def _opened(self) -> Scorer:
        assert self._scorer is not None, "not started"
        return self._scorer

    async def start(self) -> None:
        """Open the scorer. Raises InputError where it cannot be."""
        self._scorer = await asyncio.get_running_loop().run_in_executor(self._executor, self._opener)

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Scores of these texts, in their order."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, score_pairs, self._opened, pairs)

    async def close(self) -> None:
        """Wait for what is being scored, and let go."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)


class PoolPart(ThreadPart):
    """A scorer in several processes, each with its own copy of it."""

    def __init__(self, group: Group, opener: Opener, workers: int) -> None:
        super().__init__(group, opener)
        self.processes = workers
        self._metrics: tuple[Metric, ...] = ()
        self._pool = ProcessPoolExecutor(
            workers,
            # A fork would copy this process's threads' locks, whatever state they are in.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin_worker,
            initargs=(opener,),
        )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """With full signatures, once it was started."""
        return self._metrics

    async def start(self) -> None:
        """Start a process, and learn what it computes: libraries are not loaded here too."""
        self._metrics = await self._call(_metrics_in_worker)

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Scores of these texts, in their order."""
        texts = [(pair.text, pair.reference, pair.source) for pair in pairs]
        return [PairScores(*plain) for plain in await self._call(_score_in_worker, texts)]

    async def _call(self, function: Callable[..., Done], *arguments: object) -> Done:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)
        except BrokenExecutor as problem:
            raise InputError(
                "A process that scores was ended from outside, perhaps for want of memory. What is finished is kept: "
                "resume the run, with fewer workers where memory is short."
            ) from problem

    async def close(self) -> None:
        """Wait for the texts that are being scored, and let go."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
        await super().close()


_worker_opener: Opener | None = None
"""Of a worker process."""


def _begin_worker(opener: Opener) -> None:
    """Note what the worker scores with; end with the run's process, which cannot tell its workers when it is killed."""
    global _worker_opener
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run's process hears it, and puts its workers down
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # nltk loads both where they are, for classifiers that no metric uses: a second, and 150 MB of each process.
    sys.modules.update(dict.fromkeys(("sklearn", "scipy")))  # type: ignore[arg-type]  # None: not there
    _worker_opener = opener


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def _worker_scorer() -> Scorer:
    """The worker's own; opened with its first work, so that what is wrong is told as of any other work."""
    assert _worker_opener is not None
    scorer = _worker_opener()
    # What is loaded stays, and scores hold no cycles: the collector would walk over all of it, for a tenth of the time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    return scorer


def _metrics_in_worker() -> tuple[Metric, ...]:
    return _worker_scorer().metrics


def _score_in_worker(texts: Sequence[tuple[str, str | None, str | None]]) -> list[Plain]:
    """The fields of PairScores: tuples pass between processes several times as fast as objects."""
    scored = score_pairs(_worker_scorer(), [ScoringPair(*each) for each in texts])
    return [(one.values, one.reasons, one.seconds, one.failure) for one in scored]
