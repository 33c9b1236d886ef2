"""Meta-correlation: does data of known quality rank metrics as people do (Meta-Judge, equations 1 to 3)?"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, Unpack

import numpy as np

from core.errors import InputError
from core.formats.correlations import (
    error_notes,
    published_names,
)
from core.joining.choices import (
    TableChoice,
    check_names,
    chosen_correlations,
    chosen_table,
    group_columns,
    items_of,
    lower_is_better,
    rows_at,
    rows_by,
)
from core.joining.origins import origin_of
from core.joining.tables import AS_USUAL, Joined, joined_with
from core.metrics.registry import all_metrics, canonical_name
from core.results.correlations.paired import People, pair_with_people
from core.results.side_origins import SideOrigins
from core.schema.analysis import UseOfRatings
from core.schema.row_columns import ScoredRows
from core.schema.scores import (
    METHODS,
    UNKNOWN_ORIGIN,
    Against,
    CorrelationSet,
    Method,
    ScoreTable,
    TextOrigin,
)
from core.stats.correlation import intervals
from core.stats.correlation.coefficients import coefficient, why_undefined
from core.stats.correlation.families import FamilyTest, family_permutation_test
from core.stats.correlation.intervals import Live
from core.stats.correlation.noise import NoiseCorrected
from core.stats.resampling import Estimate, Floats, Resampling
from core.tables.reading import same_name, shown

UNKNOWN_FAMILY = "other"
NO_VALUE = "undefined"
_TURNED = "the sign of {} was flipped: lower is better, and an imported file contains correlations of the raw scores"


@dataclass(frozen=True)
class LiveSide:
    """A side computed from rows: scores, and the people to correlate them with (None: minus the level)."""

    name: str
    table: ScoreTable
    ratings: People | None = None
    use: UseOfRatings = AS_USUAL

    @property
    def has_datasets(self) -> bool:
        """Whether its texts name their data sets, so that `split_by_dataset` can split it."""
        return DATASET in group_columns(self.table)


Side = CorrelationSet | LiveSide
"""The data of one axis."""


@dataclass(frozen=True)
class Sides:
    """Both axes."""

    humans: Mapping[str, Side]
    """Data set -> human side; a single one for all is under ""."""
    synthetic: Side


@dataclass(frozen=True)
class SideValues:
    """Correlations of one side by metric key; both sides use the same key for the same metric."""

    name: str
    values: Mapping[str, float]
    """Key -> correlation, for metrics that have one."""
    reasons: Mapping[str, str]
    """Key -> reason for a missing correlation."""
    written: Mapping[str, str]
    """Key -> the side's own name for the metric."""
    families: Mapping[str, str]
    notes: tuple[str, ...] = ()
    against: Against | None = None
    """Target of the correlations; None: not stated."""
    joined: Joined | None = None
    """The rows of a live side, metrics in the order of `written`; None: fixed correlations."""
    texts: TextOrigin = UNKNOWN_ORIGIN
    """What is known of the texts."""
    voted: str = ""
    """The votes that the scores of pairs are correlated with; empty: the rows are texts."""

    @property
    def named(self) -> str:
        """The side's name, with the votes that make it a side of people."""
        return f"{self.name} with the {self.voted}" if self.voted else self.name


def side_values(side: Side, first_order: Method) -> SideValues:
    """One side's correlations by one method.

    Raises InputError if the side has none by that method, or has one metric twice.
    """
    if isinstance(side, LiveSide):
        table, ratings = side.table, None
        if side.ratings is not None:
            table, ratings = pair_with_people(table, side.ratings)
        joined = joined_with(table, ratings, side.use)
        written = _names_by_key(side.name, [metric.name for metric in table.metrics])
        scores = dict(zip(written, joined.scores().T, strict=True))
        given = {key: coefficient(own, joined.target, first_order) for key, own in scores.items()}
        return SideValues(
            name=side.name,
            values={key: value for key, value in given.items() if not np.isnan(value)},
            reasons={
                key: why_undefined(scores[key], joined.target, joined.names) or NO_VALUE
                for key, value in given.items()
                if np.isnan(value)
            },
            written=written,
            families=dict(zip(written, [metric.family for metric in table.metrics], strict=True)),
            notes=(*table.notes, *joined.notes),
            against=joined.against,
            joined=joined,
            texts=origin_of(ScoredRows.of(joined.table.rows).take(joined.rows), joined.pair_of),
            voted=ratings.file_name if ratings and ratings.pair_of else "",
        )
    held = [method for method in METHODS if any(one.get(method) is not None for one in side.values.values())]
    if side.values and held and first_order not in held:
        raise InputError(
            f"{shown(side.name)} contains only {' and '.join(held)} correlations, not {first_order}. Choose "
            f"{held[0]} at both orders, or {held[0]} first-order correlations."
        )
    written = _names_by_key(side.name, list(side.values))
    listed = {key: side.values[name].get(first_order) for key, name in written.items()}
    known = {key: value for key, value in listed.items() if value is not None and not np.isnan(value)}
    turned = [key for key in known if not side.scores_turned and lower_is_better(written[key])]
    return SideValues(
        name=side.name,
        values={key: 0.0 - value if key in turned else value for key, value in known.items()},
        reasons={key: side.reasons.get(name, NO_VALUE) for key, name in written.items() if key not in known},
        written=written,
        families={key: side.families[name] for key, name in written.items() if name in side.families},
        notes=(
            *side.notes,
            *([_TURNED.format(", ".join(shown(written[key]) for key in turned))] if turned else ()),
        ),
        against=side.against,
        texts=side.texts,
    )


