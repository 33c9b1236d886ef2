"""Coverage of corrected numbers: means, pass rates and differences, with and without items of several rows."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.stats.prediction_powered import Corrected, Scored, corrected_difference, corrected_mean
from core.stats.resampling import Estimate
from scripts.simulations import Cell, Grid, Measures

Floats = NDArray[np.float64]

ROWS_AN_ITEM = 3
WITHIN = 0.5
"""Correlation of two rows of an item, of what people and the judge see."""


@dataclass(frozen=True)
class Judge:
    """How a judge sees what people see: its score is that times `follows`, plus noise and a constant."""

    follows: float
    noise: float
    constant: float = 0.0


JUDGES = {"strong": Judge(1, 0.35), "weak": Judge(0.15, 1), "biased": Judge(0.8, 0.7, 1)}
ALIKE = 0.7
"""Correlation of two systems' texts of one item."""
SHIFT = 0.2
"""How much better the first of two systems is."""
RATES = (0.9, 0.8)
"""Pass rates of two systems."""
_CUTS = np.array([-1.5, -0.75, 0.0, 0.9])  # of a scale from 1 to 5


def _seen(shape: tuple[int, ...], items: bool, rng: np.random.Generator) -> Floats:
    """Standard normal values; with items, the rows of an item (last axis) are correlated."""
    if not items:
        return rng.standard_normal(shape)
    n_items = -(-shape[-1] // ROWS_AN_ITEM)
    shared = np.repeat(rng.standard_normal((*shape[:-1], n_items)), ROWS_AN_ITEM, axis=-1)[..., : shape[-1]]
    seen: Floats = np.sqrt(WITHIN) * shared + np.sqrt(1 - WITHIN) * rng.standard_normal(shape)
    return seen


def _grades(values: Floats) -> Floats:
    return 1.0 + np.searchsorted(_CUTS, values).astype(np.float64)


def _judged(seen: Floats, judge: Judge, items: bool, rng: np.random.Generator) -> Floats:
    noise = _seen(seen.shape, items, rng)
    return judge.follows * seen + judge.noise * noise + judge.constant


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    what, name, n_labels, n_others, kind = cell
    n = int(n_labels) + int(n_others)
    results = [_once(what, JUDGES[str(name)], int(n_labels), n, str(kind), rng) for _ in range(replicates)]
    truth = _truth(what)
    widths = np.array([(_width(one.decided), _width(one.labels_only)) for one in results])
    classes = [
        one.rogan_gladen for one in results if one.rogan_gladen and one.rogan_gladen.estimate is not None
    ]
    return {
        "coverage": _share(_covers(one.decided, truth) for one in results),
        "PPI++": _share(one.method == "ppi++" for one in results),
        "Rogan-Gladen": _share(one.method == "rogan-gladen" for one in results),
        "width": float(np.nanmean(widths[:, 0])),
        "of labels": float(np.nanmean(widths[:, 1])),
        "saved": float(np.median([one.share_saved or 0.0 for one in results])),
        "RG covers": _share(_covers(one, truth) for one in classes) if classes else None,
        "RG width": float(np.mean([_width(one) for one in classes])) if classes else None,
    }


def _once(
    what: str | float, judge: Judge, n_labels: int, n: int, kind: str, rng: np.random.Generator
) -> Corrected:
    """One data set, corrected."""
    items = kind == "items"
    clusters = np.arange(n) // ROWS_AN_ITEM if items else None
    seen = _seen((n,), items, rng)
    if what == "mean":
        return corrected_mean(
            Scored(_grades(_judged(seen, judge, items, rng)), _labels(_grades(seen), n_labels), clusters)
        )
    if not isinstance(what, str):
        human, score = _passes(what, seen, judge, items, rng)
        if kind == "by class":
            order = np.argsort(human, kind="stable")  # as many fails as passes get a label
            chosen = np.concatenate([order[: n_labels // 2], order[-(n_labels // 2) :]])
            human[np.setdiff1d(order, chosen)] = np.nan
            return corrected_mean(Scored(score, human, clusters), pass_rate=True)
        return corrected_mean(Scored(score, _labels(human, n_labels), clusters), pass_rate=True)
    keys = np.arange(n)
    other = ALIKE * seen + (1 - ALIKE**2) ** 0.5 * _seen((n,), items, rng)
    if what == "difference":
        sides = [(_grades(one), _grades(_judged(one, judge, items, rng))) for one in (other + SHIFT, seen)]
    else:
        rates = zip(RATES, (other, seen), strict=True)
        sides = [_passes(rate, one, judge, items, rng) for rate, one in rates]
    first, second = (Scored(score, _labels(human, n_labels), clusters, keys) for human, score in sides)
    return corrected_difference(first, second, pass_rate=what != "difference")


def _labels(human: Floats, n_labels: int) -> Floats:
    human[n_labels:] = np.nan
    return human


def _passes(
    rate: float, seen: Floats, judge: Judge, items: bool, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    from scipy.special import ndtri

    cut = -float(ndtri(rate))
    judged = _judged(seen, judge, items, rng) > cut * judge.follows
    return (seen > cut).astype(np.float64), judged.astype(np.float64)


def _truth(what: str | float) -> float:
    from scipy.special import ndtr

    if not isinstance(what, str):
        return float(what)
    if what == "difference of rates":
        return RATES[0] - RATES[1]
    mean, shifted = (1.0 + float(ndtr(shift - _CUTS).sum()) for shift in (0.0, SHIFT))
    return mean if what == "mean" else shifted - mean


def _share(flags: Iterable[bool]) -> float:
    return float(np.mean(list(flags)))


def _covers(found: Estimate, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def _width(found: Estimate) -> float:
    return np.nan if found.low is None or found.high is None else found.high - found.low


_SIZES: tuple[tuple[str | float, tuple[int, ...], tuple[int, ...]], ...] = (
    ("mean", (30, 100), (300, 2000)),
    ("difference", (30, 100), (300,)),
    ("difference of rates", (100, 300), (300,)),
    *((rate, (100, 300), (300, 2000)) for rate in (0.5, 0.8, 0.9, 0.95)),
)
"""What is estimated, numbers of labels, and numbers of other rows."""
_DRAWN_AT_RANDOM = tuple(
    (what, judge, n_labels, n_others, kind)
    for what, sizes, others in _SIZES
    for judge in JUDGES
    for n_labels in sizes
    for n_others in others
    for kind in ("rows", "items")
)
GRID = Grid(
    name="corrected",
    title="Coverage of corrected numbers",
    about="""
What 95 % intervals of corrected numbers cover: a mean rating on a scale from 1 to 5, the difference of two systems' means on the
same items, pass rates, and the difference of two pass rates (.90 and .80).

People and the judge see the same latent quality. The strong judge adds little noise, the weak one mostly noise, the biased one
noise and a constant of one standard deviation, so that it passes far too many. Rows: independent. Items: three rows of an item
with correlation .5; all of them have a label, or none. By class: half of the labels went to passes and half to fails, which only
Rogan-Gladen allows.

Columns: coverage of the interval that the rule chose; shares of data sets in which PPI++ and Rogan-Gladen decided (labels alone in
the others); mean width, and that of labels alone; the median share of labels saved; coverage and mean width of Rogan-Gladen, where
it is defined, whether or not it decided.
""",
    factors=("what", "judge", "labels", "others", "kind"),
    measures=("coverage", "PPI++", "Rogan-Gladen", "width", "of labels", "saved", "RG covers", "RG width"),
    cells=(
        *_DRAWN_AT_RANDOM,
        *((rate, judge, 300, 2000, "by class") for rate in (0.8, 0.9) for judge in JUDGES),
    ),
    run=_run,
    replicates=2_000,
)
