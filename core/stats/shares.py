"""A share of counted things with its Wilson interval."""

from dataclasses import dataclass

from core.stats.resampling import check_confidence_level


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    count: int
    """Things that have it."""
    n: int
    """Things looked at."""
    share: float | None
    """count / n; None where n is 0."""
    low: float | None
    """Lower end of the Wilson interval."""
    high: float | None
    """Upper end."""
    confidence_level: float
    """Two-sided level of the interval."""
    reason: str | None = None
    """Why the share is undefined."""


def wilson_share(
    count: int, n: int, *, confidence_level: float = 0.95, reason: str = "nothing to count"
) -> Share:
    """The share count / n, in [0, 1], with an interval that stays within it.

    Interval: Wilson (1927, Journal of the American Statistical Association 22:209), without continuity correction. n =
    0: undefined, for `reason`. Misleads where the things counted come in bundles that are alike (questions of one
    text, errors of one text): it takes them for independent and is then too narrow.
    """
    check_confidence_level(confidence_level)
    if not 0 <= count <= n:
        raise ValueError(f"count must lie between 0 and n, got {count} of {n}")
    if n == 0:
        return Share(0, 0, None, None, None, confidence_level, reason)
    from scipy.stats import binomtest  # loads slowly

    interval = binomtest(count, n).proportion_ci(confidence_level=confidence_level, method="wilson")
    return Share(count, n, count / n, float(interval.low), float(interval.high), confidence_level)
