"""One row a text: long CSV (comma, semicolon or tab) and JSONL, with the same columns.

Question, reference and language belong to the item: they may stand on every row or on one row of it.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from core.datasets.building import DatasetBuilder, ItemFields, place
from core.datasets.reading import (
    JsonObject,
    clean_text,
    decode,
    duplicate_problems,
    is_blank,
    name_of,
    name_problem,
    parse_json,
    printable_text,
    reject,
    sha256_of,
    shown,
    type_name,
)
from core.schema import Dataset

ITEM_COLUMNS = ("question", "reference", "language")
COLUMNS = ("item_id", "question", "reference", "level", "source", "text", "language")
DELIMITERS = (",", ";", "\t")
JSONL_SUFFIXES = (".jsonl", ".ndjson")
CSV_SUFFIXES = (".csv", ".tsv")


@dataclass(frozen=True)
class Row:
    """One row as the file has it."""

    line: int
    """On which it starts; 1 is the file's first."""
    cells: dict[str, object]
    """Column -> value, known columns only; what is not there is left out."""


def read_tabular(data: bytes, file_name: str) -> Dataset:
    """Read long CSV or JSONL, whichever the file name or else the first character says."""
    text = decode(data, file_name)
    builder = DatasetBuilder(file_name, sha256_of(data))
    suffix = PurePath(file_name).suffix.lower()
    braces = text.lstrip().startswith("{") and suffix not in CSV_SUFFIXES
    read_rows = _jsonl_rows if suffix in JSONL_SUFFIXES or braces else _csv_rows
    return _build(list(read_rows(text, builder)), builder)


def _csv_rows(text: str, builder: DatasetBuilder) -> Iterator[Row]:
    # The limit is the process's: only ever raised, so that two imports at once cannot lower it for each other.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    header: list[str] | None = None
    start = 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip().lower() for cell in cells]
                _check_header(header, line, builder)
            elif len(cells) != len(header):
                builder.problems.append(f"line {line}: {len(cells)} cells, the header has {len(header)}")
            else:
                named = zip(header, cells, strict=True)
                yield Row(line, {name: cell for name, cell in named if name in COLUMNS})
    except csv.Error as error:
        reason = str(error).replace("'\t'", "a tab")
        builder.problems.append(f"line {start}: the row that starts here is not valid CSV ({reason})")


def _delimiter(text: str) -> str:
    """The separator under which the header line holds most of the columns we know."""

    def known(delimiter: str) -> int:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if any(cell.strip() for cell in cells):
                return sum(cell.strip().lower() in COLUMNS for cell in cells)
        return 0

    return max(DELIMITERS, key=known)


def _check_header(header: list[str], line: int, builder: DatasetBuilder) -> None:
    unknown = [name for name in header if name not in COLUMNS]
    instead = f"; columns that are not known: {_listed(unknown)}" if unknown else ""
    problems = [
        f"line {line}: column {column} is missing{instead}"
        for column in COLUMNS
        if column not in header and column != "language"
    ]
    twice = [column for column in COLUMNS if header.count(column) > 1]
    problems += [f"line {line}: column {column} appears more than once" for column in twice]
    if problems:
        # Without its columns no row can be read: what would follow are problems of this one.
        reject(builder.file_name, problems)
    _note_ignored(builder, unknown)


def _jsonl_rows(text: str, builder: DatasetBuilder) -> Iterator[Row]:
    ignored: dict[str, None] = {}
    for line, written in enumerate(io.StringIO(text), start=1):
        if not written.strip():
            continue
        value, problem = parse_json(written.rstrip("\n"), line)
        if problem:
            builder.problems.append(problem)
        elif not isinstance(value, JsonObject):
            builder.problems.append(f"line {line}: is {type_name(value)}, expected an object")
        else:
            builder.problems += duplicate_problems(f"line {line}", value)
            ignored.update(dict.fromkeys(key for key in value if key not in COLUMNS))
            yield Row(line, {key: cell for key, cell in value.items() if key in COLUMNS})
    _note_ignored(builder, list(ignored))


def _note_ignored(builder: DatasetBuilder, names: list[str]) -> None:
    if names:
        builder.notes.append(f"columns not used: {_listed(names)}")


def _listed(names: list[str]) -> str:
    return ", ".join(shown(name) or "(no name)" for name in names)


def _build(rows: list[Row], builder: DatasetBuilder) -> Dataset:
    rows_of: dict[str, list[Row]] = {}
    for row in rows:
        item_id = _name(row, "item_id", place(row.line), builder)
        if item_id is not None:
            rows_of.setdefault(item_id, []).append(row)
    if not rows and not builder.problems:
        builder.problems.append("file: there is no row below the header; at least one question is needed")
    for item_id, item_rows in rows_of.items():
        number = builder.add_item(_item_fields(item_id, item_rows, builder))
        for row in item_rows:
            _add_output(number, item_id, row, builder)
    return builder.finish()


def _name(row: Row, column: str, where: str, builder: DatasetBuilder) -> str | None:
    """A required name in the row; None after reporting why there is none."""
    if column not in row.cells:
        builder.problems.append(f"{where}: {column} is missing")
        return None
    name = name_of(row.cells[column])
    if name is None:
        builder.problems.append(f"{where}: {column} {name_problem(row.cells[column])}")
    return name


def _item_fields(item_id: str, rows: list[Row], builder: DatasetBuilder) -> ItemFields:
    found: dict[str, tuple[object, int]] = {}
    for row in rows:
        for column in ITEM_COLUMNS:
            value = row.cells.get(column)
            if value is None or (isinstance(value, str) and is_blank(value)):
                continue
            first, line = found.setdefault(column, (value, row.line))
            if _as_kept(value) != _as_kept(first):
                where = place(row.line, item_id)
                builder.problems.append(f"{where}: {column} differs from the one in line {line}")
    question, question_line = found.get("question", ("", rows[0].line))
    reference, reference_line = found.get("reference", ("", rows[0].line))
    language, language_line = found.get("language", ("und", rows[0].line))
    return ItemFields(
        item_id,
        question,
        reference,
        language,
        question_line=question_line,
        reference_line=reference_line,
        language_line=language_line,
    )


def _as_kept(value: object) -> object:
    return clean_text(printable_text(value)) if isinstance(value, str) else value


def _add_output(number: int, item_id: str, row: Row, builder: DatasetBuilder) -> None:
    where = place(row.line, item_id)
    level = _name(row, "level", where, builder)
    source = _name(row, "source", place(row.line, item_id, level), builder)
    if level is None:
        # Which of the item's texts this is cannot be known, so none of them is called missing.
        builder.mark_unusable(number)
    elif source is None:
        builder.mark_unusable(number, level)
    elif "text" not in row.cells:
        builder.problems.append(f"{place(row.line, item_id, level, source)}: text is missing")
        builder.mark_unusable(number, level)
    else:
        builder.add_output(number, level, source, row.cells["text"], row.line)
