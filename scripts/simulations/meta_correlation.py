"""Meta-correlation over infinitely many items: naive and noise-corrected intervals over items."""

import numpy as np

from core.stats.correlation.coefficients import coefficient
from core.stats.correlation.intervals import Live, corrected_over_items, meta_correlation_over_items
from core.stats.resampling import Floats, Indices
from scripts.simulations import Cell, Grid, Measures
from scripts.simulations.systems import true_means

_LEVELS = 6
_EACH = 10
"""One study in so many is bootstrapped, to save time."""


def _side(target: Floats, items: Indices, strengths: Floats, noise: Floats) -> Live:
    """Scores whose Pearson correlation with the target is strength / sqrt(1 + strength**2) over infinitely many items."""
    level = (target - target.mean()) / np.sqrt((_LEVELS**2 - 1) / 12)
    return Live(strengths * level[:, None] + noise, target, items)


def run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Coverage of 95 % intervals in one cell."""
    n_metrics, n_items, spread, sides = int(cell[0]), int(cell[1]), str(cell[2]), str(cell[3])
    reach = {"close": 0.12, "far": 0.55}[spread]
    strengths = [1.1 + own for own in true_means(n_metrics, reach, 0.9)]
    in_the_long_run = [own / np.sqrt(1 + own**2) for own in strengths]
    true = coefficient(in_the_long_run[0], in_the_long_run[1], "pearson")
    items = np.repeat(np.arange(n_items), _LEVELS)
    target = np.tile(-np.arange(float(_LEVELS)), n_items)
    found: dict[str, list[float]] = {name: [] for name in MEASURES}

    def noise() -> Floats:
        own = rng.normal(size=(items.size, n_metrics)) + rng.normal(size=(n_items, 1))[items]
        return np.asarray(np.sqrt(0.5) * own)

    for number in range(replicates):
        first = noise()
        second = first if sides == "same items" else noise()
        human: Live | Floats = _side(target, items, strengths[0], first)
        if sides == "one fixed":
            human = in_the_long_run[0]
        synthetic = _side(target, items + (n_items if sides == "other items" else 0), strengths[1], second)
        one = corrected_over_items(human, synthetic, "pearson", n_resamples=64, rng=rng)
        found["undefined"].append(one.estimate is None)
        found["said undefined"].append(one.undefined_share or 0.0)
        if one.low is not None and one.high is not None:
            found["corrected"].append(one.low <= true <= one.high)
            found["width"].append(one.high - one.low)
        if number % _EACH == 0:
            naive = meta_correlation_over_items(human, synthetic, "pearson", n_resamples=200, rng=rng)
            if naive.low is not None and naive.high is not None:
                found["naive"].append(naive.low <= true <= naive.high)
                found["naive width"].append(naive.high - naive.low)
    return {name: float(np.mean(values)) if values else None for name, values in found.items()}


_CASES = (("close", "one fixed"), ("close", "other items"), ("close", "same items"), ("far", "other items"))
MEASURES = ("undefined", "said undefined", "corrected", "width", "naive", "naive width")

GRID = Grid(
    name="meta-correlation",
    title="Meta-correlation over infinitely many items",
    about="""
Metrics are fixed and items are drawn, six texts an item, on damage levels. A metric's correlation with the level is .74
on average, with a standard deviation over metrics of .04 (*close*) or .19 (*far*). The Pearson correlation of both sides' true
columns is near .9. *Sides*: the human side is known without error (*one fixed*), or comes from *other items* or from the *same items*,
where the metrics' errors are the same on both sides.

*corrected*, *naive*: share of 95 % intervals over items that contain the value of infinitely many items, the corrected ones among
defined studies; naive ones are percentile intervals, in one study in ten. *undefined*: share of studies in which a corrected
variance is at most 0. *said undefined*: mean share of undefined resamples, which a user sees.
""",
    factors=("metrics", "items", "spread", "sides"),
    measures=MEASURES,
    cells=tuple(
        (n_metrics, n_items, spread, sides)
        for n_metrics in (8, 15)
        for spread, sides in _CASES
        for n_items in (20, 100, 400)
    ),
    run=run,
    replicates=1_000,
)
