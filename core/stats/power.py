"""Power of the non-inferiority comparison, and the number of pairs a study needs.

The test is a one-sample t test of the mean score against -margin, with effect size
(mean + margin) / sd, sd with n - 1 in the denominator (003; statsmodels TTestPower; Cohen 1988, Statistical Power
Analysis, ch. 2).
"""

from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from statsmodels.stats.power import TTestPower

from core.stats.clustering import clustering
from core.stats.resampling import Floats, unit_clusters

Alternative = Literal["two-sided", "larger"]

_LARGEST_N = 10_000_000
_ROUNDING = (
    1e-12  # an effect this close to 0 is a mean on -margin; so little beyond an integer needs no further pair
)


@dataclass(frozen=True)
class Power:
    """Power at the observed mean, and sample sizes in pairs.

    Only the fields named `clustered`, and the numbers of questions, allow for pairs of one question being alike.
    """

    value: float | None
    """Probability of rejecting "mean <= -margin" if the true mean and sd were the observed ones."""
    alpha: float
    """Level of the test."""
    alternative: Alternative
    """Sides of the test; 003 reports "two-sided"."""
    n_for_80: int | None
    """Pairs for 80 % power at the observed mean."""
    n_for_90: int | None
    """Pairs for 90 % power at the observed mean."""
    n_for_80_if_equal: int | None
    """Pairs for 80 % power if the sources are equally good (true mean 0), as if pairs were independent."""
    n_for_90_if_equal: int | None
    """Pairs for 90 % power if the sources are equally good, as if pairs were independent."""
    n: int
    """Pairs with a score."""
    effect: float | None
    """(mean + margin) / sd."""
    method: str
    """The test and its implementation."""
    reason: str | None
    """Why a number is missing."""
    n_left_out: int = 0
    """Pairs without a score."""
    rho: float | None = None
    """Correlation of two pairs of one question (`clustering.py`)."""
    pairs_per_question: float | None = None
    """Mean number of pairs of a question."""
    design_effect: float | None = None
    """1 + (m - 1) max(rho, 0), the factor on the number of pairs."""
    n_for_80_if_equal_clustered: int | None = None
    """Pairs for 80 % power if the sources are equally good, times the design effect: the number to plan with."""
    n_for_90_if_equal_clustered: int | None = None
    """Pairs for 90 % power if the sources are equally good, times the design effect."""
    questions_for_80_if_equal: int | None = None
    """Questions that hold these pairs, at the pairs a question has in this study."""
    questions_for_90_if_equal: int | None = None
    """The same for 90 % power."""
    clustered_reason: str | None = None
    """Why rho or a number that rests on it is missing."""


def power_non_inferiority(
    scores: ArrayLike,
    *,
    margin: float,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    clusters: ArrayLike | None = None,
) -> Power:
    """Power of a t test of the mean score against -margin, at the observed mean and spread.

    `scores` has shape (n,); NaN are left out and counted. margin > 0, on the scale of the scores. clusters: shape (n,),
    the question of each pair; without it nothing is said of the design effect. Degenerate cases:
    fewer than two scores or no spread leave everything None; an observed mean at or below -margin leaves None what
    depends on the mean, because there is no non-inferiority to detect.

    Misleads in two ways. Power at the observed mean is a function of the p value and adds nothing to it (Hoenig
    and Heisey 2001, The American Statistician 55:19): to plan, take the numbers for equally good sources. And pairs
    of one question are not independent: take the numbers times the design effect, which themselves are uncertain
    where the study has few questions.
    """
    values = np.asarray(scores, dtype=np.float64)
    _check(values, margin, alpha, alternative)
    known = values[~np.isnan(values)]
    spread = float(known.std(ddof=1)) if known.size >= 2 else 0.0
    effect = (float(known.mean()) + margin) / spread if spread > 0 else None
    equal = margin / spread if spread > 0 else None
    seen = effect if effect is not None and effect > _ROUNDING else None
    needed = partial(pairs_needed, alpha=alpha, alternative=alternative)
    plain = Power(
        value=None if seen is None else _power(seen, known.size, alpha, alternative),
        alpha=alpha,
        alternative=alternative,
        n_for_80=None if seen is None else needed(seen, 0.80),
        n_for_90=None if seen is None else needed(seen, 0.90),
        n_for_80_if_equal=None if equal is None else needed(equal, 0.80),
        n_for_90_if_equal=None if equal is None else needed(equal, 0.90),
        n=known.size,
        effect=effect,
        method=f"one-sample t test of the mean against -margin, {alternative}, alpha {alpha:g} (statsmodels TTestPower)",
        reason=_reason(known.size, spread, seen is not None),
        n_left_out=values.size - known.size,
    )
    if clusters is None:
        return plain
    labels = unit_clusters(clusters, values.size)
    return _clustered(plain, known, labels[~np.isnan(values)])


def _clustered(plain: Power, scores: Floats, clusters: NDArray[np.generic]) -> Power:
    """The sample sizes for equally good sources with the design effect of the study."""
    alike = clustering(scores, clusters)
    size = alike.pairs_per_question

    def pairs(n: int | None) -> int | None:
        return None if n is None or alike.design_effect is None else ceil(n * alike.design_effect - _ROUNDING)

    def questions(n: int | None) -> int | None:
        return None if n is None or size is None else ceil(n / size - _ROUNDING)

    for_80, for_90 = pairs(plain.n_for_80_if_equal), pairs(plain.n_for_90_if_equal)
    return replace(
        plain,
        rho=alike.rho,
        pairs_per_question=size,
        design_effect=alike.design_effect,
        n_for_80_if_equal_clustered=for_80,
        n_for_90_if_equal_clustered=for_90,
        questions_for_80_if_equal=questions(for_80),
        questions_for_90_if_equal=questions(for_90),
        clustered_reason=alike.reason,
    )


def pairs_needed(effect: float, power: float, *, alpha: float, alternative: Alternative) -> int | None:
    """The smallest n >= 2 whose power reaches `power` at a positive effect size; None beyond ten million.

    The integer is searched (doubling, then bisection) because power grows with n, where a root finder stops with
    a warning for effects so large that two pairs suffice.
    """
    enough = 2
    while _power(effect, enough, alpha, alternative) < power:
        enough *= 2
        if enough > _LARGEST_N:
            return None
    too_few = enough // 2
    while enough - too_few > 1 and enough > 2:
        middle = (enough + too_few) // 2
        if _power(effect, middle, alpha, alternative) < power:
            too_few = middle
        else:
            enough = middle
    return enough


def _power(effect: float, n: int, alpha: float, alternative: Alternative) -> float:
    return float(TTestPower().power(effect_size=effect, nobs=n, alpha=alpha, alternative=alternative))


def _check(values: Floats, margin: float, alpha: float, alternative: str) -> None:
    if values.ndim != 1:
        raise ValueError(f"scores must have shape (n,), got {values.shape}")
    if np.isinf(values).any():
        raise ValueError("scores hold infinity")
    if not margin > 0:
        raise ValueError(f"margin must be positive, got {margin!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
    if alternative not in ("two-sided", "larger"):
        raise ValueError(f'alternative must be "two-sided" or "larger", got {alternative!r}')


def _reason(n: int, spread: float, detectable: bool) -> str | None:
    if n < 2:
        return "fewer than two scores: the spread is unknown"
    if not spread > 0:
        return "all scores are equal: without spread there is no effect size"
    if not detectable:
        return "the observed mean lies at or below -margin: there is no non-inferiority to detect"
    return None
