"""Do texts with a score have that score for people too? Bins of a reliability diagram, and how far they are off."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.stats.many_ratios import mean_estimates
from core.stats.resampling import Estimate, Floats, Indices, cluster_bootstrap, ratio

CANNOT_COMPARE = "the judge's scores are on a scale of their own"


@dataclass(frozen=True)
class ReliabilityBin:
    """Texts whose scores are near each other."""

    low: float
    """Lowest score in it."""
    high: float
    """Highest."""
    mean_score: float
    human: Estimate
    """Mean human score; `n` is the number of texts."""


def reliability_bins(
    scores: Floats,
    human: Floats,
    items: Indices,
    *,
    n_bins: int = 10,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> tuple[tuple[ReliabilityBin, ...], Indices]:
    """Bins of scores (n,), lowest first, and the number of each text's bin; n >= 1, without NaN.

    One bin a score where there are at most n_bins different ones; else bins of about as many texts each, equal scores
    together. Intervals of the human mean resample items. Misleads: a bin's mean hides how its texts differ, and few wide
    bins make a judge look better than it is.
    """
    place = _places(scores, n_bins)
    n_used = int(place.max()) + 1
    inside = place[:, None] == np.arange(n_used)
    means = mean_estimates(
        np.where(inside, human[:, None], np.nan),
        items,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    bins = tuple(
        ReliabilityBin(
            low=float(own.min()),
            high=float(own.max()),
            mean_score=float(own.mean()),
            human=replace(mean, n_left_out=0),
        )
        for own, mean in zip((scores[column] for column in inside.T), means, strict=True)
    )
    return bins, place


def _places(scores: Floats, n_bins: int) -> Indices:
    values, place = np.unique(scores, return_inverse=True)
    if values.size <= n_bins:
        return np.asarray(place, dtype=np.intp)
    edges = np.quantile(scores, np.arange(1, n_bins) / n_bins, method="inverted_cdf")
    number = np.searchsorted(np.unique(edges), scores, side="left")
    return np.asarray(np.unique(number, return_inverse=True)[1], dtype=np.intp)


def calibration_error(
    scores: Floats,
    human: Floats,
    place: NDArray[np.intp],
    items: Indices,
    *,
    n_resamples: int = 2_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """Expected calibration error: |mean score - mean human score| of each bin, averaged over texts. 0 or more.

    place: each text's bin. On the human scale. The interval resamples items, the bins stay. Source: Naeini, Cooper and
    Hauskrecht (2015, AAAI), there for probabilities. Misleads: chance alone makes it positive, the more the fewer texts a
    bin has, and its interval lies too high for the same reason; a constant score at the human mean has error 0, so read
    it beside the mean absolute error.
    """
    off = np.where(place[:, None] == np.arange(int(place.max()) + 1), (scores - human)[:, None], 0.0)

    def mean_gap(sums: Floats) -> Floats:
        return ratio(np.abs(sums[..., :-1]).sum(axis=-1), sums[..., -1])

    return cluster_bootstrap(
        np.column_stack([off, np.ones(scores.size)]),
        items,
        mean_gap,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
