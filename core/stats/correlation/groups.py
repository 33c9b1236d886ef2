"""Correlation within items, given a third column, and between all metrics."""

from collections.abc import Callable
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.correlation.coefficients import (
    Method,
    coefficient,
    column,
    concordance,
    is_constant,
    pair_sums,
    products_with_counts,
    rank_rows,
    row_coefficients,
    sorted_column,
    standard,
    sum_of_rows,
    sums_of_products,
)
from core.stats.degeneracy import tied
from core.stats.resampling import (
    Estimate,
    Floats,
    Indices,
    Resampling,
    cluster_estimate,
    drawn_of,
    numbered,
    ratio,
    resamples_at_once,
)


def mean_within(
    x: ArrayLike, y: ArrayLike, items: ArrayLike, method: Method, **drawing: Unpack[Resampling]
) -> Estimate:
    """Correlate within each item and average over items, with a percentile interval over items.

    x, y, items: shape (n,). Items with an undefined coefficient (a constant column, fewer than two rows with both values)
    are left out: `n_clusters` counts the items used, `n` their rows, `n_left_out` the items not used. Misleads if many
    items are left out, because these are not random (an item whose scores all tie is a hard one), and if items have few
    rows: with two, every coefficient is -1 or 1.
    """
    by_item, rows = item_coefficients(x, y, items, method)
    used = ~np.isnan(by_item)
    values = by_item[used]
    return cluster_estimate(
        float(values.mean()) if values.size else float("nan"),
        lambda counts: np.asarray(values @ counts / values.size),
        values.size,
        together=resamples_at_once(max(values.size, 1)),
        n=int(rows[used].sum()),
        reason=None if values.size else "undefined within every item" if by_item.size else "no items",
        n_left_out=int((~used).sum()),
        **drawing,
    )


def item_coefficients(x: ArrayLike, y: ArrayLike, items: ArrayLike, method: Method) -> tuple[Floats, Indices]:
    """The coefficient within each item, NaN if undefined, and its number of rows with both values: both (items,).

    Items are in the order of their labels.
    """
    first, second, labels = column(x), column(y), np.asarray(items)
    if not first.shape == second.shape == labels.shape:
        raise ValueError(
            f"x, y and items must have one shape (n,), got {first.shape}, {second.shape}, {labels.shape}"
        )
    names, item = np.unique(labels, return_inverse=True)
    known = ~(np.isnan(first) | np.isnan(second))
    rows = np.bincount(item[known], minlength=names.size)
    order = np.flatnonzero(known)[np.argsort(item[known], kind="stable")]
    starts = np.cumsum(rows) - rows
    by_item = np.full(names.size, np.nan)
    for size in np.unique(rows[rows > 1]):
        alike = np.flatnonzero(rows == size)
        chosen = order[starts[alike][:, None] + np.arange(size)]
        by_item[alike] = row_coefficients(first[chosen], second[chosen], method)
    return by_item, np.asarray(rows, dtype=np.intp)


def z_normalise(scores: ArrayLike, raters: ArrayLike) -> tuple[Floats, dict[str, str]]:
    """Subtract the rater's mean from each score and divide by the rater's standard deviation (ddof 1).

    scores, raters: shape (n,). Scores of a rater with fewer than two scores, or with only equal scores, become
    NaN; the second result maps such raters to the reason. Usual in machine translation's direct assessment
    (Graham et al. 2013, Linguistic Annotation Workshop 7:33). Misleads if raters saw texts of different quality:
    the difference in quality is removed, too.
    """
    values, labels = column(scores), np.asarray(raters)
    if labels.shape != values.shape:
        raise ValueError(f"scores and raters must have one shape, got {values.shape} and {labels.shape}")
    names, rater = np.unique(labels, return_inverse=True)
    known = ~np.isnan(values)
    result, reasons = np.full(values.size, np.nan), {}
    for number, name in enumerate(names):
        mine = known & (rater == number)
        own = values[mine]
        if own.size < 2:
            reasons[str(name)] = "fewer than two scores"
        elif is_constant(own, axis=0):
            reasons[str(name)] = "all scores are equal"
        else:
            deviations = standard(own, axis=0)
            result[mine] = deviations / deviations.std(ddof=1)
    return result, reasons


class RedundancyMatrix(NamedTuple):
    """Coefficients between all columns."""

    values: Floats
    """(m, m), symmetric, NaN if undefined; 1 on the diagonal for columns that are not constant."""
    n: NDArray[np.intp]
    """(m, m): rows in which both columns have a value."""


