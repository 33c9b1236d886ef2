"""The interface of a group of metrics: pairs to score, configurations and scorers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from core.schema.scores import Metric, Score

Group = Literal["lexical", "neural"]
NO_REFERENCE, EMPTY_REFERENCE, NO_SOURCE = "no reference", "the reference is empty", "no source"
"""Reasons for a missing score that all metrics share."""


@dataclass(frozen=True)
class ScoringPair:
    """The part of an output that a metric receives."""

    text: str
    reference: str | None = None
    source: str | None = None
    """The question, or the text to translate."""


@dataclass(frozen=True)
class MetricSpec:
    """A configuration of a metric, available by name."""

    metric: Metric
    """A neural metric's signature here has the model's name; the scorer's signature has the loaded files."""
    group: Group
    parameters: Mapping[str, object] = field(default_factory=dict)
    needs: frozenset[Literal["reference", "source"]] = frozenset({"reference"})
    of_paper: bool = False
    """Whether it is one of Meta-Judge's 28 configurations."""
    aliases: tuple[str, ...] = ()
    """Other names: in Meta-Judge's tables, in other tools' files."""
    about: str = ""
    """One sentence to help a user choose."""


class Scorer(Protocol):
    """Metrics that are ready to score. Pure: a pair gets the same scores in any batch and any order."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics with full signatures, in the order of the scores."""

    def score(self, pairs: Sequence[ScoringPair]) -> list[tuple[Score, ...]]:
        """One tuple for each pair, with one score for each metric. A pair that cannot be scored gets reasons instead."""
