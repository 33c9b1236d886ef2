"""Cluster bootstrap of any statistic that is a function of sums over units.

Every agreement coefficient and every mean here can be written as f(sum over units of a k-vector). Resampling
clusters then needs no second look at the units: count how often each cluster was drawn, multiply the counts with
the per-cluster sums, apply f. A whole bootstrap is one matrix product (in blocks that bound the memory).

Sources: Efron and Tibshirani (1993), An Introduction to the Bootstrap, ch. 13 (percentile interval); Davison and
Hinkley (1997), Bootstrap Methods and their Application, sec. 3.8 (resampling whole clusters, units inside kept).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Statistic = Callable[[Floats], Floats]
"""Takes sums of shape (..., k) and returns values of shape (...), NaN where undefined."""

MONTE_CARLO_SHARE = 1 / 20
"""Where resampling stops by itself: the Monte Carlo error of each bound is below this share of the interval's width."""
NO_RESAMPLES = "no resamples were asked for"
ONE_CLUSTER = "fewer than two clusters: nothing to resample"
MOST_PRODUCTS = 250_000
"""Multiplications in one matrix product: above, libraries start threads that mostly wait."""
_BLOCK_CELLS = 4_000_000  # drawn counts held at a time: 32 MB


@dataclass(frozen=True)
class Estimate:
    """A statistic with its percentile interval. None is always explained by `reason` or `interval_reason`."""

    estimate: float | None
    """The statistic on the data as observed."""
    low: float | None
    """Lower end of the interval."""
    high: float | None
    """Upper end of the interval."""
    n: int
    """Units used."""
    reason: str | None
    """Why the estimate is undefined."""
    n_undefined: int
    """Resamples in which the statistic is undefined; they are dropped, so the interval is conditional on it."""
    n_resamples: int
    """Resamples drawn, the undefined ones among them."""
    confidence_level: float
    """Two-sided level of the interval, in (0, 1)."""
    interval_reason: str | None = None
    """Why there is no interval."""
    n_clusters: int = 0
    """Clusters (questions) that hold a unit used."""
    n_left_out: int = 0
    """Units given but not used."""
    monte_carlo_error: float | None = None
    """Standard error of the worse bound that comes from drawing no more resamples; None without an interval."""


def quantile(values: Floats, q: float) -> float:
    """The smallest of `values` whose cumulative share is at least q (numpy's "inverted_cdf").

    `values` has shape (n,), n >= 1, without NaN. No value between two observed ones is ever made up, which matters
    for means of -1, 0 and +1: another convention can move a bound by 1/n. q is rounded to 12 places first,
    because (1 - 0.95) / 2 is a little more than 0.025 in binary.
    """
    return float(np.quantile(values, round(q, 12), method="inverted_cdf"))


def monte_carlo_error(values: Floats, q: float) -> float:
    """Standard error of `quantile(values, q)` as an estimate of the quantile of endless resamples.

    Half the distance of the order statistics one binomial standard deviation below and above the quantile's own, without
    any assumption about the distribution (David and Nagaraja 2003, Order Statistics, sec. 7.1; as the error of a
    quantile in Vehtari et al. 2021, Bayesian Analysis 16:667). Infinite where there are too few values to tell.
    """
    reach = np.sqrt(values.size * q * (1 - q))
    low, high = int(np.floor(values.size * q - reach)), int(np.ceil(values.size * q + reach))
    if low < 1 or high > values.size:
        return float("inf")
    ordered = np.partition(values, [low - 1, high - 1])
    return float(ordered[high - 1] - ordered[low - 1]) / 2


def is_settled(found: Estimate) -> bool:
    """Whether the interval would hardly move with more resamples, or there is none.

    That is, the Monte Carlo error of each bound is below MONTE_CARLO_SHARE of the interval's width, or both are 0.
    """
    if found.low is None or found.high is None:
        return True
    width, error = found.high - found.low, found.monte_carlo_error
    return error is not None and (error < MONTE_CARLO_SHARE * width or error == 0 == width)