def redundancy(values: ArrayLike, method: Method) -> RedundancyMatrix:
    """The coefficient of every two columns of values (n, m) over the rows that both have.

    Columns without NaN are ranked once and multiplied; pairs with missing values are ranked in their own rows. Misleads
    like all pooled coefficients: two metrics that both follow length are similar, whatever else they measure.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise ValueError(f"values must be finite or NaN with shape (n, m), got {table.shape}")
    table = tied(table.T).T
    known = ~np.isnan(table)
    n = np.asarray(known.T.astype(np.intp) @ known.astype(np.intp), dtype=np.intp)
    found = np.full(n.shape, np.nan)
    whole = np.flatnonzero(known.all(axis=0))
    if method != "kendall" and len(table) > 1:
        found[np.ix_(whole, whole)] = _products(table[:, whole], method)
    for first in range(table.shape[1]):
        for second in range(first, table.shape[1]):
            if method == "kendall" or not (known[:, first].all() and known[:, second].all()):
                found[first, second] = coefficient(table[:, first], table[:, second], method)
                found[second, first] = found[first, second]
    return RedundancyMatrix(found, n)


def _products(table: Floats, method: Method) -> Floats:
    """Coefficients of columns without NaN: standardised, then one matrix product."""
    columns = table
    if method == "spearman":
        from scipy.stats import rankdata  # imported lazily: loads slowly

        columns = rankdata(table, axis=0)
    centred = standard(columns, axis=0)
    size = np.where(is_constant(table, axis=0), 0.0, np.sqrt((centred**2).sum(axis=0)))
    unit = ratio(centred, np.broadcast_to(size, centred.shape))
    found = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(found, np.where(np.isnan(found.diagonal()), np.nan, 1.0))
    return np.asarray(found)


_TOGETHER_CELLS, _RANKED_CELLS = (
    640_000,
    160_000,
)  # rows times resamples at a time; several such arrays are in memory
_FEWEST_TOGETHER, _MOST_TOGETHER = 16, 512
LOST = "differences within groups are too small relative to the largest difference"
_CONSTANT = 1e-12  # a sum of squares this small relative to the uncentred one is rounding


def partial(
    x: ArrayLike,
    y: ArrayLike,
    control: ArrayLike,
    method: Method,
    *,
    items: ArrayLike | None = None,
    names: tuple[str, str] = ("scores", "levels"),
    **drawing: Unpack[Resampling],
) -> Estimate:
    """Partial correlation of x and y (n,) given the label `control` (n,); interval over items (None: rows).

    Pearson: after subtracting each group's mean, which is the correlation of the residuals of regressions on the label.
    Spearman: the same for mid-ranks over all rows. Kendall: tau-b of the pairs that share a label. `n_left_out`: rows
    without a value. Ranks are computed again in every resample. Undefined if x or y is constant within every group.
    Misleads if groups have few rows: each row then strongly affects its own group's mean.
    """
    first, second, labels = column(x), column(y), np.asarray(control)
    item_labels = np.arange(first.size) if items is None else np.asarray(items)
    if not first.shape == second.shape == labels.shape == item_labels.shape:
        raise ValueError(
            "x, y, control and items must have one shape (n,), got "
            f"{first.shape}, {second.shape}, {labels.shape}, {item_labels.shape}"
        )
    known = ~(np.isnan(first) | np.isnan(second))
    first, second, group, cluster = (
        first[known],
        second[known],
        numbered(labels[known]),
        numbered(item_labels[known]),
    )
    n, n_clusters = first.size, int(cluster.max(initial=-1)) + 1
    found = partial_statistic(first, second, group, cluster, n_clusters, method, names)
    return cluster_estimate(
        found.observed,
        found.statistic,
        n_clusters,
        together=found.together,
        n=n,
        reason=found.reason,
        n_left_out=int((~known).sum()),
        **drawing,
    )


class PartialStatistic(NamedTuple):
    """A partial correlation as a function of how often each cluster is drawn."""

    observed: float
    """With each cluster once; NaN for `reason`."""
    statistic: Callable[[Floats], Floats] | None
    """Takes counts (clusters, resamples), returns (resamples,); None if undefined."""
    together: int
    """Resamples to compute at a time."""
    reason: str | None


def partial_statistic(
    x: Floats,
    y: Floats,
    group: Indices,
    cluster: Indices,
    n_clusters: int,
    method: Method,
    names: tuple[str, str] = ("scores", "levels"),
) -> PartialStatistic:
    """Prepare `partial` for rows (n,) without NaN; group, cluster: numbers from 0."""
    cells = _RANKED_CELLS if method == "spearman" else _TOGETHER_CELLS
    together = int(np.clip(cells // max(x.size, 1), _FEWEST_TOGETHER, _MOST_TOGETHER))
    reason = _reason(x, y, group, names)
    if reason is not None:
        return PartialStatistic(float("nan"), None, together, reason)
    prepare = {"pearson": _residuals, "spearman": _residuals_of_ranks, "kendall": _pairs_at_equal_labels}
    statistic = prepare[method](x, y, group, cluster, n_clusters, together)
    observed = float(statistic(np.ones((n_clusters, 1)))[0])
    return PartialStatistic(observed, statistic, together, LOST if np.isnan(observed) else None)


def _residuals(
    x: Floats, y: Floats, group: Indices, cluster: Indices, n_clusters: int, _: int
) -> Callable[[Floats], Floats]:
    """Pearson's r of deviations from group means, as a function of counts (clusters, resamples)."""
    first, second = (_centre_medians(values, group) for values in (x, y))
    n_groups = int(group.max()) + 1
    per_row = np.zeros((x.size, 3 * n_groups + 3))
    rows = np.arange(x.size)
    for place, values in enumerate((np.ones(x.size), first, second)):
        per_row[rows, place * n_groups + group] = values
    per_row[:, -3:] = np.column_stack([first * first, second * second, first * second])
    from scipy.sparse import csr_array  # imported lazily: loads slowly

    adding = csr_array((np.ones(x.size), (cluster, rows)), shape=(n_clusters, x.size))
    sums = np.asarray(adding @ per_row, dtype=np.float64)

    def statistic(counts: Floats) -> Floats:
        found = products_with_counts(sums, counts)
        drawn, of_x, of_y = (found[k * n_groups : (k + 1) * n_groups] for k in range(3))
        return _pearson_of_sums(found[-3:], drawn, of_x, of_y)

    return statistic


