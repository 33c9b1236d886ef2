"""Per-metric correlations: which metric follows human ratings, or the damage that was done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.schema.scores import Against, CorrelationSet, Method, Metric, RatingSet, ScoreTable
from core.stats.resampling import Estimate

Raters = Literal["averaged", "kept"]


@dataclass(frozen=True)
class CorrelationOptions:
    """How correlations are computed."""

    n_resamples: int = 10_000
    confidence_level: float = 0.95
    rng: int = 0
    raw_level: bool = False
    """Against the level as 003 prints it (a good metric is negative), not minus the level."""
    raters: Raters = "averaged"
    """`averaged`: one mean rating a text; `kept`: one row a rating."""
    z_normalise: bool = False
    """Ratings minus the rater's mean, over the rater's standard deviation, before anything else."""
    dimension: str | None = None
    """Of the ratings; None: the only one there is."""


DEFAULT_OPTIONS = CorrelationOptions()


@dataclass(frozen=True)
class Pooled:
    """One coefficient over all rows, with three intervals."""

    over_rows: Estimate
    """Percentile bootstrap over rows, as 003 has it: too narrow where an item has several rows."""
    over_items: Estimate
    """The same over whole items: the sounder one."""
    fisher: tuple[float, float] | None
    """By Fisher's z, for independent rows; None where it does not apply (Kendall, fewer than four rows)."""


@dataclass(frozen=True)
class MetricCorrelation:
    """One metric in one group of rows."""

    group: Mapping[str, str]
    """Column -> value; holds `metric`."""
    metric: Metric
    against: Against
    n: int
    """Rows used."""
    left_out: Mapping[str, int]
    """Reason -> rows."""
    pooled: Mapping[Method, Pooled]
    per_item: Mapping[Method, Estimate]
    """Within each item, then averaged over items; `n_clusters`: items used, `n_left_out`: items without a value."""
    per_system: Mapping[Method, Estimate]
    """Between systems' means; empty where levels are the target. `n`: systems."""
    system_accuracy: Estimate | None
    """Share of pairs of systems that the metric orders as people do; None: no human ratings."""
    partial: Mapping[Method, Estimate]
    """Controlling for system; empty where there is only one."""

    @property
    def n_left_out(self) -> int:
        """Rows left out, whatever the reason."""
        return sum(self.left_out.values())


@dataclass(frozen=True)
class CorrelationReport:
    """All metrics in all groups."""

    rows: tuple[MetricCorrelation, ...]
    against: Against
    options: CorrelationOptions
    notes: tuple[str, ...] = ()
    """Such as how many ratings met no score."""


def correlate_scores(
    table: ScoreTable,
    ratings: RatingSet | None = None,
    *,
    group: Sequence[str] = (),
    options: CorrelationOptions = DEFAULT_OPTIONS,
) -> CorrelationReport:
    """Correlate every metric with the ratings, or with the level where none are given.

    group: columns of the table (`dataset`, `language`, `system`, `level` or a label) besides the metric. Scores of
    a metric whose lower end is better are turned, so that a good metric is positive (with raw_level negative).
    Raises InputError, with suggestions, for unknown columns and dimensions, and where nothing can be joined.
    """
    raise NotImplementedError


def as_correlation_set(report: CorrelationReport, name: str) -> CorrelationSet:
    """The pooled coefficients as one side of a meta-correlation. Raises InputError for a report with further groups."""
    raise NotImplementedError


@dataclass(frozen=True)
class Comparison:
    """Which of two metrics correlates more strongly with the same target on the same rows."""

    first: str
    second: str
    difference: float | None
    """Of the coefficients, first minus second."""
    p: float | None
    """Two-sided."""
    test: Literal["permutation", "williams"]
    n: int
    reason: str | None = None


@dataclass(frozen=True)
class Ranking:
    """Metrics from best to worst, in clusters that no test tells apart."""

    method: Method
    order: tuple[str, ...]
    cluster: Mapping[str, int]
    """Metric -> 1 for the best cluster; a new cluster begins where a metric is worse than all of the one before."""
    comparisons: tuple[Comparison, ...]
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Metric -> why it is not ranked."""


def rank_metrics(
    table: ScoreTable,
    ratings: RatingSet | None = None,
    *,
    method: Method = "pearson",
    test: Literal["permutation", "williams"] = "permutation",
    alpha: float = 0.05,
    options: CorrelationOptions = DEFAULT_OPTIONS,
) -> Ranking:
    """Compare all pairs of metrics on the rows that all of them scored, and cluster them by significance."""
    raise NotImplementedError
