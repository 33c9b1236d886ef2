"""Pearson's r, Spearman's rho and Kendall's tau-b.

For observed data, with reasons if undefined; and for many columns with one target in many resamples, vectorised.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.degeneracy import tied
from core.stats.resampling import (
    MOST_PRODUCTS,
    Drawn,
    Floats,
    Indices,
    draw_counts,
    drawn_of,
    numbered,
    ratio,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Method = Literal["pearson", "spearman", "kendall"]
"""Coefficients; Kendall is always tau-b."""

_ROW_PAIR_CELLS = 4_000_000  # signs of pairs in memory at a time: 32 MB


def coefficient(x: ArrayLike, y: ArrayLike, method: Method) -> float:
    """The coefficient over rows (n,) in which both have a value; NaN if `why_undefined` gives a reason."""
    return pair_coefficient(*complete_pairs(x, y), method)


def pair_coefficient(first: Floats, second: Floats, method: Method) -> float:
    """The coefficient of columns returned by `complete_pairs`."""
    if pair_reason(first, second) is not None:
        return float("nan")
    if method == "pearson":
        return float(_pearson_of_rows(first[None], second[None])[0])
    from scipy.stats import (
        kendalltau,
        rankdata,
    )  # imported lazily: loads slowly, and most commands correlate nothing

    if method == "kendall":
        return float(kendalltau(first, second).statistic)
    return float(_pearson_of_rows(rankdata(first)[None], rankdata(second)[None])[0])


def why_undefined(
    x: ArrayLike, y: ArrayLike, names: tuple[str, str] = ("scores", "levels"), rows: str = "rows"
) -> str | None:
    """Reason why the correlation of two columns is undefined; None if it is defined.

    names: plural nouns for the values of x and y; rows: plural noun for the rows.
    """
    return pair_reason(*complete_pairs(x, y), names, rows)


def complete_pairs(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The rows in which both have a value. Raises ValueError for shapes other than (n,) and for infinity."""
    first, second = column(x), column(y)
    if first.shape != second.shape:
        raise ValueError(f"x and y must have one shape (n,), got {first.shape} and {second.shape}")
    known = ~(np.isnan(first) | np.isnan(second))
    return first[known], second[known]


def column(values: ArrayLike) -> Floats:
    """Convert values to a float column (n,) with near ones tied. Raises ValueError for other shapes and for infinity."""
    checked = np.asarray(values, dtype=np.float64)
    if checked.ndim != 1:
        raise ValueError(f"a column must have shape (n,), got {checked.shape}")
    if np.isinf(checked).any():
        raise ValueError("values must be finite, or NaN for missing")
    return tied(checked)


