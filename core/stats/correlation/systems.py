"""Does a metric order systems, and the outputs of an item, as people do?

Systems are compared by mean scores, outputs pair by pair; scores within a calibrated distance may count as ties.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.correlation.coefficients import Method, column, row_coefficients, why_undefined
from core.stats.correlation.intervals import Alternative, PairedTest, n_reached
from core.stats.correlation.noise import RESAMPLES, ItemErrors, NoiseCorrected, items_alike, noise_corrected
from core.stats.degeneracy import ROUNDING, tied
from core.stats.resampling import (
    NO_RESAMPLES,
    Estimate,
    Floats,
    Resampling,
    Rng,
    block_sizes,
    check_confidence_level,
    cluster_estimate,
    draw_counts,
    numbered,
    ratio,
    resampled_estimate,
    resamples_at_once,
    why_no_interval,
)

SystemStatistic = Method | Literal["accuracy"]


def system_correlation(
    x: ArrayLike, y: ArrayLike, systems: ArrayLike, method: Method, **options: Any
) -> Estimate:
    """Correlate the systems' means of x and y, with an interval over items.

    All (n,). paired: both means use the rows with both values; otherwise each mean uses all rows with its own value, as in
    WMT's metrics task, where people rate a part of what metrics score. `n` counts systems, `n_left_out` systems without a
    value. items: resampled with fixed systems; None gives no interval. A resample in which a system has no row is dropped
    and counted. Naive, and misleads with few items or close systems: the observed means are noisy, which lowers the
    coefficient, and resampling adds that noise a second time (`corrected_between_systems` does neither). Also misleads with few
    systems, and if one outlier system makes any metric look good (Mathur et al. 2020, ACL). Further arguments: see
    `compare_systems`.
    """
    return compare_systems(x, y, systems, (method,), **options)[method]


def system_accuracy(
    x: ArrayLike, y: ArrayLike, systems: ArrayLike, items: ArrayLike | None = None, **options: Any
) -> Estimate:
    """Share of system pairs whose means of x and of y differ in the same direction (Kocmi et al. 2021, WMT, sec. 4).

    Arguments and interval as in `system_correlation`; `n` counts pairs, chance gives 0.5. Ties count as in WMT's metrics
    task: a pair is right if both differences have the same sign, so a human tie is matched only by a tie of the metric.
    Naive, and misleads if many systems are equally good: the order of their pairs is random on both sides. No correction for
    the noise of items is known; `accuracy_bound` bounds the value of infinitely many items.
    """
    return compare_systems(x, y, systems, ("accuracy",), items=items, **options)["accuracy"]


def compare_systems(
    x: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    statistics: Sequence[SystemStatistic],
    *,
    items: ArrayLike | None = None,
    paired: bool = True,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Rng = 0,
    names: tuple[str, str] = ("mean scores", "mean ratings"),
) -> dict[SystemStatistic, Estimate]:
    """Several `system_correlation` coefficients, and `system_accuracy` as "accuracy", from the same means and resamples."""
    check_confidence_level(confidence_level)
    summed = system_sums(x, y, systems, items, paired)
    sums, n_left_out, n_systems = summed.sums, summed.n_left_out, summed.systems.size
    observed = means_of(sums.sum(axis=0)[None])
    estimates = {name: float(_statistic(name, observed)[0]) for name in statistics}
    why_none: dict[SystemStatistic, str | None] = {
        name: ("fewer than two systems" if n_systems < 2 else None)
        if name == "accuracy"
        else why_undefined(observed[0, 0], observed[1, 0], names, "systems")
        for name in statistics
    }
    no_interval = {name: why_no_interval(one, len(sums), n_resamples) for name, one in estimates.items()}
    if items is None:
        no_interval |= {
            name: "no items given: nothing to resample"
            for name, one in estimates.items()
            if not np.isnan(one)
        }
    wanted = [name for name in statistics if no_interval[name] is None]
    values = resampled_statistics(wanted, sums, n_resamples, rng) if wanted else {}
    return {
        name: resampled_estimate(
            estimates[name],
            values.get(name),
            n=n_systems * (n_systems - 1) // 2 if name == "accuracy" else n_systems,
            n_clusters=0 if items is None else len(sums),
            confidence_level=confidence_level,
            reason=why_none[name],
            interval_reason=no_interval[name],
            n_left_out=n_left_out,
        )
        for name in statistics
    }


def _statistic(name: SystemStatistic, means: Floats) -> Floats:
    """The statistic of means (2, rows, systems): shape (rows,)."""
    return _accuracy(means) if name == "accuracy" else row_coefficients(means[0], means[1], name)


def _accuracy(means: Floats) -> Floats:
    """The statistic of means (2, rows, systems): shape (rows,)."""
    first, second = np.triu_indices(means.shape[2], 1)
    signs = np.sign(means[:, :, first] - means[:, :, second])
    right = (signs[0] == signs[1]).sum(axis=1).astype(np.float64)
    return ratio(right, np.full(right.shape, float(first.size)))


def resampled_statistics(
    statistics: Sequence[SystemStatistic], sums: Floats, n_resamples: int, rng: Rng
) -> dict[SystemStatistic, Floats]:
    """Statistics of means in each resample of items; NaN if a system has no row."""
    flat = sums.reshape(len(sums), -1)
    together = resamples_at_once(max(len(sums), sums.shape[2] ** 2))
    parts: dict[SystemStatistic, list[Floats]] = {name: [] for name in statistics}
    for counts in draw_counts(len(sums), n_resamples, together, rng):
        means = means_of((counts.T @ flat).reshape(-1, *sums.shape[1:]))
        missing = np.asarray(np.isnan(means).any(axis=(0, 2)), dtype=np.bool_)
        filled = np.where(missing[:, None], 0.0, means)
        for name, found in parts.items():
            found.append(np.where(missing, np.nan, _statistic(name, filled)))
    return {name: np.concatenate(found) for name, found in parts.items()}


class SystemMeans(NamedTuple):
    """The means that `system_correlation` correlates, one of each a system."""

    systems: NDArray[Any]
    """Labels of the systems with both means, sorted: shape (systems,)."""
    x: Floats
    y: Floats
    n_x: NDArray[np.intp]
    """Rows behind each mean of x."""
    n_y: NDArray[np.intp]
    n_left_out: int
    """Systems without one of the means."""


def system_means(x: ArrayLike, y: ArrayLike, systems: ArrayLike, *, paired: bool = True) -> SystemMeans:
    """Means of x and y (n,) of each system, as `system_correlation` correlates them. paired: see there."""
    found = system_sums(x, y, systems, None, paired)
    totals = found.sums.sum(axis=0)
    means = means_of(totals[None])[:, 0] * np.array(found.scales)[:, None]
    n_x, n_y = np.round(totals[:2]).astype(np.intp)
    return SystemMeans(found.systems, means[0], means[1], n_x, n_y, found.n_left_out)


class SystemSums(NamedTuple):
    """Sums from which systems' means are computed in any resample of items."""

    sums: Floats
    """(items, 6, systems): rows with x, rows with y, and sums of x, y, |x| and |y|."""
    systems: NDArray[Any]
    """Labels, (systems,)."""
    scales: tuple[float, float]
    """Numbers by which x and y were divided."""
    n_left_out: int
    """Systems without a value of x or of y."""


