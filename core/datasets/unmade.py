"""Rows that say why there is no text: a run writes them for items that failed, and no study can have these items."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from core.datasets.reading import JsonObject, is_blank, name_of, parse_json, shown
from core.datasets.rows import CSV_SUFFIXES, is_jsonl

MOST_NAMED = 20
"""Items left out that the note names."""


@dataclass(frozen=True)
class _Row:
    lines: range
    """Of the file, from 0."""
    item: str | None
    unmade: bool


def without_unmade(data: bytes, file_name: str) -> tuple[bytes, tuple[str, ...]]:
    """A long table without the items that have a row with a `reason` in place of a text, and a note about them.

    Their lines are left empty, so that messages about the others name the right ones. A file of another form,
    or one that is not well-formed, comes back as it is: its reader says what is wrong.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data, ()
    lines = list(io.StringIO(text, newline=""))
    table = PurePath(file_name).suffix.lower() in CSV_SUFFIXES
    if not table and not is_jsonl(text, file_name):
        return data, ()
    try:
        rows = list(_csv_rows(lines) if table else _jsonl_rows(lines))
    except csv.Error:
        return data, ()
    gone = {row.item: None for row in rows if row.unmade and row.item is not None}
    if not gone:
        return data, ()
    for row in rows:
        if row.item in gone:
            for at in row.lines:
                lines[at] = "\n"
    listed = ", ".join(shown(name) for name in list(gone)[:MOST_NAMED])
    more = "" if len(gone) <= MOST_NAMED else f" and {len(gone) - MOST_NAMED} more"
    note = f"{shown(file_name)}: left out for want of a level: {listed}{more}"
    return "".join(lines).encode(), (note,)


def _jsonl_rows(lines: list[str]) -> Iterator[_Row]:
    for at, line in enumerate(lines):
        value, problem = parse_json(line.rstrip("\r\n"))
        if problem is None and isinstance(value, JsonObject):
            yield _row(range(at, at + 1), value)


def _csv_rows(lines: list[str]) -> Iterator[_Row]:
    heading = next((line for line in lines if line.strip()), "")
    mark = max(",;\t", key=heading.count)
    csv.field_size_limit(max(csv.field_size_limit(), sum(map(len, lines)) + 1))
    reader = csv.reader(iter(lines), delimiter=mark, strict=True)
    header: list[str] | None = None
    start = 0
    for cells in reader:
        span, start = range(start, reader.line_num), reader.line_num
        if header is None:
            header = [cell.strip().lower() for cell in cells] if any(cells) else None
        elif len(cells) == len(header):
            yield _row(span, dict(zip(header, cells, strict=True)))


def _row(lines: range, cells: dict[str, object]) -> _Row:
    text, reason = cells.get("text"), cells.get("reason")
    bare = text is None or (isinstance(text, str) and is_blank(text))
    return _Row(
        lines, name_of(cells.get("item_id")), bare and isinstance(reason, str) and not is_blank(reason)
    )
