"""How often a system is certified that is exactly at the target, or above it, by judges of every kind and labels chosen in several ways."""

from collections import Counter
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from core.results.check.verdict import check_panel
from core.schema.panel import Panel
from core.schema.scale import scale_of_range
from core.schema.scores import ScoredRow
from core.schema.uses import CheckOptions
from core.tables.columns import ONLY_SYSTEM
from scripts.simulations import Cell, Grid, Measures
from scripts.simulations.check import ITEM_SHARE

Floats = NDArray[np.float64]
N_TEXTS = 1_000
RATES = {
    "strong": (0.9, 0.98),
    "weak": (0.5, 0.9),
    "lenient": (0.25, 0.99),
    "coin": (0.5, 0.5),
    "constant": (0.0, 1.0),
    "silent": (0.9, 0.98),
    "silent by half": (0.9, 0.98),
}
"""Judge -> share of the bad answers that it fails, and of the good ones that it passes."""
SILENT = {"silent": 0.2, "silent by half": 0.5}
"""Share of the bad answers without a score."""
CHOSEN = {"50/8 %": (0.5, 0.08), "40/15 %": (0.4, 0.15), "25/25 %": (0.25, 0.25), "10/40 %": (0.1, 0.4)}
"""How labels are chosen -> share of the judge's fails (and of texts without a score) with a label, and of its passes."""


