"""Votes as arrays: checks, counts, and statistics of sides, ties, repeats, questions and panel size."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import (
    Estimate,
    Floats,
    agresti_min_mean,
    cluster_sums,
    sign_flip_p,
    wilson_share,
)

Codes = NDArray[np.int64]

MISSING: Final = -1
CANDIDATE: Final = 0
BOTH_GOOD: Final = 1
BOTH_BAD: Final = 2
COMPARATOR: Final = 3
N_CHOICES: Final = 4


def check_votes(votes: ArrayLike, n_categories: int = N_CHOICES) -> Codes:
    """Convert votes to int64 of shape (n_units, n_raters). Raises ValueError naming the first invalid vote."""
    if n_categories < 2:
        raise ValueError(f"n_categories must be at least 2, got {n_categories}")
    array = np.asarray(votes)
    if array.ndim != 2:
        raise ValueError(f"votes must have shape (n_units, n_raters), got {array.shape}")
    if array.size == 0:
        return np.empty(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"votes must be integer codes with {MISSING} for missing, got dtype {array.dtype}")
    wrong = (array < MISSING) | (array >= n_categories)
    if wrong.any():
        unit, rater = np.argwhere(wrong)[0]
        raise ValueError(
            f"vote of unit {unit} by rater {rater} is {array[unit, rater]}; "
            f"codes run from 0 to {n_categories - 1}, {MISSING} is missing"
        )
    return array.astype(np.int64)


def category_counts(votes: Codes, n_categories: int) -> NDArray[np.float64]:
    """Number of raters who chose each category for each unit: shape (n_units, n_categories)."""
    chosen = votes[:, :, None] == np.arange(n_categories)
    return np.asarray(chosen.sum(axis=1), dtype=np.float64)


def contingency(a: ArrayLike, b: ArrayLike, n_categories: int = N_CHOICES) -> Codes:
    """Cross table of two raters: rows are the first rater's categories, columns the second's.

    `a` and `b` have shape (n_units,). Units that either rater left out are not counted, so the table sums to
    the number of shared units. Returns shape (n_categories, n_categories).
    """
    first, second = np.asarray(a), np.asarray(b)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"a and b must have one and the same shape (n_units,), got {first.shape} and {second.shape}"
        )
    votes = check_votes(np.column_stack([first, second]), n_categories)
    shared = votes[(votes != MISSING).all(axis=1)]
    cells = np.bincount(shared[:, 0] * n_categories + shared[:, 1], minlength=n_categories**2)
    return cells.reshape(n_categories, n_categories).astype(np.int64)


def merge_ties(codes: Codes) -> Codes:
    """Codes of three answers: candidate, a tie of any kind, comparator; -1 for missing."""
    return np.select([codes == MISSING, codes == CANDIDATE, codes == COMPARATOR], [MISSING, 0, 2], 1).astype(
        np.int64
    )


def preferences(votes: ArrayLike) -> Floats:
    """Votes (n_units, n_raters) of the four choices as +1 candidate, -1 comparator, 0 tie, NaN missing."""
    codes = check_votes(votes)
    signs = np.where(codes == CANDIDATE, 1.0, np.where(codes == COMPARATOR, -1.0, 0.0))
    return np.where(codes == MISSING, np.nan, signs)


def composite_scores(preferences: ArrayLike) -> Floats:
    """Sign of the sum of a unit's preferences: shape (n_units,), values -1, 0, +1, NaN without votes.

    `preferences` has shape (n_units, n_raters) with values +1, -1, 0, and NaN for missing. A higher score favours the
    candidate. Misleads in two ways: "both bad" scores 0 like "both good", so a mean near 0 does not show that
    either system is good; and the sign ignores how many raters agreed.
    """
    signs = np.asarray(preferences, dtype=np.float64)
    if signs.ndim != 2:
        raise ValueError(f"preferences must have shape (n_units, n_raters), got {signs.shape}")
    missing = np.isnan(signs)
    if not np.isin(signs[~missing], (-1.0, 0.0, 1.0)).all():
        raise ValueError("preferences must be -1, 0 or +1, or NaN for missing")
    nobody = missing.all(axis=1)
    return np.where(nobody, np.nan, np.sign(np.nansum(signs, axis=1)))


def net_preferences(preferences: ArrayLike) -> Floats:
    """Mean of a unit's preferences: shape (n_units,), values in [-1, 1], NaN without votes.

    `preferences` as in `composite_scores`. Above 0 favours the candidate. The mean is closer to 0 than the composite score,
    and does not depend on the number of raters.
    """
    signs = np.asarray(preferences, dtype=np.float64)
    known = ~np.isnan(signs)
    given = known.sum(axis=1)
    return np.where(given == 0, np.nan, np.nansum(signs, axis=1) / np.maximum(given, 1))


@dataclass(frozen=True)
class Consistency:
    """Share of hidden repeats answered with the same preference, with a Wilson interval."""

    n: int
    """Repeated pairs answered both times."""
    n_same: int
    """Repeats with the same preference (after decoding: sides may have been swapped)."""
    share: float | None
    low: float | None
    high: float | None
    confidence_level: float
    reason: str | None


def consistency(n_same: int, n: int, *, confidence_level: float = 0.95) -> Consistency:
    """Share of hidden repeats with the same preference, in [0, 1], higher is more consistent.

    Interval: as in `wilson_share`; close to its level on average, even near 0 and 1. n = 0: undefined.

    Misleads if one answer is popular: a rater who always chooses "both good" is perfectly consistent. Also misleads
    if the repeat comes so soon that the rater remembers the pair.
    """
    if not 0 <= n_same <= n:
        raise ValueError(f"n_same must be between 0 and n, got {n_same} of {n}")
    same = wilson_share(n_same, n, confidence_level=confidence_level, reason="no pair was answered twice")
    return Consistency(
        same.n, same.count, same.share, same.low, same.high, same.confidence_level, same.reason
    )


NO_SIDE = "no choice of a side"


@dataclass(frozen=True)
class PositionBias:
    """Share of choices of a side that were left, with interval and test against one half."""

    n: int
    """Choices of a side (left + right), without "both good" and "both bad"."""
    left: int
    right: int
    share_left: float | None
    low: float | None
    """Lower end of the 95 % Clopper-Pearson interval of the share."""
    high: float | None
    p: float | None
    """Two-sided exact binomial p-value of a share of one half."""
    reason: str | None


def position_bias(left: int, right: int) -> PositionBias:
    """Test whether a rater chose the left answer more or less often than the right one.

    left, right: choices of sides as displayed, before decoding. Interval: Clopper and Pearson (1934, Biometrika 26:404),
    never below its level, wide for small n. p: exact, the sum over all outcomes no likelier than the observed one. No
    choice of a side: undefined.

    Misleads if sides were not balanced over systems (a preference for a system then looks like one for a side), if a small
    p comes from testing many raters, and if few choices make a large p likely whatever the bias.
    """
    if left < 0 or right < 0:
        raise ValueError(f"counts must not be negative, got left {left} and right {right}")
    n = left + right
    if n == 0:
        return PositionBias(0, 0, 0, None, None, None, None, NO_SIDE)
    from scipy.stats import binomtest  # imported lazily: loads slowly, and a rating desk needs only votes

    test = binomtest(left, n, 0.5)
    interval = test.proportion_ci(confidence_level=0.95, method="exact")
    return PositionBias(
        n=n,
        left=left,
        right=right,
        share_left=left / n,
        low=float(interval.low),
        high=float(interval.high),
        p=float(test.pvalue),
        reason=None,
    )


@dataclass(frozen=True)
class FirstPlace:
    """Position bias of a judge that reads pairs in both orders, or several times: verdicts of one pair belong together."""

    first: int
    """Verdicts for the answer that was read first."""
    second: int
    share_first: Estimate
    """Share of first among verdicts for an answer; each pair counts once. Interval over items."""
    n_first: int
    """Pairs with more verdicts for the first place than for the second."""
    n_second: int
    p: float | None
    """Two-sided p-value: of the pairs that lean to a place, one half leans to the first. Over items, see `first_place`."""
    reason: str | None
    """Why p is undefined."""


NO_LEANING = "no pair leans to a place"


def leanings(first: ArrayLike, second: ArrayLike) -> Floats:
    """How far each pair leans to the first place, from -1 to 1: (first - second) / (first + second); NaN without a decision.

    first, second: as in `first_place`. Raises ValueError for unequal shapes and negative counts.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(
            f"first and second must have one shape (n_pairs,), got {one.shape} and {other.shape}"
        )
    if (one < 0).any() or (other < 0).any():
        raise ValueError("counts must not be negative")
    n = one + other
    return np.where(n > 0, (one - other) / np.maximum(n, 1), np.nan)


