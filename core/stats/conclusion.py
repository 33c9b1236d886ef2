"""Which of two systems is better: bounds of the mean score on both sides, the answer that they give, and how firm it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.stats.non_inferiority import (
    FEWEST_QUESTIONS,
    NO_SCORED_PAIR,
    is_above_margin,
    lower_bound_gaffke,
    scored,
    why_not_ordinary,
)
from core.stats.resampling import (
    Floats,
    Rng,
    bootstrap_distribution,
    check_confidence_level,
    cluster_sums,
    mean_of_sums,
    quantile,
)

AnswerValue = Literal[
    "better", "not worse", "worse, within the margin", "worse", "not enough information", "not shown"
]
BETTER: AnswerValue = "better"
NOT_WORSE: AnswerValue = "not worse"
WITHIN_MARGIN: AnswerValue = "worse, within the margin"
WORSE: AnswerValue = "worse"
TOO_LITTLE: AnswerValue = "not enough information"
OPEN: AnswerValue = "not shown"
ANSWERS: tuple[AnswerValue, ...] = (BETTER, NOT_WORSE, WITHIN_MARGIN, WORSE, TOO_LITTLE, OPEN)
"""All values of an answer."""
CLAIMS = frozenset({BETTER, NOT_WORSE, WITHIN_MARGIN, WORSE})
"""Answers that claim something; the other two leave the question open."""
TWO_SIDED_LEVEL = 0.90
"""Two-sided level of the interval that decides "better" and "worse": .05 a side."""

Method = Literal["questions", "gaffke"]


@dataclass(frozen=True)
class Bounds:
    """Bounds of the mean over questions, in [-1, 1], each by the method that may decide on its side."""

    bound: float
    """Lower bound at the declared one-sided level."""
    low: float
    """Lower end of the two-sided interval."""
    high: float
    """Upper end of the two-sided interval."""
    low_method: Method
    """Method of `bound` and `low`: percentile bootstrap over questions, or Gaffke's bound."""
    high_method: Method
    low_reason: str | None
    """Why the bootstrap over questions does not decide on the lower side."""
    high_reason: str | None


@dataclass(frozen=True)
class ByGaffke:
    """Gaffke's bounds on the same questions, and the answer that they alone would give."""

    bound: float
    """Lower bound at the declared one-sided level."""
    low: float
    high: float
    value: AnswerValue


@dataclass(frozen=True)
class Conclusion:
    """Which of two systems is better, with the bounds that decide. Positive scores favour the first one."""

    value: AnswerValue
    margin: float | None
    """Largest acceptable inferiority; None: no margin was declared, and "better" and "worse" are about the first system."""
    confidence_level: float
    """Declared one-sided level of "not worse"."""
    interval_level: float
    """Two-sided level of `low` and `high`, which decide "better" and "worse"."""
    mean: float | None
    n_pairs: int
    n_questions: int
    bounds: Bounds | None
    """None without a score."""
    gaffke: ByGaffke | None
    holds_with_one_more: bool | None
    """Whether the claim would hold with one more question against it, by the method that decides; None without a claim, and where
    it was not wanted."""
    reason: str | None
    """Why there is not enough information."""


