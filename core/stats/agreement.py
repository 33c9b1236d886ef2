"""Agreement among raters on categories (ordered or not), and of an evaluator with their majority or with single raters.

Also of judges on the answers to each other's questions. Each measure has a bootstrap interval over clusters; measures of
unordered categories also have a jackknife interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import ceil
from typing import Final, Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import (
    AgreementEstimate,
    Estimate,
    Floats,
    Resampling,
    Statistic,
    add_jackknife,
    cluster_bootstrap,
    cluster_sums,
    mean_estimates,
    mean_of_sums,
    ratio,
    ratio_estimates,
    sign_flip_p,
    unit_clusters,
)
from core.stats.votes import MISSING, N_CHOICES, Codes, category_counts, check_votes

NO_PAIRS = "no text was rated by two raters"
ALL_ALIKE = "all ratings are equal, so disagreement was impossible"


def ordinal_alpha(
    votes: ArrayLike, *, clusters: ArrayLike | None = None, n_categories: int, **drawing: Unpack[Resampling]
) -> AgreementEstimate:
    """Krippendorff's alpha of ordered categories 0 .. n_categories - 1, -1 for missing. At most 1.

    votes: shape (n_units, n_raters). 1 - Do / De, where the distance of two categories is the squared difference of
    their mid-ranks among all paired ratings: categories with many ratings are further apart. Units with one rating
    are left out. Undefined if all paired ratings are in one category. Misleads like kappa if one category is
    popular, and if raters differ only by a shift: alpha compares ratings, not their order.
    """
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    ratings = counts.sum(axis=1)
    used = ratings >= 2
    # Ordered pairs of a unit's ratings by their two categories, each with weight 1 / (m - 1).
    pairs = counts[used, :, None] * counts[used, None, :]
    pairs[:, range(n_categories), range(n_categories)] -= counts[used]
    per_unit = (pairs / (ratings[used] - 1)[:, None, None]).reshape(int(used.sum()), n_categories**2)

    def alpha(sums: Floats) -> Floats:
        observed = sums.reshape(*sums.shape[:-1], n_categories, n_categories)
        each = observed.sum(axis=-1)
        total = each.sum(axis=-1)
        middle = each.cumsum(axis=-1) - each / 2
        squared = (middle[..., :, None] - middle[..., None, :]) ** 2
        by_chance = (each[..., :, None] * each[..., None, :] * squared).sum(axis=(-2, -1))
        return 1 - ratio((total - 1) * (observed * squared).sum(axis=(-2, -1)), by_chance)

    reason = ALL_ALIKE if used.any() else NO_PAIRS
    return _estimate_both_intervals(per_unit, used, clusters, alpha, (-1, 1), reason, **drawing)


def interval_alpha(
    ratings: ArrayLike, *, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]
) -> AgreementEstimate:
    """Krippendorff's alpha of numbers, NaN for missing: squared differences. At most 1.

    ratings: shape (n_units, n_raters). Units with one rating are left out. Undefined if all paired ratings are equal.
    Misleads if raters use the scale differently: a rater who is stricter by a constant lowers alpha, although the order
    of the texts is the same. A few outliers can dominate it.
    """
    values, used = _numbers(ratings)
    centred = _centred(values[used])
    own = (~np.isnan(values[used])).sum(axis=1).astype(np.float64)
    total, squares = centred.sum(axis=1), (centred**2).sum(axis=1)
    within = (own * squares - total**2) / (own - 1)
    per_unit = np.column_stack([within, own, total, squares])

    def alpha(sums: Floats) -> Floats:
        apart, n, first, second = (sums[..., k] for k in range(4))
        by_chance = n * second - first**2
        # For equal ratings, the remainder is only rounding.
        by_chance = np.where(by_chance <= 1e-12 * n * n, 0.0, by_chance)
        return 1 - ratio((n - 1) * apart, by_chance)

    reason = ALL_ALIKE if used.any() else NO_PAIRS
    return _estimate_both_intervals(per_unit, used, clusters, alpha, (-1, 1), reason, **drawing)


def intraclass_correlation(
    ratings: ArrayLike, *, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]
) -> AgreementEstimate:
    """Intraclass correlation of single ratings: two-way random effects, absolute agreement. At most 1.

    ratings: shape (n_units, n_raters), NaN for missing. ICC(2,1) of Shrout and Fleiss (1979, Psychological Bulletin 86:420),
    ICC(A,1) of McGraw and Wong (1996, Psychological Methods 1:30): (R - E) / (R + (k - 1) E + k (C - E) / n), with the mean squares
    R of n units, C of k raters and E of the rest. Only units that all raters rated count, so that the mean squares are those of a
    complete table; the others are in `n_left_out`. Undefined without two such units, and if all their ratings are equal.

    Misleads where few units are complete: leave out raters with few ratings, or use `interval_alpha`, which needs two ratings a
    unit. It rises with the spread of the units, so that values of two sets of texts do not compare. Raters count as a sample.
    """
    values, _ = _numbers(ratings)
    used = np.asarray(~np.isnan(values).any(axis=1) & (values.shape[1] > 1), dtype=np.bool_)
    k, centred = values.shape[1], _centred(values[used])
    total = centred.sum(axis=1)
    per_unit = np.column_stack([np.ones(total.size), total**2, (centred**2).sum(axis=1), centred])

    def icc(sums: Floats) -> Floats:
        n, of_units, squares, columns = sums[..., 0], sums[..., 1] / k, sums[..., 2], sums[..., 3:]
        whole = ratio(columns.sum(axis=-1) ** 2, n * k)
        of_raters = ratio((columns**2).sum(axis=-1), n)
        unit = ratio(of_units - whole, n - 1)
        rater = (of_raters - whole) / (k - 1)
        rest = ratio(squares - of_units - of_raters + whole, (n - 1) * (k - 1))
        return ratio(unit - rest, _positive(unit + (k - 1) * rest + ratio(k * (rater - rest), n)))

    reason = _NOT_COMPLETE if used.sum() < 2 else ALL_ALIKE
    return _estimate_both_intervals(per_unit, used, clusters, icc, (-1, 1), reason, **drawing)


_NOT_COMPLETE = "fewer than two texts were rated by all raters"


@dataclass(frozen=True)
class Severity:
    """How one rater's ratings differ from the other raters' of the same texts."""

    difference: Estimate
    """Mean of own rating minus mean of the others: below 0 the rater is harsher. Jackknife interval over clusters."""
    mean: float | None
    """Mean of own ratings on texts that another rater rated, too."""
    mean_of_others: float | None
    """Mean over the same texts of the others' mean."""
    p: float | None
    """Two-sided, of no difference (`sign_flip_p`)."""


