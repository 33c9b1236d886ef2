"""A family of metrics that run a model: its configurations, and a model that gives numbers and finds its way around texts it cannot score."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from core.errors import InputError
from core.metrics.neural.environment import Kind, ModelFiles, in_a_line
from core.metrics.scorer import MetricSpec, ScoringPair
from core.schema.scores import Score

NO_NUMBER = "the model gave no number"
Pair = TypeVar("Pair")
Found = TypeVar("Found")


class Model(Protocol):
    """A metric's model in memory."""

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        """One number a pair, in order; NaN where the metric has none."""


def scores_of(model: Model, pairs: Sequence[ScoringPair], metric: str) -> list[Score]:
    """A score a pair; see by_halves."""
    broke_off = f"{metric} broke off on this machine; a smaller batch size or the device cpu may help"

    def scores(some: Sequence[ScoringPair]) -> list[Score]:
        numbers = model.numbers(some)
        return [Score(number) if math.isfinite(number) else Score(None, NO_NUMBER) for number in numbers]

    return by_halves(scores, pairs, lambda why: Score(None, why), broke_off)


def by_halves(
    read: Callable[[Sequence[Pair]], list[Found]],
    pairs: Sequence[Pair],
    refused: Callable[[str], Found],
    broke_off: str,
) -> list[Found]:
    """What a model finds of each pair. A pair that the library refuses fails alone: halves of the batch find it.

    refused: what is found of it, for the reason. broke_off: what the InputError says that is raised where it is the
    machine that fails: then nothing found of any pair would mean anything.
    """
    if not pairs:
        return []
    try:
        found = read(pairs)
    except (MemoryError, RuntimeError) as problem:
        if len(pairs) == 1:
            raise InputError(broke_off, [in_a_line(problem)]) from problem
    except Exception as problem:
        if len(pairs) == 1:
            return [refused(f"the model's library cannot take these texts ({in_a_line(problem)})")]
    else:
        if len(found) != len(pairs):
            raise RuntimeError(f"{len(found)} answers of a model for {len(pairs)} pairs")
        return found
    middle = len(pairs) // 2
    parts = (by_halves(read, part, refused, broke_off) for part in (pairs[:middle], pairs[middle:]))
    return [each for part in parts for each in part]


def window(config: Any, tokenizer: Any) -> int:
    """Most tokens a model takes. A tokenizer that was saved without a limit says a number beyond all bounds."""
    positions = int(getattr(config, "max_position_embeddings", 512))
    if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert"):
        positions -= 2  # RoBERTa's positions begin after the one for padding
    return min(positions, int(min(tokenizer.model_max_length, 10**9)))


def loaded(load: Callable[[], Any], name: str, place: object) -> Any:
    """What a library loads. Raises InputError with its reason where it cannot."""
    try:
        return load()
    except InputError:
        raise
    except Exception as problem:
        raise InputError(f"{name}: the model in {place} cannot be loaded", [in_a_line(problem)]) from problem


Needs = frozenset[Literal["reference", "source"]]
REFERENCE: Needs = frozenset({"reference"})
BOTH: Needs = frozenset({"reference", "source"})
SOURCE: Needs = frozenset({"source"})


@dataclass(frozen=True)
class Opened:
    """A metric whose model lies on this machine."""

    spec: MetricSpec
    files: ModelFiles
    layer: int | None = None
    """The one that is compared, where a family compares layers."""

    @property
    def place(self) -> Path:
        """Of its files."""
        return self.files.place

    @property
    def name(self) -> str:
        """Of the metric."""
        return self.spec.metric.name


@dataclass(frozen=True, kw_only=True)
class NeuralFamily:
    """One family of metrics that run a model; its file exports it."""

    name: str
    specs: tuple[MetricSpec, ...]
    """In the order of Meta-Judge's tables; what is beyond the paper comes last."""
    module: str
    """Of its library."""
    distribution: str
    """Under which the library is installed."""
    load: Callable[[Opened, str, int], Model]
    """Loads the model, for (metric, device, batch size)."""
    fit: Callable[[MetricSpec, ModelFiles], Opened] = Opened
    """A metric and its model, if they go together. Raises InputError."""
    form: Kind = "model"
    """In which its models lie on the hub."""
    empty_reason: str | None = None
    """Why an empty text has no score; None: the model reads it together with the reference or the source."""
