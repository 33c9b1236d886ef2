"""Tables as the papers print them, and Table 1 of Meta-Judge recomputed from its Tables 4 to 7."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from core.errors import InputError
from core.formats.correlations import (
    DATASETS,
    GENERATORS,
    PREFIX,
    SHOTS,
    Cell,
    PublishedTable,
    published_side,
    read_table,
)
from core.results.cells import rows_covered
from core.schema.result_table import Column, ResultTable
from core.stats.correlation.coefficients import coefficient

RECOMPUTED_TABLE = "meta-judge-1"
_BEHIND_IT_NO_FIGURES = "its scores are not published as numbers"
_WHY_NOT = {
    "meta-judge-2": "its correlations, for five wordings, are not published",
    "meta-judge-3": "it uses Kendall at both orders, but the published correlations of each metric are Spearman",
    "factual-perturbation-1": "it counts votes; `study import`, `study votes` and `study results` reproduce it from "
    "the project's files",
}


@dataclass(frozen=True)
class RecomputedCell:
    """A published meta-correlation and its recomputation from the published correlations."""

    dataset: str
    generator: str
    shots: str
    published: float
    """Rounded to three places."""
    recomputed: float | None
    """Computed from correlations rounded to three places, so it may differ by about .02; None: undefined."""
    n: int
    """Metrics that both columns define."""
    dropped: Mapping[str, str]
    """Metric -> reason for leaving it out."""

    @property
    def difference(self) -> float | None:
        """Recomputed minus published."""
        return None if self.recomputed is None else self.recomputed - self.published


def recompute_table_1() -> tuple[RecomputedCell, ...]:
    """All 78 cells: Spearman between a data set's human column and a generator's column (Meta-Judge, equation 3)."""
    table = {(row["generator"], row["shots"]): row for row in read_table(RECOMPUTED_TABLE).rows}
    cells = []
    for dataset, generator, shots in product(DATASETS, GENERATORS, SHOTS):
        human = published_side(PREFIX + dataset)
        synthetic = published_side(f"{PREFIX}{dataset}:{generator}:{shots}")
        columns = [[side.values[m]["spearman"] for m in human.values] for side in (human, synthetic)]
        first, second = np.array(columns, dtype=np.float64)  # None becomes NaN, which is left out
        value = coefficient(first, second, "spearman")
        published = table[generator, shots][dataset]
        assert isinstance(published, float)  # Table 1 has no empty cell
        cells.append(
            RecomputedCell(
                *(dataset, generator, shots, published),
                recomputed=None if np.isnan(value) else value,
                n=int((~np.isnan(first + second)).sum()),
                dropped={**human.reasons, **synthetic.reasons},
            )
        )
    return tuple(cells)


def check_recomputable(table: PublishedTable) -> None:
    """Raise InputError, with the reason, for a table that cannot be computed from other published numbers."""
    if table.key != RECOMPUTED_TABLE:
        why = _WHY_NOT.get(table.key, _BEHIND_IT_NO_FIGURES)
        raise InputError(
            f"Table {table.number} of {table.paper} cannot be recomputed: {why}. Table 1 of meta-judge can."
        )


def recomputed_table(cells: Sequence[RecomputedCell]) -> ResultTable:
    """One row for each cell of Table 1, published and recomputed."""
    dropped = {f"{metric}: {why}": None for cell in cells for metric, why in cell.dropped.items()}
    return ResultTable(
        "published-recomputed",
        (
            *(Column(name, names_row=True) for name in ("dataset", "generator", "shots")),
            *(Column(name, heat="coefficient") for name in ("published", "recomputed")),
            *(Column("difference"), Column("n"), Column("dropped", shown=False)),
        ),
        tuple(
            (
                *(cell.dataset, cell.generator, cell.shots, cell.published, cell.recomputed),
                None if cell.difference is None else round(cell.difference, 6) + 0.0,
                cell.n,
                "; ".join(f"{metric}: {why}" for metric, why in cell.dropped.items()),
            )
            for cell in cells
        ),
        notes=(
            *(f"Dropped: {one}" for one in dropped),
            f"{len(cells)} cells; the largest difference is {largest_difference(cells):.3f}, because the correlations in "
            "Tables 4 to 7 are rounded to three places. n: metrics defined in both columns.",
        ),
    )


def largest_difference(cells: Sequence[RecomputedCell]) -> float:
    """The largest absolute difference between a published and a recomputed value."""
    return max(abs(cell.difference) for cell in cells if cell.difference is not None)


_NAMED_BY = {
    **dict.fromkeys(("meta-judge-1", "meta-judge-2", "meta-judge-3"), ("generator", "shots")),
    "factual-perturbation-1": ("first_evaluator",),
    "factual-perturbation-2": ("method", "model"),
}
"""Table -> columns that name a row, unless these are `dataset` and `metric` or the first column."""
_NO_COEFFICIENTS = ("factual-perturbation-1", "cross-examination")
"""Tables, and one paper, whose numbers are counts and percentages."""
_FOOTNOTES = {"why_undefined": "Undefined", "error": "An error of the paper"}
"""Columns of sentences; each distinct sentence is shown once below the table."""


def published_table(table: PublishedTable, rows: Sequence[Mapping[str, Cell]] | None = None) -> ResultTable:
    """A paper's table as printed, with notes on its errors. rows: those to show; None: all."""
    rows = table.rows if rows is None else rows
    named_by = _NAMED_BY.get(table.key) or [one for one in ("dataset", "metric") if one in table.columns]
    named_by = named_by or table.columns[:1]
    names = [" ".join(str(row[name]) for name in named_by) for row in rows]
    coefficients = not {table.key, table.paper} & {*_NO_COEFFICIENTS}
    heated = {name for row in rows for name in table.columns if isinstance(row[name], int | float)}
    said: dict[str, list[str]] = {}
    for name, row in zip(names, rows, strict=True):
        for column, sentence in (
            (one, part) for one in _FOOTNOTES for part in str(row.get(one) or "").split("; ")
        ):
            if sentence:
                said.setdefault(f"{_FOOTNOTES[column]}{{}}: {sentence}", []).append(name)
    return ResultTable(
        f"published-{table.key}",
        tuple(
            Column(
                name,
                name,
                places=_decimals(table, name),
                shown=name not in _FOOTNOTES,
                names_row=name in named_by,
                heat="coefficient" if name in heated and coefficients and name not in named_by else None,
            )
            for name in table.columns
        ),
        tuple(tuple(row[name] for name in table.columns) for row in rows),
        notes=tuple(sentence.format(rows_covered(own, len(rows))) for sentence, own in said.items()),
    )


def _decimals(table: PublishedTable, name: str) -> int:
    """Decimal places as printed: .010 stays .010 if its column has three places, 0.000785 keeps its six."""
    written = (str(row[name]) for row in table.rows if isinstance(row[name], float))
    most = max((len(number.partition(".")[2]) for number in written), default=0)
    return 3 if table.paper == "meta-judge" else most