def severities(
    ratings: ArrayLike, *, clusters: ArrayLike | None = None, confidence_level: float = 0.95, rng: int = 0
) -> tuple[Severity, ...]:
    """Compare each rater with the mean of the other raters, text by text.

    ratings: shape (n_units, n_raters), numbers with an order, NaN for missing. A text counts for a rater if another rater
    rated it, too. The interval is estimate +- t jackknife errors over clusters; p flips the signs of whole clusters.

    Misleads where raters rated different texts: each is compared with other people. Of two raters, one difference is the
    other's with the opposite sign: nothing tells which of them is right.
    """
    values, _ = _numbers(ratings)
    labels = unit_clusters(clusters, len(values))
    known = ~np.isnan(values)
    found = []
    for at in range(values.shape[1]):
        others = np.delete(known, at, axis=1).sum(axis=1)
        used = known[:, at] & (others > 0)
        own = values[used, at]
        theirs = np.nansum(np.delete(values[used], at, axis=1), axis=1) / others[used]
        per_unit = np.column_stack([own - theirs, np.ones(own.size)])
        estimate = _estimate_both_intervals(
            per_unit,
            used,
            labels,
            mean_of_sums,
            (-np.inf, np.inf),
            _SHARES_NO_TEXT,
            n_resamples=0,
            confidence_level=confidence_level,
        )
        found.append(
            Severity(
                estimate.by_jackknife,
                float(own.mean()) if own.size else None,
                float(theirs.mean()) if own.size else None,
                sign_flip_p(own - theirs, labels[used], rng=rng),
            )
        )
    return tuple(found)


_SHARES_NO_TEXT = "the rater shares no text with another rater"


def _numbers(ratings: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """Ratings by unit and rater, and which units have two. Raises ValueError for another shape, and for infinity."""
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"ratings must have shape (n_units, n_raters), got {values.shape}")
    if np.isinf(values).any():
        raise ValueError("ratings contain infinity; every rating must be a finite number, or NaN for missing")
    return values, np.asarray((~np.isnan(values)).sum(axis=1) >= 2, dtype=np.bool_)


def _centred(values: Floats) -> Floats:
    """The numbers shifted and scaled to at most 1 from their mean, for precision; NaN becomes 0, as do equal numbers."""
    known = values[~np.isnan(values)]
    middle = float(known.mean()) if known.size else 0.0
    widest = float(np.abs(known - middle).max(initial=0.0)) or 1.0
    if known.size and np.ptp(known) == 0:
        return np.zeros_like(values)
    return np.asarray(np.nan_to_num((values - middle) / widest), dtype=np.float64)


def _positive(values: Floats) -> Floats:
    """The values, with 0 for what is only a remainder of rounding."""
    return np.asarray(np.where(values <= 1e-12, 0.0, values), dtype=np.float64)


def _estimate(
    per_unit: Floats,
    used: NDArray[np.bool_],
    clusters: ArrayLike | None,
    statistic: Statistic,
    reason: str | None,
    **drawing: Unpack[Resampling],
) -> Estimate:
    """The statistic over the units used. per_unit: their rows; reason: why it would be undefined on them."""
    labels = unit_clusters(clusters, used.size)[used]
    found = cluster_bootstrap(per_unit, labels, statistic, **drawing)
    return replace(found, reason=reason if found.estimate is None else None, n_left_out=int((~used).sum()))


