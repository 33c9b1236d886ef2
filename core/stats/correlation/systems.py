"""Between systems: do their mean scores stand in the order that people put them in?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.stats.correlation.coefficients import Method, column, row_coefficients, why_undefined
from core.stats.near_ties import ROUNDING, tied
from core.stats.resampling import (
    NO_RESAMPLES,
    Estimate,
    Floats,
    at_a_time,
    check_confidence_level,
    draw_counts,
    numbered,
    ratio,
    resampled_estimate,
    why_no_interval,
)

SystemStatistic = Method | Literal["accuracy"]


def between_systems(
    x: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    method: Method,
    *,
    items: ArrayLike | None = None,
    paired: bool = True,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
    names: tuple[str, str] = ("mean scores", "mean ratings"),
) -> Estimate:
    """The coefficient of the systems' means of x and y, with an interval from resampling items.

    All (n,). paired: both means are over the rows with both values; else each is over all rows with its own, as in WMT's
    metrics task, where people rate a part of what metrics score. `n` counts systems, `n_left_out` systems without a value.
    items: their resampling leaves the systems fixed; None gives no interval. A resample in which a system has no row is
    dropped and counted. Misleads with few items or systems that are close: the observed means are noisy, resampling adds
    that noise a second time, and the interval lies too low (simulated, 95 % intervals of 8 close systems held the value of
    endless items in 3 % of studies of 100 items). Misleads with few systems, too, and where one outlier system makes any
    metric look good (Mathur et al. 2020, ACL).
    """
    found = compare_systems(
        *(x, y, systems, (method,)),
        items=items,
        paired=paired,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
        names=names,
    )
    return found[method]


def system_accuracy(
    x: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    items: ArrayLike | None = None,
    *,
    paired: bool = True,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """Share of pairs of systems whose means of x differ the way their means of y do (Kocmi et al. 2021, WMT, sec. 4).

    Arguments and interval as in `between_systems`; `n` counts pairs, 0.5 is chance. Ties count as in WMT's metrics
    task: a pair is right where both differences have one sign, so a tie of people is met by a tie of the metric alone.
    Misleads where many systems are equally good: their pairs are a coin's toss in both.
    """
    found = compare_systems(
        *(x, y, systems, ("accuracy",)),
        items=items,
        paired=paired,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    return found["accuracy"]


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
    rng: int | np.random.Generator = 0,
    names: tuple[str, str] = ("mean scores", "mean ratings"),
) -> dict[SystemStatistic, Estimate]:
    """Several of `between_systems`, and "accuracy" as of `system_accuracy`, from the same means in the same resamples."""
    check_confidence_level(confidence_level)
    sums, n_left_out = _system_sums(x, y, systems, items, paired)
    n_systems = sums.shape[2]
    observed = _means(sums.sum(axis=0)[None])
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
            name: "no items were given: nothing to resample"
            for name, one in estimates.items()
            if not np.isnan(one)
        }
    wanted = [name for name in statistics if no_interval[name] is None]
    values = _over_items(wanted, sums, n_resamples, rng) if wanted else {}
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
    """Of means (2, rows, systems): shape (rows,)."""
    return _accuracy(means) if name == "accuracy" else row_coefficients(means[0], means[1], name)


def _accuracy(means: Floats) -> Floats:
    """Of means (2, rows, systems): shape (rows,)."""
    first, second = np.triu_indices(means.shape[2], 1)
    signs = np.sign(means[:, :, first] - means[:, :, second])
    right = (signs[0] == signs[1]).sum(axis=1).astype(np.float64)
    return ratio(right, np.full(right.shape, float(first.size)))


def _over_items(
    statistics: Sequence[SystemStatistic], sums: Floats, n_resamples: int, rng: int | np.random.Generator
) -> dict[SystemStatistic, Floats]:
    """Statistics of means in each resample of items; NaN where a system has no row."""
    flat = sums.reshape(len(sums), -1)
    together = at_a_time(max(len(sums), sums.shape[2] ** 2))
    parts: dict[SystemStatistic, list[Floats]] = {name: [] for name in statistics}
    for counts in draw_counts(len(sums), n_resamples, together, rng):
        means = _means((counts.T @ flat).reshape(-1, *sums.shape[1:]))
        missing = np.asarray(np.isnan(means).any(axis=(0, 2)), dtype=np.bool_)
        filled = np.where(missing[:, None], 0.0, means)
        for name, found in parts.items():
            found.append(np.where(missing, np.nan, _statistic(name, filled)))
    return {name: np.concatenate(found) for name, found in parts.items()}


def _system_sums(
    x: ArrayLike, y: ArrayLike, systems: ArrayLike, items: ArrayLike | None, paired: bool
) -> tuple[Floats, int]:
    """Sums by item and system (items, 6, systems) of rows with x, with y, x, y, |x| and |y|; systems without a value.

    x and y are scaled to at most 1, which no coefficient notices.
    """
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
    for side, (one, there) in enumerate(zip(values, known, strict=True)):
        place, held = (item[there], system[there]), one[there]
        largest = np.abs(held).max(initial=0.0)
        scaled = held / largest if largest > 0 else held
        for number, summand in ((side, np.ones(held.size)), (2 + side, scaled), (4 + side, np.abs(scaled))):
            np.add.at(sums[:, number], place, summand)
    return sums, np.unique(labels).size - compared.size


def _means(sums: Floats) -> Floats:
    """Means of x and y from sums (rows, 6, systems): shape (2, rows, systems), NaN where a system has no row.

    Equal means are tied, whatever order their sums were taken in.
    """
    counts, totals = np.moveaxis(sums[:, :2], 1, 0), np.moveaxis(sums[:, 2:], 1, 0)
    found = ratio(totals, np.concatenate([counts, counts]))
    return tied(found[:2], found[2:])


# --- soft pairwise accuracy -----------------------------------------------------------------------


@dataclass(frozen=True)
class SoftAccuracy:
    """How near a metric's confidence in every two systems is to people's."""

    accuracy: float | None
    """1 minus the mean difference of p, in [0, 1]; None for `reason`."""
    n_pairs: int
    """Pairs of systems compared."""
    n_swaps: int
    """Drawn for each p."""
    n_left_out: int = 0
    """Pairs of systems that share no item with all four scores."""
    reason: str | None = None


def soft_pairwise_accuracy(
    human: ArrayLike,
    metric: ArrayLike,
    *,
    n_resamples: int = 1_000,
    rng: int | np.random.Generator = 0,
) -> SoftAccuracy:
    """1 minus the mean over pairs of systems of |p_human - p_metric| (Thompson, Mathur and Freitag 2024, WMT).

    human, metric: shape (n_items, n_systems), NaN where missing. p of a pair: the share of n_resamples swaps, in which the
    two systems' scores of each item change places with probability 1/2, whose difference of sums is at least the one
    observed; one-sided, never corrected. The same swaps serve all pairs and both sides, so a metric that equals people has
    1 exactly. A pair is compared on the items where both systems have both scores. With p of 0 and 1 alone it is
    `system_accuracy`.

    Misleads as system accuracy does: over systems of one quality every p is a draw from [0, 1], and two unrelated sides
    have 2/3 there, not 1/2. Has no interval: resampled items would add their noise to both p a second time.
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
    generator = np.random.default_rng(rng)
    n_reached = np.zeros((2, n_pairs))
    block = at_a_time(len(known))
    for start in range(0, n_resamples, block):
        drawn = generator.random((min(block, n_resamples - start), len(known)))
        swaps = np.where(drawn < 0.5, -1.0, 1.0)
        for begin in range(0, n_pairs, block):
            part = slice(begin, begin + block)
            one, other = pairs[0][part], pairs[1][part]
            both = known[:, one] & known[:, other]
            for side, values in enumerate(filled):
                # An item that a pair does not share adds nothing to any of its sums.
                differences = np.where(both, values[:, one] - values[:, other], 0.0)
                n_reached[side, part] += _reached(swaps, differences)
    p = n_reached / n_resamples
    return SoftAccuracy(1.0 - float(np.abs(p[0] - p[1]).mean()), n_pairs, n_resamples, n_left_out)


def _reached(swaps: Floats, differences: Floats) -> Floats:
    """In how many swaps (n, items) the sum of each column of differences (items, pairs) is at least the one observed."""
    # Sums that differ by rounding alone are equal.
    least = differences.sum(axis=0) - ROUNDING * np.abs(differences).sum(axis=0)
    return np.asarray((swaps @ differences >= least).sum(axis=0), dtype=np.float64)
