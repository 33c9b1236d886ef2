"""Type I error of the test of a meta-correlation, where metrics come in families."""

import numpy as np
from scipy.stats import t as student

from core.stats.correlation.coefficients import Method
from core.stats.correlation.families import family_permutation_test
from core.stats.correlation.intervals import meta_correlation
from core.stats.resampling import Floats, Indices
from scripts.simulations import Cell, Grid, Measures

_RESAMPLES = 199
_ALPHA = 0.05
SIZES = {
    "5 of 4": (4,) * 5,
    "7 of 4": (4,) * 7,
    "1,1,2,3,8,9": (1, 1, 2, 3, 8, 9),
    "1,1,1,2,2,3,4,6,8": (1, 1, 1, 2, 2, 3, 4, 6, 8),
    "eight of 1, 10": (*(1,) * 8, 10),
}


def _side(family: Indices, within: float, rng: np.random.Generator) -> Floats:
    """One side's correlations, on a normal scale; within: correlation of metrics of a family."""
    own = rng.normal(size=int(family.max()) + 1)[family]
    return np.asarray(np.sqrt(within) * own + np.sqrt(1 - within) * rng.normal(size=family.size))


def _robust(x: Floats, y: Floats, family: Indices) -> float:
    """Return p of the slope with a standard error over families (CR1), t with families - 2 degrees of freedom."""
    x, y = (own - own.mean() for own in (x, y))
    slope = (x @ y) / (x @ x)
    scores = np.bincount(family, x * (y - slope * x))
    n = scores.size
    error = np.sqrt(n / (n - 1) * (scores**2).sum()) / (x @ x)
    return float(2 * student.sf(abs(slope / error), n - 2))


def run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Share of p-values of at most .05 in one cell."""
    sizes, within, method = SIZES[str(cell[0])], float(cell[1]), str(cell[2])
    order: Method = "pearson" if method == "pearson" else "kendall" if method == "kendall" else "spearman"
    family = np.repeat(np.arange(len(sizes)), sizes)
    found: dict[str, list[float | None]] = {name: [] for name in MEASURES}
    for _ in range(replicates):
        human, synthetic = (_side(family, within, rng) for _ in range(2))
        follows = np.sqrt(0.5) * (human + _side(family, within, rng))
        test = family_permutation_test(human, synthetic, family, order, n_resamples=_RESAMPLES, rng=rng)
        found["over families"].append(test.p_two_sided)
        found["one-sided"].append(test.p_one_sided)
        found["as independent"].append(meta_correlation(human, synthetic, order, n_resamples=0).p_two_sided)
        found["robust t"].append(_robust(human, synthetic, family))
        power = family_permutation_test(human, follows, family, order, n_resamples=_RESAMPLES, rng=rng)
        found["power"].append(power.p_one_sided)
    return {name: float(np.mean([p is not None and p <= _ALPHA for p in own])) for name, own in found.items()}


MEASURES = ("over families", "one-sided", "as independent", "robust t", "power")

GRID = Grid(
    name="families",
    title="Meta-correlation of families of metrics",
    about="""
Share of p-values of at most .05. Both sides are normal, metrics of a family correlate at *within* on each side, and the sides are
independent. *Families*: how many, and how many metrics each has.

- *over families*, *one-sided*: the test that permutes the families' means. *as independent*: the test that treats metrics as
  independent.
- *robust t*: the slope with a standard error over families (CR1). It was not kept.
- *power*: of the one-sided test over families, where half of the variance of one side is the other side.
""",
    factors=("families", "within", "method"),
    measures=MEASURES,
    cells=tuple(
        (sizes, within, method)
        for method in ("spearman", "pearson", "kendall")
        for sizes in SIZES
        for within in (0.0, 0.5, 0.9)
        if method != "kendall" or sizes in ("7 of 4", "1,1,2,3,8,9")
    ),
    run=run,
    replicates=2_000,
)
