"""Raters as a sample: how much of a mean vote is due to these raters, these questions, and chance."""

import math
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.non_inferiority import why_not_ordinary
from core.stats.resampling import Floats, Indices, check_confidence_level, numbered, ratio


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of a single vote (-1 comparator, 0 tie, +1 candidate), each at least 0.

    vote = mean + rater + question + rater x question + pair (a level of a question) + residual. The mean vote of J
    raters on n questions of L pairs, with k of the raters a pair (whole questions are dealt), has the variance
    rater / J + question / n + rater_question / (n k) + pair / (n L) + residual / (n L k).
    """

    rater: float
    question: float
    rater_question: float
    pair: float
    residual: float


COMPONENTS: tuple[str, ...] = tuple(field.name for field in fields(Components))
"""Names of the components, in their order."""


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance components estimated from a study's votes."""

    components: Components | None
    """None if they are undefined, for `reason`."""
    mean: float | None
    """Mean of all votes."""
    variance_of_mean: Components | None
    """Each component's part in the variance of the mean of these votes, as they were dealt."""
    n_raters: int
    n_questions: int
    n_pairs: int
    n_votes: int
    set_to_zero: dict[str, float]
    """Component -> its negative estimate, which became 0."""
    merged: dict[str, str]
    """Component that these votes cannot separate -> the one that contains it. Its own value is 0."""
    method: str
    reason: str | None


METHOD_OF_COMPONENTS = "analysis of variance (Henderson's method 1)"
NO_VOTE, ONE_RATER, ONE_QUESTION = (
    "no rater has voted",
    "components need two raters with votes",
    "components need two questions with votes",
)
NOT_SEPARABLE = "the votes cannot separate the components"


class _Votes(NamedTuple):
    """The votes that were given, one after the other; equal numbers mean one rater, question or pair."""

    values: Floats
    rater: Indices
    question: Indices
    pair: Indices


def variance_components(votes: ArrayLike, questions: ArrayLike) -> VarianceComponents:
    """Estimate the variance components of a single vote by analysis of variance.

    votes: shape (n_pairs, n_raters), each -1, 0 or +1 (or any finite number), NaN for missing. questions: shape (n_pairs,),
    the question of each pair.

    Henderson's method 1 (Henderson 1953, Biometrics 9:226; Searle, Casella and McCulloch 1992, Variance Components, ch. 5):
    for each grouping f of the votes, T_f is the sum over its groups of (sum of votes)^2 / votes. Each T_f minus T of
    one group of all votes has an expectation that is linear in the five components, with known coefficients: five equations,
    solved for the components. For balanced data these are the usual estimates from mean squares. They are unbiased for
    any pattern of missing votes, as long as it does not depend on the votes. Negative estimates are set to 0 and listed in
    `set_to_zero`, after which the estimates are no longer unbiased.

    If two components cannot be separated, their sum counts as the one that further levels or votes reduce less: with one
    pair a question, the pair counts in the question and the residual in rater x question; with one vote a pair, rater x
    question counts in the question and the residual in the pair.

    Undefined for fewer than two raters or two questions. Misleads with few raters: from 5 raters, the rater's component has
    a relative standard error of at least 70 %. Votes have three values, so components depend on the mean: they shrink
    where nearly all votes are equal. Raises ValueError for other shapes and infinite votes.
    """
    given = _given(votes, questions)
    n_raters, n_questions, n_pairs = (
        int(np.unique(each).size) for each in (given.rater, given.question, given.pair)
    )
    values = given.values

    def undefined(reason: str) -> VarianceComponents:
        mean = float(values.mean()) if values.size else None
        return VarianceComponents(
            None,
            mean,
            None,
            n_raters,
            n_questions,
            n_pairs,
            values.size,
            {},
            {},
            METHOD_OF_COMPONENTS,
            reason,
        )

    if not values.size:
        return undefined(NO_VOTE)
    if n_raters < 2 or n_questions < 2:
        return undefined(ONE_RATER if n_raters < 2 else ONE_QUESTION)
    groups = _groups(given)
    merged = _merged(groups)
    separate = [name for name in COMPONENTS if name not in merged]
    everything = np.zeros(values.size, dtype=np.intp)
    overall = _sum_of_squares(values, everything)
    total = [_sum_of_squares(values, groups[name]) - overall for name in separate]
    expected = np.array(
        [
            [
                _coefficient(groups[of], groups[name]) - _coefficient(everything, groups[name])
                for name in separate
            ]
            for of in separate
        ]
    )
    if np.linalg.matrix_rank(expected) < len(separate):
        return undefined(NOT_SEPARABLE)
    solved = dict(zip(separate, np.linalg.solve(expected, total).tolist(), strict=True))
    rounding = _ROUNDING * max(1.0, float((values**2).mean()))
    found = {name: _clean(solved.get(name, 0.0), rounding) for name in COMPONENTS}
    kept = {name: max(0.0, value) for name, value in found.items()}
    of_mean = {name: kept[name] * _coefficient(everything, groups[name]) / values.size for name in COMPONENTS}
    return VarianceComponents(
        Components(**kept),
        float(values.mean()),
        Components(**of_mean),
        n_raters,
        n_questions,
        n_pairs,
        values.size,
        {name: value for name, value in found.items() if value < 0},
        merged,
        METHOD_OF_COMPONENTS,
        None,
    )


