"""Plan a study: how many questions, raters and votes reach a wanted power or half-width, and which texts tell most."""

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, ndtr, ndtri, stdtrit

from core.stats.non_inferiority import FEWEST_QUESTIONS, MOST_QUESTIONS, NO_MARGIN
from core.stats.raters import COMPONENTS, FEWEST_RATERS, Components
from core.stats.resampling import Floats, check_confidence_level, unit_clusters
from core.stats.votes import clustering, composite_shares

_ROUNDING = 1e-12

Alternative = Literal["two-sided", "larger"]

_LARGEST_N = 10_000_000


@dataclass(frozen=True)
class Power:
    """Power at the observed mean, and sample sizes in pairs.

    Only the fields named `clustered`, and the numbers of questions, account for the similarity of pairs of one question.
    """

    value: float | None
    """Probability of rejecting "mean <= -margin" if the true mean and sd were the observed ones."""
    alpha: float
    alternative: Alternative
    """Sides of the test; Factual reports "two-sided"."""
    n_for_80: int | None
    """Pairs for 80 % power at the observed mean."""
    n_for_90: int | None
    """Pairs for 90 % power at the observed mean."""
    n_for_80_if_equal: int | None
    """Pairs for 80 % power if the systems are equally good (true mean 0), assuming independent pairs."""
    n_for_90_if_equal: int | None
    """Pairs for 90 % power if the systems are equally good, assuming independent pairs."""
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
    """Correlation between two pairs of one question (`votes.clustering`)."""
    pairs_per_question: float | None = None
    """Mean number of pairs of a question."""
    design_effect: float | None = None
    """1 + (m - 1) max(rho, 0), the factor on the number of pairs."""
    n_for_80_if_equal_clustered: int | None = None
    """Pairs for 80 % power if the systems are equally good, times the design effect: use this number for planning."""
    n_for_90_if_equal_clustered: int | None = None
    """Pairs for 90 % power if the systems are equally good, times the design effect."""
    questions_for_80_if_equal: int | None = None
    """Questions needed for the pairs of `n_for_80_if_equal_clustered`, at this study's pairs per question."""
    questions_for_90_if_equal: int | None = None
    """Questions needed for 90 % power."""
    clustered_reason: str | None = None
    """Reason why rho or a number that depends on it is missing."""


def power_non_inferiority(
    scores: ArrayLike,
    *,
    margin: float | None,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    clusters: ArrayLike | None = None,
) -> Power:
    """Power of a t test of the mean score against -margin, at the observed mean and spread.

    `scores` has shape (n,); NaN are left out and counted. margin > 0, on the scale of the scores. clusters: shape (n,),
    the question of each pair; without it there is no design effect. Degenerate cases: with fewer than two scores or no
    spread, everything is None, as without a margin. With an observed mean at or below -margin, whatever depends on the mean is None, because
    there is no non-inferiority to detect.

    Misleads in two ways. Power at the observed mean is a function of the p-value and adds nothing to it (Hoenig
    and Heisey 2001, The American Statistician 55:19): for planning, use the numbers for equally good systems. And pairs
    of one question are not independent: use the numbers times the design effect, which are themselves uncertain if the
    study has few questions.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"scores must have shape (n,), got {values.shape}")
    if np.isinf(values).any():
        raise ValueError("scores contain infinity")
    if margin is not None and not margin > 0:
        raise ValueError(f"margin must be positive, got {margin!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
    if alternative not in ("two-sided", "larger"):
        raise ValueError(f'alternative must be "two-sided" or "larger", got {alternative!r}')
    known = values[~np.isnan(values)]
    spread = float(known.std(ddof=1)) if known.size >= 2 else 0.0
    effect = (float(known.mean()) + margin) / spread if margin is not None and spread > 0 else None
    equal = margin / spread if margin is not None and spread > 0 else None
    seen = effect if effect is not None and effect > _ROUNDING else None
    reason = None
    if known.size < 2:
        reason = "fewer than two scores: the spread is unknown"
    elif margin is None:
        reason = NO_MARGIN
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
    """The sample sizes for equally good systems with the study's design effect."""
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
"""Share of votes that are assumed to choose one of the two answers; the others call both good or both bad."""


def pairs_needed(effect: float, power: float, *, alpha: float, alternative: Alternative) -> int | None:
    """The smallest n >= 2 whose power reaches `power` at a positive effect size; None beyond ten million."""
    return _smallest(lambda n: _power(effect, n, alpha, alternative) >= power, 2, _LARGEST_N)


