"""Agreement: of raters on categories, ordered or not, and of an evaluator with their majority and with single raters.

Of judges, too, on the answers to each other's questions. Each measure has a bootstrap interval over clusters; those of
unordered categories have a jackknife interval, too.
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
    cluster_bootstrap,
    cluster_sums,
    mean_estimates,
    mean_of_sums,
    ratio,
    ratio_estimates,
    unit_clusters,
    with_jackknife,
)
from core.stats.votes import MISSING, N_CHOICES, Codes, category_counts, check_votes

NO_PAIRS = "no text was rated by two raters"
ALL_ALIKE = "every rating is one and the same, so no disagreement was possible"


def ordinal_alpha(
    votes: ArrayLike, *, clusters: ArrayLike | None = None, n_categories: int, **drawing: Unpack[Resampling]
) -> Estimate:
    """Krippendorff's alpha of ordered categories 0 .. n_categories - 1, -1 for missing. At most 1.

    votes: shape (n_units, n_raters). 1 - Do / De, the distance of two categories being the squared difference of
    their mid-ranks among all paired ratings: categories that hold many ratings lie further apart. Units with one rating
    are left out. Undefined where all paired ratings are in one category. Misleads like kappa where one category is
    popular, and where raters differ by a shift only: it asks for equal ratings, not for an equal order.
    """
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    ratings = counts.sum(axis=1)
    used = ratings >= 2
    # Ordered pairs of ratings of a unit by their two categories, each with weight 1 / (m - 1).
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
    return _estimate(per_unit, used, clusters, alpha, reason, **drawing)


def interval_alpha(
    ratings: ArrayLike, *, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]
) -> Estimate:
    """Krippendorff's alpha of numbers, NaN for missing: squared differences. At most 1.

    ratings: shape (n_units, n_raters). Units with one rating are left out. Undefined where all paired ratings are the
    same. Misleads where raters use the scale differently: one who is stricter by a constant lowers it, though the order
    of the texts is the same; and a few outliers carry it.
    """
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"ratings must have shape (n_units, n_raters), got {values.shape}")
    if np.isinf(values).any():
        raise ValueError("ratings hold infinity: every rating is a finite number, or NaN for missing")
    given = ~np.isnan(values)
    m = given.sum(axis=1)
    used = np.asarray(m >= 2, dtype=np.bool_)
    # Shifted and scaled for the digits: alpha is the same.
    kept = values[used][given[used]]
    middle = float(kept.mean()) if kept.size else 0.0
    widest = float(np.abs(kept - middle).max(initial=0.0)) or 1.0
    centred = np.where(given[used], (values[used] - middle) / widest, 0.0)
    if kept.size and np.ptp(kept) == 0:
        centred = np.zeros_like(centred)
    own = m[used].astype(np.float64)
    total, squares = centred.sum(axis=1), (centred**2).sum(axis=1)
    within = (own * squares - total**2) / (own - 1)
    per_unit = np.column_stack([within, own, total, squares])

    def alpha(sums: Floats) -> Floats:
        apart, n, first, second = (sums[..., k] for k in range(4))
        by_chance = n * second - first**2
        # What is left of ratings that are all alike is rounding.
        by_chance = np.where(by_chance <= 1e-12 * n * n, 0.0, by_chance)
        return 1 - ratio((n - 1) * apart, by_chance)

    reason = ALL_ALIKE if used.any() else NO_PAIRS
    return _estimate(per_unit, used, clusters, alpha, reason, **drawing)


def _estimate(
    per_unit: Floats,
    used: NDArray[np.bool_],
    clusters: ArrayLike | None,
    statistic: Statistic,
    reason: str | None,
    **drawing: Unpack[Resampling],
) -> Estimate:
    """The statistic of the units used, whose rows `per_unit` holds; `reason` says why it is undefined on them."""
    labels = unit_clusters(clusters, used.size)[used]
    found = cluster_bootstrap(per_unit, labels, statistic, **drawing)
    return replace(found, reason=reason if found.estimate is None else None, n_left_out=int((~used).sum()))


def _with_both(
    per_unit: Floats,
    used: NDArray[np.bool_],
    clusters: ArrayLike | None,
    statistic: Statistic,
    scale: tuple[float, float],
    reason: str,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """The same with both intervals; `scale` is the statistic's range."""
    found = _estimate(per_unit, used, clusters, statistic, reason, **drawing)
    sums = cluster_sums(per_unit, unit_clusters(clusters, used.size)[used])
    return with_jackknife(found, sums, statistic, scale)