def conclude(
    scores: ArrayLike,
    clusters: ArrayLike,
    *,
    margin: float | None,
    confidence_level: float = 0.90,
    n_resamples: int = 10_000,
    rng: Rng = 0,
    one_more: bool = True,
) -> Conclusion:
    """Decide which of two systems is better, in a fixed order of tests.

    scores: shape (n,), a pair's score in [-1, 1], NaN for unscored pairs; above 0 favours the first system (the candidate).
    clusters: shape (n,), the question of each pair. margin: > 0, or None if none was declared. confidence_level: one-sided, of
    "not worse". n_resamples, rng: as in `non_inferiority.verdict`, whose bound is the same. one_more: whether `holds_with_one_more` is
    wanted, which resamples once more.

    With a margin: *better* if the declared bound is above -margin and the interval above 0; *worse, within the margin* if the
    bound is above -margin and the interval below 0; *not worse* if only the first is true; *worse* if only the second is.
    Testing "not worse" before "better" is a closed sequence, so both keep their error without correction (CPMP/EWP/482/99).
    *Not enough information*: neither is shown, and Gaffke's bound had to decide on the lower side or the interval contains both
    -margin and +margin. *Not shown*: the rest. Without a margin: better, worse, not enough information below 15 questions,
    not shown.

    Misleads as `non_inferiority.verdict` does: above all where a few questions are lost outright among many that are not.
    """
    check_confidence_level(confidence_level)
    sums, n_pairs = _sums(scores, clusters, margin)
    if not n_pairs:
        return Conclusion(
            TOO_LITTLE,
            margin,
            confidence_level,
            TWO_SIDED_LEVEL,
            mean=None,
            n_pairs=0,
            n_questions=0,
            bounds=None,
            gaffke=None,
            holds_with_one_more=None,
            reason=NO_SCORED_PAIR,
        )
    found = mean_bounds(sums, confidence_level, symmetric=margin is None, n_resamples=n_resamples, rng=rng)
    value = answer_value(found, margin, len(sums))
    means = sums[:, 0] / sums[:, 1]
    by_gaffke = _gaffke_bounds(means, confidence_level)
    return Conclusion(
        value,
        margin,
        confidence_level,
        TWO_SIDED_LEVEL,
        mean=float(sums[:, 0].sum() / sums[:, 1].sum()),
        n_pairs=n_pairs,
        n_questions=len(sums),
        bounds=found,
        gaffke=ByGaffke(
            by_gaffke.bound, by_gaffke.low, by_gaffke.high, answer_value(by_gaffke, margin, len(sums))
        ),
        holds_with_one_more=_holds_with_one_more(
            sums, found, value, margin, confidence_level, n_resamples, rng
        )
        if one_more
        else None,
        reason=_why_too_little(found, margin, len(sums)) if value == TOO_LITTLE else None,
    )


def _sums(scores: ArrayLike, clusters: ArrayLike, margin: float | None) -> tuple[Floats, int]:
    """Sum of scores and number of pairs of each question, shape (n_questions, 2), and the number of scored pairs."""
    used, questions, _ = scored(scores, clusters, margin)
    return cluster_sums(np.column_stack([used, np.ones(used.size)]), questions), used.size


def mean_bounds(
    sums: Floats,
    confidence_level: float,
    *,
    interval_level: float = TWO_SIDED_LEVEL,
    symmetric: bool = False,
    n_resamples: int = 10_000,
    rng: Rng = 0,
) -> Bounds:
    """Bounds of the mean from each question's sum of scores and number of pairs, shape (n_questions, 2), n_questions >= 1.

    On each side the bootstrap over questions decides where it may (`non_inferiority.why_not_ordinary`), else Gaffke's bound. The
    upper side is the lower side of the mirrored scores, from the same resamples. symmetric: from resamples of the mirrored
    scores instead, so that the ends only change places and signs if the two systems do (with a seed, not with a generator).
    """
    means = sums[:, 0] / sums[:, 1]
    below, above = why_not_ordinary(means), why_not_ordinary(means, upper=True)

    def draws(of: Floats) -> Floats:
        return bootstrap_distribution(of, mean_of_sums, n_resamples=n_resamples, rng=rng)

    drawn = np.empty(0) if below and (above or symmetric) else draws(sums)
    turned = np.empty(0) if above else draws(_mirrored(sums)) if symmetric else -drawn
    side = (1 + interval_level) / 2

    def lower(level: float) -> float:
        return lower_bound_gaffke(means, level) if below else quantile(drawn, 1 - level)

    return Bounds(
        lower(confidence_level),
        lower(side),
        -lower_bound_gaffke(-means, side) if above else -quantile(turned, 1 - side),
        "gaffke" if below else "questions",
        "gaffke" if above else "questions",
        below,
        above,
    )


