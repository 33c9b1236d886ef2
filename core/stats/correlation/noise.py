"""Pearson's r between two columns of means or correlations, corrected for the noise of the items behind them.

Fixed units (systems, metrics), items drawn at random. Estimand: r of these units over infinitely many items. Observed means
contain sampling noise, which adds to their variance over units and lowers r, and resampling items adds it again.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.stats.correlation.coefficients import pair_coefficient, pair_reason
from core.stats.resampling import (
    Estimate,
    Floats,
    Rng,
    check_confidence_level,
    draw_counts,
    resamples_at_once,
)

FEWEST_ITEMS = 5
"""Fewer items give no interval: the jackknife's variance is then a guess."""
RESAMPLES = 512
"""Resamples behind the share of undefined ones."""
_NO_SIGNAL = (
    1e-9  # a corrected variance this small relative to the observed one is rounding, and so is such an error
)


@dataclass(frozen=True)
class NoiseCorrected(Estimate):
    """A correlation of fixed units over infinitely many items, with a jackknife interval over items.

    `n` counts units, `n_clusters` items of the side with fewer. `n_undefined` of `n_resamples`: resamples of as many items in
    which the correction is undefined; they measure how often that happens, and the interval does not use them.
    """

    naive: float | None = None
    """Pearson's r of the observed values, not corrected."""
    uncut: float | None = None
    """The estimate before it is cut to [-1, 1]."""
    standard_error: float | None = None
    """Of `uncut`."""
    noise_x: float | None = None
    """Share of the first side's observed variance over units that is noise of items; above 1 if there is no signal."""
    noise_y: float | None = None
    """The same of the second side."""

    @property
    def undefined_share(self) -> float | None:
        """Share of undefined resamples; None without resamples."""
        return self.n_undefined / self.n_resamples if self.n_resamples else None


@dataclass(frozen=True)
class ItemErrors:
    """The observed values of one side's units and the part of each item in their sampling errors."""

    values: Floats
    """(units,): means or correlations."""
    errors: Floats
    """(items, units); their sums of products over items estimate the covariances of the values. 0: no part."""
    n_items: int | None
    """Items of the unit with fewest; None: the values are known without error."""


def noise_corrected(
    x: ItemErrors,
    y: ItemErrors,
    *,
    n_resamples: int = RESAMPLES,
    confidence_level: float = 0.95,
    rng: Rng = 0,
    names: tuple[str, str] = ("mean scores", "mean ratings"),
    units: str = "systems",
) -> NoiseCorrected:
    """Correct Pearson's r over units for the sampling noise of both sides, whose rows of `errors` are the same items.

    With the observed variances and covariance over units, S, and the covariance matrix of the values' sampling errors, V
    (errors.T @ errors), r = A_xy / sqrt(A_xx A_yy) with A_ab = S_ab - trace(C V_ab) / (k - 1), C = I - 11'/k. If every item
    has every unit, A_ab is the mean, over all pairs of different items, of the covariance over units of one item's x with
    the other's y: an item's noise never meets itself. Errors that both sides share cancel in A_xy. Correction for
    attenuation: Spearman 1904 (American Journal of Psychology 15:72); with correlated errors, Fuller 1987 (Measurement Error
    Models).

    Interval: r -+ t(n_items - 1) times a standard error by the delta method, from the jackknife covariance matrix of the three
    A over items; where |r| < 1, each end is the farther of this one and of the same on the scale of arcsin(r), because errors
    near 1 are skewed. Estimate and interval are cut to [-1, 1]. Undefined if A_xx or A_yy is at most 0: the units then differ by no more than their
    noise. Below `FEWEST_ITEMS` items there is no interval.

    Misleads where units are close or items few: the interval is then wide, and the result is only reported where it happens to
    be defined (read the share of undefined resamples). Says nothing about other units.
    """
    check_confidence_level(confidence_level)
    if x.errors.shape != y.errors.shape or x.values.shape != y.values.shape:
        raise ValueError(
            f"both sides must have the same items and units, got {x.errors.shape} and {y.errors.shape}"
        )
    k = x.values.size
    n_items = min((side.n_items for side in (x, y) if side.n_items is not None), default=0)
    reason = pair_reason(x.values, y.values, names)
    naive = None if reason else pair_coefficient(x.values, y.values, "pearson")
    found = NoiseCorrected(
        estimate=None,
        low=None,
        high=None,
        n=k,
        reason=reason or (f"only two {units}: two points always lie on a line" if k < 3 else None),
        n_undefined=0,
        n_resamples=0,
        confidence_level=confidence_level,
        n_clusters=n_items,
        naive=naive,
    )
    if found.reason is None and n_items == 0:
        found = replace(found, reason="no items given: the noise is unknown")
    elif found.reason is None and n_items < 2:
        found = replace(found, reason=f"one of the {units} has only one item: its noise is unknown")
    if found.reason is not None:
        return replace(found, interval_reason="the estimate is undefined")
    centred = [_centred(side) for side in (x, y)]
    observed = [_variance(side.values) for side in (x, y)]
    products = [(0, 0), (0, 1), (1, 1)]
    corrected = [_Corrected.of(centred[one], centred[other]) for one, other in products]
    noise = [1 - own.whole / whole for own, whole in zip(corrected[::2], observed, strict=True)]
    found = replace(found, noise_x=max(noise[0], 0.0), noise_y=max(noise[1], 0.0))
    if n_resamples:
        undefined = _undefined(centred, corrected[::2], observed, n_resamples, rng)
        found = replace(found, n_undefined=undefined, n_resamples=n_resamples)
    lost = [name for name, share in zip(names, noise, strict=True) if 1 - share <= _NO_SIGNAL]
    if lost:
        why = f"the {' and the '.join(lost)} of the {units} differ by no more than their noise"
        return replace(found, reason=why, interval_reason="the estimate is undefined")
    return _add_interval(found, corrected, n_items)