def chosen_side(side: Side, choice: TableChoice) -> Side:
    """The side without the rows to leave out and with the declared directions; other choices are ignored."""
    if not isinstance(side, LiveSide):
        return chosen_correlations(side, choice)
    if side.ratings is None:
        return replace(side, table=chosen_table(side.table, choice))
    table, ratings = pair_with_people(side.table, side.ratings, choice)
    return replace(side, table=table, ratings=ratings)


def split_by_dataset(side: LiveSide) -> Mapping[str, LiveSide]:
    """Split a live side by the column `dataset`."""
    return {
        dataset: replace(side, name=f"{side.name}, {dataset}", table=rows_at(side.table, indices))
        for (dataset,), indices in rows_by(side.table.rows, ["dataset"]).items()
    }


def _names_by_key(side: str, names: Sequence[str]) -> dict[str, str]:
    """Registry name of each metric, or its own name in lower case -> the side's name for it."""
    written: dict[str, list[str]] = {}
    for name in names:
        written.setdefault(canonical_name(name) or same_name(name), []).append(name)
    same = [
        f"{', '.join(map(shown, alike))} all mean {key}" for key, alike in written.items() if len(alike) > 1
    ]
    if same:
        raise InputError(f"{shown(side)} contains a metric more than once. Leave out all but one.", same)
    return {key: alike[0] for key, alike in written.items()}


def family_of(key: str, *sides: SideValues) -> str:
    """The metric's family from the registry, else from a side."""
    known = {spec.metric.name: spec.metric.family for spec in all_metrics()}
    said = (side.families[key] for side in sides if side.families.get(key))
    return known.get(key) or next(said, UNKNOWN_FAMILY)


class NothingShared(InputError):
    """Raised if no metric is on both sides."""


def meeting(human: SideValues, synthetic: SideValues) -> tuple[list[str], dict[str, str]]:
    """Keys defined on both sides, and the names of the other metrics with reasons. Raises NothingShared."""
    if not human.written.keys() & synthetic.written.keys():
        raise NothingShared(
            f"{shown(human.name)} and {shown(synthetic.name)} have no metric in common. "
            "Use the registry's names or aliases, or the same names on both sides.",
            [
                f"{shown(side.name)} has {', '.join(map(shown, list(side.written.values())[:5])) or 'no metric'}"
                for side in (human, synthetic)
            ],
        )
    shared: list[str] = []
    dropped: dict[str, str] = {}
    for key in dict.fromkeys((*human.written, *synthetic.written)):
        missing = [side for side in (human, synthetic) if key not in side.values]
        if not missing:
            shared.append(key)
            continue
        absent = [side.name for side in missing if key not in side.written]
        dropped[called(key, human, synthetic)] = (
            f"not in {shown(absent[0])}"
            if absent
            else "; ".join(f"undefined in {shown(side.name)}: {side.reasons[key]}" for side in missing)
        )
    return shared, dropped


def called(key: str, human: SideValues, synthetic: SideValues) -> str:
    """The metric's registry name, else a side's name for it."""
    written = human.written.get(key) or synthetic.written[key]
    return canonical_name(written) or written


Caution = Literal["few_metrics", "few_families"]
"""Reasons why a meta-correlation is weak evidence, whatever its value."""
FEWEST_METRICS, FEWEST_FAMILIES = 20, 5
"""Below either limit, a meta-correlation is reported with a caution."""
_FEWEST_SIGNS = 3
_SAYS_LITTLE = (
    f"A meta-correlation of fewer than {FEWEST_METRICS} metrics or {FEWEST_FAMILIES} families is weak evidence: "
    "metrics of one family are variants of each other."
)
_WRONG: tuple[tuple[Against, ...], tuple[Against, ...]] = (("-level", "level"), ("human",))
"""Targets that show that the human or the synthetic side is on the wrong axis."""
_TARGETS: Mapping[Against, str] = {
    "human": "human ratings",
    "-level": "the damage level",
    "level": "the damage level",
}


