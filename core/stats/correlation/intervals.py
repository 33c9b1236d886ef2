"""Correlations with intervals and tests: scores with a target, two metrics with one target, two data sets' correlations.

Every interval is a percentile bootstrap. An interval over rows assumes independent rows; if an item has several rows,
it is too narrow: resample items. Ranks are computed again in every resample, with the same result as a loop over
scipy's functions. NaN means no value; rows without one are left out pairwise and counted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial as partial_of
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.correlation.coefficients import (
    Method,
    coefficient,
    column,
    columns_alike,
    complete_pairs,
    leave_one_cluster_out,
    pair_coefficient,
    pair_reason,
    prepare,
    resample_columns,
    resampled,
    row_coefficients,
    standard,
    why_undefined,
)
from core.stats.correlation.noise import RESAMPLES, ItemErrors, NoiseCorrected, items_alike, noise_corrected
from core.stats.degeneracy import tied
from core.stats.resampling import (
    NO_RESAMPLES,
    Estimate,
    Floats,
    Indices,
    Resampling,
    Rng,
    block_sizes,
    check_confidence_level,
    is_settled,
    numbered,
    resampled_estimate,
    why_no_interval,
)


def correlate(
    x: ArrayLike,
    y: ArrayLike,
    method: Method,
    *,
    clusters: ArrayLike | None = None,
    **drawing: Unpack[Resampling],
) -> Estimate:
    """Correlate x and y (n,), with a percentile interval over rows or over whole clusters (items).

    clusters: shape (n,), the item of each row; None resamples rows. `n_left_out` counts rows without a value.
    Undefined (a constant column, fewer than two rows): estimate None, with a reason. Resamples in which a column
    is constant are dropped and counted. Misleads: too narrow over rows that share items, and with few clusters.
    """
    return correlate_columns(column(x)[:, None], y, (method,), clusters=clusters, **drawing)[0][method]


def correlate_columns(
    scores: ArrayLike,
    y: ArrayLike,
    methods: Sequence[Method],
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
    names: tuple[str, str] = ("scores", "levels"),
    until_settled: bool = False,
    tell: Callable[[str], object] | None = None,
) -> list[dict[Method, Estimate]]:
    """`correlate` for each column of scores (n, m), all on the same resamples: one result for each column, by method.

    Columns may have different missing rows; those with the same ones share the work. With an int as rng, a column's
    result does not depend on the other columns. names: plural nouns for the reason of an undefined coefficient.
    until_settled: stop drawing for a column once all its intervals are settled (`resampling.is_settled`), n_resamples
    at most. tell: called with progress messages.
    """
    check_confidence_level(confidence_level)
    table, target, labels = _checked(scores, y, clusters)
    seed = rng if isinstance(rng, int) else int(rng.integers(2**63))
    results: list[dict[Method, Estimate]] = [{} for _ in range(table.shape[1])]

    def settled(values: Sequence[Floats]) -> bool:
        of_none = partial_of(resampled_estimate, 0.0, n=0, n_clusters=0, confidence_level=confidence_level)
        return all(is_settled(of_none(one)) for one in values)

    for rows, columns in columns_alike(table, target):
        own_target, by_column = target[rows], np.ascontiguousarray(table[np.ix_(rows, columns)].T)
        distinct, own_clusters = np.unique(labels[rows], return_inverse=True)
        reasons = [pair_reason(x, own_target, names) for x in by_column]
        defined = [number for number, reason in enumerate(reasons) if reason is None]
        values = None
        if why_no_interval(0.0, distinct.size, n_resamples) is None and defined:
            values = resample_columns(
                by_column.T[:, defined],
                own_target,
                own_clusters,
                distinct.size,
                methods,
                n_resamples=n_resamples,
                seed=seed,
                enough=settled if until_settled else None,
                tell=tell,
            )
        for number, (index, x, reason) in enumerate(zip(columns, by_column, reasons, strict=True)):
            for method in methods:
                observed = pair_coefficient(x, own_target, method)
                results[index][method] = resampled_estimate(
                    observed,
                    None if values is None or reason else values[method][defined.index(number)],
                    n=own_target.size,
                    n_clusters=distinct.size,
                    confidence_level=confidence_level,
                    reason=reason,
                    interval_reason=why_no_interval(observed, distinct.size, n_resamples),
                    n_left_out=int((~rows).sum()),
                )
    return results


def fisher_interval(
    r: float, n: int, confidence_level: float = 0.95, method: Method = "pearson"
) -> tuple[float, float] | None:
    """Interval by Fisher's z for n independent rows; None for Kendall, n < 4, undefined r and |r| = 1.

    Variance of z: 1 / (n - 3) for Pearson (Fisher 1921); (1 + r**2 / 2) / (n - 3) for Spearman (Bonett and Wright
    2000, Psychometrika 65:23). Assumes a bivariate normal distribution; misleads for rows that share items.
    """
    check_confidence_level(confidence_level)
    if method == "kendall" or n < 4 or not abs(r) < 1:
        return None
    from scipy.special import ndtri  # imported lazily: most commands need no quantile

    variance = (1 + r**2 / 2 if method == "spearman" else 1.0) / (n - 3)
    reach = float(ndtri((1 + confidence_level) / 2)) * np.sqrt(variance)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))


def _checked(scores: ArrayLike, y: ArrayLike, clusters: ArrayLike | None) -> tuple[Floats, Floats, Indices]:
    table, target = np.asarray(scores, dtype=np.float64), column(y)
    labels = np.arange(target.size) if clusters is None else np.asarray(clusters)
    if table.ndim != 2 or len(table) != target.size or labels.shape != target.shape:
        raise ValueError(
            f"scores must have shape (n, m), y and clusters (n,), got {table.shape}, {target.shape}, {labels.shape}"
        )
    if np.isinf(table).any():
        raise ValueError("scores must be finite, or NaN for missing")
    # Column by column: all at once would need half a dozen copies of the table.
    table = np.stack([tied(own) for own in table.T], axis=1) if table.shape[1] else table
    return table, target, numbered(labels)


Alternative = Literal["two-sided", "greater", "less"]
_ROUNDING = 1e-12  # a difference this close to the observed one is as large


@dataclass(frozen=True)
class PairedTest:
    """Difference of two coefficients with the same target, with its p."""

    difference: float | None
    """First minus second."""
    p: float | None
    """(1 + swaps with a difference at least as large) / (1 + swaps): never 0."""
    n: int
    """Rows with all three values."""
    n_units: int
    """Number of units swapped: rows or items."""
    n_resamples: int
    reason: str | None = None
    """Reason why the difference, or only p, is undefined."""
    n_left_out: int = 0
    """Rows without all values."""


def williams(
    r_xy: float, r_zy: float, r_xz: float, n: int, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    """Williams' t (n - 3 degrees of freedom) for r_xy against r_zy, two metrics' r with one target, and its p.

    r_xz: between the two metrics; "greater": r_xy is larger. Williams (1959, Journal of the Royal Statistical Society B
    21:396), in the form of Steiger (1980, Psychological Bulletin 87:245, eq. 7); for metrics Graham and Baldwin (2014,
    EMNLP). NaN if n < 4, a coefficient is undefined or the two metrics are the same (r_xz = 1). Assumes independent
    rows and a normal distribution, so use it for Pearson's r; misleads for rows that share items.
    """
    if n < 4 or not abs(r_xz) < 1 or not (abs(r_xy) <= 1 and abs(r_zy) <= 1):
        return float("nan"), float("nan")
    determinant = 1 - r_xy**2 - r_zy**2 - r_xz**2 + 2 * r_xy * r_zy * r_xz
    mean = (r_xy + r_zy) / 2
    spread = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_xz) ** 3
    if spread <= 0:
        return float("nan"), float("nan")
    from scipy.special import stdtr

    t = (r_xy - r_zy) * np.sqrt((n - 1) * (1 + r_xz) / spread)
    above = float(stdtr(n - 3, -t))
    p = {"greater": above, "less": 1 - above, "two-sided": 2 * min(above, 1 - above)}[alternative]
    return float(t), float(p)


def permutation_test(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    method: Method,
    *,
    items: ArrayLike | None = None,
    n_resamples: int = 10_000,
    rng: Rng = 0,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] = ("scores", "levels"),
) -> PairedTest:
    """Test whether metric x1 or x2 correlates more strongly with y (all (n,)), by swapping their scores.

    Both metrics are standardised over all rows. Then the two scores of a row (or of all rows of an item, if items are
    given) are swapped with probability 1/2, and both coefficients are computed again (Deutsch et al. 2021, TACL 9:1132:
    PERM-BOTH over rows, PERM-INPUTS over items). "greater": x1 is stronger. Swap items if any item has several rows.
    Misleads if the two metrics' distributions have very different shapes: standardising aligns only mean and
    spread, and the swapped scores are then a mixture of shapes.
    """
    first, second, target, unit, n_given = complete_rows(x1, x2, y, items)
    for scores in (first, second):
        reason = why_undefined(scores, target, names)
        if reason is not None:
            return PairedTest(None, None, target.size, 0, 0, reason, n_given - target.size)
    n_units, n_left_out = int(unit.max()) + 1, n_given - target.size
    observed = coefficient(first, target, method) - coefficient(second, target, method)
    if n_resamples == 0:
        return PairedTest(observed, None, target.size, n_units, 0, NO_RESAMPLES, n_left_out)
    # Scaled first: the squares of tiny scores would all be 0.
    scaled = [standard(scores, axis=0) for scores in (first, second)]
    # A swapped metric is a weighting of the 2 n scores of both: s for one metric's scores, 1 - s for the other's.
    prepared = prepare(
        np.concatenate([scores / scores.std() for scores in scaled])[:, None],
        np.tile(target, 2),
        np.concatenate([unit, unit + n_units]),
        2 * n_units,
        (method,),
    )
    generator = np.random.default_rng(rng)
    as_large = 0
    for size in block_sizes(n_resamples, prepared.together):
        stays = generator.integers(0, 2, size=(size, n_units)).T.astype(np.float64)
        swapped = (np.concatenate([stays, 1 - stays]), np.concatenate([1 - stays, stays]))
        one, other = (resampled(prepared, counts)[method][0] for counts in swapped)
        as_large += n_reached(one - other, observed, alternative)
    return PairedTest(
        difference=observed,
        p=(1 + as_large) / (1 + n_resamples),
        n=target.size,
        n_units=n_units,
        n_resamples=n_resamples,
        n_left_out=n_left_out,
    )


def significance_clusters(names: Sequence[str], p_values: ArrayLike, alpha: float = 0.05) -> dict[str, int]:
    """Clusters of metrics without significant differences: name -> 1 for the best, 2, ...

    names: from best to worst. p_values: shape (m, m); [i, j] tests that metric i is better than metric j, or two-sided;
    only i before j is used, NaN is not significant. A new cluster begins at a metric that is worse than all in the cluster
    before. Misleads: metrics in a cluster are not necessarily equal; and if p_values are not corrected for the m (m - 1) / 2
    tests (`core.stats.multiplicity.corrected`).
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.shape != (len(names), len(names)):
        raise ValueError(f"p_values must have shape ({len(names)}, {len(names)}), got {p.shape}")
    clusters: dict[str, int] = {}
    begin, number = 0, 1
    for position, name in enumerate(names):
        if position > begin and bool((p[begin:position, position] < alpha).all()):
            begin, number = position, number + 1
        clusters[name] = number
    return clusters


