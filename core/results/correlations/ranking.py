"""Rank metrics: pairwise tests on the same rows, clusters without significant differences, and redundant metrics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import check_names, items_of, left_out_of
from core.joining.tables import DEFAULT_OPTIONS, CorrelationOptions, SystemRows, joined_with
from core.results.cells import (
    corrected_column,
    corrected_note,
    decimal,
    interval,
    left_out_notes,
    picked,
    why_no_width,
    width_warned,
)
from core.results.correlations.points import NO_MEAN, NOTHING_TO_ORDER
from core.results.correlations.table import (
    DIMENSION,
    MOST_OF_PARTIAL,
    NO_SYSTEM_MEANS,
    JoinedGroup,
    by_dimension,
    estimate_json,
    joined_group,
    joined_groups,
)
from core.schema.result_table import Column, Interval, ResultTable
from core.schema.scores import Against, Direction, Method, RatingSet, ScoreTable
from core.stats.correlation import coefficients, intervals
from core.stats.correlation.differences import Compared, difference, differences_between
from core.stats.multiplicity import Correction, corrected
from core.stats.resampling import Estimate, Floats, numbered
from core.tables.reading import shown

Test = Literal["permutation", "williams"]
MOST_SWAPS = 1_000
"""Most swaps of a permutation test, as in WMT's metrics task."""
RANKING_CORRECTION: Correction = "benjamini-hochberg"
"""Of the m (m - 1) / 2 tests of a ranking: many are screened. By Holm, 1,000 swaps could show nothing from 11 metrics on."""
COMPARED_CORRECTION: Correction = "holm"
"""Of two metrics in several groups and views: a decision may rest on any of them."""
ALPHA = 0.05
"""Level below which a p-value shows a difference, where the user names no other."""
NO_SCORES = "no scores"
NOT_TESTED = "Williams' test is undefined: fewer than four rows, or the two metrics rank all texts alike"


@dataclass(frozen=True)
class Comparison:
    """Comparison of two metrics' correlations with the same target on the same rows."""

    first: str
    second: str
    difference: float | None
    """Difference of the coefficients, first minus second."""
    p: float | None
    """Two-sided."""
    test: Test
    n: int
    reason: str | None = None
    p_bh: float | None = None
    """The same, corrected for all comparisons of the ranking (Benjamini-Hochberg)."""
    low: float | None = None
    """Lower end of the difference's interval (`core.stats.correlation.differences`), over items."""
    high: float | None = None
    interval_reason: str | None = None
    """Why there is no interval."""


@dataclass(frozen=True)
class Ranking:
    """Metrics from best to worst, in clusters without significant differences."""

    method: Method
    order: tuple[str, ...]
    cluster: Mapping[str, int]
    """Metric -> cluster, 1 is best. A new cluster begins at a metric that is worse than all in the cluster before."""
    comparisons: tuple[Comparison, ...]
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Metric -> reason for not ranking it."""
    coefficients: Mapping[str, float] = field(default_factory=dict)
    """Metric -> its coefficient on the rows compared."""
    n: int = 0
    """Rows compared: those scored by all metrics that have scores."""
    n_rows: int = 0
    """Rows with a target, whether compared or not."""
    alpha: float = ALPHA
    """Significance level of the corrected tests."""
    notes: tuple[str, ...] = ()
    """Notes, for example on a metric that leaves few rows to compare."""
    directions: Mapping[str, Direction] = field(default_factory=dict)
    """Metric -> better end of its scores; the sign of `lower` ones is flipped."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of rows that the user left out."""

    @property
    def n_tests(self) -> int:
        """Comparisons with a p, for whose number p is corrected."""
        return sum(one.p is not None for one in self.comparisons)


