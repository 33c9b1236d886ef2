"""How often the check calls a useless judge trusted, and a rater not trusted, by use and kind of data."""

from collections import Counter
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from core.results.check.verdict import check_panel
from core.schema.panel import Panel, only_judges
from core.schema.scores import ScoredRow
from core.schema.uses import CheckOptions, Use
from core.tables.columns import ONLY_SYSTEM
from scripts.simulations import Cell, Grid, Measures

Labels = NDArray[np.float64]
USELESS = ("coin", "coin_of_rate", "nearly_constant", "length")
JUDGES = (*USELESS, "copy", "limit")
TEXTS_OF_AN_ITEM = 4
RATED = 0.67
"""Share of the texts that each rater rated, where ratings are missing."""
CONSTANT = 0.97
"""Share of the commonest label in nearly constant scores."""
ITEM_SHARE = 0.7
"""Share of the variance of quality, and of length, that texts of one item have in common."""
_MANY = 10_000
_RANK_RESAMPLES = 400


def n_systems(kind: str) -> int:
    """Systems of a kind; 1 where texts have none."""
    return int(kind.split()[0]) if "systems" in kind else 1


def draw(
    kind: str, n: int, raters: int, rng: np.random.Generator
) -> tuple[Labels, Labels, NDArray[np.int64]]:
    """Ratings (texts, raters) of n items, a length of every text, unrelated to quality, and the item of every text."""
    systems = n_systems(kind)
    texts = TEXTS_OF_AN_ITEM if kind == "several texts" else systems
    items = np.repeat(np.arange(n), texts)
    shared = 0.0 if texts == 1 else ITEM_SHARE
    spread = float(kind.split()[-1]) if systems > 1 else 0.0

    def latent() -> Labels:
        of_system = np.tile(rng.normal(0, spread, texts), n)
        own, of_item = rng.normal(size=items.size), rng.normal(size=n)[items]
        return np.asarray(np.sqrt(1 - shared) * own + np.sqrt(shared) * of_item + of_system)

    quality, length = latent(), latent()
    if kind.startswith("binary"):
        _, base, accuracy = kind.split()
        truth = quality < ndtri(float(base))
        right = rng.random((items.size, raters)) < float(accuracy)
        return np.where(right, truth[:, None], ~truth[:, None]).astype(np.float64), length, items
    seen = quality[:, None] + rng.normal(0, 0.5, (items.size, raters))
    if kind == "scores":
        return np.clip(np.round(50 + 22 * seen, 1), 0, 100), length, items
    ratings = np.clip(np.round(3 + 1.1 * seen), 1, 5)
    if kind == "missing":
        ratings[rng.random(ratings.shape) > RATED] = np.nan
    return ratings, length, items


def judges_of(kind: str, use: str, people: Labels, length: Labels, rng: np.random.Generator) -> Labels:
    """Scores (texts, judges) of JUDGES. people: (texts, raters + 1), of whom the last one is no rater of the panel."""
    n, held_out = len(people), people[:, -1]
    known = held_out[~np.isnan(held_out)]
    values = np.array([0.0, 100.0]) if kind == "scores" else np.unique(known)
    common = float(np.median(known))
    others = values[values != common] if (values != common).any() else values
    rare = rng.permutation(n) < max(1, round(n * (1 - CONSTANT)))
    places = np.argsort(np.argsort(length)) * known.size // n
    return np.column_stack(
        [
            rng.choice(values, n),
            rng.choice(known, n),
            np.where(rare, rng.choice(others, n), common),
            np.sort(known)[places],
            held_out,
            at_limit(kind, use, people.shape[1] - 1, held_out, rng),
        ]
    )


def at_limit(kind: str, use: str, raters: int, held_out: Labels, rng: np.random.Generator) -> Labels:
    """The held-out rater, but moved up as often as brings it to the limit of monitor."""
    if use == "rank":
        return held_out
    share = share_at_limit(kind, raters)
    if kind == "scores":
        return held_out + 100 * share
    moved = rng.random(len(held_out)) < share
    return np.where(moved, np.minimum(held_out + 1, np.nanmax(held_out)), held_out)


@lru_cache(maxsize=200)
def share_at_limit(kind: str, raters: int) -> float:
    """Share of moved texts at which the judge lies at the tolerance of monitor, from a large draw."""
    if kind == "scores":
        return 0.05
    people, *_ = draw(kind, _MANY, max(raters, 2) + 1, np.random.default_rng(1))
    known = people[:, -1][~np.isnan(people[:, -1])]
    top, low = float(known.max()), float(known.min())
    return 0.05 * (top - low) / float((known < top).mean())


