"""A file's columns under the names that Assay reads, and words as classes: chosen by its owner before anything is read.

Every door hands a file on with its columns renamed, so that no reader has to know of it.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from core.errors import InputError, Problems, nearest_names
from core.tables.cells import looks_like_number
from core.tables.classes import class_columns
from core.tables.columns import VOCABULARY, Record, is_json, named_columns, objects_in
from core.tables.problems import listed
from core.tables.reading import JsonObject, decode, parse_json, shown
from core.tables.rows import DELIMITERS, csv_lines, is_jsonl

FIRST_ROWS = 5
"""Rows that a page shows before a file is read."""
ASIDE = "{column} of the file"
"""A column that bears the name that another one is given."""


@dataclass(frozen=True)
class FirstRows:
    """What a file begins with."""

    columns: tuple[str, ...]
    """As the file writes them."""
    rows: tuple[tuple[str, ...], ...]
    """The first rows as texts."""
    read_as: Mapping[str, str]
    """Column of the file -> our name, where its own name says it."""


def parse_columns(given: str | None) -> dict[str, str]:
    """`text=output,item_id=ID` as our name -> the file's column. InputError names every part that is no such pair."""
    problems, found = Problems(), dict[str, str]()
    for part in (given or "").split(",") if given else ():
        ours, mark, theirs = (one.strip() for one in part.partition("="))
        if not (ours and mark and theirs):
            problems.append(f"{shown(part)} is no pair such as text=output")
        elif ours in found:
            problems.append(f"{ours} is named twice")
        elif ours not in VOCABULARY:
            problems.append(f"Assay reads no column {shown(ours)}; is it {_or(ours, VOCABULARY)}?")
        else:
            found[ours] = theirs
    for theirs in {one for one in found.values() if list(found.values()).count(one) > 1}:
        problems.append(f"{shown(theirs)} can be one column alone")
    if problems:
        raise InputError("The columns cannot be taken as they were named.", problems)
    return found


def first_rows(data: bytes, file_name: str) -> FirstRows:
    """What a table, JSONL or a JSON list begins with; InputError where it is none of these."""
    text = decode(data, file_name)
    if is_json(text, file_name) or is_jsonl(text, file_name):
        found = list(islice(_objects(text, file_name), FIRST_ROWS))
        keys = tuple(dict.fromkeys(key for one in found for key in one))
        rows = tuple(tuple(_said(one.get(key)) for key in keys) for one in found)
    else:
        filled = _filled(text)
        keys = tuple(cell.strip() for cell in next(filled, ()))
        rows = tuple(map(tuple, islice(filled, FIRST_ROWS)))
    return FirstRows(keys, rows, named_columns(keys, VOCABULARY))


def with_columns(data: bytes, file_name: str, columns: Mapping[str, str]) -> bytes:
    """The file with columns under the names that Assay reads.

    columns: our name -> the file's. A column of the file that bears such a name itself is kept under ASIDE. InputError
    names the columns that the file does not have.
    """
    if not columns:
        return data
    keys = _keys(decode(data, file_name), file_name)
    by_name = {key.strip().casefold(): key for key in keys}
    missing = [theirs for theirs in columns.values() if theirs.strip().casefold() not in by_name]
    if missing:
        raise InputError(
            f"{shown(file_name)} does not have every column that was named.",
            [f"there is no column {shown(name)}; there are: {listed(keys, [name])}" for name in missing],
        )
    chosen = {by_name[theirs.strip().casefold()]: ours for ours, theirs in columns.items()}
    left = [key for key in keys if key not in chosen]
    taken = named_columns(left, {name: VOCABULARY[name] for name in columns})
    return with_names(data, file_name, {key: ASIDE.format(column=key) for key in taken} | chosen)


def with_names(data: bytes, file_name: str, names: Mapping[str, str]) -> bytes:
    """The file with other names of columns; every line and all else stays where it was.

    names: the file's column -> its new name.
    """
    text = decode(data, file_name)
    if is_json(text, file_name):
        value, _ = parse_json(text)
        renamed = [_renamed(one, names) if isinstance(one, JsonObject) else one for one in _list_of(value)]
        return _dumped(renamed)
    if is_jsonl(text, file_name):
        renamed_line = partial(_changed_line, change=lambda one: _renamed(one, names))
        return "".join(map(renamed_line, io.StringIO(text, newline=""))).encode()
    return _renamed_header(text, names).encode()