def system_sums(
    x: ArrayLike, y: ArrayLike, systems: ArrayLike, items: ArrayLike | None, paired: bool
) -> SystemSums:
    """Sums by item and system. x and y are scaled to at most 1, which changes no coefficient."""
    values, labels = (column(x), column(y)), np.asarray(systems)
    item_labels = np.zeros(labels.size, dtype=np.intp) if items is None else np.asarray(items)
    if not values[0].shape == values[1].shape == labels.shape == item_labels.shape:
        raise ValueError(
            "x, y, systems and items must have one shape (n,), got "
            f"{values[0].shape}, {values[1].shape}, {labels.shape}, {item_labels.shape}"
        )
    known = [~np.isnan(one) for one in values]
    if paired:
        known = [known[0] & known[1]] * 2
    compared = np.intersect1d(labels[known[0]], labels[known[1]])
    known = [one & np.isin(labels, compared) for one in known]
    used = known[0] | known[1]
    system, item = np.zeros((2, labels.size), dtype=np.intp)
    system[used], item[used] = numbered(labels[used]), numbered(item_labels[used])
    sums = np.zeros((int(item[used].max(initial=-1)) + 1, 6, compared.size))
    scales = []
    for side, (one, there) in enumerate(zip(values, known, strict=True)):
        place, held = (item[there], system[there]), one[there]
        scales.append(float(np.abs(held).max(initial=0.0)) or 1.0)
        scaled = held / scales[-1]
        for number, summand in ((side, np.ones(held.size)), (2 + side, scaled), (4 + side, np.abs(scaled))):
            np.add.at(sums[:, number], place, summand)
    return SystemSums(sums, compared, (scales[0], scales[1]), np.unique(labels).size - compared.size)


