"""Votes as an array: what one looks like, how it is checked and counted.

Votes have shape (n_units, n_raters). A unit is one pair shown (question x level). Each vote is a category code
0 .. n_categories - 1, or -1 where the rater gave none. The four choices of a blind pair, after decoding, have the
codes below; the statistics of agreement take any nominal categories.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.int64]

MISSING: Final = -1
CANDIDATE: Final = 0
BOTH_GOOD: Final = 1
BOTH_BAD: Final = 2
COMPARATOR: Final = 3
N_CHOICES: Final = 4


def check_votes(votes: ArrayLike, n_categories: int = N_CHOICES) -> Codes:
    """Votes as int64 of shape (n_units, n_raters), or ValueError with the first vote that does not fit."""
    if n_categories < 2:
        raise ValueError(f"n_categories must be at least 2, got {n_categories}")
    array = np.asarray(votes)
    if array.ndim != 2:
        raise ValueError(f"votes must have shape (n_units, n_raters), got {array.shape}")
    if array.size == 0:
        return np.empty(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"votes must be integer codes with {MISSING} for missing, got dtype {array.dtype}")
    wrong = (array < MISSING) | (array >= n_categories)
    if wrong.any():
        unit, rater = np.argwhere(wrong)[0]
        raise ValueError(
            f"vote of unit {unit} by rater {rater} is {array[unit, rater]}; "
            f"codes run from 0 to {n_categories - 1}, {MISSING} is missing"
        )
    return array.astype(np.int64)


def category_counts(votes: Codes, n_categories: int) -> NDArray[np.float64]:
    """How many raters put each unit into each category: shape (n_units, n_categories)."""
    chosen = votes[:, :, None] == np.arange(n_categories)
    return np.asarray(chosen.sum(axis=1), dtype=np.float64)


def contingency(a: ArrayLike, b: ArrayLike, n_categories: int = N_CHOICES) -> Codes:
    """Cross table of two raters: rows are the first rater's categories, columns the second's.

    `a` and `b` have shape (n_units,). Units that either rater left out are not counted, so the table sums to
    the number of shared units. Shape (n_categories, n_categories).
    """
    first, second = np.asarray(a), np.asarray(b)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"a and b must have one and the same shape (n_units,), got {first.shape} and {second.shape}"
        )
    votes = check_votes(np.column_stack([first, second]), n_categories)
    shared = votes[(votes != MISSING).all(axis=1)]
    cells = np.bincount(shared[:, 0] * n_categories + shared[:, 1], minlength=n_categories**2)
    return cells.reshape(n_categories, n_categories).astype(np.int64)
