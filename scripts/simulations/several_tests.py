"""A ranking of metrics: false differences among equal metrics, and true ones found, with and without a correction."""

from itertools import combinations

import numpy as np

from core.stats.correlation.intervals import significance_clusters, williams
from core.stats.multiplicity import corrected
from scripts.simulations import Cell, Grid, Measures

_ROWS = 200
_ALPHA = 0.05
_NAMES = {"raw": None, "holm": "holm", "bh": "benjamini-hochberg"}


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    n_metrics, kind = int(cell[0]), cell[1]
    # A metric is quality plus noise; half of the noise is common to all metrics, as texts are hard for all of them.
    spread = np.ones(n_metrics)
    if kind == "two groups":
        spread[n_metrics // 2 :] = 1.6
    pairs = list(combinations(range(n_metrics), 2))
    differ = np.array([spread[i] != spread[j] for i, j in pairs])
    any_false = dict.fromkeys(_NAMES, 0)
    share_false = dict.fromkeys(_NAMES, 0.0)
    clusters = dict.fromkeys(_NAMES, 0)
    found = dict.fromkeys(_NAMES, 0.0)
    for _ in range(replicates):
        quality, common = rng.normal(size=(2, _ROWS, 1))
        scores = quality + spread * (common + rng.normal(size=(_ROWS, n_metrics))) / np.sqrt(2)
        r = np.corrcoef(np.hstack([quality, scores]), rowvar=False)
        p_values = [williams(r[0, 1 + i], r[0, 1 + j], r[1 + i, 1 + j], _ROWS)[1] for i, j in pairs]
        order = np.argsort(-r[0, 1:])
        for name, correction in _NAMES.items():
            paid = np.array(p_values if correction is None else corrected(p_values, correction))  # type: ignore[arg-type]
            shown = paid < _ALPHA
            any_false[name] += bool((shown & ~differ).any())
            share_false[name] += (shown & ~differ).sum() / max(1, shown.sum())
            found[name] += shown[differ].mean() if differ.any() else 0.0
            matrix = np.full((n_metrics, n_metrics), np.nan)
            for (i, j), p in zip(pairs, paid, strict=True):
                matrix[i, j] = matrix[j, i] = p
            ranked = significance_clusters([str(m) for m in order], matrix[np.ix_(order, order)], _ALPHA)
            clusters[name] += max(ranked.values()) > (1 if kind == "equal" else 2)
    measures: dict[str, float | None] = {}
    for name in _NAMES:
        measures[f"any_false_{name}"] = any_false[name] / replicates
        measures[f"share_false_{name}"] = share_false[name] / replicates
        measures[f"clusters_{name}"] = clusters[name] / replicates
        measures[f"found_{name}"] = found[name] / replicates if differ.any() else None
    return measures


GRID = Grid(
    name="several-tests",
    title="Several tests in a ranking of metrics",
    about=f"""
Metrics are a text's quality plus noise, half of it common to all, on {_ROWS} texts. `equal`: all metrics are equally good.
`two groups`: the second half has 1.6 times the noise. Every two metrics are compared by Williams' test at {_ALPHA:g}.

- `any_false`: studies with a difference between equal metrics.
- `share_false`: mean share of false differences among those shown (0 if none is shown).
- `clusters`: studies with more clusters than there are groups.
- `found`: share of the true differences that are shown.

Each without a correction (`raw`), by Holm, and by Benjamini and Hochberg (`bh`, which the ranking uses).
""",
    factors=("metrics", "truth"),
    measures=tuple(
        f"{measure}_{name}"
        for measure in ("any_false", "share_false", "clusters", "found")
        for name in _NAMES
    ),
    cells=tuple((m, kind) for kind in ("equal", "two groups") for m in (4, 8, 12)),
    run=_run,
    replicates=400,
)
