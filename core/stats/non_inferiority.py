"""Is the candidate not worse than the comparator by more than a margin fixed before the data? Bounds, three verdicts, power."""

import math
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from statsmodels.stats.power import TTestPower

from core.stats.resampling import (
    Floats,
    Rng,
    bootstrap_distribution,
    check_confidence_level,
    cluster_sums,
    mean_of_sums,
    quantile,
    unit_clusters,
)
from core.stats.votes import clustering

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


NO_SCORED_PAIR = "no pair has a score"
ONE_QUESTION = "fewer than two questions: a bound over questions has nothing to resample"
# A cumulative share this close below q has reached it; a bound this close to -margin lies on it.
_ROUNDING = 1e-12


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
    bound_questions: float | None
    """Lower bound when questions are resampled; `verdict` says whether it may decide."""
    non_inferior_questions: bool | None
    n_resamples: int
    """Resamples behind bound_questions, and behind bound_pairs where scores are not only -1, 0 and +1."""
    reason: str | None
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
    rng: Rng = 0,
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
    rng: Rng = 0,
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
    rng: Rng = 0,
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
        reason=NO_SCORED_PAIR if n_questions == 0 else ONE_QUESTION if n_questions == 1 else None,
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


VerdictValue = Literal["non-inferior", "not shown", "not enough information"]
NON_INFERIOR: VerdictValue = "non-inferior"
NOT_SHOWN: VerdictValue = "not shown"
NOT_ENOUGH: VerdictValue = "not enough information"

FEWEST_QUESTIONS = 15
"""Below it the ordinary bound decides nothing."""
WON_TO_LOST = 0.5
"""Of the worst lost question, what all won ones together must weigh at least before the ordinary bound decides."""
MOST_QUESTIONS = 10_000
"""Beyond it no number of missing questions is given."""

_STEP = 100  # numbers of questions looked at together
_VERDICT_ROUNDING = 1e-9  # a sum this close to 0 is 0


@dataclass(frozen=True)
class Verdict:
    """What the data say about the margin, and which bound says so."""

    value: VerdictValue
    """"not shown" does not mean "shown to be worse"."""
    method: Literal["questions", "gaffke"] | None
    """Deciding bound: percentile bootstrap over questions, or Gaffke's. None without a score."""
    bound: float | None
    """The deciding lower bound, in [-1, 1]; above -margin is non-inferior."""
    reason: str | None
    """Why the ordinary bound may not decide."""
    questions_missing: int | None
    """Further questions needed if they repeat the observed mix; None with a verdict, and where no number up to 10,000 helps."""


def verdict(
    scores: ArrayLike,
    clusters: ArrayLike,
    *,
    margin: float,
    confidence_level: float = 0.90,
    n_resamples: int = 10_000,
    rng: Rng = 0,
) -> Verdict:
    """Decide whether the candidate is worse than the comparator by less than the margin.

    scores: shape (n,), a pair's score in [-1, 1] (composite or net preference), NaN for pairs nobody scored. clusters:
    shape (n,), the question of each pair. margin: > 0, fixed before the data were seen. confidence_level: one-sided.

    The two bounds weigh unequal questions differently. The ordinary bound is a ratio of sums, so a question weighs by its
    pairs; Gaffke's bound takes the mean of question means, so every question weighs the same.

    Questions missing: N - n, where N is the smallest number of questions at which the bound that decides at N passes, if
    shares of the observed questions stay what they are. The ordinary bound decides from 15 questions on, or from where the
    won ones weigh half the worst lost one; Gaffke's below, and at every N where none was lost or none was won.

    Misleads when margin or pairs were chosen after the data, and as the two bounds do.
    """
    check_confidence_level(confidence_level)
    used, questions, _ = scored(scores, clusters, margin)
    if used.size == 0:
        return Verdict(NOT_ENOUGH, None, None, NO_SCORED_PAIR, None)
    sums = cluster_sums(np.column_stack([used, np.ones(used.size)]), questions)
    means = sums[:, 0] / sums[:, 1]
    reason = why_not_ordinary(means)
    if reason is None:
        bound = lower_bound_questions(used, questions, confidence_level, n_resamples, rng)
        return Verdict(
            NON_INFERIOR if above_margin(bound, margin) else NOT_SHOWN, "questions", bound, None, None
        )
    bound = lower_bound_gaffke(means, confidence_level)
    if above_margin(bound, margin):
        return Verdict(NON_INFERIOR, "gaffke", bound, reason, None)
    needed = _questions_needed(sums, margin, confidence_level, n_resamples, rng)
    missing = None if needed is None else max(1, needed - len(sums))
    return Verdict(NOT_ENOUGH, "gaffke", bound, reason, missing)


