"""Three verdicts on a margin: non-inferior, not shown, not enough information.

The ordinary bound (percentile bootstrap over questions, `non_inferiority.py`) takes the observed questions for the
population. It fails where these are few, or where none was lost or none was won: two questions of score 0 give a bound
of 0, above every margin. There Gaffke's bound decides (`gaffke_bound.py`), which asks nothing of the distribution.

The rule, on the questions that have a score:

- at least `FEWEST_QUESTIONS` questions, at least one lost (mean score below 0), and won ones (above 0) that together weigh
  at least half as much as the worst lost one: the ordinary bound decides, "non-inferior" or "not shown".
- otherwise Gaffke's bound decides, "non-inferior" or "not enough information".

Simulated type I error and power of the rule: docs/statistics.md, Simulated verdicts.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.stats.gaffke_bound import chance_not_above, lower_bound_gaffke
from core.stats.non_inferiority import NO_SCORED_PAIR, above_margin, lower_bound_questions, scored
from core.stats.resampling import Floats, check_confidence_level, cluster_sums

NON_INFERIOR: Literal["non-inferior"] = "non-inferior"
NOT_SHOWN: Literal["not shown"] = "not shown"
NOT_ENOUGH: Literal["not enough information"] = "not enough information"

FEWEST_QUESTIONS = 15
"""Below it the ordinary bound decides nothing."""
WON_TO_LOST = 0.5
"""Of the worst lost question, what all won ones together must weigh at least before the ordinary bound decides."""
MOST_QUESTIONS = 10_000
"""Beyond it no number of missing questions is given."""

_STEP = 100  # numbers of questions looked at together
_ROUNDING = 1e-9  # a sum this close to 0 is 0


@dataclass(frozen=True)
class Verdict:
    """What the data say about the margin, and which bound says so."""

    value: Literal["non-inferior", "not shown", "not enough information"]
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
    rng: int | np.random.Generator = 0,
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
    if won < lost * WON_TO_LOST - _ROUNDING:
        return "all questions won weigh less than half the worst one lost"
    return None


def _worst_and_won(means: Floats) -> tuple[float, float]:
    """How far below 0 the worst question lies, and the sum of the means above 0; 0 where there is none."""
    worst, won = -float(means.min()), float(means[means > _ROUNDING].sum())
    return worst if worst > _ROUNDING else 0.0, won


def _questions_needed(
    sums: Floats,
    margin: float,
    confidence_level: float,
    n_resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
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
    fewest = max(FEWEST_QUESTIONS, math.ceil(len(sums) * lost * WON_TO_LOST / won - _ROUNDING))
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
    excess: Floats,
    fewest: int,
    confidence_level: float,
    n_resamples: int,
    rng: int | np.random.Generator,
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
        passes = (along <= _ROUNDING).mean(axis=1) < round(1 - confidence_level, 12)
        numbers = np.arange(start + 1, start + _STEP + 1)
        found = numbers[passes & (numbers >= fewest)]
        if found.size:
            return int(found[0])
    return None
