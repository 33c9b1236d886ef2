"""Rows of a table: CSV (comma, semicolon or tab) and JSONL, with the columns that a reader asks for."""

import csv
import io
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.tables.cells import numbers_in
from core.tables.problems import FileFindings, likely_columns, listed, rename
from core.tables.reading import JsonObject, duplicate_problems, parse_json, reject, shown, type_name
from core.tables.writer import unguarded

DELIMITERS = (",", ";", "\t")
JSONL_SUFFIXES = (".jsonl", ".ndjson")
CSV_SUFFIXES = (".csv", ".tsv")

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SHORT = 16
"""Characters of a cell that may be a name, of which many are equal."""
_AT_ONCE = 1_000
"""Rows whose cells are looked at together, column by column."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row as the file has it."""

    line: int
    """On which it starts; 1 is the file's first."""
    cells: dict[str, object]
    """Column -> value, known columns only; what is not there is left out."""


@dataclass(frozen=True)
class JsonLine:
    """One line of a JSONL file."""

    line: int
    """1 is the file's first."""
    value: JsonObject | None
    """None: it holds no object."""
    problems: list[str]
    written: str
    """As it stands in the file."""


@dataclass(frozen=True)
class Columns:
    """What the columns of a file mean."""

    named: Mapping[str, str]
    """Column as it is written, in a header in lower case -> our name."""
    required: tuple[str, ...] = ()
    """Of our names those that have to be there."""
    usual: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Name -> what other programs call the column; suggested where it is missing, not taken."""


def is_jsonl(text: str, file_name: str) -> bool:
    """Whether the file holds one JSON object a line, as its name says, else its first character."""
    suffix = PurePath(file_name).suffix.lower()
    return suffix in JSONL_SUFFIXES or (text.lstrip().startswith("{") and suffix not in CSV_SUFFIXES)


def read_rows(
    text: str, columns: Columns, findings: FileFindings, *, without: Collection[str] = ()
) -> Iterator[Row]:
    """The rows of either form; problems and columns that are not used go to the findings.

    without: columns of a CSV text whose cells are left out.
    """
    if is_jsonl(text, findings.file_name):
        return _jsonl_rows(text, columns, findings)
    return _csv_rows(text, columns, findings, without)


def number_columns(text: str, columns: Columns, wanted: Collection[str]) -> dict[str, NDArray[np.float64]]:
    """Columns among the `wanted` of a CSV text in which each cell is a number or undefined (NaN), and one a number.

    Nothing where a row cannot be read: its problem is that of read_rows.
    """
    rows, asked = _csv_cells(text, _delimiter(text, columns.named)), set(wanted)
    try:
        header = [columns.named.get(cell.strip().lower()) for cell in next(rows)[1]]
        parts: dict[int, list[NDArray[np.float64]]] = {
            place: [] for place, name in enumerate(header) if name in asked
        }
        while parts and (some := [cells for _, cells in islice(rows, _AT_ONCE)]):
            by_column = list(zip(header, *some, strict=True))
            for place in list(parts):
                if (numbers := numbers_in(by_column[place][1:])) is None:
                    del parts[place]
                else:
                    parts[place].append(np.array(numbers))
    except (csv.Error, ValueError, StopIteration):
        return {}
    found = {header[place] or "": np.concatenate(own) for place, own in parts.items() if own}
    return {name: numbers for name, numbers in found.items() if not np.isnan(numbers).all()}


def jsonl_bytes(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """One JSON object a line, as UTF-8: what is_jsonl tells and read_rows reads."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def header_of(text: str, names: Collection[str]) -> list[str]:
    """The header of a CSV text, in lower case; empty where there is no line. names: those that it may hold."""
    return [cell.lower() for cell in first_cells(text, _delimiter(text, names))]


def csv_lines(text: str) -> Iterator[str]:
    """Lines as `csv.reader` takes them, without a second copy of the text; a cell may be as long as the text."""
    # The limit is the process's: only ever raised, so that two imports at once cannot lower it for each other.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return (found.group() for found in _LINE.finditer(text))


