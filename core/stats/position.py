"""Does a rater prefer a side of the screen?"""

from dataclasses import dataclass

from scipy.stats import binomtest

NO_SIDE = "no choice of a side"


@dataclass(frozen=True)
class PositionBias:
    """Share of one-sided choices that fell on the left, with interval and test against one half."""

    n: int
    """Choices of a side (left + right); "both good" and "both bad" are not among them."""
    left: int
    """Choices of the left answer."""
    right: int
    """Choices of the right answer."""
    share_left: float | None
    """left / n."""
    low: float | None
    """Lower end of the 95 % Clopper-Pearson interval of the share."""
    high: float | None
    """Upper end."""
    p: float | None
    """Two-sided exact binomial p value of a share of one half."""
    reason: str | None
    """Why the share is undefined."""


def position_bias(left: int, right: int) -> PositionBias:
    """Test how often a rater chose the left against how often the right answer.

    Counts are of sides as displayed, before decoding. Interval: Clopper and Pearson (1934, Biometrika 26:404), never
    below its level, wide for small n. p: exact, sums all outcomes no likelier than the observed one. No choice of a
    side: undefined.

    Misleads where sides were not balanced over sources (a preference for a source then looks like one for a side),
    where a small p comes from testing many raters, and where few choices make a large p likely whatever the bias.
    """
    if left < 0 or right < 0:
        raise ValueError(f"counts must not be negative, got left {left} and right {right}")
    n = left + right
    if n == 0:
        return PositionBias(0, 0, 0, None, None, None, None, NO_SIDE)
    test = binomtest(left, n, 0.5)
    interval = test.proportion_ci(confidence_level=0.95, method="exact")
    return PositionBias(
        n=n,
        left=left,
        right=right,
        share_left=left / n,
        low=float(interval.low),
        high=float(interval.high),
        p=float(test.pvalue),
        reason=None,
    )