def _power(effect: float, n: int, alpha: float, alternative: Alternative) -> float:
    from statsmodels.stats.power import TTestPower  # imported lazily: takes a second

    power = float(TTestPower().power(effect_size=effect, nobs=n, alpha=alpha, alternative=alternative))
    if math.isnan(power) and alternative == "two-sided":
        # SciPy has no chance of the far tail at large effects, where it is below rounding.
        return _power(abs(effect), n, alpha / 2, "larger")
    return power


def _smallest(reaches: Callable[[int], bool], fewest: int, most: int) -> int | None:
    """The smallest number from `fewest` to `most` that reaches what a larger one reaches too; None if `most` does not.

    Found by doubling and bisection. A root finder would stop with a warning for effects so large that `fewest` suffices.
    """
    enough, too_few = fewest, fewest - 1
    while not reaches(enough):
        if enough == most:
            return None
        enough, too_few = min(2 * enough, most), enough
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if reaches(middle):
            enough = middle
        else:
            too_few = middle
    return enough


Scope = Literal["these raters", "raters as a sample"]
"""What a statement is about: the raters who take part, or raters like them."""
THESE: Scope = "these raters"
SAMPLED: Scope = "raters as a sample"
SCOPES: tuple[Scope, ...] = (THESE, SAMPLED)

USUAL_RATERS = (2, 3, 5, 8, 12, 20)
"""Numbers of raters that `plans` compares."""
MOST_RATERS = 200
"""Largest number of raters to look for."""
UNDECIDED_CHANCE = 0.05
"""Plans are left out if the ordinary bound over questions fails to apply more often, because no question is lost or won."""

NOT_ABOVE = "the true mean is not above -margin, so there is nothing to show"
FEW_QUESTIONS = f"fewer than {FEWEST_QUESTIONS} questions: the bound does not apply"
NONE_LOST_OR_WON = "so few questions would be lost or won that the bound may not apply"
FEW_RATERS = f"fewer than {FEWEST_RATERS} raters: no statement about other raters"
OUT_OF_REACH = "more than 10,000 questions needed"
RATER_FLOOR = "out of reach with any number of questions: too few raters"


def stated_components(
    *,
    decided: float = DECIDED,
    question_correlation: float = 0.3,
    agreement: float = 0.4,
    own_view: float = 0.05,
    rater_sd: float = 0.1,
    mean: float = 0.0,
) -> Components:
    """Variance components of a vote, from numbers that an owner can judge before a study.

    decided: share of votes that choose a side, in (0, 1]. question_correlation: correlation of two raters' votes on two
    levels of a question, from 0. agreement: correlation of two raters' votes on one pair, at least question_correlation.
    own_view: correlation that two votes of one rater on a question have in addition, beyond the rater's general tendency.
    rater_sd: standard deviation of raters' mean votes (each over very many questions). mean: true mean vote.

    A vote has the variance decided - mean^2. The question gets the share question_correlation of it, the pair agreement -
    question_correlation, rater x question own_view, the rater rater_sd^2, and the residual what is left.

    The defaults are assumptions, not estimates: a pilot's components are better. Raises ValueError, with the
    parameter, for numbers outside these ranges or if the parts are more than the whole.
    """
    if not 0 < decided <= 1:
        raise ValueError(f"decided must be above 0 and at most 1, got {decided!r}")
    if not abs(mean) <= decided:
        raise ValueError(f"mean must be between -decided and decided ({decided:g}), got {mean!r}")
    parts = {
        "question_correlation": question_correlation,
        "agreement": agreement,
        "own_view": own_view,
        "rater_sd": rater_sd,
    }
    for name, value in parts.items():
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    if agreement < question_correlation:
        raise ValueError(
            f"agreement must be at least question_correlation ({question_correlation:g}), got {agreement!r}"
        )
    total = decided - mean**2
    residual = total * (1 - agreement - own_view) - rater_sd**2
    if residual < -_ROUNDING:
        raise ValueError(
            f"rater_sd, agreement and own_view leave a variance of {residual:.3g} for chance: lower one of them, because a vote varies by {total:.3g} in all"
        )
    return Components(
        rater=rater_sd**2,
        question=total * question_correlation,
        rater_question=total * own_view,
        pair=total * (agreement - question_correlation),
        residual=max(residual, 0.0),
    )


