"""Correlations of each metric with human ratings or damage levels, for one dimension or several."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from functools import partial as partial_of
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import (
    check_names,
    group_columns,
    items_of,
    left_out_by,
    mean_name,
    names_of,
    rows_by,
)
from core.joining.origins import origin_of
from core.joining.tables import (
    AS_USUAL,
    SYSTEM_MEANS,
    Joined,
    SystemRows,
    SystemScores,
    joined_with,
    left_out,
    system_rows,
)
from core.judges.pairwise import level_notes
from core.llm.families import alike_notes, model_of
from core.results.cells import (
    interval,
    left_out_notes,
    width_warned,
)
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions
from core.schema.result_table import Column, Interval, ResultTable
from core.schema.row_columns import ScoredRows
from core.schema.scores import (
    METHODS,
    UNKNOWN_ORIGIN,
    Against,
    Method,
    Metric,
    RatingSet,
    ScoreTable,
    TextOrigin,
)
from core.stats.correlation import groups, intervals, systems
from core.stats.correlation.coefficients import FEWEST
from core.stats.correlation.noise import NoiseCorrected
from core.stats.correlation.systems import AccuracyBound, SystemStatistic
from core.stats.degeneracy import Constant, constant, constants_said
from core.stats.resampling import Estimate, Floats, is_settled, numbered
from core.tables.reading import shown

MOST_OF_PARTIAL = 1_000
"""Resamples of a partial correlation, which takes as long as all the others together."""
_FEW_ROWS = 20_000  # up to this many rows, several metrics are computed and shown together
_TOGETHER = 4


@dataclass(frozen=True)
class Pooled:
    """A coefficient over all rows, with three intervals."""

    over_rows: Estimate
    """Percentile bootstrap over rows, as in Factual: too narrow if an item has several rows."""
    over_items: Estimate
    """Percentile bootstrap over whole items: the sounder one."""
    fisher: tuple[float, float] | None
    """Interval by Fisher's z, for independent rows; None if it does not apply (Kendall, fewer than four rows)."""

    def ends(self, whose: "Resampled") -> tuple[float | None, float | None]:
        """The ends of the interval of this kind."""
        one = self.over_rows if whose == "rows" else self.over_items
        return self.fisher or (None, None) if whose == "fisher" else (one.low, one.high)


@dataclass(frozen=True)
class MetricCorrelation:
    """One metric in one group of rows."""

    group: Mapping[str, str]
    """Column -> value; includes `metric`."""
    metric: Metric
    against: Against
    n: int
    """Rows used."""
    left_out: Mapping[str, int]
    """Reason -> number of rows."""
    pooled: Mapping[Method, Pooled]
    per_item: Mapping[Method, Estimate] = field(default_factory=dict)
    """Coefficient within each item, averaged over items; `n_clusters`: items used, `n_left_out`: items without a value."""
    per_system: Mapping[Method, Estimate] = field(default_factory=dict)
    """Coefficient between systems' means; empty if levels are the target. `n`: systems."""
    system_accuracy: Estimate | None = None
    """Share of system pairs that the metric orders as people do; None: no human ratings."""
    corrected: NoiseCorrected | None = None
    """Pearson's r between systems, corrected for the noise of items; None: no human ratings, or no resamples."""
    accuracy_bound: AccuracyBound | None = None
    """Bounds of system accuracy over infinitely many items; None as for `corrected`."""
    partial: Mapping[Method, Estimate] = field(default_factory=dict)
    """Partial correlation controlling for system; empty if there is only one."""
    constant: Constant | None = None
    """The score of all or nearly all texts used, on the metric's own scale; None: scores vary."""
    is_complete: bool = True
    """False while only pooled estimates without intervals are ready."""
    texts: TextOrigin = UNKNOWN_ORIGIN
    """What is known of the rows used by any metric."""

    @property
    def n_left_out(self) -> int:
        """Rows left out, for any reason."""
        return sum(self.left_out.values())

    def estimate(self, method: Method, view: "View") -> Estimate | None:
        """One coefficient, pooled with its interval over items; None if it was not computed."""
        if view == "pooled":
            pooled = self.pooled.get(method)
            return None if pooled is None else pooled.over_items
        of_view = {"per_item": self.per_item, "per_system": self.per_system, "given_system": self.partial}
        return of_view[view].get(method)


