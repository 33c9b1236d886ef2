"""Krippendorff's alpha where categories have an order or ratings are numbers: near misses count less than far ones.

`agreement.krippendorff_alpha` takes every two categories for equally far apart. Here the distance of two ratings is
squared, of ranks (`ordinal_alpha`) or of the numbers themselves (`interval_alpha`). For two categories all three are
one and the same. Both are functions of sums over units, so `resampling` gives their intervals.

Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, sec. C (missing ratings) and D (distances).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Estimate, Floats, cluster_bootstrap, ratio, unit_clusters
from core.stats.votes import category_counts, check_votes

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