def means_of(sums: Floats) -> Floats:
    """Means of x and y from sums (rows, 6, systems): shape (2, rows, systems), NaN if a system has no row.

    Equal means are tied, whatever the order of summation.
    """
    counts, totals = np.moveaxis(sums[:, :2], 1, 0), np.moveaxis(sums[:, 2:], 1, 0)
    found = ratio(totals, np.concatenate([counts, counts]))
    return tied(found[:2], found[2:])


def corrected_between_systems(
    x: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    *,
    items: ArrayLike | None,
    paired: bool = True,
    n_resamples: int = RESAMPLES,
    confidence_level: float = 0.95,
    rng: Rng = 0,
    names: tuple[str, str] = ("mean scores", "mean ratings"),
) -> NoiseCorrected:
    """Pearson's r of the systems' means, corrected for the noise of the items: these systems, infinitely many items.

    Arguments as in `system_correlation`; formula, interval and reasons as in `noise.noise_corrected`. A mean's error is
    linearised: the part of an item is the sum of its rows' distances from the mean, over the number of the system's rows.
    An item's errors are correlated over systems (its difficulty) and between x and y, and both are taken into account.
    """
    sides = _item_errors(system_sums(x, y, systems, items, paired), known=items is not None)
    return noise_corrected(
        *sides, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng, names=names
    )


def _item_errors(summed: SystemSums, *, known: bool = True) -> tuple[ItemErrors, ItemErrors]:
    """Means of x and of y with the part of each item in their errors. known: whether items are given."""
    counts, totals = np.moveaxis(summed.sums[:, :2], 1, 0), np.moveaxis(summed.sums[:, 2:4], 1, 0)
    means = means_of(summed.sums.sum(axis=0)[None])[:, 0]
    rows = np.maximum(counts.sum(axis=1), 1)
    sides = []
    for side in range(2):
        errors = (totals[side] - counts[side] * means[side]) / rows[side]
        own = items_alike(means[side], errors, (counts[side] > 0).sum(axis=0))
        sides.append(own if known else replace(own, n_items=None))
    return sides[0], sides[1]


@dataclass(frozen=True)
class AccuracyBound:
    """Bounds of system accuracy over infinitely many items, for these systems."""

    low: float | None
    """Share of pairs that the metric certainly orders as people do."""
    high: float | None
    """1 minus the share of pairs that it certainly orders the other way."""
    n_pairs: int
    n_settled: int
    """Pairs whose order is certain on both sides."""
    confidence_level: float
    reason: str | None = None
    """Why there are no bounds."""