def _interval(defined: Floats, confidence_level: float) -> tuple[float, float, float]:
    """Both bounds, and the Monte Carlo error of the worse one."""
    tail = (1 - confidence_level) / 2
    error = max(monte_carlo_error(defined, tail), monte_carlo_error(defined, 1 - tail))
    return quantile(defined, tail), quantile(defined, 1 - tail), error


def numbered(labels: ArrayLike) -> Indices:
    """Each label's number from 0, in the order of the labels; equal ones share it."""
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def at_a_time(cells: int) -> int:
    """How many resamples of so many cells each to hold at once, so that memory stays bounded; at least one."""
    return max(1, _BLOCK_CELLS // cells)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise quotient, NaN where the denominator is 0."""
    undefined = denominator == 0
    quotient = numerator / np.where(undefined, 1.0, denominator)
    return np.asarray(np.where(undefined, np.nan, quotient), dtype=np.float64)


def mean_of_sums(sums: Floats) -> Floats:
    """The statistic "ratio of sums" for columns (sum, count): a mean over units, NaN without units."""
    return ratio(sums[..., 0], sums[..., 1])


def check_confidence_level(confidence_level: float) -> None:
    """Raise ValueError unless the level lies strictly between 0 and 1."""
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie strictly between 0 and 1, got {confidence_level!r}")


def unit_clusters(clusters: ArrayLike | None, n_units: int) -> NDArray[np.generic]:
    """The cluster of each unit: shape (n_units,). Without any, every unit stands for itself. ValueError for other shapes."""
    labels = np.arange(n_units) if clusters is None else np.asarray(clusters)
    if labels.shape != (n_units,):
        raise ValueError(f"clusters must have shape ({n_units},), one label a unit, got {labels.shape}")
    return labels


def cluster_sums(per_unit: Floats, clusters: ArrayLike) -> Floats:
    """Sums of the rows of `per_unit` (n_units, k) within each cluster: shape (n_clusters, k).

    `clusters` holds one label a unit, of one sortable type (str or int). Clusters come in the order of their labels.
    """
    labels = np.asarray(clusters)
    if per_unit.ndim != 2 or labels.shape != per_unit.shape[:1]:
        raise ValueError(
            f"per_unit must have shape (n_units, k) and clusters (n_units,), got {per_unit.shape} and {labels.shape}"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("clusters hold NaN: every unit needs the label of its cluster")
    names, index = np.unique(labels, return_inverse=True)
    sums = np.zeros((names.size, per_unit.shape[1]))
    np.add.at(sums, index, per_unit)
    return sums


def bootstrap_distribution(
    sums: Floats,
    statistic: Statistic,
    *,
    n_resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> Floats:
    """The statistic in each resample of clusters, NaN where undefined: shape (n_resamples,).

    `sums` has shape (n_clusters, k), n_clusters >= 1: one row of sums a cluster. Each resample draws n_clusters of
    them with replacement. Clusters with equal sums cannot be told apart by the statistic, so the number of draws
    is simulated per distinct row (multinomial with their shares): the same distribution, far fewer counts, and a
    result that does not depend on the order of the data.
    """
    if n_resamples < 0:
        raise ValueError(f"n_resamples must not be negative, got {n_resamples}")
    if sums.ndim != 2 or len(sums) == 0:
        raise ValueError(f"sums must have shape (n_clusters, k) with at least one cluster, got {sums.shape}")
    generator = np.random.default_rng(rng)
    distinct, multiplicity = np.unique(sums, axis=0, return_counts=True)
    shares = multiplicity / len(sums)
    values = np.empty(n_resamples)
    block = at_a_time(len(distinct))
    for start in range(0, n_resamples, block):
        stop = min(start + block, n_resamples)
        counts = generator.multinomial(len(sums), shares, size=stop - start)
        values[start:stop] = statistic(counts.astype(np.float64) @ distinct)
    return values


def cluster_bootstrap(
    per_unit: ArrayLike,
    clusters: ArrayLike,
    statistic: Statistic,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """Estimate a function of per-unit sums, with a percentile interval over resampled clusters.

    per_unit: shape (n_units, k), finite; the statistic sees only sums of its rows. clusters: shape (n_units,), the
    question of each unit; a label of its own for every unit gives the plain bootstrap. n_resamples: 0 asks for
    no interval. confidence_level: two-sided. rng: an int gives the same interval every time.

    Degenerate cases: no units or an undefined statistic give estimate None. Fewer than two clusters give no interval,
    clusters that are all alike one of width 0. Undefined resamples are dropped and counted in `n_undefined`.

    Misleads with few clusters: the percentile interval takes the observed clusters for the population, and is too
    narrow below some 30 to 50 clusters; an interval of width 0 says that nothing varied, not that nothing can.
    """
    check_confidence_level(confidence_level)
    rows = np.asarray(per_unit, dtype=np.float64)
    if not np.isfinite(rows).all():
        raise ValueError("per_unit holds NaN or infinity: leave unusable units out before resampling")
    sums = cluster_sums(rows, clusters)
    observed = float(statistic(rows.sum(axis=0))) if len(rows) else np.nan
    no_interval = why_no_interval(observed, len(sums), n_resamples)
    return resampled_estimate(
        observed,
        None if no_interval else bootstrap_distribution(sums, statistic, n_resamples=n_resamples, rng=rng),
        n=len(rows),
        n_clusters=len(sums),
        confidence_level=confidence_level,
        reason=_why_undefined(observed, len(rows)),
        interval_reason=no_interval,
    )


def why_no_interval(observed: float, n_clusters: int, n_resamples: int) -> str | None:
    """Why resampling clusters cannot give an interval; None where it can. Raises ValueError for n_resamples < 0."""
    if n_resamples < 0:
        raise ValueError(f"n_resamples must not be negative, got {n_resamples}")
    if np.isnan(observed):
        return "the estimate is undefined"
    if n_clusters < 2:
        return ONE_CLUSTER
    return NO_RESAMPLES if n_resamples == 0 else None


def resampled_estimate(
    observed: float,
    values: Floats | None,
    *,
    n: int,
    n_clusters: int,
    confidence_level: float,
    reason: str | None = None,
    interval_reason: str | None = None,
    n_left_out: int = 0,
) -> Estimate:
    """The estimate with the percentile interval of `values`: the statistic in each resample, NaN where undefined.

    observed: NaN where undefined, for `reason`. values: shape (n_resamples,); None gives no interval, for
    `interval_reason`.
    """
    found = Estimate(
        estimate=None if np.isnan(observed) else observed,
        low=None,
        high=None,
        n=n,
        reason=reason,
        n_undefined=0,
        n_resamples=0,
        confidence_level=confidence_level,
        interval_reason=interval_reason,
        n_clusters=n_clusters,
        n_left_out=n_left_out,
    )
    return found if values is None else _with_interval(found, values)


def _why_undefined(observed: float, n_units: int) -> str | None:
    if not np.isnan(observed):
        return None
    return "no units" if n_units == 0 else "the statistic is undefined on these units"


def _with_interval(found: Estimate, values: Floats) -> Estimate:
    """The percentile interval of `values`, the statistic in each resample, written into the estimate."""
    defined = values[~np.isnan(values)]
    counted = replace(found, n_undefined=values.size - defined.size, n_resamples=values.size)
    if defined.size == 0:
        return replace(counted, interval_reason="the statistic is undefined in every resample")
    low, high, error = _interval(defined, found.confidence_level)
    # Of an error nobody needs the last digits, in which equal values of different sums may differ.
    rounded = float(f"{error:.6g}") if np.isfinite(error) else None
    return replace(counted, low=low, high=high, monte_carlo_error=rounded)
