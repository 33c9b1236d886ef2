"""Does a rater who meets a pair again, without being told, answer it the same way?"""

from dataclasses import dataclass

from core.stats.shares import wilson_share


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

    Interval: as `wilson_share`; close to its level on average, also near 0 and 1. n = 0: undefined.

    Misleads when one answer is popular: a rater who always says "both good" is perfectly consistent. Misleads too
    when the repeat comes so soon that it is remembered.
    """
    if not 0 <= n_same <= n:
        raise ValueError(f"n_same must lie between 0 and n, got {n_same} of {n}")
    same = wilson_share(n_same, n, confidence_level=confidence_level, reason="no pair was answered twice")
    return Consistency(
        n=same.n,
        n_same=same.count,
        share=same.share,
        low=same.low,
        high=same.high,
        confidence_level=same.confidence_level,
        reason=same.reason,
    )
