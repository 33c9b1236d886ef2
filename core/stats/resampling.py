"""Estimates with intervals: cluster bootstrap and jackknife for statistics of sums, and Wilson intervals for shares."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Rng = int | np.random.Generator
"""Seed or generator; an int gives the same resamples every time."""
Statistic = Callable[[Floats], Floats]
"""Takes sums of shape (..., k) and returns values of shape (...), NaN if undefined."""

MONTE_CARLO_SHARE = 1 / 20
"""Resampling can stop once the Monte Carlo error of each bound is below this share of the interval's width."""
NO_RESAMPLES = "no resamples requested"
ONE_CLUSTER = "fewer than two clusters: nothing to resample"
MOST_PRODUCTS = 250_000
"""Most multiplications in one matrix product: for larger ones, libraries start threads that mostly wait."""
_BLOCK_CELLS = 4_000_000  # drawn counts in memory at a time: 32 MB


class Resampling(TypedDict, total=False):
    """Resampling options, accepted by every function with an interval; defaults as in `cluster_bootstrap`."""

    n_resamples: int
    confidence_level: float
    rng: Rng


@dataclass(frozen=True)
class Estimate:
    """A statistic with its percentile interval. `reason` or `interval_reason` explains every None."""

    estimate: float | None
    """The statistic on the observed data."""
    low: float | None
    """Lower end of the interval."""
    high: float | None
    """Upper end of the interval."""
    n: int
    """Number of units used."""
    reason: str | None
    """Why the estimate is undefined."""
    n_undefined: int
    """Resamples with an undefined statistic. They are dropped, so the interval is conditional on a defined value."""
    n_resamples: int
    """Resamples drawn, including undefined ones."""
    confidence_level: float
    """Two-sided level of the interval, in (0, 1)."""
    interval_reason: str | None = None
    """Why there is no interval."""
    n_clusters: int = 0
    """Clusters (questions) with a unit used."""
    n_left_out: int = 0
    """Units not used."""
    monte_carlo_error: float | None = None
    """Monte Carlo standard error of the less precise bound; None without an interval."""


def quantile(values: Floats, q: float) -> float:
    """The smallest of `values` whose cumulative share is at least q (numpy's "inverted_cdf").

    `values` has shape (n,), n >= 1, without NaN. The result is always an observed value, never an interpolated one. This
    matters for means of -1, 0 and +1, where another convention can move a bound by 1/n. q is rounded to 12 places first,
    because (1 - 0.95) / 2 is slightly above 0.025 in binary.
    """
    return float(np.quantile(values, round(q, 12), method="inverted_cdf"))


def monte_carlo_error(values: Floats, q: float) -> float:
    """Standard error of `quantile(values, q)` as an estimate of the quantile of infinitely many resamples.

    Half the distance between the order statistics one binomial standard deviation below and above the quantile, without
    assumptions about the distribution (David and Nagaraja 2003, Order Statistics, sec. 7.1; as the error of a
    quantile in Vehtari et al. 2021, Bayesian Analysis 16:667). Infinite if there are too few values.
    """
    reach = np.sqrt(values.size * q * (1 - q))
    low, high = int(np.floor(values.size * q - reach)), int(np.ceil(values.size * q + reach))
    if low < 1 or high > values.size:
        return float("inf")
    ordered = np.partition(values, [low - 1, high - 1])
    return float(ordered[high - 1] - ordered[low - 1]) / 2


def is_settled(estimate: Estimate) -> bool:
    """Whether more resamples would hardly change the interval, or there is none.

    True if the Monte Carlo error of each bound is below MONTE_CARLO_SHARE of the interval's width, or if both are 0.
    """
    if estimate.low is None or estimate.high is None:
        return True
    width, error = estimate.high - estimate.low, estimate.monte_carlo_error
    return error is not None and (error < MONTE_CARLO_SHARE * width or error == 0 == width)


