"""Which of two metrics correlates more strongly with the same target? Tests for scores of the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from core.stats.correlation.coefficients import Method, coefficient, column, standard, why_undefined
from core.stats.correlation.resampled import prepare, resampled
from core.stats.resampling import NO_RESAMPLES, Floats, Indices, numbered

Alternative = Literal["two-sided", "greater", "less"]
_ROUNDING = 1e-12  # a difference this close to the observed one is as large


@dataclass(frozen=True)
class PairedTest:
    """The difference of two coefficients with the same target, and how often chance gives one as large."""

    difference: float | None
    """First minus second."""
    p: float | None
    """(1 + swaps with a difference as large) / (1 + swaps): never 0."""
    n: int
    """Rows with all three values."""
    n_units: int
    """What was swapped: rows, or items."""
    n_resamples: int
    """Swaps drawn."""
    reason: str | None = None
    """Why the difference, or p alone, is undefined."""
    n_left_out: int = 0
    """Rows without one of the values."""


def williams(
    r_xy: float, r_zy: float, r_xz: float, n: int, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    """Williams' t (n - 3 degrees of freedom) for r_xy against r_zy, two metrics' r with one target, and its p.

    r_xz: between the two metrics; "greater": r_xy is larger. Williams (1959, Journal of the Royal Statistical Society B
    21:396), in the form of Steiger (1980, Psychological Bulletin 87:245, eq. 7); for metrics Graham and Baldwin (2014,
    EMNLP). NaN where n < 4, a coefficient is undefined or the two metrics are the same (r_xz = 1). Assumes independent
    rows and a normal distribution, so it is for Pearson's r; misleads on rows that share items.
    """
    if n < 4 or not abs(r_xz) < 1 or not (abs(r_xy) <= 1 and abs(r_zy) <= 1):
        return float("nan"), float("nan")
    determinant = 1 - r_xy**2 - r_zy**2 - r_xz**2 + 2 * r_xy * r_zy * r_xz
    mean = (r_xy + r_zy) / 2
    spread = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_xz) ** 3
    if spread <= 0:
        return float("nan"), float("nan")
    t = (r_xy - r_zy) * np.sqrt((n - 1) * (1 + r_xz) / spread)
    above = float(student.sf(t, n - 3))
    p = {"greater": above, "less": 1 - above, "two-sided": 2 * min(above, 1 - above)}[alternative]
    return float(t), float(p)


def permutation_test(
    x1: ArrayLike,
    x2: ArrayLike,
    y: ArrayLike,
    method: Method,
    *,
    items: ArrayLike | None = None,
    n_resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    alternative: Alternative = "two-sided",
    names: tuple[str, str] = ("scores", "levels"),
) -> PairedTest:
    """Test whether metric x1 or x2 correlates more strongly with y (all (n,)), by swapping their scores.

    Both metrics are standardised over all rows, then the two scores of a row (or of all rows of an item, where items are
    given) change places with probability 1/2, and both coefficients are computed anew (Deutsch et al. 2021, TACL 9:1132:
    their PERM-BOTH over rows, PERM-INPUTS over items). "greater": x1 is stronger. Swap items wherever an item has
    several rows. Misleads where two metrics are on scales of very different shape: standardising aligns mean and
    spread only, and the swapped scores are then a mixture of shapes.
    """
    first, second, target, unit, n_given = _complete(x1, x2, y, items)
    for scores in (first, second):
        reason = why_undefined(scores, target, names)
        if reason is not None:
            return PairedTest(None, None, target.size, 0, 0, reason, n_given - target.size)
    n_units, n_left_out = int(unit.max()) + 1, n_given - target.size
    observed = coefficient(first, target, method) - coefficient(second, target, method)
    if n_resamples == 0:
        return PairedTest(observed, None, target.size, n_units, 0, NO_RESAMPLES, n_left_out)
    # A swapped metric is a weighting of the 2 n scores of both: those of one with s, those of the other with 1 - s.
    prepared = prepare(
        np.concatenate([_standard(first), _standard(second)])[:, None],
        np.tile(target, 2),
        np.concatenate([unit, unit + n_units]),
        2 * n_units,
        (method,),
    )
    generator = np.random.default_rng(rng)
    as_large = 0
    for start in range(0, n_resamples, prepared.together):
        size = min(prepared.together, n_resamples - start)
        stays = generator.integers(0, 2, size=(size, n_units)).T.astype(np.float64)
        swapped = (np.concatenate([stays, 1 - stays]), np.concatenate([1 - stays, stays]))
        one, other = (resampled(prepared, counts)[method][0] for counts in swapped)
        as_large += n_reached(one - other, observed, alternative)
    return PairedTest(
        difference=observed,
        p=(1 + as_large) / (1 + n_resamples),
        n=target.size,
        n_units=n_units,
        n_resamples=n_resamples,
        n_left_out=n_left_out,
    )


def significance_clusters(names: Sequence[str], p_values: ArrayLike, alpha: float = 0.05) -> dict[str, int]:
    """Clusters of metrics that no test tells apart: name -> 1 for the best, 2, ...

    names: from best to worst. p_values: shape (m, m); [i, j] of metric i being better than metric j, or two-sided; only
    i before j is read, NaN is not significant. A new cluster begins where a metric is worse than all of the one before.
    Misleads: members of a cluster are not thereby equal, and nothing pays for the m (m - 1) / 2 tests.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.shape != (len(names), len(names)):
        raise ValueError(f"p_values must have shape ({len(names)}, {len(names)}), got {p.shape}")
    clusters: dict[str, int] = {}
    begin, number = 0, 1
    for position, name in enumerate(names):
        if position > begin and bool((p[begin:position, position] < alpha).all()):
            begin, number = position, number + 1
        clusters[name] = number
    return clusters


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values that pay for the number of tests: at most a share alpha of such sets of tests finds what is not there.

    p_values: in [0, 1], in any order; None is a test without a p, which stays None and counts for nothing. Returns as many,
    in the same order, in [0, 1]. Holm (1979, Scandinavian Journal of Statistics 6:65), by statsmodels. Holds for tests
    that depend on each other, too. Misleads where only the promising pairs were tested: pass all that were looked at.
    """
    from statsmodels.stats.multitest import multipletests  # takes a second to import

    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    paid = iter(multipletests(known, method="holm")[1].tolist())
    return [None if p is None else next(paid) for p in p_values]


def n_reached(differences: Floats, observed: float, alternative: Alternative) -> int:
    """Swaps whose difference is as large; one that leaves a metric constant has none, and counts against the finding."""
    if alternative == "two-sided":
        smaller = np.abs(differences) < abs(observed) - _ROUNDING
    else:
        sign = 1 if alternative == "greater" else -1
        smaller = sign * differences < sign * observed - _ROUNDING
    return int((~smaller).sum())


def _complete(
    x1: ArrayLike, x2: ArrayLike, y: ArrayLike, items: ArrayLike | None
) -> tuple[Floats, Floats, Floats, Indices, int]:
    """Rows with all three values, the number of each one's unit, and the rows given."""
    columns = [column(values) for values in (x1, x2, y)]
    labels = np.arange(columns[2].size) if items is None else np.asarray(items)
    shapes = [values.shape for values in (*columns, labels)]
    if len(set(shapes)) > 1:
        raise ValueError(f"x1, x2, y and items must have one shape (n,), got {shapes}")
    known = ~np.isnan(columns).any(axis=0)
    first, second, target = (values[known] for values in columns)
    unit = numbered(labels[known])
    return first, second, target, unit, labels.size


def _standard(scores: Floats) -> Floats:
    """Scaled to a usual size first: the squares of tiny scores would all be 0."""
    scaled = standard(scores, axis=0)
    return np.asarray(scaled / scaled.std(), dtype=np.float64)
