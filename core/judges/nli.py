"""Claims verified by an entailment model: a claim is supported if the other text entails it (Factual, section 5)."""

import asyncio
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Generic, TypeVar

from core.errors import InputError
from core.judges.claims import KIND, Claim, Contradiction, Entailed, Verified
from core.judges.kind import HELPER_AT_ONCE
from core.metrics.neural.model import (
    NO_NUMBER,
    ModelFiles,
    chosen_device,
    find_models,
    library,
    read_by_halves,
    release,
)
from core.metrics.neural.nli import NLI_MODEL, EntailmentModel, is_entailment
from core.metrics.scorer import MetricSpec
from core.schema.scores import Metric

Q = TypeVar("Q")
A = TypeVar("A")
Pairs = Sequence[tuple[str, str]]
USER = KIND.name
"""Name of the model's user in error messages."""
NOT_JUDGED = "the entailment model gave no verdict"


class NliVerifier:
    """Verifies claims by an entailment model, with the other text as premise. Supported: the likeliest label is entailment."""

    def __init__(self, entailment: "BatchedEntailment") -> None:
        self._entailment = entailment

    async def verify(self, claims: Sequence[str], premise: str, step: str) -> Verified:
        """See LlmVerifier. If a pair is too long for the model, the claim's `why` says so: the supporting passage may
        have been cut off.
        """
        if not claims:
            return Verified(())
        judged = await self._entailment.judged([(premise, claim) for claim in claims])
        found = tuple(_claim(text, said) for text, said in zip(claims, judged, strict=True))
        failed = [claim.reason for claim in found if claim.supported is None]
        return Verified(found, failed[0] if failed else None)

    async def contradictions(self, claims: Sequence[Claim]) -> tuple[Contradiction, ...]:
        """Every two claims of a text whose likeliest label is contradiction in both directions.

        Both directions, because a true contradiction has no direction: this removes false alarms. Misleads about claims
        that speak of different things in similar words: the model takes both to be about one thing.
        """
        texts = [claim.text for claim in claims]
        pairs = list(combinations(texts, 2))
        judged = await self._entailment.judged([*pairs, *((second, first) for first, second in pairs)])
        found = []
        for pair, one, other in zip(pairs, judged[: len(pairs)], judged[len(pairs) :], strict=True):
            if _contradicts(one) and _contradicts(other):
                found.append(Contradiction(*pair, f"{min(one.probability, other.probability):.2f}"))
        return tuple(found)


def _contradicts(said: Entailed) -> bool:
    return said.label is not None and said.label.lower().startswith("contradict")


def _claim(text: str, said: Entailed) -> Claim:
    if said.label is None:
        return Claim(text, reason=said.reason or NOT_JUDGED)
    cut = f"; only the first {said.window} tokens of both texts were read" if said.window else ""
    probability = f"{said.probability:.2f}".removeprefix("0")
    return Claim(text, is_entailment(said.label), f"{said.label} {probability}{cut}")


class BatchedEntailment:
    """Helper that runs a cross-encoder in a thread and reads all waiting pairs as one batch."""

    def __init__(self, model: str = "", device: str = "auto", batch_size: int = HELPER_AT_ONCE) -> None:
        """model: a folder or a name on the hub; empty: Factual's cross-encoder.

        device: auto (a GPU if there is one), cpu, cuda, cuda:N. batch_size: pairs that the model reads at once. It does
        not change verdicts, and probabilities only from the sixth decimal.
        """
        if batch_size < 1:
            raise InputError(f"batch_size of the entailment model: {batch_size} is not 1 or more")
        self._name, self._device, self._batch_size = model or NLI_MODEL, device, batch_size
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="entailment")
        self._opened: _Opened | None = None
        self._batcher: Batcher[Pairs, list[Entailed] | Exception] | None = None

    @property
    def signature(self) -> str:
        """Name, files and libraries, such as `local|sha256:...|sentence-transformers:...`; empty before start()."""
        return "" if self._opened is None else self._opened.signature

    async def start(self) -> None:
        """Load the model. Raises InputError if libraries, model or device are missing, or if no label is entailment."""
        loop = asyncio.get_running_loop()
        self._opened = await loop.run_in_executor(
            self._executor, lambda: _Opened(self._name, self._device, self._batch_size)
        )
        self._batcher = Batcher(
            self._judge_all,
            lambda problem: problem or RuntimeError("the run ended before this claim was verified"),
            self._executor,
        )

    async def judged(self, pairs: Pairs) -> list[Entailed]:
        """One answer for each (premise, hypothesis), in order; many calls may run concurrently.

        Raises InputError if the machine fails, because no other pair could be judged either.
        """
        if not pairs:
            return []
        assert self._batcher is not None, "not started"
        answer = await self._batcher.ask(pairs)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        """Wait for the current batch and free the model."""
        if self._batcher is not None:
            await self._batcher.close()
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)
        self._opened = None

    def _judge_all(self, questions: Sequence[Pairs]) -> list[list[Entailed] | Exception]:
        assert self._opened is not None
        judged = iter(self._opened.judged([pair for pairs in questions for pair in pairs]))
        return [[next(judged) for _ in pairs] for pairs in questions]