def accuracy_bound(
    x: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    *,
    items: ArrayLike | None,
    paired: bool = True,
    confidence_level: float = 0.95,
) -> AccuracyBound:
    """Bound the system accuracy that infinitely many items would give, from pairs whose order is certain.

    Arguments as in `system_correlation`. The order of a pair is certain on a side if the difference of its means is at least
    t(items - 1) standard errors over items from 0, with t for all pairs of both sides together (Bonferroni). With
    probability `confidence_level` at least, no certain order is wrong, and accuracy lies within the bounds.

    It is no estimate: every uncertain pair widens the bounds, and where systems are close or items few they are 0 and 1.
    Undefined without items, with fewer than two systems, or if a system has only one item.
    """
    check_confidence_level(confidence_level)
    sides = _item_errors(system_sums(x, y, systems, items, paired), known=items is not None)
    first, second = np.triu_indices(sides[0].values.size, 1)
    bound = AccuracyBound(None, None, first.size, 0, confidence_level)
    n_items = [side.n_items for side in sides]
    if not first.size:
        return replace(bound, reason="fewer than two systems")
    if n_items[0] is None or n_items[1] is None:
        return replace(bound, reason="no items given: the noise is unknown")
    if min(n_items[0], n_items[1]) < 2:
        return replace(bound, reason="a system has only one item: its noise is unknown")
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    tail = (1 - confidence_level) / (2 * 2 * first.size)
    signs = []
    for side in sides:
        covariance = side.errors.T @ side.errors
        spread = np.diag(covariance)
        error = np.sqrt(np.maximum(spread[first] + spread[second] - 2 * covariance[first, second], 0.0))
        apart = side.values[first] - side.values[second]
        certain = np.abs(apart) > -float(stdtrit((side.n_items or 2) - 1, tail)) * error
        signs.append(np.where(certain, np.sign(apart), 0.0))
    product = signs[0] * signs[1]
    return replace(
        bound,
        low=float((product > 0).mean()),
        high=float(1 - (product < 0).mean()),
        n_settled=int((product != 0).sum()),
    )


@dataclass(frozen=True)
class SoftAccuracy:
    """How closely a metric's confidence about system pairs matches people's."""

    accuracy: float | None
    """1 minus the mean difference of p, in [0, 1]; None if undefined, for `reason`."""
    n_pairs: int
    """System pairs compared."""
    n_swaps: int
    """Swaps drawn for each p."""
    n_left_out: int = 0
    """System pairs without an item with all four scores."""
    reason: str | None = None


def soft_pairwise_accuracy(
    human: ArrayLike, metric: ArrayLike, *, n_resamples: int = 1_000, rng: Rng = 0
) -> SoftAccuracy:
    """1 minus the mean over system pairs of |p_human - p_metric| (Thompson, Mathur and Freitag 2024, WMT).

    human, metric: shape (n_items, n_systems), NaN for missing. Each of n_resamples swaps exchanges the two systems' scores
    of each item with probability 1/2. p of a pair is the share of swaps whose difference of sums is at least the observed
    one: one-sided, not corrected. All pairs and both sides use the same swaps, so a metric equal to people has exactly 1. A
    pair is compared on the items where both systems have both scores. If every p were 0 or 1, the result would be
    `system_accuracy`.

    Misleads like system accuracy: for systems of equal quality every p is random in [0, 1], and two unrelated sides
    give 2/3, not 1/2. Has no interval: resampled items would add their noise to both p a second time. Undefined if a side
    scores all systems alike on every item: p would be 1 in either order of two systems, and the result would depend on the
    order of the systems alone.
    """
    if n_resamples < 0:
        raise ValueError(f"n_resamples must not be negative, got {n_resamples}")
    sides = [np.asarray(side, dtype=np.float64) for side in (human, metric)]
    if sides[0].ndim != 2 or sides[0].shape != sides[1].shape:
        raise ValueError(
            f"human and metric must have one shape (items, systems), got {sides[0].shape}, {sides[1].shape}"
        )
    known = ~(np.isnan(sides[0]) | np.isnan(sides[1]))
    filled = [np.where(known, side, 0.0) for side in sides]
    first, second = np.triu_indices(known.shape[1], 1)
    shared = (known.astype(np.float64).T @ known)[first, second] > 0
    pairs = (first[shared], second[shared])
    n_pairs, n_left_out = pairs[0].size, int((~shared).sum())
    if not n_pairs:
        reason = "fewer than two systems" if known.shape[1] < 2 else "no two systems share an item"
        return SoftAccuracy(None, 0, n_resamples, n_left_out, reason)
    if not n_resamples:
        return SoftAccuracy(None, n_pairs, 0, n_left_out, NO_RESAMPLES)
    for values, what in zip(filled, ("ratings", "scores"), strict=True):
        if why := _alike_everywhere(values, known, what):
            return SoftAccuracy(None, n_pairs, n_resamples, n_left_out, why)
    generator = np.random.default_rng(rng)
    n_reached = np.zeros((2, n_pairs))
    block = resamples_at_once(len(known))
    for size in block_sizes(n_resamples, block):
        drawn = generator.random((size, len(known)))
        swaps = np.where(drawn < 0.5, -1.0, 1.0)
        for begin in range(0, n_pairs, block):
            part = slice(begin, begin + block)
            one, other = pairs[0][part], pairs[1][part]
            both = known[:, one] & known[:, other]
            for side, values in enumerate(filled):
                # An item that a pair does not share adds 0 to its sums.
                differences = np.where(both, values[:, one] - values[:, other], 0.0)
                n_reached[side, part] += _reached(swaps, differences)
    p = n_reached / n_resamples
    return SoftAccuracy(1.0 - float(np.abs(p[0] - p[1]).mean()), n_pairs, n_resamples, n_left_out)