def n_reached(differences: Floats, observed: float, alternative: Alternative) -> int:
    """Number of swaps with a difference at least as large; undefined ones count against the finding."""
    if alternative == "two-sided":
        smaller = np.abs(differences) < abs(observed) - _ROUNDING
    else:
        sign = 1 if alternative == "greater" else -1
        smaller = sign * differences < sign * observed - _ROUNDING
    return int((~smaller).sum())


def complete_rows(
    x1: ArrayLike, x2: ArrayLike, y: ArrayLike, items: ArrayLike | None
) -> tuple[Floats, Floats, Floats, Indices, int]:
    """Rows with all three values, the number of each row's unit, and the number of rows given."""
    columns = [column(values) for values in (x1, x2, y)]
    labels = np.arange(columns[2].size) if items is None else np.asarray(items)
    shapes = [values.shape for values in (*columns, labels)]
    if len(set(shapes)) > 1:
        raise ValueError(f"x1, x2, y and items must have one shape (n,), got {shapes}")
    known = ~np.isnan(columns).any(axis=0)
    first, second, target = (values[known] for values in columns)
    unit = numbered(labels[known])
    return first, second, target, unit, labels.size


TWO_METRICS = "only two metrics: two points always lie on a line, so there is nothing to test"
_NAMES = ("human correlations", "synthetic correlations")


