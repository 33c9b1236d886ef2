"""Claims verified by an entailment model: a claim is supported where the other text entails it (Factual, section 5)."""

import asyncio
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from core.errors import InputError
from core.judges.claims import KIND, Claim, Entailed, Verified
from core.judges.kind import HELPER_AT_ONCE
from core.llm.batching import Batcher
from core.metrics.neural.model import (
    NO_NUMBER,
    ModelFiles,
    by_halves,
    chosen_device,
    find_models,
    library,
    release,
)
from core.metrics.neural.nli import NLI_MODEL, EntailmentModel, is_entailment
from core.metrics.scorer import MetricSpec
from core.schema.scores import Metric

Pairs = Sequence[tuple[str, str]]
USER = KIND.name
"""What the model is for, as errors name it."""
NOT_JUDGED = "the entailment model gave no verdict"


class NliVerifier:
    """Verifies claims by an entailment model: supported is a claim whose likeliest label is entailment, the other text the premise."""

    def __init__(self, entailment: "BatchedEntailment") -> None:
        self._entailment = entailment

    async def verify(self, claims: Sequence[str], premise: str, step: str) -> Verified:
        """See LlmVerifier. Where a pair is longer than the model reads, the claim's `why` says so: what supports it
        may have been cut off.
        """
        if not claims:
            return Verified(())
        judged = await self._entailment.judged([(premise, claim) for claim in claims])
        found = tuple(_claim(text, said) for text, said in zip(claims, judged, strict=True))
        failed = [claim.reason for claim in found if claim.supported is None]
        return Verified(found, failed[0] if failed else None)


def _claim(text: str, said: Entailed) -> Claim:
    if said.label is None:
        return Claim(text, reason=said.reason or NOT_JUDGED)
    cut = f"; only the first {said.window} tokens of both texts were read" if said.window else ""
    probability = f"{said.probability:.2f}".removeprefix("0")
    return Claim(text, is_entailment(said.label), f"{said.label} {probability}{cut}")


class BatchedEntailment:
    """Implements Helper: a cross-encoder in a thread, which reads the pairs of all who wait for it as one batch."""

    def __init__(self, model: str = "", device: str = "auto", batch_size: int = HELPER_AT_ONCE) -> None:
        """model: a folder, or the hub's name; empty: the cross-encoder of Factual.

        device: auto (a GPU where there is one), cpu, cuda, cuda:N. batch_size: pairs that the model reads at once;
        verdicts do not depend on it, probabilities not before the sixth decimal.
        """
        if batch_size < 1:
            raise InputError(f"The entailment model cannot read {batch_size} pairs at once; at least 1")
        self._name, self._device, self._batch_size = model or NLI_MODEL, device, batch_size
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="entailment")
        self._opened: _Opened | None = None
        self._batcher: Batcher[Pairs, list[Entailed] | Exception] | None = None

    @property
    def signature(self) -> str:
        """Name, files and libraries, such as `local|sha256:...|sentence-transformers:...`; empty before it is started."""
        return "" if self._opened is None else self._opened.signature

    async def start(self) -> None:
        """Load the model. Raises InputError where libraries, model or device are missing, or no label is entailment."""
        loop = asyncio.get_running_loop()
        self._opened = await loop.run_in_executor(
            self._executor, lambda: _Opened(self._name, self._device, self._batch_size)
        )
        self._batcher = Batcher(
            self._judge_all,
            lambda problem: problem or RuntimeError("the run ended before this claim's turn came"),
            self._executor,
        )

    async def judged(self, pairs: Pairs) -> list[Entailed]:
        """One answer a (premise, hypothesis), in their order; may be awaited many times at once.

        Raises InputError where the machine fails: then no other pair would be judged either.
        """
        if not pairs:
            return []
        assert self._batcher is not None, "not started"
        answer = await self._batcher.ask(pairs)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        """Wait for the batch that is being read, and let go of the model."""
        if self._batcher is not None:
            await self._batcher.close()
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)
        self._opened = None

    def _judge_all(self, questions: Sequence[Pairs]) -> list[list[Entailed] | Exception]:
        assert self._opened is not None
        judged = iter(self._opened.judged([pair for pairs in questions for pair in pairs]))
        return [[next(judged) for _ in pairs] for pairs in questions]


class _Opened:
    """The model in memory; lives in its thread."""

    def __init__(self, name: str, device: str, batch_size: int) -> None:
        library("sentence_transformers")
        chosen = chosen_device(device)
        files = _files(name)
        self._model = EntailmentModel(files.place, chosen, batch_size, USER)
        libraries = "|".join(f"{each}:{release(each)}" for each in ("sentence-transformers", "transformers"))
        self.signature = f"{files.name}|sha256:{files.sha256}|{libraries}"

    def judged(self, pairs: Pairs) -> list[Entailed]:
        """An answer a pair; see by_halves."""
        broke_off = f"{USER}: the entailment model broke off on this machine; the device cpu may help"
        return by_halves(self._judged, pairs, lambda why: Entailed(None, reason=why), broke_off)

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
    """Where the model is on this machine, fetched if need be. Raises InputError where it cannot be had."""
    spec = MetricSpec(Metric(USER, "", "NLI"), "neural", {"model": name})
    try:
        return find_models([spec], {})[USER]
    except InputError as problem:
        raise InputError(
            "The entailment model cannot be loaded. Name another one: a folder on this machine, or a name on the hub",
            problem.found,
        ) from problem
