"""A judge that is one more rater: coverage of its gap to a rater left out, by how the others split."""

import numpy as np

from core.stats.agreement import split_raters
from scripts.simulations import Cell, Grid, Measures

_CLASSES = 3
_TEXTS = 2
_KINDS = ("all", "full", "partial", "none")


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    n_items, n_raters = int(cell[0]), int(cell[1])
    items = np.arange(n_items * _TEXTS) // _TEXTS
    covered: dict[str, list[bool]] = {kind: [] for kind in _KINDS}
    gaps: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    naive = []
    for _ in range(replicates):
        # The texts of an item share half of their doubt.
        p = (
            rng.dirichlet(np.ones(_CLASSES), n_items)[items] + rng.dirichlet(np.ones(_CLASSES), items.size)
        ) / 2
        drawn = (rng.random((items.size, n_raters + 1, 1)) > p.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
        votes, answers = drawn[:, :-1], drawn[:, -1:]
        found = split_raters(
            votes, answers, _CLASSES, clusters=items, n_resamples=400, rng=int(rng.integers(2**31))
        )
        for one in found.degrees:
            gap = one.agreement_gap
            if gap.estimate is not None and gap.low is not None and gap.high is not None:
                covered[one.kind].append(gap.low <= 0 <= gap.high)
                gaps[one.kind].append(gap.estimate)
        alike = (votes == votes[:, :1]).all(axis=1)
        if alike.any():
            naive.append((answers[alike, 0] == votes[alike, 0]).mean() - 1)
    measures: dict[str, float | None] = {}
    for kind in _KINDS:
        measures[f"coverage_{kind}"] = float(np.mean(covered[kind])) if covered[kind] else None
        measures[f"gap_{kind}"] = float(np.mean(gaps[kind])) if gaps[kind] else None
    return measures | {"naive_gap": float(np.mean(naive)) if naive else None}


GRID = Grid(
    name="split-raters",
    title="Split raters: a judge that is one more rater",
    about=f"""
Raters and judge draw one of {_CLASSES} classes from the same distribution of a text; an item has {_TEXTS} texts, which share half
of their doubt. So the judge is worth a rater, and its gap in agreement is 0 however the other raters split.

- `coverage`: share of 95 % intervals (items resampled) that contain 0, and `gap`, the mean estimate: over all texts, and where the
  other raters are unanimous (`full`), have a majority (`partial`, from three others on) or split (`none`).
  A row that has no interval, for want of texts, does not count.
- `naive_gap`: the mean gap in the texts on which all raters agree, if nobody is left out: a rater then agrees for certain.
""",
    factors=("items", "raters"),
    measures=(*(f"{what}_{kind}" for what in ("coverage", "gap") for kind in _KINDS), "naive_gap"),
    cells=tuple((items, raters) for raters in (3, 5) for items in (20, 50, 150)),
    run=_run,
    replicates=1_000,
)
