"""Scorers at work beside the event loop: lexical ones in a thread or in processes, neural ones in large batches."""

import asyncio
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from core.errors import AssayError, InputError
from core.llm.batching import Batcher
from core.schema.scores import Metric, Score
from core.scoring.metrics.scorer import Group, Scorer, ScoringPair

Opener = Callable[[], Scorer]
"""Makes a scorer; for worker processes it has to be picklable."""
NO_NUMBER = "the metric gave no finite number"


@dataclass(frozen=True)
class PairScores:
    """What came of one text."""

    scores: tuple[Score, ...]
    """One a metric of the part."""
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
        return [PairScores((broken,) * len(scorer.metrics), time.monotonic() - begun, name)]
    share = (time.monotonic() - begun) / len(pairs)
    return [PairScores(tuple(map(_finite, each)), share) for each in scores]


def _finite(score: Score) -> Score:
    """No NaN and no infinity gets further: neither JSON nor a table holds them."""
    if score.value is None:
        return score if score.reason else Score(None, NO_NUMBER)
    value = float(score.value)
    return Score(value) if math.isfinite(value) else Score(None, score.reason or NO_NUMBER)


class Part(Protocol):
    """One scorer and the place where it works."""

    @property
    def group(self) -> Group:
        """Under which its time is counted."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """With full signatures, once it was started."""

    async def start(self) -> None:
        """Open the scorer. Raises InputError where it cannot be."""

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Scores of these texts, in their order."""

    async def close(self) -> None:
        """Let go of threads, processes and models."""


class ThreadPart:
    """A scorer in a thread, so that the run goes on telling that it lives."""

    def __init__(self, group: Group, opener: Opener) -> None:
        self.group = group
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
        """Open the scorer."""
        self._scorer = await asyncio.get_running_loop().run_in_executor(self._executor, self._opener)

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Scores of these texts, in their order."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, score_pairs, self._opened, pairs)

    async def close(self) -> None:
        """Wait for what is being scored, and let go."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)


class BatchPart(ThreadPart):
    """A scorer that is faster the more texts it is given at once: those of all items that wait for it."""

    _batcher: Batcher[Sequence[ScoringPair], list[PairScores] | Exception] | None = None

    async def start(self) -> None:
        """Open the scorer and begin to gather."""
        await super().start()
        self._batcher = Batcher(self._score_all, _unanswered, self._executor)

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Scores of these texts, in their order."""
        assert self._batcher is not None, "not started"
        answer = await self._batcher.ask(pairs)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        """Wait for the batch that is being scored, and let go."""
        if self._batcher is not None:
            await self._batcher.close()
        await super().close()

    def _score_all(self, questions: Sequence[Sequence[ScoringPair]]) -> list[list[PairScores] | Exception]:
        scored = iter(score_pairs(self._opened, [pair for pairs in questions for pair in pairs]))
        return [[next(scored) for _ in pairs] for pairs in questions]


def _unanswered(problem: Exception | None) -> Exception:
    return problem or RuntimeError("the run ended before this text's turn came")


class PoolPart(ThreadPart):
    """A scorer in several processes, each with its own copy of it."""

    def __init__(self, group: Group, opener: Opener, workers: int) -> None:
        super().__init__(group, opener)
        self._pool = ProcessPoolExecutor(
            workers,
            # A fork would copy this process's threads' locks, whatever state they are in.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin_worker,
            initargs=(opener,),
        )

    async def score(self, pairs: Sequence[ScoringPair]) -> list[PairScores]:
        """Scores of these texts, in their order."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _score_in_worker, pairs)
        except BrokenExecutor as problem:
            raise InputError(
                "A process that scores was ended from outside, perhaps for want of memory. What is finished is kept: "
                "resume the run, with fewer --workers where memory is short."
            ) from problem

    async def close(self) -> None:
        """Wait for the texts that are being scored, and let go."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
        await super().close()


_worker_scorer: Scorer | None = None
"""Of a worker process."""


def _begin_worker(opener: Opener) -> None:
    """Open the worker's own scorer; end with the run's process, which cannot tell its workers when it is killed."""
    global _worker_scorer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run's process hears it, and puts its workers down
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker_scorer = opener()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _score_in_worker(pairs: Sequence[ScoringPair]) -> list[PairScores]:
    assert _worker_scorer is not None
    return score_pairs(_worker_scorer, pairs)
