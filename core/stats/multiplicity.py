"""p-values of several tests in one table, corrected for their number."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Floats

Correction = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli"]
CORRECTIONS: dict[Correction, str] = {
    "holm": "Holm",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "benjamini-yekutieli": "Benjamini-Yekutieli",
}
"""Corrections, and their names for readers."""


def corrected(p_values: Sequence[float | None], correction: Correction = "holm") -> list[float | None]:
    """Correct p-values for the number of tests.

    p_values: in [0, 1], in any order. None is a test without a p: it stays None and does not count. correction: Holm
    (1979, Scandinavian Journal of Statistics 6:65) keeps the probability of any false positive at alpha, also for
    dependent tests. Benjamini and Hochberg (1995, JRSS-B 57:289) keep the expected share of false ones among the
    positive ones, for independent or positively dependent tests. Benjamini and Yekutieli (2001, Annals of Statistics
    29:1165) do so for any dependence; both by scipy. Returns as many, in the same order, in [0, 1].

    Misleads if only promising tests were passed: pass the p-values of all tests.
    """
    known = [p for p in p_values if p is not None]
    if len(known) < 2:
        return list(p_values)
    paid = iter(_holm(known) if correction == "holm" else rows_corrected([known], correction)[0].tolist())
    return [None if p is None else next(paid) for p in p_values]


def _holm(p_values: Sequence[float]) -> list[float]:
    """Correct as `corrected` does. statsmodels' function collects garbage at each call, too slow for a page that refreshes."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    paid = np.empty_like(p)
    paid[order] = np.minimum(np.maximum.accumulate(p[order] * (p.size - np.arange(p.size))), 1.0)
    return [float(one) for one in paid]


def rows_corrected(p_values: ArrayLike, correction: Correction) -> Floats:
    """Correct each row of p-values, shape (rows, tests), by Benjamini-Hochberg or -Yekutieli; NaN is no test and stays NaN.

    Returns the same shape. See `corrected`.
    """
    from scipy.stats import false_discovery_control  # imported lazily: loads slowly

    p = np.asarray(p_values, dtype=np.float64)
    method: Literal["bh", "by"] = "bh" if correction == "benjamini-hochberg" else "by"
    found = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    for pattern in np.unique(tested, axis=0):
        rows = (tested == pattern).all(axis=1)
        if pattern.any():
            found[np.ix_(rows, pattern)] = false_discovery_control(p[rows][:, pattern], axis=1, method=method)
    return found


def interval_p(
    estimate: float | None,
    low: float | None,
    high: float | None,
    *,
    null: float = 0.0,
    confidence_level: float = 0.95,
) -> float | None:
    """Two-sided p of a null value, from an estimate and its interval; None without an interval or without a width.

    z = (estimate - null) / s, where s is the distance from the estimate to the end of the interval on the side of the
    null, divided by the normal quantile of the level (Altman and Bland 2011, BMJ 343:d2304, with the nearer half of an
    interval that need not be symmetric). So p is below 1 - confidence_level exactly if the interval excludes the null.

    >>> round(interval_p(0.3, 0.1, 0.4), 4)
    0.0033

    Misleads far from the interval's level: p then rests on a normal tail, not on the resamples. An estimate at an end of
    its own interval has no s: p is None, as where nothing varied.
    """
    if estimate is None or low is None or high is None or low == high:
        return None
    if estimate == null:
        return 1.0
    reach = estimate - low if estimate > null else high - estimate
    if reach <= 0:
        return None
    from scipy.stats import norm  # imported lazily: loads slowly

    z = abs(estimate - null) / reach * float(norm.ppf((1 + confidence_level) / 2))
    return min(1.0, 2 * float(norm.sf(z)))


def smallest_shown(
    error: float, df: float, *, n_tests: int = 1, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The smallest true value that a two-sided t test shows with this power: (t_{1 - alpha / (2 n_tests)} + t_power) x error.

    error: standard error of the estimate; df: its degrees of freedom (Bloom 1995, Evaluation Review 19:547, with a corrected
    alpha: Holm's and Benjamini and Hochberg's corrections divide it by the tests for the smallest of the p-values).

    >>> round(smallest_shown(0.1, 1_000_000), 3), round(smallest_shown(0.1, 1_000_000, n_tests=6), 3)
    (0.28, 0.348)

    Misleads where the spread behind the error is itself uncertain, as from few units.
    """
    from scipy.special import stdtrit  # imported lazily: most commands need no quantile

    return float(stdtrit(df, 1 - alpha / 2 / max(n_tests, 1)) + stdtrit(df, power)) * error
