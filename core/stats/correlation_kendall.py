"""Concordant minus discordant pairs under weights, for many sets of weights at once.

With weights w (how often each row was drawn) the sum over pairs is w' A w / 2 with A_ij = sign(x_i - x_j) *
sign(y_i - y_j). A has n**2 cells; most need not be looked at one by one. Rows are put into blocks of consecutive x and
blocks of consecutive y. Two rows that lie in different blocks both ways are ordered by their blocks, so a table of
weights, x-blocks by y-blocks, settles them by running sums. What is left are the pairs within an x-block, and those
within a y-block but in different x-blocks: small square matrices times weights. Rows with one value need no pairs among
themselves, so where y has few values (damage levels) its blocks are these values and the last part vanishes. All sums
are of integers, and single precision is used only where they are below 2**24, so nothing is approximate.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.stats.drawn_counts import Drawn
from core.stats.resampling import MOST_PRODUCTS, Floats, Indices, numbered

_Floating = NDArray[Any]
"""Of single or double precision."""
_Kind = type[np.float32] | type[np.float64]

_EXACT = 2**24
"""Whole numbers below this are exact in single precision, which takes half the time."""
_CHUNK_CELLS = 192_000  # numbers worked on at a time: few enough for the processor's second cache (measured)
_SLAB_CELLS = 10_000  # numbers added in one step of a running sum
_FEWEST_IN_BLOCK, _ALIGNED = 24, 8


@dataclass(frozen=True)
class _Within:
    """Pairs of rows of one block: their signs, and which cluster's weight each row takes."""

    signs: NDArray[np.int8]
    """(blocks, size, size); twice the sign where the second row lies in a later strip, any where in an earlier one."""
    strip: int
    """Rows of a strip."""
    clusters: Indices
    """(blocks * size,); the number of clusters where a row only fills its block up."""


@dataclass(frozen=True)
class _Table:
    """Cells of x-blocks by y-blocks, folded so that running sums both ways take long steps.

    Y-block k stands at depth k % depth and width k // depth; x-block k at step k % steps of group k // steps.
    """

    parts: tuple[sparse.csr_array, ...]
    """For some steps each, (steps * depth * groups * width, clusters): rows of each cluster in each cell."""
    depth: int
    width: int
    groups: int
    most_rows: int
    """In one part, one group and one y-block."""
    most_of_group: int
    """Rows in one group."""


@dataclass(frozen=True)
class PairSums:
    """What concordance needs to know about the rows, made once for all weights."""

    table: _Table
    within: tuple[_Within, ...]


def pair_sums(x: Floats, y: Floats, clusters: Indices, n_clusters: int, together: int = 64) -> PairSums:
    """Prepare rows x, y (n,) without NaN; clusters: number of each row's cluster, whose weight it takes.

    together: sets of weights that will be taken at a time.
    """
    x_value, y_value = numbered(x), numbered(y)
    y_block = _blocks(y_value, _block_size(x.size, None))
    x_block = _blocks(x_value, _block_size(x.size, int(y_block.max()) + 1))
    signs = (x_value, y_value)
    parts = (
        _within(x_block, x_value, signs, None, clusters, n_clusters, together),
        _within(y_block, y_value, signs, x_block, clusters, n_clusters, together),
    )
    table = _table(x_block, y_block, clusters, n_clusters, together)
    return PairSums(table, tuple(part for part in parts if part is not None))


def most_signs(y: Floats) -> int:
    """At most how many bytes `pair_sums` holds for a column beside y (n,)."""
    per_row = _block_size(y.size, None)
    n_blocks = int(_blocks(numbered(y), per_row).max()) + 1
    return int(y.size) * (per_row + max(per_row, _block_size(y.size, n_blocks)))


def _block_size(n: int, n_y: int | None) -> int:
    """Rows of a block. n_y: y-blocks; None for the size of those themselves.

    A cell of the table costs as much as some 90 products within blocks (measured): the sum of both is least here.
    """
    best = float(np.cbrt(90 * n) if n_y is None else np.sqrt(90 * n_y))
    return max(_FEWEST_IN_BLOCK, round(best / _ALIGNED) * _ALIGNED)


