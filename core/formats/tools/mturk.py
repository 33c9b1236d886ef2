"""Batch results of Amazon Mechanical Turk (CSV): `Input.` columns, and an assignment's `Answer.` columns by worker."""

import re
from collections.abc import Mapping, Sequence

from core.formats.tools.rows import (
    PERSON,
    RATER_TYPE,
    checked,
    facts_of,
    name_in,
    rating_table,
    tool_format,
    wants_ratings,
)
from core.tables.columns import Record, Table, object_records
from core.tables.containers import table_rows
from core.tables.problems import FileFindings
from core.tables.reading import is_nothing

_INPUT, _ANSWER = "Input.", "Answer."
_REJECTED = "Rejected"
_HEAD = 20_000
_TRUE, _FALSE = "true", "false"


def holds_batch(data: bytes, file_name: str) -> bool:
    """Whether a file is a batch of Mechanical Turk, by its header."""
    head = data[:_HEAD].partition(b"\n")[0]
    return all(mark in head for mark in (b"HITId", b"WorkerId", _ANSWER.encode()))


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """A row for each answer of an assignment; for texts a row for each assignment, without the prefixes of its columns."""
    rows: list[tuple[str, dict[str, object]]] = []
    refused = 0
    for record in table_rows(data, {}, findings).records:
        if record.cells.get("AssignmentStatus") == _REJECTED:
            refused += 1
            continue
        hit = name_in(record.cells, "HITId", record.where, findings)
        worker = name_in(record.cells, "WorkerId", record.where, findings)
        inputs, answers = _prefixed_cells(record, _INPUT), _answers(_prefixed_cells(record, _ANSWER))
        if not wants_ratings(aliases):
            rows.append((record.where, {"item_id": hit, **inputs, "worker_id": worker, **answers}))
            continue
        facts = facts_of(inputs)
        about = {**facts, "item_id": facts.get("item_id", hit), "rater": worker, RATER_TYPE: PERSON}
        for name, value in answers.items():
            if not is_nothing(value):
                own: dict[str, object] = {"dimension": name} if len(answers) > 1 else {}
                rows.append((record.where, {**about, **own, "score": value}))
    if refused:
        findings.notes.append(f"assignments left out because they were rejected: {refused:,}")
    if wants_ratings(aliases):
        return rating_table(rows, aliases, findings, "answer")
    checked(rows, findings, "assignment")
    return object_records(rows, aliases, findings)


def _prefixed_cells(record: Record, prefix: str) -> dict[str, object]:
    """The cells of the columns with a prefix, by the rest of their names."""
    return {key.removeprefix(prefix): cell for key, cell in record.cells.items() if key.startswith(prefix)}


def _answers(cells: Mapping[str, object]) -> dict[str, object]:
    """The answers, with the buttons of one question, `better.A` and `better.B`, as the one that was pressed."""
    groups: dict[str, dict[str, object]] = {}
    found: dict[str, object] = {}
    for name, cell in cells.items():
        question, _, option = name.rpartition(".")
        if question and option and str(cell).strip().lower() in (_TRUE, _FALSE):
            groups.setdefault(question, {})[option] = str(cell).strip().lower() == _TRUE
        else:
            found[re.sub(r"\s+", " ", name).strip()] = cell
    for question, options in groups.items():
        pressed = [option for option, on in options.items() if on]
        found[question] = " + ".join(pressed) or None
    return found


FORMAT = tool_format("mturk", "a batch of Mechanical Turk", holds_batch, _rows)