def _estimate_both_intervals(
    per_unit: Floats,
    used: NDArray[np.bool_],
    clusters: ArrayLike | None,
    statistic: Statistic,
    scale: tuple[float, float],
    reason: str,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """`_estimate` with both intervals. scale: range of the statistic."""
    found = _estimate(per_unit, used, clusters, statistic, reason, **drawing)
    sums = cluster_sums(per_unit, unit_clusters(clusters, used.size)[used])
    return add_jackknife(found, sums, statistic, scale)


BOTH_ONE_CATEGORY = "both raters used the same category for every pair, so chance agreement is 1"
ONE_CATEGORY = "all ratings are in the same category, so chance agreement is 1"
NO_DISAGREEMENT = "all ratings are in the same category, so disagreement was impossible"
_ONE_RATER = "fewer than two raters"
_NO_SHARED_PAIR = "no pair was rated by two raters"


def raw_agreement(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """Share of agreeing pairs of raters, per unit, averaged over units with at least two ratings. In [0, 1].

    For two raters, the share of shared units with the same vote. A unit counts once, whatever its number of raters.
    Misleads if one category is popular: two raters who choose "both good" at random 90 % of the time agree on
    over 80 %.
    """
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    used = counts.sum(axis=1) >= 2
    per_unit = np.column_stack([_pair_agreement(counts[used]), np.ones(used.sum())])
    return _estimate_both_intervals(
        per_unit, used, clusters, mean_of_sums, (0, 1), _no_pairs(codes), **drawing
    )


def cohen_kappa(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """Cohen's kappa of exactly two raters over the units that both rated. In [-1, 1].

    (po - pe) / (1 - pe), po the share of equal votes, pe = sum over categories of the product of the two raters' own
    shares (Cohen 1960, Educational and Psychological Measurement 20:37). Undefined if both raters always used the same
    category (pe = 1). If only one of them always used one category, it is exactly 0 in every resample, and the interval
    of width 0 carries no information. Misleads if one category is popular: kappa can be 0 at 85 % raw
    agreement.
    """
    codes = _two_columns(check_votes(votes, n_categories))
    used = (codes != MISSING).all(axis=1)
    per_unit = _pair_rows(codes[used], n_categories)
    reason = BOTH_ONE_CATEGORY if used.any() else _no_pairs(codes)

    def kappa(sums: Floats) -> Floats:
        return _kappa_of(sums, n_categories)

    return _estimate_both_intervals(per_unit, used, clusters, kappa, (-1, 1), reason, **drawing)


def gwet_ac1(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """Gwet's AC1 of two or more raters, missing votes allowed. In [-1 / (n_categories - 1), 1].

    (pa - pe) / (1 - pe), pe = 1 / (q - 1) * sum over categories of pi (1 - pi) (Gwet 2008, British Journal of
    Mathematical and Statistical Psychology 61:29; missing votes as in his Handbook of Inter-Rater Reliability, 2014).
    pa is the mean pairwise agreement over units with at least two ratings (counted in `n`); pi is the mean share of
    a category over all units with at least one rating. q is `n_categories`, the number of available categories, used or
    not: leaving out unused ones raises pe and changes the result. pe is at most 1 / q, so AC1 is defined as soon as
    two raters share a unit, even if they used a single category (then 1). Misleads in the opposite
    direction to kappa: it assumes that chance agreement is rare if one category is popular.
    """
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    rated = counts.sum(axis=1) >= 1
    paired = counts.sum(axis=1)[rated] >= 2
    shares = counts[rated] / counts[rated].sum(axis=1, keepdims=True)
    per_unit = np.column_stack([_pair_agreement(counts[rated]), paired, np.ones(rated.sum()), shares])

    def ac1(sums: Floats) -> Floats:
        observed = ratio(sums[..., 0], sums[..., 1])
        share = ratio(sums[..., 3:], sums[..., 2, None])
        chance = (share * (1 - share)).sum(axis=-1) / (n_categories - 1)
        return ratio(observed - chance, 1 - chance)

    found = _estimate_both_intervals(
        per_unit, rated, clusters, ac1, (-1 / (n_categories - 1), 1), _no_pairs(codes), **drawing
    )
    n_paired = int(paired.sum())
    return replace(found, n=n_paired, n_left_out=len(codes) - n_paired)


def fleiss_kappa(
    votes: ArrayLike,
    *,
    n_ratings: int | None = None,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """Fleiss' kappa of units that each have the same number m of ratings. In [-1 / (m - 1), 1].

    (P - Pe) / (1 - Pe), P the mean pairwise agreement, Pe = sum over categories of the squared overall share
    (Fleiss 1971, Psychological Bulletin 76:378). The raters of one unit need not be those of another. m is
    `n_ratings`, by default the largest number of any unit; units with another number are counted in
    `n_left_out`. Undefined if all ratings are in one category. For two raters it is Scott's pi, not Cohen's
    kappa. Misleads like kappa if one category is popular.
    """
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    m = int(counts.sum(axis=1).max(initial=0)) if n_ratings is None else n_ratings
    if n_ratings is not None and n_ratings < 2:
        raise ValueError(f"n_ratings must be at least 2, got {n_ratings}")
    used = (counts.sum(axis=1) == m) & (m >= 2)
    per_unit = np.column_stack([_pair_agreement(counts[used]), np.ones(used.sum()), counts[used]])
    reason = _no_pairs(codes)
    if used.any():
        reason = ONE_CATEGORY
    elif n_ratings is not None:
        reason = f"no pair has exactly {n_ratings} ratings"

    def kappa(sums: Floats) -> Floats:
        agreed = ratio(sums[..., 0], sums[..., 1])
        total = sums[..., 2:].sum(axis=-1)
        squares = (sums[..., 2:] ** 2).sum(axis=-1)
        # multiplied by total ** 2, so that the denominator is an exact integer and 0 only where pe is 1
        return ratio(agreed * total**2 - squares, total**2 - squares)

    return _estimate_both_intervals(
        per_unit, used, clusters, kappa, (-1 / max(m - 1, 1), 1), reason, **drawing
    )


def krippendorff_alpha(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """Krippendorff's alpha for nominal categories, missing votes allowed. In [-1, 1].

    1 - Do / De over units with at least two ratings: Do from the coincidence matrix, where a unit with m ratings adds
    its ordered pairs with weight 1 / (m - 1), De from the pooled ratings without replacement (Krippendorff 2011,
    Computing Krippendorff's Alpha-Reliability). Units with many ratings weigh more than in `raw_agreement`.
    Undefined if all ratings are in one category. The interval resamples clusters, not single coincidences as in
    Krippendorff's own bootstrap. Misleads like kappa if one category is popular.
    """
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    used = counts.sum(axis=1) >= 2
    ratings = counts[used].sum(axis=1)
    per_unit = np.column_stack([_pair_agreement(counts[used]) * ratings, counts[used]])
    reason = _no_pairs(codes)
    if used.any():
        reason = NO_DISAGREEMENT

    def alpha(sums: Floats) -> Floats:
        agreed, pooled = sums[..., 0], sums[..., 1:]
        total = pooled.sum(axis=-1)
        by_chance = total * (total - 1) - (pooled * (pooled - 1)).sum(axis=-1)
        return 1 - ratio((total - agreed) * (total - 1), by_chance)

    return _estimate_both_intervals(per_unit, used, clusters, alpha, (-1, 1), reason, **drawing)


def _pair_agreement(counts: Floats) -> Floats:
    """Share of agreeing pairs of ratings in each unit, 0 where a unit has fewer than two: shape (n_units,)."""
    ratings = counts.sum(axis=1)
    pairs = ratings * (ratings - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return np.asarray(np.where(pairs > 0, agreeing / np.maximum(pairs, 1), 0.0), dtype=np.float64)


def _two_columns(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The votes of two raters, all missing for an absent one. Raises ValueError for more than two."""
    absent = 2 - codes.shape[1]
    if absent < 0:
        raise ValueError(
            f"Cohen's kappa takes two raters, got {codes.shape[1]}; "
            "pass two columns, or use fleiss_kappa, gwet_ac1 or krippendorff_alpha"
        )
    return np.column_stack([codes, np.full((len(codes), absent), MISSING)])


def _no_pairs(codes: NDArray[np.int64]) -> str:
    """The reason why no unit could be used."""
    if codes.shape[1] >= 2 and len(codes) == 0:
        return "no pairs"
    return _ONE_RATER if (codes != MISSING).any(axis=0).sum() < 2 else _NO_SHARED_PAIR


FULL: Final = 0
PARTIAL: Final = 1
NONE: Final = 2
AGREEMENT_KINDS: Final = ("full", "partial", "none")
"""Names of the codes: all raters of a unit agree, some two but not all do, no two do."""
MAJORITY_RULES: Final = ("drop", "median", "middle")

_NO_SHARED = "no unit has both labels"
_NO_PAIR_OF_RATERS = "no unit was rated by two raters"


@dataclass(frozen=True)
class TopClassBias:
    """How much more often an evaluator gives the top class than the raters' majority, over units with both labels."""

    bias: Estimate
    """Share of the evaluator minus share of the majority, in [-1, 1]; above 0, the evaluator is too generous."""
    evaluator: Estimate
    """Share of the top class among the evaluator's labels."""
    majority: Estimate
    """Share of the top class among the majority's labels."""


def majority_labels(votes: ArrayLike, n_categories: int, rule: str = "drop") -> Codes:
    """The category that most raters of a unit gave: shape (n_units,), -1 if there is none.

    Every label is a category that a rater of the unit gave. If several are equally frequent, `rule` decides: "drop" gives
    no label; "median" takes the middle vote (no label if the two middle votes differ); "middle" takes the middle one of all
    categories if a rater gave it (no label otherwise, nor for an even number of categories). With three raters and three
    categories, "middle" and "median" are the same: this is what Multilingual's code does if all three raters differ. A
    single rating is its own majority. Misleads: a majority of two against one hides a third of the votes; "drop" leaves
    out the texts that people find hardest; "middle" favours the middle of the scale.
    """
    if rule not in MAJORITY_RULES:
        raise ValueError(f"rule must be one of {', '.join(MAJORITY_RULES)}, got {rule!r}")
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    most = counts.max(axis=1, keepdims=True)
    clear = (most[:, 0] > 0) & ((counts == most).sum(axis=1) == 1)
    split = ~clear & (most[:, 0] > 0)
    labels = np.where(clear, counts.argmax(axis=1), MISSING)
    if rule == "middle" and n_categories % 2 == 1:
        middle = n_categories // 2
        labels[split & (counts[:, middle] > 0)] = middle
    elif rule == "median":
        labels[split] = _median_votes(counts[split])
    return labels.astype(np.int64)


def _median_votes(counts: Floats) -> Codes:
    """The middle vote of each unit; -1 if its two middle votes differ."""
    total, below = counts.sum(axis=1), counts.cumsum(axis=1)
    lower = (below >= np.ceil(total / 2)[:, None]).argmax(axis=1)
    upper = (below >= (np.floor(total / 2) + 1)[:, None]).argmax(axis=1)
    return np.where(lower == upper, lower, MISSING).astype(np.int64)


def agreement_kinds(votes: ArrayLike, n_categories: int) -> Codes:
    """FULL, PARTIAL or NONE for each unit, -1 for fewer than two votes: shape (n_units,).

    Two raters agree fully or not at all; with more raters than categories, some two always agree.
    """
    counts = category_counts(check_votes(votes, n_categories), n_categories)
    total, most = counts.sum(axis=1), counts.max(axis=1, initial=0)
    kinds = np.select([total < 2, most == total, most > 1], [MISSING, FULL, PARTIAL], NONE)
    return kinds.astype(np.int64)


def full_agreement(
    votes: ArrayLike, n_categories: int, *, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]
) -> Estimate:
    """Multilingual's percentage agreement: share of units on which all raters agree, among those with two or more votes.

    In [0, 1]. For two raters it equals `raw_agreement`. For more it is stricter and falls with their number, so do not
    compare panels of different sizes. Misleads if one category is popular, like all raw agreement.
    """
    kinds = agreement_kinds(votes, n_categories)
    used = kinds != MISSING
    per_unit = np.column_stack([kinds[used] == FULL, np.ones(used.sum())])
    return _estimate(per_unit, used, clusters, mean_of_sums, _NO_PAIR_OF_RATERS, **drawing)


def weighted_f1(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    **drawing: Unpack[Resampling],
) -> Estimate:
    """F1 of each class, 2 hits / (true + predicted), averaged with the class's share of `truth`. In [0, 1].

    truth, predicted: labels, shape (n_units,); units where either is -1 are left out and counted. Equals scikit-learn's
    f1_score(average="weighted", zero_division=0): a class that is never predicted has F1 0; one that is predicted but
    never true has no weight. Not symmetric. Misleads if one class is popular: always predicting it gives a high value, so
    read it together with kappa and the distribution of classes.
    """
    true, given, used = _shared(truth, predicted)
    n_classes = int(max(true[used].max(initial=0), given[used].max(initial=0))) + 1
    per_unit = _hits(true[used], given[used], n_classes)
    return _estimate(
        per_unit, used, clusters, lambda sums: _f1(sums, n_classes)[..., 0], _NO_SHARED, **drawing
    )


def _hits(truth: Codes, given: Codes, n_classes: int) -> Floats:
    """Columns hits, true and given for each class; 0 if either label is missing."""
    shared = ((truth != MISSING) & (given != MISSING))[:, None]
    true, said = (each[:, None] == np.arange(n_classes) for each in (truth, given))
    return np.hstack([shared & true & said, shared & true, shared & said]).astype(np.float64)


def _f1(sums: Floats, n_classes: int) -> Floats:
    """Weighted F1 of each pair of labels from sums (..., pairs * 3 * n_classes) of `_hits`; NaN without a unit."""
    parts = sums.reshape(*sums.shape[:-1], -1, 3, n_classes)
    hits, truth, given = (parts[..., k, :] for k in range(3))
    each = np.nan_to_num(ratio(2 * hits, truth + given))
    return ratio((each * truth).sum(axis=-1), truth.sum(axis=-1))


def top_class_bias(
    majority: ArrayLike,
    evaluator: ArrayLike,
    n_categories: int,
    *,
    clusters: ArrayLike | None = None,
    **drawing: Unpack[Resampling],
) -> TopClassBias:
    """How much more often the evaluator gives the best class, n_categories - 1, than the raters' majority (Multilingual).

    majority, evaluator: labels, shape (n_units,); units where either is -1 are left out. Both shares use the same units,
    so the interval over resampled clusters is that of a paired difference. Misleads: 0 means that both give the best class
    equally often, not that they give it to the same units.
    """
    check_votes(np.column_stack([np.asarray(majority), np.asarray(evaluator)]), n_categories)
    true, given, used = _shared(majority, evaluator)
    is_top = [(each[used] == n_categories - 1).astype(np.float64) for each in (given, true)]
    found = mean_estimates(
        np.column_stack([is_top[0] - is_top[1], *is_top]), unit_clusters(clusters, used.size)[used], **drawing
    )
    n_left_out = int((~used).sum())
    return TopClassBias(
        *(
            replace(each, reason=_NO_SHARED if each.estimate is None else None, n_left_out=n_left_out)
            for each in found
        )
    )


def _shared(first: ArrayLike, second: ArrayLike) -> tuple[Codes, Codes, NDArray[np.bool_]]:
    """Both labels of each unit, and a mask of units that have both."""
    one, other = np.asarray(first), np.asarray(second)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"both labels must have one shape (n_units,), got {one.shape} and {other.shape}")
    highest = max(int(one.max(initial=0)), int(other.max(initial=0)))
    codes = check_votes(np.column_stack([one, other]), max(highest + 1, 2))
    return codes[:, 0], codes[:, 1], (codes != MISSING).all(axis=1)


MOST_PAIRS = 66
"""Largest number of pairs of raters (12 raters), because each pair adds columns to every resample."""
TOO_MANY = "too many raters: F1 between raters is computed only for up to 12 raters"
NONE_WITH_BOTH = "no text has votes of two raters and of the evaluator"


@dataclass(frozen=True)
class PairwiseAgreement:
    """How often two raters, or the evaluator and a rater, give the same class. Shares in [0, 1], the gap in [-1, 1]."""

    raters: Estimate
    """Share of a unit's pairs of raters that agree, averaged over units with at least two votes (`raw_agreement`)."""
    evaluator: Estimate
    """Share of a unit's raters who gave the evaluator's class, averaged over those of these units that it rated."""
    gap: Estimate
    """The evaluator's share minus the raters', over units with both."""


def pairwise_f1(
    votes: ArrayLike, n_categories: int, *, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]
) -> Estimate:
    """Mean over pairs of raters of the weighted F1 (`weighted_f1`), the earlier rater of a pair as truth. [0, 1].

    votes: codes, shape (n_units, n_raters), -1 for missing; pairs that share no unit are left out. The direction is a
    convention: averaged over both directions, the weighted F1 of two raters is exactly the share of their equal votes.
    `n`: units with at least two votes. Undefined above MOST_PAIRS pairs that share units. Multilingual prints it next to
    the evaluator's (Table 2). Misleads like weighted F1: high by chance if one class is popular.
    """
    codes = check_votes(votes, n_categories)
    used = (codes != MISSING).sum(axis=1) >= 2
    pairs = [
        (first, second)
        for first, second in combinations(range(codes.shape[1]), 2)
        if (codes[:, [first, second]] != MISSING).all(axis=1).any()
    ]
    if not pairs or len(pairs) > MOST_PAIRS:
        pairs, why = [], NO_PAIRS if not pairs else TOO_MANY
    else:
        why = None
    blocks = [_hits(codes[used, first], codes[used, second], n_categories) for first, second in pairs]

    def f1(sums: Floats) -> Floats:
        by_pair = _f1(sums, n_categories)
        defined = ~np.isnan(by_pair)
        return ratio(np.where(defined, by_pair, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(np.float64))

    per_unit = np.hstack(blocks) if blocks else np.zeros((int(used.sum()), 3 * n_categories))
    return _estimate(per_unit, used, clusters, f1, why, **drawing)


def pair_shares(votes: ArrayLike, evaluator: ArrayLike, n_categories: int) -> tuple[Floats, Floats]:
    """Of each unit: the share of its pairs of raters that agree, and of its raters who gave the evaluator's class.

    Arguments and left out units as in `pairwise_agreement`; both (n_units,), NaN where a share is undefined.
    """
    codes = check_votes(votes, n_categories)
    given = check_votes(np.asarray(evaluator).reshape(-1, 1), n_categories)[:, 0]
    if given.size != len(codes):
        raise ValueError(f"evaluator must have shape ({len(codes)},), one label a unit, got {given.shape}")
    counts = category_counts(codes, n_categories)
    total = counts.sum(axis=1)
    paired = total >= 2
    rated = (paired if paired.any() else total >= 1) & (given != MISSING)
    of_class = counts[np.arange(len(codes)), np.maximum(given, 0)]
    raters = np.where(paired, _pair_agreement(counts), np.nan)
    own = np.where(rated, of_class / np.maximum(total, 1.0), np.nan)
    return raters, own


def pairwise_agreement(
    votes: ArrayLike,
    evaluator: ArrayLike,
    n_categories: int,
    *,
    clusters: ArrayLike | None = None,
    **drawing: Unpack[Resampling],
) -> PairwiseAgreement:
    """Compare people and an evaluator by the same measure: how often two ratings of a unit are equal.

    votes: codes (n_units, n_raters); evaluator: codes (n_units,), -1 for missing. A gap below 0 means that the evaluator
    agrees with a rater less often than another rater does. Agreement with a majority has no such zero point: a majority is
    more stable than a rater, and "all raters agree" becomes rarer with their number. Units with one vote are left out,
    unless no unit has two: then the evaluator's share covers all units, and the others are undefined. Misleads if one class
    is popular, like all raw agreement: both shares are high by chance.
    """
    raters, own = pair_shares(votes, evaluator, n_categories)
    found = mean_estimates(
        np.column_stack([raters, own, own - raters]), unit_clusters(clusters, len(raters)), **drawing
    )
    return PairwiseAgreement(
        *(
            replace(one, reason=reason if one.estimate is None else None)
            for one, reason in zip(found, (NO_PAIRS, NONE_WITH_BOTH, NONE_WITH_BOTH), strict=True)
        )
    )


@dataclass(frozen=True)
class BesideRaters:
    """How often a judge gives a rater's answer, beside how often another rater does, on the same units."""

    judge: AgreementEstimate
    """Share of a unit's raters who gave the judge's answer, averaged over units (`pair_shares`)."""
    raters: AgreementEstimate
    """`raw_agreement` of the raters."""
    gap: AgreementEstimate
    """The judge's share minus the raters', over units with both."""


def agreement_with_raters(
    votes: ArrayLike,
    judge: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    **drawing: Unpack[Resampling],
) -> BesideRaters:
    """`pairwise_agreement` with both intervals, as a study's agreement has them. Misleads like it.

    votes: codes (n_units, n_raters); judge: codes (n_units,), -1 for missing.
    """
    codes = check_votes(votes, n_categories)
    raters, own = pair_shares(codes, judge, n_categories)

    def mean(values: Floats, scale: tuple[float, float], reason: str) -> AgreementEstimate:
        used = ~np.isnan(values)
        per_unit = np.column_stack([values[used], np.ones(used.sum())])
        return _estimate_both_intervals(per_unit, used, clusters, mean_of_sums, scale, reason, **drawing)

    return BesideRaters(
        mean(own, (0, 1), NONE_WITH_BOTH),
        raw_agreement(codes, clusters=clusters, n_categories=n_categories, **drawing),
        mean(own - raters, (-1, 1), NONE_WITH_BOTH),
    )


Coefficient = Literal["cohen_kappa", "gwet_ac1"]


def mean_of_pairs(
    coefficient: Coefficient,
    pairs: Sequence[ArrayLike],
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """Mean of a coefficient over pairs of raters, such as a judge with each rater, with both intervals.

    pairs: codes of two raters each, shape (n_units, 2), -1 for missing; a pair counts on the units that both rated. A pair
    whose coefficient is undefined is left out of the mean, in the estimate and in each resample. One pair gives the
    coefficient of `cohen_kappa` or `gwet_ac1` on these units. `n`: units that some pair shares.

    Misleads if the pairs share different units: each pair then describes other texts.
    """
    both = [check_votes(pair, n_categories) for pair in pairs]
    blocks = [_pair_rows(codes, n_categories) for codes in both]
    shared = [(codes != MISSING).all(axis=1) for codes in both]
    n_units = len(np.asarray(clusters)) if clusters is not None else len(both[0]) if both else 0
    used = np.any(shared, axis=0) if shared else np.zeros(n_units, dtype=np.bool_)
    width = 2 * n_categories + 2
    chance_of = _kappa_of if coefficient == "cohen_kappa" else _ac1_of

    def statistic(sums: Floats) -> Floats:
        values = chance_of(sums.reshape(*sums.shape[:-1], -1, width), n_categories)
        defined = ~np.isnan(values)
        return ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(np.float64))

    per_unit = np.hstack(blocks)[used] if blocks else np.zeros((int(used.sum()), width))
    scale = (-1, 1) if coefficient == "cohen_kappa" else (-1 / (n_categories - 1), 1)
    reason = BOTH_ONE_CATEGORY if used.any() else _NO_SHARED_PAIR
    return _estimate_both_intervals(per_unit, used, clusters, statistic, scale, reason, **drawing)


def _pair_rows(codes: Codes, n_categories: int) -> Floats:
    """Of each unit that both rated: 1, whether they agree, and each rater's category; 0 for the other units."""
    used = (codes != MISSING).all(axis=1)
    first, second = (codes[:, rater, None] == np.arange(n_categories) for rater in (0, 1))
    rows: Floats = np.column_stack([np.ones(len(codes)), codes[:, 0] == codes[:, 1], first, second])
    return np.where(used[:, None], rows, 0.0)


def _kappa_of(sums: Floats, n_categories: int) -> Floats:
    """Cohen's kappa from sums (..., 2 n_categories + 2) of `_pair_rows`."""
    n, agreed = sums[..., 0], sums[..., 1]
    products = (sums[..., 2 : 2 + n_categories] * sums[..., 2 + n_categories :]).sum(axis=-1)
    return ratio(n * agreed - products, n * n - products)


def _ac1_of(sums: Floats, n_categories: int) -> Floats:
    """Gwet's AC1 of two raters from the same sums."""
    n = sums[..., 0]
    share = ratio(sums[..., 2 : 2 + n_categories] + sums[..., 2 + n_categories :], 2 * n[..., None])
    chance: Floats = (share * (1 - share)).sum(axis=-1) / (n_categories - 1)
    return ratio(ratio(sums[..., 1], n) - chance, 1 - chance)


# --- split raters: soft labels ---------------------------------------------------------------
#
# A majority hides how raters split. Here the raters of a unit are a distribution over categories (Peterson et al. 2019, ICCV;
# Uma et al. 2021, JAIR 72:1385), and a rater and a judge are compared with the same distribution: that of the other raters.

ALL_DEGREES: Final = "all"
NO_ANSWER = "no text has votes of two raters and an answer of the judge"
FEWEST_ITEMS = 10
"""With fewer items in a row, or raters left out who are worth fewer texts, an interval of its gap is unreliable: in a
simulation it covered 70 % where others were unanimous in a handful of texts."""
FEW_ITEMS = f"too few for an interval: fewer than {FEWEST_ITEMS} items, or raters left out worth fewer than {FEWEST_ITEMS} texts"
ONE_ANSWER = "the judge gave one answer a text, so its own uncertainty is unknown"


@dataclass(frozen=True)
class SplitDegree:
    """A rater left out and a judge against the other raters of the same texts, where these split in one way.

    Agreement: probability that an answer equals that of a random other rater, in [0, 1]. Distance: Jensen-Shannon distance
    of an answer (all weight on its category) from the distribution of the other raters, in [0, 1]; 0 is equal.
    """

    kind: str
    """ALL_DEGREES, or how the other raters of a text split: one of AGREEMENT_KINDS."""
    n: int
    """Texts with a rater left out whose others split so."""
    rater_agreement: Estimate
    """Of a rater left out: the human ceiling."""
    judge_agreement: Estimate
    """Of one answer of the judge."""
    agreement_gap: Estimate
    """The judge's minus the rater's, in [-1, 1]."""
    rater_distance: Estimate
    judge_distance: Estimate
    """Of one answer of the judge, averaged over its answers."""
    distance_gap: Estimate
    """The judge's minus the rater's; above 0, the judge is further away."""
    distribution_distance: Estimate
    """Of the distribution of the judge's answers. Not to be compared with a rater's: a rater answers once."""
    distribution_brier: Estimate
    """Brier score of the distribution of the judge's answers: sum over categories of squared differences, in [0, 2]."""
    rater_brier: Estimate
    """The same of a rater left out, with all weight on one category."""


@dataclass(frozen=True)
class SplitRaters:
    """How a judge compares with raters who split (`split_raters`)."""

    degrees: tuple[SplitDegree, ...]
    """All texts, then by how the others split, as far as there are such texts."""
    follows: Estimate
    """Spearman's correlation, over texts, of the judge's disagreement with itself and the raters' with each other."""
    n: int
    """Texts with votes of two raters and an answer."""
    n_left_out: int
    n_answers: int
    """Most answers of the judge on one text."""


def split_raters(
    votes: ArrayLike,
    answers: ArrayLike,
    n_categories: int,
    *,
    clusters: ArrayLike | None = None,
    **drawing: Unpack[Resampling],
) -> SplitRaters:
    """Compare a judge with the distribution of raters' votes, by how they split, with a rater left out as the ceiling.

    votes: codes (n_units, n_raters), answers: codes (n_units, n_answers) of one judge asked once or more, -1 for missing.
    Each rater of a unit is left out in turn; with weight 1 / (its raters), rater and judge meet the distribution p of the
    others. An answer c has the agreement p_c and the Jensen-Shannon distance sqrt(H((q + p) / 2) - (H(q) + H(p)) / 2), H
    the entropy in bits, q all weight on c (Lin 1991, IEEE Transactions on Information Theory 37:145; Endres and Schindelin
    2003, ibid. 49:1858). Degrees are those of the others (`agreement_kinds`), so the rater left out does not decide its own
    degree; they need three raters. Stratified by raters' uncertainty as in Elangovan et al. 2025 (ICLR, "Beyond
    correlation"), who bin single labels instead of leaving a rater out. `follows`: as the entropy correlation of Uma et al.,
    with shares of differing pairs in place of entropies, which few votes bias. Intervals resample clusters.

    Misleads with few raters: a few votes are a rough distribution, so distances depend on the number of raters, for a rater
    and the judge alike; read the gap, and compare panels of one size. Which degree a text falls into is due to chance, too: with two others "full" contains split
    texts. `follows` is drawn towards 0 by few votes and few answers. Equal agreement does not mean equal answers.
    """
    codes = check_votes(votes, n_categories)
    given = check_votes(answers, n_categories)
    if len(given) != len(codes):
        raise ValueError(f"answers must have shape ({len(codes)}, n_answers), got {given.shape}")
    counts, said = category_counts(codes, n_categories), category_counts(given, n_categories)
    n_votes, n_answers = counts.sum(axis=1), said.sum(axis=1)
    used = (n_votes >= 2) & (n_answers >= 1)
    labels = unit_clusters(clusters, len(codes))
    # One row for each category that a rater of a unit gave: all its raters leave the same others behind.
    unit, category = np.nonzero((counts > 0) & used[:, None])
    own = np.eye(n_categories)[category]
    others = counts[unit] - own
    p = others / others.sum(axis=1, keepdims=True)
    q = said[unit] / n_answers[unit, None]
    weight = counts[unit, category] / n_votes[unit]
    kinds = np.select(
        [
            others.sum(axis=1) < 2,
            others.max(axis=1, initial=0) == others.sum(axis=1),
            others.max(axis=1, initial=0) > 1,
        ],
        [MISSING, FULL, PARTIAL],
        NONE,
    )
    apart = np.column_stack([_js_distance(np.eye(n_categories)[k][None], p) for k in range(n_categories)])
    mine, theirs = (apart * q).sum(axis=1), (apart * own).sum(axis=1)
    values = [
        (p * own).sum(axis=1),
        (p * q).sum(axis=1),
        (p * (q - own)).sum(axis=1),
        theirs,
        mine,
        mine - theirs,
    ]
    values += [_js_distance(q, p), ((q - p) ** 2).sum(axis=1), ((own - p) ** 2).sum(axis=1)]
    degrees = [(ALL_DEGREES, np.ones(len(unit), dtype=np.bool_))]
    degrees += [
        (name, where) for k, name in enumerate(AGREEMENT_KINDS) if (where := np.asarray(kinds == k)).any()
    ]
    weights = np.column_stack([weight * where for _, where in degrees])
    found = ratio_estimates(
        np.hstack([np.column_stack(values) * each[:, None] for each in weights.T]),
        np.repeat(weights, len(values), axis=1),
        labels[unit],
        **drawing,
    )
    made = []
    for place, (name, where) in enumerate(degrees):
        n = len(set(unit[where].tolist()))
        own_of = [
            replace(
                _unless_few(one),
                n=n,
                n_left_out=len(codes) - n,
                reason=NO_ANSWER if one.estimate is None else None,
            )
            for one in found[place * len(values) : (place + 1) * len(values)]
        ]
        made.append(SplitDegree(name, n, *own_of))
    return SplitRaters(
        tuple(made),
        _follows(counts, said, labels, drawing),
        n=int(used.sum()),
        n_left_out=int((~used).sum()),
        n_answers=int(n_answers.max(initial=0)),
    )


def _unless_few(estimate: Estimate) -> Estimate:
    """The estimate without an interval if it rests on fewer than FEWEST_ITEMS clusters or (`n`) texts."""
    if estimate.low is None or min(estimate.n_clusters, estimate.n) >= FEWEST_ITEMS:
        return estimate
    return replace(estimate, low=None, high=None, monte_carlo_error=None, interval_reason=FEW_ITEMS)


def _follows(counts: Floats, said: Floats, labels: NDArray[np.generic], drawing: Resampling) -> Estimate:
    """Rank correlation of the shares of differing pairs of votes (n_units, n_categories) and of answers."""
    from core.stats.correlation.intervals import correlate_columns  # imported lazily: loads slowly

    both = (counts.sum(axis=1) >= 2) & (said.sum(axis=1) >= 2)
    split, unsure = (1 - _pair_agreement(one[both]) for one in (counts, said))
    names = ("shares of differing answers", "shares of differing votes")
    found = correlate_columns(
        unsure[:, None], split, ("spearman",), clusters=labels[both], names=names, **drawing
    )[0]["spearman"]
    reason = ONE_ANSWER if (said.sum(axis=1) < 2).all() else found.reason
    return replace(found, reason=reason, n_left_out=int((~both).sum()))


def _js_distance(q: Floats, p: Floats) -> Floats:
    """Jensen-Shannon distance of distributions (..., k), base 2: in [0, 1]."""

    def entropy(of: Floats) -> Floats:
        return np.asarray(-(of * np.log2(np.where(of > 0, of, 1.0))).sum(axis=-1), dtype=np.float64)

    divergence = entropy((q + p) / 2) - (entropy(q) + entropy(p)) / 2
    return np.asarray(np.sqrt(np.clip(divergence, 0.0, 1.0)), dtype=np.float64)


# --- judges that answer each other's questions: ADR and ADS (CEF, section 3.1) --------------
#
# Answers have shape (questions, models): codes 0 (YES), 1 (NO), 2 (IDK), -1 for missing. `own` has the same shape and
# marks the models that made each question: none, one, or several that made the same one. `clusters` has shape
# (questions,) and names the document of each question. All rates are between 0 and 1, and lower is more reliable; they do
# not depend on the order of the models. `paper` follows CEF's definitions; `cef-code` follows its published programs, in
# which a missing answer is a wrong one. CEF's tables come from the programs, in percent.

Variant = Literal["paper", "cef-code"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
YES, N_ANSWERS = 0, 3
AGREEING = Fraction(4, 5)
"""Share of models that must give the same answer for `cef-code` to count a question: 4 of its 5 models."""
ONE_MODEL, NO_QUESTIONS = "fewer than two models", "no questions"
NO_OWN_QUESTIONS = "no question of this model that another model answered"
NO_MAJORITY = "no question with a majority"
TWO_MODELS = "with two models there is no majority if they differ, so neither can deviate"
ALL_AGREE = "with fewer than five models, only questions on which all agree count, so none can deviate"

_DECIMALS = 12  # equal rates share a rank even if they were summed in different orders


def disagreement(
    answers: ArrayLike,
    expected: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    variant: Variant = "paper",
    **drawing: Unpack[Resampling],
) -> tuple[Estimate, ...]:
    """Average disagreement rate of each model: how often the others do not answer its questions as expected.

    paper: ADR(M_i) = mean over the questions of M_i of the share of the other K - 1 models whose answer is not M_i's
    own (CEF, section 3.1). A missing answer of another model is left out of the share; the whole question is left out if
    M_i's own answer is missing, or all others are. cef-code: the share of the others whose answer is not YES, including
    missing ones; M_i's own answer is ignored.

    `n` counts the model's questions used, `n_left_out` those that could not be used. Undefined for fewer than two models
    and for a model without a usable question. Interval: percentiles over resampled clusters, the same for all models
    (without `clusters`, single questions: too narrow if questions of a document are alike). Misleads: models that share
    an error agree, and a model with trivial questions has a low rate. Compare models only within one call.
    """
    codes, made = _checked_answers(answers, expected)
    n_others, n_differ = _others_of_all(codes) if variant == "cef-code" else _others_of_known(codes)
    used = made & (n_others > 0)
    return _rates(
        np.where(used, n_differ / np.maximum(n_others, 1), 0.0),
        used,
        made,
        clusters,
        NO_OWN_QUESTIONS,
        **drawing,
    )


def deviation(
    answers: ArrayLike,
    expected: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    variant: Variant = "paper",
    **drawing: Unpack[Resampling],
) -> tuple[Estimate, ...]:
    """Answer deviation score of each model: how often its answer differs from most models' answer.

    Computed over all models' questions, each distinct question of a document once. paper: ADS(M_i) = share of the questions
    on which M_i's answer is not the most frequent answer, M_i's own included (CEF, section 3.1). A question is left out if
    the most frequent answer is tied, if there are fewer than two answers, or if M_i did not answer. `expected` is ignored.
    cef-code: the answer of each author counts as YES whatever it was; a missing answer is an answer of its own; questions
    on which fewer than ceil(4/5 K) of the K models agree (4 of 5 in CEF) are dropped; M_i deviates if its answer is not the
    agreed one.

    `n` counts questions used for the model, `n_left_out` the others. For intervals and undefined cases see `disagreement`.
    Also undefined if no model could deviate, so that every score would be 0: in `paper` for two models, which have no
    majority if they differ; in `cef-code` for fewer than five models, where ceil(4/5 K) = K and all must agree. Misleads
    with three models: two of the same family decide.
    """
    codes, made = _checked_answers(answers, expected)
    n_models = codes.shape[1]
    if variant == "cef-code":
        codes = np.where(made, YES, codes)
        codes = np.where(codes == MISSING, N_ANSWERS, codes)
    counts = category_counts(codes, N_ANSWERS + 1)
    most = counts.max(axis=1, initial=0.0)
    majority = counts.argmax(axis=1)
    if variant == "cef-code":
        needed = ceil(AGREEING * n_models)
        decided = most >= needed
        nobody_can = ALL_AGREE if needed == n_models else None
    else:
        decided = ((counts == most[:, None]).sum(axis=1) == 1) & (counts.sum(axis=1) >= 2)
        nobody_can = TWO_MODELS if n_models == 2 else None
    used = decided[:, None] & (codes != MISSING)
    deviates = codes != majority[:, None]
    return _rates(
        np.where(used & deviates, 1.0, 0.0),
        used,
        np.ones(codes.shape, dtype=np.bool_),
        clusters,
        NO_MAJORITY,
        nobody_can,
        **drawing,
    )


def lowest_first(values: Sequence[float | None]) -> tuple[int | None, ...]:
    """Ranks from 1 for the lowest value; equal values share their best rank (method "min"), undefined ones have none."""
    from scipy.stats import rankdata  # imported lazily: loads slowly, and judges need only majorities

    defined = [value for value in values if value is not None]
    ranks = iter(rankdata(np.round(defined, _DECIMALS), method="min").tolist() if defined else [])
    return tuple(None if value is None else int(next(ranks)) for value in values)


def _checked_answers(answers: ArrayLike, expected: ArrayLike) -> tuple[Codes, NDArray[np.bool_]]:
    codes, made = check_votes(answers, N_ANSWERS), np.asarray(expected)
    if made.shape != codes.shape:
        raise ValueError(
            f"own must have the shape of answers (questions, models), got {made.shape} and {codes.shape}"
        )
    if made.size and made.dtype != np.bool_:
        raise ValueError(f"own must be boolean, got dtype {made.dtype}")
    return codes, made.astype(np.bool_)


def _others_of_all(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each model, the numbers of other models and of those that did not answer YES: shape (questions, models)."""
    not_yes = (codes != YES).astype(np.int64)
    return np.full(codes.shape, codes.shape[1] - 1, dtype=np.int64), not_yes.sum(axis=1)[:, None] - not_yes


def _others_of_known(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each model, the numbers of others that answered and that answered differently: shape (questions, models).

    Both are 0 for a model that gave no answer itself.
    """
    counts = category_counts(codes, N_ANSWERS).astype(np.int64)
    known = codes != MISSING
    alike = np.take_along_axis(counts, np.maximum(codes, 0), axis=1)  # including the model itself
    answered = counts.sum(axis=1)[:, None]
    return np.where(known, answered - 1, 0), np.where(known, answered - alike, 0)


def _rates(
    above: Floats,
    used: NDArray[np.bool_],
    concerned: NDArray[np.bool_],
    clusters: ArrayLike | None,
    none_used: str,
    why_undefined: str | None = None,
    **drawing: Unpack[Resampling],
) -> tuple[Estimate, ...]:
    """Mean of each column over its used questions. concerned: questions that a model's rate should cover.

    why_undefined: reason why no rate exists, whatever the answers; None: rates may exist.
    """
    n_questions, n_models = used.shape
    if n_models < 2 or why_undefined is not None:
        above, used = np.zeros_like(above), np.zeros_like(used)
    reason = ONE_MODEL if n_models < 2 else NO_QUESTIONS if n_questions == 0 else why_undefined or none_used
    found = ratio_estimates(above, used, np.arange(n_questions) if clusters is None else clusters, **drawing)
    n_concerned = concerned.sum(axis=0).tolist()
    return tuple(
        replace(
            estimate,
            reason=None if estimate.estimate is not None else reason,
            n_left_out=n_concerned[model] - estimate.n,
        )
        for model, estimate in enumerate(found)
    )