def _table(x_block: Indices, y_block: Indices, clusters: Indices, n_clusters: int, together: int) -> _Table:
    n_x, n_y = int(x_block.max()) + 1, int(y_block.max()) + 1
    depth = int(np.ceil(np.sqrt(n_y)))
    width = -(-n_y // depth)
    groups = min(n_x, max(1, _SLAB_CELLS // (depth * width * together)))
    steps = -(-n_x // groups)
    group, step = x_block // steps, x_block % steps
    at_once = max(1, _CHUNK_CELLS // (depth * groups * width * together))
    parts = []
    for start in range(0, steps, at_once):
        size = min(at_once, steps - start)
        rows = np.flatnonzero((step >= start) & (step < start + size))
        place = (step[rows] - start) * depth + y_block[rows] % depth
        place = (place * groups + group[rows]) * width + y_block[rows] // depth
        counted = np.ones(rows.size, dtype=np.float32)
        shape = (size * depth * groups * width, n_clusters)
        parts.append(
            sparse.csr_array(
                (counted, (place.astype(np.int32), clusters[rows].astype(np.int32))), shape=shape
            )
        )
    most_rows = np.bincount((step // at_once * groups + group) * n_y + y_block).max()
    return _Table(tuple(parts), depth, width, groups, int(most_rows), int(np.bincount(group).max()))


def concordance(pairs: PairSums, drawn: Drawn) -> Floats:
    """Concordant minus discordant pairs for the weights in `drawn`, whole numbers: shape (sets,)."""
    found = _between_blocks(pairs.table, drawn)
    for part in pairs.within:
        found += _within_blocks(part, drawn)
    return found


def _within_blocks(part: _Within, drawn: Drawn) -> Floats:
    """Pairs of rows of one block. Its rows are cut into strips; each one meets itself and the later ones only."""
    n_blocks, size, _ = part.signs.shape
    n_sets = drawn.single.shape[1]
    kind: _Kind = np.float32 if 2 * size * drawn.largest < _EXACT else np.float64
    at_once = max(1, _CHUNK_CELLS // (2 * size * max(n_sets, size)))
    adding: Any = kind if 2 * at_once * (size * drawn.largest) ** 2 < _EXACT else np.float64
    found = np.zeros(n_sets)
    for start in range(0, n_blocks, at_once):
        signs: _Floating = part.signs[start : start + at_once].astype(kind)
        places = part.clusters[start * size : (start + len(signs)) * size]
        weights: _Floating = (
            np.take(drawn.padded, places, axis=0).astype(kind).reshape(len(signs), size, n_sets)
        )
        products = np.empty_like(weights)
        for first in range(0, size, part.strip):
            strip = slice(first, first + part.strip)
            np.matmul(signs[:, strip, first:], weights[:, first:], out=products[:, strip])
        shape = (len(places), n_sets)
        found += np.einsum("ib,ib->b", products.reshape(shape), weights.reshape(shape), dtype=adding)
    return np.asarray(found / 2)


def _between_blocks(table: _Table, drawn: Drawn) -> Floats:
    """Pairs in different x-blocks and different y-blocks: within each group of x-blocks, then between groups."""
    n_sets = drawn.single.shape[1]
    shape = (table.depth, table.groups, table.width, n_sets)
    most_before = min(drawn.total, table.most_of_group * drawn.largest)
    exact = max(2 * drawn.total, table.most_rows * drawn.largest * most_before) < _EXACT
    kind: _Kind = np.float32 if exact else np.float64
    before, sums, product = (np.zeros(shape, dtype=kind) for _ in range(3))
    weights: _Floating = drawn.single.astype(kind, copy=False)
    total = np.zeros(n_sets)
    for part in table.parts:
        cells = (part @ weights).reshape(-1, *shape)
        found = np.zeros(shape, dtype=kind)
        for at_step, order_at_step in zip(cells, _below_less_above(cells), strict=True):
            np.multiply(before, at_step, out=product)
            found += product
            before += order_at_step
            if table.groups > 1:
                sums += at_step
        total += found.reshape(-1, n_sets).sum(axis=0, dtype=np.float64)
    if table.groups > 1:
        earlier = np.cumsum(before, axis=1, dtype=np.float64) - before
        total += np.einsum("dgwb,dgwb->b", earlier, sums)
    return np.asarray(total)


def _below_less_above(cells: _Floating) -> _Floating:
    """For each x-block and y-block the weight in lower y-blocks less that in higher ones; (steps, depth, groups, width, sets)."""
    order = np.empty_like(cells)
    in_folds, place = cells.sum(axis=1), np.arange(cells.shape[3])
    # Half of what lies in lower folds less that in higher ones and in this one: the first cell has all of it above.
    running = ((np.sign(place[:, None] - place).astype(cells.dtype) @ in_folds) - in_folds) / 2
    after = np.empty_like(running)
    for position in range(cells.shape[1]):
        np.add(running, cells[:, position], out=after)
        np.add(running, after, out=order[:, position])
        running, after = after, running
    return order


def _within(
    block: Indices,
    value: Indices,
    signs: tuple[Indices, Indices],
    other: Indices | None,
    clusters: Indices,
    n_clusters: int,
    together: int,
) -> _Within | None:
    """Pairs of rows in one block; with `other`, only those that lie in different blocks of that kind."""
    rows_of_block = np.bincount(block)
    lowest = np.full(rows_of_block.size, value.max() + 1)
    highest = np.full(rows_of_block.size, -1)
    np.minimum.at(lowest, block, value)
    np.maximum.at(highest, block, value)
    mixed = np.flatnonzero(highest > lowest)
    if mixed.size == 0:
        return None
    size = -(-int(rows_of_block[mixed].max()) // _ALIGNED) * _ALIGNED
    number = np.full(rows_of_block.size, -1)
    number[mixed] = np.arange(mixed.size)
    rows = np.flatnonzero(number[block] >= 0)
    rows = rows[np.argsort(number[block[rows]], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(rows_of_block[mixed])[:-1]])
    place = number[block[rows]] * size + np.arange(rows.size) - starts[number[block[rows]]]
    filled = np.zeros(mixed.size * size, dtype=bool)
    filled[place] = True
    matrix = np.ones((mixed.size, size, size), dtype=np.int8)
    for values in signs:
        matrix *= _differences(values, rows, place, matrix.shape[:2])
    if other is not None:
        matrix *= np.abs(_differences(other, rows, place, matrix.shape[:2]))
    there = filled.reshape(mixed.size, size)
    matrix *= there[:, :, None] & there[:, None, :]
    strip = next(
        rows for rows in (size // 4, size // 8, 8) if rows * size * together <= MOST_PRODUCTS or rows == 8
    )
    for first in range(0, size, strip):
        matrix[:, first : first + strip, first + strip :] *= 2
    taken = np.full(filled.size, n_clusters)
    taken[place] = clusters[rows]
    return _Within(matrix, strip, taken)


def _differences(values: Indices, rows: Indices, place: Indices, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Signs of the differences between all two rows of each block."""
    placed = np.zeros(shape[0] * shape[1], dtype=np.int32)
    placed[place] = values[rows]
    blocks = placed.reshape(shape)
    upper, lower = blocks[:, :, None], blocks[:, None, :]
    return np.asarray((upper > lower).view(np.int8) - (upper < lower).view(np.int8))


def _blocks(value: Indices, size: int) -> Indices:
    """Number of each row's block: consecutive values, at most `size` rows, or a single value with more."""
    rows = np.cumsum(np.bincount(value))
    starts, held = [], 0
    while held < value.size:
        first = int(np.searchsorted(rows, held, side="right"))
        starts.append(first)
        held = int(rows[max(first, int(np.searchsorted(rows, held + size, side="right")) - 1)])
    return np.asarray(np.searchsorted(starts, np.arange(rows.size), side="right")[value] - 1, dtype=np.intp)
