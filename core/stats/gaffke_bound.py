"""A lower confidence bound of a mean on [-1, 1] that asks nothing of the distribution but its range.

One question more is added, lost outright: -1. Then every question, this one included, gets a random weight, and the
bound is the quantile of the weighted mean. The weights are exponential (a Bayesian bootstrap), so no resample leaves
out the added question, and a study without a loss is not taken for a world without one.

On questions that are either lost outright or have one other score it is the exact bound of Clopper and Pearson. That it
holds for every distribution was conjectured by both sources and is not proved; no counterexample is known, and the exact
error of the distributions in tests/stats/test_gaffke_bound.py stays below the nominal one.

Sources: Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable, Mathematical Methods of Statistics 14:451-467; Learned-Miller and Thomas (2019), A new confidence interval for
the mean of a bounded random variable, arXiv:1905.06208.
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Floats, check_confidence_level

_STEPS = 50  # halvings of an interval of length 2


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes in (0, 1) and their weights; made when first needed, because every command imports this module."""
    nodes, weights = np.polynomial.legendre.leggauss(600)
    return (nodes + 1) / 2, weights / 2


def chance_not_above(values: ArrayLike, counts: ArrayLike, threshold: float) -> Floats:
    """Probability that the randomly weighted mean, one lost question added, does not lie above the threshold.

    values: shape (k,), different scores in [-1, 1]. counts: shape (..., k), how many questions have each; any numbers >= 0.
    threshold: in (-1, 1). Returns shape (...), in [0, 1], exact to about 1e-7 up to 10,000 questions.

    A weighted sum of exponential variables has a known characteristic function; Gil-Pelaez's formula (1951) turns it into
    this probability, by Gauss-Legendre quadrature over the half line mapped to (0, 1).
    """
    excess = np.append(np.asarray(values, dtype=np.float64), -1.0) - threshold
    shapes = np.asarray(counts, dtype=np.float64)
    shapes = np.concatenate([shapes, np.ones((*shapes.shape[:-1], 1))], axis=-1)
    if excess.max() <= 0:
        return np.ones(shapes.shape[:-1])
    at, weights = _quadrature()
    spread = np.sqrt((shapes * excess**2).sum(axis=-1, keepdims=True))
    frequency = 2 / spread * at / (1 - at)
    angle = sum(shapes[..., [j]] * np.arctan(one * frequency) for j, one in enumerate(excess))
    size = sum(shapes[..., [j]] * np.log1p((one * frequency) ** 2) / 2 for j, one in enumerate(excess))
    integral = (np.sin(angle) * np.exp(-size) / (at * (1 - at)) * weights).sum(axis=-1)
    return np.asarray(np.clip(0.5 - integral / np.pi, 0, 1), dtype=np.float64)


def lower_bound_gaffke(means: ArrayLike, confidence_level: float = 0.90) -> float:
    """One-sided lower bound of the mean of independent values in [-1, 1]. In [-1, 1], without Monte Carlo error.

    `means` has shape (n,), n >= 1: here the mean score of each question. Raises ValueError for no values, values off the
    scale and NaN.

    Misleads: it is wide. It needs 22 questions of score 0 to exclude -0.1 at 0.90, as any bound must that holds for every
    distribution. It takes questions for independent draws, and every question counts the same however many pairs it has.
    It holds at one look, not at every look.
    """
    check_confidence_level(confidence_level)
    values = np.asarray(means, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"means must have shape (n,) with at least one value, got {values.shape}")
    if not (np.abs(values) <= 1).all():
        raise ValueError("means must lie in [-1, 1], without NaN")
    different, counts = np.unique(values, return_counts=True)
    low, high = -1.0, float(values.max())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if chance_not_above(different, counts, middle) <= 1 - confidence_level:
            low = middle
        else:
            high = middle
    return low