def check_components(components: Components, mean: float = 0.0) -> None:
    """Raise ValueError unless votes of -1, 0 and +1 with this mean can have these variance components."""
    for name, value in zip(COMPONENTS, astuple(components), strict=True):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    decided = sum(astuple(components)) + mean**2
    if not abs(mean) - _ROUNDING <= decided <= 1 + _ROUNDING or decided == 0:
        raise ValueError(
            f"mean must fit the components: together they imply that a share of {decided:.3g} of votes chooses a side, which "
            f"must be above 0, at least {abs(mean):g} for this mean, and at most 1"
        )


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a study. Every question has the same number of pairs, and every pair the same number of votes."""

    questions: int
    raters: int
    votes: int
    """Votes a pair. With fewer than all raters, whole questions are dealt, equally many to each rater."""
    levels: int = 1
    """Pairs of a question in the main analysis."""

    def __post_init__(self) -> None:
        for name in ("questions", "raters", "votes", "levels"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        if self.votes > self.raters:
            raise ValueError(f"votes must be at most the number of raters ({self.raters}), got {self.votes}")

    @property
    def total_votes(self) -> int:
        """Votes of all raters together, without hidden repeats."""
        return self.questions * self.votes * self.levels


def variance_of_mean(components: Components, size: Size, scope: Scope = SAMPLED) -> float:
    """Variance of the mean vote of a study of this size.

    rater/J + question/n + rater_question/(n k) + pair/(n L) + residual/(n L k), for J raters, n questions, k votes a pair and
    L levels; without the rater's part for these raters (Generalizability theory: Brennan 2001, sec. 4.1; with raters as
    readers: Hillis 2007, Statistics in Medicine 26:596). With one vote a pair (k = 1), no raters and no pairs, it is the usual
    variance times the design effect 1 + (L - 1) rho, rho = question / (question + residual).
    """
    own = _question_mean(components, size, 0.0, False).variance / size.questions
    return own if scope == THESE else own + components.rater / size.raters


def covariance_of_votes(shared: float, low: float, high: float) -> float:
    """Covariance of two votes, in [0, 1], whose latent normal values correlate at `shared`, in [0, 1].

    A vote is -1 below `low`, +1 above `high`, else 0, on the scale of a standard normal value. By conditioning on the shared
    part (Pearson 1900; the polychoric model). At shared = 1 this is the variance of a vote.
    """
    at = ndtri((np.arange(_CELLS) + 0.5) / _CELLS)
    if shared >= 1:
        votes = np.where(at > high, 1.0, np.where(at < low, -1.0, 0.0))
    else:
        own, common = math.sqrt(1 - shared), math.sqrt(shared) * at
        votes = ndtr((common - high) / own) - ndtr((low - common) / own)
    return float((votes**2).mean() - votes.mean() ** 2)


_CELLS = 4_000


@dataclass(frozen=True, slots=True)
class _QuestionMean:
    """The mean score of a question: what the bound over questions is made of."""

    mean: float
    variance: float
    """Around the mean of these raters."""
    seen: float
    """Variance of questions' means as the bound sees it.

    Where questions are dealt to some of the raters, questions differ by their raters too, although the mean of all does not:
    every rater gets equally many. The bound is then a little too low.
    """
    step: float
    """Distance of neighbouring values of a question's mean."""
    lost: float
    """Chance that it is below 0."""
    won: float


def _question_mean(components: Components, size: Size, mean: float, composite: bool) -> _QuestionMean:
    """Of mean votes, or of composite scores."""
    return _mean_of_question(components, size.raters, size.votes, size.levels, mean, composite)


@lru_cache(maxsize=256)
def _mean_of_question(
    components: Components, raters: int, k: int, levels: int, mean: float, composite: bool
) -> _QuestionMean:
    """For composite scores, votes are thought of as classes of a normal latent value, as in `votes.composite_shares`."""
    dealt = components.rater * (1 / k - 1 / raters)
    decided = sum(astuple(components)) + mean**2
    if not composite or k == 1:
        of_one = components.pair + components.residual / k
        variance = components.question + components.rater_question / k + of_one / levels
        step = 1 / (k * levels)
        lost, won = (decided - mean) / 2, (decided + mean) / 2
        if k * levels > 1:
            lost, won = _half_step_chances(mean, variance + dealt, step)
        return _QuestionMean(mean, variance, variance + dealt, step, lost, won)
    latent = latent_components(components, mean)
    agreement = min(latent.question + latent.pair, _MOST_SHARED)
    lost, won = composite_shares(mean, k, decided=min(decided, 1.0), agreement=agreement)
    score, low, high = won - lost, float(ndtri(lost)), float(-ndtri(won))
    one = lost + won - score**2
    of_question = latent.question + latent.rater_question / k
    of_pair = latent.pair + latent.residual / k
    of_raters = latent.rater * (1 / k - 1 / raters)

    def of_scores(shared: float) -> float:
        """Variance of a question's mean score if this part of the latent variance of a pair's votes is the question's."""
        other = covariance_of_votes(shared / (shared + of_pair), low, high) if levels > 1 and shared else 0.0
        return (one + (levels - 1) * other) / levels

    variance, seen = of_scores(of_question), of_scores(of_question + of_raters)
    if levels > 1:
        lost, won = _half_step_chances(score, seen, 1 / levels)
    return _QuestionMean(score, variance, seen, 1 / levels, lost, won)


