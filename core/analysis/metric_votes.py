"""Metrics against votes: does a metric put the two answers of a pair in the order the raters did?"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.schema import StudyRecord
from core.schema.scores import ScoreTable
from core.stats.resampling import Estimate


@dataclass(frozen=True)
class MetricVotes:
    """One metric beside the raters of an unblinded study."""

    metric: str
    family: str
    agreement: Estimate
    """Share of pairs with a winner that the metric orders as the raters did, a tie of the metric counting half;
    the interval resamples questions. 0.5 is chance."""
    tau: Estimate
    """Kendall's tau-b of the difference of scores and the composite vote, over all pairs, ties included."""
    by_level: Mapping[str, Estimate]
    """Level -> agreement."""
    left_out: Mapping[str, int]
    """Reason -> pairs: no winner, no score, too few votes."""


def metrics_against_votes(
    record: StudyRecord,
    table: ScoreTable,
    *,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> tuple[MetricVotes, ...]:
    """Compare every metric of the table with the study's composite votes (003: the sign of the votes' sum).

    table: scores of the study's texts, joined by item, level and system = source. Raises NotAllowed unless the study
    is unblinded, InputError where no text of the study was scored.
    """
    raise NotImplementedError
