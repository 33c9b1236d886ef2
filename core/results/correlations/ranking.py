"""Rank metrics: pairwise tests on the same rows, clusters without significant differences, and redundant metrics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import check_names, items_of, left_out_of
from core.joining.tables import AS_USUAL, SystemRows, joined_with
from core.results.cells import (
    decimal,
    picked,
    why_no_width,
)
from core.results.correlations.points import NO_MEAN, NOTHING_TO_ORDER
from core.results.correlations.table import (
    DIMENSION,
    MOST_OF_PARTIAL,
    NO_SYSTEM_MEANS,
    JoinedGroup,
    dimension_options,
    joined_group,
    joined_groups,
)
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CompareOptions, RankOptions
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


_USUAL = RankOptions()


def rank_metrics(
    table: ScoreTable,
    ratings: RatingSet | None = None,
    options: RankOptions = _USUAL,
    *,
    use: UseOfRatings = AS_USUAL,
    alpha: float = ALPHA,
    tested: bool = True,
) -> Ranking:
    """Compare all pairs of metrics on the rows that all of them scored, and cluster them by corrected significance.

    Metrics are ordered by the pooled coefficient, best first. `permutation` swaps whole items,
    at most MOST_SWAPS times. Intervals of differences resample items, at most MOST_SWAPS times. `williams` assumes
    independent rows and is for Pearson, or Spearman as Pearson of ranks. A metric whose correlation is undefined is dropped
    and named. tested: False orders the metrics only, without tests and clusters. Raises InputError for williams with
    Kendall.
    """
    method, test = options.method, options.test
    if test == "williams" and method == "kendall":
        raise InputError(
            "Williams' test supports only Pearson and Spearman. Choose the permutation test for Kendall."
        )
    joined = joined_with(table, ratings, use)
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
            *_reach_warnings(comparisons, alpha, n_swaps),
        ),
    )


def _all_differences(
    columns: Floats,
    target: Floats,
    items: NDArray[np.int64],
    method: Method,
    values: Sequence[float],
    options: RankOptions,
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
    options: CompareOptions,
    *,
    group: Mapping[str, str] | None = None,
    view: Compared = "pooled",
    use: UseOfRatings = AS_USUAL,
) -> MetricComparison:
    """Compare two metrics in one group by the first coefficient (`core.stats.correlation.differences.difference`).

    group: a row's `group` in the report of `correlate_dimensions`; `metric` is ignored. Raises InputError for unknown names,
    for a metric compared with itself, and for `per_system` without ratings.
    """
    check_two(table, options.first, options.second)
    part = joined_group(table, ratings, group or {}, use, system_scores=options.system_scores)
    if view == "per_system" and part.joined.against != "human":
        raise InputError(NO_SYSTEM_MEANS)
    named = {name: value for name, value in (group or {}).items() if name != "metric"}
    return _compared(part, named, options, view, options.coefficients[0])


def compare_in_groups(
    table: ScoreTable,
    ratings: RatingSet | None,
    options: CompareOptions,
    *,
    use: UseOfRatings = AS_USUAL,
    tell: Callable[[str], object] | None = None,
) -> tuple[MetricComparison, ...]:
    """Compare two metrics in every group and view and by each of `options.methods`, in the order of `correlate_dimensions`.

    Arguments as there. Raises InputError as `compare_metrics` does.
    """
    check_two(table, options.first, options.second)
    several = dimension_options(use, ratings)
    found = []
    for dimension, own in several.items():
        parts, _ = joined_groups(*(table, ratings, options.group, own), system_scores=options.system_scores)
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
                _compared(part, named, options, view, method)
                for view in views
                for method in options.coefficients
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
    part: JoinedGroup, named: Mapping[str, str], options: CompareOptions, view: Compared, method: Method
) -> MetricComparison:
    names = [metric.name for metric in part.joined.table.metrics]
    both = [names.index(name) for name in (options.first, options.second)]
    n_swaps = min(options.n_resamples, MOST_SWAPS)
    asked: dict[str, Any] = {"of": view, "n_swaps": n_swaps, **options.resampling}
    if view == "given_system":
        asked |= {"systems": part.systems, "n_resamples": min(options.n_resamples, MOST_OF_PARTIAL)}
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
        first=options.first,
        second=options.second,
        first_estimate=found.first,
        second_estimate=found.second,
        difference=found.difference,
        p=found.test.p,
        p_holm=found.test.p,
        p_reason=found.test.reason,
        n_swaps=found.test.n_resamples,
        left_out={reason: n for reason, n in lost.items() if n},
    )


def better_first(comparison: MetricComparison) -> MetricComparison:
    """Return the comparison with the metric of the larger coefficient first; as it is if that is undefined."""
    apart = comparison.difference
    if apart.estimate is None or apart.estimate >= 0:
        return comparison
    turned = replace(
        apart,
        estimate=-apart.estimate,
        low=None if apart.high is None else -apart.high,
        high=None if apart.low is None else -apart.low,
    )
    return replace(
        comparison,
        first=comparison.second,
        second=comparison.first,
        first_estimate=comparison.second_estimate,
        second_estimate=comparison.first_estimate,
        difference=turned,
    )


def compared_verdict(comparison: MetricComparison) -> tuple[str, str]:
    """Return a code, and which of the two metrics follows quality more closely, if both p (below `ALPHA`) and the interval show it.

    They can disagree: the test supposes that the two metrics can be exchanged item by item, the interval does not. Among
    several groups or views, p is the corrected one. Codes: better, not-shown, undecided, undefined.
    """
    comparison = better_first(comparison)
    if comparison.p is None or comparison.p_holm is None:
        why = comparison.p_reason or comparison.difference.reason or "undefined"
        return "undefined", f"No comparison is possible: {why}"
    better, worse = shown(comparison.first), shown(comparison.second)
    tested, low = comparison.p < ALPHA, comparison.difference.low
    if low is not None and (low > 0) != tested:
        return "undecided", f"Undecided between {better} and {worse}: p and the interval disagree"
    if comparison.p_holm >= ALPHA:
        paid = (
            f": p is {decimal(comparison.p_holm)} after Holm's correction for {comparison.n_tests} tests"
            if tested
            else ""
        )
        return "not-shown", f"No difference between {better} and {worse} is shown{paid}"
    quality = "the ratings" if comparison.against == "human" else "the damage level"
    return "better", f"{better} follows {quality} more closely than {worse}"


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


def _reach_warnings(comparisons: Sequence[Comparison], alpha: float, n_swaps: int) -> tuple[str, ...]:
    """Warn if a single difference could not be shown, however large: drawn swaps limit p from below."""
    n = sum(one.p is not None and one.test == "permutation" for one in comparisons)
    lowest = n / (1 + n_swaps)
    if lowest < alpha:
        return ()
    return (
        f"With {n_swaps:,} swaps and {n} comparisons, corrected p of a single difference cannot fall below {lowest:.2g}. "
        "Rank fewer metrics to test one of them sharply",
    )