def latent_components(components: Components, mean: float) -> Components:
    """Shares of a latent normal variance of 1 whose three classes have these components as votes, as far as that is possible.

    Votes that share a rater, a question, both or a pair have covariances that are sums of components. Each is converted to
    the correlation of latent values with that covariance (`covariance_of_votes`). What would be negative is 0.
    """
    decided = min(sum(astuple(components)) + mean**2, 1.0)
    low, high = float(ndtri((decided - mean) / 2)), float(-ndtri((decided + mean) / 2))

    def shared(covariance: float) -> float:
        lowest, highest = 0.0, _MOST_SHARED
        for _ in range(20 if covariance > 0 else 0):
            middle = (lowest + highest) / 2
            if covariance_of_votes(middle, low, high) < covariance:
                lowest = middle
            else:
                highest = middle
        return lowest

    rater, question = shared(components.rater), shared(components.question)
    both = shared(components.rater + components.question + components.rater_question)
    pair = shared(components.question + components.pair) - question
    interaction = max(both - rater - question, 0.0)
    return Components(rater, question, interaction, pair, max(1 - rater - question - interaction - pair, 0.0))


_MOST_SHARED = 0.999
"""Largest latent correlation to look for: at 1, votes have no part of their own."""


def _half_step_chances(mean: float, variance: float, step: float) -> tuple[float, float]:
    """Chance that a normal value is more than half a step below 0, and above it."""
    spread = math.sqrt(variance)
    if spread == 0:
        return float(mean < 0), float(mean > 0)
    return float(ndtr((-step / 2 - mean) / spread)), float(ndtr((mean - step / 2) / spread))


def half_width(
    components: Components,
    size: Size,
    *,
    mean: float = 0.0,
    confidence_level: float = 0.90,
    scope: Scope = THESE,
    composite: bool = False,
) -> float:
    """Expected distance of the mean score from its one-sided lower bound, on the scale of a score (0 to 1).

    It is also half the width of the two-sided interval at 2 x confidence_level - 1: 80 % for 0.90. These raters: normal
    quantile times the standard error over questions. Raters as a sample: t with Hillis' degrees of freedom. Raises
    ValueError for one question, whose mean shows no error.
    """
    check_confidence_level(confidence_level)
    if size.questions < 2:
        raise ValueError("a half-width needs at least 2 questions")
    if scope == THESE:
        seen = _question_mean(components, size, mean, composite).seen / size.questions
        return float(ndtri(confidence_level) * math.sqrt(seen * (1 - 1 / size.questions)))
    if size.raters < 2:
        raise ValueError("a statement about raters as a sample needs at least 2 raters")
    of_raters, shared, *_ = _rater_terms(components, size)
    if of_raters + shared == 0:
        return 0.0
    df = (size.raters - 1) * ((of_raters + shared) / of_raters) ** 2 if of_raters > 0 else math.inf
    t = stdtrit(min(df, _LARGEST_N), confidence_level)
    return float(t * math.sqrt((of_raters + shared) / size.raters))


class _OverRaters(NamedTuple):
    """Parts of the variance of the mean over raters and questions, as `raters.mrmc` estimates it."""

    ms_raters: float
    """Expected mean square between raters' means."""
    shared: float
    """J times the expected covariance of two raters' means."""
    of_questions: float
    """Expected mean square between questions, in the same unit; less `of_rest`, it is `shared`."""
    of_rest: float
    """Expected mean square of rater x question, in the same unit."""


def _rater_terms(components: Components, size: Size) -> _OverRaters:
    """For n k / J questions a rater, of which n k (k - 1) / (J (J - 1)) are shared with any other rater."""
    n, n_raters, k = size.questions, size.raters, size.votes
    question = components.question + components.pair / size.levels
    rest = components.rater_question + components.residual / size.levels
    each, together = n * k / n_raters, n * k * (k - 1) / (n_raters * (n_raters - 1))
    unit = n_raters**2 * (k - 1) / (k**2 * n * (n_raters - 1))
    covariance = question * together / each**2
    return _OverRaters(
        components.rater + (question + rest) / each - covariance,
        n_raters * covariance,
        unit * (rest + k * question),
        unit * rest,
    )