def _residuals_of_ranks(
    x: Floats, y: Floats, group: Indices, cluster: Indices, n_clusters: int, together: int
) -> Callable[[Floats], Floats]:
    """The same for mid-ranks over all rows, computed again for each set of counts."""
    order = np.argsort(group, kind="stable")  # so that a group is a slice of the rows
    ends = np.cumsum(np.bincount(group))
    x, y, cluster = x[order], y[order], cluster[order]
    sizes = np.bincount(cluster, minlength=n_clusters)
    ranked = [sorted_column(values, cluster, n_clusters, together) for values in (x, y)]

    def by_group(values: Floats) -> Floats:
        return np.array([sum_of_rows(part) for part in np.split(values, ends[:-1])])

    def statistic(counts: Floats) -> Floats:
        weights = np.take(counts, cluster, axis=0)
        n = sizes @ counts
        first, second = (rank_rows(each, each.pick @ counts, n) for each in ranked)
        drawn, first_drawn, second_drawn = by_group(weights), first * weights, second * weights
        wholes = [
            sums_of_products(one, other)
            for one, other in ((first_drawn, first), (second_drawn, second), (first_drawn, second))
        ]
        return _pearson_of_sums(np.array(wholes), drawn, by_group(first_drawn), by_group(second_drawn))

    return statistic


def _pearson_of_sums(wholes: Floats, drawn: Floats, of_x: Floats, of_y: Floats) -> Floats:
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


def _centre_medians(values: Floats, group: Indices) -> Floats:
    """Values minus the median of their group, divided by the largest difference; the coefficient does not change.

    Without this, distant groups or one huge value would leave no digits for differences within groups.
    """
    centred = np.empty_like(values)
    for number in range(int(group.max()) + 1):
        mine = group == number
        centred[mine] = values[mine] - np.median(values[mine])
    return np.asarray(centred / np.abs(centred).max(), dtype=np.float64)


def _pairs_at_equal_labels(
    x: Floats, y: Floats, group: Indices, cluster: Indices, n_clusters: int, together: int
) -> Callable[[Floats], Floats]:
    """tau-b over the pairs of rows in one group, as a function of counts."""
    rows = [group == number for number in range(int(group.max()) + 1)]
    sizes = np.bincount(cluster, minlength=n_clusters).astype(np.float64)
    pairs = [pair_sums(x[mine], y[mine], cluster[mine], n_clusters, together) for mine in rows]

    def squares_of(labels: Indices) -> Callable[[Floats], Floats]:
        place = numbered(labels)
        if place.max() + 1 == x.size:
            return lambda counts: np.asarray(sizes @ (counts * counts))
        from scipy.sparse import csr_array

        tied = csr_array((np.ones(x.size), (place, cluster)), shape=(int(place.max()) + 1, n_clusters))
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