@dataclass(frozen=True)
class CorrelationReport:
    """Correlations of all metrics in all groups."""

    rows: tuple[MetricCorrelation, ...]
    against: Against
    options: CorrelateOptions
    use: UseOfRatings = AS_USUAL
    notes: tuple[str, ...] = ()
    """Notes, for example on ratings that matched no score."""

    @property
    def is_complete(self) -> bool:
        """Whether every interval has been computed."""
        return all(row.is_complete for row in self.rows)

    @property
    def _pooled(self) -> list[Estimate]:
        return [
            one
            for row in self.rows
            for both in row.pooled.values()
            for one in (both.over_rows, both.over_items)
        ]

    @property
    def monte_carlo_error(self) -> float | None:
        """The largest Monte Carlo error of a pooled interval's bound, as a share of its width; None: no interval."""
        shares = [
            one.monte_carlo_error / (one.high - one.low)
            for one in self._pooled
            if one.monte_carlo_error is not None
            and one.low is not None
            and one.high is not None
            and one.high > one.low
        ]
        return max(shares, default=None)

    @property
    def resamples(self) -> tuple[int, int]:
        """The smallest and largest number of resamples behind a pooled interval; 0 if there is none."""
        drawn = [one.n_resamples for one in self._pooled if one.n_resamples]
        return min(drawn, default=0), max(drawn, default=0)

    @property
    def constants(self) -> tuple[str, ...]:
        """A sentence for each metric that is (nearly) constant in a group."""
        return constants_said((_name_of(row), row.constant) for row in self.rows)


def _name_of(row: MetricCorrelation) -> str:
    """The metric and its group."""
    group = ", ".join(f"{name} {value}" for name, value in row.group.items() if name != "metric")
    return shown(f"{row.metric.name} ({group})" if group else row.metric.name)


DEFAULT_OPTIONS = CorrelateOptions()


def correlate_scores(
    table: ScoreTable,
    ratings: RatingSet | None = None,
    *,
    options: CorrelateOptions = DEFAULT_OPTIONS,
    use: UseOfRatings = AS_USUAL,
    tell: Callable[[str], object] | None = None,
) -> CorrelationReport:
    """Correlate every metric with the ratings, or with the level if no ratings are given.

    Groups are values of further columns of the table (`dataset`, `language`, `system`, `level` or a label). The sign of a
    metric is flipped if lower is better, so that a good metric is positive (negative with raw_level). tell: called with
    progress messages, because this can take a minute. Raises InputError, with suggestions, for unknown columns and
    dimensions, and if nothing can be joined.
    """
    parts, report = _begun(table, ratings, options, use, tell)
    return replace(report, rows=tuple(row for part in parts for row in _complete(part, options)))


def _begun(
    table: ScoreTable,
    ratings: RatingSet | None,
    options: CorrelateOptions,
    use: UseOfRatings,
    tell: Callable[[str], object] | None,
) -> tuple[list["JoinedGroup"], CorrelationReport]:
    """The joined groups to correlate, and the report without its rows."""
    parts, joined = joined_groups(
        *(table, ratings, options.group, use),
        raw=options.raw_level,
        system_scores=options.system_scores,
        tell=tell,
    )
    alike = alike_notes((model_of(metric.signature) for metric in table.metrics), table.rows)
    flat = () if joined.against == "human" else level_notes(table.metrics, table.rows)
    return parts, CorrelationReport(
        (), joined.against, options, use, (*table.notes, *joined.notes, *alike, *flat)
    )


