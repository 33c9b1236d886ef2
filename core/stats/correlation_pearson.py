"""Pearson's r of many columns with one target, in many resamples at once.

It is a function of sums, so all resamples are one matrix product. Where the rows drawn leave nearly no variance in
these sums, because they share what the others do not have, r is computed from the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.stats.correlation_coefficients import row_coefficients, standard
from core.stats.resampling import MOST_PRODUCTS, Floats, Indices, ratio

_ROWS = 64  # rows added at a time
_DOUBTFUL = 1e-6  # a variance this small against the mean square has lost too many digits
_SMALLEST = 1e-150  # the square of a smaller number may be 0


@dataclass(frozen=True)
class PearsonSums:
    """Columns without NaN and their target, ready for any counts."""

    sums: Floats
    """(clusters, 3 + 3 columns): rows, y, y**2, then x, x**2, x y of each column."""
    standard: Floats
    """(rows, 1 + columns): y, then each column, of which these are the sums."""
    exact: NDArray[np.bool_]
    """(1 + columns,): a sum of squares of 0 says that every value drawn is the middle one."""
    clusters: Indices
    """Of each row."""


def pearson_sums(scores: Floats, y: Floats, clusters: Indices, n_clusters: int) -> PearsonSums:
    """Add up scores (n, m) and y (n,) by cluster.

    Around the median: one huge value must not move all others away from 0, where sums keep their digits.
    """
    columns = standard(np.column_stack([y, scores]), axis=0, middle=np.median)
    exact = np.abs(np.where(columns == 0, 1.0, columns)).min(axis=0) > _SMALLEST
    return PearsonSums(_products(columns, clusters, n_clusters), columns, exact, clusters)


def columns_of(prepared: PearsonSums, places: Sequence[int]) -> PearsonSums:
    """Those of fewer columns, by their places."""
    sums = [0, 1, 2, *(3 + 3 * place + k for place in places for k in range(3))]
    rows = [0, *(1 + place for place in places)]
    return PearsonSums(
        prepared.sums[:, sums], prepared.standard[:, rows], prepared.exact[rows], prepared.clusters
    )


def pearson_of_counts(prepared: PearsonSums, counts: Floats) -> Floats:
    """Pearson's r of each column with y, (columns, resamples), for counts (clusters, resamples); NaN where constant."""
    totals = products_with_counts(prepared.sums, counts)
    n, y, yy = totals[:3]
    x, xx, xy = totals[3::3], totals[4::3], totals[5::3]
    spread_x, spread_y = n * xx - x**2, n * yy - y**2
    found = ratio(n * xy - x * y, np.sqrt(np.maximum(spread_x, 0.0) * np.maximum(spread_y, 0.0)))
    constant = ((xx == 0) & prepared.exact[1:, None]) | ((yy == 0) & prepared.exact[0])
    doubtful = ((spread_x <= _DOUBTFUL * n * xx) | (spread_y <= _DOUBTFUL * n * yy)) & ~constant
    for column in np.flatnonzero(doubtful.any(axis=1)).tolist():
        resamples = np.flatnonzero(doubtful[column])
        found[column, resamples] = _pearson_row_by_row(prepared, column, counts[:, resamples])
    return np.clip(np.where(constant, np.nan, found), -1.0, 1.0)


def products_with_counts(sums: Floats, counts: Floats) -> Floats:
    """sums.T @ counts, few at a time; what is added at a time does not depend on how many sums there are."""
    found = np.zeros((sums.shape[1], counts.shape[1]))
    at_once = max(1, MOST_PRODUCTS // (_ROWS * counts.shape[1]))
    for first in range(0, sums.shape[1], at_once):
        columns = slice(first, first + at_once)
        for start in range(0, len(counts), _ROWS):
            found[columns] += sums[start : start + _ROWS, columns].T @ counts[start : start + _ROWS]
    return found


def _pearson_row_by_row(prepared: PearsonSums, column: int, counts: Floats) -> Floats:
    """Pearson's r of one column in each resample, from the rows drawn: what they all share cannot drown the rest."""
    y, x = prepared.standard[:, 0], prepared.standard[:, 1 + column]
    found = np.empty(counts.shape[1])
    for number, weights in enumerate(np.take(counts, prepared.clusters, axis=0).T):
        drawn = weights > 0
        rows = np.repeat(np.flatnonzero(drawn), weights[drawn].astype(np.intp))
        found[number] = row_coefficients(x[None, rows], y[None, rows], "pearson")[0]
    return found


def _products(columns: Floats, clusters: Indices, n_clusters: int) -> Floats:
    """Per-cluster sums of products of standardised columns, y first."""
    y, x = columns[:, :1], columns[:, 1:]
    per_row = np.empty((len(columns), 3 * columns.shape[1]))
    per_row[:, :3] = np.hstack([np.ones_like(y), y, y**2])
    per_row[:, 3::3], per_row[:, 4::3], per_row[:, 5::3] = x, x**2, x * y
    rows = np.arange(len(columns))
    adding = sparse.csr_array((np.ones(rows.size), (clusters, rows)), shape=(n_clusters, rows.size))
    return np.asarray(adding @ per_row, dtype=np.float64)
