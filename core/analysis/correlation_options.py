"""How correlations are computed, and scores joined with their target accordingly."""

from dataclasses import dataclass
from typing import Literal

from core.analysis.joining import Joined, SystemScores, join_levels, join_ratings
from core.analysis.rating_choice import Dimension
from core.schema.scores import METHODS, Method, RatingSet, ScoreTable

Raters = Literal["averaged", "kept"]


@dataclass(frozen=True)
class CorrelationOptions:
    """How correlations are computed."""

    n_resamples: int = 10_000
    until_settled: bool = False
    """Draw fewer where all intervals of a metric are settled earlier (`core.stats.resampling.is_settled`)."""
    confidence_level: float = 0.95
    rng: int = 0
    raw_level: bool = False
    """Against the level as 003 prints it (a good metric is negative), not minus the level."""
    raters: Raters = "averaged"
    """`averaged`: one mean rating a text; `kept`: one row a rating."""
    z_normalise: bool = False
    """Ratings minus the rater's mean, over the rater's standard deviation, before anything else."""
    dimension: Dimension = None
    """Of the ratings; several: their mean counts; None: the only one there is."""
    methods: tuple[Method, ...] = METHODS
    """Coefficients to compute."""
    system_scores: SystemScores = "all"
    """Over which texts metrics' scores of systems are means."""


DEFAULT_OPTIONS = CorrelationOptions()


def joined_with(table: ScoreTable, ratings: RatingSet | None, options: CorrelationOptions) -> Joined:
    """The scores beside their ratings, or beside their level where no ratings are given."""
    if ratings is None:
        return join_levels(table, raw=options.raw_level)
    return join_ratings(
        table,
        ratings,
        dimension=options.dimension,
        z_normalise=options.z_normalise,
        kept=options.raters == "kept",
    )
