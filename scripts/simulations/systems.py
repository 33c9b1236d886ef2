"""Correlation of systems' means and system accuracy over infinitely many items: naive, corrected, and what failed."""

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student

from core.stats.correlation.coefficients import row_coefficients
from core.stats.correlation.noise import NoiseCorrected
from core.stats.correlation.systems import accuracy_bound, corrected_between_systems
from core.stats.resampling import Floats
from scripts.simulations import Cell, Grid, Measures

_RESAMPLES = 200
_EACH = 4
"""One study in so many is bootstrapped, to save time."""
_SHARED = 0.3
"""Share of the variance of a text's noise that score and rating have in common."""


def true_means(n_systems: int, spread: float, r: float) -> tuple[Floats, Floats]:
    """Means of ratings and of scores over infinitely many items; their SD over systems, and Pearson's r."""
    rating = np.linspace(-1, 1, n_systems)
    other = np.random.default_rng(n_systems).normal(size=n_systems)
    other -= other.mean()
    other -= rating * (other @ rating) / (rating @ rating)
    rating, other = (own / own.std(ddof=1) for own in (rating, other))
    return spread * rating, spread * (r * rating + np.sqrt(1 - r**2) * other)


def _holds(low: float, high: float, true: float) -> float:
    return float(low - 1e-9 <= true <= high + 1e-9)


def _statistics(x: Floats, y: Floats) -> dict[str, Floats]:
    first, second = np.triu_indices(x.shape[1], 1)
    right = np.sign(x[:, first] - x[:, second]) == np.sign(y[:, first] - y[:, second])
    return {
        "pearson": row_coefficients(x, y, "pearson"),
        "spearman": row_coefficients(rankdata(x, axis=1), rankdata(y, axis=1), "pearson"),
        "accuracy": right.mean(axis=1),
    }


def _bootstrapped(x: Floats, y: Floats, true: dict[str, float], rng: np.random.Generator) -> dict[str, float]:
    """Percentile intervals, and intervals shifted by the bias of systems moved together (x, y: items by systems)."""
    n = len(x)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES) / n
    observed = _statistics(x.mean(axis=0)[None], y.mean(axis=0)[None])
    drawn = _statistics(weights @ x, weights @ y)
    closer = [_moved(own) for own in (x, y)]
    shifted = _statistics(*(weights @ own for own in closer))
    found = {}
    for name, value in observed.items():
        low, high = np.quantile(drawn[name], [0.025, 0.975])
        found[f"{name}, naive"] = _holds(low, high, true[name])
        low, high = np.quantile(shifted[name], [0.025, 0.975])
        found[f"{name}, shifted"] = _holds(2 * value[0] - high, 2 * value[0] - low, true[name])
    return found


def _moved(values: Floats) -> Floats:
    """Values whose means over items vary over systems as much as the noise-corrected variance says."""
    means = values.mean(axis=0) - values.mean()
    own = values - values.mean(axis=1, keepdims=True)
    noise = own.var(axis=0, ddof=1).sum() / len(values) / (values.shape[1] - 1)
    kept = max(1 - noise / means.var(ddof=1), 0.01)
    return np.asarray(values - (1 - np.sqrt(kept)) * means)


def _fisher(found: NoiseCorrected) -> tuple[float, float]:
    """The corrected interval's reach on the scale of Fisher's z, the estimate cut to .999."""
    middle, error = float(np.clip(found.uncut or 0.0, -0.999, 0.999)), found.standard_error or 0.0
    reach = float(student.ppf(0.975, found.n_clusters - 1)) * error / (1 - middle**2)
    return float(np.tanh(np.arctanh(middle) - reach)), float(np.tanh(np.arctanh(middle) + reach))


def run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Coverage of 95 % intervals in one cell."""
    n_systems, n_items, spread, r = int(cell[0]), int(cell[1]), float(cell[2]), float(cell[3])
    rating, score = true_means(n_systems, spread, r)
    true = {name: float(value[0]) for name, value in _statistics(score[None], rating[None]).items()}
    item, system = np.repeat(np.arange(n_items), n_systems), np.tile(np.arange(n_systems), n_items)
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for number in range(replicates):
        shape = (n_items, n_systems)
        shared = np.sqrt(_SHARED) * rng.normal(size=shape) + rng.normal(size=(n_items, 1))
        x, y = (m + shared + np.sqrt(1 - _SHARED) * rng.normal(size=shape) for m in (score, rating))
        one = corrected_between_systems(x.ravel(), y.ravel(), system, items=item, n_resamples=64, rng=rng)
        bound = accuracy_bound(x.ravel(), y.ravel(), system, items=item)
        found["undefined"].append(one.estimate is None)
        found["said undefined"].append(one.undefined_share or 0.0)
        if one.low is not None and one.high is not None:
            found["corrected"].append(_holds(one.low, one.high, r))
            found["width"].append(one.high - one.low)
            low, high = _fisher(one)
            found["Fisher's z"].append(_holds(low, high, r))
            found["width of z"].append(high - low)
        least, most = bound.low or 0.0, bound.high or 0.0
        found["accuracy, bound"].append(_holds(least, most, true["accuracy"]))
        found["width of bound"].append(most - least)
        if number % _EACH == 0:
            for name, held in _bootstrapped(x, y, true, rng).items():
                found[name].append(held)
    return {name: float(np.mean(values)) if values else None for name, values in found.items()}


MEASURES = (
    *("undefined", "said undefined", "corrected", "width", "Fisher's z", "width of z"),
    *(f"{name}, {how}" for name in ("pearson", "spearman", "accuracy") for how in ("naive", "shifted")),
    *("accuracy, bound", "width of bound"),
)

GRID = Grid(
    name="systems",
    title="Systems over infinitely many items",
    about="""
Systems are fixed and items are drawn. The noise of a text has a standard deviation of 1, and 30 % of its variance is shared by
score and rating; on top, items differ in difficulty. *Spread*: standard deviation of the systems' true means. *r*: Pearson's r
of the true means. Every column but the undefined shares and the widths is the share of 95 % intervals that contain the
value of infinitely many items.

- *undefined*: share of studies in which a corrected variance is at most 0. *said undefined*: mean share of undefined resamples,
  which a user sees.
- *corrected*, *width*: the noise-corrected Pearson, among defined studies. *Fisher's z*: the same standard error on the scale of
  z, with estimates above 1 cut to .999. It was not kept: it is far wider, and not safer.
- *naive*: percentile interval of the observed statistic. *shifted*: the basic bootstrap interval after the systems were moved
  together to their corrected variance. It was not kept for any statistic. Naive
  and shifted intervals were computed for one study in four.
- *accuracy, bound*: bounds from pairs of certain order.
""",
    factors=("systems", "items", "spread", "r"),
    measures=MEASURES,
    cells=tuple(
        (n_systems, n_items, spread, r)
        for n_systems in (8, 15)
        for spread, r in ((0.1, 0.95), (0.3, 0.95), (0.3, 0.5), (1.0, 0.95))
        for n_items in (20, 100, 400)
    ),
    run=run,
    replicates=1_000,
)