def panel_for(kind: str, people: Labels, scores: Labels, items: NDArray[np.int64]) -> Panel:
    """A panel of raters (texts, raters) and JUDGES; texts that no rater rated are left out."""
    systems = n_systems(kind)
    names = np.array([f"s{at % systems}" if systems > 1 else ONLY_SYSTEM for at in range(len(people))])
    kept = np.flatnonzero(~np.isnan(people).all(axis=1))
    rows = tuple(ScoredRow(str(items[at]), str(names[at]), None, "", {}) for at in kept)
    raters = tuple(f"rater {at}" for at in range(people.shape[1]))
    return Panel(rows, items[kept], names[kept], raters, people[kept], JUDGES, scores[kept])


def run_cell(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Share of files with each verdict."""
    use, raters, kind, n = str(cell[0]), int(cell[1]), str(cell[2]), int(cell[3])
    options = CheckOptions(use=cast(Use, use), n_resamples=_RANK_RESAMPLES)
    counts: Counter[tuple[str, str]] = Counter()
    for _ in range(replicates):
        people, length, items = draw(kind, n, raters + 1, rng)
        scores = judges_of(kind, use, people, length, rng)
        panel = panel_for(kind, people[:, :-1], scores, items)
        for name in JUDGES:  # each alone: several judges would share the level
            counts[name, check_panel(only_judges(panel, [name]), options).judges[0].verdict] += 1

    def share(judge: str, verdict: str) -> float:
        return counts[judge, verdict] / replicates

    return {
        **{name: share(name, "TRUSTED") for name in USELESS},
        "limit": None if use == "rank" else share("limit", "TRUSTED"),
        "copy_not": share("copy", "NOT TRUSTED"),
        "copy_open": share("copy", "INCONCLUSIVE"),
        "copy": share("copy", "TRUSTED"),
    }


KINDS = (
    *("binary 0.5 0.9", "binary 0.8 0.9", "binary 0.9 0.9", "binary 0.9 0.8"),
    *("classes", "scores", "several texts", "missing"),
)
MONITORED: tuple[Cell, ...] = (
    *(("monitor", 3, kind, n) for kind in KINDS for n in (30, 100)),
    *(("monitor", 3, kind, 500) for kind in ("binary 0.5 0.9", "binary 0.9 0.8", "classes")),
)
RANKED: tuple[Cell, ...] = tuple(
    ("rank", raters, f"{systems} systems {spread}", n)
    for systems, raters in ((4, 1), (4, 3), (6, 3), (10, 3))
    for spread in (0.2, 0.6)
    for n in (30, 100)
)

GRID = Grid(
    name="check",
    title="Can this judge be trusted to rank or to monitor? Error rates of the rules",
    about="""\
Each file has the ratings of a panel and the scores of six judges, and `check` decides with its defaults. *data*:

- `binary B A`: two classes, the better one with probability B; each rater is right with probability A.
- `classes`: whole numbers from 1 to 5, a quality plus each rater's noise. `scores`: the same from 0 to 100. `several texts`:
  classes, four texts an item that share 70 % of their variance. `missing`: classes; each rater rated 67 % of the texts.
- `K systems S`: classes; every item has a text of each of K systems, whose true means have a standard deviation of S in units of
  the quality's.

The uses gate and replace have [planted judges](verdict.md) of their own. Every column is a share of files:

- `coin`, `coin_of_rate`, `nearly_constant`, `length`: a useless judge is TRUSTED. It draws any label; draws labels with the
  raters' shares; gives one label to 97 % of texts; orders texts by a length that has nothing to do with quality, but is
  shared by texts of an item and, for `rank`, of a system (so it orders systems consistently, and wrongly). At most 0.05 is promised.
- `limit`: a judge exactly at the limit of monitor is TRUSTED: the held-out rater, moved up by 0.05 of the scale. Nominal 0.05.
- `copy_not`, `copy_open`, `copy`: a rater who was held out of the panel is NOT TRUSTED (at most 0.05 is promised), INCONCLUSIVE, TRUSTED.""",
    factors=("use", "raters", "data", "items"),
    measures=(*USELESS, "limit", "copy_not", "copy_open", "copy"),
    cells=MONITORED + RANKED,
    run=run_cell,
    replicates=100,
)
