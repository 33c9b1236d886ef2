"""Rows of RAGAS' evaluation, in: a wide table whose item is the question that was asked."""

from collections.abc import Mapping, Sequence

from core.datasets.findings import FileFindings
from core.datasets.open_tables import Record
from core.datasets.reading import is_blank

QUESTION, OLD_QUESTION = "user_input", "question"
_OLD_COMPANIONS = frozenset({"contexts", "ground_truths"})
"""Columns that an evaluation before version 0.2 has beside its question."""
TEXTS = ("user_input", "response", "retrieved_contexts", "reference_contexts", "contexts", "ground_truths")
"""Columns that hold the texts of an evaluation."""
BY_QUESTION = "no column names the item: rows with the same question ({column}) are one item, numbered from 1"


def with_items(
    columns: Mapping[str, str], keys: Sequence[str], records: Sequence[Record], findings: FileFindings
) -> tuple[dict[str, str], list[Record]] | None:
    """The columns and rows with an item each, from the question; None where the table is not RAGAS' or names items."""
    if "item_id" in columns.values():
        return None
    plain = {key.strip().lower(): columns.get(key, key) for key in keys}
    old = OLD_QUESTION if _OLD_COMPANIONS & plain.keys() else ""
    column = plain.get(QUESTION) or plain.get(old, "")
    if not column:
        return None
    findings.notes.append(BY_QUESTION.format(column=QUESTION if QUESTION in plain else OLD_QUESTION))
    numbers: dict[str, str] = {}
    rows = []
    for record in records:
        question = record.cells.get(column)
        if not isinstance(question, str) or is_blank(question):
            findings.problems.append(f"{record.where}: the question is missing, which tells the item")
            continue
        item = numbers.setdefault(question, str(len(numbers) + 1))
        rows.append(Record(record.where, {**record.cells, "item_id": item}))
    return {**columns, "item_id": "item_id"}, rows