def first_place(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None = None, *, confidence_level: float = 0.95
) -> FirstPlace:
    """Test whether a judge prefers the answer that it reads first more or less often than the second one.

    first, second: for each pair, its verdicts for the answer in that place, shape (n_pairs,); ties do not count. clusters:
    the item of each pair. Where a pair is read in one order once, the share and p are those of `position_bias`. Where it
    is read in both, a judge that keeps its verdict adds one to each place whatever the place: such pairs carry no
    information, and the exact test uses the others (McNemar 1947, Psychometrika 12:153, in its binomial form). Counting
    verdicts one by one would miss a bias that moves few pairs, and would count repeats of one request as independent.
    Pairs of one item lean alike: where an item has several that lean, whole items change sides (`resampling.sign_flip_p`),
    which with one pair an item is the binomial test.

    Interval of the share: `resampling.agresti_min_mean` of (first - second) / (first + second), mapped to [0, 1]. In
    simulations of 12 to 100 items with 1 to 6 pairs each, the 95 % interval covered 94 to 98 %.

    Misleads if orders are not balanced over systems (then a preference for a system looks like one for a place), and if a
    small p comes from testing many levels.
    """
    every = leanings(first, second)
    decided = ~np.isnan(every)
    leaning = every[decided]
    items = np.arange(every.size) if clusters is None else np.asarray(clusters)
    share = agresti_min_mean(
        leaning,
        items[decided],
        largest=_largest_of(leaning, items[decided]),
        confidence_level=confidence_level,
    )
    n_first, n_second = int((leaning > 0).sum()), int((leaning < 0).sum())
    tested = position_bias(n_first, n_second)
    alone = np.unique(items[decided][leaning != 0]).size == tested.n
    p = tested.p if alone else sign_flip_p(np.sign(leaning), items[decided])
    return FirstPlace(
        int(np.sum(first)),
        int(np.sum(second)),
        replace(
            difference_as_share(share),
            reason=NO_SIDE if share.estimate is None else None,
            n_left_out=int((~decided).sum()),
        ),
        n_first,
        n_second,
        p,
        None if tested.n else NO_SIDE if not decided.any() else NO_LEANING,
    )