def _mirrored(sums: Floats) -> Floats:
    """The sums if the two systems changed places; 0 stays +0, because rows are told apart by their values."""
    return np.column_stack([0.0 - sums[:, 0], sums[:, 1]])


def _gaffke_bounds(means: Floats, confidence_level: float) -> Bounds:
    side = (1 + TWO_SIDED_LEVEL) / 2
    low = lower_bound_gaffke(means, side)
    bound = low if confidence_level == side else lower_bound_gaffke(means, confidence_level)
    high = -lower_bound_gaffke(-means, side)
    return Bounds(bound, low, high, "gaffke", "gaffke", None, None)


def answer_value(bounds: Bounds, margin: float | None, n_questions: int) -> AnswerValue:
    """The answer that bounds give, in the order of the tests in `conclude`."""
    # Bounds within rounding of 0 are on it and show nothing, as on the margin.
    positive, negative = is_above_margin(bounds.low, 0), is_above_margin(-bounds.high, 0)
    if margin is None:
        if positive:
            return BETTER
        if negative:
            return WORSE
    elif is_above_margin(bounds.bound, margin):
        return BETTER if positive else WITHIN_MARGIN if negative else NOT_WORSE
    elif negative:
        return WORSE
    return OPEN if _why_too_little(bounds, margin, n_questions) is None else TOO_LITTLE


def _why_too_little(bounds: Bounds, margin: float | None, n_questions: int) -> str | None:
    """Why bounds that show nothing are too little information; None: they could have shown something."""
    if n_questions < FEWEST_QUESTIONS:
        return f"fewer than {FEWEST_QUESTIONS} questions: {n_questions}"
    if margin is None:
        return None
    if bounds.low_reason is not None:
        return bounds.low_reason
    if not is_above_margin(bounds.low, margin) and not is_above_margin(-bounds.high, margin):
        return "the interval contains both ends of the margin"
    return None


def claimed_against(value: AnswerValue, margin: float | None) -> tuple[int, ...]:
    """Scores of a pair that speak against an answer: -1 lost, +1 won by the first system.

    An answer that claims nothing can be changed by both, unless a margin gives the first system the burden of proof.
    """
    if value in CLAIMS:
        return (1,) if value == WORSE else (-1,)
    return (-1, 1) if margin is None else (-1,)


def _holds_with_one_more(
    sums: Floats,
    bounds: Bounds,
    value: AnswerValue,
    margin: float | None,
    confidence_level: float,
    n_resamples: int,
    rng: Rng,
) -> bool | None:
    """Whether the claim holds with one more question that is lost outright (won, if the claim is "worse").

    The question has the mean number of pairs. The bound is of the method that decided, so that a question more does not
    change the method, too.
    """
    if value not in CLAIMS:
        return None
    (against,) = claimed_against(value, margin)
    pairs = sums[:, 1].mean()
    more = np.vstack([sums, [against * pairs, pairs]])
    side = (1 + TWO_SIDED_LEVEL) / 2

    def bound(level: float, method: Method, sign: int) -> float:
        if method == "gaffke":
            return lower_bound_gaffke(sign * more[:, 0] / more[:, 1], level)
        if sign < 0 and margin is None:  # as in `mean_bounds`
            drawn = bootstrap_distribution(_mirrored(more), mean_of_sums, n_resamples=n_resamples, rng=rng)
        else:
            drawn = sign * bootstrap_distribution(more, mean_of_sums, n_resamples=n_resamples, rng=rng)
        return quantile(drawn, 1 - level)

    if value == WORSE:
        return is_above_margin(bound(side, bounds.high_method, -1), 0)
    if value == BETTER:
        return is_above_margin(bound(side, bounds.low_method, 1), 0)
    assert margin is not None, "only a margin makes these claims possible"
    return is_above_margin(bound(confidence_level, bounds.low_method, 1), margin)


