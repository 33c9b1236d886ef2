"""Meta-correlation: does data of known quality rank metrics as people do? (000, equations 1 to 3.)"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.schema.scores import CorrelationSet, Method, RatingSet, ScoreTable
from core.stats.resampling import Estimate


@dataclass(frozen=True)
class LiveSide:
    """Rows behind a side: scores, and what they are correlated with (ratings; None: minus the level)."""

    name: str
    table: ScoreTable
    ratings: RatingSet | None = None


Side = CorrelationSet | LiveSide
"""What stands on one axis."""


@dataclass(frozen=True)
class Point:
    """One metric in the scatter."""

    metric: str
    family: str
    human: float
    synthetic: float


@dataclass(frozen=True)
class MetaCorrelation:
    """How alike two data sets rank metrics."""

    method: Method
    """At both orders."""
    over_metrics: Estimate
    """The interval from resampling metrics: would other metrics agree as well?"""
    over_items: Estimate | None
    """The interval from resampling the items of the live sides; None: no side is live."""
    p_one_sided: float | None
    """Of no positive association, as the code of 000 has it."""
    p_two_sided: float | None
    points: tuple[Point, ...]
    dropped: Mapping[str, str]
    """Metric -> why it has no part: undefined on a side, or known on one side only."""
    without_family: Mapping[str, Estimate]
    """Family -> the meta-correlation without its metrics."""
    human: str
    synthetic: str
    """Names of the sides."""
    notes: tuple[str, ...] = ()

    @property
    def n_metrics(self) -> int:
        """Metrics that both sides define."""
        return len(self.points)


def meta_correlate(
    human: Side,
    synthetic: Side,
    *,
    method: Method = "spearman",
    n_resamples: int = 1_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> MetaCorrelation:
    """Correlate the two sides' correlations over the metrics that both define.

    Metric names meet through the alias table. Kendall at both orders needs sides that hold Kendall; where an
    imported or published side holds another first order only, InputError names what it holds.
    """
    raise NotImplementedError


@dataclass(frozen=True)
class MatrixCell:
    """One cell of tables like 000's 1 to 3."""

    by: Mapping[str, str]
    """Column -> value: dataset, generator, shots, prompt."""
    result: MetaCorrelation | None
    reason: str | None = None


@dataclass(frozen=True)
class MatrixSummary:
    """Mean and spread over prompt variants (000, Table 2)."""

    by: Mapping[str, str]
    mean: float | None
    sd: float | None
    """With ddof 1; None for fewer than two."""
    n: int
    left_out: int = 0


@dataclass(frozen=True)
class Matrix:
    """Meta-correlations by data set, generator and shots."""

    cells: tuple[MatrixCell, ...]
    summaries: tuple[MatrixSummary, ...] = ()
    notes: tuple[str, ...] = ()


def meta_matrix(
    humans: Mapping[str, Side],
    synthetic: ScoreTable,
    *,
    by: Sequence[str],
    over: str | None = None,
    method: Method = "spearman",
    n_resamples: int = 1_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Matrix:
    """One meta-correlation for each combination of the columns `by`.

    humans: data set -> human side; a single entry under "" serves all. over: a column whose values are variants
    (such as `prompt`): mean and SD over them are given for each combination of the others.
    """
    raise NotImplementedError


@dataclass(frozen=True)
class Redundancy:
    """How alike metrics score the same texts."""

    method: Method
    metrics: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    """Square, symmetric."""
    n: tuple[tuple[int, ...], ...] = field(default=())
    """Texts that both metrics scored."""


def redundancy(table: ScoreTable, *, method: Method = "spearman") -> Redundancy:
    """Correlation between every two metrics over the texts that both scored."""
    raise NotImplementedError
