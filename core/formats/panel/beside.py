"""What stands beside the labels of a panel in its file: texts, questions, reasons, and numbers of further columns."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.errors import InputError
from core.formats.panel.columns import written_table
from core.formats.registry import format_of, read_rated, read_texts
from core.formats.scorable import read_outputs
from core.formats.scores import SAID
from core.joining.tables import places_of
from core.schema.panel import ROW_LABEL, Panel, TextBeside
from core.schema.roles import Roles
from core.schema.scores import ScorableOutput, ScoredRow
from core.stats.resampling import Floats
from core.tables.columns import ONLY_SYSTEM, Record, Table, known_at, named_columns
from core.tables.containers import findings_of
from core.tables.mapping import rename_keys
from core.tables.problems import FileFindings, listed
from core.tables.reading import (
    is_nothing,
    label_of,
    labels_of,
    looks_like_number,
    number_in,
    shown,
    text_in,
)

_REASONS = (*SAID, "reason", "reasons", "justification", "comment", "critique")
"""Words in the name of a column with a judge's reasons."""


def texts_of_outputs(outputs: Iterable[ScorableOutput]) -> tuple[TextBeside, ...]:
    """The texts of a file of texts, with their questions."""
    return tuple(
        TextBeside(
            one.row,
            one.source or "",
            one.text,
        )
        for one in outputs
    )


def texts_in(data: bytes, file_name: str, roles: Roles | None = None) -> tuple[TextBeside, ...]:
    """The questions, texts and reasons in a file of ratings; empty if it has none. Raises InputError.

    roles: what the panel found about the columns (`Panel.roles`); None: columns are known by their names. A column of reasons
    has one of the usual words in its name (reason, feedback, explanation, rationale ...). It belongs to the judge that the rest
    of its name names (`gpt4_reason`), in a long table to the row's rater, else to all judges.
    """
    found = format_of("ratings", data, file_name)
    if found.rows is None:
        try:
            texts = read_rated(data, file_name).texts
        except InputError:  # ratings without texts
            return ()
        return texts_of_outputs(one.output for one in texts)
    findings = findings_of(data, file_name)
    table = written_table(found.rows(data, known_at("ratings"), findings))
    names = {key: name for key, name in (roles.read_as if roles else {}).items() if key in table.keys}
    names |= named_columns(
        [key for key in table.keys if key not in names],
        {name: known for name, known in known_at("panel").items() if name not in names.values()},
    )
    reasons = {
        key: judge
        for key in table.keys
        if (judge := _whose(key)) is not None and names.get(key) not in ("text", "question")
    }
    if not reasons and not {"text", "question", "source"} & set(names.values()):
        return ()
    return tuple(
        text_beside(record.cells, names, reasons, number)
        for number, record in enumerate(table.records, start=1)
    )


def text_beside(
    by_column: Mapping[str, object], names: Mapping[str, str], reasons: Mapping[str, str], number: int
) -> TextBeside:
    """What a row of a table holds. number: of the row, from 1, which is its item where no column names items."""
    cells = {names.get(key, key): cell for key, cell in by_column.items()}
    words = zip(cells, labels_of(cells.values()), strict=True)
    labels = {key: word for key, word in words if word is not None}
    row = ScoredRow(
        labels.get("item_id", str(number)),
        labels.get("system", ONLY_SYSTEM),
        labels.get("level"),
        labels.get("language", "und"),
        {"row": str(number)} | labels,
    )
    rater = labels.get("rater", "")
    said = {judge or rater: text_in(by_column.get(key)) for key, judge in reasons.items()}
    return TextBeside(
        row,
        text_in(cells.get("question") or cells.get("source")),
        text_in(cells.get("text")),
        {judge: text for judge, text in said.items() if text and not looks_like_number(text)},
    )


def _whose(column: str) -> str | None:
    """The judge that a column of reasons names, empty if it names none; None for any other column."""
    words = [word for word in re.split(r"[\W_]+", column.casefold()) if word]
    others = [word for word in words if word not in _REASONS]
    return None if len(others) == len(words) else " ".join(others)


def columns_in(data: bytes, file_name: str) -> list[str]:
    """The columns of a table; empty for a file that is none."""
    own = format_of("ratings", data, file_name)
    if own.rows is None:
        return []
    return own.rows(data, known_at("ratings"), findings_of(data, file_name)).keys