_ROUNDING = 1e-12
"""Relative to the mean square of a vote: a component this close to 0 is 0."""


def _clean(value: float, rounding: float) -> float:
    return 0.0 if abs(value) <= rounding else value


def _given(votes: ArrayLike, questions: ArrayLike) -> _Votes:
    table, labels = np.asarray(votes, dtype=np.float64), np.asarray(questions)
    if table.ndim != 2 or labels.shape != table.shape[:1]:
        raise ValueError(
            f"votes must have shape (n_pairs, n_raters) and questions (n_pairs,), got {table.shape} and {labels.shape}"
        )
    if np.isinf(table).any():
        raise ValueError("votes contain infinity; a missing vote is NaN")
    pair, rater = np.nonzero(~np.isnan(table))
    question = numbered(labels)[pair] if labels.size else pair
    return _Votes(table[pair, rater], rater, question, pair)


def _groups(given: _Votes) -> dict[str, Indices]:
    """Component -> the number of the group of each vote: votes of one group share the component's draw."""
    both = numbered(given.question * (int(given.rater.max()) + 1) + given.rater)
    return {
        "rater": numbered(given.rater),
        "question": numbered(given.question),
        "rater_question": both,
        "pair": numbered(given.pair),
        "residual": np.arange(given.values.size, dtype=np.intp),
    }


# Component -> those that may contain it, the one first that further levels or votes reduce least.
_CONTAINED: dict[str, tuple[str, ...]] = {
    "rater_question": ("rater", "question"),
    "pair": ("question",),
    "residual": ("rater_question", "pair"),
}


def _merged(groups: dict[str, Indices]) -> dict[str, str]:
    """Component with the same groups as a larger one -> that one. A finer grouping with as many groups is the same."""
    sizes = {name: int(own.max()) + 1 for name, own in groups.items()}
    found: dict[str, str] = {}
    for name, larger in _CONTAINED.items():
        for other in larger:
            if sizes[other] == sizes[name]:
                found[name] = found.get(other, other)
                break
    return found


def _sum_of_squares(values: Floats, group: Indices) -> float:
    return float((np.bincount(group, values) ** 2 / np.bincount(group)).sum())


def _coefficient(of: Indices, component: Indices) -> float:
    """Coefficient of a component's variance in the expected sum of squares of a grouping: sum of n_gh^2 / n_g."""
    sizes = np.bincount(of)
    cells = numbered(of * (int(component.max()) + 1) + component)
    shared = np.bincount(cells)
    first = np.zeros(shared.size, dtype=np.intp)
    first[cells] = of
    return float((shared.astype(np.float64) ** 2 / sizes[first]).sum())


FEWEST_RATERS = 5
"""With fewer raters there is no interval over raters: it would rest on at most three degrees of freedom."""
NOTHING_VARIES = "the votes do not vary between raters or questions"
OF_QUESTIONS = "fewer than two questions"

MrmcMethod = Literal["crossed", "dealt"]


@dataclass(frozen=True, slots=True)
class RaterMean:
    """Mean vote of one rater, with an interval over questions."""

    mean: float | None
    """In [-1, 1]; None without votes."""
    low: float | None
    high: float | None
    weight: float
    """Share of this rater in the mean of all raters."""
    n_pairs: int
    n_questions: int
    interval_reason: str | None
    """Why there is no interval."""


@dataclass(frozen=True, slots=True)
class Mrmc:
    """The mean vote over raters and questions, both a sample. `reason` explains a missing bound."""

    mean: float | None
    """Mean over pairs of a pair's mean vote, in [-1, 1]."""
    bound: float | None
    """One-sided lower bound over raters and questions, at `confidence_level`."""
    low: float | None
    """Two-sided interval over raters and questions, at `interval_level`."""
    high: float | None
    low_questions: float | None
    """Two-sided interval over questions, for these raters, at `interval_level`."""
    high_questions: float | None
    raters: tuple[RaterMean, ...]
    """One for each column of the votes."""
    ms_raters: float | None
    """Mean square between raters' means."""
    covariance: float | None
    """Mean covariance of two raters' means over questions, before it is set to at least 0."""
    variance: float | None
    """Variance of the mean over raters and questions."""
    df: float | None
    """Degrees of freedom of the t interval over raters and questions."""
    n_raters: int
    """Raters with a vote."""
    effective_raters: float | None
    """Number of equal raters with the same weight as these: 1 / sum of squared weights."""
    n_questions: int
    n_pairs: int
    n_votes: int
    method: MrmcMethod
    """Crossed: every rater voted on every pair. Dealt: not every one did."""
    confidence_level: float
    interval_level: float
    reason: str | None