def _alike_everywhere(values: Floats, known: NDArray[np.bool_], what: str) -> str | None:
    """Why values (items, systems) order no two systems on any item; None: they do."""
    if not known.any() or np.ptp(values[known]) == 0:
        return f"all {what} are equal"
    low, high = (np.where(known, values, end) for end in (np.inf, -np.inf))
    compared = known.sum(axis=1) > 1
    return (
        None if (low.min(axis=1) < high.max(axis=1))[compared].any() else f"all {what} of an item are equal"
    )


def _reached(swaps: Floats, differences: Floats) -> Floats:
    """Number of swaps (n, items) in which the sum of each column of differences (items, pairs) is at least the observed one."""
    # Sums that differ only by rounding are equal.
    least = differences.sum(axis=0) - ROUNDING * np.abs(differences).sum(axis=0)
    return np.asarray((swaps @ differences >= least).sum(axis=0), dtype=np.float64)


_ROUNDING = 1e-12  # accuracies this close are equal: they are sums of the same fractions in another order


@dataclass(frozen=True)
class Pairs:
    """All pairs of all items, item by item."""

    item: NDArray[np.intp]
    """A number from 0 for items that have a pair."""
    human_ties: NDArray[np.bool_]
    agree: NDArray[np.bool_]
    """Whether both sides prefer the same system."""
    gap: Floats
    """Distance between the two metric scores."""
    sizes: Floats
    """Pairs of each item: shape (n_items,)."""

    @property
    def n_items(self) -> int:
        """Items with a pair."""
        return self.sizes.size

    def right(self, epsilon: float) -> NDArray[np.bool_]:
        """Whether the metric is right about each pair if scores within epsilon tie."""
        return np.where(self.gap <= epsilon, self.human_ties, self.agree)

    def per_item(self, epsilon: float) -> Floats:
        """Accuracy of each item: shape (n_items,)."""
        return np.asarray(np.bincount(self.item[self.right(epsilon)], minlength=self.n_items) / self.sizes)


def matrices(human: ArrayLike, metric: ArrayLike) -> tuple[Floats, Floats]:
    """Both as (n_items, n_systems). Raises ValueError for other shapes and for infinite scores."""
    sides = [np.asarray(values, dtype=np.float64) for values in (human, metric)]
    if sides[0].shape != sides[1].shape or sides[0].ndim not in (1, 2):
        raise ValueError(
            f"both must have one shape (n_items, n_systems), got {sides[0].shape} and {sides[1].shape}"
        )
    if any(np.isinf(values).any() for values in sides):
        raise ValueError("scores contain infinity; use NaN for a missing score")
    true, scores = (values[None] if values.ndim == 1 else values for values in sides)
    return true, scores


def known_pairs(true: Floats, scores: Floats) -> NDArray[np.bool_]:
    """Mask of system pairs i < j of each item that both sides scored."""
    first, second = np.triu_indices(true.shape[1], 1)
    known = ~(np.isnan(true) | np.isnan(scores))
    return np.asarray(known[:, first] & known[:, second])