def correlate_step_by_step(
    table: ScoreTable,
    ratings: RatingSet | None = None,
    *,
    options: CorrelateOptions = DEFAULT_OPTIONS,
    use: UseOfRatings = AS_USUAL,
    tell: Callable[[str], object] | None = None,
    so_far: CorrelationReport | None = None,
) -> Iterator[CorrelationReport]:
    """Yield the report of `correlate_scores` step by step: first only pooled estimates, at last everything.

    In between, rows are completed one after the other, or several at a time if they are quick. so_far: an earlier report
    for the same input, to continue from.
    """
    if so_far is not None and so_far.is_complete:
        yield so_far
        return
    parts, report = _begun(table, ratings, options, use, tell)
    rows = (
        [row for part in parts for row in _estimates(part, options)] if so_far is None else list(so_far.rows)
    )
    yield replace(report, rows=tuple(rows))
    n_metrics, place = len(table.metrics), 0
    for part in parts:
        together = _TOGETHER if part.target.size <= _FEW_ROWS else 1
        for start in range(0, n_metrics, together):
            metrics = range(start, min(start + together, n_metrics))
            places = slice(place, place + len(metrics))
            place += len(metrics)
            if not all(row.is_complete for row in rows[places]):
                rows[places] = _complete(part, options, metrics)
                yield replace(report, rows=tuple(rows))


@dataclass(frozen=True)
class JoinedGroup:
    """The joined rows of one group: the values behind its correlations. What needs the texts' rows is computed on first use."""

    joined: Joined
    named: Mapping[str, str]
    """Column -> value."""
    within: NDArray[np.bool_]
    """Mask of the table's rows in the group."""
    system_scores: SystemScores
    use: UseOfRatings
    tell: Callable[[str], object]

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """Index of the table's row for each entry."""
        return self.joined.rows[self.within[self.joined.rows]]

    @cached_property
    def scores(self) -> Floats:
        """Scores of the entries, shape (entries, metrics); higher is better."""
        return self.joined.scores()[self.within[self.joined.rows]]

    @cached_property
    def target(self) -> Floats:
        """What they are correlated with."""
        return self.joined.target[self.within[self.joined.rows]]

    @cached_property
    def texts(self) -> ScoredRows:
        """The text of each entry."""
        return ScoredRows.of(self.joined.table.rows).take(self.entries)

    @cached_property
    def origin(self) -> TextOrigin:
        """What is known of these texts."""
        return origin_of(self.texts, self.joined.pair_of)

    @cached_property
    def items(self) -> NDArray[np.int64]:
        """Number of each entry's item."""
        return items_of(self.texts)

    @cached_property
    def systems(self) -> NDArray[np.str_]:
        """System of each entry."""
        return names_of(self.texts, "system")

    @cached_property
    def between(self) -> SystemRows:
        """Values behind the systems' means; needs human ratings."""
        return system_rows(self.joined, self.within, self.system_scores)

    def left_out(self, *metrics: int) -> dict[str, int]:
        """Reason -> rows that a correlation of these metrics cannot use, and rows that the user left out."""
        gone = left_out_by(self.joined.table, [*self.named]).get(tuple(self.named.values()), {})
        return {**left_out(self.joined, self.within, *metrics), **gone}


def joined_group(
    table: ScoreTable,
    ratings: RatingSet | None,
    group: Mapping[str, str],
    use: UseOfRatings = AS_USUAL,
    *,
    raw: bool = False,
    system_scores: SystemScores = "all",
) -> "JoinedGroup":
    """The joined rows behind one row of `correlate_dimensions`.

    group: the row's `group`, column -> value; `metric` is ignored. Without a dimension, several chosen ones are averaged.
    Raises InputError for a column, value or dimension that does not exist.
    """
    several = dimension_options(use, ratings)
    named = {name: value for name, value in group.items() if name != "metric"}
    if len(several) > 1 and DIMENSION in named:
        dimension = named.pop(DIMENSION)
        check_names(DIMENSION, [dimension], several)
        use = several[dimension]
    parts, _ = joined_groups(table, ratings, [*named], use, raw=raw, system_scores=system_scores)
    for name, value in named.items():
        check_names(name, [value], dict.fromkeys(part.named[name] for part in parts))
    for part in parts:
        if part.named == named:
            return part
    listed = ", ".join(f"{name} {shown(value)}" for name, value in named.items())
    raise InputError(f"The scores have no text with {listed}.")


