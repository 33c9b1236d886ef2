"""Scores by level: does a metric fall as the damage grows, and where does it prefer the damaged text?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.schema.scores import ScoreTable
from core.stats.resampling import Estimate


@dataclass(frozen=True)
class LevelMean:
    """Scores of one metric at one level."""

    level: str
    mean: Estimate
    """Over items, with an interval from resampling them."""


@dataclass(frozen=True)
class Preference:
    """A text that a metric prefers to the undamaged one of the same item."""

    item_id: str
    system: str
    level: str
    """Of the damaged text."""
    first_score: float
    """Of the undamaged text."""
    score: float


@dataclass(frozen=True)
class MetricByLevel:
    """One metric over the levels."""

    metric: str
    family: str
    levels: tuple[LevelMean, ...]
    monotonic: Estimate
    """Share of items whose scores never rise from a level to the next worse one; `n_left_out`: a level is missing."""
    strictly_monotonic: Estimate
    """Share of items whose scores fall at every step."""
    prefers_damaged: Mapping[str, Estimate]
    """Level -> share of items whose damaged text scores higher than the undamaged one; `all`: over all levels."""
    worst: tuple[Preference, ...]
    """Where the damaged text is ahead by most, largest first."""


def by_level(
    table: ScoreTable,
    *,
    metrics: Sequence[str] = (),
    most_worst: int = 20,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> tuple[MetricByLevel, ...]:
    """Each metric's scores by level. An item is (item, system, labels): its levels are compared with each other.

    Raises InputError where the table holds fewer than two levels.
    """
    raise NotImplementedError