def pairs_of(true: Floats, scores: Floats) -> Pairs:
    """All pairs of scores (n_items, n_systems), NaN for missing."""
    first, second = np.triu_indices(true.shape[1], 1)
    known = known_pairs(true, scores)
    rows = np.nonzero(known)[0]
    of_human = np.sign((true[:, first] - true[:, second])[known])
    with np.errstate(over="ignore"):  # the distance of huge scores is then infinity or the largest number
        between = np.nan_to_num((scores[:, first] - scores[:, second])[known])
    n_pairs = known.sum(axis=1)
    numbers = np.cumsum(n_pairs > 0) - 1
    return Pairs(
        item=numbers[rows],
        human_ties=of_human == 0,
        agree=(of_human != 0) & (of_human == np.sign(between)),
        gap=np.abs(between),
        sizes=n_pairs[n_pairs > 0].astype(np.float64),
    )


def steps(pairs: Pairs) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Pairs whose result changes when a growing epsilon ties them, nearest first; the place of the last pair of each epsilon;
    and the change that each makes to its item. Pairs that the metric ties itself are tied from the start.
    """
    changing = np.nonzero((pairs.gap > 0) & (pairs.human_ties | pairs.agree))[0]
    order = changing[np.argsort(pairs.gap[changing])]
    gaps = pairs.gap[order]
    last = np.nonzero(np.diff(gaps, append=np.inf) > 0)[0]
    return order, last, np.where(pairs.human_ties[order], 1.0, -1.0) / pairs.sizes[pairs.item[order]]


def best_tie(pairs: Pairs) -> tuple[float, float]:
    """The largest accuracy, and the smallest epsilon that reaches it; n_items >= 1."""
    order, last, change = steps(pairs)
    risen = np.concatenate([[0.0], change.cumsum()[last]]) / pairs.n_items
    at = int(np.argmax(risen >= risen.max() - _ROUNDING))
    epsilon = 0.0 if at == 0 else float(pairs.gap[order[last[at - 1]]])
    return float(pairs.per_item(epsilon).mean()), epsilon


Swap = Literal["pairs", "items", "scores"]

NO_PAIRS = "no item has two systems that both sides scored"
_COUNTED_AT_ONCE = 256


@dataclass(frozen=True)
class PairwiseAccuracy:
    """Share of pairs that a metric orders right, averaged over items."""

    accuracy: float | None
    """Accuracy in [0, 1]; None if undefined, for `reason`."""
    epsilon: float | None
    """Metric scores that differ by no more are ties, in the metric's own units. None if undefined."""
    n_items: int
    """Items with a pair."""
    n_systems: int
    """Systems in at least one pair."""
    n_pairs: int
    n_human_ties: int
    """Pairs that people tie."""
    n_metric_ties: int
    """Pairs that the metric ties at this epsilon."""
    n_items_left_out: int
    """Items without a pair."""
    reason: str | None = None


def pairwise_accuracy(human: ArrayLike, metric: ArrayLike, epsilon: float = 0.0) -> PairwiseAccuracy:
    """Accuracy at a given epsilon, 0 or more: 0 ties only equal scores.

    Misleads: at epsilon 0, a metric with fine scores never ties and is wrong about every pair that people tie, even if it
    orders the rest well. Metrics that often tie look better (`calibrate_ties` makes them comparable). Undefined without an
    item with two scores.
    """
    if not epsilon >= 0:
        raise ValueError(f"epsilon must be 0 or more, got {epsilon!r}")
    true, scores = matrices(human, metric)
    return _pairwise(true, scores, pairs_of(true, scores), epsilon)


def calibrate_ties(human: ArrayLike, metric: ArrayLike) -> PairwiseAccuracy:
    """Accuracy at the smallest epsilon that maximises it: one epsilon for all items, possibly 0.

    Misleads: epsilon is calibrated on the evaluated data, which slightly favours every metric, more so with few
    pairs. If people tie most pairs, a metric that ties everything reaches their share of ties. Compare metrics only
    over the same pairs.
    """
    true, scores = matrices(human, metric)
    pairs = pairs_of(true, scores)
    return _pairwise(true, scores, pairs, best_tie(pairs)[1] if pairs.n_items else 0.0)


