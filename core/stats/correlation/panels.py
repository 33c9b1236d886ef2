"""Rank correlation of a judge with raters who left a colleague out, beside that of the colleague: the human ceiling."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.correlation.coefficients import Method, pair_coefficient
from core.stats.resampling import (
    Estimate,
    Floats,
    check_confidence_level,
    jackknife_error,
    numbered,
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
_NO_ERROR = "leaving out any items gives the same value: nothing varies"


@dataclass(frozen=True)
class PanelCorrelation:
    """A judge and a rater against the same other raters. Coefficients in [-1, 1]."""

    judge: Estimate
    """Mean over raters of the judge's correlation with the mean of the other raters, on the texts of that rater."""
    raters: Estimate
    """The same of the raters who were left out: the human ceiling. Undefined for one rater."""


def panel_correlation(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    method: Method = "spearman",
    confidence_level: float = 0.95,
    rng: int = 0,
) -> PanelCorrelation:
    """Correlate a judge, and each rater in turn, with the mean of the other raters of the same texts.

    judge: shape (n,), NaN for missing. ratings: shape (n, raters), NaN for missing. A text counts for a rater if the rater,
    the judge and another rater gave it a number. With one rater the judge is compared with that rater, and the ceiling is
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
    n_left_out = int((~kept).sum())
    has_ceiling = bool(sides)
    if not has_ceiling:
        sides = [(np.arange(scores.size), scores, np.full(scores.size, np.nan), np.nanmean(given, axis=1))]
    groups = _groups(labels, rng)

    def estimate(place: int) -> Estimate:
        def mean(left: NDArray[np.bool_] | None) -> float:
            values = []
            for rows, *side in sides:
                kept = slice(None) if left is None else left[rows]
                values.append(pair_coefficient(side[place][kept], side[2][kept], method))
            return float(np.mean(values)) if values else float("nan")

        return _estimated(mean, groups, sides, n_left_out, confidence_level)

    found = estimate(0)
    none = replace(
        found, estimate=None, low=None, high=None, n=0, reason=NO_OTHERS, interval_reason=NO_OTHERS
    )
    return PanelCorrelation(found, estimate(1) if has_ceiling else none)


_Side = tuple[NDArray[np.intp], Floats, Floats, Floats]
"""Rows, the judge's scores, the rater's ratings, and the means of the other raters."""


def _sides(scores: Floats, given: Floats) -> list[_Side]:
    known = ~np.isnan(given)
    totals, counts = np.where(known, given, 0.0).sum(axis=1), known.sum(axis=1)
    sides = []
    for rater in range(given.shape[1]):
        rows = np.flatnonzero(known[:, rater] & (counts > 1))
        if rows.size < 2:
            continue
        own = given[rows, rater]
        sides.append((rows, scores[rows], own, (totals[rows] - own) / (counts[rows] - 1)))
    return sides


def _groups(labels: NDArray[np.intp], rng: int) -> NDArray[np.intp]:
    """Number of the group of each text; whole clusters go together."""
    n_clusters = int(labels.max()) + 1 if labels.size else 0
    n_groups = MOST_GROUPS if labels.size < MANY_TEXTS else FEWER_GROUPS
    if n_clusters <= n_groups:
        return labels
    order = np.random.default_rng(rng).permutation(n_clusters)
    return np.asarray(order[labels] % n_groups, dtype=np.intp)


def _estimated(
    mean: Callable[[NDArray[np.bool_] | None], float],
    groups: NDArray[np.intp],
    sides: list[_Side],
    n_left_out: int,
    confidence_level: float,
) -> Estimate:
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    observed = mean(None)
    used = np.unique(np.concatenate([rows for rows, *_ in sides])) if sides else np.empty(0, dtype=np.intp)
    n_groups = int(np.unique(groups[used]).size)
    undefined = "a column is constant, or has fewer than two texts"
    found = resampled_estimate(
        observed,
        None,
        n=int(used.size),
        n_clusters=n_groups,
        confidence_level=confidence_level,
        reason=undefined if np.isnan(observed) else None,
        interval_reason=why_no_interval(observed, n_groups, 1),
        n_left_out=n_left_out + int(groups.size - used.size),
    )
    if found.interval_reason is not None:
        return found
    values = np.array([mean(groups != group) for group in np.unique(groups[used])])
    if np.isnan(values).any():
        return replace(found, interval_reason="the correlation is undefined without one of the items")
    error = jackknife_error(values)
    if error < 1e-12 or abs(observed) > 1 - 1e-12:
        return replace(found, interval_reason=_NO_ERROR)
    reach = float(stdtrit(len(values) - 1, (1 + confidence_level) / 2)) * error / (1 - observed**2)
    middle = np.arctanh(observed)
    return replace(found, low=float(np.tanh(middle - reach)), high=float(np.tanh(middle + reach)))