def notes_on(sides: tuple[SideValues, SideValues], method: Method, first_order: Method) -> Iterator[str]:
    """Notes of both sides with their names, warnings about swapped sides, and the methods used."""
    said: dict[str, list[str]] = {}
    shared = sides[0].values.keys() & sides[1].values.keys()
    for side in sides:
        beside = _irrelevant_notes(side, shared)
        for note in dict.fromkeys(note for note in side.notes if note not in beside):
            said.setdefault(note, []).append(shown(side.name))
    yield from (f"{' and '.join(dict.fromkeys(names))}: {note}" for note, names in said.items())
    for side, what, wrong in zip(sides, ("human", "synthetic"), _WRONG, strict=True):
        if side.against in wrong:
            yield (
                f"{shown(side.name)} is given as the {what} side, but its correlations are with {_TARGETS[side.against]}. "
                "Are the sides swapped?"
            )
        negative = sum(value < 0 for value in side.values.values())
        if len(side.values) >= _FEWEST_SIGNS and 5 * negative >= 4 * len(side.values):
            yield (
                f"{negative} of {len(side.values)} correlations of {shown(side.name)} are negative, but a metric that "
                "follows quality has a positive one. Was the target an error count, or are the sides swapped?"
            )
    if first_order != method:
        yield f"{first_order} correlations of each metric, {method} between the two sides"
    items = _items_of(sides)
    if len(items) == 2 and items[0] & items[1]:
        yield "both sides contain the same items, but the naive interval over items resamples each side separately"


def _items_of(sides: Iterable[SideValues]) -> list[set[str]]:
    """The ids of the items of each live side."""
    return [{row.item_id for row in side.joined.table.rows} for side in sides if side.joined is not None]


def _origins(human: SideValues, synthetic: SideValues) -> SideOrigins:
    items = _items_of((human, synthetic))
    numbered = any(side.joined is not None and side.joined.table.row_numbers for side in (human, synthetic))
    same = len(items) == 2 and not numbered and (items[0] <= items[1] or items[1] <= items[0])
    return SideOrigins(human.name, synthetic.name, human.texts, synthetic.texts, same_items=same)


def _irrelevant_notes(side: SideValues, shared: Collection[str]) -> frozenset[str]:
    """Notes on a paper's errors in rows of metrics that are not used here."""
    if side.name not in published_names():
        return frozenset()
    used = {side.written[key] for key in shared}
    return frozenset(note for note, metrics in error_notes(side.name).items() if not used & metrics)


DATASET = "dataset"
"""Column whose value selects the human side."""
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
    """How similarly two data sets rank metrics."""

    method: Method
    """Correlation between the two sides; for the correlation of each metric see `first_order`."""
    over_metrics: Estimate
    """Interval from resampling metrics: would other metrics agree as well?"""
    over_items: Estimate | None
    """Naive interval from resampling the items of the live sides: noise counts twice. None: no side is live."""
    p_one_sided: float | None
    """p of no positive association, as in Meta-Judge's code. Treats metrics as independent: see `families`."""
    p_two_sided: float | None
    points: tuple[Point, ...]
    dropped: Mapping[str, str]
    """Metric -> reason for leaving it out: undefined on a side, or on one side only."""
    without_family: Mapping[str, Estimate]
    """Family -> the meta-correlation without its metrics."""
    human: str
    synthetic: str
    """Names of the sides."""
    notes: tuple[str, ...] = ()
    first_order: Method | None = None
    """Method for each metric's correlation; None: `method`."""
    p_reason: str | None = None
    """Reason for a missing p."""
    families: FamilyTest | None = None
    """p of no association between families of metrics; None: not computed."""
    over_items_corrected: NoiseCorrected | None = None
    """Pearson's r between the sides' correlations, corrected for the noise of items; None: no side is live."""
    origins: SideOrigins | None = None
    """What is known of both sides' texts; None: not compared."""

    @property
    def n_metrics(self) -> int:
        """Metrics that both sides define."""
        return len(self.points)

    @property
    def n_families(self) -> int:
        """Families of these metrics; all metrics without a known family count as one."""
        return len({point.family for point in self.points})

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Reasons why the number is weak evidence, to show before it; empty: none."""
        few: dict[Caution, bool] = {
            "few_metrics": self.n_metrics < FEWEST_METRICS,
            "few_families": self.n_families < FEWEST_FAMILIES,
        }
        return tuple(name for name, is_few in few.items() if is_few)

    @property
    def sides_said(self) -> tuple[str, ...]:
        """How the sides' texts differ, and what is unknown of them, to show before the number."""
        return () if self.origins is None else self.origins.said

    @property
    def caution(self) -> str | None:
        """The cautions as a sentence; None: no caution."""
        if not self.cautions:
            return None
        metrics = "1 metric" if self.n_metrics == 1 else f"{self.n_metrics} metrics"
        families = "1 family" if self.n_families == 1 else f"{self.n_families} families"
        return f"Only {metrics} of {families} can be compared. {_SAYS_LITTLE}"