def mrmc(
    votes: ArrayLike,
    questions: ArrayLike,
    *,
    confidence_level: float = 0.90,
    interval_level: float = 0.95,
) -> Mrmc:
    """Mean vote with intervals over raters and questions: multi-reader multi-case analysis with one condition.

    votes: shape (n_pairs, n_raters), each -1, 0 or +1, NaN for missing. questions: shape (n_pairs,), the question of each
    pair. confidence_level: one-sided, of `bound`. interval_level: two-sided, of the intervals.

    One-sample form of Obuchowski and Rockette (1995, Communications in Statistics B 24:285), with the degrees of freedom of
    Hillis (2007, Statistics in Medicine 26:596). theta_r is the mean vote of rater r, J the number of raters and
    theta the mean of theta_r. MS = sum (theta_r - theta)^2 / (J - 1). Cov is the mean covariance of two theta_r,
    from the jackknife that leaves out whole questions, times (n - 1) / n. Var(theta) = (MS + J max(Cov, 0)) / J and
    df = (MS + J max(Cov, 0))^2 / (MS^2 / (J - 1)).

    If not every rater voted on every pair, a vote weighs 1 / votes of its pair, so that theta stays the net preference. With
    the weight p_r of a rater, theta = sum p_r theta_r, MS = sum p_r^2 (theta_r - theta)^2 / sum p_r^2 (1 - 2 p_r + P) for
    P = sum p_r^2, Cov is weighted by p_r p_s, Var(theta) = P MS + max(Cov, 0), and J - 1 becomes P^2 / sum p_r^4 - 1. With
    equal weights this is the form above. Two raters covary only through questions that both have. The crossed
    bootstrap (Owen 2007, Annals of Applied Statistics 1:386) was simulated beside it: it is too wide where questions are
    dealt, and too narrow for crossed designs (docs/simulations/raters.md).

    No bound and no interval over raters, with a reason, for fewer than 5 (effective) raters, and if the votes are too few or
    too one-sided for any t interval (`non_inferiority.why_not_ordinary`). Misleads if raters are not a sample of those whom
    the conclusion is about: colleagues of one laboratory do not stand for clinicians at large. Raises ValueError for
    other shapes and infinite votes.
    """
    check_confidence_level(confidence_level)
    check_confidence_level(interval_level)
    given = _given(votes, questions)
    width = np.asarray(votes).shape[1]
    sums, weights, counts = _question_sums(given, width)
    n_raters, n_questions = int((weights.sum(axis=0) > 0).sum()), len(sums)
    n_pairs = int(np.unique(given.pair).size)
    jackknife = _jackknife(sums, weights)
    own = weights.sum(axis=0)
    shares = own / own.sum() if own.sum() else own
    means = ratio(sums.sum(axis=0), own)
    mean = float(sums.sum() / own.sum()) if own.sum() else None
    errors = np.sqrt(np.diag(jackknife))
    error = float(np.sqrt(shares @ jackknife @ shares))
    pairs_of, questions_of = counts.sum(axis=0), (counts > 0).sum(axis=0)
    raters = []
    for r in range(width):
        low, high, why = _question_interval(means[r], errors[r], int(questions_of[r]), interval_level)
        raters.append(
            RaterMean(
                None if own[r] == 0 else float(means[r]),
                low,
                high,
                float(shares[r]),
                int(pairs_of[r]),
                int(questions_of[r]),
                why,
            )
        )
    low_questions, high_questions, _ = _question_interval(
        np.nan if mean is None else mean, error, n_questions, interval_level
    )
    voted = own > 0
    variance = _variance_over_raters(means[voted], shares[voted], jackknife[np.ix_(voted, voted)])
    effective = float(1 / (shares**2).sum()) if n_raters else None
    reason = _why_no_bound(variance, n_raters, effective, sums, weights)
    bound = low = high = None
    if reason is None and variance is not None and mean is not None:
        bound = max(-1.0, mean - _reach(confidence_level, variance))
        both_sides = _reach((1 + interval_level) / 2, variance)
        low, high = max(-1.0, mean - both_sides), min(1.0, mean + both_sides)
    return Mrmc(
        mean=mean,
        bound=bound,
        low=low,
        high=high,
        low_questions=low_questions,
        high_questions=high_questions,
        raters=tuple(raters),
        ms_raters=None if variance is None else variance.ms_raters,
        covariance=None if variance is None else variance.covariance,
        variance=None if variance is None else variance.variance,
        df=None if variance is None else variance.df,
        n_raters=n_raters,
        effective_raters=effective,
        n_questions=n_questions,
        n_pairs=n_pairs,
        n_votes=given.values.size,
        method="crossed" if given.values.size == n_pairs * n_raters else "dealt",
        confidence_level=confidence_level,
        interval_level=interval_level,
        reason=reason,
    )


