"""Is the candidate not worse than the comparator by more than a margin fixed before the data?

Scores of pairs lie in [-1, 1], NaN where unknown: composite scores (`composite.py`: -1 comparator preferred, 0 neither,
+1 candidate preferred) or net preferences (mean vote of a pair). The candidate is non-inferior when a one-sided lower
confidence bound of the mean score lies above -margin.

There are two bounds. The bound over pairs is that of 003 (percentile bootstrap of the mean of single pairs). For
scores of -1, 0 and +1 it is computed exactly, without drawing: the sum of n draws from a three-point distribution is
the n-th convolution power of that distribution. Exact means free of Monte Carlo noise, not an exact confidence
interval. The bound over questions resamples whole questions, because the pairs of a question share its text and are
not independent.

Neither bound is a verdict: both can be won without information. `verdicts.py` decides when the bound over questions
may be used, and what is used otherwise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import (
    Floats,
    bootstrap_distribution,
    check_confidence_level,
    cluster_sums,
    mean_of_sums,
    quantile,
)

NO_SCORED_PAIR = "no pair has a score"
_ROUNDING = (
    1e-12  # a cumulative share this close below q has reached it; a bound this close to -margin lies on it
)


@dataclass(frozen=True)
class NonInferiority:
    """The mean score with both one-sided lower bounds and what each says about the margin."""

    mean: float | None
    """Mean score in [-1, 1]; above 0 favours the candidate."""
    n_pairs: int
    """Pairs with a score."""
    n_questions: int
    """Questions that hold at least one of them."""
    margin: float
    """The largest inferiority still accepted, on the scale of the score, > 0."""
    confidence_level: float
    """One-sided level: the true mean is to lie above the bound in this share of studies."""
    bound_pairs: float | None
    """Lower bound when pairs are resampled (003's)."""
    non_inferior_pairs: bool | None
    """bound_pairs > -margin."""
    bound_questions: float | None
    """Lower bound when questions are resampled; `verdicts.verdict` says whether it may decide."""
    non_inferior_questions: bool | None
    """bound_questions > -margin."""
    n_resamples: int
    """Resamples behind bound_questions, and behind bound_pairs where scores are not only -1, 0 and +1."""
    reason: str | None
    """Why a number is missing."""
    n_left_out: int = 0
    """Pairs without a score."""


def resampled_mean_distribution(scores: ArrayLike) -> tuple[Floats, Floats]:
    """Exact distribution of the mean of n draws with replacement from n scores of -1, 0 and +1.

    Returns support means -1, -1 + 1/n, ..., 1 and their probabilities, both of shape (2 n + 1,); probabilities sum
    to 1 and are 0 where a mean cannot occur. Convolution powers by repeated squaring; only non-negative terms are
    added, so small probabilities keep their relative precision (checked to n = 5000). Raises ValueError for no scores.
    """
    values = _checked_scores(scores)
    if not _ternary(values):
        raise ValueError("scores must be -1, 0 or +1: only their mean has an exact distribution here")
    n = values.size
    if n == 0:
        raise ValueError("no scores: the mean of none has no distribution")
    if np.isnan(values).any():
        raise ValueError("scores hold NaN: leave pairs without a score out first")
    square = np.array([(values == score).mean() for score in (-1, 0, 1)])
    total = np.ones(1)
    remaining = n
    while remaining:
        if remaining & 1:
            total = np.convolve(total, square)
        remaining >>= 1
        if remaining:
            square = np.convolve(square, square)
    return np.arange(-n, n + 1) / n, total / total.sum()


def lower_bound_pairs(
    scores: ArrayLike,
    confidence_level: float = 0.90,
    n_resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> float:
    """One-sided lower percentile bound of the mean when single pairs are resampled.

    The smallest mean whose cumulative probability reaches 1 - confidence_level. `scores` has shape (n,), n >= 1, in
    [-1, 1]. Scores of -1, 0 and +1 alone need no drawing, and n_resamples and rng are not used. Misleads when a question
    has several pairs: it takes them for independent and is then too high. Scores that are all equal give that score.
    """
    check_confidence_level(confidence_level)
    values = _checked_scores(scores)
    if values.size > 1 and not _ternary(values):
        return lower_bound_questions(values, np.arange(values.size), confidence_level, n_resamples, rng)
    if values.size == 1:
        return float(values[0])
    means, probabilities = resampled_mean_distribution(scores)
    reached = np.cumsum(probabilities) >= 1 - confidence_level - _ROUNDING
    return float(means[reached & (probabilities > 0)][0])


def lower_bound_questions(
    scores: ArrayLike,
    clusters: ArrayLike,
    confidence_level: float = 0.90,
    n_resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> float:
    """One-sided lower percentile bound of the mean when whole questions are resampled.

    Ratio of sums: scores of the questions drawn over pairs of the questions drawn, so questions with more pairs
    weigh more, as in the mean itself. `clusters` has shape (n,), the question of each pair; at least two questions.
    Misleads with few questions, and where none was lost or none was won. Simulated at the margin, nominal error 0.10, with
    10 % of pairs lost and none won: the bound lay above the true mean in 60 % of studies with 5 questions of one pair, in 35 %
    with 10. It equals the mean when all questions have the same scores.
    """
    check_confidence_level(confidence_level)
    values = _checked_scores(scores)
    sums = cluster_sums(np.column_stack([values, np.ones(values.size)]), clusters)
    if len(sums) < 2:
        raise ValueError(f"a bound over questions needs at least two questions, got {len(sums)}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    if np.isnan(values).any():
        raise ValueError("scores hold NaN: leave pairs without a score out first")
    drawn = bootstrap_distribution(sums, mean_of_sums, n_resamples=n_resamples, rng=rng)
    return quantile(drawn, 1 - confidence_level)


def non_inferiority(
    scores: ArrayLike,
    clusters: ArrayLike,
    *,
    margin: float,
    confidence_level: float = 0.90,
    n_resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> NonInferiority:
    """Test a candidate against -margin, over pairs and over questions.

    scores: shape (n,), in [-1, 1], or NaN for pairs nobody scored. clusters: shape (n,), the question of each pair.
    margin: > 0, fixed before the data were seen; 003 takes 0.1. confidence_level: one-sided; 003 takes 0.90.

    Degenerate cases: no scored pair gives None throughout, a single question None over questions, with the reason.
    Misleads when the margin was chosen after the data; when most pairs are ties, which pull the mean towards 0 and
    so above -margin whatever the quality; and when raters cannot tell the answers apart at all.
    """
    check_confidence_level(confidence_level)
    used, questions, n_left_out = scored(scores, clusters, margin)
    n_questions = np.unique(questions).size
    over_pairs = lower_bound_pairs(used, confidence_level, n_resamples, rng) if used.size else None
    over_questions = (
        lower_bound_questions(used, questions, confidence_level, n_resamples, rng)
        if n_questions >= 2
        else None
    )
    return NonInferiority(
        mean=float(used.mean()) if used.size else None,
        n_pairs=used.size,
        n_questions=n_questions,
        margin=margin,
        confidence_level=confidence_level,
        bound_pairs=over_pairs,
        non_inferior_pairs=None if over_pairs is None else above_margin(over_pairs, margin),
        bound_questions=over_questions,
        non_inferior_questions=None if over_questions is None else above_margin(over_questions, margin),
        n_resamples=0 if over_questions is None else n_resamples,
        reason=_reason(n_questions),
        n_left_out=n_left_out,
    )


def above_margin(bound: float, margin: float) -> bool:
    """Whether a lower bound lies above -margin, and not on it but for rounding."""
    return bound > -margin + _ROUNDING


def scored(scores: ArrayLike, clusters: ArrayLike, margin: float) -> tuple[Floats, NDArray[np.generic], int]:
    """Scores and questions of the pairs that have a score, and how many have none; ValueError for misuse."""
    if not margin > 0:
        raise ValueError(f"margin must be positive, got {margin!r}")
    values, labels = _checked_scores(scores), np.asarray(clusters)
    if labels.shape != values.shape:
        raise ValueError(f"scores and clusters must have one shape, got {values.shape} and {labels.shape}")
    known = ~np.isnan(values)
    return values[known], labels[known], int((~known).sum())


def _reason(n_questions: int) -> str | None:
    if n_questions == 0:
        return NO_SCORED_PAIR
    if n_questions == 1:
        return "fewer than two questions: a bound over questions has nothing to resample"
    return None


def _checked_scores(scores: ArrayLike) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"scores must have shape (n,), got {values.shape}")
    if (np.abs(values[~np.isnan(values)]) > 1).any():
        raise ValueError("scores must lie in [-1, 1], or be NaN where a pair has none")
    return values


def _ternary(values: Floats) -> bool:
    """Whether all known scores are -1, 0 or +1."""
    return bool(np.isin(values[~np.isnan(values)], (-1.0, 0.0, 1.0)).all())
