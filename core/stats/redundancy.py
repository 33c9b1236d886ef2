"""How alike metrics score the same texts: the coefficients of all two of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from core.stats.correlation_coefficients import Method, coefficient, is_constant, standard
from core.stats.near_ties import tied
from core.stats.resampling import Floats, ratio


class RedundancyMatrix(NamedTuple):
    """Coefficients between columns."""

    values: Floats
    """(m, m), symmetric, NaN where undefined; 1 on the diagonal of columns that are not constant."""
    n: NDArray[np.intp]
    """(m, m): rows in which both columns have a value."""


def redundancy(values: ArrayLike, method: Method) -> RedundancyMatrix:
    """The coefficient of every two columns of values (n, m) over the rows that both have.

    Columns without NaN are ranked once and multiplied; pairs with a gap are ranked in their own rows. Misleads as
    pooled coefficients do: two metrics that both follow length are alike, whatever else they see.
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
    """Of columns without NaN: standardised, then one matrix product."""
    columns = rankdata(table, axis=0) if method == "spearman" else table
    centred = standard(columns, axis=0)
    size = np.where(is_constant(table, axis=0), 0.0, np.sqrt((centred**2).sum(axis=0)))
    unit = ratio(centred, np.broadcast_to(size, centred.shape))
    found = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(found, np.where(np.isnan(found.diagonal()), np.nan, 1.0))
    return np.asarray(found)
