"""Does a rater who meets a pair again, without being told, answer it the same way?"""

from dataclasses import dataclass

from scipy.stats import binomtest

from core.stats.resampling import check_confidence_level


@dataclass(frozen=True)
class Consistency:
    """Share of hidden repeats answered with the same preference, with a Wilson interval."""

    n: int
    """Repeated pairs answered both times."""
    n_same: int
    """Those with the same preference (after decoding, so the sides may have been swapped)."""
    share: float | None
    """n_same / n."""
    low: float | None
    """Lower end of the Wilson interval."""
    high: float | None
    """Upper end."""
    confidence_level: float
    """Two-sided level of the interval."""
    reason: str | None
    """Why the share is undefined."""


def consistency(n_same: int, n: int, *, confidence_level: float = 0.95) -> Consistency:
    """Share of hidden repeats with the same preference, in [0, 1], higher is more consistent.

    Interval: Wilson (1927, Journal of the American Statistical Association 22:209), without continuity correction;
    close to its level on average, also near 0 and 1. n = 0: undefined.

    Misleads when one answer is popular: a rater who always says "both good" is perfectly consistent. Misleads too
    when the repeat comes so soon that it is remembered.
    """
    check_confidence_level(confidence_level)
    if not 0 <= n_same <= n:
        raise ValueError(f"n_same must lie between 0 and n, got {n_same} of {n}")
    if n == 0:
        return Consistency(0, 0, None, None, None, confidence_level, "no pair was answered twice")
    interval = binomtest(n_same, n).proportion_ci(confidence_level=confidence_level, method="wilson")
    return Consistency(
        n=n,
        n_same=n_same,
        share=n_same / n,
        low=float(interval.low),
        high=float(interval.high),
        confidence_level=confidence_level,
        reason=None,
    )