def _question_sums(given: _Votes, n_raters: int) -> tuple[Floats, Floats, Floats]:
    """Weighted sums of votes, sums of weights, and numbers of votes: each of shape (questions with a vote, n_raters)."""
    question = numbered(given.question)
    shape = (int(question.max()) + 1 if question.size else 0, n_raters)
    cells = question * n_raters + given.rater
    # Equal numbers of votes give weights of exactly 1.
    votes_of_pair = np.bincount(given.pair) if given.values.size else np.ones(1)
    each = votes_of_pair.max() / votes_of_pair[given.pair]

    def summed(of: Floats) -> Floats:
        found = np.bincount(cells, of, shape[0] * n_raters).reshape(shape)
        return np.asarray(found, dtype=np.float64)

    return summed(each * given.values), summed(each), summed(np.ones(given.values.size))


def _jackknife(sums: Floats, weights: Floats) -> Floats:
    """Covariance matrix of the raters' means when one question is left out at a time: (n - 1) / n times the sum of products.

    A rater with one question has no value without it, and adds nothing.
    """
    n = len(sums)
    without = ratio(sums.sum(axis=0) - sums, np.where(_alone(weights), 0.0, weights.sum(axis=0) - weights))
    without = np.where(np.isnan(without), ratio(sums.sum(axis=0), weights.sum(axis=0)), without)
    away = np.nan_to_num(without - without.mean(axis=0)) if n else without
    return np.asarray(away.T @ away * (n - 1) / max(n, 1), dtype=np.float64)


def _alone(weights: Floats) -> NDArray[np.bool_]:
    """Where a rater has no vote left without the question."""
    return np.asarray((weights > 0).sum(axis=0) - (weights > 0) == 0, dtype=bool)


def _question_interval(
    mean: float, error: float, n_questions: int, level: float
) -> tuple[float | None, float | None, str | None]:
    if math.isnan(mean):
        return None, None, NO_VOTE
    if n_questions < 2:
        return None, None, OF_QUESTIONS
    if error <= _ROUNDING:
        return None, None, "the votes do not vary between questions"
    reach = _student((1 + level) / 2, n_questions - 1) * error
    return float(max(-1.0, mean - reach)), float(min(1.0, mean + reach)), None


class _OverRaters(NamedTuple):
    ms_raters: float
    covariance: float
    variance: float
    df: float


def _variance_over_raters(means: Floats, shares: Floats, jackknife: Floats) -> _OverRaters | None:
    """Variance of the mean over raters and questions; None for fewer than two raters."""
    if means.size < 2:
        return None
    squared = float((shares**2).sum())
    spread = float((shares**2 * (means - shares @ means) ** 2).sum())
    ms = spread / float((shares**2 * (1 - 2 * shares + squared)).sum())
    products = np.outer(shares, shares) * jackknife
    covariance = float((products.sum() - np.trace(products)) / (1 - squared))
    of_raters = squared * ms
    variance = of_raters + max(covariance, 0.0)
    freedom = squared**2 / float((shares**4).sum()) - 1
    df = (variance / of_raters) ** 2 * freedom if of_raters > _ROUNDING**2 else math.inf
    return _OverRaters(ms, covariance, variance, df)


def _why_no_bound(
    variance: _OverRaters | None, n_raters: int, effective: float | None, sums: Floats, weights: Floats
) -> str | None:
    if effective is None or variance is None:
        return f"fewer than {FEWEST_RATERS} raters: {n_raters}"
    if n_raters < FEWEST_RATERS:
        return f"fewer than {FEWEST_RATERS} raters: {n_raters}"
    if round(effective) < FEWEST_RATERS:
        return f"votes are shared so unequally that the {n_raters} raters count like {effective:.1f}"
    if variance.variance <= _ROUNDING**2:
        return NOTHING_VARIES
    return why_not_ordinary(sums.sum(axis=1) / weights.sum(axis=1))


def _reach(level: float, found: _OverRaters) -> float:
    return _student(level, found.df) * math.sqrt(found.variance)


def _student(level: float, df: float) -> float:
    from scipy.special import ndtri, stdtrit  # imported lazily: every command imports this module

    return float(ndtri(level) if math.isinf(df) else stdtrit(df, level))
