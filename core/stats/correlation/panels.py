"""Rank correlation of a judge with raters who left a colleague out, beside that of the colleague: the human ceiling."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.correlation.coefficients import column
from core.stats.resampling import (
    Estimate,
    Floats,
    check_confidence_level,
    jackknife_ends,
    jackknife_error,
    jackknife_influence,
    numbered,
    ratio,
    resampled_estimate,
    unit_clusters,
    why_no_interval,
)

MOST_GROUPS = 200
"""Groups of clusters that the jackknife leaves out; with fewer clusters, each is left out alone."""
MANY_TEXTS = 5_000
"""Texts from which the jackknife takes FEWER_GROUPS, so that it takes seconds."""
FEWER_GROUPS = 50
NO_OTHERS = "no text was rated by two raters"
UNDEFINED = "a column is constant, or has fewer than two texts"
_NO_ERROR = "leaving out any items gives the same value: nothing varies"


@dataclass(frozen=True)
class PanelCorrelation:
    """A judge and a rater against the same other raters. Coefficients in [-1, 1]."""

    judge: Estimate
    """Mean over raters of the judge's correlation with the mean of the other raters, on the texts of that rater."""
    raters: Estimate
    """The same of the raters who were left out: the human ceiling. Undefined for one rater."""
    gap: Estimate
    """The judge's minus the raters', with the jackknife's t interval."""
    kept: Estimate
    """The judge's minus `kept_share` times the raters', with the jackknife's t interval."""
    influence: Floats = field(default_factory=lambda: np.empty((0, 2)))
    """What each item moves `gap` and `kept`, shape (items, 2); items that the jackknife leaves out together share alike."""
    items: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Number of the item (in the order of sorted labels of the texts used) of each row."""


def panel_correlation(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    kept_share: float = 0.75,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> PanelCorrelation:
    """Spearman's correlation of a judge, and of each rater in turn, with the mean of the other raters of the same texts.

    judge: shape (n,), NaN for missing. ratings: shape (n, raters), NaN for missing. A text counts for a rater if the rater,
    the judge and another rater gave it a number; the mean over raters is weighted by their texts, and a rater for whom one
    of the three columns is constant is left out. With one rater the judge is compared with that rater, and the ceiling is
    undefined. Interval: Fisher's z +- t standard errors, by a jackknife that leaves out items, or equal groups of items
    (at most MOST_GROUPS, drawn with `rng`; then t has that many degrees of freedom less one).

    Misleads as a limit: a judge can be above the ceiling, because a rater's own errors lower it.
    """
    check_confidence_level(confidence_level)
    scores, given = np.asarray(judge, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    kept = ~np.isnan(scores) & ~np.isnan(given).all(axis=1)
    labels = numbered(unit_clusters(clusters, scores.size)[kept])
    scores, given = scores[kept], given[kept]
    sides = _sides(scores, given)
    has_ceiling = bool(sides)
    if not has_ceiling:
        mean = np.nanmean(given, axis=1) if scores.size else np.empty(0)
        sides = [_Side(np.arange(scores.size), scores, mean, mean)]
    groups = _groups(labels, rng)
    used = np.unique(np.concatenate([side.rows for side in sides]))
    n_groups = int(groups.max()) + 1 if groups.size else 0
    # Rows: without each group, then with all. Columns: raters.
    of_judge, of_rater = (
        np.column_stack(
            [_spearman_without(one, side.others, groups[side.rows], n_groups) for one, side in each]
        )
        for each in ([(side.judge, side) for side in sides], [(side.rater, side) for side in sides])
    )
    texts = np.array([side.rows.size for side in sides], dtype=np.float64)
    weights = np.where(np.isnan(of_judge + of_rater), 0.0, texts)
    values = [
        ratio((np.nan_to_num(one) * weights).sum(axis=1), weights.sum(axis=1)) for one in (of_judge, of_rater)
    ]
    alone = np.unique(groups[used])
    n_clusters = int(np.unique(labels[used]).size)

    def found(one: Floats) -> Estimate:
        observed = float(one[-1])
        return resampled_estimate(
            observed,
            None,
            n=int(used.size),
            n_clusters=n_clusters,
            confidence_level=confidence_level,
            reason=UNDEFINED if np.isnan(observed) else None,
            interval_reason=why_no_interval(observed, n_clusters, 1),
            n_left_out=int((~kept).sum() + groups.size - used.size),
        )

    judged = _fisher_interval(found(values[0]), values[0][alone])
    if not has_ceiling:
        none = replace(
            judged, estimate=None, low=None, high=None, n=0, reason=NO_OTHERS, interval_reason=NO_OTHERS
        )
        return PanelCorrelation(judged, none, none, none)
    gap, kept_of = values[0] - values[1], values[0] - kept_share * values[1]
    return PanelCorrelation(
        judged,
        _fisher_interval(found(values[1]), values[1][alone]),
        _t_interval(found(gap), gap[alone]),
        _t_interval(found(kept_of), kept_of[alone]),
        *_influence(np.column_stack([gap, kept_of])[alone], groups[used], labels[used], alone),
    )


def _influence(
    without: Floats, groups: NDArray[np.intp], labels: NDArray[np.intp], alone: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.intp]]:
    """The jackknife's influence of each group, shared equally by its items; and the items."""
    items, first = np.unique(labels, return_index=True)
    place = np.searchsorted(alone, groups[first])
    return jackknife_influence(without)[place] / np.bincount(place, minlength=alone.size)[place, None], items