def pair_results(human: ArrayLike, metric: ArrayLike, epsilon: float = 0.0) -> Floats:
    """Result for systems i < j of each item: 1 right, 0 wrong, NaN no pair; (n_items, n_systems (n_systems - 1) / 2).

    The mean of a row is the item's accuracy.
    """
    true, scores = matrices(human, metric)
    pairs = pairs_of(true, scores)
    results = np.full(known_pairs(true, scores).shape, np.nan)
    results[known_pairs(true, scores)] = pairs.right(epsilon)
    return results


def calibrated_interval(human: ArrayLike, metric: ArrayLike, **drawing: Unpack[Resampling]) -> Estimate:
    """Accuracy of `calibrate_ties` with an interval over resampled items; epsilon is calibrated again in each resample.

    `n` counts items. The interval is the basic one (the percentile interval mirrored at the estimate; Davison and Hinkley
    1997, sec. 5.2), because each resample is fitted again and is too high by about as much as the estimate is. It is cut to
    [0, 1] and always contains the estimate. Misleads with few items and systems: in simulations, 93 % of such 95 % intervals
    contained the accuracy for many items with 100 items of 12 systems, 89 % with 80 items of 4; those that missed it were
    mostly too high. It does not cover other systems.
    """
    true, scores = matrices(human, metric)
    pairs = pairs_of(true, scores)
    observed = best_tie(pairs)[0] if pairs.n_items else np.nan
    order, last, change = steps(pairs)
    of_item = pairs.item[order]

    def best(counts: Floats) -> Floats:
        risen = (counts.T[:, of_item] * change).cumsum(axis=1)[:, last]
        return np.asarray((counts.T @ pairs.per_item(0.0) + risen.max(axis=1, initial=0.0)) / pairs.n_items)

    found = cluster_estimate(
        observed,
        best,
        pairs.n_items,
        together=min(_COUNTED_AT_ONCE, resamples_at_once(max(order.size, 1))),
        n=pairs.n_items,
        reason=None if pairs.n_items else NO_PAIRS,
        n_left_out=len(true) - pairs.n_items,
        **drawing,
    )
    if found.low is None or found.high is None:
        return found
    low, high = 2 * observed - found.high, 2 * observed - found.low
    return replace(found, low=min(max(low, 0.0), observed), high=max(min(high, 1.0), observed))


def accuracy_test(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    swap: Swap = "items",
    epsilons: tuple[float, float] | None = None,
    n_resamples: int = 1_000,
    rng: Rng = 0,
    alternative: Alternative = "two-sided",
) -> PairedTest:
    """Permutation test of one metric's accuracy against another's, over texts that both and people scored.

    `swap` chooses what is swapped between the two with probability 1/2:

    - "items": the results of all pairs of an item together, each metric at its own epsilon, calibrated once.
    - "pairs": the results of single pairs (the test of mt-metrics-eval behind WMT23's tables,
    `PairwisePermutationSigDiff`). Pairs of an item share texts and are not independent: p is too small. In simulations
    with two metrics of equal quality, p was .05 or less in 21 % of studies of 40 items and 5 systems and in about half of
    those of 100 items and 12 systems; with "items" in 4 %.
    - "scores": the standardised scores of single texts, with both epsilons calibrated again each time (PERM-BOTH of Deutsch
    et al. 2021, TACL 9:1132, as `PermutationSigDiff` there with tie calibration). Slow, and a mixture of two scales.

    epsilons: epsilons of first and second to use instead of calibrated ones; not with "scores". "greater": the first is
    better. n counts texts, n_units swapped units. Few items allow few swaps: with fewer than six items p never reaches .05.
    p = (1 + swaps with a difference at least as large) / (1 + swaps), so it is never 0; mt-metrics-eval leaves out both ones
    and stops early.
    """
    if swap not in ("pairs", "items", "scores"):
        raise ValueError(f'swap must be "pairs", "items" or "scores", got {swap!r}')
    if swap == "scores" and epsilons is not None:
        raise ValueError('swap="scores" calibrates epsilon in every swap and accepts no epsilons')
    true, one = matrices(human, first)
    _, other = matrices(human, second)
    known = ~(np.isnan(true) | np.isnan(one) | np.isnan(other))
    n_left_out, true = int((~known).sum()), np.where(known, true, np.nan)
    sides = pairs_of(true, one), pairs_of(true, other)
    n = int(known.sum())
    if not sides[0].n_items:
        return PairedTest(None, None, n, 0, 0, NO_PAIRS, n_left_out)
    chosen = epsilons or (best_tie(sides[0])[1], best_tie(sides[1])[1])
    per_item = sides[0].per_item(chosen[0]) - sides[1].per_item(chosen[1])
    observed = float(per_item.mean())
    n_units = {"pairs": sides[0].item.size, "items": sides[0].n_items, "scores": n}[swap]
    if n_resamples == 0:
        return PairedTest(observed, None, n, n_units, 0, NO_RESAMPLES, n_left_out)
    generator = np.random.default_rng(rng)
    if swap == "scores":
        differences = _scores_swapped(true, one, other, n_resamples, generator)
    elif swap == "items":
        differences = signs_flipped(per_item, n_resamples, generator)
    else:
        differences = _pairs_swapped(sides, chosen, n_resamples, generator)
    p = (1 + n_reached(differences, observed, alternative)) / (1 + n_resamples)
    return PairedTest(observed, p, n, n_units, n_resamples, None, n_left_out)