def power_of(
    components: Components,
    size: Size,
    *,
    margin: float,
    mean: float = 0.0,
    confidence_level: float = 0.90,
    scope: Scope = THESE,
    composite: bool = False,
    least: bool = False,
) -> float:
    """Probability that the lower bound of the mean score is above -margin.

    components: of a single vote. mean: true mean vote, of these raters or of all raters like them. margin: > 0, on the scale of
    the score. confidence_level: one-sided. composite: whether a pair's score is the sign of the sum of its votes, not
    their mean; only the statement about these raters uses it. Returns a number in [0, 1]; at a mean of -margin, the type I
    error. least: whether the margin lies at the worst place between two steps of the mean score, so that the power never falls
    with the number of questions.

    These raters: percentile bootstrap over questions, whose bound is mean - z x s / sqrt(n) with the standard deviation s
    (divisor n) of the questions' means, with a continuity correction for the steps of the mean. Raters as a sample: t
    bound with variance (MS + J max(Cov, 0)) / J and Hillis' degrees of freedom (`raters.mrmc`). Means are taken as normal. The standard errors vary from study to study: mean squares follow chi-squared
    distributions (Searle, Casella and McCulloch 1992, Variance Components, sec. 4.5), over which the power is averaged.

    Misleads if components come from a small pilot, and if fewer than 15 questions are planned or hardly any will be lost or
    won (`why_no_power`).
    """
    check_confidence_level(confidence_level)
    if not margin > 0:
        raise ValueError(f"margin must be positive, got {margin!r}")
    check_components(components, mean)
    if scope == SAMPLED:
        return _power_sampled(components, size, mean + margin, confidence_level)
    question = _question_mean(components, size, mean, composite)
    step = question.step / size.questions
    steps = -margin / step if least else math.floor(-margin / step + _ROUNDING)
    return _power_these(question, size.questions, (steps + 0.5) * step, confidence_level)


_NODES = 512


@cache
def _spread_out(dimension: int) -> Floats:
    """Points that fill the unit cube evenly, shape (_NODES, dimension): multiples of powers of 1/g, where g^(d+1) = g + 1.

    Roberts' sequence (2018), a generalised golden ratio; deterministic, so that plans repeat.
    """
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (dimension + 1))
    steps = np.arange(1, _NODES + 1)[:, None] / ratio ** np.arange(1, dimension + 1)
    return np.asarray((0.5 + steps) % 1)


def _mean_square(expected: float, df: int, at: Floats) -> Floats:
    """Quantiles of a mean square with this expectation: expected x chi-squared / df."""
    return np.asarray(expected * gammaincinv(df / 2, at) * 2 / df)


def _power_these(question: _QuestionMean, n: int, threshold: float, confidence_level: float) -> float:
    """Chance that the bound over n questions is above the threshold."""
    over, true = question.mean - threshold, question.variance / n
    if n < 2 or true == 0:
        return float(over > 0 and n >= 2)
    squares = _mean_square(question.seen, n - 1, _spread_out(1)[:, 0])
    reach = ndtri(confidence_level) * np.sqrt(squares * (1 - 1 / n) / n)
    return float(ndtr((over - reach) / math.sqrt(true)).mean())


def _power_sampled(components: Components, size: Size, over: float, confidence_level: float) -> float:
    """Chance that the bound over raters and questions is above -margin, for a true mean that is `over` above it.

    In the table of questions and raters, MS = MSR / n and J Cov = (MSQ - MSRQ) / n; where questions are dealt, the
    same with other factors and n (k - 1) - (J - 1) degrees of freedom of MSRQ.
    """
    n, n_raters = size.questions, size.raters
    if n < 2 or n_raters < 2:
        return 0.0
    true = variance_of_mean(components, size)
    if true == 0:
        return float(over > 0)
    expected, at = _rater_terms(components, size), _spread_out(3)
    of_raters = _mean_square(expected.ms_raters, n_raters - 1, at[:, 0])
    of_questions = _mean_square(expected.of_questions, n - 1, at[:, 1])
    of_rest = _mean_square(expected.of_rest, max(n * (size.votes - 1) - (n_raters - 1), 1), at[:, 2])
    shared = np.maximum(of_questions - of_rest, 0)
    df = np.minimum((n_raters - 1) * ((of_raters + shared) / of_raters) ** 2, _LARGEST_N)
    reach = stdtrit(df, confidence_level) * np.sqrt((of_raters + shared) / n_raters)
    return float(ndtr((over - reach) / math.sqrt(true)).mean())


def largest_power(
    components: Components, n_raters: int, *, margin: float, mean: float = 0.0, confidence_level: float = 0.90
) -> float:
    """Power over raters as a sample that no number of questions exceeds, because these many raters vary by chance.

    With infinitely many questions, the mean has the variance rater / J and the bound n_raters - 1 degrees of freedom.
    """
    over, true = mean + margin, components.rater / n_raters
    if true == 0:
        return float(over > 0)
    squares = _mean_square(true, n_raters - 1, _spread_out(1)[:, 0])
    return float(
        ndtr((over - stdtrit(n_raters - 1, confidence_level) * np.sqrt(squares)) / math.sqrt(true)).mean()
    )


