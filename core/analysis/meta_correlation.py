"""Meta-correlation: does data of known quality rank metrics as people do? (000, equations 1 to 3.)"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from core.analysis.choosing import check_names
from core.analysis.joining import group_columns, rows_at, rows_by
from core.analysis.meta_notes import Caution, caution_said, cautions, cells_caution_said, notes_on, unmet
from core.analysis.meta_sides import LiveSide as LiveSide
from core.analysis.meta_sides import Side as Side
from core.analysis.meta_sides import SideValues, called, family_of, meeting, rows_or_values, side_values
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import Method, ScoreTable
from core.stats import meta_correlation
from core.stats.resampling import Estimate

DATASET = "dataset"
"""The column whose value chooses the human side."""
_MOST_PROBLEMS = 3


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
    """Between the two sides; of each metric see `first_order`."""
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
    first_order: Method | None = None
    """Which correlation of each metric is compared; None: `method`."""
    p_reason: str | None = None
    """Why there is no p."""

    @property
    def n_metrics(self) -> int:
        """Metrics that both sides define."""
        return len(self.points)

    @property
    def n_families(self) -> int:
        """Families of these metrics; all metrics of no known family count as one."""
        return len({point.family for point in self.points})

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Why the number says little, to be read before it; empty: nothing of the kind."""
        return cautions(self.n_metrics, self.n_families)

    @property
    def caution(self) -> str | None:
        """The same as a sentence."""
        return caution_said(self.n_metrics, self.n_families)


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

    @property
    def caution(self) -> str | None:
        """How many cells compare few metrics, as a sentence; None: none does."""
        made = [cell.result for cell in self.cells if cell.result is not None]
        return cells_caution_said([(one.n_metrics, one.n_families) for one in made])


