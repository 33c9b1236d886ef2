"""How alike are the pairs of a question, and how many more pairs does a study need because of it?

Source: intraclass correlation from a one-way analysis of variance with unequal groups (Donner 1986, International
Statistical Review 54:67); design effect 1 + (m - 1) rho (Kish 1965, Survey Sampling, sec. 5.4).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import cluster_sums


@dataclass(frozen=True)
class Clustering:
    """Correlation of scores within questions and the factor it puts on a sample size."""

    rho: float | None
    """Correlation of two pairs of one question, at most 1; negative where they differ more than pairs of two questions."""
    pairs_per_question: float | None
    """Mean number of pairs of a question."""
    design_effect: float | None
    """Factor on the number of pairs, at least 1."""
    reason: str | None
    """Why a number is missing."""


def clustering(scores: ArrayLike, clusters: ArrayLike) -> Clustering:
    """Estimate rho and the design effect 1 + (m - 1) max(rho, 0).

    scores: shape (n,), without NaN. clusters: shape (n,), the question of each pair. rho = (MSB - MSW) /
    (MSB + (m0 - 1) MSW), with the mean squares between and within questions and m0 = (n - sum m_q^2 / n) / (k - 1) for k
    questions of m_q pairs. m in the design effect is sum m_q^2 / n, the size of the question of an average pair: equal to
    `pairs_per_question` where questions have equally many pairs, and larger otherwise.

    With one pair in every question rho is undefined and the design effect is 1 whatever rho is. Both are undefined
    with fewer than two questions and without spread. Misleads with few questions, where rho is very uncertain: with 10
    questions of 4 pairs its standard error is about 0.2.
    """
    values = np.asarray(scores, dtype=np.float64)
    sums = cluster_sums(np.column_stack([values, np.ones(values.size), values**2]), clusters)
    k, n = len(sums), values.size
    if k < 2:
        return Clustering(None, n / k if k else None, None, "fewer than two questions")
    sizes = sums[:, 1]
    mean_size = n / k
    if n == k:
        return Clustering(None, mean_size, 1.0, "one pair in every question: none can be alike")
    between = float((sums[:, 0] ** 2 / sizes).sum() - values.sum() ** 2 / n) / (k - 1)
    within = float((sums[:, 2] - sums[:, 0] ** 2 / sizes).sum()) / (n - k)
    typical = (n - float((sizes**2).sum()) / n) / (k - 1)
    spread = between + (typical - 1) * within
    if np.ptp(values) == 0 or not spread > 0:
        return Clustering(None, mean_size, None, "all scores are equal")
    rho = (between - within) / spread
    return Clustering(rho, mean_size, 1 + (float((sizes**2).sum()) / n - 1) * max(rho, 0.0), None)