@dataclass(frozen=True)
class MetaCorrelationTest:
    """The meta-correlation with its interval over metrics and its p-values."""

    over_metrics: Estimate
    p_one_sided: float | None
    """p of no positive association, as in Meta-Judge's code."""
    p_two_sided: float | None
    p_reason: str | None = None


@dataclass(frozen=True)
class Live:
    """The rows of one side: scores (n, m), their target (n,) and the item of each row (n,)."""

    scores: Floats
    target: Floats
    items: NDArray[np.generic]


def meta_correlation(
    human: ArrayLike, synthetic: ArrayLike, method: Method, **drawing: Unpack[Resampling]
) -> MetaCorrelationTest:
    """Correlate two columns of correlations (m,), one for each metric; NaN (undefined) is left out.

    Interval: percentile bootstrap over metrics. p: scipy's defaults (the t distribution for Spearman and Pearson, the exact
    one for Kendall without ties up to 33 metrics, else the normal). Misleads: metrics of one family are near copies of
    each other, so 28 metrics carry less information than interval and p assume. `families.family_permutation_test` gives a
    p that holds; leave families out to check.
    """
    over_metrics = correlate(human, synthetic, method, **drawing)
    reason = why_undefined(human, synthetic, _NAMES, "metrics")
    if reason is not None:
        return MetaCorrelationTest(replace(over_metrics, reason=reason), None, None, reason)
    pairs = complete_pairs(human, synthetic)
    if pairs[0].size < 3:
        return MetaCorrelationTest(over_metrics, None, None, TWO_METRICS)
    from scipy.stats import kendalltau, pearsonr, spearmanr  # imported lazily: loads slowly

    test: Any = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}[method]
    one, two = (float(test(*pairs, alternative=side).pvalue) for side in ("greater", "two-sided"))
    return MetaCorrelationTest(over_metrics, one, two)


