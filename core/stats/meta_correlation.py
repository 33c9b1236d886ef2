"""Do two data sets rank metrics alike? The correlation over metrics of two columns of correlations (000, eq. 1 to 3).

Two intervals answer two questions. Resampling metrics: would other metrics of the same kind agree as well? Resampling
items: would other texts have given the same number for these metrics? Neither contains the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau, pearsonr, spearmanr

from core.stats.correlation.coefficients import (
    Method,
    coefficient,
    column,
    complete_pairs,
    row_coefficients,
    why_undefined,
)
from core.stats.correlation.intervals import correlate
from core.stats.correlation.resampled import columns_alike, resample_columns
from core.stats.near_ties import tied
from core.stats.resampling import (
    Estimate,
    Floats,
    check_confidence_level,
    numbered,
    resampled_estimate,
    why_no_interval,
)

TWO_METRICS = "two metrics: any two points lie on a line, so there is nothing to test"
_NAMES = ("human correlations", "synthetic correlations")


@dataclass(frozen=True)
class MetaCorrelationTest:
    """The meta-correlation with its interval over metrics and its p values."""

    over_metrics: Estimate
    p_one_sided: float | None
    """Of no positive association, as the code of 000 has it."""
    p_two_sided: float | None
    p_reason: str | None = None
    """Why there is no p."""


@dataclass(frozen=True)
class Live:
    """The rows behind one side: scores (n, m), what they are correlated with (n,), and the item of each row (n,)."""

    scores: Floats
    target: Floats
    items: NDArray[np.generic]


def meta_correlation(
    human: ArrayLike,
    synthetic: ArrayLike,
    method: Method,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> MetaCorrelationTest:
    """The coefficient of two columns of correlations (m,), one a metric; NaN: undefined there, so left out.

    Interval: percentile bootstrap over metrics. p: scipy's defaults, that is the t distribution for Spearman and Pearson,
    the exact one for Kendall without ties up to 33 metrics, else the normal. Misleads: metrics of one family are near
    copies of each other, so both interval and p take 28 metrics for more than they are; leave families out.
    """
    over_metrics = correlate(
        human,
        synthetic,
        method,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rng=rng,
    )
    reason = why_undefined(human, synthetic, _NAMES, "metrics")
    if reason is not None:
        return MetaCorrelationTest(replace(over_metrics, reason=reason), None, None, reason)
    pairs = complete_pairs(human, synthetic)
    if pairs[0].size < 3:
        return MetaCorrelationTest(over_metrics, None, None, TWO_METRICS)
    one, two = (_p_value(*pairs, method, side) for side in ("greater", "two-sided"))
    return MetaCorrelationTest(over_metrics, one, two)


def meta_correlation_over_items(
    human: Live | ArrayLike,
    synthetic: Live | ArrayLike,
    method: Method,
    *,
    first_order: Method | None = None,
    n_resamples: int = 1_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Estimate:
    """The meta-correlation with an interval from resampling the items of the live sides; `n` counts metrics.

    A side is `Live`, or a fixed column of correlations (m,). In each resample items are drawn anew, on each live side
    by itself, every metric's correlation (first_order; None: `method`) is made from the rows drawn, then the
    meta-correlation; a metric that is undefined in a resample is left out of it. `n_clusters`: items of the live sides
    together; `n_left_out`: metrics undefined on a side. Takes the metrics as given and a fixed side as without error.

    Misleads with few items: resampling adds noise to correlations that are noisy already, and noise lowers a
    meta-correlation, so the interval then lies too low and may not even hold the estimate. Where both sides hold the same
    items, drawing them apart takes the sides' errors for independent.
    """
    check_confidence_level(confidence_level)
    order: Method = first_order or method
    sides = [side if isinstance(side, Live) else column(side) for side in (human, synthetic)]
    observed = [_observed(side, order) for side in sides]
    value = coefficient(observed[0], observed[1], method)
    items = [np.unique(side.items).size for side in sides if isinstance(side, Live)]
    no_interval = why_no_interval(value, min(items, default=0), n_resamples)
    if not items and not np.isnan(value):
        no_interval = "no side is live: nothing to resample"
    known = ~(np.isnan(observed[0]) | np.isnan(observed[1]))
    values = None
    if no_interval is None:
        seeds = np.random.default_rng(rng).integers(2**63, size=2)
        drawn = [
            _resampled_side(side, known, order, n_resamples, int(seed))
            for side, seed in zip(sides, seeds, strict=True)
        ]
        values = meta_of_columns(drawn[0], drawn[1], method)
    return resampled_estimate(
        value,
        values,
        n=int(known.sum()),
        n_clusters=sum(items),
        confidence_level=confidence_level,
        reason=why_undefined(observed[0], observed[1], _NAMES, "metrics"),
        interval_reason=no_interval,
        n_left_out=int((~known).sum()),
    )


def leave_one_family_out(
    human: ArrayLike,
    synthetic: ArrayLike,
    families: Sequence[str],
    method: Method,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> dict[str, Estimate]:
    """Family -> the meta-correlation without its metrics, with its interval over metrics; families (m,), in order met.

    One family that carries the agreement alone shows as a drop; a drop in range can look the same.
    """
    first, second = column(human), column(synthetic)
    if len(families) != first.size:
        raise ValueError(f"families must name all {first.size} metrics, got {len(families)}")
    found = {}
    for family in dict.fromkeys(families):
        kept = np.array([other != family for other in families], dtype=bool)
        found[family] = meta_correlation(
            first[kept],
            second[kept],
            method,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            rng=rng,
        ).over_metrics
    return found


def _p_value(
    human: Floats, synthetic: Floats, method: Method, side: Literal["greater", "two-sided"]
) -> float:
    """The p of scipy, of three metrics or more."""
    if method == "pearson":
        return float(pearsonr(human, synthetic, alternative=side).pvalue)
    if method == "spearman":
        return float(spearmanr(human, synthetic, alternative=side).pvalue)
    return float(kendalltau(human, synthetic, alternative=side).pvalue)


def meta_of_columns(human: Floats, synthetic: Floats, method: Method) -> Floats:
    """The coefficient of each column of human with the same column of synthetic, both (m, resamples), NaN left out."""
    values = np.full(human.shape[1], np.nan)
    known = ~(np.isnan(human) | np.isnan(synthetic))
    whole = known.all(axis=0)
    values[whole] = row_coefficients(tied(human[:, whole].T), tied(synthetic[:, whole].T), method)
    for resample in np.flatnonzero(~whole):
        values[resample] = coefficient(human[:, resample], synthetic[:, resample], method)
    return values


def _observed(side: Live | Floats, method: Method) -> Floats:
    if not isinstance(side, Live):
        return side
    return np.array([coefficient(x, side.target, method) for x in side.scores.T])


def _resampled_side(
    side: Live | Floats, metrics: NDArray[np.bool_], method: Method, n_resamples: int, seed: int
) -> Floats:
    """Correlations of the chosen metrics in each resample of the side's items: shape (metrics, n_resamples)."""
    if not isinstance(side, Live):
        return np.tile(side[metrics][:, None], n_resamples)
    scores = side.scores[:, metrics]
    clusters = numbered(side.items)
    n_clusters = int(clusters.max()) + 1
    values = np.empty((scores.shape[1], n_resamples))
    for rows, columns in columns_alike(scores, side.target):
        # One seed: every metric meets the same items, those it has no score for among them.
        found = resample_columns(
            scores[np.ix_(rows, columns)],
            side.target[rows],
            clusters[rows],
            n_clusters,
            (method,),
            n_resamples=n_resamples,
            seed=seed,
        )
        values[columns] = np.array(found[method])
    return values
