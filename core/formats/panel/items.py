"""What an item of a panel is: the ids of its rows, and the unit of its intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.formats.panel.columns import values_by_id
from core.formats.panel.sheet import Sheet
from core.schema.panel import Panel, panel_of_rows
from core.schema.unit import FEWEST_VALUES, ROW
from core.tables.columns import known_at, levels_in
from core.tables.problems import FileFindings, question_id
from core.tables.reading import labels_of, shown
from core.tables.roles import holds_texts, words_in


@dataclass(frozen=True)
class Ids:
    """The ids of a table's rows."""

    names: Sequence[str | None]
    """For each row its id; without a column of ids, a number."""
    column: str | None
    """The column of ids; None if the table has none."""
    numbered: str | None = None
    """Without ids: the column whose values are numbered; None if rows are."""


ITEM = "item_id"
"""The column of ids that a table without them gets."""


def ids_of(sheet: Sheet, findings: FileFindings, *, by_number: bool, by_question: bool = False) -> Ids:
    """The ids of a table; without a column of them, the wording of its questions or numbers of its rows, with a note.

    by_number: whether rows are numbered even where questions repeat. by_question: whether questions are the ids even where each
    row has its own, because another file is joined by them.
    """
    records = sheet.table.records
    column = next((key for key, name in sheet.named(known_at("texts")).items() if name == "item_id"), None)
    if column is not None:
        return Ids(labels_of([record.cells.get(column) for record in records]), column)
    asked = None if by_number else questions_of(sheet)
    if asked is not None:
        question, names = asked
        n = len({*names})
        if by_question or n < len(records):
            findings.notes.append(f"no column names the item: {n:,} different questions are the items")
            return Ids(names, None, question)
    if sheet.human:
        findings.notes.append("no column names the item: each row is an item, numbered from 1")
    return Ids([str(number) for number in range(1, len(records) + 1)], None)


def questions_of(sheet: Sheet) -> tuple[str, list[str]] | None:
    """The column of questions and each row's question as an id, if these tell texts apart; None otherwise."""
    records = sheet.table.records
    read_as = sheet.named(known_at("texts"))
    question = next((key for key, name in read_as.items() if name == "question"), None)
    if question is None or sheet.roles is None or "item_id" in read_as.values():
        return None
    asked = [str(record.cells.get(question) or "") for record in records]
    told_apart = [key for key, name in read_as.items() if name in ("system", "level", "text")]
    told_apart += [key for key, name in sheet.table.columns.items() if name in ("rater", "dimension")]
    names = [question_id(text) for text in asked]
    rows = {
        (text, *(repr(record.cells.get(key)) for key in told_apart))
        for text, record in zip(names, records, strict=True)
    }
    return (question, names) if "" not in names and len({*names}) > 1 and len(records) == len(rows) else None


def numbered_by(sheet: Sheet, ids: Ids) -> Sheet:
    """The sheet of a long table with the numbers of its questions as ids, where it has no column of them."""
    if ids.numbered is None or ids.column is not None:
        return sheet
    table = sheet.table
    records = [
        replace(record, cells={**record.cells, ITEM: name})
        for record, name in zip(table.records, ids.names, strict=True)
    ]
    return replace(
        sheet,
        table=table._replace(
            keys=[*table.keys, ITEM], columns={**table.columns, ITEM: ITEM}, records=records
        ),
        roles=None
        if sheet.roles is None
        else replace(sheet.roles, read_as={**sheet.roles.read_as, ITEM: ITEM}),
    )


def set_unit(
    panel: Panel, sheet: Sheet, ids: Ids, item: str | None, column: str | None, *, joined_by_row: bool
) -> Panel:
    """The panel with its items: as declared, or guessed.

    Guessed, the item is the id. Where ids are unique to texts, or missing, and a question or source repeats, it is that
    column from FEWEST_VALUES different values on; with fewer the unit is undecided, and a constant column never counts.

    item: as declared. column: the declared column, where it is not that of the ids.
    """
    panel = replace(panel, unit=replace(panel.unit, joined_by_row=joined_by_row))
    if item == ROW:
        return panel_of_rows(panel)
    if column is not None:
        return _items_of_column(panel, sheet, ids, column, "declared")
    if item is not None:
        return replace(panel, unit=replace(panel.unit, name=shown(item), origin="declared"))
    if ids.numbered is not None:
        # A question with one text is its text: then nothing is undecided.
        few = panel.unit.n < min(FEWEST_VALUES, len(panel.rows))
        unit = replace(
            panel.unit,
            name=shown(ids.numbered),
            undecided=shown(ids.numbered) if few else None,
            n_values=panel.unit.n if few else 0,
        )
        return replace(panel, unit=unit)
    if ids.column is None:
        panel = replace(panel, unit=replace(panel.unit, name=ROW))
    if panel.unit.n < len(panel.rows):
        return panel
    for asked in _asked_columns(sheet):
        found = _items_of_column(panel, sheet, ids, asked, "guessed")
        if not 1 < found.unit.n < len(panel.rows):
            continue
        if found.unit.n >= FEWEST_VALUES:
            return found
        return replace(panel, unit=replace(panel.unit, undecided=shown(asked), n_values=found.unit.n))
    return panel


def _asked_columns(sheet: Sheet) -> list[str]:
    """The columns of questions, prompts and sources, in this order, that a table shares between texts."""
    read_as = sheet.named(known_at("panel" if sheet.roles is not None else "texts"))
    usual = {name: {_plain_key(one) for one in names} for name, names in known_at("panel").items()}
    used = {*sheet.human.values(), *sheet.judges.values()}
    free = [
        key
        for key in sheet.table.keys
        if key not in used and read_as.get(key) in (None, "question", "source")
    ]
    questions = [
        key for key in free if read_as.get(key) == "question" or _plain_key(key) in usual["question"]
    ]
    # Short words in a column `source` may be systems or data sets, unless the systems have a column.
    sources = [
        key
        for key in free
        if read_as.get(key) == "source"
        and ("system" in read_as.values() or holds_texts(sheet.table.records, key))
    ]
    return [*questions, *sources]


def _plain_key(key: str) -> str:
    return "_".join(words_in(key))


def _items_of_column(
    panel: Panel, sheet: Sheet, ids: Ids, column: str, origin: Literal["declared", "guessed"]
) -> Panel:
    """The panel with the values of a column as its items; the same panel if an id has several values.

    A text that the table lacks, and one without a value, is an item of its own.
    """
    by_id = values_by_id(sheet.table, ids.names, column)
    if by_id is None:
        return panel
    for whole, (name, _) in levels_in([*by_id]).items():  # readers split ids such as ITEM_level2
        by_id.setdefault(name, by_id[whole])
    values = [
        ("value", by_id[row.item_id]) if by_id.get(row.item_id) else ("id", row.item_id) for row in panel.rows
    ]
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    unit = replace(panel.unit, name=shown(column), origin=origin, n=len(numbers), undecided=None, n_values=0)
    return replace(panel, items=np.array([numbers[value] for value in values], dtype=np.int64), unit=unit)