def draw(cell: Cell, rng: np.random.Generator) -> Panel:
    """A file of the cell: one rater, whose label is what counts as good."""
    judge, chosen, _, true, data = str(cell[0]), str(cell[1]), cell[2], float(cell[3]), str(cell[4])
    systems = int(data.split()[0]) if data.endswith("systems") else 1
    rows = 5 if data == "items of 5" else 1
    n = N_TEXTS * systems
    items = np.arange(n) // rows
    shared = ITEM_SHARE if rows > 1 else 0.0
    quality = np.sqrt(1 - shared) * rng.normal(size=n) + np.sqrt(shared) * rng.normal(size=n)[items]
    good = quality < ndtri(true)
    score = _scores(judge, good, quality - ndtri(true), rng)
    if chosen in CHOSEN:
        of_fails, of_passes = CHOSEN[chosen]
        passed = score >= (np.nanmedian(score) if judge == "graded" else 1)
        labelled = rng.random(n) < np.where(passed, of_passes, of_fails)
    else:
        of_system = np.arange(n) // N_TEXTS
        place = np.argsort(np.lexsort((rng.random(n), of_system))) % N_TEXTS
        if rows > 1:  # whole items
            order = np.argsort(rng.random(n // rows))
            place = order[items] * rows
        labelled = place < int(chosen.split()[0])
    names = np.array([f"s{at // N_TEXTS}" if systems > 1 else ONLY_SYSTEM for at in range(n)])
    ratings = np.where(labelled, good * 1.0, np.nan)[:, None]
    return Panel(
        _rows(rows, systems),
        items,
        names,
        ("rater",),
        ratings,
        ("judge",),
        score[:, None],
        scale_of_range(0, 1),
    )


@lru_cache
def _rows(of_item: int, systems: int) -> tuple[ScoredRow, ...]:
    return tuple(
        ScoredRow(str(at // of_item), f"s{at // N_TEXTS}" if systems > 1 else ONLY_SYSTEM, None, "", {})
        for at in range(N_TEXTS * systems)
    )


def _scores(judge: str, good: NDArray[np.bool_], quality: Floats, rng: np.random.Generator) -> Floats:
    if judge == "graded":  # 1 to 5, lower quality being the better one here
        return np.clip(np.round(4 - quality + rng.normal(0, 0.7, good.size)), 1, 5)
    finds, passes = RATES[judge]
    score = (rng.random(good.size) < np.where(good, passes, 1 - finds)).astype(np.float64)
    silent = SILENT.get(judge, 0.0)
    return np.where(~good & (rng.random(good.size) < silent), np.nan, score)


def run_cell(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Share of files in which any system is TRUSTED or NOT TRUSTED, and what the interval is worth."""
    target, true = float(cell[2]), float(cell[3])
    options = CheckOptions(use="certify", target=target, answers="like-these")
    counts: Counter[str] = Counter()
    widths, labels = [], []
    for _ in range(replicates):
        (one,) = check_panel(draw(cell, rng), options).judges
        verdicts = [system.verdict for system in one.systems]
        counts["trusted"] += "TRUSTED" in verdicts
        counts["not_trusted"] += "NOT TRUSTED" in verdicts
        first = one.systems[0]
        low, high = first.estimate.low or 0.0, first.estimate.high or 0.0
        counts["above"] += low > true
        counts["below"] += high < true
        widths.append(high - low)
        labels.append(first.n_labels)
    return {
        "labels": float(np.mean(labels)),
        "trusted": counts["trusted"] / replicates,
        "not_trusted": counts["not_trusted"] / replicates,
        "above": counts["above"] / replicates,
        "below": counts["below"] / replicates,
        "width": float(np.mean(widths)),
    }


JUDGES = (*RATES, "graded")
TWO_HUNDRED = "200 at random"
AT_TARGET = (
    *((judge, chosen, 0.9, 0.9, "") for judge in JUDGES for chosen in (TWO_HUNDRED, *CHOSEN)),
    *(
        (judge, f"{n} at random", 0.9, 0.9, "")
        for judge in ("strong", "weak", "constant", "silent by half")
        for n in (50, 100, 400)
    ),
    *(
        (judge, chosen, target, target, "")
        for target in (0.8, 0.95)
        for judge in ("strong", "weak", "constant", "silent by half")
        for chosen in (TWO_HUNDRED, "50/8 %")
    ),
    *(
        (judge, chosen, 0.9, 0.9, "items of 5")
        for judge in ("strong", "weak", "constant")
        for chosen in (TWO_HUNDRED, "50/8 %")
    ),
    *(
        (judge, chosen, 0.9, 0.9, "3 systems")
        for judge in ("strong", "weak")
        for chosen in (TWO_HUNDRED, "50/8 %")
    ),
)
ABOVE = tuple(
    (judge, chosen, 0.9, true, "")
    for true in (0.93, 0.95)
    for judge in ("strong", "weak", "constant", "graded")
    for chosen in (TWO_HUNDRED, "400 at random", "50/8 %", "40/15 %")
)
BELOW = tuple((judge, TWO_HUNDRED, 0.9, 0.8, "") for judge in ("strong", "weak", "constant"))

GRID = Grid(
    name="certify",
    title="Are at least 90 % of a system's answers good? Systems at the target and above it",
    about="""\
Each file has 1,000 answers of a system, the scores of one judge to all of them, and one person's labels of some: what that person
passes is good. `check --use certify` decides with its defaults but for the target. A system exactly at the target may be TRUSTED in at most 5 % of
files.

*judge*: `strong` fails 90 % of the bad answers and passes 98 % of the good ones, `weak` 50 and 90 %, `lenient` 25 and 99 %, `coin` 50 and 50
%. `constant` passes all, so that labels stand alone. `silent` and `silent by half` are strong and give no score to 20 and 50 % of the bad
answers. `graded` gives 1 to 5. *labels*: so many at random, or the shares of the judge's fails (and of texts without a score) and of its
passes (`graded`: scores from the median on) that have a label. *true*: share of good answers. *data*: `items of 5`: five answers an item, which share 70 %
of their variance; random labels are then of whole items. `3 systems`: three systems at the target, each with its own labels.

- `labels`: mean number. `trusted`: any system is TRUSTED, false at the target and power above it. `not_trusted`: any is NOT TRUSTED.
- `above`, `below`: the interval of the first system lies above, below the true share: at most .05 each (.017 with three systems). `width`: its mean width.

The simulation error of .05 is .009.""",
    factors=("judge", "chosen", "target", "true", "data"),
    measures=("labels", "trusted", "not_trusted", "above", "below", "width"),
    cells=tuple(dict.fromkeys((*AT_TARGET, *ABOVE, *BELOW))),
    run=run_cell,
    replicates=600,
)