def rank_metrics(
    table: ScoreTable,
    ratings: RatingSet | None = None,
    *,
    method: Method = "pearson",
    test: Test = "permutation",
    alpha: float = ALPHA,
    options: CorrelationOptions = DEFAULT_OPTIONS,
    tested: bool = True,
) -> Ranking:
    """Compare all pairs of metrics on the rows that all of them scored, and cluster them by corrected significance.

    Metrics are ordered by the pooled coefficient, best first, regardless of `raw_level`. `permutation` swaps whole items,
    at most MOST_SWAPS times. Intervals of differences resample items, at most MOST_SWAPS times. `williams` assumes
    independent rows and is for Pearson, or Spearman as Pearson of ranks. A metric whose correlation is undefined is dropped
    and named. tested: False orders the metrics only, without tests and clusters. Raises InputError for williams with
    Kendall.
    """
    if test == "williams" and method == "kendall":
        raise InputError(
            "Williams' test supports only Pearson and Spearman. Choose the permutation test for Kendall."
        )
    joined = joined_with(table, ratings, replace(options, raw_level=False))
    scores = joined.scores()
    scored: NDArray[np.bool_] = np.asarray(np.isfinite(scores).any(axis=0))
    shared = np.isfinite(scores[:, scored]).all(axis=1)
    rows = [table.rows[index] for index in joined.rows[shared].tolist()]
    columns, target, items = scores[shared].T, joined.target[shared], items_of(rows)
    names = [metric.name for metric in table.metrics]
    whys = [
        coefficients.why_undefined(column, target, joined.names) if scored[m] else NO_SCORES
        for m, column in enumerate(columns)
    ]
    values = [coefficients.coefficient(column, target, method) for column in columns]
    order = sorted((m for m, why in enumerate(whys) if why is None), key=lambda m: -values[m])
    ordered_columns = np.array([columns[m] for m in order]).reshape(len(order), target.size)
    apart = (
        _all_differences(ordered_columns, target, items, method, [values[m] for m in order], options)
        if tested
        else {}
    )

    n_swaps = min(options.n_resamples, MOST_SWAPS)

    def compared(first: int, second: int) -> Comparison:
        both = columns[first], columns[second]
        said: tuple[float | None, float | None, Test, int, str | None]
        if test == "permutation":
            found = intervals.permutation_test(
                *(*both, target, method),
                items=items,
                n_resamples=n_swaps,
                rng=options.rng,
                names=joined.names,
            )
            said = found.difference, found.p, test, found.n, found.reason
        else:
            between = coefficients.coefficient(*both, method)
            _, p = intervals.williams(values[first], values[second], between, target.size)
            undefined = bool(np.isnan(p))
            why = NOT_TESTED if undefined else None
            said = values[first] - values[second], None if undefined else p, test, target.size, why
        return Comparison(names[first], names[second], *said)

    places = list(combinations(range(len(order)), 2)) if tested else []
    comparisons = []
    for i, j in places:
        between = apart[i, j]
        comparisons.append(
            replace(
                compared(order[i], order[j]),
                **picked(between, "low", "high"),
                interval_reason=why_no_width(between),
            )
        )
    p_values = np.full((len(order), len(order)), np.nan)
    of_family = corrected([one.p for one in comparisons], RANKING_CORRECTION)
    for place, p in zip(places, of_family, strict=True):
        p_values[place] = np.nan if p is None else p
    comparisons = [replace(one, p_bh=p) for one, p in zip(comparisons, of_family, strict=True)]
    ordered = tuple(names[m] for m in order)
    return Ranking(
        method=method,
        order=ordered,
        cluster=intervals.significance_clusters(ordered, p_values, alpha) if tested else {},
        comparisons=tuple(comparisons),
        dropped={names[m]: why for m, why in enumerate(whys) if why is not None},
        coefficients={names[m]: values[m] for m in order},
        n=len(rows),
        n_rows=len(scores),
        alpha=alpha,
        directions={metric.name: metric.direction for metric in joined.table.metrics},
        left_out=left_out_of(table),
        notes=(
            *_costly(np.isfinite(scores[:, scored]), [names[m] for m in np.flatnonzero(scored).tolist()]),
            *_out_of_reach(comparisons, alpha, n_swaps),
        ),
    )


