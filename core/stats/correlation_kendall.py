"""Concordant minus discordant pairs under weights, for many sets of weights at once.

With weights w (how often each row was drawn) the sum over pairs is w' A w / 2 with A_ij = sign(x_i - x_j) *
sign(y_i - y_j). A has n**2 cells; most need not be looked at one by one. Rows are put into blocks of consecutive x and
blocks of consecutive y. Two rows that lie in different blocks both ways are ordered by their blocks, so a table of
weights, x-blocks by y-blocks, settles them. What is left are the pairs within an x-block, and those within a y-block
but in different x-blocks: small square matrices times weights. Rows with one value need no pairs among themselves,
so where y has few values (damage levels) its blocks are these values and the last part vanishes. All sums are of
integers, so nothing is approximate.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.stats.resampling import Floats, Indices, numbered

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class _Within:
    """Pairs of rows of one block: signs (blocks, size, size), and which clusters' weights the rows take."""

    signs: Singles
    pick: sparse.csr_array
    """(blocks * size, clusters); empty rows fill blocks up."""


@dataclass(frozen=True)
class PairSums:
    """What concordance needs to know about the rows, made once for all weights."""

    table: sparse.csr_array
    """(x-blocks * y-blocks, clusters): rows of each cluster in each cell."""
    shape: tuple[int, int]
    within: tuple[_Within, ...]

    @property
    def cells(self) -> int:
        """Numbers held for one set of weights: what bounds how many sets go together."""
        return max([int(np.prod(self.shape)), *(part.pick.shape[0] for part in self.within)])


def pair_sums(x: Floats, y: Floats, clusters: Indices, n_clusters: int) -> PairSums:
    """Prepare rows x, y (n,) without NaN; clusters: number of each row's cluster, whose weight it takes."""
    x_value, y_value = numbered(x), numbered(y)
    side = int(np.sqrt(x.size)) + 1
    # Flops: n b within blocks against cells of the table, where looking at one costs as much as some 80 products.
    y_block = _blocks(y_value, side)
    x_block = _blocks(x_value, max(16, int(9 * np.sqrt(y_block.max() + 1))))
    shape = (int(x_block.max()) + 1, int(y_block.max()) + 1)
    table = _picked(x_block * shape[1] + y_block, clusters, (shape[0] * shape[1], n_clusters))
    signs = (x_value, y_value)
    parts = (
        _within(x_block, x_value, signs, None, clusters, n_clusters),
        _within(y_block, y_value, signs, x_block, clusters, n_clusters),
    )
    return PairSums(table, shape, tuple(part for part in parts if part is not None))


def concordance(pairs: PairSums, weights: Floats) -> Floats:
    """Concordant minus discordant pairs for weights (clusters, sets), whole numbers: shape (sets,)."""
    n_sets = weights.shape[1]
    cells = (pairs.table @ weights).reshape(*pairs.shape, n_sets)
    found = _between_blocks(cells)
    for part in pairs.within:
        n_blocks, size, _ = part.signs.shape
        # Whole numbers below 2**24 are exact in single precision, at half the time.
        block_weights = (part.pick @ weights).reshape(n_blocks, size, n_sets).astype(np.float32)
        products = part.signs @ block_weights
        found += np.einsum("kib,kib->b", products, block_weights, dtype=np.float64) / 2
    return found


def _between_blocks(cells: Floats) -> Floats:
    """Pairs in different x-blocks and different y-blocks, from the table (x-blocks, y-blocks, sets)."""
    n_x, n_y, n_sets = cells.shape
    order = np.sign(np.arange(n_y)[:, None] - np.arange(n_y)[None, :]).astype(np.float64)
    before, found, products = (np.zeros((n_y, n_sets)) for _ in range(3))
    for position in range(1, n_x):
        before += cells[position - 1]
        np.matmul(order, before, out=products)
        products *= cells[position]
        found += products
    return np.asarray(found.sum(axis=0))


def _within(
    block: Indices,
    value: Indices,
    signs: tuple[Indices, Indices],
    other: Indices | None,
    clusters: Indices,
    n_clusters: int,
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
    size = int(rows_of_block[mixed].max())
    number = np.full(rows_of_block.size, -1)
    number[mixed] = np.arange(mixed.size)
    rows = np.flatnonzero(number[block] >= 0)
    rows = rows[np.argsort(number[block[rows]], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(rows_of_block[mixed])[:-1]])
    place = number[block[rows]] * size + np.arange(rows.size) - starts[number[block[rows]]]
    filled = np.zeros(mixed.size * size, dtype=bool)
    filled[place] = True
    matrix: Singles = np.ones((mixed.size, size, size), dtype=np.float32)
    for values in signs:
        matrix *= _differences(values, rows, place, matrix.shape[:2])
    if other is not None:
        matrix *= np.abs(_differences(other, rows, place, matrix.shape[:2]))
    there = filled.reshape(mixed.size, size)
    matrix *= there[:, :, None] & there[:, None, :]
    return _Within(matrix, _picked(place, clusters[rows], (filled.size, n_clusters)))


def _differences(values: Indices, rows: Indices, place: Indices, shape: tuple[int, ...]) -> Singles:
    """Signs of the differences between all two rows of each block."""
    placed = np.zeros(shape[0] * shape[1], dtype=np.int32)
    placed[place] = values[rows]
    blocks = placed.reshape(shape)
    return np.asarray(np.sign(blocks[:, :, None] - blocks[:, None, :]), dtype=np.float32)


def _picked(place: Indices, clusters: Indices, shape: tuple[int, int]) -> sparse.csr_array:
    """The matrix that adds the weights of rows at their places."""
    return sparse.csr_array((np.ones(place.size), (place, clusters)), shape=shape)


def _blocks(value: Indices, size: int) -> Indices:
    """Number of each row's block: consecutive values, at most `size` rows, or a single value with more."""
    block, held, blocks = 0, 0, []
    for rows in np.bincount(value).tolist():
        if held and held + rows > size:
            block, held = block + 1, 0
        blocks.append(block)
        held += rows
    return np.asarray(blocks, dtype=np.intp)[value]
