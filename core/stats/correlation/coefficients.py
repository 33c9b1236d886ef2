"""Pearson's r, Spearman's rho and Kendall's tau-bof observed data, and why one is undefined."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau, rankdata

from core.stats.degeneracy import tied
from core.stats.resampling import Floats, ratio

Method = Literal["pearson", "spearman", "kendall"]
"""Kendall is tau-b throughout."""
Booleans = NDArray[np.bool_]

_PAIR_CELLS = 4_000_000  # signs of pairs held at a time: 32 MB


def coefficient(x: ArrayLike, y: ArrayLike, method: Method) -> float:
    """The coefficient of the rows (n,) in which both have a value; NaN where `why_undefined` gives a reason."""
    return pair_coefficient(*complete_pairs(x, y), method)


def pair_coefficient(first: Floats, second: Floats, method: Method) -> float:
    """The same of columns as `complete_pairs` gives them."""
    if pair_reason(first, second) is not None:
        return float("nan")
    if method == "kendall":
        return float(kendalltau(first, second).statistic)
    if method == "spearman":
        first, second = rankdata(first), rankdata(second)
    return float(_pearson_of_rows(first[None], second[None])[0])


def why_undefined(
    x: ArrayLike, y: ArrayLike, names: tuple[str, str] = ("scores", "levels"), rows: str = "rows"
) -> str | None:
    """Why the two columns have no correlation; None where they have one.

    names: plurals of what x and y hold; rows: of what has the values.
    """
    return pair_reason(*complete_pairs(x, y), names, rows)


def complete_pairs(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The rows in which both have a value. Raises ValueError for other shapes than (n,) and for infinity."""
    first, second = column(x), column(y)
    if first.shape != second.shape:
        raise ValueError(f"x and y must have one shape (n,), got {first.shape} and {second.shape}")
    known = ~(np.isnan(first) | np.isnan(second))
    return first[known], second[known]


def column(values: ArrayLike) -> Floats:
    """Values as a float column (n,), near ones tied; ValueError for another shape and for infinity."""
    checked = np.asarray(values, dtype=np.float64)
    if checked.ndim != 1:
        raise ValueError(f"a column must have shape (n,), got {checked.shape}")
    if np.isinf(checked).any():
        raise ValueError("values must be finite, or NaN where there is none")
    return tied(checked)


def row_coefficients(x: Floats, y: Floats, method: Method) -> Floats:
    """The coefficient of each row of x with the same row of y, both (rows, k) without NaN: shape (rows,).

    NaN where a row is constant or k < 2. For many short rows, such as items; memory is bounded by blocks.
    """
    if x.shape[1] < 2:
        return np.full(len(x), np.nan)
    if method == "spearman":
        x, y = rankdata(x, axis=1), rankdata(y, axis=1)
    if method != "kendall":
        return _pearson_of_rows(x, y)
    first, second = np.triu_indices(x.shape[1], 1)
    taus = np.empty(len(x))
    block = max(1, _PAIR_CELLS // first.size)
    for start in range(0, len(x), block):
        part = slice(start, start + block)
        signs_x = np.sign(x[part, first] - x[part, second])
        signs_y = np.sign(y[part, first] - y[part, second])
        untied = (signs_x**2).sum(axis=1) * (signs_y**2).sum(axis=1)
        taus[part] = ratio((signs_x * signs_y).sum(axis=1), np.sqrt(untied))
    return taus


def _pearson_of_rows(x: Floats, y: Floats) -> Floats:
    """Constant rows are told by equal values, not by a variance that rounding keeps above 0."""
    x_centred, y_centred = standard(x, axis=1), standard(y, axis=1)
    products = (x_centred * y_centred).sum(axis=1)
    sizes = np.sqrt((x_centred**2).sum(axis=1) * (y_centred**2).sum(axis=1))
    constant = is_constant(x, axis=1) | is_constant(y, axis=1)
    return np.clip(ratio(products, np.where(constant, 0.0, sizes)), -1.0, 1.0)


def standard(values: Floats, axis: int, middle: Callable[..., Floats] = np.mean) -> Floats:
    """Values minus their mean (or another middle) along an axis, scaled to below 2.

    Scaled before and after, as sums of large values and squares of small ones would leave the range of floats.
    """
    scaled = values / _largest(values, axis)
    centred = scaled - middle(scaled, axis=axis, keepdims=True)
    return np.asarray(centred / _largest(centred, axis), dtype=np.float64)


def is_constant(values: Floats, axis: int) -> NDArray[np.bool_]:
    """Whether all values along an axis are equal."""
    return np.asarray(values.max(axis=axis) == values.min(axis=axis), dtype=np.bool_)


def _largest(values: Floats, axis: int) -> Floats:
    """The power of two next to the largest absolute value, so that no digit changes; 1 where all are 0."""
    size = np.abs(values).max(axis=axis, keepdims=True)
    return np.asarray(np.exp2(np.frexp(np.where(size > 0, size, 1.0))[1] - 1), dtype=np.float64)


def pair_reason(x: Floats, y: Floats, names: tuple[str, str] = ("x", "y"), rows: str = "rows") -> str | None:
    """`why_undefined` of columns as `complete_pairs` gives them."""
    if x.size < 2:
        return f"fewer than two {rows}"
    for values, name in ((x, names[0]), (y, names[1])):
        if is_constant(values, axis=0):
            return f"all {name} are equal"
    return None