_FURTHER = 1.5  # with it the interval covers 94 to 98 % where few pairs flip; with 1, 90 to 96 %


def _largest_of(leaning: Floats, items: NDArray[np.generic]) -> float:
    """How far an item may lean: somewhat further than one does, or than one of its pairs would make it."""
    if not leaning.size:
        return 1.0
    sums = cluster_sums(np.column_stack([leaning, np.ones(leaning.size)]), items)
    furthest = max(float(np.abs(sums[:, 0] / sums[:, 1]).max()), len(sums) / leaning.size)
    return min(1.0, _FURTHER * furthest)


def difference_as_share(difference: Estimate) -> Estimate:
    """A mean of differences from -1 to 1, such as wins minus losses, as a share from 0 to 1 in which a tie counts half."""
    ends = (difference.estimate, difference.low, difference.high)
    estimate, low, high = (None if end is None else (1 + end) / 2 for end in ends)
    return replace(difference, estimate=estimate, low=low, high=high)


@dataclass(frozen=True)
class Ties:
    """Shares of pairs, each in [0, 1] and each over the same n pairs. They overlap and do not sum to 1."""

    n: int
    """Pairs with enough votes."""
    n_left_out: int
    """Pairs with too few votes."""
    paper_rule: float | None
    """At least one "both good" and no "both bad" (Factual's "ties"; other votes may prefer a system)."""
    both_tied: float | None
    """Every vote is "both good" or "both bad"."""
    composite_zero: float | None
    """The composite score is 0: all votes are ties, or preferences cancel out."""
    opposed: float | None
    """Raters disagreed on the winner: some preferred the candidate, others the comparator."""
    reason: str | None


def ties(votes: ArrayLike, *, min_votes: int = 2) -> Ties:
    """Count ties in votes of shape (n_units, n_raters), codes as above, -1 for missing.

    Only pairs with at least `min_votes` votes count; their missing votes are ignored. Without such pairs: undefined.
    `paper_rule` misleads: a pair can be a tie although one of two raters preferred a system, and the share grows
    with the number of raters. On Factual's own votes it gives 82.5 %, although both raters tied on only 42.5 %.
    """
    if min_votes < 1:
        raise ValueError(f"min_votes must be at least 1, got {min_votes}")
    codes = check_votes(votes)
    enough = (codes != MISSING).sum(axis=1) >= min_votes
    used = codes[enough]
    n, n_left_out = len(used), int((~enough).sum())
    if n == 0:
        reason = f"no pair has {min_votes} or more votes"
        return Ties(0, n_left_out, None, None, None, None, reason)

    def somebody(*choices: int) -> NDArray[np.bool_]:
        return np.asarray(np.isin(used, choices).any(axis=1))

    return Ties(
        n=n,
        n_left_out=n_left_out,
        paper_rule=float((somebody(BOTH_GOOD) & ~somebody(BOTH_BAD)).mean()),
        both_tied=float((~somebody(CANDIDATE, COMPARATOR)).mean()),
        composite_zero=float((composite_scores(preferences(used)) == 0).mean()),
        opposed=float((somebody(CANDIDATE) & somebody(COMPARATOR)).mean()),
        reason=None,
    )


@dataclass(frozen=True)
class Clustering:
    """Correlation of scores within questions, and the resulting factor on sample sizes."""

    rho: float | None
    """Correlation of two pairs of one question, at most 1; negative if they differ more than pairs of two questions."""
    pairs_per_question: float | None
    """Mean number of pairs of a question."""
    design_effect: float | None
    """Factor on the number of pairs, at least 1."""
    reason: str | None