def numbered(labels: ArrayLike) -> Indices:
    """Number each label from 0, in the order of the labels; equal labels share a number."""
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def resamples_at_once(cells: int) -> int:
    """Number of resamples with this many cells each to compute at once, to limit memory; at least one."""
    return max(1, _BLOCK_CELLS // cells)


def block_sizes(n_resamples: int, together: int) -> Iterator[int]:
    """Sizes of blocks of at most `together` resamples, n_resamples in total."""
    for start in range(0, n_resamples, together):
        yield min(together, n_resamples - start)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise quotient, NaN if the denominator is 0."""
    undefined = denominator == 0
    quotient = numerator / np.where(undefined, 1.0, denominator)
    return np.asarray(np.where(undefined, np.nan, quotient), dtype=np.float64)


def mean_of_sums(sums: Floats) -> Floats:
    """The statistic "ratio of sums" for columns (sum, count): a mean over units, NaN without units."""
    return ratio(sums[..., 0], sums[..., 1])


def check_confidence_level(confidence_level: float) -> None:
    """Raise ValueError unless the level is strictly between 0 and 1."""
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie strictly between 0 and 1, got {confidence_level!r}")


def unit_clusters(clusters: ArrayLike | None, n_units: int) -> NDArray[np.generic]:
    """The cluster of each unit, shape (n_units,); by default every unit is its own. Raises ValueError for other shapes."""
    labels = np.arange(n_units) if clusters is None else np.asarray(clusters)
    if labels.shape != (n_units,):
        raise ValueError(f"clusters must have shape ({n_units},), one label a unit, got {labels.shape}")
    return labels


def unit_weights(weights: ArrayLike | None, n_units: int) -> Floats:
    """What each unit counts, shape (n_units,); by default 1. Raises ValueError for other shapes and weights not above 0."""
    counts = np.ones(n_units) if weights is None else np.asarray(weights, dtype=np.float64)
    if counts.shape != (n_units,):
        raise ValueError(f"weights must have shape ({n_units},), one a unit, got {counts.shape}")
    if not (counts > 0).all() or np.isinf(counts).any():
        raise ValueError("weights must be positive and finite")
    return counts


def cluster_sums(per_unit: Floats, clusters: ArrayLike) -> Floats:
    """Sums of the rows of `per_unit` (n_units, k) within each cluster: shape (n_clusters, k).

    `clusters` contains one label for each unit, of one sortable type (str or int). Clusters are in the order of labels.
    """
    labels = np.asarray(clusters)
    if per_unit.ndim != 2 or labels.shape != per_unit.shape[:1]:
        raise ValueError(
            f"per_unit must have shape (n_units, k) and clusters (n_units,), got {per_unit.shape} and {labels.shape}"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("clusters contain NaN: every unit needs the label of its cluster")
    names, index = np.unique(labels, return_inverse=True)
    sums = np.zeros((names.size, per_unit.shape[1]))
    np.add.at(sums, index, per_unit)
    return sums


def bootstrap_distribution(
    sums: Floats, statistic: Statistic, *, n_resamples: int = 10_000, rng: Rng = 0
) -> Floats:
    """The statistic in each resample of clusters, NaN if undefined: shape (n_resamples,).

    `sums` has shape (n_clusters, k), n_clusters >= 1: one row of sums for each cluster. Each resample draws n_clusters of
    them with replacement. The statistic is the same for clusters with equal sums, so the number of draws
    is simulated for each distinct row (multinomial with their shares): the same distribution, far fewer counts, and a
    result that does not depend on the order of the data.
    """
    if n_resamples < 0:
        raise ValueError(f"n_resamples must not be negative, got {n_resamples}")
    if sums.ndim != 2 or len(sums) == 0:
        raise ValueError(f"sums must have shape (n_clusters, k) with at least one cluster, got {sums.shape}")
    generator = np.random.default_rng(rng)
    distinct, multiplicity = np.unique(sums, axis=0, return_counts=True)
    shares = multiplicity / len(sums)
    values = [
        statistic(generator.multinomial(len(sums), shares, size=size).astype(np.float64) @ distinct)
        for size in block_sizes(n_resamples, resamples_at_once(len(distinct)))
    ]
    return np.concatenate(values) if values else np.empty(0)


def cluster_bootstrap(
    per_unit: ArrayLike,
    clusters: ArrayLike,
    statistic: Statistic,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
) -> Estimate:
    """Estimate a function of per-unit sums, with a percentile interval over resampled clusters.

    per_unit: shape (n_units, k), finite; the statistic uses only sums of its rows. clusters: shape (n_units,), the
    question of each unit; a different label for every unit gives the plain bootstrap. n_resamples: 0 gives
    no interval. confidence_level: two-sided. rng: an int gives the same interval every time.

    Degenerate cases: no units or an undefined statistic give estimate None. Fewer than two clusters give no interval;
    identical clusters give one of width 0. Undefined resamples are dropped and counted in `n_undefined`.

    Misleads with few clusters: the percentile interval treats the observed clusters as the population and is too
    narrow below about 30 to 50 clusters. An interval of width 0 means that nothing varied, not that nothing can.
    """
    check_confidence_level(confidence_level)
    rows = np.asarray(per_unit, dtype=np.float64)
    if not np.isfinite(rows).all():
        raise ValueError("per_unit contains NaN or infinity: leave out unusable units before resampling")
    sums = cluster_sums(rows, clusters)
    observed = float(statistic(rows.sum(axis=0))) if len(rows) else np.nan
    no_interval = why_no_interval(observed, len(sums), n_resamples)
    undefined = "the statistic is undefined on these units" if len(rows) else "no units"
    return resampled_estimate(
        observed,
        None if no_interval else bootstrap_distribution(sums, statistic, n_resamples=n_resamples, rng=rng),
        n=len(rows),
        n_clusters=len(sums),
        confidence_level=confidence_level,
        reason=undefined if np.isnan(observed) else None,
        interval_reason=no_interval,
    )


def why_no_interval(observed: float, n_clusters: int, n_resamples: int) -> str | None:
    """Reason why resampling clusters gives no interval; None if it does. Raises ValueError for n_resamples < 0."""
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
    """The estimate with the percentile interval of `values`, the statistic in each resample.

    observed: NaN if undefined, for `reason`. values: shape (n_resamples,), NaN if undefined; None gives no interval, for
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
    if values is None:
        return found
    defined = values[~np.isnan(values)]
    counted = replace(found, n_undefined=values.size - defined.size, n_resamples=values.size)
    if defined.size == 0:
        return replace(counted, interval_reason="the statistic is undefined in every resample")
    tail = (1 - confidence_level) / 2
    error = max(monte_carlo_error(defined, tail), monte_carlo_error(defined, 1 - tail))
    # Rounded, because equal values of different sums may differ in their last digits.
    rounded = float(f"{error:.6g}") if np.isfinite(error) else None
    low, high = quantile(defined, tail), quantile(defined, 1 - tail)
    return replace(counted, low=low, high=high, monte_carlo_error=rounded)


def cluster_estimate(
    observed: float,
    statistic: Statistic | None,
    n_clusters: int,
    *,
    together: int,
    n: int,
    reason: str | None = None,
    no_interval: str | None = None,
    n_left_out: int = 0,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
) -> Estimate:
    """The estimate with the percentile interval of a statistic that takes counts of clusters (n_clusters, resamples).

    observed: NaN if undefined, for `reason`; then no statistic is needed. together: resamples to draw at a time.
    no_interval: reason to give no interval, even if one were possible.
    """
    check_confidence_level(confidence_level)
    no_interval = no_interval or why_no_interval(observed, n_clusters, n_resamples)
    values = None
    if statistic is not None and no_interval is None:
        drawn = draw_counts(n_clusters, n_resamples, together, rng)
        values = np.concatenate([statistic(counts) for counts in drawn])
    return resampled_estimate(
        observed,
        values,
        n=n,
        n_clusters=n_clusters,
        confidence_level=confidence_level,
        reason=reason,
        interval_reason=no_interval,
        n_left_out=n_left_out,
    )


_KEPT_CELLS = 40_000_000  # counts to cache, one byte each: 40 MB, twice
_DRAWN_AT_ONCE = 256
_CELLS, _FEWEST_TOGETHER = (
    1_280_000,
    64,
)  # cells of a block: blocks of 10 MB are summed faster than larger ones


@dataclass(frozen=True)
class Drawn:
    """Counts of some resamples in the forms needed for ranks and pairs."""

    padded: NDArray[np.unsignedinteger[Any]]
    """(clusters + 1, resamples), in a small integer type; the last row is 0, for places without a row."""
    single: NDArray[np.float32]
    """(clusters, resamples)."""
    largest: int
    """The largest count."""
    total: int
    """The largest number of rows in one resample."""


def drawn_of(counts: Floats, sizes: Floats) -> Drawn:
    """Convert counts (clusters, resamples), whole numbers. sizes: rows of each cluster."""
    largest = int(counts.max(initial=0))
    padded = np.zeros((len(counts) + 1, counts.shape[1]), dtype=np.min_scalar_type(largest))
    padded[:-1] = counts
    return Drawn(padded, counts.astype(np.float32), largest, int((sizes @ counts).max(initial=0)))


def draw_counts(n_clusters: int, n_resamples: int, together: int, rng: Rng) -> Iterator[Floats]:
    """How often each cluster was drawn, in blocks (n_clusters, at most `together`).

    Each resample has n_clusters draws with replacement. Counts depend only on the seed, not on the size of blocks, and the
    first ones not on how many follow. Counts of few clusters are cached for the next statistic of the same items.
    """
    if isinstance(rng, int) and n_clusters * n_resamples <= _KEPT_CELLS:
        kept = _kept(n_clusters, rng)
        together = min(together, max(_FEWEST_TOGETHER, _CELLS // n_clusters))
        for start in range(0, n_resamples, together):
            yield kept.counts(start, min(start + together, n_resamples))
        return
    generator = np.random.default_rng(rng)
    for size in block_sizes(n_resamples, together):
        yield _drawn(n_clusters, size, generator).astype(np.float64)


def _drawn(n_clusters: int, size: int, generator: np.random.Generator) -> NDArray[np.unsignedinteger[Any]]:
    """Counts of `size` resamples: shape (n_clusters, size), in a small integer type."""
    drawn = generator.integers(0, n_clusters, size=(size, n_clusters))
    drawn += np.arange(size)[:, None] * n_clusters
    counts = np.bincount(drawn.ravel(), minlength=size * n_clusters).reshape(size, n_clusters)
    kind = np.min_scalar_type(int(counts.max(initial=0)))
    return np.ascontiguousarray(counts.astype(kind).T)


class _Kept:
    """Cached counts, drawn on first use. Threads may share them."""

    def __init__(self, n_clusters: int, seed: int) -> None:
        self._n_clusters = n_clusters
        self._generator = np.random.default_rng(seed)
        self._blocks: list[NDArray[np.unsignedinteger[Any]]] = []
        self._lock = Lock()

    def counts(self, start: int, stop: int) -> Floats:
        """Counts of resamples start to stop: shape (n_clusters, stop - start)."""
        with self._lock:
            while len(self._blocks) * _DRAWN_AT_ONCE < stop:
                self._blocks.append(_drawn(self._n_clusters, _DRAWN_AT_ONCE, self._generator))
        first = start // _DRAWN_AT_ONCE
        blocks = self._blocks[first : -(-stop // _DRAWN_AT_ONCE)]
        offset = first * _DRAWN_AT_ONCE
        found = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
        return found[:, start - offset : stop - offset].astype(np.float64)


@lru_cache(maxsize=2)
def _kept(n_clusters: int, seed: int) -> _Kept:
    return _Kept(n_clusters, seed)


NO_WIDTH = (
    "every resample gives the same value, so the interval has no width and does not show the uncertainty"
)

NOTHING_VARIES = "leaving out any cluster gives the same value: nothing varies"
_ROUNDING = 1e-12  # leave-one-out values that differ by less are equal


@dataclass(frozen=True)
class AgreementEstimate(Estimate):
    """An estimate with a percentile interval (`low`, `high`) and a jackknife interval over the same clusters.

    `interval_reason` is also given if the percentile interval has no width.
    """

    low_t: float | None = None
    """Lower end of the jackknife interval."""
    high_t: float | None = None
    """Upper end of the jackknife interval."""
    interval_t_reason: str | None = None
    """Why there is no jackknife interval."""

    @property
    def by_jackknife(self) -> Estimate:
        """The estimate with its jackknife interval alone."""
        kept = {field.name: getattr(self, field.name) for field in fields(Estimate)}
        ends = {"low": self.low_t, "high": self.high_t, "interval_reason": self.interval_t_reason}
        return Estimate(**kept | ends)


def add_jackknife(
    estimate: Estimate, sums: Floats, statistic: Statistic, scale: tuple[float, float]
) -> AgreementEstimate:
    """Add the jackknife interval, estimate +- t * standard error, cut to `scale`.

    sums: shape (n_clusters, k), one row of sums for each cluster; `statistic` takes their total. The variance is (c - 1) / c
    times the sum of squared distances of the c leave-one-out values from their mean; t has c - 1 degrees of freedom.

    There is no interval for fewer than two clusters, if the statistic is undefined without one of them, or if leaving out
    any cluster gives the same value. Misleads with a handful of clusters, because it is then very wide, and if one cluster
    has most of the units.
    """
    interval_reason = estimate.interval_reason
    if estimate.low is not None and estimate.low == estimate.high:
        interval_reason = NO_WIDTH
    low, high, reason = _jackknife_interval(estimate, sums, statistic, scale)
    kept = {field.name: getattr(estimate, field.name) for field in fields(Estimate)}
    return AgreementEstimate(
        **kept | {"interval_reason": interval_reason}, low_t=low, high_t=high, interval_t_reason=reason
    )


def leave_one_out(sums: Floats, statistic: Statistic) -> Floats:
    """The statistic without each cluster in turn, shape (n_clusters,); see `add_jackknife`."""
    total = sums.sum(axis=0)
    parts = range(0, len(sums), resamples_at_once(sums.shape[1]))
    return np.concatenate([statistic(total - sums[start : start + parts.step]) for start in parts])


def jackknife_error(values: Floats) -> float:
    """Jackknife standard error from the statistic without each cluster, shape (n_clusters,)."""
    return float(np.sqrt((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum()))


def jackknife_influence(values: Floats) -> Floats:
    """What each cluster moves the statistic, from the statistic without each, shape (n_clusters, ...); sums to 0 over clusters.

    For a mean it is each cluster's distance from the mean over their number (Efron 1982, The Jackknife, chapter 6).
    """
    return np.asarray((len(values) - 1) / max(len(values), 1) * (values.mean(axis=0) - values))


def _jackknife_interval(
    estimate: Estimate, sums: Floats, statistic: Statistic, scale: tuple[float, float]
) -> tuple[float | None, float | None, str | None]:
    if estimate.estimate is None:
        return None, None, "the estimate is undefined"
    if len(sums) < 2:
        return None, None, "fewer than two clusters: none can be left out"
    low, high, _, reason = jackknife_ends(
        estimate.estimate, leave_one_out(sums, statistic), estimate.confidence_level, scale
    )
    return low, high, reason


def sign_flips(n: int, n_resamples: int, rng: Rng) -> tuple[Floats, bool]:
    """Signs of shape (n, flips), and whether they are all 2**n, which they are if these are at most n_resamples."""
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    exact = 2**n <= n_resamples
    if exact:
        coins = np.arange(2**n)[None, :] >> np.arange(n)[:, None] & 1
    else:
        coins = np.random.default_rng(rng).integers(0, 2, size=(n, n_resamples))
    return 1 - 2 * coins.astype(np.float64), exact


def flips_p(values: Floats, observed: float, exact: bool) -> float:
    """P of a statistic, large where the null is wrong, from its values after each flip; never 0 where flips were drawn."""
    reached = int((values >= observed - 1e-12).sum())
    return reached / values.size if exact else (1 + reached) / (1 + values.size)


def sign_flip_p(
    differences: ArrayLike, clusters: ArrayLike, *, n_resamples: int = 9_999, rng: Rng = 0
) -> float | None:
    """Two-sided p of paired differences around 0, from flipping the signs of whole clusters (Fisher's randomisation test).

    differences: shape (n,), finite. clusters: shape (n,), the item of each. Valid for any n and any distribution if the two
    sides of a pair are exchangeable under the null, so also for verdicts with many ties, where t tests of few items are
    not. Clusters that sum to 0 never matter; if all do, p is 1. Exact for 13 or fewer others, by 9,999 drawn flips else. None
    without a difference.

    Misleads where a p is large because few clusters differ at all: with five, it is never below 0.06.
    """
    sums = cluster_sums(np.asarray(differences, dtype=np.float64)[:, None], clusters)[:, 0]
    moved = sums[np.abs(sums) > _ROUNDING]
    if not sums.size:
        return None
    if not moved.size:
        return 1.0
    shares = moved / np.abs(moved).max()
    total = float(shares.sum())
    if exact := 2**moved.size <= n_resamples:
        flipped = shares @ sign_flips(moved.size, n_resamples, rng)[0]
    else:
        # In blocks and as small integers, because `sign_flips` would hold all signs of many items at once.
        generator = np.random.default_rng(rng)
        coins = (
            generator.integers(0, 2, size=(size, moved.size), dtype=np.int8).astype(np.float64)
            for size in block_sizes(n_resamples, resamples_at_once(moved.size))
        )
        flipped = np.concatenate([2 * (each @ shares) - total for each in coins])
    return flips_p(np.abs(flipped), abs(total), exact)


def jackknife_ends(
    estimate: float, values: Floats, confidence_level: float, scale: tuple[float, float]
) -> tuple[float | None, float | None, float | None, str | None]:
    """Ends of the interval estimate +- t * standard error, the two-sided p-value against 0, and the reason for none.

    values: shape (c,), the statistic without each of c clusters or equal groups of clusters. See `add_jackknife`.
    """
    if np.isnan(values).any():
        return None, None, None, "the statistic is undefined without one of the clusters"
    if np.ptp(values) <= _ROUNDING:
        return None, None, None, NOTHING_VARIES
    from scipy.stats import t as student  # imported lazily: loads slowly, and judges need only the bootstrap

    clusters, error = len(values), jackknife_error(values)
    reach = float(student.ppf((1 + confidence_level) / 2, clusters - 1)) * error
    p = 2 * float(student.sf(abs(estimate) / error, clusters - 1))
    return max(scale[0], estimate - reach), min(scale[1], estimate + reach), p, None


def mean_estimates(values: ArrayLike, clusters: ArrayLike, **drawing: Unpack[Resampling]) -> list[Estimate]:
    """Mean of each column of `values` (n_units, k) over units that are not NaN; for flags (0 and 1), a share.

    Like `ratio_estimates`; `n` counts a column's values, `n_left_out` its NaN.
    """
    units = np.asarray(values, dtype=np.float64)
    used = ~np.isnan(units)
    found = ratio_estimates(np.where(used, units, 0.0), used, clusters, **drawing)
    return [replace(estimate, n_left_out=len(units) - estimate.n) for estimate in found]


def ratio_estimates(
    numerators: ArrayLike,
    denominators: ArrayLike,
    clusters: ArrayLike,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
) -> list[Estimate]:
    """Ratio of sums for each column of `numerators` and `denominators` (n_units, k), with percentile intervals.

    numerators: finite. denominators: counts, 0 if a unit does not count in a column; `n` is their sum. clusters: shape
    (n_units,), the item of each unit; all columns use the same resamples of all items. Misleads like
    `cluster_bootstrap`: too narrow with few clusters.
    """
    check_confidence_level(confidence_level)
    above, below = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if above.ndim != 2 or above.shape != below.shape:
        raise ValueError(f"both must have one shape (n_units, k), got {above.shape} and {below.shape}")
    return ratios_of_sums(
        cluster_sums(np.hstack([above, below]), clusters),
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )


def ratios_of_sums(
    sums: "Floats | csr_array",
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
) -> list[Estimate]:
    """`ratio_estimates` of sums by cluster (n_clusters, 2 k): k numerators, then k denominators; every cluster has a row.

    A sparse matrix gives the same numbers in the memory of its entries, for very many clusters.
    """
    check_confidence_level(confidence_level)
    half = sums.shape[1] // 2
    totals = np.asarray(sums.sum(axis=0), dtype=np.float64)
    observed = _ratios(totals)
    n_clusters = np.asarray((sums[:, half:] > 0).sum(axis=0))
    drawn = None
    if sums.shape[0] > 1 and n_resamples > 0:
        counts = draw_counts(sums.shape[0], n_resamples, resamples_at_once(sums.shape[0]), rng)
        drawn = np.concatenate([_ratios(np.asarray(each.T @ sums)) for each in counts])
    found = []
    for k, (value, n_used) in enumerate(zip(observed.tolist(), n_clusters.tolist(), strict=True)):
        no_interval = why_no_interval(value, n_used, n_resamples)
        found.append(
            resampled_estimate(
                value,
                None if no_interval or drawn is None else drawn[:, k],
                n=int(totals[half + k]),
                n_clusters=n_used,
                confidence_level=confidence_level,
                reason="no units" if np.isnan(value) else None,
                interval_reason=no_interval,
            )
        )
    return found


def _ratios(sums: Floats) -> Floats:
    """Ratios from sums (..., 2 k), first k numerators, then k denominators; NaN if a denominator is 0."""
    half = sums.shape[-1] // 2
    return ratio(sums[..., :half], sums[..., half:])


@dataclass(frozen=True)
class Share:
    """A share: a count out of a total."""

    count: int
    """Number with the property."""
    n: int
    """Total number."""
    share: float | None
    low: float | None
    high: float | None
    confidence_level: float
    reason: str | None = None


def wilson_share(
    count: int, n: int, *, confidence_level: float = 0.95, reason: str = "nothing to count"
) -> Share:
    """The share count / n, in [0, 1], with an interval that stays within it.

    Interval: Wilson (1927, Journal of the American Statistical Association 22:209), without continuity correction. n =
    0: undefined, for `reason`. Misleads if the counted units are grouped (questions of one text, errors of one text): the
    interval assumes independence and is then too narrow.
    """
    check_confidence_level(confidence_level)
    if not 0 <= count <= n:
        raise ValueError(f"count must lie between 0 and n, got {count} of {n}")
    if n == 0:
        return Share(0, 0, None, None, None, confidence_level, reason)
    from scipy.stats import binomtest  # loads slowly

    interval = binomtest(count, n).proportion_ci(confidence_level=confidence_level, method="wilson")
    return Share(count, n, count / n, float(interval.low), float(interval.high), confidence_level)


def wilson_ends(
    share: float, error: float, *, n_clusters: int, most: float, confidence_level: float
) -> tuple[float, float]:
    """Wilson's interval of a share over clusters, from its jackknife standard error over them.

    The effective number of units is p (1 - p) / error^2 (Kish 1965), at most `most`, the number of units; where nothing
    varies, the number of clusters. The quantile is that of t with n_clusters - 1 degrees of freedom (as in Korn and Graubard
    1998, Survey Methodology 24:193, for the exact interval; Dean and Pagano 2015, Journal of Survey Statistics and
    Methodology 3:484, for Wilson's). Unlike estimate +- t errors, it stays within [0, 1] and has a width at 0 and 1.
    Needs at least two clusters.
    """
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    spread = share * (1 - share)
    varies = spread > _ROUNDING and error**2 > _ROUNDING**2
    effective = min(spread / error**2, most) if varies else float(n_clusters)
    return wilson_of(share, float(stdtrit(n_clusters - 1, (1 + confidence_level) / 2)) ** 2 / effective)


def wilson_of(share: float, squared: float) -> tuple[float, float]:
    """Wilson's interval of a share in [0, 1], from the squared quantile over the number of units, which need not be whole."""
    middle = (share + squared / 2) / (1 + squared)
    reach = float(np.sqrt(squared * (share * (1 - share) + squared / 4))) / (1 + squared)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def mean_share(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Estimate:
    """Mean of shares over units, with Wilson's interval over clusters (`wilson_ends`).

    values: shape (n,), each in [0, 1], NaN for a unit without one (left out and counted). clusters: shape (n,), by default
    every unit is its own. weights: shape (n,), positive, what each unit counts (`planning.weights_of`); by default all count
    the same. No resampling, so that large tables take no longer than their mean.
    """
    check_confidence_level(confidence_level)
    given = np.asarray(values, dtype=np.float64)
    used = ~np.isnan(given)
    labels = unit_clusters(clusters, given.size)[used]
    counts = unit_weights(weights, given.size)[used]
    sums = cluster_sums(np.column_stack([counts * given[used], counts]), labels)
    observed = float(mean_of_sums(sums.sum(axis=0))) if used.any() else np.nan
    found = resampled_estimate(
        observed,
        None,
        n=int(used.sum()),
        n_clusters=len(sums),
        confidence_level=confidence_level,
        reason=None if used.any() else "no unit has a value",
        interval_reason=why_no_interval(observed, len(sums), 1),
        n_left_out=int((~used).sum()),
    )
    if found.interval_reason is not None:
        return found
    error = jackknife_error(leave_one_out(sums, mean_of_sums))
    # Units drawn by their uncertainty can be worth more than as many drawn at random.
    most = float(used.sum()) if weights is None else np.inf
    low, high = wilson_ends(
        observed, error, n_clusters=len(sums), most=most, confidence_level=confidence_level
    )
    return replace(found, low=low, high=high)


def agresti_min_mean(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    largest: float = 1.0,
    weights: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Estimate:
    """Mean of paired differences that lie in [-1, 1], with a t interval over clusters that has a width where nothing varies.

    differences: shape (n,), without NaN. The interval is that of the differences with half a cluster more at +largest, half a
    one at -largest and one at 0, each cluster with the average weight. For differences of passes and largest = 1 that is the
    interval of Agresti and Min (2005, Statistics in Medicine 24:729), who add 1/2 to each cell of the table, with t in place
    of z. largest: in (0, 1], the largest difference of a unit; for graded scores the largest observed, because the whole
    scale would make the interval too wide.
    `estimate` is the plain mean. weights: as in `mean_share`.
    """
    check_confidence_level(confidence_level)
    given = np.asarray(differences, dtype=np.float64)
    counts = unit_weights(weights, given.size)
    sums = cluster_sums(np.column_stack([counts * given, counts]), unit_clusters(clusters, given.size))
    observed = float(mean_of_sums(sums.sum(axis=0))) if given.size else np.nan
    found = resampled_estimate(
        observed,
        None,
        n=given.size,
        n_clusters=len(sums),
        confidence_level=confidence_level,
        reason=None if given.size else "no unit has a difference",
        interval_reason=why_no_interval(observed, len(sums), 1),
    )
    if found.interval_reason is not None:
        return found
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    n = len(sums) + 2
    weight = float(counts.sum()) / len(sums)
    middle = float(sums[:, 0].sum()) / weight / n
    apart = (sums[:, 0] - middle * sums[:, 1]) / weight
    # Half a cluster at each end and one at 0 have these squared distances from the middle.
    error = float(np.sqrt((apart**2).sum() + largest**2 + 2 * middle**2)) / n
    reach = float(stdtrit(n - 1, (1 + confidence_level) / 2)) * error
    return replace(found, low=max(-1.0, middle - reach), high=min(1.0, middle + reach))
