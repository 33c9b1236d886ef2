"""Mid-ranks of weighted rows, for many sets of weights at once.

A column is sorted once. With weights (how often each row was drawn) the mid-rank of a value is the weight below it plus
half of the weight at it, plus 1/2: a running sum over the sorted values.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.stats.resampling import Floats, Indices, numbered

_SLAB_CELLS = 8_192  # numbers added at a time in a running sum
_FOUR_BYTES = int(np.iinfo(np.int32).max)
_DEEPEST = 48  # steps of a running sum: sums of products of ranks then fit into four bytes up to 100,000 rows


@dataclass(frozen=True)
class SortedColumn:
    """The distinct values of a column in ascending order, folded into slabs so that running sums are fast.

    Value v stands at row (v % depth) * width + v // depth of `pick`.
    """

    pick: sparse.csr_array
    """(depth * width, rows or clusters): whose weights each value adds up."""
    depth: int
    width: int


@dataclass(frozen=True)
class Ranked:
    """A column whose mid-ranks can be made for any counts."""

    values: SortedColumn
    row_value: Indices
    """Where each row's value stands in `values`."""


def ranked_column(y: Floats, clusters: Indices, n_clusters: int, together: int) -> Ranked:
    """Sort a column (n,) once; together: resamples that will be taken at a time."""
    order, value = sorted_values(y)
    values = folded(clusters[order], value[order], n_clusters, together)
    return Ranked(values, stands_at(value, values))


def rank_rows(ranked: Ranked, weights: Floats, n: Floats) -> Floats:
    """Each row's mid-rank minus the mean rank, in each resample: shape (rows, resamples).

    weights: of the values, `ranked.values.pick @ counts`; n: rows drawn in each resample.
    """
    return np.take(middle_ranks(ranked.values, weights) - n / 2, ranked.row_value, axis=0)


def middle_ranks(values: SortedColumn, weights: Floats) -> Floats:
    """Rows drawn below each value plus half of those at it (a mid-rank less 1/2), placed like `weights`."""
    slabs = weights.reshape(values.depth, values.width, -1)
    ranks, running = np.empty_like(slabs), np.zeros(slabs.shape[1:])
    for position, slab in enumerate(slabs):
        ranks[position] = running + slab / 2
        running += slab
    ranks += _before(running)
    return ranks.reshape(weights.shape)


def rank_products(values: SortedColumn, weights: Floats, others: Floats) -> Floats:
    """Sum over values of mid-rank times `others`, without keeping the ranks."""
    slabs = weights.reshape(values.depth, values.width, -1)
    other_slabs = others.reshape(slabs.shape)
    running, found, product = (np.zeros(slabs.shape[1:]) for _ in range(3))
    for slab, other in zip(slabs, other_slabs, strict=True):
        np.multiply(running, other, out=product)
        found += product
        running += slab
    found += _before(running) * other_slabs.sum(axis=0)
    return np.asarray(found.sum(axis=0) + np.einsum("vb,vb->b", weights, others) / 2)


def untied_rank_products(
    values: SortedColumn,
    clusters_at: Indices,
    rows_at: Indices,
    counts: NDArray[np.integer[Any]],
    others: NDArray[np.integer[Any]],
    most: int,
) -> Floats:
    """`rank_products` of a column without ties, less half of each row's own weight, never holding a whole column.

    clusters_at, rows_at: for each place which row of counts and which of others to take; an empty place takes zeros.
    most: no other is more times its row's count. All are whole numbers, in eight bytes where four may not hold them.
    """
    sums = partial(_untied_rank_products, values, clusters_at, rows_at, counts, others)
    found, heaviest = sums(np.int32)
    return found if heaviest**2 * most <= _FOUR_BYTES else sums(np.int64)[0]


def _untied_rank_products(
    values: SortedColumn,
    clusters_at: Indices,
    rows_at: Indices,
    counts: NDArray[np.integer[Any]],
    others: NDArray[np.integer[Any]],
    kind: type[np.signedinteger[Any]],
) -> tuple[Floats, int]:
    """The sums, and the most rows drawn in one column of slabs."""
    shape = (values.width, counts.shape[1])
    running, found, other_sums, product, slab = (np.zeros(shape, dtype=kind) for _ in range(5))
    for start in range(0, clusters_at.size, values.width):
        places = slice(start, start + values.width)
        np.copyto(slab, np.take(counts, clusters_at[places], axis=0))
        other = np.take(others, rows_at[places], axis=0)
        np.multiply(running, other, out=product, casting="unsafe")
        found += product
        np.add(other_sums, other, out=other_sums, casting="unsafe")
        running += slab
    total = found.sum(axis=0, dtype=np.float64)
    total += np.einsum("vb,vb->b", _before(running.astype(np.float64)), other_sums, dtype=np.float64)
    return total, int(running.max(initial=0))


def _before(totals: Floats) -> Floats:
    """Exclusive running sum over the first axis."""
    return np.asarray(np.cumsum(totals, axis=0) - totals)


def sorted_values(x: Floats) -> tuple[Indices, Indices]:
    """Order of the rows, and the number of each row's value among the distinct ones."""
    value = numbered(x)
    return np.argsort(value, kind="stable"), value


def folded(source: Indices, value: Indices, n_sources: int, together: int) -> SortedColumn:
    """Fold values (ascending, one a row) whose weights come from `source`."""
    n_values = int(value[-1]) + 1
    width = min(max(1, _SLAB_CELLS // together, n_values // _DEEPEST), n_values)
    depth = -(-n_values // width)
    place = _place(value, depth, width)
    pick = sparse.csr_array((np.ones(value.size), (place, source)), shape=(depth * width, n_sources))
    return SortedColumn(pick, depth, width)


def stands_at(value: Indices, column: SortedColumn) -> Indices:
    """Where values, by their number in ascending order, stand in the folded column."""
    return _place(value, column.depth, column.width)


def _place(value: Indices, depth: int, width: int) -> Indices:
    return np.asarray(value % depth * width + value // depth, dtype=np.intp)