def _all_differences(
    columns: Floats,
    target: Floats,
    items: NDArray[np.int64],
    method: Method,
    values: Sequence[float],
    options: CorrelationOptions,
) -> Mapping[tuple[int, int], Estimate]:
    """Differences of every two coefficients with their intervals; each column (m, rows) is resampled once."""
    clusters, n_resamples = numbered(items), min(options.n_resamples, MOST_SWAPS)
    n_items = int(clusters.max(initial=-1)) + 1
    resampled = None
    if len(columns) and n_items > 1 and n_resamples:
        of_method = coefficients.resample_columns(
            np.array([coefficients.column(one) for one in columns]).T,
            coefficients.column(target),
            clusters,
            n_items,
            (method,),
            n_resamples=n_resamples,
            seed=options.rng,
        )
        resampled = np.array(of_method[method])
    return differences_between(
        np.array(values),
        resampled,
        n=target.size,
        n_clusters=n_items,
        confidence_level=options.confidence_level,
    )


@dataclass(frozen=True)
class MetricComparison:
    """Two metrics compared on the rows of one group that both scored."""

    group: Mapping[str, str]
    """Column -> value; empty: all texts."""
    view: Compared
    method: Method
    against: Against
    first: str
    second: str
    first_estimate: Estimate
    """Coefficient of the first metric on the shared rows, with its interval over items; `n`: rows, per system systems."""
    second_estimate: Estimate
    difference: Estimate
    """First minus second, from the same resamples."""
    p: float | None
    """Two-sided, by swapping whole items."""
    p_reason: str | None
    n_swaps: int
    left_out: Mapping[str, int]
    """Reason -> rows that one of the two did not score, or that have no target; per system, of systems."""
    p_holm: float | None = None
    """The same p, corrected for the `n_tests` of one coefficient in several groups and views; equal to p for one."""
    n_tests: int = 1

    @property
    def n(self) -> int:
        """Rows compared; per system, systems."""
        return self.difference.n


def check_two(table: ScoreTable, first: str, second: str) -> None:
    """Raise InputError unless both are metrics of the table, and not the same one."""
    check_names("metric", [first, second], [metric.name for metric in table.metrics])
    if first == second:
        raise InputError(f"{shown(first)} cannot be compared with itself. Choose two metrics.")


def compare_metrics(
    table: ScoreTable,
    ratings: RatingSet | None,
    first: str,
    second: str,
    *,
    group: Mapping[str, str] | None = None,
    view: Compared = "pooled",
    method: Method = "pearson",
    options: CorrelationOptions = DEFAULT_OPTIONS,
) -> MetricComparison:
    """Compare two metrics in one group (`core.stats.correlation.differences.difference`), whatever `raw_level` is.

    group: a row's `group` in the report of `correlate_dimensions`; `metric` is ignored. Raises InputError for unknown names,
    for a metric compared with itself, and for `per_system` without ratings.
    """
    check_two(table, first, second)
    part = joined_group(table, ratings, group or {}, replace(options, raw_level=False))
    if view == "per_system" and part.joined.against != "human":
        raise InputError(NO_SYSTEM_MEANS)
    named = {name: value for name, value in (group or {}).items() if name != "metric"}
    return _compared(part, named, (first, second), view, method)


def compare_in_groups(
    table: ScoreTable,
    ratings: RatingSet | None,
    first: str,
    second: str,
    *,
    group: Sequence[str] = (),
    options: CorrelationOptions = DEFAULT_OPTIONS,
    tell: Callable[[str], None] | None = None,
) -> tuple[MetricComparison, ...]:
    """Compare two metrics in every group and view and by each of `options.methods`, in the order of `correlate_dimensions`.

    Arguments as there. Raises InputError as `compare_metrics` does.
    """
    check_two(table, first, second)
    several = by_dimension(replace(options, raw_level=False), ratings)
    found = []
    for dimension, own in several.items():
        parts, _ = joined_groups(table, ratings, group, own, None)
        for part in parts:
            named = {DIMENSION: dimension, **part.named} if len(several) > 1 else part.named
            if tell is not None:
                tell(" ".join(["comparing the two metrics", *(shown(value) for value in named.values())]))
            there = {
                "per_system": part.joined.against == "human",
                "given_system": len(set(part.systems.tolist())) > 1,
            }
            views = [view for view in get_args(Compared) if there.get(view, True)]
            found += [
                _compared(part, named, (first, second), view, method)
                for view in views
                for method in options.methods
            ]
    return _corrected_by_method(found)