class _Opened:
    """The model in memory, used only by its thread."""

    def __init__(self, name: str, device: str, batch_size: int) -> None:
        library("sentence_transformers")
        chosen = chosen_device(device)
        files = _files(name)
        self._model = EntailmentModel(files.place, chosen, batch_size, USER)
        libraries = "|".join(f"{each}:{release(each)}" for each in ("sentence-transformers", "transformers"))
        self.signature = f"{files.name}|sha256:{files.sha256}|{libraries}"

    def judged(self, pairs: Pairs) -> list[Entailed]:
        """One answer for each pair; see read_by_halves."""
        broke_off = f"{USER}: the entailment model failed on this machine; the device cpu may help"
        return read_by_halves(self._judged, pairs, lambda why: Entailed(None, reason=why), broke_off)

    def _judged(self, pairs: Pairs) -> list[Entailed]:
        rows, cut = self._model.probabilities(pairs), self._model.is_cut(pairs)
        return [
            replace(self._likeliest(row), window=self._model.window if is_cut else None)
            for row, is_cut in zip(rows, cut, strict=True)
        ]

    def _likeliest(self, row: Sequence[float]) -> Entailed:
        if not all(map(math.isfinite, row)):
            return Entailed(None, reason=NO_NUMBER)
        best = max(range(len(row)), key=row.__getitem__)
        return Entailed(self._model.labels[best], row[best])


def _files(name: str) -> ModelFiles:
    """The model's files on this machine, downloaded if necessary. Raises InputError if they are unavailable."""
    spec = MetricSpec(Metric(USER, "", "NLI"), "neural", {"model": name})
    try:
        return find_models([spec], {})[USER]
    except InputError as problem:
        raise InputError(
            "The entailment model cannot be loaded. Choose another one: a folder on this machine, or a name on the hub",
            problem.found,
        ) from problem


QUIET_TURNS = 3
"""Turns of the event loop without a new question after which a batch starts."""
LAST_WAIT = 0.003
"""Seconds to wait for callers from a thread or a socket."""
MOST_WAITS = 3
"""Most waits per batch, so that a trickle of questions does not delay the first one."""


@dataclass
class _Waiting(Generic[Q, A]):
    question: Q
    answer: asyncio.Future[A]


class Batcher(Generic[Q, A]):
    """Collects questions while a batch is being answered, and passes them on as the next batch."""

    def __init__(
        self,
        answer_all: Callable[[Sequence[Q]], Sequence[A]],
        unanswered: Callable[[Exception | None], A],
        executor: ThreadPoolExecutor,
    ) -> None:
        """Start the worker; needs a running event loop.

        answer_all: called in the executor for one batch at a time; returns one answer per question, in order.
        unanswered: returns the answer for a question whose batch raised, or that was waiting at close() (None).
        """
        self._answer_all = answer_all
        self._unanswered = unanswered
        self._executor = executor
        self._waiting: list[_Waiting[Q, A]] = []
        self._arrived = asyncio.Event()
        self._closed = False
        self._worker = asyncio.create_task(self._work(), name="batches")

    async def ask(self, question: Q) -> A:
        """The answer to one question. If cancelled while waiting, the question is dropped."""
        if self._closed:
            return self._unanswered(None)
        waiting = _Waiting[Q, A](question, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._arrived.set()
        return await waiting.answer

    async def close(self) -> None:
        """Stop taking questions, answer waiting ones with `unanswered`, and wait for the current batch."""
        self._closed = True
        self._arrived.set()
        await asyncio.shield(
            self._worker
        )  # the thread cannot be stopped, so the worker must not be cancelled either

    async def _work(self) -> None:
        while not self._closed:
            await self._arrived.wait()
            await self._until_quiet()
            if not self._closed and (batch := self._take()):
                _tell(batch, await self._answers([each.question for each in batch]))
        left = self._take()
        _tell(left, [self._unanswered(None)] * len(left))

    def _take(self) -> list[_Waiting[Q, A]]:
        """All waiting questions that were not cancelled."""
        batch = [each for each in self._waiting if not each.answer.done()]
        self._waiting.clear()
        self._arrived.clear()
        return batch

    async def _until_quiet(self) -> None:
        """Wait for questions that are about to arrive: one batch of 64 is far cheaper than batches of 1 and 63."""
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
        """The engine's answers; if it raises or returns a wrong number, `unanswered` for all."""
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.run_in_executor(self._executor, self._answer_all, questions)
            if len(answers) != len(questions):
                raise RuntimeError(f"{len(answers)} answers came back for {len(questions)} questions")
        except Exception as problem:  # the worker must survive any failure
            return [self._unanswered(problem)] * len(questions)
        return answers


def _tell(batch: Sequence[_Waiting[Q, A]], answers: Sequence[A]) -> None:
    for each, answer in zip(batch, answers, strict=True):
        if not each.answer.done():  # the caller may have been cancelled meanwhile
            each.answer.set_result(answer)
