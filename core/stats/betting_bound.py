"""A lower confidence bound of a mean that holds for any distribution on [-1, 1], with any number of values.

A player starts with capital 1 and bets, value by value, that the mean exceeds a threshold. A fixed share of the
capital is staked; a value of -1 loses the stake. If the mean were at or below the threshold, the capital would not grow
on average, and would ever exceed 1 / alpha with probability at most alpha (Ville's inequality). The bound is the
largest threshold at which the capital has reached 1 / alpha.

The capital is split over several stakes beforehand, because the best one depends on the unknown distribution. Its
final value does not depend on the order of the values, so no order has to be chosen.

Source: Waudby-Smith and Ramdas (2023), Estimating means of bounded random variables by betting, Journal of the
Royal Statistical Society B 86:1-27 (capital process; diversified Kelly bets).
"""

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Floats, check_confidence_level

STAKES = np.array([0.9, 0.5, 0.2])
"""Shares of the capital that a value of -1 loses."""
SPLIT = np.array([0.9, 0.05, 0.05])
"""The part of the starting capital that plays each stake."""

_STEPS = 60  # halvings of an interval of length 2


def growth(means: ArrayLike, threshold: float) -> Floats:
    """Logarithm of the factor by which each value multiplies the capital, by stake: shape (n, len(STAKES)).

    means: shape (n,), in [-1, 1]. threshold: in (-1, 1). Add up over values for the logarithm of the final capital.
    """
    gain = (np.asarray(means, dtype=np.float64) - threshold) / (1 + threshold)
    return np.asarray(np.log1p(STAKES * gain[..., None]), dtype=np.float64)


def log_capital(growths: Floats) -> Floats:
    """Logarithm of the final capital from summed `growth` (..., len(STAKES)): shape (...)."""
    return np.asarray(np.logaddexp.reduce(growths + np.log(SPLIT), axis=-1), dtype=np.float64)


def lower_bound_betting(means: ArrayLike, confidence_level: float = 0.90) -> float:
    """One-sided lower bound of the mean of independent values in [-1, 1]. In [-1, 1].

    `means` has shape (n,), n >= 1: here the mean score of each question. Valid at any n and any distribution, also when
    it is computed again after each new value; it needs no spread. Raises ValueError for no values, values off the
    scale and NaN.

    Misleads: it is wide. It needs 25 questions of score 0 to exclude -0.1 at 0.90. It takes questions for independent
    draws, and every question counts the same however many pairs it has.
    """
    check_confidence_level(confidence_level)
    values = np.asarray(means, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"means must have shape (n,) with at least one value, got {values.shape}")
    if not (np.abs(values) <= 1).all():
        raise ValueError("means must lie in [-1, 1], without NaN")
    needed = -np.log(1 - confidence_level)
    low, high = -1.0, float(values.max())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if log_capital(growth(values, middle).sum(axis=0)) >= needed:
            low = middle
        else:
            high = middle
    return low
