"""Many questions asked one by one become few batches: for engines that answer a list at once, in a thread."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

QUIET_TURNS = 3
"""Turns of the event loop without a new question after which nobody is about to ask."""
LAST_WAIT = 0.003
"""Seconds for those who come from a thread or a socket."""
MOST_WAITS = 3
"""So often at most: a trickle of questions must not hold the first one back."""


@dataclass
class _Waiting(Generic[Q, A]):
    question: Q
    answer: asyncio.Future[A]


class Batcher(Generic[Q, A]):
    """Gathers questions while a batch is being answered, and hands all of them over as the next batch."""

    def __init__(
        self,
        answer_all: Callable[[Sequence[Q]], Sequence[A]],
        unanswered: Callable[[Exception | None], A],
        executor: ThreadPoolExecutor,
    ) -> None:
        """Start the worker; needs a running event loop.

        answer_all: called in the executor, one batch at a time; as many answers as questions, in their order.
        unanswered: the answer to a question whose batch raised, or that was waiting when the batcher closed (None).
        """
        self._answer_all = answer_all
        self._unanswered = unanswered
        self._executor = executor
        self._waiting: list[_Waiting[Q, A]] = []
        self._arrived = asyncio.Event()
        self._closed = False
        self._worker = asyncio.create_task(self._work(), name="batches")

    async def ask(self, question: Q) -> A:
        """The answer to one question. Cancelled while it waits, the question is never put."""
        if self._closed:
            return self._unanswered(None)
        waiting = _Waiting[Q, A](question, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._arrived.set()
        return await waiting.answer

    async def close(self) -> None:
        """Take no more questions; those that wait are told so. A batch at work is waited for."""
        self._closed = True
        self._arrived.set()
        await asyncio.shield(self._worker)  # the thread cannot be stopped, so neither must the worker be

    async def _work(self) -> None:
        while not self._closed:
            await self._arrived.wait()
            await self._until_quiet()
            if not self._closed and (batch := self._take()):
                _tell(batch, await self._answers([each.question for each in batch]))
        left = self._take()
        _tell(left, [self._unanswered(None)] * len(left))

    def _take(self) -> list[_Waiting[Q, A]]:
        """All who wait and still want to know."""
        batch = [each for each in self._waiting if not each.answer.done()]
        self._waiting.clear()
        self._arrived.clear()
        return batch

    async def _until_quiet(self) -> None:
        """Let everybody who is about to ask do so: one batch of 64 is far cheaper than a batch of 1 and one of 63."""
        for _ in range(MOST_WAITS):
            known, quiet = len(self._waiting), 0
            while quiet < QUIET_TURNS:
                await asyncio.sleep(0)
                quiet = quiet + 1 if known == len(self._waiting) else 0
                known = len(self._waiting)
            await asyncio.sleep(LAST_WAIT)
            if known == len(self._waiting) or self._closed:
                return

    async def _answers(self, questions: list[Q]) -> Sequence[A]:
        """What the engine says; where it raises or counts wrongly, the same answer for all."""
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.run_in_executor(self._executor, self._answer_all, questions)
            if len(answers) != len(questions):
                raise RuntimeError(f"{len(answers)} answers came back for {len(questions)} questions")
        except Exception as problem:  # whatever it is, the worker must live on
            return [self._unanswered(problem)] * len(questions)
        return answers


def _tell(batch: Sequence[_Waiting[Q, A]], answers: Sequence[A]) -> None:
    for each, answer in zip(batch, answers, strict=True):
        if not each.answer.done():  # whoever asked may have been cancelled meanwhile
            each.answer.set_result(answer)
