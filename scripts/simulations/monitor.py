"""How often the check trusts a judge to follow a mean that moves too little or too much, and a copy of a rater."""

from collections import Counter
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.results.check.rules import decided, verdict_of
from core.results.check.verdict import check_panel
from core.schema.panel import Panel
from core.schema.scale import scale_of_range
from core.schema.scores import ScoredRow
from core.schema.uses import CheckOptions
from core.stats.responsiveness import responsiveness
from core.tables.columns import ONLY_SYSTEM
from scripts.simulations import Cell, Grid, Measures
from scripts.simulations.check import ITEM_SHARE, TEXTS_OF_AN_ITEM

Floats = NDArray[np.float64]
OPTIONS = CheckOptions(use="monitor")
OFFSET = 0.03
"""Share of the scale by which some judges are too high, within the tolerance."""
SEVERITIES = (-0.6, -0.2, 0.2, 0.6)
SYSTEM_SPREAD = 0.6
NOISE = {"exact raters": 0.1, "noisy raters": 1.2}
"""Standard deviation of a rater's noise, in units of the quality's; otherwise 0.5."""
RIGHT, GOOD = {"right .9": 0.9, "right .98": 0.98}, {"right .98": 0.9}
"""Two classes: how often a rater is right, and the share of good texts; otherwise 0.75 and 0.5."""
_MANY = 60_000


