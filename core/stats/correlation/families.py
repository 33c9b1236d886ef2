"""A test of a correlation over metrics that come in families: whole families are permuted, not single metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import ArrayLike

from core.stats.correlation.coefficients import Method, complete_pairs, pair_reason, row_coefficients
from core.stats.degeneracy import tied
from core.stats.resampling import NO_RESAMPLES, Floats, Indices, Rng, numbered, resamples_at_once

FEWEST_FAMILIES = 5
"""Fewer families have too few permutations: of 4, the smallest one-sided p is 1 / 24."""
_ROUNDING = 1e-12  # coefficients this close to the observed one are as large
_PERMUTATIONS = 10_000


@dataclass(frozen=True)
class FamilyTest:
    """p-values of no association between families."""

    p_one_sided: float | None
    """p of no positive association."""
    p_two_sided: float | None
    n_families: int
    n_permutations: int
    """Permutations compared with the observed order; `is_exact`: all there are."""
    is_exact: bool = False
    reason: str | None = None
    """Why there is no p."""


def family_permutation_test(
    x: ArrayLike,
    y: ArrayLike,
    families: Sequence[str],
    method: Method,
    *,
    n_resamples: int = _PERMUTATIONS,
    rng: Rng = 0,
) -> FamilyTest:
    """Test whether the coefficient of x and y (m,) over metrics could come from unrelated families.

    families: the family of each metric. y of a metric is its family's mean plus its own distance from it. The families' means
    are permuted, the distances stay, and the coefficient of x with the new y is computed. Families may differ in size: a
    large one keeps its weight, and every family receives every mean equally often. p is the share of permutations, the
    observed one included, with a coefficient at least as large (two-sided: in absolute value). All permutations are used if
    there are at most n_resamples, otherwise n_resamples random ones: p = (1 + as large) / (1 + n_resamples). Permutation of
    whole blocks under dependence: Winkler et al. 2015 (NeuroImage 123:253); Good 2005 (Permutation, Parametric and Bootstrap
    Tests of Hypotheses).

    The null hypothesis is that the families' means on one side say nothing of those on the other; the agreement within
    families is left as it is and counts neither for nor against. Assumes that family means are exchangeable. A family's mean
    varies less the more metrics it has, so with unequal sizes this holds approximately (simulated error: .04 to .06 at
    nominal .05). Misleads if families are drawn too finely, such as one for each version of a model: related
    metrics are then again treated as independent. Undefined below `FEWEST_FAMILIES` families, or if a side is constant.
    """
    first, second = complete_pairs(x, y)
    whole = np.asarray(families)
    known = ~(np.isnan(np.asarray(x, dtype=np.float64)) | np.isnan(np.asarray(y, dtype=np.float64)))
    if whole.shape != known.shape:
        raise ValueError(f"families must name all {known.size} metrics, got {len(families)}")
    family = numbered(whole[known])
    n_families = int(family.max(initial=-1)) + 1
    reason = pair_reason(first, second, ("correlations of one side", "correlations of one side"), "metrics")
    if reason is None and n_families < FEWEST_FAMILIES:
        counted = "1 family" if n_families == 1 else f"{n_families} families"
        reason = f"{counted}: fewer than {FEWEST_FAMILIES} have too few permutations"
    if reason is None and n_resamples == 0:
        reason = NO_RESAMPLES
    if reason is not None:
        return FamilyTest(None, None, n_families, 0, reason=reason)
    is_exact = factorial(n_families) <= n_resamples
    if is_exact:
        orders = np.array(list(permutations(range(n_families))))
    else:
        generator = np.random.default_rng(rng)
        drawn = np.tile(np.arange(n_families), (n_resamples, 1))
        orders = np.vstack([np.arange(n_families), generator.permuted(drawn, axis=1)])
    values = _permuted(first, second, family, orders.astype(np.intp), method)
    larger, farther = values >= values[0] - _ROUNDING, np.abs(values) >= abs(values[0]) - _ROUNDING
    return FamilyTest(
        float(larger.mean()), float(farther.mean()), n_families, len(orders) - (not is_exact), is_exact
    )


def _permuted(x: Floats, y: Floats, family: Indices, orders: Indices, method: Method) -> Floats:
    """The coefficient for each order of the families' means, the first being the observed order."""
    means = np.bincount(family, y) / np.bincount(family)
    own = y - means[family]
    values = np.empty(len(orders))
    block = resamples_at_once(y.size * y.size)
    for start in range(0, len(orders), block):
        part = orders[start : start + block]
        moved = tied(means[part][:, family] + own, np.full((len(part), y.size), np.abs(y).max()))
        values[start : start + block] = row_coefficients(np.broadcast_to(x, moved.shape), moved, method)
    # A constant side after the move is no evidence of association.
    return np.nan_to_num(values)