def why_not_ordinary(question_means: ArrayLike) -> str | None:
    """Why the ordinary bound may not decide; None where it may.

    `question_means` has shape (n_questions,): the mean score of each question. The last condition matters where whole
    questions are lost beside small wins: the resampled mean is then as skewed as without any win.
    """
    values = np.asarray(question_means, dtype=np.float64)
    if values.size < FEWEST_QUESTIONS:
        return f"fewer than {FEWEST_QUESTIONS} questions: {values.size}"
    lost, won = _worst_and_won(values)
    if not lost or not won:
        return "no question was " + ("won" if lost else "lost" if won else "lost or won")
    if won < lost * WON_TO_LOST - _VERDICT_ROUNDING:
        return "all questions won weigh less than half the worst one lost"
    return None


def _worst_and_won(means: Floats) -> tuple[float, float]:
    """How far below 0 the worst question lies, and the sum of the means above 0; 0 where there is none."""
    worst, won = -float(means.min()), float(means[means > _VERDICT_ROUNDING].sum())
    return worst if worst > _VERDICT_ROUNDING else 0.0, won


def _questions_needed(
    sums: Floats,
    margin: float,
    confidence_level: float,
    n_resamples: int,
    rng: Rng,
) -> int | None:
    """The smallest number of questions at which the bound that decides there passes, if the observed mix is repeated.

    sums: shape (n_questions, 2), each question's sum of scores and its number of pairs. None where no number up to
    `MOST_QUESTIONS` passes. The part that resamples carries Monte Carlo error: a few per cent of the number.
    """
    means = sums[:, 0] / sums[:, 1]
    by_gaffke = _needed_by_gaffke(means, margin, confidence_level)
    lost, won = _worst_and_won(means)
    if not lost or not won:
        return by_gaffke
    # What is won adds up with the number of questions; the worst lost one stays what it is.
    fewest = max(FEWEST_QUESTIONS, math.ceil(len(sums) * lost * WON_TO_LOST / won - _VERDICT_ROUNDING))
    if fewest > MOST_QUESTIONS or (by_gaffke is not None and by_gaffke < fewest):
        return by_gaffke
    excess = sums[:, 0] + margin * sums[:, 1]
    return _needed_by_resampling(excess, fewest, confidence_level, n_resamples, rng)


def _needed_by_gaffke(means: Floats, margin: float, confidence_level: float) -> int | None:
    """Bisection: where the observed mean lies above -margin, the chance of a mean below falls with every question."""
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

    excess: each question's sum of scores plus margin times its pairs; the resampled mean lies above -margin where the
    sum of these does. Passing is not monotone in N (sums of few values move in steps), so every N is looked at, along
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


Alternative = Literal["two-sided", "larger"]

_LARGEST_N = 10_000_000


@dataclass(frozen=True)
class Power:
    """Power at the observed mean, and sample sizes in pairs.

    Only the fields named `clustered`, and the numbers of questions, allow for pairs of one question being alike.
    """

    value: float | None
    """Probability of rejecting "mean <= -margin" if the true mean and sd were the observed ones."""
    alpha: float
    alternative: Alternative
    """Sides of the test; 003 reports "two-sided"."""
    n_for_80: int | None
    """Pairs for 80 % power at the observed mean."""
    n_for_90: int | None
    """Pairs for 90 % power at the observed mean."""
    n_for_80_if_equal: int | None
    """Pairs for 80 % power if the sources are equally good (true mean 0), as if pairs were independent."""
    n_for_90_if_equal: int | None
    """Pairs for 90 % power if the sources are equally good, as if pairs were independent."""
    n: int
    """Pairs with a score."""
    effect: float | None
    """(mean + margin) / sd."""
    method: str
    """The test and its implementation."""
    reason: str | None
    n_left_out: int = 0
    """Pairs without a score."""
    rho: float | None = None
    """Correlation of two pairs of one question (`votes.clustering`)."""
    pairs_per_question: float | None = None
    """Mean number of pairs of a question."""
    design_effect: float | None = None
    """1 + (m - 1) max(rho, 0), the factor on the number of pairs."""
    n_for_80_if_equal_clustered: int | None = None
    """Pairs for 80 % power if the sources are equally good, times the design effect: the number to plan with."""
    n_for_90_if_equal_clustered: int | None = None
    """Pairs for 90 % power if the sources are equally good, times the design effect."""
    questions_for_80_if_equal: int | None = None
    """Questions that hold these pairs, at the pairs a question has in this study."""
    questions_for_90_if_equal: int | None = None
    """The same for 90 % power."""
    clustered_reason: str | None = None
    """Why rho or a number that rests on it is missing."""


