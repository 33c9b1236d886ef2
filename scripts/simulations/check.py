"""How often the check calls a useless judge trusted and a rater not trusted, by use and kind of data."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.results.check.verdict import CheckOptions, check_panel
from core.results.panel import Panel
from core.schema.scores import ScoredRow
from core.tables.columns import ONLY_SYSTEM
from scripts.simulations import Cell, Grid, Measures

Labels = NDArray[np.float64]
USELESS = ("coin", "base_rate", "nearly_constant", "length")
JUDGES = (*USELESS, "copy", "limit")
TEXTS_PER_ITEM = 4
RATED = 0.67
"""Share of texts that each rater rated, where ratings are missing."""
CONSTANT = 0.97
_MANY = 40_000


def draw(
    kind: str, n: int, raters: int, rng: np.random.Generator
) -> tuple[Labels, Labels, NDArray[np.int64]]:
    """Ratings (n, raters), a length of every text (n,), unrelated to quality, and the item of every text."""
    shared = kind == "several texts"
    n *= TEXTS_PER_ITEM if shared else 1
    items = np.arange(n) // (TEXTS_PER_ITEM if shared else 1)
    weight = 0.7 if shared else 0.0

    def latent() -> Labels:
        own, of_item = rng.normal(size=n), rng.normal(size=n)[items]
        return np.asarray(np.sqrt(1 - weight) * own + np.sqrt(weight) * of_item)

    quality, length = latent(), latent()
    if kind.startswith("binary"):
        _, base, accuracy = kind.split()
        truth = quality < _quantile(float(base))
        right = rng.random((n, raters)) < float(accuracy)
        return np.where(right, truth[:, None], ~truth[:, None]).astype(np.float64), length, items
    seen = quality[:, None] + rng.normal(0, 0.5, (n, raters))
    if kind == "scores":
        return np.clip(np.round(50 + 22 * seen, 1), 0, 100), length, items
    ratings = np.clip(np.round(3 + 1.1 * seen), 1, 5)
    if kind == "missing":
        ratings[rng.random(ratings.shape) > RATED] = np.nan
    return ratings, length, items


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


def judges_of(kind: str, use: str, people: Labels, length: Labels, rng: np.random.Generator) -> Labels:
    """Scores (n, judges) of JUDGES. people: (n, raters + 1), of whom the last one is no rater of the panel."""
    n = len(people)
    held_out = people[:, -1]
    known = held_out[~np.isnan(held_out)]
    values = np.unique(known) if kind != "scores" else np.array([0.0, 100.0])
    common = float(np.median(known))
    rare = rng.permutation(n) < max(1, round(n * (1 - CONSTANT)))
    order = np.argsort(np.argsort(length)) * known.size // n
    copied = held_out.copy()
    copied[np.isnan(copied)] = rng.choice(known, int(np.isnan(copied).sum()))
    return np.column_stack(
        [
            rng.choice(values, n),
            rng.choice(known, n),
            np.where(
                rare, rng.choice(values[values != common] if (values != common).any() else values, n), common
            ),
            np.sort(known)[order],
            held_out,
            at_limit(kind, use, people.shape[1] - 1, held_out, rng),
        ]
    )


def at_limit(kind: str, use: str, raters: int, held_out: Labels, rng: np.random.Generator) -> Labels:
    """A judge at the limit of the use: the held-out rater, but on some texts a random text's rating, or shifted."""
    n = len(held_out)
    share = _share_at_limit(kind, use, raters)
    if use == "monitor":
        if kind == "scores":
            return held_out + share * 100
        moved = rng.random(n) < share
        top = np.nanmax(held_out)
        return np.where(moved, np.minimum(held_out + 1, top), held_out)
    moved = rng.random(n) < share
    known = held_out[~np.isnan(held_out)]
    return np.where(moved & ~np.isnan(held_out), rng.choice(known, n), held_out)