def smallest_half_width(components: Components, n_raters: int, *, confidence_level: float) -> float:
    """Half-width over raters as a sample that no number of questions undercuts."""
    return float(stdtrit(n_raters - 1, confidence_level) * math.sqrt(components.rater / n_raters))


def why_no_power(
    components: Components,
    size: Size,
    *,
    margin: float,
    mean: float = 0.0,
    confidence_level: float = 0.90,
    scope: Scope = THESE,
    composite: bool = False,
) -> str | None:
    """Why `power_of` does not describe the verdict of a study of this size; None if it does.

    Both bounds apply from 15 questions, if some are lost and enough are won. A question is lost if its mean
    is below 0. The chance is taken from the normal distribution, half a step below 0, and is exact for one
    vote a question. If none is lost, Gaffke's bound over questions passes too from ln(1 - level) / ln(1 / (1 + margin)) questions on
    (25 at 0.90 and 0.1).
    """
    if scope == SAMPLED and size.raters < FEWEST_RATERS:
        return FEW_RATERS
    question = _question_mean(components, size, mean, composite and scope == THESE)
    if not question.mean > -margin:
        return NOT_ABOVE
    if size.questions < FEWEST_QUESTIONS:
        return FEW_QUESTIONS
    passes_unlost = scope == THESE and size.questions >= math.log(1 - confidence_level) / -math.log1p(margin)
    failing = (1 - question.won) ** size.questions
    failing += 0 if passes_unlost else (1 - question.lost) ** size.questions
    return NONE_LOST_OR_WON if failing > UNDECIDED_CHANCE else None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a study of some size reaches, or why no size does."""

    scope: Scope
    raters: int
    votes: int
    """Votes a pair."""
    levels: int
    questions: int | None
    """None if no number of questions reaches what was asked for."""
    total_votes: int | None
    """Votes of all raters together, without hidden repeats."""
    power: float | None
    half_width: float | None
    reason: str | None
    """Why something is missing."""


def plans(
    components: Components,
    *,
    margin: float | None,
    mean: float = 0.0,
    confidence_level: float = 0.90,
    power: float | None = None,
    half_width: float | None = None,
    questions: int | None = None,
    raters: tuple[int, ...] = USUAL_RATERS,
    votes: int | None = None,
    levels: int = 1,
    composite: bool = False,
) -> tuple[Plan, ...]:
    """For each scope and number of raters, the fewest questions that reach a power or a half-width.

    margin: None: none is declared, so there is no power. power: wanted, in (0, 1). half_width: wanted, > 0. Both: both are reached. questions: a fixed number instead. votes: votes a
    pair (default: all raters); numbers of raters below it are left out. levels: pairs of a question in the main analysis.
    composite: as in `power_of`.

    Fewer questions than 15, or so few that none may be lost or won, are not offered (`why_no_power`). Raises ValueError
    for invalid numbers, and if neither power, half-width nor questions are given.
    """
    if power is half_width is questions is None:
        raise ValueError("give a wanted power, a wanted half-width, or a number of questions")
    if power is not None and not 0 < power < 1:
        raise ValueError(f"power must be between 0 and 1, got {power!r}")
    if half_width is not None and not half_width > 0:
        raise ValueError(f"half_width must be positive, got {half_width!r}")
    if margin is None:
        if power is not None:
            raise ValueError("power must be left out without a margin: plan for a half-width")
    elif not margin > 0:
        raise ValueError(f"margin must be positive, got {margin!r}")
    check_confidence_level(confidence_level)
    check_components(components, mean)
    wanted = _Wanted(components, margin, mean, confidence_level, power, half_width, composite)
    panels = [n for n in raters if votes is None or n >= votes]
    if not panels:
        raise ValueError(f"votes must be at most the number of raters ({max(raters)}), got {votes}")
    return tuple(
        _planned(wanted, scope, Size(questions or FEWEST_QUESTIONS, n, votes or n, levels), questions)
        for scope in SCOPES
        for n in panels
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    components: Components
    margin: float | None
    mean: float
    confidence_level: float
    power: float | None
    half_width: float | None
    composite: bool = False

    @property
    def _test(self) -> dict[str, Any]:
        return {"margin": self.margin, "mean": self.mean, "confidence_level": self.confidence_level}

    def power_at(self, size: Size, scope: Scope, *, least: bool = False) -> float:
        return power_of(
            self.components, size, scope=scope, composite=self.composite, least=least, **self._test
        )

    def why_not(self, size: Size, scope: Scope) -> str | None:
        """Why there is no power at this size; None where none is asked for, because there is no margin."""
        if self.margin is None:
            return None
        return why_no_power(self.components, size, scope=scope, composite=self.composite, **self._test)

    def width_at(self, size: Size, scope: Scope) -> float:
        return half_width(
            self.components,
            size,
            mean=self.mean,
            confidence_level=self.confidence_level,
            scope=scope,
            composite=self.composite,
        )

    def reached(self, size: Size, scope: Scope) -> bool:
        """Whether a study of this size, and every larger one, has the wanted power and half-width."""
        if self.half_width is not None and self.width_at(size, scope) > self.half_width:
            return False
        if self.power is None:
            return True
        if self.why_not(size, scope) is not None:
            return False
        return self.power_at(size, scope, least=True) >= self.power

    def floor(self, n_raters: int) -> bool:
        """Whether raters alone keep a bound over raters as a sample from what is wanted."""
        level = self.confidence_level
        if self.half_width is not None:
            narrowest = smallest_half_width(self.components, n_raters, confidence_level=level)
            if narrowest >= self.half_width:
                return True
        return self.power is not None and largest_power(self.components, n_raters, **self._test) <= self.power


def _planned(wanted: _Wanted, scope: Scope, size: Size, questions: int | None) -> Plan:
    reason = FEW_RATERS if scope == SAMPLED and size.raters < FEWEST_RATERS else None
    if reason is None and questions is None:
        if (
            wanted.power is not None
            and wanted.why_not(replace(size, questions=MOST_QUESTIONS), scope) == NOT_ABOVE
        ):
            reason = NOT_ABOVE
        elif scope == SAMPLED and wanted.floor(size.raters):
            reason = RATER_FLOOR
    if reason is None and questions is None:
        questions = _smallest(
            lambda n: wanted.reached(replace(size, questions=n), scope), FEWEST_QUESTIONS, MOST_QUESTIONS
        )
        reason = OUT_OF_REACH if questions is None else None
    if reason is not None or questions is None:
        return Plan(scope, size.raters, size.votes, size.levels, None, None, None, None, reason)
    size = replace(size, questions=questions)
    reason = wanted.why_not(size, scope)
    return Plan(
        scope,
        size.raters,
        size.votes,
        size.levels,
        questions,
        size.total_votes,
        None if reason or wanted.margin is None else wanted.power_at(size, scope),
        None if questions < 2 else wanted.width_at(size, scope),
        reason,
    )


def raters_needed(
    components: Components,
    *,
    margin: float | None,
    mean: float = 0.0,
    confidence_level: float = 0.90,
    power: float | None = None,
    half_width: float | None = None,
) -> int | None:
    """The fewest raters with which some number of questions reaches what is wanted, over raters as a sample.

    At least 5; None if 200 are not enough.
    """
    wanted = _Wanted(components, margin, mean, confidence_level, power, half_width)
    return _smallest(lambda n: not wanted.floor(n), FEWEST_RATERS, MOST_RATERS)


LEAST_CHANCE = 0.25
"""Least chance to be drawn, as a share of the chance in a simple random sample: no drawn text counts more than 4 times as much."""


def sampling_probabilities(uncertainty: ArrayLike, n: int, *, least: float = LEAST_CHANCE) -> Floats:
    """Inclusion probabilities for a sample of n that is to estimate a mean: proportional to expected deviations from it.

    uncertainty: shape (N,), at least 0: the standard deviation expected of each unit's value; NaN: unknown, taken as the mean.
    n: sample size, 0 to N. least: share of a simple random sample's probability that every unit keeps, in (0, 1]; 1 gives a
    simple random sample. Returns shape (N,), in [least x n/N, 1] and in sum n.

    The variance of the weighted mean is least for probabilities proportional to the deviation (Neyman 1934, Journal of the
    Royal Statistical Society 97:558, for strata; Särndal, Swensson and Wretman 1992, sec. 3.6.1 and 12.2). A part `least` of
    the sample is drawn with equal chances, so that no weight exceeds 1/least (a defensive mixture: Hesterberg 1995,
    Technometrics 37:185). Where the proportion exceeds 1, the unit is drawn for certain, and the others share the rest.

    By hand: uncertainty .1, .1, .2, .4, n = 2, least 0.2: means of 1 give .5, .5, 1, 2; mixed .6, .6, 1, 1.8; times 2/4:
    .3, .3, .5, .9.

    Misleads if the uncertainty says nothing about the deviations: the mean stays unbiased, but varies more than that of a
    simple random sample.
    """
    given = np.asarray(uncertainty, dtype=np.float64)
    if given.ndim != 1:
        raise ValueError(f"uncertainty must have shape (N,), got {given.shape}")
    if (given < 0).any() or np.isinf(given).any():
        raise ValueError("uncertainty must be at least 0 and finite")
    if not 0 <= n <= given.size:
        raise ValueError(f"n must be between 0 and the number of units ({given.size}), got {n!r}")
    if not 0 < least <= 1:
        raise ValueError(f"least must be above 0 and at most 1, got {least!r}")
    known = given[~np.isnan(given)]
    mean = float(known.mean()) if known.size else 0.0
    relative = np.where(np.isnan(given), 1.0, given / mean) if mean > 0 else np.ones(given.size)
    size = least + (1 - least) * relative
    certain = np.zeros(given.size, dtype=bool)
    while True:
        rest = ~certain
        share = (n - certain.sum()) / size[rest].sum() if rest.any() else 0.0
        over = rest & (size * share > 1 - _ROUNDING)
        if not over.any():
            return np.where(certain, 1.0, size * share)
        certain |= over


def draw(probabilities: ArrayLike, rng: int | np.random.Generator | None = None) -> NDArray[np.int64]:
    """Draw a sample of fixed size in which every unit has exactly its probability; returns the units, ascending.

    probabilities: shape (N,), in [0, 1], in sum a whole number, the size of the sample. Systematic sampling in random order
    (Madow 1949, Annals of Mathematical Statistics 20:333; Goodman and Kish 1950, Journal of the American Statistical Association
    45:350): the units, shuffled, lie on a line with their probability as length, and one random start marks every whole
    step. First-order probabilities are exact for every order, so also on average. Joint probabilities are near those of
    independent draws, which the standard errors of weighted means need.
    """
    lengths = np.asarray(probabilities, dtype=np.float64)
    if lengths.ndim != 1 or ((lengths < 0) | (lengths > 1 + _ROUNDING)).any() or np.isnan(lengths).any():
        raise ValueError("probabilities must have shape (N,) and lie in [0, 1]")
    total = float(lengths.sum())
    n = round(total)
    if abs(total - n) > 1e-6:
        raise ValueError(f"the sum of probabilities must be a whole number, got {total:g}")
    generator = np.random.default_rng(rng)
    order = generator.permutation(lengths.size)
    if n == 0:
        return np.empty(0, dtype=np.int64)
    ends = np.cumsum(lengths[order])
    ends *= n / ends[-1]
    marks = generator.uniform() + np.arange(n)
    places = np.minimum(np.searchsorted(ends, marks, side="right"), lengths.size - 1)
    return np.sort(order[places]).astype(np.int64)


def weights_of(probabilities: ArrayLike) -> Floats:
    """What each label counts: the inverse of its probability of inclusion, scaled to a mean of 1; 1 without a probability.

    probabilities: shape (n,), in (0, 1]; NaN for labels that were not drawn with a probability, which count as drawn at
    random. Labels of both kinds then count by their numbers.

    A mean with these weights, sum(w y) / sum(w), is the mean of all texts that could have been drawn, whatever decided about
    the probabilities (Hajek's estimate: Särndal, Swensson and Wretman 1992, sec. 5.7). `resampling.mean_share` and
    `agresti_min_mean` take the weights.

    Misleads with few labels of a rare kind, of which none may have been drawn.
    """
    chances = np.asarray(probabilities, dtype=np.float64)
    known = ~np.isnan(chances)
    if ((chances[known] <= 0) | (chances[known] > 1)).any():
        raise ValueError("probabilities must be above 0 and at most 1")
    weights = np.ones(chances.shape)
    if known.any():
        inverse = chances[known].min() / chances[known]  # relative to the largest, so that none overflows
        weights[known] = inverse / inverse.mean()
    return weights


def narrowing(uncertainty: ArrayLike, probabilities: ArrayLike) -> float | None:
    """Expected half-width of a weighted mean, as a share of that of a simple random sample of the same size.

    uncertainty: shape (N,), standard deviations of the units around the mean, as for `sampling_probabilities`, NaN
    as there. probabilities: shape (N,), in sum n. Square root of (sum(u^2 / p) / N) / (sum(u^2) / n): below 1 is
    narrower, and never above sqrt(1 / least). None without uncertainty.

    Misleads as far as the uncertainty does: it is a plan, not a result.
    """
    given = np.asarray(uncertainty, dtype=np.float64)
    chances = np.asarray(probabilities, dtype=np.float64)
    known = given[~np.isnan(given)]
    if not known.size or not (known > 0).any() or not chances.sum() > 0:
        return None
    u = np.where(np.isnan(given), known.mean(), given)
    n = float(chances.sum())
    return math.sqrt(float((u**2 / chances).sum()) * n / (u.size * float((u**2).sum())))