def _csv_cells(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold something, each with the line on which it starts; csv.Error says which is not valid."""
    reader, start = csv.reader(csv_lines(text), delimiter=delimiter, strict=True), 1
    try:
        for cells in reader:
            line, start = start, reader.line_num + 1
            if any(map(str.strip, cells)):
                yield line, cells
    except csv.Error as error:
        reason = str(error).replace("'\t'", "a tab")
        raise csv.Error(f"line {start}: the row that starts here is not valid CSV ({reason})") from error


def _csv_rows(text: str, columns: Columns, findings: FileFindings, without: Collection[str]) -> Iterator[Row]:
    header: list[str | None] | None = None
    freed = 0
    try:
        for line, cells in _csv_cells(text, _delimiter(text, columns.named)):
            if header is None:
                written = [cell.strip().lower() for cell in cells]
                _check_header(written, line, columns, findings)
                header = [columns.named.get(name) for name in written]
                kept = [(at, name) for at, name in enumerate(header) if name and name not in without]
            elif len(cells) != len(header):
                findings.problems.append(f"line {line}: {len(cells)} cells, the header has {len(header)}")
            else:
                row: dict[str, object] = {}
                for at, name in kept:
                    cell = unguarded(cells[at])
                    freed += cell != cells[at]
                    # Items and systems stand on many rows: each is held once.
                    row[name] = sys.intern(cell) if len(cell) <= _SHORT else cell
                yield Row(line, row)
    except csv.Error as error:
        findings.problems.append(str(error))
    if freed:
        # A text with it on one side only would tell a rater which source it is.
        count = "1 cell" if freed == 1 else f"{freed} cells"
        findings.notes.append(
            f"{count}: the apostrophe that keeps spreadsheets from running a formula was taken off"
        )


def _delimiter(text: str, names: Collection[str]) -> str:
    """The separator under which the header line holds most of the columns we know."""
    return max(DELIMITERS, key=lambda mark: sum(cell.lower() in names for cell in first_cells(text, mark)))


def first_cells(text: str, delimiter: str) -> list[str]:
    """The cells of the first line that holds something; none where no line does."""
    for cells in csv.reader(csv_lines(text), delimiter=delimiter):
        if any(cell.strip() for cell in cells):
            return [cell.strip() for cell in cells]
    return []


def _check_header(header: list[str], line: int, columns: Columns, findings: FileFindings) -> None:
    written: dict[str, list[str]] = {}
    unknown = []
    for cell in header:
        name = columns.named.get(cell)
        if name is None:
            unknown.append(cell)
        else:
            written.setdefault(name, []).append(cell)
    problems = _missing(f"line {line}", columns, written, unknown)
    for column, same in written.items():
        if len(same) > 1:
            also = "" if set(same) == {column} else f" ({listed(same)})"
            problems.append(f"line {line}: column {column} appears more than once{also}")
    if problems:
        # Without its columns no row can be read: what would follow are problems of this one.
        reject(findings.file_name, problems)
    note_ignored(findings, unknown)


def unknown_columns(unknown: Sequence[str], missing: Sequence[str]) -> str:
    """The end of a sentence on missing columns: what the header has that may be meant."""
    return f"; columns that are not known: {listed(unknown, missing)}" if unknown else ""


def _missing(where: str, columns: Columns, names: Collection[str], unknown: list[str]) -> list[str]:
    """A problem for each column that is needed and not there, with those of the file that may be meant."""
    missing = [column for column in columns.required if column not in names]
    likely = likely_columns(missing, unknown, columns.usual)
    suggested = {name for names in likely.values() for name in names}
    left = [name for name in unknown if name not in suggested]
    instead = unknown_columns(left, missing)
    return [
        f"{where}: column {column} is missing{rename(likely[column], column) or instead}"
        for column in missing
    ]


def _jsonl_rows(text: str, columns: Columns, findings: FileFindings) -> Iterator[Row]:
    ignored: dict[str, None] = {}
    there: set[str] = set()
    for one in jsonl_objects(text):
        findings.problems += one.problems
        if one.value is not None:
            row = Row(one.line, known_fields(one.value, columns, f"line {one.line}", findings, ignored))
            there.update(row.cells)
            yield row
    if there and (problems := _missing("file", columns, there, list(ignored))):
        # As with a table's header: without it every row lacks the same.
        reject(findings.file_name, [*findings.problems, *problems])
    note_ignored(findings, list(ignored))


def jsonl_objects(text: str) -> Iterator[JsonLine]:
    """The lines that hold something; their problems are left to whoever reads on, in the order of the lines."""
    for line, written in enumerate(io.StringIO(text), start=1):
        if not written.strip():
            continue
        value, problem = parse_json(written.rstrip("\n"), line)
        if problem:
            yield JsonLine(line, None, [problem], written)
        elif not isinstance(value, JsonObject):
            problem = f"line {line}: is {type_name(value)}, expected an object"
            yield JsonLine(line, None, [problem], written)
        else:
            yield JsonLine(line, value, duplicate_problems(f"line {line}", value), written)


def known_fields(
    value: Mapping[str, object],
    columns: Columns,
    where: str,
    findings: FileFindings,
    ignored: dict[str, None],
) -> dict[str, object]:
    """An object's fields under our names; two names of one column are a problem, other keys are `ignored`."""
    cells: dict[str, object] = {}
    for key, cell in value.items():
        name = columns.named.get(key)
        if name is None:
            ignored[key] = None
        elif name in cells:
            findings.problems.append(f"{where}: {name} appears more than once, here as {shown(key)}")
        else:
            cells[name] = cell
    return cells


def note_ignored(findings: FileFindings, names: Sequence[str]) -> None:
    """Say which columns or keys mean nothing to the reader."""
    if names:
        findings.notes.append(f"columns not used: {listed(names)}")
