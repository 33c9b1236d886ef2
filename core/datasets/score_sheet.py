"""A score table while it is read: its rows, its metrics, and one score after the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import regex
from numpy.typing import NDArray

from core.datasets.cells import is_undefined, number_in, number_problem
from core.datasets.findings import FileFindings
from core.datasets.open_tables import ONLY_SYSTEM, Record, labels_among, names_in
from core.datasets.reading import printable_text, shown
from core.datasets.score_columns import ABOUT, INDEX_COLUMNS, RESULT, SAID, UNUSED
from core.schema.scores import Metric, ScoredRow

NO_SCORE = "no score in the file"
INFINITE = "infinite in the file"
NO_RESULT = "the result holds no number"

_LAST_RESULT = regex.compile(r".*\[RESULT\]\s*\(?\s*(?P<number>[-+]?\d+(?:\.\d+)?)(?![\d.]*\d)", regex.DOTALL)
RowKey = tuple[str, str, str | None, str, tuple[tuple[str, str], ...]]


@dataclass
class ScoreSheet:
    """The table while it is read."""

    rows: dict[RowKey, ScoredRow] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    cells: dict[tuple[int, int], float] = field(default_factory=dict)
    reasons: dict[tuple[int, int], str] = field(default_factory=dict)
    columns: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    """Metric -> all of its scores, where they were read together: NaN where undefined, infinite as in the file."""


def label_columns(records: Sequence[Record], others: Sequence[str], findings: FileFindings) -> list[str]:
    """The columns among `others` to group by; those that mean nothing here are noted."""
    unused = {key for key in others if key in (*UNUSED, *SAID) or key.lower() in INDEX_COLUMNS}
    candidates = [key for key in others if key in unused or key not in ABOUT]
    return labels_among(candidates, unused, records, findings)


def scored_row(record: Record, labels: Sequence[str], findings: FileFindings) -> ScoredRow | None:
    """Whose text a row is about; None after its problems were reported."""
    names = names_in(record, labels, findings)
    if names is None:
        return None
    return ScoredRow(names.item_id, names.system or ONLY_SYSTEM, names.level, names.language, names.labels)


def row_key(row: ScoredRow) -> RowKey:
    """The key under which a text may come once."""
    return row.item_id, row.system, row.level, row.language, tuple(sorted(row.labels.items()))


def put_score(
    sheet: ScoreSheet, at: tuple[int, int], record: Record, column: str, findings: FileFindings
) -> None:
    """One score into the table: a number, or undefined with a reason, or a problem."""
    value = record.cells.get(column)
    number = number_in(value)
    reason = record.cells.get("reason") if column == "score" else None
    if (
        number is None
        and column.lower() == RESULT
        and isinstance(value, str)
        and regex.search(r"\p{L}", value)
    ):
        # A judge's whole answer: what stands behind its last mark, else there is no verdict.
        verdict = _LAST_RESULT.match(value)
        number, reason = (float(verdict["number"]), None) if verdict else (math.nan, NO_RESULT)
    if number is None and not is_undefined(value):
        findings.problems.append(f"{record.where}: {shown(column)} {number_problem(value)}")
        return
    stated = printable_text(reason.strip()) if isinstance(reason, str) and reason.strip() else NO_SCORE
    if number is None or math.isnan(number):
        sheet.cells[at], sheet.reasons[at] = math.nan, stated
    elif math.isinf(number):
        sheet.cells[at], sheet.reasons[at] = math.nan, INFINITE
    else:
        sheet.cells[at] = number