def _corrected_by_method(found: Sequence[MetricComparison]) -> tuple[MetricComparison, ...]:
    """Correct p over groups and views, for each coefficient by itself: coefficients ask one question in three ways."""
    paid = list(found)
    for method in dict.fromkeys(one.method for one in found):
        places = [place for place, one in enumerate(found) if one.method == method]
        p_values = [found[place].p for place in places]
        n_tests = sum(p is not None for p in p_values)
        for place, p in zip(places, corrected(p_values, COMPARED_CORRECTION), strict=True):
            paid[place] = replace(found[place], p_holm=p, n_tests=n_tests)
    return tuple(paid)


def _compared(
    part: JoinedGroup, named: Mapping[str, str], two: tuple[str, str], view: Compared, method: Method
) -> MetricComparison:
    names = [metric.name for metric in part.joined.table.metrics]
    both = [names.index(name) for name in two]
    n_swaps = min(part.options.n_resamples, MOST_SWAPS)
    asked: dict[str, Any] = {"of": view, "n_swaps": n_swaps, **part.resampling}
    if view == "given_system":
        asked |= {"systems": part.systems, "n_resamples": min(part.options.n_resamples, MOST_OF_PARTIAL)}
    rows = part.between if view == "per_system" else part
    if isinstance(rows, SystemRows):
        asked |= {"systems": rows.systems, "paired": rows.paired}
    else:
        asked["names"] = part.joined.names
    one, other = rows.scores[:, both].T
    found = difference(one, other, rows.target, method, items=rows.items, **asked)
    if view == "per_system":
        lost = {NO_MEAN: found.difference.n_left_out}
    else:
        shared = int((~np.isnan(one) & ~np.isnan(other)).sum())
        lost = {**part.left_out(*both), NOTHING_TO_ORDER: shared - found.difference.n}
    return MetricComparison(
        group=named,
        view=view,
        method=method,
        against=part.joined.against,
        first=two[0],
        second=two[1],
        first_estimate=found.first,
        second_estimate=found.second,
        difference=found.difference,
        p=found.test.p,
        p_holm=found.test.p,
        p_reason=found.test.reason,
        n_swaps=found.test.n_resamples,
        left_out={reason: n for reason, n in lost.items() if n},
    )


def better_first(found: MetricComparison) -> MetricComparison:
    """Return the comparison with the metric of the larger coefficient first; as it is if that is undefined."""
    apart = found.difference
    if apart.estimate is None or apart.estimate >= 0:
        return found
    turned = replace(
        apart,
        estimate=-apart.estimate,
        low=None if apart.high is None else -apart.high,
        high=None if apart.low is None else -apart.low,
    )
    return replace(
        found,
        first=found.second,
        second=found.first,
        first_estimate=found.second_estimate,
        second_estimate=found.first_estimate,
        difference=turned,
    )


def compared_verdict(found: MetricComparison) -> str:
    """Return which of the two metrics follows quality more closely, if both p (below `ALPHA`) and the interval show it.

    They can disagree: the test supposes that the two metrics can be exchanged item by item, the interval does not. Among
    several groups or views, p is the corrected one.
    """
    found = better_first(found)
    if found.p is None or found.p_holm is None:
        return f"No comparison is possible: {found.p_reason or found.difference.reason or 'undefined'}"
    better, worse = shown(found.first), shown(found.second)
    tested, low = found.p < ALPHA, found.difference.low
    if low is not None and (low > 0) != tested:
        return f"Undecided between {better} and {worse}: p and the interval disagree"
    if found.p_holm >= ALPHA:
        paid = (
            f": p is {decimal(found.p_holm)} after Holm's correction for {found.n_tests} tests"
            if tested
            else ""
        )
        return f"No difference between {better} and {worse} is shown{paid}"
    return f"{better} follows {'the ratings' if found.against == 'human' else 'the damage level'} more closely than {worse}"