def meta_correlation_over_items(
    human: Live | ArrayLike,
    synthetic: Live | ArrayLike,
    method: Method,
    *,
    first_order: Method | None = None,
    n_resamples: int = 1_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
) -> Estimate:
    """The meta-correlation with an interval from resampling the items of the live sides; `n` counts metrics.

    A side is `Live`, or a fixed column of correlations (m,). Each resample draws items separately on each live side,
    computes every metric's correlation (first_order; None: `method`) from the drawn rows, and then the
    meta-correlation; a metric that is undefined in a resample is left out of it. `n_clusters`: items of all live sides;
    `n_left_out`: metrics undefined on a side. Assumes fixed metrics, and no error on a fixed side.

    Naive, and misleads with few items: resampling adds noise to correlations that are already noisy, and noise lowers a
    meta-correlation, so the interval is too low and may even exclude the estimate (`corrected_over_items` corrects it). If both sides contain the same
    items, drawing them separately treats the sides' errors as independent.
    """
    check_confidence_level(confidence_level)
    order: Method = first_order or method
    sides = [side if isinstance(side, Live) else column(side) for side in (human, synthetic)]
    observed = [_correlations(side, order) for side in sides]
    value = coefficient(observed[0], observed[1], method)
    items = [np.unique(side.items).size for side in sides if isinstance(side, Live)]
    no_interval = why_no_interval(value, min(items, default=0), n_resamples)
    if not items and not np.isnan(value):
        no_interval = "no side is live: nothing to resample"
    known = ~(np.isnan(observed[0]) | np.isnan(observed[1]))
    values = None
    if no_interval is None:
        seeds = np.random.default_rng(rng).integers(2**63, size=2)
        drawn = [
            _resampled_side(side, known, order, n_resamples, int(seed))
            for side, seed in zip(sides, seeds, strict=True)
        ]
        values = meta_of_columns(drawn[0], drawn[1], method)
    return resampled_estimate(
        value,
        values,
        n=int(known.sum()),
        n_clusters=sum(items),
        confidence_level=confidence_level,
        reason=why_undefined(observed[0], observed[1], _NAMES, "metrics"),
        interval_reason=no_interval,
        n_left_out=int((~known).sum()),
    )


def corrected_over_items(
    human: Live | ArrayLike,
    synthetic: Live | ArrayLike,
    first_order: Method,
    *,
    n_resamples: int = RESAMPLES,
    confidence_level: float = 0.95,
    rng: Rng = 0,
) -> NoiseCorrected:
    """Pearson's r between the two sides' correlations, corrected for the noise of the items: these metrics, infinitely
    many items.

    Sides as in `meta_correlation_over_items`; a fixed one counts as known without error. Each metric's correlation
    (first_order) has an error of each item: the jackknife's, the distance of the correlation without the item from the mean
    of these. Items of one label on both sides are the same items, and the covariance of their errors is corrected, too.
    Formula, interval and reasons: `noise.noise_corrected`. `n_left_out`: metrics undefined on a side. The correlations' own
    bias, of the order of 1 / items, stays.
    """
    sides = [side if isinstance(side, Live) else column(side) for side in (human, synthetic)]
    observed = [_correlations(side, first_order) for side in sides]
    known = ~(np.isnan(observed[0]) | np.isnan(observed[1]))
    labels, every = _all_items(sides)
    made = [
        _errors(side, values[known], known, first_order, rows, labels)
        for side, values, rows in zip(sides, observed, every, strict=True)
    ]
    if any(np.isnan(side.errors).any() for side in made):
        why = "a metric's correlation is undefined without one of the items"
        made = [replace(side, errors=np.zeros_like(side.errors), n_items=None) for side in made]
    else:
        why = None
    found = noise_corrected(
        *made,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
        names=_NAMES,
        units="metrics",
    )
    if why is not None and found.n_clusters == 0:
        found = replace(found, reason=why)
    return replace(found, n_left_out=int((~known).sum()))