def draw(
    data: str, n: int, raters: int, rng: np.random.Generator
) -> tuple[Floats, Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Ratings (texts, raters) of n items, then the quality (of two classes the true class), item and system of each text."""
    scale, _, detail = data.partition(", ")
    systems = int(detail.split()[0]) if detail.endswith("systems") else 1
    texts = TEXTS_OF_AN_ITEM if detail == "several texts" else systems
    items, at = np.repeat(np.arange(n), texts), np.tile(np.arange(texts), n) * (systems > 1)
    shared = 0.0 if texts == 1 else ITEM_SHARE
    own, of_item = rng.normal(size=items.size), rng.normal(size=n)[items]
    quality = np.sqrt(1 - shared) * own + np.sqrt(shared) * of_item
    quality = quality + rng.normal(0, SYSTEM_SPREAD, systems)[at] * (systems > 1)
    if scale == "two classes":
        good = rng.random(items.size) < GOOD.get(detail, 0.5)
        right = rng.random((items.size, raters)) < RIGHT.get(detail, 0.75)
        return np.where(right, good[:, None], ~good[:, None]).astype(np.float64), good * 1.0, items, at
    seen = quality[:, None] + rng.normal(0, NOISE.get(detail, 0.5), (items.size, raters))
    if detail == "severe and lenient":
        seen = seen + np.array(SEVERITIES)[:raters]
    ratings = on_scale(scale, seen)
    if detail == "severe and lenient":
        two = np.argsort(rng.random(ratings.shape), axis=1) < 2
        ratings = np.where(two, ratings, np.nan)
    return ratings, quality, items, at


def on_scale(scale: str, seen: Floats) -> Floats:
    """What a rater gives who sees this quality."""
    if scale == "scores":
        return np.clip(np.round(50 + 12 * seen, 1), 0, 100)
    return np.clip(np.round(3 + 0.7 * seen), 1, 5)


def scores_of(data: str, judge: str, quality: Floats, rng: np.random.Generator) -> Floats:
    """The scores of a judge: `slope S`, with `, offset` or without; `copy`; `shuffled S`."""
    scale, _, detail = data.partition(", ")
    kind, *words = judge.replace(",", "").split()
    offset = OFFSET if "offset" in words else 0.0
    slope = float(words[0]) if kind == "slope" else 1.0
    if scale == "two classes":
        good = GOOD.get(detail, 0.5)
        youden = (2 * RIGHT.get(detail, 0.75) - 1) * slope
        if detail == "right .98":  # fails no good text, and finds a share of the bad ones
            return np.where(quality == 1, 1.0, (rng.random(quality.size) >= youden) * 1.0)
        return (rng.random(quality.size) < 0.5 + offset + youden * (quality - good)).astype(np.float64)
    own = on_scale(scale, quality + rng.normal(0, NOISE.get(detail, 0.5), quality.size))
    if kind == "shuffled":
        moved = rng.random(own.size) < float(words[0])
        own[moved] = rng.permutation(own)[moved]
    if slope == 0:
        return rng.permutation(own)
    middle, wide = (50.0, 100.0) if scale == "scores" else (3.0, 4.0)
    moved_by = slope if kind != "slope" or scale == "scores" else steepness(data, slope)
    return np.clip(middle + moved_by * (own - middle) + offset * wide, middle - wide / 2, middle + wide / 2)


@lru_cache
def steepness(data: str, slope: float) -> float:
    """By which a rater's distance from the middle is multiplied, before it is cut at the ends, so that the judge has this slope."""
    low, high = 0.0, 4.0
    ratings, quality, *_ = draw(data, _MANY, 4, np.random.default_rng(1))
    people = responsiveness(ratings[:, 0], ratings, least=1, most=1).people or 1.0
    own = on_scale(
        "1 to 5",
        quality + np.random.default_rng(2).normal(0, NOISE.get(data.partition(", ")[2], 0.5), quality.size),
    )
    centred = np.nan_to_num(ratings - np.nanmean(ratings, axis=0))
    for _ in range(30):
        middle = (low + high) / 2
        scores = np.clip(3 + middle * (own - 3), 1, 5)
        found = (centred * (scores - scores.mean())[:, None]).sum() / (~np.isnan(ratings)).sum() / people
        low, high = (middle, high) if found < slope else (low, middle)
    return middle


def panel_for(cell: Cell, rng: np.random.Generator, n: int | None = None) -> Panel:
    """A file of the cell. n: items, in place of the cell's."""
    data, raters, judge = str(cell[0]), int(cell[1]), str(cell[3])
    ratings, quality, items, at = draw(data, n or int(cell[2]), raters, rng)
    scores = scores_of(data, judge, quality, rng)
    names = np.array([f"s{one}" if data.endswith("systems") else ONLY_SYSTEM for one in at])
    rows = tuple(
        ScoredRow(str(item), str(name), None, "", {}) for item, name in zip(items, names, strict=True)
    )
    ends = {"scores": (0, 100), "1 to 5": (1, 5), "two classes": (0, 1)}[data.partition(", ")[0]]
    return Panel(
        rows,
        items,
        names,
        tuple(f"rater {one}" for one in range(raters)),
        ratings,
        ("judge",),
        scores[:, None],
        scale_of_range(*ends),
    )


def truth_of(cell: Cell) -> float | None:
    """The judge's responsiveness in a large file; None with one rater."""
    if int(cell[1]) < 2:
        return None
    panel = panel_for(cell, np.random.default_rng(3), 3_000 if str(cell[0]).endswith("systems") else _MANY)
    return responsiveness(panel.scores[:, 0], panel.ratings, least=1, most=1).estimate.estimate


def run_cell(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Share of files with each verdict, with and without the rule."""
    counts: Counter[str] = Counter()
    for _ in range(replicates):
        (one,) = check_panel(panel_for(cell, rng), OPTIONS).judges
        rule = one.rule("responsiveness")
        counts[one.verdict] += 1
        counts["shown"] += bool(rule and rule.met)
        counts["before"] += verdict_of(decided([other for other in one.rules if other != rule])) == "TRUSTED"
    return {
        "true": truth_of(cell),
        "shown": counts["shown"] / replicates,
        "trusted": counts["TRUSTED"] / replicates,
        "not_trusted": counts["NOT TRUSTED"] / replicates,
        "open": counts["INCONCLUSIVE"] / replicates,
        "before": counts["before"] / replicates,
    }


SLOPES = (0, 0.3, 0.5, 0.75, 1, 1.25, 1.6)
AT_LIMIT = (0.75, 1, 1.25)


def _cells(
    data: str, sizes: tuple[int, ...], slopes: tuple[float, ...] = AT_LIMIT, raters: int = 3, more: str = ""
) -> tuple[Cell, ...]:
    return tuple((data, raters, n, f"slope {slope:g}{more}") for slope in slopes for n in sizes)


CELLS = (
    *_cells("1 to 5", (30, 100, 300, 1000), SLOPES),
    *_cells("1 to 5", (300,), (0.3, 0.75, 1, 1.25), more=", offset"),
    *_cells("1 to 5", (100, 300), raters=2),
    *_cells("1 to 5", (300,), (0.3, 1, 1.6), raters=1),
    *_cells("scores", (30, 100, 300), SLOPES),
    *_cells("two classes", (100, 300, 1000), SLOPES),
    *_cells("two classes", (300,), (0.3, 0.75, 1, 1.25), more=", offset"),
    *_cells("two classes, right .9", (100, 300, 1000), (0.3, *AT_LIMIT)),
    *_cells("two classes, right .98", (60, 100, 300), (0.3, 0.75, 1)),
    *_cells("1 to 5, noisy raters", (300, 1000)),
    *_cells("1 to 5, severe and lenient", (100, 300), raters=4),
    *_cells("1 to 5, several texts", (30, 100), (0.3, *AT_LIMIT)),
    *_cells("scores, 10 systems", (30,), (0.3, *AT_LIMIT)),
    *_cells("scores, 20 systems", (30,), (0.3, *AT_LIMIT)),
    *(
        ("1 to 5, exact raters", 3, n, judge)
        for judge in ("shuffled 0.25", "slope 1")
        for n in (30, 60, 100, 300)
    ),
)

GRID = Grid(
    name="monitor",
    title="Can this judge follow a mean? Judges that move too little or too much",
    about="""\
Each file has the ratings of a panel and the scores of one judge, and `check --use monitor` decides with its defaults. A judge that
moves by less than 0.75 or by more than 1.25 where quality moves by 1, or exactly by that, may be TRUSTED in at most 5 % of files.

*data*: `1 to 5` are whole numbers, `scores` 0 to 100: a quality with each rater's noise, 0.5 of the quality's standard deviation.
`two classes`: half of the texts are good, raters are right in 75 %, or in
90 % with `right .9`; with `right .98` 90 % of texts are good and raters right in 98 %. `noisy raters` have noise of 1.2 and
`exact raters` of 0.1. `severe and lenient`: four raters who add -0.6, -0.2, 0.2 and 0.6; two of them rate each text. `several
texts`: four an item, which share 70 % of their variance. `K systems`: each item has a text of each; the systems' true means
have a standard deviation of 0.6 of the quality's, and responsiveness is over their means.

*judge*: `slope S` is a rater held out of the panel whose distance from the middle is multiplied, and cut at the ends of the scale, so
that it moves by S; `slope 1` is a copy of a rater, `slope 0` one whose scores are exchanged between texts. On two classes it finds as much of
the classes' difference as raters do, times S. `offset`: 0.03 of the scale too high. `shuffled S`: a copy of which a share S is
exchanged between texts.

- `true`: responsiveness in a large file. With one rater nobody can know it.
- `shown`: the rule `responsiveness` alone is met. `trusted`, `not_trusted`, `open`: the verdict. `before`: TRUSTED by the other rules
  alone, which were all before this rule.

The simulation error of .05 is .013.""",
    factors=("data", "raters", "items", "judge"),
    measures=("true", "shown", "trusted", "not_trusted", "open", "before"),
    cells=tuple(dict.fromkeys(CELLS)),
    run=run_cell,
    replicates=300,
)