@dataclass(frozen=True)
class MatrixCell:
    """One cell of a table such as Meta-Judge's Tables 1 to 3."""

    by: Mapping[str, str]
    """Column -> value: dataset, generator, shots, prompt."""
    result: MetaCorrelation | None
    reason: str | None = None


@dataclass(frozen=True)
class MatrixSummary:
    """Mean and spread over prompt variants (Meta-Judge, Table 2)."""

    by: Mapping[str, str]
    mean: float | None
    sd: float | None
    """Sample standard deviation (ddof 1); None for fewer than two."""
    n: int
    n_left_out: int = 0


@dataclass(frozen=True)
class Matrix:
    """Meta-correlations by data set, generator and shots."""

    cells: tuple[MatrixCell, ...]
    summaries: tuple[MatrixSummary, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sides_said(self) -> tuple[str, ...]:
        """How many cells have sides of unlike texts, and how the first such sides differ."""
        made = [cell.result for cell in self.cells if cell.result is not None]
        unlike = [one.origins for one in made if one.origins is not None and one.origins.differences]
        if not unlike:
            return ()
        return (
            f"The sides differ in {len(unlike)} of {len(made)} cells. {unlike[0].human_name} and {unlike[0].synthetic_name}: "
            f"{unlike[0].difference_said}",
        )

    @property
    def caution(self) -> str | None:
        """Sentence on how many cells compare few metrics; None: none does."""
        made = [cell.result for cell in self.cells if cell.result is not None]
        few = sum(bool(one.cautions) for one in made)
        return f"{few} of {len(made)} cells compare few metrics. {_SAYS_LITTLE}" if few else None


def meta_correlate(
    human: Side,
    synthetic: Side,
    *,
    method: Method = "spearman",
    first_order: Method | None = None,
    **drawing: Unpack[Resampling],
) -> MetaCorrelation:
    """Correlate the two sides' correlations over the metrics that both define.

    Metric names match through the registry's aliases. first_order: method of each metric's correlation; None: `method`
    at both orders. Raises InputError if an imported or published side lacks that method, naming those it has.
    Live sides are joined again and their pooled correlations used. A metric undefined on a side is dropped.
    """
    first = first_order or method
    sides = side_values(human, first), side_values(synthetic, first)
    resampling: Resampling = {"n_resamples": 1_000, **drawing}
    return _correlated(sides, method, first, resampling)


def _correlated(
    sides: tuple[SideValues, SideValues], method: Method, first: Method, resampling: Resampling
) -> MetaCorrelation:
    """The meta-correlation of two computed sides, so that a matrix computes its human side only once."""
    shared, dropped = meeting(*sides)
    points = tuple(
        Point(called(key, *sides), family_of(key, *sides), sides[0].values[key], sides[1].values[key])
        for key in shared
    )
    x, y = np.array([point.human for point in points]), np.array([point.synthetic for point in points])
    found = intervals.meta_correlation(x, y, method, **resampling)
    families = [point.family for point in points]
    over_items = corrected = None
    if any(side.joined is not None for side in sides):
        human, synthetic = (_rows_or_values(side, shared) for side in sides)
        over_items = intervals.meta_correlation_over_items(
            human, synthetic, method, first_order=first, **resampling
        )
        if resampling.get("n_resamples"):
            level, seed = resampling.get("confidence_level", 0.95), resampling.get("rng", 0)
            corrected = intervals.corrected_over_items(
                human, synthetic, first, confidence_level=level, rng=seed
            )
    permuted = resampling.get("n_resamples", 0), resampling.get("rng", 0)
    return MetaCorrelation(
        method=method,
        over_metrics=found.over_metrics,
        over_items=over_items,
        p_one_sided=found.p_one_sided,
        p_two_sided=found.p_two_sided,
        points=points,
        dropped=dropped,
        without_family=intervals.leave_one_family_out(x, y, families, method, **resampling),
        human=sides[0].named,
        synthetic=sides[1].name,
        notes=tuple(notes_on(sides, method, first)),
        first_order=first,
        p_reason=found.p_reason,
        families=family_permutation_test(x, y, families, method, n_resamples=permuted[0], rng=permuted[1]),
        over_items_corrected=corrected,
        origins=_origins(*sides),
    )


def _rows_or_values(side: SideValues, shared: Sequence[str]) -> Live | Floats:
    """A side's data: its rows with their items, or fixed correlations."""
    if side.joined is None:
        return np.array([side.values[key] for key in shared], dtype=np.float64)
    columns = list(side.written)
    scores = side.joined.scores()[:, [columns.index(key) for key in shared]]
    rows = [side.joined.table.rows[index] for index in side.joined.rows.tolist()]
    return Live(scores, side.joined.target, items_of(rows))


def meta_matrix(
    humans: Mapping[str, Side],
    synthetic: ScoreTable,
    *,
    by: Sequence[str],
    over: str | None = None,
    method: Method = "spearman",
    first_order: Method | None = None,
    **drawing: Unpack[Resampling],
) -> Matrix:
    """One meta-correlation for each combination of the columns `by`.

    humans: data set -> human side; a single entry under "" is used for all. over: a column whose values are variants,
    such as `prompt`; the summaries give mean and SD over them for each combination of the other columns. A cell that
    cannot be computed has a reason. Raises InputError for unknown columns, and for several human sides unless `dataset`
    is among the columns.
    """
    columns = [*dict.fromkeys(name for name in by if name != over), *([over] if over else [])]
    check_names("column", columns, group_columns(synthetic))
    if DATASET not in columns and set(humans) != {""}:
        raise InputError(
            f"Human sides are given by data set ({', '.join(map(shown, humans))}). "
            f"Add {DATASET} to the columns."
        )
    first = first_order or method
    resampling: Resampling = {"n_resamples": 1_000, **drawing}

    @cache
    def human_side(name: str) -> SideValues:
        return side_values(humans[name], first)

    def cell(by: Mapping[str, str], part: ScoreTable) -> MatrixCell:
        dataset = by.get(DATASET, "")
        human = dataset if dataset in humans else ""
        if human not in humans:
            return MatrixCell(by, None, f"no human side for the data set {shown(dataset)}")
        live = LiveSide(", ".join(f"{column} {shown(value)}" for column, value in by.items()), part)
        try:
            sides = human_side(human), side_values(live, first)
            result = _correlated(sides, method, first, resampling)
        except InputError as problem:  # one cell that cannot be computed does not stop the others
            listed = "; ".join(problem.problems[:_MOST_PROBLEMS])
            more = problem.n_problems - _MOST_PROBLEMS
            why = problem.what, listed, f"and {more} more" if more > 0 else ""
            return MatrixCell(by, None, " ".join(filter(None, why)))
        return MatrixCell(by, result, result.over_metrics.reason)

    cells = tuple(
        cell(dict(zip(columns, key, strict=True)), rows_at(synthetic, indices))
        for key, indices in rows_by(synthetic.rows, columns).items()
    )
    notes = list(synthetic.notes)
    met = dict.fromkeys(one.by[DATASET] for one in cells) if DATASET in columns else {}
    if met and (lost := [shown(name) for name in humans if name and name not in met]):
        there = ", ".join(map(shown, met))
        notes.append(f"no text belongs to {', '.join(lost)}; the synthetic side has {there}")
    return Matrix(cells, _summaries(cells, over) if over else (), tuple(notes))


def _summaries(cells: Sequence[MatrixCell], over: str) -> tuple[MatrixSummary, ...]:
    """Mean and SD over the variants of each combination of the other columns."""
    variants: dict[tuple[tuple[str, str], ...], list[float | None]] = {}
    for cell in cells:
        rest = tuple((column, value) for column, value in cell.by.items() if column != over)
        estimate = cell.result.over_metrics.estimate if cell.result else None
        variants.setdefault(rest, []).append(estimate)
    known = {rest: [value for value in own if value is not None] for rest, own in variants.items()}
    return tuple(
        MatrixSummary(
            by=dict(rest),
            mean=float(np.mean(own)) if own else None,
            sd=float(np.std(own, ddof=1)) if len(own) > 1 else None,
            n=len(own),
            n_left_out=len(variants[rest]) - len(own),
        )
        for rest, own in known.items()
    )