def joined_groups(
    table: ScoreTable,
    ratings: RatingSet | None,
    group: Sequence[str],
    use: UseOfRatings,
    *,
    raw: bool = False,
    system_scores: SystemScores = "all",
    tell: Callable[[str], object] | None = None,
) -> tuple[list[JoinedGroup], Joined]:
    """The joined rows of each group, and those of all groups. raw: see `joined_with`."""
    columns = tuple(name for name in dict.fromkeys(group) if name != "metric")
    check_names("column to group by", columns, group_columns(table))
    if not table.metrics:
        raise InputError("The table contains no metric. Add a column of scores.")
    joined = joined_with(table, ratings, use, raw=raw)
    every, members = np.arange(len(table.rows)), rows_by(table.rows, columns)
    groups = []
    for number, (values, rows) in enumerate(members.items(), start=1):
        told = _telling(tell, f"group {number} of {len(members)}, " if len(members) > 1 else "")
        named = dict(zip(columns, values, strict=True))
        groups.append(JoinedGroup(joined, named, np.isin(every, rows), system_scores, use, told))
    return groups, joined


def _telling(tell: Callable[[str], object] | None, begin: str) -> Callable[[str], object]:
    """A function that puts the group before each progress message."""

    def told(what: str) -> None:
        if tell is not None:
            tell(begin + what)

    return told


def _complete(
    part: JoinedGroup, options: CorrelateOptions, metrics: Sequence[int] | None = None
) -> list[MetricCorrelation]:
    """Complete rows of the group's metrics. metrics: their numbers; None: all."""
    n_metrics = len(part.joined.table.metrics)
    chosen = range(n_metrics) if metrics is None else metrics
    found = []
    for index, pooled in zip(chosen, _pooled(part, options, chosen), strict=True):
        part.tell(f"within items and between systems: metric {index + 1} of {n_metrics}")
        found.append(
            replace(_described(part, index, pooled), **_item_and_system_values(part, options, index))
        )
    return found


def _estimates(part: JoinedGroup, options: CorrelateOptions) -> list[MetricCorrelation]:
    """Pooled estimates without intervals."""
    drawn = {"names": part.joined.names, **options.resampling, "n_resamples": 0}
    found = intervals.correlate_columns(part.scores, part.target, options.coefficients, **drawn)
    return [
        replace(
            _described(part, index, {m: Pooled(one, one, _fisher(one, m)) for m, one in by_method.items()}),
            is_complete=False,
        )
        for index, by_method in enumerate(found)
    ]


def _described(part: JoinedGroup, index: int, pooled: Mapping[Method, Pooled]) -> MetricCorrelation:
    """A row without the values that need items and systems."""
    table = part.joined.table
    return MetricCorrelation(
        group={**part.named, "metric": table.metrics[index].name},
        metric=table.metrics[index],
        against=part.joined.against,
        n=int((~np.isnan(part.scores[:, index])).sum()),
        left_out=left_out(part.joined, part.within, index),
        pooled=pooled,
        texts=part.origin,
        constant=constant(table.values[np.unique(part.entries), index]),
    )


def _pooled(
    part: JoinedGroup, options: CorrelateOptions, metrics: Sequence[int]
) -> list[dict[Method, Pooled]]:
    """Pooled coefficients of each metric; all draw the same resamples."""
    named = (
        f"metric {metrics[0] + 1}" if len(metrics) == 1 else f"metrics {metrics[0] + 1} to {metrics[-1] + 1}"
    )
    named += f" of {part.scores.shape[1]}"
    part.tell(named)
    settled = {"names": part.joined.names, "until_settled": options.until_settled, **options.resampling}

    def resampling(clusters: NDArray[np.int64] | None, whose: str) -> list[dict[Method, Estimate]]:
        asked = part.scores[:, list(metrics)], part.target, options.coefficients
        told = _telling(part.tell, f"{named}, over {whose}: ")
        return intervals.correlate_columns(*asked, clusters=clusters, tell=told, **settled)

    over_rows = resampling(None, "rows")
    alone = np.array_equal(numbered(part.items), np.arange(part.items.size))
    over_items = over_rows if alone or not options.most_resamples else resampling(part.items, "items")
    return [
        {method: Pooled(one, items[method], _fisher(one, method)) for method, one in rows.items()}
        for rows, items in zip(over_rows, over_items, strict=True)
    ]


