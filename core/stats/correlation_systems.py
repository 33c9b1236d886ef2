"""Between systems: do their mean scores stand in the order that people put them in?"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from core.stats.correlation_coefficients import Method, column, row_coefficients, why_undefined
from core.stats.correlation_resampling import draw_counts
from core.stats.near_ties import tied
from core.stats.resampling import (
    Estimate,
    Floats,
    at_a_time,
    check_confidence_level,
    numbered,
    ratio,
    resampled_estimate,
    why_no_interval,
)


def between_systems(
    x: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    method: Method,
    *,
    items: ArrayLike | None = None,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
    names: tuple[str, str] = ("mean scores", "mean ratings"),
) -> Estimate:
    """The coefficient of the systems' means of x and y, with an interval from resampling items.

    All (n,); means are over the rows with both values. `n` counts systems, `n_left_out` systems without such a row.
    items: their resampling leaves the systems fixed; None gives no interval. A resample in which a system has no row is
    dropped and counted. Misleads with few items or systems that are close: the observed means are noisy, resampling adds
    that noise a second time, and the interval lies too low (simulated, 95 % intervals of 8 close systems held the value of
    endless items in 3 % of studies of 100 items). Misleads with few systems, too, and where one outlier system makes any
    metric look good (Mathur et al. 2020, ACL).
    """
    sums, n_left_out = _system_sums(x, y, systems, items)
    means = _means(sums.sum(axis=0)[None])
    return _over_items(
        float(row_coefficients(means[0], means[1], method)[0]),
        lambda drawn: row_coefficients(drawn[0], drawn[1], method),
        sums,
        n=sums.shape[2],
        has_items=items is not None,
        reason=why_undefined(means[0, 0], means[1, 0], names, "systems"),
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
        n_left_out=n_left_out,
    )


def system_accuracy(
    x: ArrayLike,
    y: ArrayLike,
    systems: ArrayLike,
    items: ArrayLike | None = None,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """Share of pairs of systems whose means of x differ the way their means of y do (Kocmi et al. 2021, WMT, sec. 4).

    Arguments and interval as in `between_systems`; `n` counts pairs, 0.5 is chance. Ties count as in WMT's metrics
    task: a pair is right where both differences have one sign, so a tie of people is met by a tie of the metric alone.
    Misleads where many systems are equally good: their pairs are a coin's toss in both.
    """
    sums, n_left_out = _system_sums(x, y, systems, items)
    n_systems = sums.shape[2]
    return _over_items(
        float(_accuracy(_means(sums.sum(axis=0)[None]))[0]),
        _accuracy,
        sums,
        n=n_systems * (n_systems - 1) // 2,
        has_items=items is not None,
        reason="fewer than two systems" if n_systems < 2 else None,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
        n_left_out=n_left_out,
    )


def _accuracy(means: Floats) -> Floats:
    """Of means (2, rows, systems): shape (rows,)."""
    first, second = np.triu_indices(means.shape[2], 1)
    signs = np.sign(means[:, :, first] - means[:, :, second])
    right = (signs[0] == signs[1]).sum(axis=1).astype(np.float64)
    return ratio(right, np.full(right.shape, float(first.size)))


def _over_items(
    observed: float,
    statistic: Callable[[Floats], Floats],
    sums: Floats,
    *,
    n: int,
    has_items: bool,
    reason: str | None,
    n_resamples: int,
    confidence_level: float,
    rng: int | np.random.Generator,
    n_left_out: int,
) -> Estimate:
    """The estimate with the interval of a statistic of means (2, resamples, systems), from resampled items."""
    check_confidence_level(confidence_level)
    no_interval = why_no_interval(observed, len(sums), n_resamples)
    if not has_items and not np.isnan(observed):
        no_interval = "no items were given: nothing to resample"
    values = None
    if no_interval is None:
        flat = sums.reshape(len(sums), -1)
        together = at_a_time(max(len(sums), sums.shape[2] ** 2))
        parts = []
        for counts in draw_counts(len(sums), n_resamples, together, rng):
            means = _means((counts.T @ flat).reshape(-1, *sums.shape[1:]))
            missing = np.asarray(np.isnan(means).any(axis=(0, 2)), dtype=np.bool_)
            parts.append(np.where(missing, np.nan, statistic(np.where(missing[:, None], 0.0, means))))
        values = np.concatenate(parts)
    return resampled_estimate(
        observed,
        values,
        n=n,
        n_clusters=len(sums) if has_items else 0,
        confidence_level=confidence_level,
        reason=reason,
        interval_reason=no_interval,
        n_left_out=n_left_out,
    )


def _system_sums(
    x: ArrayLike, y: ArrayLike, systems: ArrayLike, items: ArrayLike | None
) -> tuple[Floats, int]:
    """Sums of rows, x, y, |x| and |y| by item and system (items, 5, systems), and the systems without a row to use.

    x and y are scaled to at most 1, which no coefficient notices.
    """
    first, second, labels = column(x), column(y), np.asarray(systems)
    item_labels = np.zeros(first.size, dtype=np.intp) if items is None else np.asarray(items)
    if not first.shape == second.shape == labels.shape == item_labels.shape:
        raise ValueError(
            "x, y, systems and items must have one shape (n,), got "
            f"{first.shape}, {second.shape}, {labels.shape}, {item_labels.shape}"
        )
    known = ~(np.isnan(first) | np.isnan(second))
    system, item = numbered(labels[known]), numbered(item_labels[known])
    n_systems, n_items = (int(numbers.max(initial=-1)) + 1 for numbers in (system, item))
    sums = np.zeros((n_items, 5, n_systems))
    for number, values in enumerate((np.ones(first.size), first, second, np.abs(first), np.abs(second))):
        used = values[known]
        largest = np.abs(used).max(initial=0.0)
        np.add.at(sums[:, number], (item, system), used / largest if largest > 0 else used)
    return sums, np.unique(labels).size - n_systems


def _means(sums: Floats) -> Floats:
    """Means of x and y from sums (rows, 5, systems): shape (2, rows, systems), NaN where a system has no row.

    Equal means are tied, whatever order their sums were taken in.
    """
    rows = np.broadcast_to(sums[:, 0], (4, *sums[:, 0].shape))
    found = ratio(np.moveaxis(sums[:, 1:], 1, 0), rows)
    return tied(found[:2], found[2:])