def _all_items(sides: Sequence[Live | Floats]) -> tuple[int, list[Indices]]:
    """Number of items of both sides together, and the item of each row of a side; none for a fixed side."""
    labels = [side.items if isinstance(side, Live) else np.empty(0, dtype=np.intp) for side in sides]
    given = [one for one in labels if one.size]
    if not given:
        return 0, [np.empty(0, dtype=np.intp)] * 2
    distinct, numbers = np.unique(np.concatenate(given), return_inverse=True)
    ends = np.cumsum([one.size for one in labels])
    return distinct.size, [numbers[end - one.size : end] for one, end in zip(labels, ends, strict=True)]


def _errors(
    side: Live | Floats,
    values: Floats,
    known: NDArray[np.bool_],
    method: Method,
    items: Indices,
    n_items: int,
) -> ItemErrors:
    """The part of each of n_items items in the errors of a side's correlations; items: of each row."""
    errors = np.zeros((n_items, values.size))
    if not isinstance(side, Live):
        return ItemErrors(values, errors, None)
    scores, counts = side.scores[:, known], np.zeros(values.size, dtype=np.intp)
    for rows, columns in columns_alike(scores, side.target):
        distinct, own = np.unique(items[rows], return_inverse=True)
        of_columns = np.ascontiguousarray(scores[np.ix_(rows, columns)])
        without = leave_one_cluster_out(of_columns, side.target[rows], own, distinct.size, method)
        apart = without.mean(axis=1, keepdims=True) - without
        errors[np.ix_(distinct, columns)] = (distinct.size - 1) / distinct.size * apart.T
        counts[columns] = distinct.size
    return items_alike(values, errors, counts)


def leave_one_family_out(
    human: ArrayLike,
    synthetic: ArrayLike,
    families: Sequence[str],
    method: Method,
    **drawing: Unpack[Resampling],
) -> dict[str, Estimate]:
    """Family -> the meta-correlation without its metrics, with an interval over metrics. families: shape (m,).

    A drop shows a family that causes most of the agreement; a smaller range of values can look the same.
    """
    first, second = column(human), column(synthetic)
    if len(families) != first.size:
        raise ValueError(f"families must name all {first.size} metrics, got {len(families)}")
    found = {}
    for family in dict.fromkeys(families):
        kept = np.array([other != family for other in families], dtype=bool)
        found[family] = meta_correlation(first[kept], second[kept], method, **drawing).over_metrics
    return found


def meta_of_columns(human: Floats, synthetic: Floats, method: Method) -> Floats:
    """Correlate each column of human with the same column of synthetic, both (m, resamples), without NaN."""
    values = np.full(human.shape[1], np.nan)
    known = ~(np.isnan(human) | np.isnan(synthetic))
    whole = known.all(axis=0)
    values[whole] = row_coefficients(tied(human[:, whole].T), tied(synthetic[:, whole].T), method)
    for resample in np.flatnonzero(~whole):
        values[resample] = coefficient(human[:, resample], synthetic[:, resample], method)
    return values


def _correlations(side: Live | Floats, method: Method) -> Floats:
    if not isinstance(side, Live):
        return side
    return np.array([coefficient(x, side.target, method) for x in side.scores.T])


def _resampled_side(
    side: Live | Floats, metrics: NDArray[np.bool_], method: Method, n_resamples: int, seed: int
) -> Floats:
    """Correlations of the chosen metrics in each resample of the side's items: shape (metrics, n_resamples)."""
    if not isinstance(side, Live):
        return np.tile(side[metrics][:, None], n_resamples)
    scores = side.scores[:, metrics]
    clusters = numbered(side.items)
    n_clusters = int(clusters.max()) + 1
    values = np.empty((scores.shape[1], n_resamples))
    for rows, columns in columns_alike(scores, side.target):
        # One seed: every metric uses the same items, including those without its score.
        found = resample_columns(
            scores[np.ix_(rows, columns)],
            side.target[rows],
            clusters[rows],
            n_clusters,
            (method,),
            n_resamples=n_resamples,
            seed=seed,
        )
        values[columns] = np.array(found[method])
    return values