BOTH_ONE_CATEGORY = "both raters used one and the same category for every pair, so chance agreement is 1"
ONE_CATEGORY = "every rating fell into one and the same category, so chance agreement is 1"
NO_DISAGREEMENT = "every rating fell into one and the same category, so no disagreement was possible"
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

    For two raters, the share of shared units with the same vote. A unit counts once however many rated it.
    Misleads when one category is popular: two raters who say "both good" 90 % of the time at random agree on
    over 80 %.
    """
    codes = check_votes(votes, n_categories)
    counts = category_counts(codes, n_categories)
    used = counts.sum(axis=1) >= 2
    per_unit = np.column_stack([_pair_agreement(counts[used]), np.ones(used.sum())])
    return _with_both(per_unit, used, clusters, mean_of_sums, (0, 1), _no_pairs(codes), **drawing)


def cohen_kappa(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    **drawing: Unpack[Resampling],
) -> AgreementEstimate:
    """Cohen's kappa of exactly two raters over the units that both rated. In [-1, 1].

    (po - pe) / (1 - pe), po the share of equal votes, pe = sum over categories of the product of the two raters' own
    shares (Cohen 1960, Educational and Psychological Measurement 20:37). Undefined where both raters used one and
    the same category throughout (pe = 1). Where only one of them did it is exactly 0 in every
    resample: an interval of width 0 that measures nothing. Misleads under a popular category: at 85 % raw
    agreement it can be 0.
    """
    codes = _two_columns(check_votes(votes, n_categories))
    used = (codes != MISSING).all(axis=1)
    first, second = (codes[used, rater, None] == np.arange(n_categories) for rater in (0, 1))
    per_unit = np.column_stack([np.ones(used.sum()), codes[used, 0] == codes[used, 1], first, second])
    reason = _no_pairs(codes)
    if used.any():
        reason = BOTH_ONE_CATEGORY

    def kappa(sums: Floats) -> Floats:
        n, agreed = sums[..., 0], sums[..., 1]
        products = (sums[..., 2 : 2 + n_categories] * sums[..., 2 + n_categories :]).sum(axis=-1)
        return ratio(n * agreed - products, n * n - products)

    return _with_both(per_unit, used, clusters, kappa, (-1, 1), reason, **drawing)


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
    a category over all units with at least one rating. q is `n_categories`, the categories on offer, whether used or
    not: leaving unused ones out raises pe and gives another number. pe is at most 1 / q, so AC1 is defined wherever
    two raters share a unit, also where they used a single category (then 1). Misleads in the opposite
    direction of kappa: it assumes that chance agreement is rare when one category is popular.
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

    found = _with_both(
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
    `n_ratings`, by default the largest number any unit has; units with another number are counted in
    `n_left_out`. Undefined where all ratings fall into one category. For two raters it is Scott's pi, not Cohen's
    kappa. Misleads like kappa under a popular category.
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

    return _with_both(per_unit, used, clusters, kappa, (-1 / max(m - 1, 1), 1), reason, **drawing)


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
    Undefined where all ratings fall into one category. The interval resamples clusters, not single coincidences as in
    Krippendorff's own bootstrap. Misleads like kappa under a popular category.
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

    return _with_both(per_unit, used, clusters, alpha, (-1, 1), reason, **drawing)


def _pair_agreement(counts: Floats) -> Floats:
    """Share of agreeing pairs of ratings in each unit, 0 where a unit has fewer than two: shape (n_units,)."""
    ratings = counts.sum(axis=1)
    pairs = ratings * (ratings - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return np.asarray(np.where(pairs > 0, agreeing / np.maximum(pairs, 1), 0.0), dtype=np.float64)


def _two_columns(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The votes of two raters; a rater who is not there gave none. ValueError for more than two."""
    absent = 2 - codes.shape[1]
    if absent < 0:
        raise ValueError(
            f"Cohen's kappa takes two raters, got {codes.shape[1]}; "
            "pass two columns, or take fleiss_kappa, gwet_ac1 or krippendorff_alpha"
        )
    return np.column_stack([codes, np.full((len(codes), absent), MISSING)])


