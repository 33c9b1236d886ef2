"""Scores of a file of edited twins by scripted judges whose bias and noise are known."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from core.schema.scores import EDIT, NO_EDIT, PAIR, ROLE, Metric, ScoredRow, ScoreTable

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