def numbers_beside(data: bytes, file_name: str, panel: Panel, column: str) -> Floats:
    """The numbers of a column for each text of the panel, shape (n,); NaN where none matches or the cell is empty.

    data: any table with the panel's texts, such as the file from which it was read. Rows match by item, system, level, language and
    labels; without an item they are those of the panel in its order. Raises InputError, with the places, if the column is
    missing or holds something else than numbers, if one text has several, and if no row matches.
    """
    own = format_of("ratings", data, file_name)
    findings = findings_of(data, file_name)
    table = None if own.rows is None else written_table(own.rows(data, known_at("texts"), findings))
    keys = {} if table is None else {key.strip().casefold(): key for key in table.keys}
    key = keys.get(column.strip().casefold())
    if table is None or key is None:
        has = f"; it has {listed(list(keys.values()))}" if keys else ""
        raise InputError(
            f"{shown(file_name)}: no confidence", [f"confidence: no column {shown(column)}{has}"]
        )
    read_as = panel.roles.read_as if panel.roles else {}
    if not {*read_as} <= {*table.keys}:
        read_as = {}
    named = {name: place for place, name in (read_as or named_columns(table.keys, known_at("texts"))).items()}
    labels = {name for row in panel.rows for name in row.labels}
    in_order = "item_id" not in named and len(table.records) == len(panel.rows)
    rows = [_row_of(record, at, named, labels) for at, record in enumerate(table.records)]
    places = range(len(rows)) if in_order else places_of(rows, panel.rows)
    found = np.full(len(panel.rows), np.nan)
    problems: list[str] = []
    n_met = 0
    for place, record in zip(places, table.records, strict=True):
        if place is None:
            continue
        n_met += 1
        written = record.cells.get(key)
        if is_nothing(written):
            continue
        value = number_in(written)
        if value is None or not np.isfinite(value):
            problems.append(f"{record.where}: {key} is {shown(str(written))}, expected a number")
        elif not np.isnan(found[place]) and found[place] != value:
            problems.append(
                f"{record.where}: item {shown(panel.rows[place].item_id)} has {found[place]:g} already"
            )
        else:
            found[place] = value
    if not n_met:
        problems.append(
            "confidence: no row is about a text with a label or score; use the same items and systems"
        )
    if problems:
        raise InputError(f"{shown(file_name)}: no confidence", problems)
    return found


def _row_of(record: Record, at: int, named: Mapping[str, str], labels: Collection[str]) -> ScoredRow:
    """The text that a record is about. at: its number, from 0, which tells texts apart that nothing else does."""
    cells = {name: label_of(record.cells.get(column)) for name, column in named.items()}
    own = {name: label_of(record.cells[name]) or "" for name in labels if name in record.cells}
    return ScoredRow(
        cells.get("item_id") or str(at + 1),
        cells.get("system") or ONLY_SYSTEM,
        cells.get("level"),
        cells.get("language") or "und",
        own | ({ROW_LABEL: str(at + 1)} if ROW_LABEL in labels and ROW_LABEL not in own else {}),
    )


def read_texts_of(data: bytes, file_name: str, panel: Panel) -> tuple[ScorableOutput | None, ...]:
    """The text of each row of the panel, from the file that the panel was read from; None for rows without one.

    Reads what `core.formats.registry.read_texts` reads, by the names that the panel found. As in a panel, rows may name no
    item, and a text may stand in several rows, one for each rater. Raises InputError, naming the missing column, if the file
    has no texts.
    """
    read_as = panel.roles.read_as if panel.roles else {}
    if names := {key: name for key, name in read_as.items() if key != name and name in known_at("texts")}:
        data = rename_keys(data, file_name, names)
    own = format_of("texts", data, file_name)
    if own.rows is None:
        return _texts_beside(panel, read_texts(data, file_name).outputs)
    read = own.rows

    def rows(content: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
        table = read(content, aliases, findings)
        names = set(table.columns.values())
        records = table.records
        if "item_id" not in names:
            same = len(records) == len(panel.rows)
            records = [
                replace(one, cells={**one.cells, "item_id": panel.rows[at].item_id if same else str(at + 1)})
                for at, one in enumerate(records)
            ]
        by_text = {
            tuple(label_of(one.cells.get(name)) for name in ("item_id", "system", "level", "text")): one
            for one in reversed(records)
        }
        kept = list(reversed(by_text.values()))
        return table._replace(columns={**table.columns, "item_id": "item_id"}, records=kept)

    return _texts_beside(panel, read_outputs(data, file_name, rows=rows).outputs)


def _texts_beside(panel: Panel, outputs: Sequence[ScorableOutput]) -> tuple[ScorableOutput | None, ...]:
    """The only text of each row of the panel; None where none matches, or several do."""
    # Without labels, because those of a file of texts may be scores of its panel.
    named = [ScoredRow(one.item_id, one.system, one.level, one.language) for one in outputs]
    return tuple(None if at is None else outputs[at] for at in places_of(panel.rows, named))


def texts_beside(panel: Panel, new: Panel, data: bytes, file_name: str) -> tuple[ScorableOutput | None, ...]:
    """The text of each row of the panel from the input of which `new` was read; empty if it has no texts."""
    roles = new.roles
    if roles is not None and not any(roles.read_as.get(column) == "text" for column in roles.texts):
        return ()  # a column `answer` may hold the raters' answers
    try:
        return read_texts_of(data, file_name, replace(panel, roles=roles))
    except InputError:
        return ()