def _no_pairs(codes: NDArray[np.int64]) -> str:
    """Why no unit could be used."""
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
    """How much more often an evaluator gives the top class than the raters' majority, over units that have both labels."""

    bias: Estimate
    """Share of the evaluator minus share of the majority, in [-1, 1]; above 0 the evaluator is too generous."""
    evaluator: Estimate
    """Share of the top class among the evaluator's labels."""
    majority: Estimate
    """Share of the top class among the majority's labels."""


def majority_labels(votes: ArrayLike, n_categories: int, rule: str = "drop") -> Codes:
    """The category that most raters of a unit gave: shape (n_units,), -1 where there is none.

    Every label is a category that a rater of the unit gave. Where several were given equally often, `rule` decides:
    "drop" gives no label; "median" takes the middle vote (no label where two middle votes differ); "middle" takes the
    middle one of all categories where a rater gave it (no label elsewhere, nor where their number is even). With three
    raters and three categories "middle" and "median" are the same: what 004's code does with three raters who all
    differ. One rating alone is its own majority. Misleads: a majority of two against one hides a third of the votes;
    "drop" leaves out the texts that people find hardest; "middle" favours the middle of the scale.
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
    """The middle vote of each unit; -1 where two stand in the middle and differ."""
    total, below = counts.sum(axis=1), counts.cumsum(axis=1)
    lower = (below >= np.ceil(total / 2)[:, None]).argmax(axis=1)
    upper = (below >= (np.floor(total / 2) + 1)[:, None]).argmax(axis=1)
    return np.where(lower == upper, lower, MISSING).astype(np.int64)


def agreement_kinds(votes: ArrayLike, n_categories: int) -> Codes:
    """FULL, PARTIAL or NONE for each unit, -1 where fewer than two raters gave a vote: shape (n_units,).

    Two raters agree fully or not at all; with more raters than categories some two always agree.
    """
    counts = category_counts(check_votes(votes, n_categories), n_categories)
    total, most = counts.sum(axis=1), counts.max(axis=1, initial=0)
    kinds = np.select([total < 2, most == total, most > 1], [MISSING, FULL, PARTIAL], NONE)
    return kinds.astype(np.int64)


def full_agreement(
    votes: ArrayLike, n_categories: int, *, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]
) -> Estimate:
    """Percentage agreement of 004 as a share: units on which all raters agree, of those with two votes or more. In [0, 1].

    Of two raters the same as `raw_agreement`; of more it is stricter, and falls with their number: do not
    compare panels of different size. Misleads where one category is popular, as all raw agreement does.
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

    truth, predicted: labels, shape (n_units,); units where either is -1 are left out and counted. As scikit-learn's
    f1_score(average="weighted", zero_division=0): a class that is never predicted has F1 0; one that is predicted but
    never true has no weight of its own. Not symmetric. Misleads where one class is popular: always naming it gives a high
    value, so read it beside kappa and the distribution of classes.
    """
    true, given, used = _shared(truth, predicted)
    n_classes = int(max(true[used].max(initial=0), given[used].max(initial=0))) + 1
    per_unit = _hits(true[used], given[used], n_classes)
    return _estimate(
        per_unit, used, clusters, lambda sums: _f1(sums, n_classes)[..., 0], _NO_SHARED, **drawing
    )


def _hits(truth: Codes, given: Codes, n_classes: int) -> Floats:
    """Columns hits, true and given of each class; 0 where one of the two gave no vote."""
    shared = ((truth != MISSING) & (given != MISSING))[:, None]
    true, said = (each[:, None] == np.arange(n_classes) for each in (truth, given))
    return np.hstack([shared & true & said, shared & true, shared & said]).astype(np.float64)


def _f1(sums: Floats, n_classes: int) -> Floats:
    """The weighted F1 of each pair of labels, from sums (..., pairs * 3 * n_classes) of `_hits`; NaN without a unit."""
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
    """Does the evaluator give the best class, n_categories - 1, more often than the raters' majority does (004)?

    majority, evaluator: labels, shape (n_units,); units where either is -1 are left out. Compared over the same units,
    so that the interval, from resampled clusters, is of a paired difference. Misleads: 0 does not mean that the two agree
    on which units are best, only that they name as many.
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
    """Both labels of each unit, and which units have both."""
    one, other = np.asarray(first), np.asarray(second)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"both labels must have one shape (n_units,), got {one.shape} and {other.shape}")
    highest = max(int(one.max(initial=0)), int(other.max(initial=0)))
    codes = check_votes(np.column_stack([one, other]), max(highest + 1, 2))
    return codes[:, 0], codes[:, 1], (codes != MISSING).all(axis=1)


