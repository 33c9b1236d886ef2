"""Correlation of two columns at equal values of a third, which is a label such as the system."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from core.stats.correlation_coefficients import Method, column, is_constant
from core.stats.correlation_kendall import concordance, pair_sums
from core.stats.correlation_pearson import products_with_counts
from core.stats.correlation_ranks import rank_rows, ranked_column
from core.stats.drawn_counts import draw_counts, drawn_of
from core.stats.resampling import (
    Estimate,
    Floats,
    Indices,
    check_confidence_level,
    numbered,
    ratio,
    resampled_estimate,
    why_no_interval,
)

_TOGETHER_CELLS, _RANKED_CELLS = 640_000, 160_000  # rows times resamples at a time, of which several are held
_FEWEST_TOGETHER, _MOST_TOGETHER = 16, 512
LOST = "what differs within groups is too little beside the largest difference"
_CONSTANT = 1e-12  # a sum of squares this small against the uncentred one is rounding


def partial(
    x: ArrayLike,
    y: ArrayLike,
    control: ArrayLike,
    method: Method,
    *,
    items: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
    names: tuple[str, str] = ("scores", "levels"),
) -> Estimate:
    """The coefficient of x and y (n,) with the label `control` (n,) held fixed; interval over items (None: rows).

    Pearson: of what is left after each group's own mean, that is of the residuals of regressions on the label.
    Spearman: the same of mid-ranks over all rows. Kendall: tau-b of the pairs that share a label. `n_left_out`: rows
    without a value. Ranks are made anew in every resample. Undefined where x or y is constant within every group.
    Misleads where a group's rows are few: they then say little, and hold their own mean.
    """
    check_confidence_level(confidence_level)
    first, second, group, cluster, n_left_out = _checked(x, y, control, items)
    n, n_clusters = first.size, int(cluster.max(initial=-1)) + 1
    reason = _reason(first, second, group, names)
    observed, values = float("nan"), None
    no_interval = why_no_interval(observed, n_clusters, n_resamples)
    if reason is None:
        cells = _RANKED_CELLS if method == "spearman" else _TOGETHER_CELLS
        together = int(np.clip(cells // n, _FEWEST_TOGETHER, _MOST_TOGETHER))
        if method == "kendall":
            statistic = _pairs_at_equal_labels(first, second, group, cluster, n_clusters, together)
        elif method == "spearman":
            statistic = _residuals_of_ranks(first, second, group, cluster, n_clusters, together)
        else:
            statistic = _residuals(first, second, group, cluster, n_clusters)
        observed = float(statistic(np.ones((n_clusters, 1)))[0])
        reason = LOST if np.isnan(observed) else None
        no_interval = why_no_interval(observed, n_clusters, n_resamples)
        if no_interval is None:
            drawn = draw_counts(n_clusters, n_resamples, together, rng)
            values = np.concatenate([statistic(counts) for counts in drawn])
    return resampled_estimate(
        observed,
        values,
        n=n,
        n_clusters=n_clusters,
        confidence_level=confidence_level,
        reason=reason,
        interval_reason=no_interval,
        n_left_out=n_left_out,
    )


def _residuals(
    x: Floats, y: Floats, group: Indices, cluster: Indices, n_clusters: int
) -> Callable[[Floats], Floats]:
    """Pearson's r of deviations from group means, as a function of counts (clusters, resamples)."""
    first, second = (_around_medians(values, group) for values in (x, y))
    n_groups = int(group.max()) + 1
    per_row = np.zeros((x.size, 3 * n_groups + 3))
    rows = np.arange(x.size)
    for place, values in enumerate((np.ones(x.size), first, second)):
        per_row[rows, place * n_groups + group] = values
    per_row[:, -3:] = np.column_stack([first * first, second * second, first * second])
    adding = sparse.csr_array((np.ones(x.size), (cluster, rows)), shape=(n_clusters, x.size))
    sums = np.asarray(adding @ per_row, dtype=np.float64)

    def statistic(counts: Floats) -> Floats:
        found = products_with_counts(sums, counts)
        drawn, of_x, of_y = (found[k * n_groups : (k + 1) * n_groups] for k in range(3))
        return _of_sums(found[-3:], drawn, of_x, of_y)

    return statistic