def _fisher(estimate: Estimate, method: Method) -> tuple[float, float] | None:
    if estimate.estimate is None:
        return None
    return intervals.fisher_interval(estimate.estimate, estimate.n, estimate.confidence_level, method)


def _item_and_system_values(part: JoinedGroup, asked: CorrelateOptions, metric: int) -> dict[str, Any]:
    """The values that need items and systems: per item, per system, accuracy and partial correlation."""
    x, y, methods = part.scores[:, metric], part.target, asked.coefficients
    several = len(set(part.systems.tolist())) > 1

    def per_item(method: Method, **options: Any) -> list[Estimate]:
        return [groups.mean_within(x, y, part.items, method, **options)]

    def given_system(method: Method, **options: Any) -> list[Estimate]:
        options |= {"items": part.items, "names": part.joined.names}
        return [groups.partial(x, y, part.systems, method, **options)]

    def compared(**options: Any) -> list[Estimate]:
        rows = part.between
        sides = (rows.scores[:, metric], rows.target, rows.systems)
        named: tuple[SystemStatistic, ...] = (*methods, "accuracy")
        found = systems.compare_systems(*sides, named, items=rows.items, paired=rows.paired, **options)
        return [found[name] for name in named]

    corrected = bound = None
    if part.joined.against == "human" and asked.most_resamples:
        rows = part.between
        sides = (rows.scores[:, metric], rows.target, rows.systems)
        given: dict[str, Any] = {
            "items": rows.items,
            "paired": rows.paired,
            "confidence_level": asked.confidence_level,
        }
        corrected = systems.corrected_between_systems(*sides, rng=asked.rng, **given)
        bound = systems.accuracy_bound(*sides, **given)
    within = {m: _few_first(asked, partial_of(per_item, m))[0] for m in methods}
    *of_methods, accuracy = _few_first(asked, compared) if part.joined.against == "human" else [None]
    partial = {
        m: _few_first(asked, partial_of(given_system, m), MOST_OF_PARTIAL)[0] for m in methods if several
    }
    return {
        "per_item": within,
        "per_system": dict(zip(methods, of_methods, strict=False)),
        "system_accuracy": accuracy,
        "corrected": corrected,
        "accuracy_bound": bound,
        "partial": partial,
    }


def _few_first(
    asked: CorrelateOptions, estimates: Callable[..., list[Estimate]], most: int | None = None
) -> list[Estimate]:
    """Estimates from few resamples if these suffice, else from all requested, but `most` at most."""
    options = asked.resampling
    at_most = options["n_resamples"] if most is None else min(most, options["n_resamples"])
    if asked.until_settled and at_most > FEWEST:
        found = estimates(**{**options, "n_resamples": FEWEST})
        if all(map(is_settled, found)):
            return found
    return estimates(**{**options, "n_resamples": at_most})


DIMENSION = "dimension"
"""Column that names the dimension of a row, before the columns for grouping."""


def correlate_dimensions(
    table: ScoreTable,
    ratings: RatingSet | None,
    *,
    options: CorrelateOptions = DEFAULT_OPTIONS,
    use: UseOfRatings = AS_USUAL,
    tell: Callable[[str], object] | None = None,
) -> CorrelationReport:
    """Like `correlate_scores`, and count the rows that the user left out of the table.

    With several dimensions: the rows of each, then those of their mean. The mean is over ratings, not over correlations:
    one number for each text, with its own intervals, ranking and tests. It tends to correlate more strongly than the
    dimensions do on average, because averaging reduces the raters' noise.
    """
    if ratings is not None and ratings.pair_of and "system" in options.group:
        pair = " and ".join(map(shown, ratings.pair_of))
        raise InputError(f"Each row is a pair of {pair}, so rows have no system. Group by other columns.")
    found = {
        name: correlate_scores(table, ratings, options=options, use=one, tell=tell)
        for name, one in dimension_options(use, ratings).items()
    }
    return combined(found, table, use)