def clustering(scores: ArrayLike, clusters: ArrayLike) -> Clustering:
    """Estimate rho and the design effect 1 + (m - 1) max(rho, 0).

    scores: shape (n,), without NaN. clusters: shape (n,), the question of each pair. rho = (MSB - MSW) /
    (MSB + (m0 - 1) MSW), with the mean squares between and within questions and m0 = (n - sum m_q^2 / n) / (k - 1) for k
    questions of m_q pairs. m in the design effect is sum m_q^2 / n, the size of an average pair's question: equal to
    `pairs_per_question` if questions have equally many pairs, and larger otherwise.

    With one pair for every question, rho is undefined and the design effect is 1. Both are undefined
    for fewer than two questions and without spread. Misleads with few questions, because rho is then very uncertain: with
    10 questions of 4 pairs its standard error is about 0.2.
    """
    values = np.asarray(scores, dtype=np.float64)
    sums = cluster_sums(np.column_stack([values, np.ones(values.size), values**2]), clusters)
    k, n = len(sums), values.size
    if k < 2:
        return Clustering(None, n / k if k else None, None, "fewer than two questions")
    sizes = sums[:, 1]
    mean_size = n / k
    if n == k:
        return Clustering(None, mean_size, 1.0, "every question has only one pair")
    between = float((sums[:, 0] ** 2 / sizes).sum() - values.sum() ** 2 / n) / (k - 1)
    within = float((sums[:, 2] - sums[:, 0] ** 2 / sizes).sum()) / (n - k)
    typical = (n - float((sizes**2).sum()) / n) / (k - 1)
    spread = between + (typical - 1) * within
    if np.ptp(values) == 0 or not spread > 0:
        return Clustering(None, mean_size, None, "all scores are equal")
    rho = (between - within) / spread
    return Clustering(rho, mean_size, 1 + (float((sizes**2).sum()) / n - 1) * max(rho, 0.0), None)


_NODES = 2_000  # values of the shared component; exact to about 1e-4


def composite_of_mean_vote(
    mean_vote: float, n_raters: int, *, decided: float = 0.6, agreement: float = 0.3
) -> float:
    """Expected composite score of a pair when each rater's expected vote is `mean_vote`. In [-1, 1].

    mean_vote: in [-1, 1], the share of votes for the candidate minus the share for the comparator. n_raters: at least 1.
    decided: share of votes that prefer a side, between abs(mean_vote) and 1; the rest are ties. agreement: latent
    correlation of two raters' votes on one pair, in [0, 1); 0: independent votes.

    Example: -0.11 becomes -0.14 with 2 raters, -0.16 with 3 and -0.20 with 9. The defaults are assumptions, not estimates.
    Misleads if raters agree far more than assumed (the composite is then close to the mean vote) or use ties
    differently. Raises ValueError outside these ranges.
    """
    lost, won = composite_shares(mean_vote, n_raters, decided=decided, agreement=agreement)
    return won - lost


def composite_shares(
    mean_vote: float, n_raters: int, *, decided: float = 0.6, agreement: float = 0.3
) -> tuple[float, float]:
    """Expected shares of pairs with a composite score of -1 and of +1. Parameters as in `composite_of_mean_vote`."""
    if not abs(mean_vote) <= decided <= 1:
        raise ValueError(f"decided must lie between abs(mean_vote) and 1, got {decided!r} for {mean_vote!r}")
    if n_raters < 1:
        raise ValueError(f"n_raters must be at least 1, got {n_raters}")
    if not 0 <= agreement < 1:
        raise ValueError(f"agreement must lie in [0, 1), got {agreement!r}")
    loss, win = (decided - mean_vote) / 2, (decided + mean_vote) / 2
    from scipy.special import (
        ndtr,
        ndtri,
    )  # not scipy.stats: it takes half a second to load, and help texts call this

    shared = ndtri((np.arange(_NODES) + 0.5) / _NODES)
    own = np.sqrt(1 - agreement)
    losses = ndtr((ndtri(loss) - np.sqrt(agreement) * shared) / own)
    wins = ndtr((ndtri(win) + np.sqrt(agreement) * shared) / own)
    sums = np.zeros((2 * n_raters + 1, _NODES))  # probability of each sum of votes, -n_raters first
    sums[n_raters] = 1
    for _ in range(n_raters):
        sums = (
            np.roll(sums, -1, axis=0) * losses + sums * (1 - losses - wins) + np.roll(sums, 1, axis=0) * wins
        )
    return float(sums[:n_raters].sum(axis=0).mean()), float(sums[n_raters + 1 :].sum(axis=0).mean())