def meta_correlate(
    human: Side,
    synthetic: Side,
    *,
    method: Method = "spearman",
    first_order: Method | None = None,
    n_resamples: int = 1_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> MetaCorrelation:
    """Correlate the two sides' correlations over the metrics that both define.

    Metric names meet through the registry's aliases. first_order: which correlation of a metric; None: `method` at
    both orders. Where an imported or published side holds no such correlation, InputError names what it holds.
    Live sides are joined anew and their pooled correlations used. A metric that a side leaves undefined is dropped.
    """
    first = first_order or method
    sides = side_values(human, first), side_values(synthetic, first)
    resampling = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
    return _correlated(sides, method, first, resampling)


def _correlated(
    sides: tuple[SideValues, SideValues], method: Method, first: Method, resampling: Mapping[str, Any]
) -> MetaCorrelation:
    """The meta-correlation of two sides that were made: a matrix makes a human side once."""
    shared, dropped = meeting(*sides)
    points = tuple(
        Point(called(key, *sides), family_of(key, *sides), sides[0].values[key], sides[1].values[key])
        for key in shared
    )
    x, y = np.array([point.human for point in points]), np.array([point.synthetic for point in points])
    found = meta_correlation.meta_correlation(x, y, method, **resampling)
    families = [point.family for point in points]
    return MetaCorrelation(
        method=method,
        over_metrics=found.over_metrics,
        over_items=_over_items(sides, shared, method, first, resampling),
        p_one_sided=found.p_one_sided,
        p_two_sided=found.p_two_sided,
        points=points,
        dropped=dropped,
        without_family=meta_correlation.leave_one_family_out(x, y, families, method, **resampling),
        human=sides[0].name,
        synthetic=sides[1].name,
        notes=tuple(notes_on(sides, method, first)),
        first_order=first,
        p_reason=found.p_reason,
    )


def _over_items(
    sides: tuple[SideValues, SideValues],
    shared: Sequence[str],
    method: Method,
    first_order: Method,
    resampling: Mapping[str, Any],
) -> Estimate | None:
    """The interval from resampling the items of the live sides; None: no side is live."""
    if all(side.joined is None for side in sides):
        return None
    human, synthetic = (rows_or_values(side, shared) for side in sides)
    return meta_correlation.meta_correlation_over_items(
        human, synthetic, method, first_order=first_order, **resampling
    )


def meta_matrix(
    humans: Mapping[str, Side],
    synthetic: ScoreTable,
    *,
    by: Sequence[str],
    over: str | None = None,
    method: Method = "spearman",
    first_order: Method | None = None,
    n_resamples: int = 1_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Matrix:
    """One meta-correlation for each combination of the columns `by`.

    humans: data set -> human side; a single entry under "" serves all. over: a column whose values are variants
    (such as `prompt`): mean and SD over them are given for each combination of the others. A cell that cannot be
    computed has the reason. Raises InputError for unknown columns, and for several human sides without `dataset`
    among the columns.
    """
    columns = [*dict.fromkeys(name for name in by if name != over), *([over] if over else [])]
    check_names("column", columns, group_columns(synthetic))
    if DATASET not in columns and set(humans) != {""}:
        raise InputError(
            f"Human sides are given for the data sets {', '.join(map(shown, humans))}: "
            f"{DATASET} must be among the columns."
        )
    first = first_order or method
    resampling = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}

    @cache
    def human_side(name: str) -> SideValues:
        return side_values(humans[name], first)

    def correlated(name: str, live: LiveSide) -> MetaCorrelation:
        return _correlated((human_side(name), side_values(live, first)), method, first, resampling)

    cells = tuple(
        _cell(humans, rows_at(synthetic, indices), dict(zip(columns, key, strict=True)), correlated)
        for key, indices in rows_by(synthetic.rows, columns).items()
    )
    met = dict.fromkeys(cell.by[DATASET] for cell in cells) if DATASET in columns else {}
    notes = (*synthetic.notes, *(unmet(tuple(humans), tuple(met)) if met else ()))
    return Matrix(cells, _summaries(cells, over) if over else (), notes)


def _cell(
    humans: Collection[str],
    part: ScoreTable,
    by: Mapping[str, str],
    correlated: Callable[[str, LiveSide], MetaCorrelation],
) -> MatrixCell:
    """correlated: of a human side's name and the rows of this cell."""
    dataset = by.get(DATASET, "")
    human = dataset if dataset in humans else ""
    if human not in humans:
        return MatrixCell(by, None, f"no human side for the data set {shown(by[DATASET])}")
    name = ", ".join(f"{column} {shown(value)}" for column, value in by.items())
    try:
        result = correlated(human, LiveSide(name, part))
    except InputError as problem:  # this cell cannot be computed, others can
        listed = "; ".join(problem.problems[:_MOST_PROBLEMS])
        more = problem.n_problems - _MOST_PROBLEMS
        return MatrixCell(
            by, None, " ".join(filter(None, (problem.what, listed, f"and {more} more" if more > 0 else "")))
        )
    return MatrixCell(by, result, result.over_metrics.reason)


def _summaries(cells: Sequence[MatrixCell], over: str) -> tuple[MatrixSummary, ...]:
    """Mean and SD over the variants of each combination of the other columns."""
    variants: dict[tuple[tuple[str, str], ...], list[float | None]] = {}
    for cell in cells:
        rest = tuple((column, value) for column, value in cell.by.items() if column != over)
        estimate = cell.result.over_metrics.estimate if cell.result else None
        variants.setdefault(rest, []).append(estimate)
    summaries = []
    for rest, estimates in variants.items():
        known = np.array([value for value in estimates if value is not None], dtype=np.float64)
        summaries.append(
            MatrixSummary(
                by=dict(rest),
                mean=float(known.mean()) if known.size else None,
                sd=float(known.std(ddof=1)) if known.size > 1 else None,
                n=known.size,
                left_out=len(estimates) - known.size,
            )
        )
    return tuple(summaries)