def dimension_options(use: UseOfRatings, ratings: RatingSet | None) -> Mapping[str, UseOfRatings]:
    """Name of the rows of each report -> how it uses the ratings; the mean of several dimensions comes last."""
    if ratings is None or use.dimension is None or len(use.dimension) < 2:
        return {"": use}
    single = {name: use.model_copy(update={"dimension": (name,)}) for name in use.dimension}
    return {**single, mean_name(use.dimension): use}


def combined(
    reports: Mapping[str, CorrelationReport], table: ScoreTable, use: UseOfRatings
) -> CorrelationReport:
    """Combine the reports of `dimension_options`, and count the rows that the user left out of the table."""
    last = [*reports.values()][-1]
    columns = [name for name in dict.fromkeys(last.options.group) if name != "metric"]
    gone = left_out_by(table, columns)
    rows = [
        replace(
            row,
            group={DIMENSION: name, **row.group} if len(reports) > 1 else row.group,
            left_out={**row.left_out, **gone.get(tuple(row.group[column] for column in columns), {})},
        )
        for name, report in reports.items()
        for row in report.rows
    ]
    notes = dict.fromkeys(note for report in reports.values() for note in report.notes)
    return replace(last, rows=tuple(rows), use=use, notes=tuple(notes))


NOT_ASKED = "not requested"
NO_RATINGS = "needs human ratings"
NO_SYSTEM_MEANS = "Systems are compared by their mean ratings. Choose human ratings."
ONE_SYSTEM = "there is only one system"
COMPUTING = "being computed"
NO_FISHER = "Fisher's z needs Pearson or Spearman and at least four rows"

Resampled = Literal["rows", "items", "fisher"]
"""Kind of interval of a pooled coefficient: resampled rows, resampled items or Fisher's z."""
View = Literal["pooled", "per_item", "per_system", "given_system"]


RANKS = "no correction of ranks for noise is known that keeps its promise"
"""Why Spearman and Kendall have no noise-corrected value."""
CORRECTED = "pearson_per_system_corrected"
"""Column of the noise-corrected coefficient; further columns begin with it."""


_STATISTICS = re.compile(
    "family|signature|direction|against|n|n_left_out|left_out|constant_(value|share)|resampled|"
    rf"system_(accuracy.*|scores)|({'|'.join(METHODS)})(_.*)?"
)
"""Names of columns that are no column for grouping."""


def own_name(group: str) -> str:
    """Return the name of the column with a group's values: another one where a statistic has this name."""
    return f"group {group}" if _STATISTICS.fullmatch(group) else group


def pooled_cell(row: MetricCorrelation, method: Method, resampled: Resampled) -> Interval:
    """Return a coefficient over all rows with the interval of this kind."""
    pooled = row.pooled.get(method)
    if pooled is None:
        return interval(None, NOT_ASKED)
    if resampled == "fisher":
        low, high = pooled.ends("fisher")
        cell = replace(interval(pooled.over_items), low=low, high=high)
        return replace(cell, interval_reason=NO_FISHER if cell.value is not None and low is None else "")
    cell = interval(pooled.over_items if resampled == "items" else pooled.over_rows)
    return cell if row.is_complete or cell.value is None else replace(cell, interval_reason=COMPUTING)


_NAIVE = (
    "Per system, coefficients and accuracy are naive: noise of the items lowers them, and their intervals count it twice. "
    "Compare them with published numbers, and read the noise-corrected Pearson for these systems over infinitely many items. "
    "Accuracy cannot be corrected; it is bounded by the pairs whose order is certain."
)