def row_coefficients(x: Floats, y: Floats, method: Method) -> Floats:
    """The coefficient of each row of x with the same row of y, both (rows, k) without NaN: shape (rows,).

    NaN if a row is constant or k < 2. For many short rows, such as items; computed in blocks to limit memory.
    """
    if x.shape[1] < 2:
        return np.full(len(x), np.nan)
    if method == "spearman":
        from scipy.stats import rankdata  # imported lazily: loads slowly

        x, y = rankdata(x, axis=1), rankdata(y, axis=1)
    if method != "kendall":
        return _pearson_of_rows(x, y)
    first, second = np.triu_indices(x.shape[1], 1)
    taus = np.empty(len(x))
    block = max(1, _ROW_PAIR_CELLS // first.size)
    for start in range(0, len(x), block):
        part = slice(start, start + block)
        signs_x = np.sign(x[part, first] - x[part, second])
        signs_y = np.sign(y[part, first] - y[part, second])
        untied = (signs_x**2).sum(axis=1) * (signs_y**2).sum(axis=1)
        taus[part] = ratio((signs_x * signs_y).sum(axis=1), np.sqrt(untied))
    return taus


def _pearson_of_rows(x: Floats, y: Floats) -> Floats:
    """Pearson's r of each row. Constant rows are detected by equal values: rounding may keep their variance above 0."""
    x_centred, y_centred = standard(x, axis=1), standard(y, axis=1)
    products = (x_centred * y_centred).sum(axis=1)
    sizes = np.sqrt((x_centred**2).sum(axis=1) * (y_centred**2).sum(axis=1))
    constant = is_constant(x, axis=1) | is_constant(y, axis=1)
    return np.clip(ratio(products, np.where(constant, 0.0, sizes)), -1.0, 1.0)


def standard(values: Floats, axis: int, middle: Callable[..., Floats] = np.mean) -> Floats:
    """Values minus their mean (or another middle) along an axis, scaled to below 2.

    Scaled before and after, because sums of large values and squares of small ones would leave the range of floats.
    """
    scaled = values / _largest(values, axis)
    centred = scaled - middle(scaled, axis=axis, keepdims=True)
    return np.asarray(centred / _largest(centred, axis), dtype=np.float64)


def is_constant(values: Floats, axis: int) -> NDArray[np.bool_]:
    """Whether all values along an axis are equal."""
    return np.asarray(values.max(axis=axis) == values.min(axis=axis), dtype=np.bool_)


def _largest(values: Floats, axis: int) -> Floats:
    """The power of two nearest the largest absolute value, so that no digit changes; 1 if all are 0."""
    size = np.abs(values).max(axis=axis, keepdims=True)
    return np.asarray(np.exp2(np.frexp(np.where(size > 0, size, 1.0))[1] - 1), dtype=np.float64)


def pair_reason(x: Floats, y: Floats, names: tuple[str, str] = ("x", "y"), rows: str = "rows") -> str | None:
    """`why_undefined` for columns returned by `complete_pairs`."""
    if x.size < 2:
        return f"fewer than two {rows}"
    for values, name in ((x, names[0]), (y, names[1])):
        if is_constant(values, axis=0):
            return f"all {name} are equal"
    return None


_SLAB_CELLS = 8_192  # numbers added at a time in a running sum
_FOUR_BYTES = int(np.iinfo(np.int32).max)
_DEEPEST = 48  # steps of a running sum


@dataclass(frozen=True)
class SortedColumn:
    """The distinct values of a column in ascending order, folded into slabs so that running sums are fast."""

    pick: "csr_array"
    """(depth * width, clusters): clusters whose weights each value sums."""
    place: Indices
    """Position of each row's value: value v at v % depth * width + v // depth."""
    depth: int
    width: int


def sorted_column(x: Floats, clusters: Indices, n_clusters: int, together: int) -> SortedColumn:
    """Sort a column (n,) once; together: resamples to compute at a time."""
    value = numbered(x)
    n_values = int(value.max()) + 1
    width = min(max(1, _SLAB_CELLS // together, n_values // _DEEPEST), n_values)
    depth = -(-n_values // width)
    place = np.asarray(value % depth * width + value // depth, dtype=np.intp)
    from scipy.sparse import csr_array  # imported lazily: loads slowly

    pick = csr_array((np.ones(value.size), (place, clusters)), shape=(depth * width, n_clusters))
    return SortedColumn(pick, place, depth, width)


def rank_rows(column: SortedColumn, weights: Floats, n: Floats) -> Floats:
    """Each row's mid-rank minus the mean rank, in each resample: shape (rows, resamples).

    weights: weights of the values, `column.pick @ counts`; n: rows drawn in each resample.
    """
    slabs = weights.reshape(column.depth, column.width, -1)
    # Rows drawn below each value plus half of those equal to it: the mid-rank minus 1/2.
    ranks, running = np.empty_like(slabs), np.zeros(slabs.shape[1:])
    for position, slab in enumerate(slabs):
        ranks[position] = running + slab / 2
        running += slab
    ranks += np.cumsum(running, axis=0) - running
    ranks -= n / 2
    return np.take(ranks.reshape(weights.shape), column.place, axis=0)


_STEP_CELLS = 2_048  # numbers in one step of a sum over rows: steps of one row would mostly be overhead


def sums_of_products(*factors: Floats) -> Floats:
    """Sum over rows of the products of arrays (rows, sets), which must be whole or half numbers: shape (sets,)."""
    n_rows, n_sets = factors[0].shape
    together = max(1, _STEP_CELLS // n_sets)
    whole = n_rows // together * together
    letters = ",".join(["nk"] * len(factors)) + "->k"
    long = (each[:whole].reshape(-1, together * n_sets) for each in factors)
    found = np.einsum(letters, *long).reshape(together, n_sets).sum(axis=0)
    return np.asarray(found + np.einsum(letters, *(each[whole:] for each in factors)))


def sum_of_rows(values: Floats) -> Floats:
    """Sum of an array (rows, sets) of whole or half numbers over its rows: shape (sets,)."""
    together = max(1, _STEP_CELLS // values.shape[1])
    whole = len(values) // together * together
    found = values[:whole].reshape(-1, together * values.shape[1]).sum(axis=0)
    return np.asarray(found.reshape(together, -1).sum(axis=0) + values[whole:].sum(axis=0))


def _rank_products(
    slabs: Callable[[], Iterable[tuple[NDArray[Any], NDArray[Any]]]], shape: tuple[int, int], most: int | None
) -> Floats:
    """Sum over values of the weight below each value times a number, from (weights, numbers), slab by slab.

    most: upper bound on each number divided by its weight; whole numbers are then summed in eight bytes only if four may
    overflow. None: no bound.
    """
    for kind in (np.float64,) if most is None else (np.int32, np.int64):
        running, found, others, product, slab = np.zeros((5, *shape), dtype=kind)
        for weights, numbers in slabs():
            np.copyto(slab, weights, casting="unsafe")
            np.multiply(running, numbers, out=product, casting="unsafe")
            found += product
            np.add(others, numbers, out=others, casting="unsafe")
            running += slab
        if most is None or int(running.max()) ** 2 * most <= _FOUR_BYTES:
            break
    before = np.cumsum(running, axis=0, dtype=np.float64) - running
    return np.asarray(found.sum(axis=0, dtype=np.float64) + (before * others).sum(axis=0))


_ROWS = 64  # rows added at a time
_DOUBTFUL = 1e-6  # a variance this small relative to the mean square has lost too many digits
_SMALLEST = 1e-150  # the square of a smaller number may be 0


@dataclass(frozen=True)
class PearsonSums:
    """Columns without NaN and their target, prepared for any counts."""

    sums: Floats
    """(clusters, 3 + 3 columns): rows, y, y**2, then x, x**2, x y of each column."""
    standard: Floats
    """(rows, 1 + columns): y and each column, the values behind the sums."""
    exact: NDArray[np.bool_]
    """(1 + columns,): whether a sum of squares of 0 means that every drawn value is the median."""
    clusters: Indices
    """Cluster of each row."""


def pearson_sums(scores: Floats, y: Floats, clusters: Indices, n_clusters: int) -> PearsonSums:
    """Sum scores (n, m) and y (n,) by cluster.

    Values are centred on the median, because one huge value would shift a mean and cost the others their digits.
    """
    columns = standard(np.column_stack([y, scores]), axis=0, middle=np.median)
    exact = np.abs(np.where(columns == 0, 1.0, columns)).min(axis=0) > _SMALLEST
    return PearsonSums(_products(columns, clusters, n_clusters), columns, exact, clusters)


def columns_of(prepared: PearsonSums, places: Sequence[int]) -> PearsonSums:
    """Select columns by their places."""
    sums = [0, 1, 2, *(3 + 3 * place + k for place in places for k in range(3))]
    rows = [0, *(1 + place for place in places)]
    return PearsonSums(
        prepared.sums[:, sums], prepared.standard[:, rows], prepared.exact[rows], prepared.clusters
    )


def pearson_of_counts(prepared: PearsonSums, counts: Floats) -> Floats:
    """Pearson's r of each column with y, (columns, resamples), for counts (clusters, resamples); NaN if constant."""
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
    """sums.T @ counts in blocks; the order of summation does not depend on the number of sums."""
    found = np.zeros((sums.shape[1], counts.shape[1]))
    at_once = max(1, MOST_PRODUCTS // (_ROWS * counts.shape[1]))
    for first in range(0, sums.shape[1], at_once):
        columns = slice(first, first + at_once)
        for start in range(0, len(counts), _ROWS):
            found[columns] += sums[start : start + _ROWS, columns].T @ counts[start : start + _ROWS]
    return found


def _pearson_row_by_row(prepared: PearsonSums, column: int, counts: Floats) -> Floats:
    """Pearson's r of one column in each resample, from the drawn rows, so that a large common part costs no digits."""
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
    from scipy.sparse import csr_array

    adding = csr_array((np.ones(rows.size), (clusters, rows)), shape=(n_clusters, rows.size))
    return np.asarray(adding @ per_row, dtype=np.float64)


_Floating = NDArray[Any]
"""Single or double precision."""
_Kind = type[np.float32] | type[np.float64]

_EXACT = 2**24
"""Whole numbers below this are exact in single precision, which takes half the time."""
_CHUNK_CELLS = 192_000  # numbers processed at a time: few enough for the second-level cache (measured)
_PAIR_CELLS = 10_000  # numbers added in one step of a running sum
_FEWEST_IN_BLOCK, _ALIGNED = 24, 8


@dataclass(frozen=True)
class _Within:
    """Pairs of rows of one block: their signs, and the cluster of each row."""

    signs: NDArray[np.int8]
    """(blocks, size, size): twice the sign if the second row is in a later strip, arbitrary if in an earlier one."""
    strip: int
    """Rows of a strip."""
    clusters: Indices
    """(blocks * size,): cluster of each row; the number of clusters for rows that only fill a block."""


@dataclass(frozen=True)
class _Table:
    """Cells of x-blocks by y-blocks, folded so that running sums in both directions take long steps.

    Y-block k is at depth k % depth and width k // depth; x-block k at step k % steps of group k // steps.
    """

    parts: "tuple[csr_array, ...]"
    """Parts of several steps, each (steps * depth * groups * width, clusters): rows of each cluster in each cell."""
    depth: int
    width: int
    groups: int
    most_rows: int
    """Steps in one part, for one group and one y-block."""
    most_of_group: int
    """Rows in one group."""


@dataclass(frozen=True)
class PairSums:
    """The rows in the form that concordance needs, prepared once for all weights."""

    table: _Table
    within: tuple[_Within, ...]


def pair_sums(x: Floats, y: Floats, clusters: Indices, n_clusters: int, together: int = 64) -> PairSums:
    """Prepare rows x, y (n,) without NaN; clusters: number of each row's cluster, which determines its weight.

    together: sets of weights to compute at a time.
    """
    x_value, y_value = numbered(x), numbered(y)
    y_block = _blocks(y_value, _block_size(x.size, None))
    x_block = _blocks(x_value, _block_size(x.size, int(y_block.max()) + 1))
    signs = (x_value, y_value)
    parts = (
        _pairs_in_block(x_block, x_value, signs, None, clusters, n_clusters, together),
        _pairs_in_block(y_block, y_value, signs, x_block, clusters, n_clusters, together),
    )
    table = _table(x_block, y_block, clusters, n_clusters, together)
    return PairSums(table, tuple(part for part in parts if part is not None))


def most_signs(y: Floats) -> int:
    """Upper bound on the bytes that `pair_sums` needs for a column with y (n,)."""
    per_row = _block_size(y.size, None)
    n_blocks = int(_blocks(numbered(y), per_row).max()) + 1
    return int(y.size) * (per_row + max(per_row, _block_size(y.size, n_blocks)))


def _block_size(n: int, n_y: int | None) -> int:
    """Rows of a block. n_y: number of y-blocks; None: return the size of y-blocks.

    A cell of the table costs about as much as 90 products within blocks (measured); this size minimises the total.
    """
    best = float(np.cbrt(90 * n) if n_y is None else np.sqrt(90 * n_y))
    return max(_FEWEST_IN_BLOCK, round(best / _ALIGNED) * _ALIGNED)


def _table(x_block: Indices, y_block: Indices, clusters: Indices, n_clusters: int, together: int) -> _Table:
    n_x, n_y = int(x_block.max()) + 1, int(y_block.max()) + 1
    depth = int(np.ceil(np.sqrt(n_y)))
    width = -(-n_y // depth)
    groups = min(n_x, max(1, _PAIR_CELLS // (depth * width * together)))
    steps = -(-n_x // groups)
    group, step = x_block // steps, x_block % steps
    at_once = max(1, _CHUNK_CELLS // (depth * groups * width * together))
    from scipy.sparse import csr_array

    parts = []
    for start in range(0, steps, at_once):
        size = min(at_once, steps - start)
        rows = np.flatnonzero((step >= start) & (step < start + size))
        place = (step[rows] - start) * depth + y_block[rows] % depth
        place = (place * groups + group[rows]) * width + y_block[rows] // depth
        counted = np.ones(rows.size, dtype=np.float32)
        shape = (size * depth * groups * width, n_clusters)
        parts.append(
            csr_array((counted, (place.astype(np.int32), clusters[rows].astype(np.int32))), shape=shape)
        )
    most_rows = np.bincount((step // at_once * groups + group) * n_y + y_block).max()
    return _Table(tuple(parts), depth, width, groups, int(most_rows), int(np.bincount(group).max()))


def concordance(pairs: PairSums, drawn: Drawn) -> Floats:
    """Concordant minus discordant pairs for the weights in `drawn`, whole numbers: shape (sets,)."""
    found = _cross_block_pairs(pairs.table, drawn)
    for part in pairs.within:
        found += _block_pairs(part, drawn)
    return found


def _block_pairs(part: _Within, drawn: Drawn) -> Floats:
    """Pairs of rows within blocks. Each block is cut into strips; a strip is paired with itself and later ones only."""
    n_blocks, size, _ = part.signs.shape
    n_sets = drawn.single.shape[1]
    kind: _Kind = np.float32 if 2 * size * drawn.largest < _EXACT else np.float64
    at_once = max(1, _CHUNK_CELLS // (2 * size * max(n_sets, size)))
    # Summed over blocks first: steps of a whole block are several times as fast as steps of a row.
    adding: Any = kind if 2 * n_blocks * size * drawn.largest**2 < _EXACT else np.float64
    found = np.zeros(size * n_sets, dtype=adding)
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
        shape = (len(signs), size * n_sets)
        found += np.einsum("nk,nk->k", products.reshape(shape), weights.reshape(shape), dtype=adding)
    return np.asarray(found.reshape(size, n_sets).sum(axis=0, dtype=np.float64) / 2)


def _cross_block_pairs(table: _Table, drawn: Drawn) -> Floats:
    """Pairs in different x-blocks and different y-blocks: within each group of x-blocks, then between groups."""
    n_sets = drawn.single.shape[1]
    shape = (table.depth, table.groups, table.width, n_sets)
    most_before = min(drawn.total, table.most_of_group * drawn.largest)
    exact = max(2 * drawn.total, table.most_rows * drawn.largest * most_before) < _EXACT
    kind: _Kind = np.float32 if exact else np.float64
    before, sums = (np.zeros(shape, dtype=kind) for _ in range(2))
    weights: _Floating = drawn.single.astype(kind, copy=False)
    total = np.zeros(n_sets)
    for part in table.parts:
        cells = (part @ weights).reshape(-1, *shape)
        # What is before each step takes the place of the step before.
        order = _signed_weights(cells)
        for at_step in order:
            before, at_step[...] = before + at_step, before
        found = np.einsum("sdgwb,sdgwb->dgwb", order, cells)
        if table.groups > 1:
            sums += cells.sum(axis=0)
        total += found.reshape(-1, n_sets).sum(axis=0, dtype=np.float64)
    if table.groups > 1:
        earlier = np.cumsum(before, axis=1, dtype=np.float64) - before
        total += np.einsum("dgwb,dgwb->b", earlier, sums)
    return np.asarray(total)


def _signed_weights(cells: _Floating) -> _Floating:
    """Weight in lower minus higher y-blocks, for each x-block and y-block: (steps, depth, groups, width, sets)."""
    order = np.empty_like(cells)
    in_folds, place = cells.sum(axis=1), np.arange(cells.shape[3])
    # Half of the weight in lower folds minus that in higher ones and this one: for the first cell, all of it is above.
    running = ((np.sign(place[:, None] - place).astype(cells.dtype) @ in_folds) - in_folds) / 2
    after = np.empty_like(running)
    for position in range(cells.shape[1]):
        np.add(running, cells[:, position], out=after)
        np.add(running, after, out=order[:, position])
        running, after = after, running
    return order


def _pairs_in_block(
    block: Indices,
    value: Indices,
    signs: tuple[Indices, Indices],
    other: Indices | None,
    clusters: Indices,
    n_clusters: int,
    together: int,
) -> _Within | None:
    """Pairs of rows in one block; with `other`, only those in different blocks of that kind."""
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
    """Signs of the differences between every two rows of each block."""
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


_BLOCK_CELLS = 1_280_000  # rows times resamples at a time: few enough to stay in the cache (measured)
_FEWEST_TOGETHER, _MOST_TOGETHER = 16, 512
FEWEST, STEP = 512, 512
"""Resamples before the first check whether they are enough, and between checks: whole blocks."""
_SIGN_CELLS = 64_000_000  # signs of Kendall's blocks in memory at a time, one byte each


@dataclass(frozen=True)
class _Target:
    """The prepared target y, shared by all columns."""

    clusters: Indices
    sizes: Floats
    """Rows of each cluster."""
    ranked: SortedColumn


@dataclass(frozen=True)
class _Column:
    """A column in the order of its values. With ties, equal values are summed first; without, rows are looked up."""

    ranked: SortedColumn
    rows: "csr_array | None"
    """With ties: the rows that have each value."""
    at: tuple[Indices, Indices]
    """Without ties: cluster and row at each place; the numbers of clusters and rows for empty places."""
    pairs: PairSums | None


@dataclass(frozen=True)
class Prepared:
    """Columns without NaN and their target, prepared for any counts."""

    target: _Target
    columns: tuple[_Column, ...]
    pearson: PearsonSums | None
    methods: tuple[Method, ...]
    together: int
    """Resamples to compute at a time."""


def columns_alike(scores: Floats, y: Floats) -> list[tuple[NDArray[np.bool_], Indices]]:
    """Groups of columns of scores (n, m) with values in the same rows where y has one: these rows and columns."""
    known = ~(np.isnan(scores) | np.isnan(y)[:, None])
    alike: dict[bytes, list[int]] = {}
    for number, rows in enumerate(known.T):
        alike.setdefault(np.packbits(rows).tobytes(), []).append(number)
    return [(known[:, columns[0]], np.array(columns, dtype=np.intp)) for columns in alike.values()]


def resample_columns(
    scores: Floats,
    y: Floats,
    clusters: Indices,
    n_clusters: int,
    methods: Sequence[Method],
    *,
    n_resamples: int,
    seed: int,
    enough: Callable[[Sequence[Floats]], bool] | None = None,
    tell: Callable[[str], object] | None = None,
) -> dict[Method, list[Floats]]:
    """Coefficients of each column of scores (n, m) with y (n,), without NaN, in every resample of clusters.

    clusters: a number from 0 for each row. Each result has an array (n_resamples,) for each column, NaN if undefined.
    enough: decides from the values so far of all methods of a column whether they suffice; called after FEWEST resamples
    and every STEP more, so a column's values do not depend on other columns and are always the first of the full set.
    tell: called with progress messages.
    """
    m = scores.shape[1]
    values: dict[Method, list[Floats]] = {method: [np.empty(0)] * m for method in methods}
    # Number of columns to prepare together so that the signs of Kendall's pairs fit into memory.
    at_once = max(1, _SIGN_CELLS // most_signs(y)) if "kendall" in methods and y.size else m
    for start in range(0, m if y.size else 0, at_once or 1):
        open_columns = list(range(start, min(start + at_once, m)))
        prepared = prepare(scores[:, start : start + at_once], y, clusters, n_clusters, methods)
        parts: dict[Method, list[Floats]] = {method: [] for method in methods}
        drawn = 0
        for counts in draw_counts(n_clusters, n_resamples, prepared.together, seed):
            for method, found in resampled(prepared, counts).items():
                parts[method].append(found)
            drawn += counts.shape[1]
            if tell is not None:
                tell(f"resample {drawn:,} of at most {n_resamples:,}")
            if drawn < n_resamples and (enough is None or drawn < FEWEST or (drawn - FEWEST) % STEP):
                continue
            so_far = {method: np.concatenate(found, axis=1) for method, found in parts.items()}
            going = []
            for place, column in enumerate(open_columns):
                own = [so_far[method][place] for method in methods]
                if drawn == n_resamples or enough is None or enough(own):
                    for method, found in zip(methods, own, strict=True):
                        values[method][column] = found
                else:
                    going.append(place)
            if not going:
                break
            pearson = None if prepared.pearson is None else columns_of(prepared.pearson, going)
            fewer = tuple(prepared.columns[place] for place in going if prepared.columns)
            prepared = replace(prepared, columns=fewer, pearson=pearson)
            open_columns = [open_columns[place] for place in going]
            parts = {method: [found[going]] for method, found in so_far.items()}
    return values


def leave_one_cluster_out(
    scores: Floats, y: Floats, clusters: Indices, n_clusters: int, method: Method
) -> Floats:
    """Coefficient of each column of scores (n, m) with y (n,), without NaN, without each cluster in turn: (m, n_clusters)."""
    values = np.full((scores.shape[1], n_clusters), np.nan)
    at_once = max(1, _SIGN_CELLS // most_signs(y)) if method == "kendall" and y.size else scores.shape[1]
    for start in range(0, scores.shape[1] if y.size else 0, at_once or 1):
        columns = slice(start, start + at_once)
        prepared = prepare(scores[:, columns], y, clusters, n_clusters, (method,))
        for first in range(0, n_clusters, prepared.together):
            size = min(prepared.together, n_clusters - first)
            counts = np.ones((n_clusters, size))
            counts[np.arange(first, first + size), np.arange(size)] = 0
            values[columns, first : first + size] = resampled(prepared, counts)[method]
    return values


def prepare(
    scores: Floats, y: Floats, clusters: Indices, n_clusters: int, methods: Sequence[Method]
) -> Prepared:
    """Sort scores (n, m) and y (n,) without NaN once, n >= 1; clusters: a number from 0 for each row."""
    at_once = np.clip(_BLOCK_CELLS // max(y.size, n_clusters), _FEWEST_TOGETHER, _MOST_TOGETHER)
    together = 2 ** int(np.log2(at_once))
    target = _Target(
        clusters=clusters,
        sizes=np.bincount(clusters, minlength=n_clusters).astype(np.float64),
        ranked=sorted_column(y, clusters, n_clusters, together),
    )
    ranked = "spearman" in methods or "kendall" in methods
    columns = [
        _prepared_column(
            x,
            target,
            together,
            pair_sums(x, y, clusters, n_clusters, together) if "kendall" in methods else None,
        )
        for x in (scores.T if ranked else ())
    ]
    return Prepared(
        target=target,
        columns=tuple(columns),
        pearson=pearson_sums(scores, y, clusters, n_clusters) if "pearson" in methods else None,
        methods=tuple(methods),
        together=together,
    )


def _prepared_column(x: Floats, target: _Target, together: int, pairs: PairSums | None) -> _Column:
    n_clusters, rows = target.sizes.size, np.arange(x.size)
    ranked = sorted_column(x, target.clusters, n_clusters, together)
    places = ranked.depth * ranked.width
    clusters_at, rows_at = np.full(places, n_clusters), np.full(places, x.size)
    clusters_at[ranked.place], rows_at[ranked.place] = target.clusters, rows
    adding = None
    if np.unique(ranked.place).size < x.size:
        from scipy.sparse import csr_array

        adding = csr_array((np.ones(x.size), (ranked.place, rows)), shape=(places, x.size + 1))
    return _Column(ranked, adding, (clusters_at, rows_at), pairs)


def resampled(prepared: Prepared, counts: Floats) -> dict[Method, Floats]:
    """Each coefficient (columns, resamples) for counts (clusters, resamples); NaN if a resample is constant."""
    found: dict[Method, Floats] = {}
    if prepared.pearson is not None:
        found["pearson"] = pearson_of_counts(prepared.pearson, counts)
    if prepared.columns:
        found |= _rank_coefficients(prepared, counts)
    return found


def _rank_coefficients(prepared: Prepared, counts: Floats) -> dict[Method, Floats]:
    target, n = prepared.target, prepared.target.sizes @ counts
    drawn = drawn_of(counts, target.sizes)
    weights_of_y = target.ranked.pick @ counts
    spread_of_y, untied_of_y = _rank_spread(weights_of_y, n), _untied_pairs(weights_of_y, n)
    # Shared by all columns without ties, whose values are the rows.
    untied_of_rows = (n**2 - target.sizes @ (counts * counts)) / 2
    spread_of_rows = (n**3 - target.sizes @ (counts * counts * counts)) / 12
    doubled, own = np.zeros((1, 1)), np.zeros(n.size)
    if "spearman" in prepared.methods:
        doubled, own = _doubled_ranks(target, weights_of_y, n, drawn)
    del weights_of_y  # as large as the counts
    rho, tau = np.empty((2, len(prepared.columns), n.size))
    for number, column in enumerate(prepared.columns):
        weights = None if column.rows is None else column.ranked.pick @ counts
        if "spearman" in prepared.methods:
            spread = spread_of_rows if weights is None else _rank_spread(weights, n)
            shape, half = (column.ranked.width, n.size), own
            if column.rows is None or weights is None:
                slabs = partial(_slabs_of_rows, column, drawn.padded, doubled)
                products = _rank_products(slabs, shape, drawn.total)
            else:
                sums: Floats = column.rows @ doubled
                half = sums_of_products(weights, sums) / 2
                folded = [each.reshape(-1, *shape) for each in (weights, sums)]
                products = _rank_products(partial(zip, *folded, strict=True), shape, None)
            products += half
            products /= 2
            rho[number] = np.clip(ratio(products, np.sqrt(spread * spread_of_y)), -1.0, 1.0)
        if column.pairs is not None:
            untied = untied_of_rows if weights is None else _untied_pairs(weights, n)
            concordant = concordance(column.pairs, drawn)
            tau[number] = np.clip(ratio(concordant, np.sqrt(untied * untied_of_y)), -1.0, 1.0)
    found_of: dict[Method, Floats] = {"spearman": rho} if "spearman" in prepared.methods else {}
    return found_of | ({"kendall": tau} if "kendall" in prepared.methods else {})


def _doubled_ranks(target: _Target, weights: Floats, n: Floats, drawn: Drawn) -> tuple[NDArray[Any], Floats]:
    """Each row's count times twice (rank of its y minus mean rank), in whole numbers, with a row of zeros for empty places.

    Also returns half the sum of their products with the counts.
    """
    kind = np.int32 if drawn.total * drawn.largest < _FOUR_BYTES else np.int64
    counts: NDArray[Any] = np.take(drawn.padded, target.clusters, axis=0).astype(kind)
    doubled = np.zeros((len(counts) + 1, n.size), dtype=kind)
    ranks = rank_rows(target.ranked, weights, n)
    ranks *= 2
    np.multiply(ranks, counts, out=doubled[:-1], casting="unsafe")
    del ranks
    return doubled, np.einsum("ib,ib->b", doubled[:-1], counts, dtype=np.float64) / 2


def _slabs_of_rows(
    column: _Column, counts: NDArray[Any], doubled: NDArray[Any]
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Weights and ranks of a column without ties, in slabs to limit memory."""
    clusters_at, rows_at = column.at
    for start in range(0, clusters_at.size, column.ranked.width):
        places = slice(start, start + column.ranked.width)
        yield np.take(counts, clusters_at[places], axis=0), np.take(doubled, rows_at[places], axis=0)


def _rank_spread(weights: Floats, n: Floats) -> Floats:
    """Sum of squared deviations of mid-ranks: (n**3 - sum of tied**3) / 12, exact."""
    return np.asarray((n**3 - sums_of_products(weights, weights, weights)) / 12)


def _untied_pairs(weights: Floats, n: Floats) -> Floats:
    return np.asarray((n**2 - sums_of_products(weights, weights)) / 2)
