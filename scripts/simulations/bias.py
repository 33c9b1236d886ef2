"""The bias audit on scripted judges whose bias and noise are known: false accusations, and planted biases found."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from core.results.judges.bias import BiasAudit, Effect, bias_audit, detectable_change
from core.schema.scores import EDIT, NO_EDIT, PAIR, ROLE, Metric, ScoredRow, ScoreTable
from scripts.simulations import Cell, Grid, Measures

Scale = Literal["verdicts", "rubric", "continuous"]
PROBES = {
    "padding": "better",
    "lengthening": "worse",
    "authority": "worse",
    "formatting": "worse",
    "confidence": "worse",
}
"""Probe -> role of the text that it edits."""
LEVELS = {"better": "A0", "worse": "A3"}


def rows_of_twins(n_items: int, probes: Mapping[str, str] = PROBES) -> list[ScoredRow]:
    """Both unedited texts of each item, then for each probe the edited one and its unedited opponent."""
    rows = []
    for item in range(n_items):
        for probe, edited in {NO_EDIT: "", **probes}.items():
            for role, level in LEVELS.items():
                edit = probe if role == edited else NO_EDIT
                labels = {PAIR: probe, EDIT: edit, ROLE: role}
                rows.append(ScoredRow(f"q{item}", "s", level, labels=labels))
    return rows


def scored(
    rows: Sequence[ScoredRow],
    scale: Scale,
    rng: np.random.Generator,
    *,
    noise: float,
    planted: Mapping[str, float] | None = None,
) -> ScoreTable:
    """Scores by a judge that sees each text's quality with noise, and is swayed by some edits.

    quality: normal over items (standard deviation .5) plus 0 for a better and -1 for a worse text, so that the made difference
    is 1. Each text is read with its own noise (standard deviation `noise`); planted: probe -> what its edit adds to what the
    judge sees. continuous: what it sees; rubric: 3.5 plus what it sees, rounded to 1 to 5; verdicts: 1, 0.5 or 0 against the
    pair's other text, a tie where both are seen within 0.25.
    """
    quality: dict[str, float] = {}
    seen = np.empty(len(rows))
    for at, row in enumerate(rows):
        own = quality.setdefault(row.item_id, float(rng.normal(0, 0.5)))
        seen[at] = own - (row.labels[ROLE] == "worse") + rng.normal(0, noise)
        seen[at] += (planted or {}).get(row.labels[EDIT], 0.0)
    if scale == "rubric":
        seen = np.clip(np.round(3.5 + seen), 1, 5)
    if scale == "verdicts":
        pairs: dict[tuple[str, str, str], list[int]] = {}
        for at, row in enumerate(rows):
            pairs.setdefault((row.item_id, row.system, row.labels[PAIR]), []).append(at)
        verdicts = np.empty(len(rows))
        for first, second in pairs.values():
            apart = seen[first] - seen[second]
            verdicts[first] = 0.5 if abs(apart) < 0.25 else float(apart > 0)
            verdicts[second] = 1 - verdicts[first]
        seen = verdicts
    metric = Metric("scripted", "Scripted|score:verdict", "Scripted")
    return ScoreTable(tuple(rows), (metric,), seen[:, None], file_name="twins.csv")


_PLANTED = "lengthening"
_REPLICATES = 200


def _of(found: BiasAudit, probe: str = _PLANTED) -> Effect:
    return next(one for one in found.effects if one.probe == probe)


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    scale: Scale = cell[0]  # type: ignore[assignment]  # a word of Scale
    n, noise = int(cell[1]), float(cell[2])
    rows = rows_of_twins(n)
    accused = covered = 0
    underpowered: list[float] = []
    detectable: list[float] = []
    for _ in range(replicates):
        clean = bias_audit(scored(rows, scale, rng, noise=noise))
        accused += any(one.verdict == "biased" for one in clean.effects)
        underpowered.append(float(np.mean([one.verdict == "underpowered" for one in clean.effects])))
        one = _of(clean)
        low, high = one.change.low, one.change.high
        covered += one.change.estimate == 0 if low is None or high is None else low <= 0 <= high
        if one.detectable is not None and one.scale is not None:
            detectable.append(one.detectable / one.scale)

    def planted(added: float) -> tuple[float, float]:
        """Shares of replicates in which the bias is found, and in which it is called none."""
        effects = [
            _of(bias_audit(scored(rows, scale, rng, noise=noise, planted={_PLANTED: added})))
            for _ in range(replicates // 2)
        ]
        right = [(one.verdict, one.favours) == ("biased", "edited") for one in effects]
        return float(np.mean(right)), float(np.mean([one.verdict == "no bias found" for one in effects]))

    # Of a continuous judge, the smallest detectable effect can itself be planted: its scale is that of what it sees.
    error = noise * np.sqrt(2 / n)
    least = detectable_change(error, n, 1.0, n_tests=len(PROBES))
    half, whole = planted(0.5), planted(1.0)
    return {
        "accused": accused / replicates,
        "covered": covered / replicates,
        "underpowered": float(np.mean(underpowered)),
        "detectable": float(np.mean(detectable)) if detectable else None,
        "found_half": half[0],
        "cleared_half": half[1],
        "found_whole": whole[0],
        "cleared_whole": whole[1],
        "found_detectable": planted(least)[0] if scale == "continuous" else None,
    }


GRID = Grid(
    name="bias",
    title="Bias audit: clean judges accused, planted biases found",
    about=f"""
Twins of n items with {len(PROBES)} probes. A scripted judge sees a better text's quality (normal over items, SD 0.5), a worse one's 1
lower, each with noise of its own (`noise`, SD) at every reading. It gives `verdicts` of two texts at a time (a tie where they are seen
within 0.25), a `rubric` score of 1 to 5 (3.5 plus what it sees, rounded), or a `continuous` score.

- `accused`: clean judges of which any probe is called biased.
- `covered`: 95 % intervals of a probe's change, of clean judges, that contain 0.
- `underpowered`: share of a clean judge's probes that are.
- `detectable`: mean of a probe's smallest detectable change, as a share of the judge's scale.
- `found_half`, `found_whole`: planted biases found, and in the right direction, where an edit adds half of the made difference of quality
  (0.5), or all of it (1), to what the judge sees.
- `cleared_half`, `cleared_whole`: such biases called `no bias found`; the others are `underpowered`.
- `found_detectable`: the same where the edit adds the smallest detectable change of this noise and n; 80 % are promised.

Planted biases are those of one probe, in half as many replicates.
""",
    factors=("scale", "n", "noise"),
    measures=(
        "accused",
        "covered",
        "underpowered",
        "detectable",
        "found_half",
        "cleared_half",
        "found_whole",
        "cleared_whole",
        "found_detectable",
    ),
    cells=tuple(
        (scale, n, noise)
        for scale in ("verdicts", "rubric", "continuous")
        for n in (10, 20, 40, 80)
        for noise in (0.2, 0.5)
    ),
    run=_run,
    replicates=_REPLICATES,
)
