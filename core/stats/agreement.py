"""Agreement between raters on categories, with and without an order, each coefficient with a bootstrap interval."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import (
    AgreementEstimate,
    Estimate,
    Floats,
    Statistic,
    cluster_bootstrap,
    cluster_sums,
    mean_of_sums,
    ratio,
    unit_clusters,
    with_jackknife,
)
from core.stats.votes import MISSING, N_CHOICES, category_counts, check_votes

NO_PAIRS = "no text was rated by two raters"
ALL_ALIKE = "every rating is one and the same, so no disagreement was possible"


def ordinal_alpha(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
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

    found = cluster_bootstrap(
        per_unit,
        unit_clusters(clusters, len(codes))[used],
        alpha,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    return _explained(found, used.size)


def interval_alpha(
    ratings: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
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

    found = cluster_bootstrap(
        per_unit,
        unit_clusters(clusters, len(values))[used],
        alpha,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    return _explained(found, used.size)


def _explained(found: Estimate, n_units: int) -> Estimate:
    reason = None
    if found.estimate is None:
        reason = ALL_ALIKE if found.n else NO_PAIRS
    return replace(found, reason=reason, n_left_out=n_units - found.n)


BOTH_ONE_CATEGORY = "both raters used one and the same category for every pair, so chance agreement is 1"
ONE_CATEGORY = "every rating fell into one and the same category, so chance agreement is 1"
NO_DISAGREEMENT = "every rating fell into one and the same category, so no disagreement was possible"
_ONE_RATER = "fewer than two raters"
_NO_PAIRS = "no pair was rated by two raters"


def raw_agreement(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
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
    return _estimate(
        per_unit, used, clusters, mean_of_sums, (0, 1), _no_pairs(codes), n_resamples, confidence_level, rng
    )


def cohen_kappa(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
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

    return _estimate(per_unit, used, clusters, kappa, (-1, 1), reason, n_resamples, confidence_level, rng)


def gwet_ac1(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
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

    found = _estimate(
        per_unit,
        rated,
        clusters,
        ac1,
        (-1 / (n_categories - 1), 1),
        _no_pairs(codes),
        n_resamples,
        confidence_level,
        rng,
    )
    n_paired = int(paired.sum())
    return replace(found, n=n_paired, n_left_out=len(codes) - n_paired)


def fleiss_kappa(
    votes: ArrayLike,
    *,
    n_ratings: int | None = None,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
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

    return _estimate(
        per_unit, used, clusters, kappa, (-1 / max(m - 1, 1), 1), reason, n_resamples, confidence_level, rng
    )


def krippendorff_alpha(
    votes: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_categories: int = N_CHOICES,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
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

    return _estimate(per_unit, used, clusters, alpha, (-1, 1), reason, n_resamples, confidence_level, rng)


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
    return _ONE_RATER if (codes != MISSING).any(axis=0).sum() < 2 else _NO_PAIRS


def _estimate(
    per_unit: Floats,
    used: NDArray[np.bool_],
    clusters: ArrayLike | None,
    statistic: Statistic,
    scale: tuple[float, float],
    reason: str,
    n_resamples: int,
    confidence_level: float,
    rng: int | np.random.Generator,
) -> AgreementEstimate:
    """Both intervals from the units used; `reason` says why the statistic is undefined on them, `scale` is its range."""
    labels = unit_clusters(clusters, used.size)
    found = cluster_bootstrap(
        per_unit,
        labels[used],
        statistic,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    found = replace(
        found,
        reason=reason if found.estimate is None else None,
        n_left_out=int((~used).sum()),
    )
    return with_jackknife(found, cluster_sums(per_unit, labels[used]), statistic, scale)