@dataclass(frozen=True)
class WorstCase:
    """What unanswered pairs could change if all that change anything end the same way."""

    against: int
    """-1: at worst they are lost; +1: at worst they are won by the first system."""
    mean_at_worst: float | None
    value_at_worst: AnswerValue
    """Conclusion if all of them end so."""
    tipping: int | None
    """Fewest of them that change the answer, the others at the observed mean; None: not even all, or there is no margin to miss."""


@dataclass(frozen=True)
class Unanswered:
    """What pairs without enough votes could change."""

    n: int
    """Pairs without enough votes."""
    cases: tuple[WorstCase, ...]
    """What speaks against the answer (`claimed_against`): one way, or both, the one that fewer pairs change first."""

    @property
    def worst(self) -> WorstCase:
        """The way that takes the fewest pairs."""
        return self.cases[0]

    @property
    def tipping_share(self) -> float | None:
        """The smallest `tipping` as a share of the unanswered pairs."""
        return None if self.worst.tipping is None else self.worst.tipping / self.n


def unanswered_at_worst(
    scores: ArrayLike,
    clusters: ArrayLike,
    missing: Sequence[str],
    value: AnswerValue,
    *,
    margin: float | None,
    confidence_level: float = 0.90,
    n_resamples: int = 10_000,
    rng: Rng = 0,
) -> Unanswered:
    """The answer if unanswered pairs speak against it, and how many of them have to: the tipping point.

    scores, clusters: as in `conclude`, without unscored pairs. missing: the question of each unanswered pair.

    A tipping-point analysis (Permutt 2016, Statistics in Medicine 35:2876; ICH E9(R1)): k of the unanswered pairs get the
    worst score, the others the mean of the answered pairs, and the smallest k that changes the answer is searched by bisection.
    Pairs of one question go against the answer together, first in the questions that lack most: the least favourable order,
    since questions are the unit. It says how bad missing votes must be, not how bad they are.
    """
    known, questions = np.asarray(scores, dtype=np.float64), [str(one) for one in np.asarray(clusters)]
    lacking = Counter(missing)
    order = sorted(missing, key=lambda item: (-lacking[item], item))
    ways = claimed_against(value, margin)
    if not order or not known.size:  # without any answer there is none to change
        return Unanswered(len(order), tuple(WorstCase(way, None, value, None) for way in ways))
    mean = float(known.mean())

    def with_worst(way: int, k: int) -> tuple[AnswerValue, float]:
        filled = np.concatenate([known, np.where(np.arange(len(order)) < k, float(way), mean)])
        sums, _ = _sums(filled, np.array([*questions, *order], dtype=str), margin)
        found = mean_bounds(
            sums, confidence_level, symmetric=margin is None, n_resamples=n_resamples, rng=rng
        )
        return answer_value(found, margin, len(sums)), float(filled.mean())

    def case(way: int) -> WorstCase:
        at_worst, mean_at_worst = with_worst(way, len(order))
        tipping = None
        # Without a margin, an open answer changes if pairs make it a claim. With one, they can only be lost: nothing to miss.
        if at_worst != value and (value in CLAIMS or (margin is None and at_worst in CLAIMS)):
            holds, tipping = -1, len(order)
            while tipping - holds > 1:
                middle = (holds + tipping) // 2
                changed = with_worst(way, middle)[0]
                if changed in CLAIMS if value not in CLAIMS else changed != value:
                    tipping = middle
                else:
                    holds = middle
        return WorstCase(way, mean_at_worst, at_worst, tipping)

    def urgency(one: WorstCase) -> tuple[float, bool]:
        return one.tipping if one.tipping is not None else np.inf, one.against * mean > 0

    return Unanswered(len(order), tuple(sorted(map(case, ways), key=urgency)))