def _add_interval(found: NoiseCorrected, corrected: "list[_Corrected]", n_items: int) -> NoiseCorrected:
    xx, xy, yy = (own.whole for own in corrected)
    size = np.sqrt(xx * yy)
    uncut = float(xy / size)
    found = replace(found, estimate=float(np.clip(uncut, -1, 1)), uncut=uncut)
    if n_items < FEWEST_ITEMS:
        return replace(found, interval_reason=f"fewer than {FEWEST_ITEMS} items")
    without = np.stack([own.without for own in corrected])
    apart = without - without.mean(axis=1, keepdims=True)
    covariance = (apart.shape[1] - 1) / apart.shape[1] * apart @ apart.T
    slope = np.array([-uncut / (2 * xx), 1 / size, -uncut / (2 * yy)])
    error = float(np.sqrt(max(slope @ covariance @ slope, 0.0)))
    if error <= _NO_SIGNAL:
        return replace(found, interval_reason="leaving out any item gives the same value: nothing varies")
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    reach = float(stdtrit(n_items - 1, (1 + found.confidence_level) / 2)) * error
    found = replace(found, standard_error=error)
    ends = [uncut - reach, uncut + reach]
    if abs(uncut) < 1:
        angle = np.arcsin(uncut) + np.array([-1, 1]) * reach / np.sqrt(1 - uncut**2)
        turned = np.sin(np.clip(angle, -np.pi / 2, np.pi / 2))
        ends = [min(ends[0], turned[0]), max(ends[1], turned[1])]
    low, high = np.clip(ends, -1, 1)
    return replace(found, low=float(low), high=float(high))


def items_alike(values: Floats, errors: Floats, n_items: NDArray[np.intp]) -> ItemErrors:
    """Errors scaled so that their products estimate covariances without bias; n_items: items with a part in each unit."""
    enough = np.maximum(n_items, 2)
    return ItemErrors(
        values, errors * np.sqrt(enough / (enough - 1)), int(n_items.min()) if n_items.size else 0
    )


def _variance(values: Floats) -> float:
    return float(np.var(values, ddof=1))


def _centred(side: ItemErrors) -> Floats:
    """One value for each item and unit whose mean over items is the unit's value, minus the mean over units.

    An item of a table with n items stands for its value plus n times its error, which makes the mean over pairs of different
    items equal to the formula with V.
    """
    n = len(side.errors)
    table = side.values + np.sqrt(n * (n - 1)) * side.errors
    return np.asarray(table - table.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Corrected:
    """A corrected variance or covariance over units, with all items and without each."""

    whole: float
    without: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats) -> "_Corrected":
        n, freedom = len(x), x.shape[1] - 1
        sums = x.sum(axis=0), y.sum(axis=0)
        own, met = (x * y).sum(axis=1), x @ sums[1] + y @ sums[0]
        together, apart = float(sums[0] @ sums[1]), float(own.sum())
        # Without item i, products of different items lose those with i on either side.
        without = (together - met + 2 * own - apart) / ((n - 1) * max(n - 2, 1) * freedom)
        return cls((together - apart) / (n * (n - 1) * freedom), without)


def _undefined(
    centred: list[Floats], corrected: "list[_Corrected]", observed: list[float], n_resamples: int, rng: Rng
) -> int:
    """Number of resamples of items in which a corrected variance is not above 0.

    Units are first moved together until the variance of their means is the corrected one. Otherwise the resamples would contain
    the noise of these items as signal, and be defined too often.
    """
    n = len(centred[0])
    moved = []
    for own, whole, seen in zip(centred, corrected, observed, strict=True):
        middle = own.mean(axis=0)
        moved.append(own - (1 - np.sqrt(max(whole.whole, 0.0) / seen)) * middle)
    undefined = 0
    for counts in draw_counts(n, n_resamples, resamples_at_once(n), rng):
        lost = np.zeros(counts.shape[1], dtype=bool)
        for own in moved:
            together = ((counts.T @ own) ** 2).sum(axis=1)
            lost |= together - (own**2).sum(axis=1) @ counts <= _NO_SIGNAL * together
        undefined += int(lost.sum())
    return undefined