def signs_flipped(per_item: Floats, n_resamples: int, generator: np.random.Generator) -> Floats:
    """Mean of differences (items,) in each of n_resamples swaps, which turn the sign of each with probability 1/2."""
    blocks = [
        (2.0 * generator.integers(0, 2, size=(size, per_item.size)) - 1) @ per_item
        for size in block_sizes(n_resamples, resamples_at_once(per_item.size))
    ]
    return np.concatenate(blocks) / per_item.size


def _pairs_swapped(
    sides: tuple[Pairs, Pairs],
    epsilons: tuple[float, float],
    n_resamples: int,
    generator: np.random.Generator,
) -> Floats:
    """Differences after swapping pairs. Only pairs with one metric right and the other wrong matter, and each changes the
    item by one pair in either direction: the number of an item's k such pairs that favour the first is binomial.
    """
    differ = sides[0].right(epsilons[0]) != sides[1].right(epsilons[1])
    n_items = sides[0].n_items
    of_item = np.bincount(sides[0].item[differ], minlength=n_items)
    moved = of_item > 0
    of_item, worth = of_item[moved], 1 / sides[0].sizes[moved]
    blocks = [
        (2.0 * generator.binomial(of_item, 0.5, size=(size, of_item.size)) - of_item) @ worth
        for size in block_sizes(n_resamples, resamples_at_once(max(of_item.size, 1)))
    ]
    return np.concatenate(blocks) / n_items


def _scores_swapped(
    true: Floats, one: Floats, other: Floats, n_resamples: int, generator: np.random.Generator
) -> Floats:
    known = ~np.isnan(true)
    first, second = (_standard(np.where(known, scores, np.nan)) for scores in (one, other))
    differences = np.empty(n_resamples)
    for number in range(n_resamples):
        stays = generator.integers(0, 2, size=true.shape).astype(bool)
        mixed = np.where(stays, first, second), np.where(stays, second, first)
        values = [best_tie(pairs_of(true, scores))[0] for scores in mixed]
        differences[number] = values[0] - values[1]
    return differences


def _standard(scores: Floats) -> Floats:
    centred = scores - np.nanmean(scores)
    spread = float(np.nanstd(centred))
    return np.asarray(centred / spread if spread > 0 else centred, dtype=np.float64)


def _pairwise(true: Floats, scores: Floats, pairs: Pairs, epsilon: float) -> PairwiseAccuracy:
    paired = known_pairs(true, scores).any(axis=1)
    known = ~(np.isnan(true) | np.isnan(scores))
    found = pairs.n_items > 0
    return PairwiseAccuracy(
        accuracy=float(pairs.per_item(epsilon).mean()) if found else None,
        epsilon=epsilon if found else None,
        n_items=pairs.n_items,
        n_systems=int(known[paired].any(axis=0).sum()),
        n_pairs=int(pairs.item.size),
        n_human_ties=int(pairs.human_ties.sum()),
        n_metric_ties=int((pairs.gap <= epsilon).sum()),
        n_items_left_out=len(true) - pairs.n_items,
        reason=None if found else NO_PAIRS,
    )