@dataclass(frozen=True)
class _Side:
    rows: NDArray[np.intp]
    judge: Floats
    rater: Floats
    others: Floats
    """Means of the other raters."""


def _sides(scores: Floats, given: Floats) -> list[_Side]:
    known = ~np.isnan(given)
    totals, counts = np.where(known, given, 0.0).sum(axis=1), known.sum(axis=1)
    sides = []
    for rater in range(given.shape[1]):
        rows = np.flatnonzero(known[:, rater] & (counts > 1))
        if rows.size < 2:
            continue
        own = given[rows, rater]
        sides.append(_Side(rows, scores[rows], own, (totals[rows] - own) / (counts[rows] - 1)))
    return sides


def _groups(labels: NDArray[np.intp], rng: int) -> NDArray[np.intp]:
    """Number of the group of each text; whole clusters go together."""
    n_clusters = int(labels.max()) + 1 if labels.size else 0
    n_groups = MOST_GROUPS if labels.size < MANY_TEXTS else FEWER_GROUPS
    if n_clusters <= n_groups:
        return labels
    order = np.random.default_rng(rng).permutation(n_clusters)
    return np.asarray(order[labels] % n_groups, dtype=np.intp)


def _spearman_without(x: Floats, y: Floats, groups: NDArray[np.intp], n_groups: int) -> Floats:
    """Spearman's rho without each group in turn, and in the last place with all: shape (n_groups + 1,)."""
    if not x.size:
        return np.full(n_groups + 1, np.nan)
    kept = groups != np.arange(n_groups + 1)[:, None]
    first, second = (np.where(kept, _ranks_without(one, groups, n_groups), 0.0) for one in (x, y))
    middle = np.where(kept, (kept.sum(axis=1, keepdims=True) + 1) / 2, 0.0)
    first, second = first - middle, second - middle
    sizes = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return np.clip(ratio((first * second).sum(axis=1), sizes), -1.0, 1.0)


def _ranks_without(values: Floats, groups: NDArray[np.intp], n_groups: int) -> Floats:
    """Ranks of values (n,) among those that are left without each group, ties at their middle: shape (n_groups + 1, n)."""
    levels, codes = np.unique(column(values), return_inverse=True)
    removed = np.bincount(groups * levels.size + codes, minlength=(n_groups + 1) * levels.size)
    removed = removed.reshape(n_groups + 1, levels.size)
    left = removed.sum(axis=0) - removed
    return np.asarray((np.cumsum(left, axis=1) - (left - 1) / 2)[:, codes], dtype=np.float64)


def _fisher_interval(estimate: Estimate, values: Floats) -> Estimate:
    """The estimate with the interval by Fisher's z; values: without each group."""
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    if estimate.estimate is None or estimate.interval_reason is not None:
        return estimate
    if np.isnan(values).any():
        return replace(estimate, interval_reason="the correlation is undefined without one of the items")
    error, observed = jackknife_error(values), estimate.estimate
    if error < 1e-12 or abs(observed) > 1 - 1e-12:
        return replace(estimate, interval_reason=_NO_ERROR)
    quantile = float(stdtrit(len(values) - 1, (1 + estimate.confidence_level) / 2))
    reach, middle = quantile * error / (1 - observed**2), np.arctanh(observed)
    return replace(estimate, low=float(np.tanh(middle - reach)), high=float(np.tanh(middle + reach)))


def _t_interval(estimate: Estimate, values: Floats) -> Estimate:
    if estimate.estimate is None or estimate.interval_reason is not None:
        return estimate
    low, high, _, reason = jackknife_ends(estimate.estimate, values, estimate.confidence_level, (-2.0, 2.0))
    return replace(estimate, low=low, high=high, interval_reason=reason)
