"""The three coefficients of many columns with one target, in many resamples at once and without approximation.

A resample is a count for each cluster (an item, or a row of its own). Pearson's r is in `correlation_pearson.py`. Spearman's rho ranks anew in every resample: values are sorted once, and the mid-rank
of a value is the number of rows drawn below it plus half of those drawn at it, a running sum. Kendall's tau-b is in
`correlation_kendall.py`. Blocks of resamples bound the memory.

Source of the definitions: Davison and Hinkley (1997), Bootstrap Methods and their Application, sec. 2.2 and 3.8: a
resample is a weighting of the observed rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.stats.correlation_coefficients import Method
from core.stats.correlation_kendall import PairSums, concordance, most_signs, pair_sums
from core.stats.correlation_pearson import PearsonSums, columns_of, pearson_of_counts, pearson_sums
from core.stats.correlation_ranks import (
    Ranked,
    SortedColumn,
    folded,
    middle_ranks,
    rank_products,
    ranked_column,
    sorted_values,
    stands_at,
    untied_rank_products,
)
from core.stats.drawn_counts import Drawn, drawn_of
from core.stats.drawn_counts import draw_counts as draw_counts
from core.stats.resampling import Floats, Indices, numbered, ratio

_BLOCK_CELLS = 640_000  # rows times resamples at a time: few enough to stay near the processor (measured)
_FEWEST_TOGETHER, _MOST_TOGETHER = 16, 512
FEWEST, STEP = 512, 512
"""Resamples after which it is first, and then again, looked at whether they are enough: whole blocks."""
_SIGN_CELLS = 64_000_000  # signs of Kendall's blocks held at a time, a byte each


@dataclass(frozen=True)
class _Target:
    """What belongs to y and serves all columns."""

    clusters: Indices
    sizes: Floats
    """Rows of each cluster."""
    ranked: Ranked


@dataclass(frozen=True)
class _Ties:
    """Rows of a column that share their value with others; few enough to be corrected for."""

    rows: Indices
    clusters: Indices
    adding: sparse.csr_array
    """(values, rows): which rows have a value."""
    before: sparse.csr_array
    """(rows, rows): for each row those of the same value that stand before it."""


@dataclass(frozen=True)
class _Column:
    """A column in the order of its values. With many ties sums over equal values come first; else rows are looked up."""

    weights: SortedColumn
    """From clusters."""
    rows: sparse.csr_array | None
    """The same, from rows and an empty one; None without many ties."""
    clusters_at: Indices
    """Without many ties: the cluster of the row at each place; the number of clusters where a place is empty."""
    rows_at: Indices
    """Without many ties: the row at each place; the number of rows where a place is empty."""
    ties: _Ties | None
    """A few ties."""
    pairs: PairSums | None


@dataclass(frozen=True)
class Prepared:
    """Columns without NaN and their target, ready for any counts."""

    target: _Target
    columns: tuple[_Column, ...]
    pearson: PearsonSums | None
    methods: tuple[Method, ...]
    together: int
    """Resamples to take at a time."""


def columns_alike(scores: Floats, y: Floats) -> list[tuple[NDArray[np.bool_], Indices]]:
    """Columns of scores (n, m) that have a value in the same rows, together with y: those rows, and the columns."""
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
    tell: Callable[[str], None] | None = None,
) -> dict[Method, list[Floats]]:
    """The coefficients of each column of scores (n, m) with y (n,), without NaN, in every resample of clusters.

    clusters: a number from 0 for each row. Each result has an array (n_resamples,) for each column, NaN where undefined.
    enough: given the values so far of all methods of a column, whether they do; looked at after FEWEST resamples and
    every STEP more, so that a column's values do not depend on the other columns, and are the first ones of all.
    tell: told how far the work is.
    """
    values: dict[Method, list[Floats]] = {method: [np.empty(0)] * scores.shape[1] for method in methods}
    for columns in _passes(scores, y, methods) if y.size else ():
        prepared = prepare(scores[:, columns], y, clusters, n_clusters, methods)
        open_columns = list(range(scores.shape[1]))[columns]
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
            prepared = _only(prepared, going)
            open_columns = [open_columns[place] for place in going]
            parts = {method: [found[going]] for method, found in so_far.items()}
    return values


def _only(prepared: Prepared, places: Sequence[int]) -> Prepared:
    """Fewer of the columns."""
    pearson = prepared.pearson
    return replace(
        prepared,
        columns=tuple(prepared.columns[place] for place in places if prepared.columns),
        pearson=None if pearson is None else columns_of(pearson, places),
    )


def _passes(scores: Floats, y: Floats, methods: Sequence[Method]) -> list[slice]:
    """Columns to prepare together, so that the signs of Kendall's pairs fit into memory."""
    m = scores.shape[1]
    at_once = max(1, _SIGN_CELLS // most_signs(y)) if "kendall" in methods else m
    return [slice(start, min(start + at_once, m)) for start in range(0, m, at_once)]


def prepare(
    scores: Floats, y: Floats, clusters: Indices, n_clusters: int, methods: Sequence[Method]
) -> Prepared:
    """Sort once: scores (n, m) and y (n,) without NaN, n >= 1; clusters: a number from 0 for each row."""
    at_once = np.clip(_BLOCK_CELLS // max(y.size, n_clusters), _FEWEST_TOGETHER, _MOST_TOGETHER)
    together = 2 ** int(np.log2(at_once))
    target = _Target(
        clusters=clusters,
        sizes=np.bincount(clusters, minlength=n_clusters).astype(np.float64),
        ranked=ranked_column(y, clusters, n_clusters, together),
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
    order, value = sorted_values(x)
    n_clusters, n = target.sizes.size, x.size
    alike = np.bincount(value)
    if (alike * (alike - 1)).sum() > n:
        weights = folded(target.clusters[order], value[order], n_clusters, together)
        rows = folded(order, value[order], n + 1, together).pick.astype(np.int32)
        return _Column(weights, rows, np.empty(0, np.intp), np.empty(0, np.intp), None, pairs)
    stands = np.empty(n, dtype=np.intp)
    stands[order] = np.arange(n)
    weights = folded(target.clusters[order], np.arange(n), n_clusters, together)
    places = weights.depth * weights.width
    clusters_at, rows_at = np.full(places, n_clusters), np.full(places, n)
    place = stands_at(stands, weights)
    clusters_at[place], rows_at[place] = target.clusters, np.arange(n)
    return _Column(weights, None, clusters_at, rows_at, _ties(order, value, target.clusters), pairs)


def _ties(order: Indices, value: Indices, clusters: Indices) -> _Ties | None:
    """Of rows in the order of their values; None without ties."""
    alike = np.bincount(value)
    rows = order[alike[value[order]] > 1]
    if rows.size == 0:
        return None
    group = numbered(value[rows])
    places = np.arange(rows.size)
    reach = range(1, int(alike.max()))
    later = [places[k:][group[k:] == group[:-k]] for k in reach]
    earlier = np.concatenate([found - k for k, found in zip(reach, later, strict=True)])
    pairs = (np.concatenate(later), earlier)
    return _Ties(
        rows=rows,
        clusters=clusters[rows],
        adding=sparse.csr_array((np.ones(rows.size), (group, places))),
        before=sparse.csr_array((np.ones(earlier.size), pairs), shape=(rows.size, rows.size)),
    )


def resampled(prepared: Prepared, counts: Floats) -> dict[Method, Floats]:
    """Each coefficient (columns, resamples) for counts (clusters, resamples); NaN where a resample is constant."""
    found: dict[Method, Floats] = {}
    if prepared.pearson is not None:
        found["pearson"] = pearson_of_counts(prepared.pearson, counts)
    if prepared.columns:
        found |= _rank_coefficients(prepared, counts)
    return found


@dataclass(frozen=True)
class _TargetRanks:
    """y in one block of resamples, for all columns."""

    n: Floats
    """Rows drawn."""
    spread: Floats
    untied: Floats
    spread_of_rows: Floats
    """Of any column without ties, whose values are the rows."""
    untied_of_rows: Floats
    doubled: NDArray[np.signedinteger[Any]]
    """(rows + 1, resamples): the row's count times twice the rank of its y less the mean rank, a whole number; and a row of
    zeros for empty places."""
    halves: Floats
    """Sum over rows of half of the count times `weighted`."""


def _rank_coefficients(prepared: Prepared, counts: Floats) -> dict[Method, Floats]:
    target, n_sets = prepared.target, counts.shape[1]
    drawn = drawn_of(counts, target.sizes)
    ranks = _target_ranks(target, counts, drawn)
    rho, tau = np.empty((2, len(prepared.columns), n_sets))
    for number, column in enumerate(prepared.columns):
        found = (
            _few_ties(column, ranks, drawn)
            if column.rows is None
            else _many_ties(column, column.rows, counts, ranks)
        )
        if "spearman" in prepared.methods:
            rho[number] = np.clip(ratio(found.products(), np.sqrt(found.spread * ranks.spread)), -1.0, 1.0)
        if column.pairs is not None:
            concordant = concordance(column.pairs, drawn)
            tau[number] = np.clip(ratio(concordant, np.sqrt(found.untied * ranks.untied)), -1.0, 1.0)
    found_of: dict[Method, Floats] = {"spearman": rho} if "spearman" in prepared.methods else {}
    return found_of | ({"kendall": tau} if "kendall" in prepared.methods else {})


@dataclass(frozen=True)
class _Sums:
    """Of one column in one block of resamples."""

    spread: Floats
    untied: Floats
    products: Callable[[], Floats]
    """Sum over rows drawn of the rank of x times the centred rank of y."""


def _many_ties(column: _Column, rows: sparse.csr_array, counts: Floats, ranks: _TargetRanks) -> _Sums:
    weights = column.weights.pick @ counts

    def products() -> Floats:
        small = float(ranks.n.max()) ** 2 < np.iinfo(np.int32).max
        others: NDArray[Any] = rows @ (ranks.doubled if small else ranks.doubled.astype(np.int64))
        return rank_products(column.weights, weights, others / 2)

    return _Sums(_rank_spread(weights, ranks.n), _untied_pairs(weights, ranks.n), products)


def _few_ties(column: _Column, ranks: _TargetRanks, drawn: Drawn) -> _Sums:
    """As if all rows had a value of their own, and then what ties change."""
    ties = column.ties

    def untied_products() -> Floats:
        found = untied_rank_products(
            column.weights, column.clusters_at, column.rows_at, drawn.padded, ranks.doubled, drawn.total
        )
        return np.asarray(found / 2 + ranks.halves)

    if ties is None:
        return _Sums(ranks.spread_of_rows, ranks.untied_of_rows, untied_products)
    of_rows: Floats = np.take(drawn.padded, ties.clusters, axis=0).astype(np.float64)
    of_values: Floats = ties.adding @ of_rows
    squares_of_rows, squares_of_values = of_rows * of_rows, of_values * of_values

    def products() -> Floats:
        others: Floats = np.take(ranks.doubled, ties.rows, axis=0) / 2
        as_ties = np.einsum("vb,vb->b", ties.adding @ others, of_values) / 2
        as_rows = np.einsum("ib,ib->b", others, ties.before @ of_rows + of_rows / 2)
        return np.asarray(untied_products() + as_ties - as_rows)

    return _Sums(
        spread=ranks.spread_of_rows
        - (
            np.einsum("vb,vb->b", squares_of_values, of_values)
            - np.einsum("ib,ib->b", squares_of_rows, of_rows)
        )
        / 12,
        untied=ranks.untied_of_rows - (squares_of_values.sum(axis=0) - squares_of_rows.sum(axis=0)) / 2,
        products=products,
    )


def _target_ranks(target: _Target, counts: Floats, drawn: Drawn) -> _TargetRanks:
    n = target.sizes @ counts
    weights = target.ranked.values.pick @ counts
    of_values = 2 * middle_ranks(target.ranked.values, weights) - n
    kind = np.int32 if drawn.total * drawn.largest < np.iinfo(np.int32).max else np.int64
    of_rows: NDArray[Any] = np.take(drawn.padded, target.clusters, axis=0).astype(kind)
    doubled: NDArray[Any] = np.zeros((len(of_rows) + 1, n.size), dtype=kind)
    np.take(of_values.astype(kind), target.ranked.row_value, axis=0, out=doubled[:-1], mode="clip")
    doubled[:-1] *= of_rows
    squares = counts * counts
    return _TargetRanks(
        n=n,
        spread=_rank_spread(weights, n),
        untied=_untied_pairs(weights, n),
        spread_of_rows=(n**3 - target.sizes @ (squares * counts)) / 12,
        untied_of_rows=(n**2 - target.sizes @ squares) / 2,
        doubled=doubled,
        halves=np.einsum("ib,ib->b", doubled[:-1], of_rows, dtype=np.float64) / 4,
    )


def _rank_spread(weights: Floats, n: Floats) -> Floats:
    """Sum of squared deviations of mid-ranks: (n**3 - sum of tied**3) / 12, exact."""
    return np.asarray((n**3 - np.einsum("vb,vb,vb->b", weights, weights, weights)) / 12)


def _untied_pairs(weights: Floats, n: Floats) -> Floats:
    return np.asarray((n**2 - np.einsum("vb,vb->b", weights, weights)) / 2)
