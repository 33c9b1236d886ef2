"""Test whether the candidate is worse than the comparator by less than a margin fixed in advance: bounds, verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import (
    Floats,
    Rng,
    bootstrap_distribution,
    check_confidence_level,
    cluster_sums,
    mean_of_sums,
    quantile,
)

_STEPS = 50  # halvings of an interval of length 2


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes in (0, 1) and their weights; computed on first use, because every command imports this module."""
    nodes, weights = np.polynomial.legendre.leggauss(600)
    return (nodes + 1) / 2, weights / 2


def chance_not_above(values: ArrayLike, counts: ArrayLike, threshold: float) -> Floats:
    """Probability that the randomly weighted mean, with one lost question added, is not above the threshold.

    values: shape (k,), distinct scores in [-1, 1]. counts: shape (..., k), number of questions with each; any numbers >= 0.
    threshold: in (-1, 1). Returns shape (...), in [0, 1], exact to about 1e-7 up to 10,000 questions.

    A weighted sum of exponential variables has a known characteristic function. Gil-Pelaez's formula (1951) converts it to
    this probability by Gauss-Legendre quadrature over the half line, mapped to (0, 1).
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


def lower_bound_gaffke(
    means: ArrayLike, confidence_level: float = 0.90, *, counts: ArrayLike | None = None
) -> float:
    """One-sided lower bound of the mean of independent values in [-1, 1]. In [-1, 1]; no Monte Carlo error.

    `means` has shape (n,), n >= 1: here the mean score of each question. counts: shape (n,), how many independent values each
    stands for, by default 1; they need not be whole. Raises ValueError for no values, values outside the scale and NaN.

    Misleads: it is wide. It needs 22 questions with score 0 to exclude -0.1 at 0.90, like any bound that is valid for every
    distribution. It assumes that questions are independent draws, and weighs every question equally, whatever its number of
    pairs. It is valid for one analysis, not for repeated ones.
    """
    check_confidence_level(confidence_level)
    values = np.asarray(means, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"means must have shape (n,) with at least one value, got {values.shape}")
    if not (np.abs(values) <= 1).all():
        raise ValueError("means must be in [-1, 1], without NaN")
    different, index = np.unique(values, return_inverse=True)
    each = np.bincount(index, None if counts is None else np.asarray(counts, dtype=np.float64))
    from scipy.optimize import brentq  # imported lazily: most commands need no bound

    def excess(threshold: float) -> float:
        return float(chance_not_above(different, each, threshold)) - (1 - confidence_level)

    low, high = -1.0, float(values.max())
    return float(brentq(excess, low, high, xtol=1e-12)) if excess(low) < 0 < excess(high) else low


STAKES = (0.25, 0.5, 0.75)
"""Shares of what may be lost that the three players of `lower_bound_anytime` bet on every question."""


def betting_wealth(means: ArrayLike, mean: float, stakes: Sequence[float] = STAKES) -> Floats:
    """Wealth after each question of a player who bets that the true mean is above `mean`; starts at 1.

    means: shape (..., n), each question's mean score in [-1, 1], in the order of entry. mean: in (-1, 1]. stakes: each
    in (0, 1]. Returns shape (..., n), at least 0.

    If the true mean is at most `mean`, the wealth reaches 1 / alpha at any time with a probability of at most alpha
    (Ville 1939). A stake s multiplies the wealth by 1 + s (x - mean) / (1 + mean), so a question lost outright costs the
    share s. The wealth is split equally among the stakes; it then bets most of what has earned most on earlier questions.
    """
    values = np.asarray(means, dtype=np.float64)
    gain = (values - mean) / (1 + mean)
    return np.asarray(np.mean([np.cumprod(1 + stake * gain, axis=-1) for stake in stakes], axis=0))


def lower_bound_anytime(
    means_in_order: ArrayLike, confidence_level: float = 0.90, *, stakes: Sequence[float] = STAKES
) -> Floats:
    """One-sided lower bound of the mean of question means after each question, valid at all of them together.

    means_in_order: shape (n,), n >= 0, each question's mean score in [-1, 1], in an order fixed without looking. Returns
    shape (n,), in [-1, 1], never falling. The chance that any of the bounds is above the true mean is at most
    1 - confidence_level, however often and for whatever reason somebody looks or stops. Raises ValueError for values
    outside the scale and NaN.

    Waudby-Smith and Ramdas (2024, JRSS-B 86:1, sec. 4; the mixture is their diversified Kelly betting): the bound is the
    smallest mean against which no player has reached 1 / (1 - confidence_level) yet, by `betting_wealth`. No bet depends
    on the question that it is about. stakes: with 1 alone, 22 questions of mean 0 exclude -0.1 at 0.90, but one lost
    question ends it. 3/4 alone needs 29 and loses three quarters with a lost question, 1/2 alone needs 43. The default
    needs 38, and recovers from losses because the player with 1/4 keeps most of its wealth.

    Misleads if a mean changes after its question entered, if the order depends on answers, or if an incomplete question
    is passed over. It assumes that questions are independent draws with one mean, weighs every question equally, and
    speaks of these raters only. It is lower than a bound for a single analysis.
    """
    check_confidence_level(confidence_level)
    values = np.asarray(means_in_order, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"means_in_order must have shape (n,), got {values.shape}")
    if not (np.abs(values) <= 1).all():
        raise ValueError("means_in_order must be in [-1, 1], without NaN")
    if not stakes or not all(0 < stake <= 1 for stake in stakes):
        raise ValueError(f"stakes must be in (0, 1], got {tuple(stakes)}")
    needed = (1 - _ROUNDING) / round(1 - confidence_level, 12)
    bounds = np.empty(values.size)
    low = -1.0
    for n in range(1, values.size + 1):
        seen = values[:n]

        def excluded(mean: float, seen: Floats = seen) -> bool:
            return bool(betting_wealth(seen, mean, stakes)[-1] >= needed)

        # Wealth falls with the mean, so the excluded means are an interval from -1 up.
        if excluded(max(low, np.nextafter(-1.0, 0.0)) + 2.0**-_STEPS):
            high = float(seen.max())
            for _ in range(_STEPS):
                middle = (low + high) / 2
                if middle in (low, high):
                    break
                if excluded(middle):
                    low = middle
                else:
                    high = middle
        bounds[n - 1] = low
    return bounds


NO_SCORED_PAIR = "no pair has a score"
NO_MARGIN = "no margin was declared"
ONE_QUESTION = "fewer than two questions: no questions to resample"
# A cumulative share this close below q counts as q; a bound this close to -margin counts as -margin.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class NonInferiority:
    """The mean score with both one-sided lower bounds, compared with the margin."""

    mean: float | None
    """Mean score in [-1, 1]; above 0 favours the candidate."""
    n_pairs: int
    """Pairs with a score."""
    n_questions: int
    """Questions with at least one scored pair."""
    margin: float | None
    """Largest acceptable inferiority, on the scale of the score, > 0; None: no margin is declared."""
    confidence_level: float
    """One-sided level: share of studies in which the true mean should be above the bound."""
    bound_pairs: float | None
    """Lower bound over resampled pairs, as in Factual."""
    non_inferior_pairs: bool | None
    bound_questions: float | None
    """Lower bound over resampled questions; `verdict` decides whether it applies."""
    non_inferior_questions: bool | None
    n_resamples: int
    """Resamples behind bound_questions, and behind bound_pairs unless all scores are -1, 0 or +1."""
    reason: str | None
    n_left_out: int = 0
    """Pairs without a score."""


def resampled_mean_distribution(scores: ArrayLike) -> tuple[Floats, Floats]:
    """Exact distribution of the mean of n draws with replacement from n scores of -1, 0 and +1.

    Returns the means -1, -1 + 1/n, ..., 1 and their probabilities, both of shape (2 n + 1,). Probabilities sum
    to 1 and are 0 for impossible means. Uses convolution powers by repeated squaring; only non-negative terms are
    added, so small probabilities keep their relative precision (checked up to n = 5000). Raises ValueError for no scores.
    """
    values = _checked_scores(scores)
    if not _ternary(values):
        raise ValueError("scores must be -1, 0 or +1: the exact distribution exists only for these")
    n = values.size
    if n == 0:
        raise ValueError("no scores: the mean has no distribution")
    if np.isnan(values).any():
        raise ValueError("scores contain NaN: leave out pairs without a score first")
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
    rng: Rng = 0,
) -> float:
    """One-sided lower percentile bound of the mean over resampled single pairs.

    The smallest mean whose cumulative probability reaches 1 - confidence_level. `scores` has shape (n,), n >= 1, in
    [-1, 1]. If all scores are -1, 0 or +1, the bound is exact and n_resamples and rng are not used. Misleads if questions
    have several pairs: it assumes independence and is then too high. If all scores are equal, the bound is that score.
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
    rng: Rng = 0,
) -> float:
    """One-sided lower percentile bound of the mean over resampled whole questions.

    A ratio of sums: scores over pairs of the drawn questions, so questions with more pairs weigh more, as in the mean
    itself. `clusters` has shape (n,), the question of each pair; at least two questions.
    Misleads with few questions, and if none was lost or none was won. In simulations at the margin (nominal error 0.10,
    10 % of pairs lost, none won) the bound was above the true mean in 60 % of studies with 5 questions of one pair, and in
    35 % with 10. It equals the mean if all questions have the same scores.
    """
    check_confidence_level(confidence_level)
    values = _checked_scores(scores)
    sums = cluster_sums(np.column_stack([values, np.ones(values.size)]), clusters)
    if len(sums) < 2:
        raise ValueError(f"a bound over questions needs at least two questions, got {len(sums)}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    if np.isnan(values).any():
        raise ValueError("scores contain NaN: leave out pairs without a score first")
    drawn = bootstrap_distribution(sums, mean_of_sums, n_resamples=n_resamples, rng=rng)
    return quantile(drawn, 1 - confidence_level)


def non_inferiority(
    scores: ArrayLike,
    clusters: ArrayLike,
    *,
    margin: float | None,
    confidence_level: float = 0.90,
    n_resamples: int = 10_000,
    rng: Rng = 0,
) -> NonInferiority:
    """Test a candidate against -margin, over pairs and over questions.

    scores: shape (n,), in [-1, 1], or NaN for unscored pairs. clusters: shape (n,), the question of each pair.
    margin: > 0, fixed before the data were seen; Factual uses 0.1; None: bounds without a comparison. confidence_level:
    one-sided; Factual uses 0.90.

    Degenerate cases: no scored pair gives None throughout; a single question gives no bound over questions, with a reason.
    Misleads if the margin was chosen after seeing the data; if most pairs are ties, which pull the mean towards 0 and
    so above -margin whatever the quality; and if raters cannot distinguish the answers at all.
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
        non_inferior_pairs=_compared(over_pairs, margin),
        bound_questions=over_questions,
        non_inferior_questions=_compared(over_questions, margin),
        n_resamples=0 if over_questions is None else n_resamples,
        reason=NO_SCORED_PAIR
        if n_questions == 0
        else ONE_QUESTION
        if n_questions == 1
        else NO_MARGIN
        if margin is None
        else None,
        n_left_out=n_left_out,
    )


def _compared(bound: float | None, margin: float | None) -> bool | None:
    return None if bound is None or margin is None else is_above_margin(bound, margin)


def lowest_mean(margin: float | None) -> float | None:
    """-margin, the mean that a lower bound must exceed; None without a margin."""
    return None if margin is None else -margin


def is_above_margin(bound: float, margin: float) -> bool:
    """Whether a lower bound is above -margin by more than rounding."""
    return bound > -margin + _ROUNDING


def scored(
    scores: ArrayLike, clusters: ArrayLike, margin: float | None
) -> tuple[Floats, NDArray[np.generic], int]:
    """Scores and questions of scored pairs, and the number of unscored ones. Raises ValueError for invalid input."""
    if margin is not None and not margin > 0:
        raise ValueError(f"margin must be positive, got {margin!r}")
    values, labels = _checked_scores(scores), np.asarray(clusters)
    if labels.shape != values.shape:
        raise ValueError(f"scores and clusters must have one shape, got {values.shape} and {labels.shape}")
    known = ~np.isnan(values)
    return values[known], labels[known], int((~known).sum())


def _checked_scores(scores: ArrayLike) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"scores must have shape (n,), got {values.shape}")
    if (np.abs(values[~np.isnan(values)]) > 1).any():
        raise ValueError("scores must be in [-1, 1], or NaN for unscored pairs")
    return values


def _ternary(values: Floats) -> bool:
    """Whether all known scores are -1, 0 or +1."""
    return bool(np.isin(values[~np.isnan(values)], (-1.0, 0.0, 1.0)).all())


VerdictValue = Literal["non-inferior", "not shown", "not enough information"]
NON_INFERIOR: VerdictValue = "non-inferior"
NOT_SHOWN: VerdictValue = "not shown"
NOT_ENOUGH: VerdictValue = "not enough information"

FEWEST_QUESTIONS = 15
"""With fewer questions, the ordinary bound does not apply."""
WON_TO_LOST = 0.5
"""The ordinary bound applies only if all won questions together weigh at least this share of the worst lost one."""
MOST_QUESTIONS = 10_000
"""Largest number of missing questions to report."""

_STEP = 100  # numbers of questions checked together
_VERDICT_ROUNDING = 1e-9  # a sum this close to 0 is 0


@dataclass(frozen=True)
class Verdict:
    """Verdict on the margin, with the bound that decides it."""

    value: VerdictValue | None
    """The verdict; "not shown" does not mean "shown to be worse". None if no margin was declared."""
    method: Literal["questions", "gaffke"] | None
    """Method of the deciding bound: percentile bootstrap over questions, or Gaffke's. None without a score."""
    bound: float | None
    """The deciding lower bound, in [-1, 1]; above -margin means non-inferior."""
    reason: str | None
    """Reason why the ordinary bound does not apply, or why there is no verdict."""
    questions_missing: int | None
    """Further questions needed if they repeat the observed mix; None with a verdict, or if 10,000 are not enough."""


def verdict(
    scores: ArrayLike,
    clusters: ArrayLike,
    *,
    margin: float | None,
    confidence_level: float = 0.90,
    n_resamples: int = 10_000,
    rng: Rng = 0,
    bound: float | None = None,
) -> Verdict:
    """Decide whether the candidate is worse than the comparator by less than the margin.

    scores: shape (n,), a pair's score in [-1, 1] (composite or net preference), NaN for unscored pairs. clusters:
    shape (n,), the question of each pair. margin: > 0, fixed before the data were seen; without one the verdict is undefined.
    confidence_level: one-sided. `core.stats.conclusion.conclude` says which system is better, too. bound: the deciding one, if it is
    known from there; None: it is computed.

    The two bounds weigh unequal questions differently. The ordinary bound is a ratio of sums, so a question weighs by its
    number of pairs. Gaffke's bound uses the mean of question means, so every question weighs the same.

    Questions missing: N - n, where N is the smallest number of questions at which the bound that decides at N passes, with
    unchanged shares of the observed questions. The ordinary bound decides from 15 questions, once the won ones weigh half
    the worst lost one. Gaffke's decides below that, and for every N if no question was lost or none was won.

    Misleads if margin or pairs were chosen after seeing the data, and as the two bounds do.
    """
    check_confidence_level(confidence_level)
    used, questions, _ = scored(scores, clusters, margin)
    if margin is None:
        return Verdict(None, None, None, NO_MARGIN, None)
    if used.size == 0:
        return Verdict(NOT_ENOUGH, None, None, NO_SCORED_PAIR, None)
    sums = cluster_sums(np.column_stack([used, np.ones(used.size)]), questions)
    means = sums[:, 0] / sums[:, 1]
    reason = why_not_ordinary(means)
    if reason is None:
        if bound is None:
            bound = lower_bound_questions(used, questions, confidence_level, n_resamples, rng)
        return Verdict(
            NON_INFERIOR if is_above_margin(bound, margin) else NOT_SHOWN, "questions", bound, None, None
        )
    if bound is None:
        bound = lower_bound_gaffke(means, confidence_level)
    if is_above_margin(bound, margin):
        return Verdict(NON_INFERIOR, "gaffke", bound, reason, None)
    needed = _questions_needed(sums, margin, confidence_level, n_resamples, rng)
    missing = None if needed is None else max(1, needed - len(sums))
    return Verdict(NOT_ENOUGH, "gaffke", bound, reason, missing)


def why_not_ordinary(question_means: ArrayLike, *, upper: bool = False) -> str | None:
    """Reason why the ordinary bound does not apply; None if it does.

    `question_means` has shape (n_questions,): the mean score of each question. upper: of the upper bound, which is the lower
    bound of the mirrored scores. The last condition matters if whole questions are lost and wins are small: the resampled
    mean is then as skewed as without any win.
    """
    values = np.asarray(question_means, dtype=np.float64) * (-1 if upper else 1)
    if values.size < FEWEST_QUESTIONS:
        return f"fewer than {FEWEST_QUESTIONS} questions: {values.size}"
    lost, won = _worst_and_won(values)
    down, up, worst = ("won", "lost", "best won") if upper else ("lost", "won", "worst lost")
    if not lost and not won:
        return "no question was lost or won"
    if not lost or not won:
        return f"no question was {up if lost else down}"
    if won < lost * WON_TO_LOST - _VERDICT_ROUNDING:
        return f"all {up} questions together weigh less than half the {worst} one"
    return None


def _worst_and_won(means: Floats) -> tuple[float, float]:
    """Distance of the worst question below 0, and sum of the means above 0; 0 if there are none."""
    worst, won = -float(means.min()), float(means[means > _VERDICT_ROUNDING].sum())
    return worst if worst > _VERDICT_ROUNDING else 0.0, won


def _questions_needed(
    sums: Floats,
    margin: float,
    confidence_level: float,
    n_resamples: int,
    rng: Rng,
) -> int | None:
    """The smallest number of questions at which the deciding bound passes, if the observed mix is repeated.

    sums: shape (n_questions, 2), each question's sum of scores and number of pairs. None if no number up to
    `MOST_QUESTIONS` passes. The resampling part has a Monte Carlo error of a few per cent of the number.
    """
    means = sums[:, 0] / sums[:, 1]
    by_gaffke = _needed_by_gaffke(means, margin, confidence_level)
    lost, won = _worst_and_won(means)
    if not lost or not won:
        return by_gaffke
    # Wins add up with the number of questions; the worst lost one does not change.
    fewest = max(FEWEST_QUESTIONS, math.ceil(len(sums) * lost * WON_TO_LOST / won - _VERDICT_ROUNDING))
    if fewest > MOST_QUESTIONS or (by_gaffke is not None and by_gaffke < fewest):
        return by_gaffke
    excess = sums[:, 0] + margin * sums[:, 1]
    return _needed_by_resampling(excess, fewest, confidence_level, n_resamples, rng)


def _needed_by_gaffke(means: Floats, margin: float, confidence_level: float) -> int | None:
    """Bisection: if the observed mean is above -margin, the chance of a mean below it falls with every question."""
    if means.mean() <= -margin:
        return None
    values, counts = np.unique(means, return_counts=True)
    shares, alpha = counts / means.size, round(1 - confidence_level, 12)
    too_few, enough = 0, MOST_QUESTIONS
    if chance_not_above(values, enough * shares, -margin) >= alpha:
        return None
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if chance_not_above(values, middle * shares, -margin) >= alpha:
            too_few = middle
        else:
            enough = middle
    return enough


def _needed_by_resampling(
    excess: Floats, fewest: int, confidence_level: float, n_resamples: int, rng: Rng
) -> int | None:
    """The smallest N >= `fewest` at which at most a share alpha of sums of N draws from `excess` is not above 0.

    excess: each question's sum of scores plus margin times its pairs; the resampled mean is above -margin if their sum is
    above 0. Passing is not monotone in N (sums of few values move in steps), so every N is checked, with
    resamples that grow by one question at a time.
    """
    if excess.mean() <= 0:
        return None
    generator = np.random.default_rng(rng)
    total = np.zeros(n_resamples)
    for start in range(0, MOST_QUESTIONS, _STEP):
        drawn = excess[generator.integers(0, excess.size, size=(_STEP, n_resamples), dtype=np.uint16)]
        along = total + drawn.cumsum(axis=0)
        total = along[-1]
        passes = (along <= _VERDICT_ROUNDING).mean(axis=1) < round(1 - confidence_level, 12)
        numbers = np.arange(start + 1, start + _STEP + 1)
        found = numbers[passes & (numbers >= fewest)]
        if found.size:
            return int(found[0])
    return None