def compared_said(found: Sequence[MetricComparison]) -> list[str | ResultTable]:
    """Return the verdict of the first coefficient over all texts, unless there are groups, and the table."""
    single = found[:1] if not any(one.group for one in found) else ()
    return [
        *(f"{one.method.capitalize()} over all texts: {compared_verdict(one)}." for one in single),
        compared_table(found),
    ]


def compared_table(found: Sequence[MetricComparison]) -> ResultTable:
    """One row for each comparison of the same two metrics: by group, view and method."""
    first, second = next(((one.first, one.second) for one in found), ("first", "second"))
    groups = list(dict.fromkeys(name for one in found for name in one.group))
    several = {name: len({getattr(one, name) for one in found}) > 1 for name in ("view", "method")}
    n_tests = max((one.n_tests for one in found), default=0)
    notes = [
        f"Intervals: {one.difference.confidence_level:.0%}, percentile bootstrap over items, the same items for both metrics. "
        f"p: two-sided, {one.n_swaps:,} swaps of whole items."
        for one in found[:1]
        if one.difference.low is not None
    ]
    return ResultTable(
        "comparison",
        (
            *(Column(name, names_row=True) for name in groups),
            Column("first", shown=False),
            Column("second", shown=False),
            Column("view", names_row=several["view"], shown=several["view"]),
            Column("method", "coefficient", names_row=several["method"], shown=several["method"]),
            Column("first_coefficient", first, heat="coefficient"),
            Column("second_coefficient", second, heat="coefficient"),
            Column("difference"),
            Column("p_two_sided", "p", p_value=True),
            corrected_column(COMPARED_CORRECTION, n_tests),
            Column("n"),
            Column("n_left_out", "left out"),
            Column("left_out", shown=False),
            Column("reason", shown=any(one.p_reason for one in found)),
        ),
        tuple(
            (
                *(one.group.get(name) for name in groups),
                *(one.first, one.second, one.view.replace("_", " "), one.method),
                *(
                    width_warned(interval(each))
                    for each in (one.first_estimate, one.second_estimate, one.difference)
                ),
                *(one.p, one.p_holm, one.n, sum(one.left_out.values()), one.left_out, one.p_reason or ""),
            )
            for one in found
        ),
        title=f"{first} compared with {second}, on the same texts",
        notes=(
            *notes,
            *corrected_note(COMPARED_CORRECTION, n_tests, "groups and views of one coefficient"),
            *(
                (
                    "Coefficients ask one question in several ways, so they are not corrected: choose one beforehand.",
                )
                if several["method"]
                else ()
            ),
            *(
                note
                for things, own in (
                    ("rows", [one for one in found if one.view != "per_system"]),
                    ("systems", [one for one in found if one.view == "per_system"]),
                )
                for note in left_out_notes(
                    [(", ".join(one.group.values()), one.left_out) for one in own], things
                )
            ),
        ),
    )


def compared_json(found: Sequence[MetricComparison]) -> list[dict[str, Any]]:
    """JSON of comparisons, one object each."""
    return [
        {
            **picked(one, "group", "view", "method", "first", "second"),
            "first_coefficient": estimate_json(one.first_estimate),
            "second_coefficient": estimate_json(one.second_estimate),
            "difference": estimate_json(one.difference),
            **picked(one, "p", "p_holm", "n_tests", "n_swaps", "n", "left_out"),
            "reason": one.p_reason,
        }
        for one in found
    ]


def _costly(known: NDArray[np.bool_], names: Sequence[str]) -> tuple[str, ...]:
    """Notes on metrics without which at least 50 % more rows could be compared. known: (rows, metrics)."""
    together = int(known.all(axis=1).sum())
    found = []
    for m, name in enumerate(names):
        without = int(np.delete(known, m, axis=1).all(axis=1).sum())
        if len(names) > 1 and 2 * without >= 3 * together and without > together:
            found.append(
                f"{shown(name)} has scores for only {int(known[:, m].sum())} of {len(known)} rows, so {together} "
                f"{'row is' if together == 1 else 'rows are'} compared. Rank without it to compare {without}"
            )
    return tuple(found)


