"""What a judge must show in the place of a rater, by the scale: findings with their one-sided p-values, and the verdict from them.

Each rule is tested twice at its limit: whether the judge is shown to lie on the right side, and whether on the wrong one. A
judge is trusted if every rule is shown; because all are needed, none is corrected for the others (Berger 1982, Technometrics
24:295). It is not trusted if one is shown to be broken, corrected by Holm for the number of rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.stats.correlation.panels import panel_correlation
from core.stats.in_place import ClassErrors, InPlace, class_covariance, class_errors, quadratic_kappa
from core.stats.multiplicity import corrected, interval_p
from core.stats.resampling import Estimate, Floats

LEVEL = 0.05
"""Largest probability of a wrong TRUSTED, and of a wrong NOT TRUSTED."""
FEW_TEXTS, FEW_OFF = 100, 50
"""Texts, and texts off the commonest class, below which rules on ordered classes are tested at half the level."""


@dataclass(frozen=True)
class Finding:
    """What was found for one rule."""

    code: str
    found: Estimate
    limit: float
    """On the scale of `found`."""
    shown: float | None
    """p of the judge not keeping the limit: small where it is shown to keep it; None where nothing can be shown."""
    broken: float | None
    """p of the judge keeping the limit: small where it is shown to break it."""
    strict: bool = False
    """Whether it is tested at half the level."""
    behind: ClassErrors | InPlace | None = None


def verdict_of(findings: Sequence[Finding], *, n_judges: int = 1) -> str:
    """TRUSTED, NOT TRUSTED or INCONCLUSIVE. n_judges: judges of which each could be trusted by chance."""
    paid = corrected(
        [None if one.broken is None else one.broken * (2 if one.strict else 1) for one in findings]
    )
    if any(p is not None and p <= LEVEL for p in paid):
        return "NOT TRUSTED"
    needed = [LEVEL / n_judges / (2 if one.strict else 1) for one in findings]
    shown = (
        one.shown is not None and one.shown <= level for one, level in zip(findings, needed, strict=True)
    )
    return "TRUSTED" if findings and all(shown) else "INCONCLUSIVE"


def at_least(
    code: str, found: Estimate, limit: float, *, strict: bool = False, behind: InPlace | None = None
) -> Finding:
    """The rule that a number is at least the limit, from its interval."""
    two = interval_p(
        found.estimate, found.low, found.high, null=limit, confidence_level=found.confidence_level
    )
    if two is None or found.estimate is None:
        return Finding(code, found, limit, None, None, strict, behind)
    above = found.estimate > limit
    return Finding(
        code,
        found,
        limit,
        two / 2 if above else 1 - two / 2,
        1 - two / 2 if above else two / 2,
        strict,
        behind,
    )


def of_two_classes(
    judge: Floats,
    votes: Floats,
    *,
    margin: float,
    share: float,
    items: NDArray[np.int64],
    weights: Floats | None = None,
) -> tuple[Finding, ...]:
    """False passes, false fails, and the share of people's own value that is kept. Codes: 0 fails, 1 passes, NaN missing."""
    asked = {"margin": margin, "clusters": items, "weights": weights}
    passes = class_errors(1 - judge, 1 - votes, **asked)  # type: ignore[arg-type]
    fails = class_errors(judge, votes, **asked)  # type: ignore[arg-type]
    kept = class_covariance(judge, votes, 2, kept_share=share, clusters=items, weights=weights)
    return (
        Finding("false-passes", passes.difference, margin, passes.below, passes.above, behind=passes),
        Finding("false-fails", fails.difference, margin, fails.below, fails.above, behind=fails),
        at_least("kept-share", kept.kept, 0.0, behind=kept),
    )


def of_ordered(
    judge: Floats, votes: Floats, *, margin: float, share: float, items: NDArray[np.int64]
) -> tuple[Finding, ...]:
    """Quadratic kappa and Spearman's correlation beside people's own, and the share that is kept. NaN in judge: filled before."""
    known = votes[~np.isnan(votes)]
    common = int(np.unique(known, return_counts=True)[1].max()) if known.size else 0
    off = len(votes) * (1 - common / max(known.size, 1))
    strict = len(votes) < FEW_TEXTS or off < FEW_OFF
    kappa = quadratic_kappa(judge, votes, kept_share=share, clusters=items)
    ranks = panel_correlation(judge, votes, clusters=items, kept_share=share, confidence_level=0.9)
    return (
        at_least("kappa-quadratic", kappa.gap, -margin, strict=strict, behind=kappa),
        at_least("correlation", ranks.gap, -margin, strict=strict),
        at_least("kept-share", ranks.kept, 0.0, strict=strict),
    )


def farther_end(judge: Floats, votes: Floats, low: float, high: float) -> Floats:
    """The judge's scores, and where there is none the end of the scale that is farther from the mean of that text's raters."""
    means = np.nanmean(votes, axis=1)
    return np.where(np.isnan(judge), np.where(means - low > high - means, low, high), judge)
