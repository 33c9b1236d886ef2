"""Many ratios of sums with one resampling of clusters: means and shares of many metrics over the same items.

As `resampling.cluster_bootstrap` with the statistic "ratio of sums", but the clusters are drawn once for all columns:
one matrix product in place of one bootstrap a column. Source: see `resampling`.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from core.stats.correlation_resampling import draw_counts
from core.stats.resampling import (
    Estimate,
    Floats,
    at_a_time,
    check_confidence_level,
    cluster_sums,
    ratio,
    resampled_estimate,
    why_no_interval,
)


def mean_estimates(
    values: ArrayLike,
    clusters: ArrayLike,
    *,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> list[Estimate]:
    """Mean of each column of `values` (n_units, k) over its units that are not NaN; of flags (0 and 1): a share.

    As `ratio_estimates`; `n` counts a column's values, `n_left_out` its NaN.
    """
    units = np.asarray(values, dtype=np.float64)
    used = ~np.isnan(units)
    found = ratio_estimates(
        np.where(used, units, 0.0),
        used,
        clusters,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    return [replace(estimate, n_left_out=len(units) - estimate.n) for estimate in found]


def ratio_estimates(
    numerators: ArrayLike,
    denominators: ArrayLike,
    clusters: ArrayLike,
    *,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> list[Estimate]:
    """Sum over sum for each column of `numerators` and `denominators` (n_units, k), with percentile intervals.

    numerators: finite. denominators: counts, 0 where a unit gives a column nothing; `n` is their sum. clusters: shape
    (n_units,), the item of each unit; all columns see the same resamples of all items. Misleads as
    `cluster_bootstrap` does: too narrow with few clusters.
    """
    check_confidence_level(confidence_level)
    above, below = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if above.ndim != 2 or above.shape != below.shape:
        raise ValueError(f"both must have one shape (n_units, k), got {above.shape} and {below.shape}")
    sums = cluster_sums(np.hstack([above, below]), clusters)
    observed = _ratios(sums.sum(axis=0))
    n_clusters = (sums[:, above.shape[1] :] > 0).sum(axis=0)
    drawn = _drawn(sums, n_resamples, rng) if len(sums) > 1 else None
    found = []
    for k, (value, n_used) in enumerate(zip(observed.tolist(), n_clusters.tolist(), strict=True)):
        no_interval = why_no_interval(value, n_used, n_resamples)
        found.append(
            resampled_estimate(
                value,
                None if no_interval or drawn is None else drawn[:, k],
                n=int(below[:, k].sum()),
                n_clusters=n_used,
                confidence_level=confidence_level,
                reason="no units" if np.isnan(value) else None,
                interval_reason=no_interval,
            )
        )
    return found


def _drawn(sums: Floats, n_resamples: int, rng: int | np.random.Generator) -> Floats:
    """The ratios in each resample of clusters: shape (n_resamples, k)."""
    together = at_a_time(len(sums))
    blocks = [_ratios(counts.T @ sums) for counts in draw_counts(len(sums), n_resamples, together, rng)]
    return np.concatenate(blocks) if blocks else np.empty((0, sums.shape[1] // 2))


def _ratios(sums: Floats) -> Floats:
    """Sums (..., 2 k), first k numerators, then k denominators: k ratios, NaN where a denominator is 0."""
    half = sums.shape[-1] // 2
    return ratio(sums[..., :half], sums[..., half:])