def class_words(data: bytes, file_name: str) -> dict[str, dict[str, int]]:
    """Column -> word -> class, where scores or ratings are words of one scale; beside numbers words are labels."""
    text = decode(data, file_name)
    if is_json(text, file_name) or is_jsonl(text, file_name):
        rows: Iterable[Mapping[str, object]] = _objects(text, file_name)
    else:
        filled = _filled(text)
        header = [cell.strip() for cell in next(filled, [])]
        rows = (dict(zip(header, cells, strict=False)) for cells in filled)
    records: list[Record] = []
    for row in rows:
        named = named_columns(list(row), VOCABULARY)
        own = [key for key, ours in named.items() if ours == "score"] or [
            key for key in row if key not in named
        ]
        if any(looks_like_number(row[key]) for key in own):
            return {}
        records.append(Record("", {key: row[key] for key in own}))
    return class_columns(records, list(dict.fromkeys(key for record in records for key in record.cells)))


def with_numbers(data: bytes, file_name: str, numbers: Mapping[str, Mapping[str, float]]) -> bytes:
    """The file with numbers in the place of words; every line and all else stays where it was.

    numbers: column -> word as it is written -> its number.
    """
    text = decode(data, file_name)

    def counted(one: JsonObject) -> dict[str, object]:
        return {key: numbers.get(key, {}).get(str(value), value) for key, value in one.items()}

    if is_json(text, file_name):
        value, _ = parse_json(text)
        return _dumped([counted(one) if isinstance(one, JsonObject) else one for one in _list_of(value)])
    if is_jsonl(text, file_name):
        return "".join(_changed_line(line, counted) for line in io.StringIO(text, newline="")).encode()
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=_delimiter(text), lineterminator="\n")
    places: dict[int, Mapping[str, float]] = {}
    for cells in csv.reader(csv_lines(text), delimiter=_delimiter(text)):
        if not places:
            places = {at: numbers[cell.strip()] for at, cell in enumerate(cells) if cell.strip() in numbers}
        writer.writerow(
            [f"{places[at][cell]:g}" if cell in places.get(at, ()) else cell for at, cell in enumerate(cells)]
        )
    return buffer.getvalue().encode()


def _keys(text: str, file_name: str) -> list[str]:
    """The names of a file's columns. InputError where it has none to name."""
    if is_json(text, file_name) or is_jsonl(text, file_name):
        keys = list(dict.fromkeys(key for one in _objects(text, file_name) for key in one))
    else:
        keys = [cell.strip() for cell in next(_filled(text), [])]
    if not keys:
        raise InputError(
            f"{shown(file_name)}: only the columns of a table, or of rows as objects, can be named."
        )
    return keys


def _filled(text: str) -> Iterator[list[str]]:
    """The rows of a table that hold something."""
    return (
        row for row in csv.reader(csv_lines(text), delimiter=_delimiter(text)) if any(map(str.strip, row))
    )


def _list_of(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _renamed(one: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    return {names.get(key, key): value for key, value in one.items()}


def _changed_line(line: str, change: Callable[[JsonObject], dict[str, object]]) -> str:
    value, problem = parse_json(line)
    if problem or not isinstance(value, JsonObject) or value.duplicates:
        return line  # its reader says what is wrong with it
    return json.dumps(change(value), ensure_ascii=False) + line[len(line.rstrip("\r\n")) :]


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _renamed_header(text: str, names: Mapping[str, str]) -> str:
    delimiter = _delimiter(text)
    lines = list(csv_lines(text))
    reader = csv.reader(iter(lines), delimiter=delimiter)
    begins = 0
    for header in reader:
        if any(map(str.strip, header)):
            break
        begins = reader.line_num
    else:
        header = []
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, lineterminator="").writerow(
        [names.get(cell.strip(), cell) for cell in header]
    )
    last = lines[reader.line_num - 1]
    end = last[len(last.rstrip("\r\n")) :]
    # A name that was written over several lines is one line now: those that follow keep their numbers.
    more = (reader.line_num - begins - 1 - len(buffer.getvalue().splitlines()[1:])) * "\n"
    return "".join([*lines[:begins], buffer.getvalue(), end, more, *lines[reader.line_num :]])


def _objects(text: str, file_name: str) -> Iterator[JsonObject]:
    """The rows of JSONL or of a JSON list."""
    one_value = is_json(text, file_name) and not text.lstrip().startswith("[")
    return iter(()) if one_value else objects_in(text, file_name)


def _delimiter(text: str) -> str:
    """The one that makes most cells of the first line."""

    def cells(mark: str) -> int:
        first: Sequence[str] = next((row for row in csv.reader(csv_lines(text), delimiter=mark) if row), ())
        return len(first)

    return max(DELIMITERS, key=cells)


def _said(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _or(name: str, known: Iterable[str]) -> str:
    names = list(known)
    return " or ".join(nearest_names(name, names) or names)
