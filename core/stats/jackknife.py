"""Estimates with a second interval: the cluster jackknife with Student's t.

Every cluster is left out once; the spread of the values shows how much the estimate depends on the choice of clusters.
With few clusters it covers better than the percentile interval. Source: Efron and Tibshirani (1993), An
Introduction to the Bootstrap, ch. 11; the t distribution with one degree of freedom less than clusters as in
MacKinnon, Nielsen and Webb (2023), Journal of Applied Econometrics 38:671.
"""

from dataclasses import dataclass, fields

import numpy as np
from scipy.stats import t as student

from core.stats.resampling import Estimate, Floats, Statistic

NO_WIDTH = "every resample gives the same value: the interval has no width and says nothing about uncertainty"

_ROUNDING = 1e-12  # leave-one-out values that differ by less are one value


@dataclass(frozen=True)
class AgreementEstimate(Estimate):
    """An estimate with a percentile interval (`low`, `high`) and a jackknife interval over the same clusters.

    `interval_reason` is also given where the percentile interval has no width.
    """

    low_t: float | None = None
    """Lower end of the jackknife interval."""
    high_t: float | None = None
    """Upper end of the jackknife interval."""
    interval_t_reason: str | None = None
    """Why there is no jackknife interval."""


def with_jackknife(
    found: Estimate, sums: Floats, statistic: Statistic, scale: tuple[float, float]
) -> AgreementEstimate:
    """The estimate with the interval estimate +- t * standard error added, cut to `scale`.

    sums: shape (n_clusters, k), one row of sums a cluster; `statistic` takes their total. The variance is (c - 1) / c times
    the squared distances of the c leave-one-out values from their mean; t has c - 1 degrees of freedom.

    There is no interval with fewer than two clusters, where the statistic is undefined without one of them, or where
    leaving out any cluster gives the same value. Misleads with a handful of clusters, where it is very wide, and where
    one cluster has most of the units.
    """
    interval_reason = found.interval_reason
    if found.low is not None and found.low == found.high:
        interval_reason = NO_WIDTH
    low, high, reason = _interval(found, sums, statistic, scale)
    kept = {field.name: getattr(found, field.name) for field in fields(Estimate)}
    return AgreementEstimate(
        **kept | {"interval_reason": interval_reason}, low_t=low, high_t=high, interval_t_reason=reason
    )


def _interval(
    found: Estimate, sums: Floats, statistic: Statistic, scale: tuple[float, float]
) -> tuple[float | None, float | None, str | None]:
    if found.estimate is None:
        return None, None, "the estimate is undefined"
    if len(sums) < 2:
        return None, None, "fewer than two clusters: none can be left out"
    values = statistic(sums.sum(axis=0) - sums)
    if np.isnan(values).any():
        return None, None, "the statistic is undefined without one of the clusters"
    if np.ptp(values) <= _ROUNDING:
        return None, None, "the value is the same whichever cluster is left out: nothing varies"
    clusters = len(sums)
    error = float(np.sqrt((clusters - 1) / clusters * ((values - values.mean()) ** 2).sum()))
    reach = float(student.ppf((1 + found.confidence_level) / 2, clusters - 1)) * error
    return max(scale[0], found.estimate - reach), min(scale[1], found.estimate + reach), None
