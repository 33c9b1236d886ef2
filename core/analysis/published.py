"""Table 1 of 000 once more, from the figures of its Tables 4 to 7."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.datasets.published import (
    DATASETS,
    GENERATORS,
    PREFIX,
    SHOTS,
    PublishedTable,
    published_side,
    read_table,
)
from core.errors import InputError
from core.stats.correlation import coefficient

RECOMPUTED_TABLE = "meta-judge-1"
_BEHIND_IT_NO_FIGURES = "the scores behind it are not published as figures"
_WHY_NOT = {
    "meta-judge-2": "the correlations behind it, of five wordings, are not published",
    "meta-judge-3": "it is Kendall at both orders, and the published correlations per metric are Spearman",
    "factual-perturbation-1": "it counts votes; `study import`, `study votes` and `study results` give it again from "
    "the project's files",
}


@dataclass(frozen=True)
class RecomputedCell:
    """A published meta-correlation beside the one that follows from the published correlations."""

    dataset: str
    generator: str
    shots: str
    published: float
    """Rounded to three places."""
    recomputed: float | None
    """From correlations rounded to three places, so up to about .02 away; None: undefined."""
    n: int
    """Metrics that both columns define."""
    dropped: Mapping[str, str]
    """Metric -> why it has no part."""

    @property
    def difference(self) -> float | None:
        """Recomputed minus published."""
        return None if self.recomputed is None else self.recomputed - self.published


def recompute_table_1() -> tuple[RecomputedCell, ...]:
    """All 78 cells: Spearman between a data set's human column and a generator's column (000, equation 3)."""
    table = read_table(RECOMPUTED_TABLE)
    return tuple(
        _recomputed(table, dataset, generator, shots)
        for dataset in DATASETS
        for generator in GENERATORS
        for shots in SHOTS
    )


def check_recomputable(table: PublishedTable) -> None:
    """Raise InputError, saying why, for a table whose figures do not follow from other published figures."""
    if table.key != RECOMPUTED_TABLE:
        why = _WHY_NOT.get(table.key, _BEHIND_IT_NO_FIGURES)
        raise InputError(
            f"Table {table.number} of {table.paper} cannot be recomputed: {why}. Table 1 of meta-judge can."
        )


def _recomputed(table: PublishedTable, dataset: str, generator: str, shots: str) -> RecomputedCell:
    human = published_side(PREFIX + dataset)
    synthetic = published_side(f"{PREFIX}{dataset}:{generator}:{shots}")
    columns = [[side.values[m]["spearman"] for m in human.values] for side in (human, synthetic)]
    first, second = np.array(columns, dtype=np.float64)  # None becomes NaN, which has no part
    value = coefficient(first, second, "spearman")
    row = next(row for row in table.rows if (row["generator"], row["shots"]) == (generator, shots))
    published = row[dataset]
    assert isinstance(published, float)  # Table 1 has no empty cell
    return RecomputedCell(
        dataset=dataset,
        generator=generator,
        shots=shots,
        published=published,
        recomputed=None if np.isnan(value) else value,
        n=int((~np.isnan(first + second)).sum()),
        dropped={**human.reasons, **synthetic.reasons},
    )
