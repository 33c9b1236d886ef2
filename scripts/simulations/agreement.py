"""Raters without a judge: how often agreement or severity is claimed where there is none, and coverage where there is some."""

from functools import lru_cache
from typing import Any

import numpy as np

from core.analyses.agreement import ANALYSIS, Agreement, AgreementOptions
from core.schema.panel import Panel
from core.schema.scale import Scale
from core.schema.scores import ScoredRow
from scripts.simulations import Cell, Grid, Measures

_SCALES = {
    "two classes": Scale("two", (0.0, 1.0), ends=(0.0, 1.0)),
    "two, one rare": Scale("two", (0.0, 1.0), ends=(0.0, 1.0)),
    "five classes": Scale("ordered", (1.0, 2.0, 3.0, 4.0, 5.0), ends=(1.0, 5.0)),
    "scores": Scale("scores"),
}
_TEXTS = 2
_OPTIONS = AgreementOptions(n_resamples=0)
_MANY = 40_000


def _ratings(scale: str, items: Any, n_raters: int, shared: float, rng: np.random.Generator) -> Any:
    """Ratings that share a part of their variance with each other; texts of an item share half of that."""
    of_items, of_texts = (rng.normal(size=n) for n in (int(items.max()) + 1, items.size))
    truth = np.sqrt(shared / 2) * (of_items[items] + of_texts)
    seen = truth[:, None] + np.sqrt(1 - shared) * rng.normal(size=(items.size, n_raters))
    if scale == "scores":
        return seen
    if scale == "five classes":
        return 1.0 + np.digitize(seen, (-1.0, -0.3, 0.3, 1.0))
    return (seen > (0.0 if scale == "two classes" else 1.28)).astype(float)


def _compared(scale: str, n_items: int, n_raters: int, shared: float, rng: np.random.Generator) -> Agreement:
    items = np.arange(n_items * _TEXTS) // _TEXTS
    rows = tuple(ScoredRow(str(item), "output") for item in items)
    panel = Panel(
        rows,
        items,
        np.full(items.size, "output"),
        tuple(f"r{at}" for at in range(n_raters)),
        _ratings(scale, items, n_raters, shared, rng),
        scale=_SCALES[scale],
    )
    found: Agreement = ANALYSIS.answer(_OPTIONS, panel).result
    return found


@lru_cache(maxsize=8)
def _true_value(scale: str) -> float:
    """The value of the measure that counts, from very many texts of two raters."""
    found = _compared(scale, _MANY // _TEXTS, 2, 0.5, np.random.default_rng(1))
    return float(found.measures[0].value.value or 0.0)


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    scale, n_items, n_raters = str(cell[0]), int(cell[1]), int(cell[2])
    claimed, apart, covered, shown, little = [], [], [], [], []
    for _ in range(replicates):
        at_random = _compared(scale, n_items, n_raters, 0.0, rng)
        claimed.append(at_random.verdict == "agree")
        related = _compared(scale, n_items, n_raters, 0.5, rng)
        shown.append(related.verdict == "agree")
        little.append(related.verdict == "little-better-than-chance")
        apart.append(any(one.standing for one in related.raters))
        value = related.measures[0].value
        if value.low is not None and value.high is not None:
            covered.append(value.low <= _true_value(scale) <= value.high)
    return {
        "claimed": float(np.mean(claimed)),
        "apart": float(np.mean(apart)),
        "coverage": float(np.mean(covered)) if covered else None,
        "shown": float(np.mean(shown)),
        "little": float(np.mean(little)),
    }


GRID = Grid(
    name="agreement",
    title="Raters without a judge",
    about=f"""
Raters see a text's quality with noise of their own; an item has {_TEXTS} texts, which share half of their quality. Nobody is harsher.
*One rare* is a class of one text in ten.

- `claimed`: share of panels whose raters rate at random and whose verdict is `agree`. 0.025 is nominal.
- `apart`: share of panels in which any rater is called harsher or more lenient, though nobody is; noise and quality have the same
  variance. 0.05 is nominal.
- `coverage`: share of the 95 % intervals of the measure that counts (kappa, quadratic kappa, alpha) that contain its true value, which is
  0.25 with one rare class and 0.33 to 0.5 else; panels without an interval do not count. `shown`: share of these panels whose verdict is
  `agree`. `little`: share whose verdict is `little-better-than-chance`, which is wrong: the limit is 0.2.
""",
    factors=("scale", "items", "raters"),
    measures=("claimed", "apart", "coverage", "shown", "little"),
    cells=tuple((scale, items, raters) for scale in _SCALES for items in (10, 20, 50) for raters in (2, 4)),
    run=_run,
    replicates=300,
)
