"""What a group of metrics offers to whoever scores texts with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from core.schema.scores import Metric, Score

Group = Literal["lexical", "neural"]
NO_REFERENCE, EMPTY_REFERENCE, NO_SOURCE = "no reference", "the reference is empty", "no source"
"""Why a text has no score, whoever would give it."""


@dataclass(frozen=True)
class ScoringPair:
    """What a metric sees of an output."""

    text: str
    reference: str | None = None
    source: str | None = None
    """The question, or the sentence that is translated."""


@dataclass(frozen=True)
class MetricSpec:
    """A configuration that can be asked for by name."""

    metric: Metric
    """Of a neural metric the signature here holds the model's name; the scorer's holds what was loaded."""
    group: Group
    parameters: Mapping[str, object] = field(default_factory=dict)
    needs: frozenset[Literal["reference", "source"]] = frozenset({"reference"})
    of_paper: bool = False
    """One of the 28 configurations of 000."""
    aliases: tuple[str, ...] = ()
    """Other names it is known by: in the paper's tables, in other tools' files."""
    about: str = ""
    """One sentence for a person who chooses."""


class Scorer(Protocol):
    """Some metrics, ready to score. Pure: the same pair gives the same scores in any batch and any order."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """With their full signatures, in the order of the scores."""

    def score(self, pairs: Sequence[ScoringPair]) -> list[tuple[Score, ...]]:
        """One tuple a pair, one score a metric. A pair that cannot be scored gets reasons, never an exception."""