def power_non_inferiority(
    scores: ArrayLike,
    *,
    margin: float,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    clusters: ArrayLike | None = None,
) -> Power:
    """Power of a t test of the mean score against -margin, at the observed mean and spread.

    `scores` has shape (n,); NaN are left out and counted. margin > 0, on the scale of the scores. clusters: shape (n,),
    the question of each pair; without it nothing is said of the design effect. Degenerate cases:
    fewer than two scores or no spread leave everything None; an observed mean at or below -margin leaves None what
    depends on the mean, because there is no non-inferiority to detect.

    Misleads in two ways. Power at the observed mean is a function of the p value and adds nothing to it (Hoenig
    and Heisey 2001, The American Statistician 55:19): to plan, take the numbers for equally good sources. And pairs
    of one question are not independent: take the numbers times the design effect, which themselves are uncertain
    where the study has few questions.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"scores must have shape (n,), got {values.shape}")
    if np.isinf(values).any():
        raise ValueError("scores hold infinity")
    if not margin > 0:
        raise ValueError(f"margin must be positive, got {margin!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
    if alternative not in ("two-sided", "larger"):
        raise ValueError(f'alternative must be "two-sided" or "larger", got {alternative!r}')
    known = values[~np.isnan(values)]
    spread = float(known.std(ddof=1)) if known.size >= 2 else 0.0
    effect = (float(known.mean()) + margin) / spread if spread > 0 else None
    equal = margin / spread if spread > 0 else None
    seen = effect if effect is not None and effect > _ROUNDING else None
    reason = None
    if known.size < 2:
        reason = "fewer than two scores: the spread is unknown"
    elif not spread > 0:
        reason = "all scores are equal: without spread there is no effect size"
    elif seen is None:
        reason = "the observed mean lies at or below -margin: there is no non-inferiority to detect"
    needed = partial(pairs_needed, alpha=alpha, alternative=alternative)
    plain = Power(
        value=None if seen is None else _power(seen, known.size, alpha, alternative),
        alpha=alpha,
        alternative=alternative,
        n_for_80=None if seen is None else needed(seen, 0.80),
        n_for_90=None if seen is None else needed(seen, 0.90),
        n_for_80_if_equal=None if equal is None else needed(equal, 0.80),
        n_for_90_if_equal=None if equal is None else needed(equal, 0.90),
        n=known.size,
        effect=effect,
        method=f"one-sample t test of the mean against -margin, {alternative}, alpha {alpha:g} (statsmodels TTestPower)",
        reason=reason,
        n_left_out=values.size - known.size,
    )
    if clusters is None:
        return plain
    labels = unit_clusters(clusters, values.size)
    return _clustered(plain, known, labels[~np.isnan(values)])


def _clustered(plain: Power, scores: Floats, clusters: NDArray[np.generic]) -> Power:
    """The sample sizes for equally good sources with the design effect of the study."""
    alike = clustering(scores, clusters)
    size = alike.pairs_per_question

    def pairs(n: int | None) -> int | None:
        return (
            None
            if n is None or alike.design_effect is None
            else math.ceil(n * alike.design_effect - _ROUNDING)
        )

    def questions(n: int | None) -> int | None:
        return None if n is None or size is None else math.ceil(n / size - _ROUNDING)

    for_80, for_90 = pairs(plain.n_for_80_if_equal), pairs(plain.n_for_90_if_equal)
    return replace(
        plain,
        rho=alike.rho,
        pairs_per_question=size,
        design_effect=alike.design_effect,
        n_for_80_if_equal_clustered=for_80,
        n_for_90_if_equal_clustered=for_90,
        questions_for_80_if_equal=questions(for_80),
        questions_for_90_if_equal=questions(for_90),
        clustered_reason=alike.reason,
    )


DECIDED = 0.5
"""Share of votes for one of the two answers that `questions_to_plan` expects; the others call both good or both bad."""


def questions_to_plan(
    margin: float, *, confidence_level: float = 0.90, power: float = 0.80, decided: float = DECIDED
) -> int | None:
    """Questions that a new study needs to show non-inferiority with this power if both systems are equally good.

    margin > 0, on the scale of the scores. decided: expected share of pairs with a score of -1 or 1, so that the standard
    deviation of a score is sqrt(decided). Each question counts once. None beyond ten million.

    One-sample t test of the mean against -margin, one-sided (statsmodels TTestPower). By hand, for margin 0.1, 90 % and
    power 0.9: (1.282 + 1.282)^2 x 0.5 / 0.01 = 328.5 by the normal distribution.

    Misleads in two ways. With several votes a pair the mean vote varies less, so fewer questions are enough; and where more
    than `decided` of the votes choose a side, more are needed.
    """
    return pairs_needed(margin / math.sqrt(decided), power, alpha=1 - confidence_level, alternative="larger")


def pairs_needed(effect: float, power: float, *, alpha: float, alternative: Alternative) -> int | None:
    """The smallest n >= 2 whose power reaches `power` at a positive effect size; None beyond ten million.

    The integer is searched (doubling, then bisection) because power grows with n, where a root finder stops with
    a warning for effects so large that two pairs suffice.
    """
    enough = 2
    while _power(effect, enough, alpha, alternative) < power:
        enough *= 2
        if enough > _LARGEST_N:
            return None
    too_few = enough // 2
    while enough - too_few > 1 and enough > 2:
        middle = (enough + too_few) // 2
        if _power(effect, middle, alpha, alternative) < power:
            too_few = middle
        else:
            enough = middle
    return enough


def _power(effect: float, n: int, alpha: float, alternative: Alternative) -> float:
    return float(TTestPower().power(effect_size=effect, nobs=n, alpha=alpha, alternative=alternative))