MOST_PAIRS = 66
"""Of raters (12 of them): each takes columns of its own in every resample."""
TOO_MANY = "too many raters for the F1 of every two of them: it is worked out for up to 12"
NONE_WITH_BOTH = "no text has two raters' votes and the evaluator's"


@dataclass(frozen=True)
class PairwiseAgreement:
    """How often two voices give the same class: two raters, or the evaluator and a rater. Each in [0, 1], the gap in [-1, 1]."""

    raters: Estimate
    """Share of a unit's pairs of raters that agree, averaged over units with two votes or more (`raw_agreement`)."""
    evaluator: Estimate
    """Share of a unit's raters who gave the evaluator's class, averaged over the same units that have its class."""
    gap: Estimate
    """The evaluator's share minus the raters', over units that have both."""


def pairwise_f1(
    votes: ArrayLike, n_categories: int, *, clusters: ArrayLike | None = None, **drawing: Unpack[Resampling]
) -> Estimate:
    """Mean over pairs of raters of the weighted F1 (`weighted_f1`), the earlier rater of a pair as truth. [0, 1].

    votes: codes, shape (n_units, n_raters), -1 for missing; pairs that share no unit are left out. Its direction is a
    convention: averaged over both directions, the weighted F1 of two raters is exactly the share of their equal votes.
    `n`: units with two votes or more. Undefined above MOST_PAIRS pairs that share units. 004 prints it beside that of an evaluator (Table
    2). Misleads as weighted F1 does: high by chance where one class is popular.
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


def pairwise_agreement(
    votes: ArrayLike,
    evaluator: ArrayLike,
    n_categories: int,
    *,
    clusters: ArrayLike | None = None,
    **drawing: Unpack[Resampling],
) -> PairwiseAgreement:
    """Compare people and an evaluator by the same measure: the chance that two voices on a unit give one class.

    votes: codes (n_units, n_raters); evaluator: codes (n_units,), -1 for missing. A gap below 0 says that the evaluator
    agrees with a rater less often than another rater does. The agreement with a majority has no such zero: a majority is
    steadier than a rater, and "all raters equal" falls with their number. Units with one vote are left out, unless no unit
    has two: then the evaluator's share is over all, and the others are undefined. Misleads where one class is popular, as
    all raw agreement does: both shares are high by chance.
    """
    codes = check_votes(votes, n_categories)
    given = check_votes(np.asarray(evaluator).reshape(-1, 1), n_categories)[:, 0]
    if given.size != len(codes):
        raise ValueError(f"evaluator must have shape ({len(codes)},), one label a unit, got {given.shape}")
    counts = category_counts(codes, n_categories)
    total = counts.sum(axis=1)
    paired = total >= 2
    beside = (paired if paired.any() else total >= 1) & (given != MISSING)
    of_class = counts[np.arange(len(codes)), np.maximum(given, 0)]
    raters = np.where(paired, _pair_agreement(counts), np.nan)
    own = np.where(beside, of_class / np.maximum(total, 1.0), np.nan)
    found = mean_estimates(
        np.column_stack([raters, own, own - raters]), unit_clusters(clusters, len(codes)), **drawing
    )
    return PairwiseAgreement(
        *(
            replace(one, reason=reason if one.estimate is None else None)
            for one, reason in zip(found, (NO_PAIRS, NONE_WITH_BOTH, NONE_WITH_BOTH), strict=True)
        )
    )


# --- judges that answer each other's questions: ADR and ADS of CEF (001, section 3.1) --------------
#
# Answers have shape (questions, models): codes 0 (YES), 1 (NO), 2 (IDK), -1 where a model gave none. `own` has the same
# shape and says which models made each question: none, one, or several that hit on the same. `clusters` has shape
# (questions,) and names the document of each question. All rates run from 0 to 1, lower is more reliable; the order of
# the models changes none of them. `paper` is what 001 defines; `cef-code` is what its published programs count, in which
# a missing answer is a wrong one. The paper's tables come from the programs, in percent.

Variant = Literal["paper", "cef-code"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
YES, N_ANSWERS = 0, 3
AGREEING = Fraction(4, 5)
"""Share of the models that has to give one answer before `cef-code` counts a question: 4 of its 5 models."""
ONE_MODEL, NO_QUESTIONS = "fewer than two models", "no questions"
NO_OWN_QUESTIONS = "no question of this model that another model answered"
NO_MAJORITY = "no question with a majority"
TWO_MODELS = "of two models neither can deviate: where they differ there is no majority"
ALL_AGREE = "below five models only questions on which all agree count, so none can deviate"

_DECIMALS = 12  # equal rates share a rank, whatever the order in which they were summed


def disagreement(
    answers: ArrayLike,
    own: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    variant: Variant = "paper",
    **drawing: Unpack[Resampling],
) -> tuple[Estimate, ...]:
    """Average disagreement rate of each model: how often the others do not answer its questions as expected.

    paper: ADR(M_i) = mean over the questions of M_i of the share of the other K - 1 models whose answer is not M_i's
    own (001, section 3.1). Answers that are missing are left out: of the share where another model's is, the whole
    question where M_i's own is, or nobody else's is there. cef-code: the share of the others whose answer is not YES,
    a missing one being none; M_i's own answer plays no part.

    `n` counts the model's questions used, `n_left_out` those that could not be. Undefined below two models and for a
    model without a usable question. Interval: percentiles over resampled clusters (every question by itself without
    `clusters`: too narrow where questions of a document are alike), the same resamples for all models. Misleads: models
    that share an error agree, and one whose questions are trivial has a low rate; compare models only within one call.
    """
    codes, made = _checked_answers(answers, own)
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
    own: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    variant: Variant = "paper",
    **drawing: Unpack[Resampling],
) -> tuple[Estimate, ...]:
    """Answer deviation score of each model: how often its answer is not the one that most models give.

    Over all models' questions, each distinct one of a document once. paper: ADS(M_i) = share of the questions on which
    M_i's answer is not the most frequent answer, M_i's own included (001, section 3.1); a tie for the most frequent,
    or fewer than two answers, is no majority, and such a question is left out, as is one that M_i did not answer.
    `own` plays no part. cef-code: the answer of each of its authors is taken to be YES whatever they said, a missing
    answer is an answer of its own, questions on which fewer than ceil(4/5 K) of the K models agree (4 of 5 in 001) are dropped,
    and 1 is counted where M_i's answer is not the agreed one.

    `n` counts questions used for the model, `n_left_out` the others. Undefined and intervals: as `disagreement`.
    Undefined also where nobody could deviate, so that every score would be 0: paper, of two models, which have no
    majority where they differ; cef-code, below five models, where ceil(4/5 K) = K and all have to agree. Misleads with
    three models: the two that are of one family decide.
    """
    codes, made = _checked_answers(answers, own)
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
    """Ranks from 1 for the lowest; equal values share the best of their ranks (method "min"), undefined ones have none."""
    from scipy.stats import rankdata  # loads slowly, and judges need majorities alone

    defined = [value for value in values if value is not None]
    ranks = iter(rankdata(np.round(defined, _DECIMALS), method="min").tolist() if defined else [])
    return tuple(None if value is None else int(next(ranks)) for value in values)


def _checked_answers(answers: ArrayLike, own: ArrayLike) -> tuple[Codes, NDArray[np.bool_]]:
    codes, made = check_votes(answers, N_ANSWERS), np.asarray(own)
    if made.shape != codes.shape:
        raise ValueError(
            f"own must have the shape of answers (questions, models), got {made.shape} and {codes.shape}"
        )
    if made.size and made.dtype != np.bool_:
        raise ValueError(f"own must say true or false of each model, got dtype {made.dtype}")
    return codes, made.astype(np.bool_)


def _others_of_all(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shape (questions, models): for each model how many others there are, and how many of them did not say YES."""
    not_yes = (codes != YES).astype(np.int64)
    return np.full(codes.shape, codes.shape[1] - 1, dtype=np.int64), not_yes.sum(axis=1)[:, None] - not_yes


def _others_of_known(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shape (questions, models): for each model how many others answered, and how many of them otherwise than it did.

    Nobody is to be counted against a model that gave no answer itself.
    """
    counts = category_counts(codes, N_ANSWERS).astype(np.int64)
    known = codes != MISSING
    alike = np.take_along_axis(counts, np.maximum(codes, 0), axis=1)  # with the model itself
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
    """Each column's mean over its used questions. concerned: which questions a model's rate should be about.

    why_undefined: why there is no rate, whatever was answered; None: there may be one.
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