def _residuals_of_ranks(
    x: Floats, y: Floats, group: Indices, cluster: Indices, n_clusters: int, together: int
) -> Callable[[Floats], Floats]:
    """The same of mid-ranks over all rows, made anew for each set of counts."""
    order = np.argsort(group, kind="stable")  # so that a group is a slice of the rows
    ends = np.cumsum(np.bincount(group))
    x, y, cluster = x[order], y[order], cluster[order]
    sizes = np.bincount(cluster, minlength=n_clusters)
    ranked = [ranked_column(values, cluster, n_clusters, together) for values in (x, y)]

    def by_group(values: Floats) -> Floats:
        return np.array([part.sum(axis=0) for part in np.split(values, ends[:-1])])

    def statistic(counts: Floats) -> Floats:
        weights = np.take(counts, cluster, axis=0)
        n = sizes @ counts
        first, second = (rank_rows(each, each.values.pick @ counts, n) for each in ranked)
        drawn, first_drawn, second_drawn = by_group(weights), first * weights, second * weights
        wholes = [
            np.einsum("ib,ib->b", one, other)
            for one, other in ((first_drawn, first), (second_drawn, second), (first_drawn, second))
        ]
        return _of_sums(np.array(wholes), drawn, by_group(first_drawn), by_group(second_drawn))

    return statistic


def _of_sums(wholes: Floats, drawn: Floats, of_x: Floats, of_y: Floats) -> Floats:
    """Pearson's r within groups.

    wholes: sums of x**2, y**2 and x y (3, resamples); drawn, of_x, of_y: rows, and sums of x and y, of each group.
    """
    between = np.array(
        [
            np.nansum(ratio(one * other, drawn), axis=0)
            for one, other in ((of_x, of_x), (of_y, of_y), (of_x, of_y))
        ]
    )
    xx, yy, xy = wholes - between
    constant = (xx <= _CONSTANT * wholes[0]) | (yy <= _CONSTANT * wholes[1])
    return np.clip(ratio(xy, np.sqrt(np.where(constant, 0.0, xx) * np.maximum(yy, 0.0))), -1.0, 1.0)


def _around_medians(values: Floats, group: Indices) -> Floats:
    """Values minus the median of their group, which takes nothing away that counts, over the largest difference.

    Groups far apart, or one huge value, would leave no digits for what differs within groups.
    """
    centred = np.empty_like(values)
    for number in range(int(group.max()) + 1):
        mine = group == number
        centred[mine] = values[mine] - np.median(values[mine])
    return np.asarray(centred / np.abs(centred).max(), dtype=np.float64)


def _pairs_at_equal_labels(
    x: Floats,
    y: Floats,
    group: Indices,
    cluster: Indices,
    n_clusters: int,
    together: int,
) -> Callable[[Floats], Floats]:
    """tau-b over the pairs of rows in one group, as a function of counts."""
    rows = [group == number for number in range(int(group.max()) + 1)]
    sizes = np.bincount(cluster, minlength=n_clusters).astype(np.float64)
    pairs = [pair_sums(x[mine], y[mine], cluster[mine], n_clusters, together) for mine in rows]

    def squares_of(labels: Indices) -> Callable[[Floats], Floats]:
        place = numbered(labels)
        if place.max() + 1 == x.size:
            return lambda counts: np.asarray(sizes @ (counts * counts))
        tied = sparse.csr_array((np.ones(x.size), (place, cluster)), shape=(int(place.max()) + 1, n_clusters))
        return lambda counts: np.sum(np.asarray(tied @ counts) ** 2, axis=0)

    of_all, of_x, of_y = (
        squares_of(group + len(rows) * one) for one in (0 * group, numbered(x), numbered(y))
    )

    def statistic(counts: Floats) -> Floats:
        both = of_all(counts)
        untied = (both - of_x(counts)) * (both - of_y(counts))
        drawn = drawn_of(counts, sizes)
        found = np.sum([concordance(each, drawn) for each in pairs], axis=0)
        return np.clip(ratio(2 * found, np.sqrt(untied)), -1.0, 1.0)

    return statistic


def _reason(x: Floats, y: Floats, group: Indices, names: tuple[str, str]) -> str | None:
    if x.size < 2:
        return "fewer than two rows"
    for values, name in ((x, names[0]), (y, names[1])):
        if all(is_constant(values[group == number], axis=0) for number in np.unique(group)):
            return f"all {name} are equal within each group"
    return None


def _checked(
    x: ArrayLike, y: ArrayLike, control: ArrayLike, items: ArrayLike | None
) -> tuple[Floats, Floats, Indices, Indices, int]:
    """Rows with both values: x, y, number of group and of cluster; and how many rows lack one."""
    first, second, labels = column(x), column(y), np.asarray(control)
    item_labels = np.arange(first.size) if items is None else np.asarray(items)
    if not first.shape == second.shape == labels.shape == item_labels.shape:
        raise ValueError(
            "x, y, control and items must have one shape (n,), got "
            f"{first.shape}, {second.shape}, {labels.shape}, {item_labels.shape}"
        )
    known = ~(np.isnan(first) | np.isnan(second))
    group = numbered(labels[known])
    cluster = numbered(item_labels[known])
    return first[known], second[known], group, cluster, int((~known).sum())