@lru_cache(maxsize=200)
def _share_at_limit(kind: str, use: str, raters: int) -> float:
    """Share of moved texts with which the judge lies at the limit, from a large draw: the measures are linear in it."""
    from core.stats.alt_test import on_reduced_panels
    from core.stats.correlation.panels import panel_correlation

    rng = np.random.default_rng(1)
    if use == "monitor":
        if kind == "scores":
            return 0.05
        people, *_ = draw(kind, _MANY, 1, rng)
        top, low = np.nanmax(people), np.nanmin(people)
        known = people[~np.isnan(people)]
        return float(0.05 * (top - low) / (known < top).mean())
    people, *_ = draw(kind, _MANY // TEXTS_PER_ITEM, max(raters, 2) + 1, rng)
    held_out = people[:, -1]
    known = ~np.isnan(held_out)
    random = np.where(known, rng.choice(held_out[known], len(held_out)), np.nan)
    if use == "replace":
        gap = on_reduced_panels(
            random, people[:, :-1], alignment="rmse" if kind == "scores" else "accuracy"
        ).gap
    elif kind == "scores":
        gap = panel_correlation(random, people[:, :-1]).gap
    else:
        pairs = [
            (people[:, one] == held_out)[known & ~np.isnan(people[:, one])].mean()
            for one in range(people.shape[1] - 1)
        ]
        none = [
            (people[:, one] == random)[known & ~np.isnan(people[:, one])].mean()
            for one in range(people.shape[1] - 1)
        ]
        return float(0.05 / (np.mean(pairs) - np.mean(none)))
    assert gap.estimate is not None
    return min(1.0, 0.05 / -gap.estimate)


def panel_for(
    people: Labels,
    scores: Labels,
    names: tuple[str, ...],
    items: NDArray[np.int64],
    systems: list[str] | None = None,
) -> Panel:
    """A panel of the raters and judges."""
    kept = ~np.isnan(people).all(axis=1)
    of = systems or [ONLY_SYSTEM] * len(people)
    rows = tuple(ScoredRow(str(items[at]), of[at], None, None, {}) for at in np.flatnonzero(kept))
    raters = tuple(f"rater {at}" for at in range(people.shape[1]))
    return Panel(rows, items[kept], np.array(of)[kept], raters, people[kept], names, scores[kept])


def run_cell(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    use, raters, kind, n = str(cell[0]), int(cell[1]), str(cell[2]), int(cell[3])
    counts: dict[tuple[str, str], int] = {}
    for _ in range(replicates):
        people, length, items = draw(kind, n, raters + 1, rng)
        panel = panel_for(people[:, :-1], judges_of(kind, use, people, length, rng), JUDGES, items)
        ceiling = None
        if raters == 1:
            ceiling = _ceiling_alone(kind)
        for one in check_panel(panel, CheckOptions(use=use, ceiling=ceiling)).judges:
            counts[one.name, one.verdict] = counts.get((one.name, one.verdict), 0) + 1

    def share(judge: str, verdict: str) -> float:
        return counts.get((judge, verdict), 0) / replicates

    return {
        **{name: share(name, "TRUSTED") for name in USELESS},
        "limit": share("limit", "TRUSTED"),
        "copy_not": share("copy", "NOT TRUSTED"),
        "copy": share("copy", "TRUSTED"),
    }


@lru_cache(maxsize=50)
def _ceiling_alone(kind: str) -> float:
    people, *_ = draw(kind, _MANY // TEXTS_PER_ITEM, 2, np.random.default_rng(1))
    if kind == "scores":
        from scipy.stats import spearmanr

        return float(spearmanr(people[:, 0], people[:, 1])[0])
    both = ~np.isnan(people).any(axis=1)
    return float((people[:, 0] == people[:, 1])[both].mean())


KINDS = (
    "binary 0.5 0.9",
    "binary 0.8 0.9",
    "binary 0.9 0.9",
    "classes",
    "scores",
    "several texts",
    "missing",
)
GRID = Grid(
    name="check",
    title="",
    about="",
    factors=("use", "raters", "kind", "n"),
    measures=(*USELESS, "limit", "copy_not", "copy"),
    cells=tuple(
        (use, raters, kind, n)
        for use, raters in (("gate", 1), ("gate", 2), ("gate", 3), ("replace", 3), ("monitor", 3))
        for kind in KINDS
        for n in (30, 100, 500)
    ),
    run=run_cell,
    replicates=200,
)