def _out_of_reach(comparisons: Sequence[Comparison], alpha: float, n_swaps: int) -> tuple[str, ...]:
    """Warn if a single difference could not be shown, however large: drawn swaps limit p from below."""
    n = sum(one.p is not None and one.test == "permutation" for one in comparisons)
    lowest = n / (1 + n_swaps)
    if lowest < alpha:
        return ()
    return (
        f"With {n_swaps:,} swaps and {n} comparisons, corrected p of a single difference cannot fall below {lowest:.2g}. "
        "Rank fewer metrics to test one of them sharply",
    )


def ranking_table(found: Ranking) -> ResultTable:
    """Table of metrics in order with their cluster, then those not ranked."""
    ranked = [(found.cluster.get(name), name, found.coefficients.get(name), "") for name in found.order]
    dropped = [(None, name, None, why) for name, why in found.dropped.items()]
    clusters = [
        f"A new cluster begins with a metric that is worse than all in the cluster before ({one.test} test, "
        f"Benjamini-Hochberg p of all {found.n_tests:,} comparisons below {found.alpha:g})."
        for one in found.comparisons[:1]
    ]
    return ResultTable(
        "ranking",
        (
            Column("cluster"),
            Column("metric", names_row=True),
            Column("direction", "better", shown="lower" in found.directions.values()),
            Column("coefficient", found.method.capitalize()),
            *(Column(name, shown=False) for name in ("method", "n", "left_out", "reason")),
        ),
        tuple(
            (cluster, name, found.directions.get(name), value, found.method, found.n, found.left_out, why)
            for cluster, name, value, why in [*ranked, *dropped]
        ),
        title=f"{found.method.capitalize()} on the {found.n:,} of {found.n_rows:,} rows that all these metrics scored",
        notes=(
            *clusters,
            *(f"Not ranked: {shown(name)}: {why}" for name, why in found.dropped.items()),
            *found.notes,
        ),
    )


def comparison_table(found: Ranking) -> ResultTable:
    """Table of all pairwise comparisons, with the metrics' clusters."""
    return ResultTable(
        "comparisons",
        (
            Column("first", names_row=True),
            Column("second", names_row=True),
            *(
                Column(f"{one}_{what}", shown=False)
                for what in ("cluster", "direction")
                for one in ("first", "second")
            ),
            Column("method", shown=False),
            Column("difference"),
            Column("p_two_sided", "p", p_value=True),
            corrected_column(RANKING_CORRECTION, found.n_tests),
            Column("test", shown=False),
            Column("n"),
            Column("left_out", shown=False),
            Column("reason", shown=any(one.reason for one in found.comparisons)),
        ),
        tuple(
            (
                *(one.first, one.second),
                *(found.cluster.get(name) for name in (one.first, one.second)),
                *(found.directions.get(name) for name in (one.first, one.second)),
                found.method,
                width_warned(
                    Interval(one.difference, one.low, one.high, interval_reason=one.interval_reason or "")
                ),
                *(one.p, one.p_bh, one.test, one.n, found.left_out, one.reason or ""),
            )
            for one in found.comparisons
        ),
        title=f"{found.method.capitalize()}, first minus second; p two-sided",
        notes=corrected_note(RANKING_CORRECTION, found.n_tests, "every two metrics"),
    )


def ranking_json(ranking: Ranking) -> dict[str, Any]:
    """JSON of metrics in order with their cluster, all comparisons and metrics not ranked."""
    return {
        **picked(ranking, "method", "alpha", "n", "n_rows", "left_out"),
        "order": [
            {
                "metric": name,
                "direction": ranking.directions.get(name),
                "cluster": ranking.cluster[name],
                "coefficient": ranking.coefficients.get(name),
            }
            for name in ranking.order
        ],
        "comparisons": [asdict(comparison) for comparison in ranking.comparisons],
        **picked(ranking, "dropped", "notes"),
    }