def report_notes(report: CorrelationReport, resampled: Resampled, view: View | None) -> tuple[str, ...]:
    """Return how the intervals were made and what was left out. view: as readers see the coefficients; None: all views."""
    options = report.options
    notes = [*left_out_notes([(_name_of(row), row.left_out) for row in report.rows], "rows")]
    if options.most_resamples and report.is_complete:
        how = "Fisher's z" if resampled == "fisher" else f"percentile bootstrap over {resampled}"
        fewest, most = report.resamples
        drawn = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        error = report.monte_carlo_error
        settled = (
            ""
            if error is None
            else f"; Monte Carlo error of a bound at most {error:.1%} of its interval's width"
        )
        notes.append(
            f"Intervals: {options.confidence_level:.0%}, {how} (per item and per system: over items). "
            f"Resamples: {drawn}, seed {options.rng}{settled}."
        )
    between = [row.system_accuracy.reason for row in report.rows if row.system_accuracy is not None]
    if report.against == "human" and view in (None, "per_system") and not all(between):
        notes.append(f"Per system: {SYSTEM_MEANS[options.system_scores]}.")
        notes.append(_NAIVE)
    if any(row.metric.direction == "lower" for row in report.rows):
        notes.append("If lower scores are better, their sign is flipped.")
    return (*notes, *report.notes)


ALL_TEXTS = "all texts"


@dataclass(frozen=True)
class Grid:
    """The rows of a report as metrics by groups, both in order of appearance."""

    metrics: tuple[str, ...]
    groups: tuple[str, ...]
    """Names of the groups (`group_name`); `ALL_TEXTS` if there is no column for grouping."""
    cells: tuple[tuple[MetricCorrelation | None, ...], ...]
    """(metrics, groups); None if the report has no such row, as after filtering."""

    def estimates(self, method: Method, view: View) -> list[list[Estimate | None]]:
        """One coefficient of each cell; None if it was not computed."""
        return [[None if row is None else row.estimate(method, view) for row in line] for line in self.cells]


def group_name(values: Sequence[str]) -> str:
    """Join the values of a group by commas; of several, one with a comma or a quotation mark is quoted, as in CSV.

    So two groups of the same columns never share a name.
    """
    if len(values) < 2:
        return "".join(values)
    return ", ".join(
        '"{}"'.format(value.replace('"', '""')) if {",", '"'} & set(value) else value for value in values
    )


def grid(report: CorrelationReport) -> Grid:
    """Arrange the report's rows by metric and group."""
    places = {
        (row.metric.name, tuple(value for name, value in row.group.items() if name != "metric")): row
        for row in report.rows
    }
    metrics = tuple(dict.fromkeys(metric for metric, _ in places))
    values = list(dict.fromkeys(own for _, own in places))
    return Grid(
        metrics,
        tuple(group_name(own) or ALL_TEXTS for own in values),
        tuple(tuple(places.get((metric, own)) for own in values) for metric in metrics),
    )


def group_table(report: CorrelationReport, method: Method, view: View) -> ResultTable:
    """One coefficient with its interval: one row for each metric, one column for each group, as in `grid`."""
    found = grid(report)
    return ResultTable(
        "groups",
        (
            Column("metric", names_row=True),
            *(Column(f"group {group}", group, heat="coefficient") for group in found.groups),
        ),
        tuple(
            (metric, *(width_warned(interval(one, NOT_ASKED)) for one in line))
            for metric, line in zip(found.metrics, found.estimates(method, view), strict=True)
        ),
        title=f"{method.capitalize()}, {view.replace('_', ' ')}",
        notes=report_notes(report, "items", view),
    )


def target_sentence(report: CorrelationReport, ratings: RatingSet | None) -> str:
    """What the scores are correlated with, as a sentence."""
    if report.against == "human":
        return f"Against human ratings ({_which(report, ratings)}). Positive is good."
    if report.against == "level":
        return "Against the damage level. Negative is good."
    return "Against the negative damage level. Positive is good."


def _which(report: CorrelationReport, ratings: RatingSet | None) -> str:
    """Describe the file of ratings and how they are used."""
    use = report.use
    parts = [shown(ratings.file_name)] if ratings else []
    if use.dimension is not None:
        several = len(use.dimension) > 1
        parts.append(f"dimension{'s' if several else ''} {', '.join(map(shown, use.dimension))}")
    raters = {one.rater for one in ratings.ratings if one.rater is not None} if ratings else set()
    if raters:
        parts.append(f"{len(raters)} raters, {use.raters}" if len(raters) > 1 else "1 rater")
    if use.z_normalise:
        parts.append("on each rater's own scale")
    return ", ".join(parts)
