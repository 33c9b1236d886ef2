"""Agreement between raters on nominal categories, each coefficient with a bootstrap interval.

Votes have shape (n_units, n_raters), codes 0 .. n_categories - 1, -1 for missing (`votes.py`). `clusters` has shape
(n_units,) and names the question of each unit; without it every unit stands for itself, which makes intervals too
narrow when units of a question are alike. Every coefficient is a function of sums over units, so `resampling` gives
its percentile interval and its jackknife interval (`jackknife.py`). All run from below 0 or 0 to 1, higher is more agreement; all give None with a reason where undefined.

No single one suffices: raw agreement is high by chance alone when one category is popular; kappa, Fleiss' kappa and
alpha fall to 0 on the very same votes (Feinstein and Cicchetti 1990, the first paradox); AC1 stays high there, and
is generous when raters guess. Show them together, beside the table they come from.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.jackknife import AgreementEstimate, with_jackknife
from core.stats.resampling import (
    Floats,
    Statistic,
    cluster_bootstrap,
    cluster_sums,
    mean_of_sums,
    ratio,
    unit_clusters,
)
from core.stats.votes import MISSING, N_CHOICES, category_counts, check_votes, contingency

__all__ = [
    "BOTH_ONE_CATEGORY",
    "NO_DISAGREEMENT",
    "ONE_CATEGORY",
    "cohen_kappa",
    "contingency",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "raw_agreement",
]

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
