"""A file's columns under the names that Assay reads, and words as classes: chosen by its owner before anything is read.

Every door hands a file on with its columns renamed, so that no reader has to know of it.
"""

import contextlib
import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePath
from typing import Any

from core.errors import InputError, Problems, nearest_names
from core.tables.columns import (
    DELIMITERS,
    VOCABULARY,
    Record,
    csv_lines,
    is_json,
    is_jsonl,
    named_columns,
    objects_in,
)
from core.tables.problems import FileFindings, listed
from core.tables.reading import JsonObject, decode, is_undefined, looks_like_number, parse_json, reject, shown

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


def is_parquet(data: bytes, file_name: str) -> bool:
    """Whether the file is Parquet, as its first bytes or else its name say."""
    return data.startswith(b"PAR1") or PurePath(file_name).suffix.lower() in (".parquet", ".pq")


def pyarrow_for(file_name: str) -> tuple[Any, Any]:
    """The package, and its part for Parquet. Raises InputError, naming the file, where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            f"{shown(file_name)} needs the package pyarrow, which is not installed: install it, or use CSV or JSONL."
        ) from None
    return pyarrow, pyarrow.parquet


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


def columns_there(data: bytes, file_name: str, columns: Mapping[str, str]) -> dict[str, str]:
    """Those of the columns, our name -> the file's, that the file has; none where it is no table."""
    if not columns:
        return {}
    with contextlib.suppress(InputError):  # its reader says what is wrong with it
        keys = _columns_of(data, file_name)
        has = {key.strip().casefold() for key in keys}
        return {ours: theirs for ours, theirs in columns.items() if theirs.strip().casefold() in has}
    return {}


def with_columns(data: bytes, file_name: str, columns: Mapping[str, str]) -> bytes:
    """The file with columns under the names that Assay reads.

    columns: our name -> the file's. A column of the file that bears such a name itself is kept under ASIDE. InputError
    names the columns that the file does not have.
    """
    if not columns:
        return data
    keys = _columns_of(data, file_name)
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
    if keys := _parquet_keys(data, file_name):
        _, parquet = pyarrow_for(file_name)
        buffer = io.BytesIO()
        table = parquet.read_table(io.BytesIO(data))
        parquet.write_table(table.rename_columns([names.get(key, key) for key in keys]), buffer)
        return buffer.getvalue()
    text = decode(data, file_name)
    if (renamed := _changed(text, file_name, lambda one: _renamed(one, names))) is not None:
        return renamed
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

    if (changed := _changed(text, file_name, counted)) is not None:
        return changed
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


def _parquet_keys(data: bytes, file_name: str) -> list[str]:
    """The columns of a Parquet file; none of another file, or of one that its reader will refuse."""
    if not is_parquet(data, file_name):
        return []
    arrow, parquet = pyarrow_for(file_name)
    try:
        return [str(name) for name in parquet.read_schema(io.BytesIO(data)).names]
    except (arrow.ArrowException, OSError, ValueError) as error:
        reject(file_name, [f"file: not readable as Parquet ({shown(str(error))})"])


def _columns_of(data: bytes, file_name: str) -> list[str]:
    """The names of a file's columns. InputError where it has none to name."""
    if keys := _parquet_keys(data, file_name):
        return keys
    text = decode(data, file_name)
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


def _changed(text: str, file_name: str, change: Callable[[JsonObject], dict[str, object]]) -> bytes | None:
    """The file with other objects; None: it holds none, but is a table."""
    if is_json(text, file_name):
        value, _ = parse_json(text)
        there = value if isinstance(value, list) else []
        changed = [change(one) if isinstance(one, JsonObject) else one for one in there]
        return json.dumps(changed, ensure_ascii=False).encode()
    if is_jsonl(text, file_name):
        return "".join(_changed_line(line, change) for line in io.StringIO(text, newline="")).encode()
    return None


def _renamed(one: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    return {names.get(key, key): value for key, value in one.items()}


def _changed_line(line: str, change: Callable[[JsonObject], dict[str, object]]) -> str:
    value, problem = parse_json(line)
    if problem or not isinstance(value, JsonObject) or value.duplicates:
        return line  # its reader says what is wrong with it
    return json.dumps(change(value), ensure_ascii=False) + line[len(line.rstrip("\r\n")) :]


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


SCALES: tuple[tuple[int, tuple[tuple[str, ...], ...]], ...] = (
    (0, (("fail", "failed"), ("pass", "passed"))),
    (0, (("no",), ("yes",))),
    (0, (("false",), ("true",))),
    (0, (("incorrect", "wrong"), ("correct", "right"))),
    (0, (("unsupported", "not supported"), ("supported",))),
    (0, (("unfaithful",), ("faithful",))),
    (0, (("bad",), ("good",))),
    (1, (("low",), ("medium",), ("high",))),
    (1, (("poor",), ("fair",), ("good",), ("excellent",))),
    (1, (("poor",), ("fair", "average"), ("good",), ("very good",), ("excellent",))),
    (1, (("very poor",), ("poor",), ("fair", "average"), ("good",), ("very good",))),
    (1, (("very bad",), ("bad",), ("neutral", "average"), ("good",), ("very good",))),
    (1, (("never",), ("rarely",), ("sometimes",), ("often",), ("always",))),
    (
        1,
        (
            ("strongly disagree",),
            ("disagree",),
            ("neutral", "neither agree nor disagree", "undecided"),
            ("agree",),
            ("strongly agree",),
        ),
    ),
    (
        1,
        (
            ("very dissatisfied",),
            ("dissatisfied",),
            ("neutral", "neither satisfied nor dissatisfied"),
            ("satisfied",),
            ("very satisfied",),
        ),
    ),
)
"""The number of the first class, and the classes from the worst to the best, each in the words that stand for it."""


def classes_of(words: Iterable[object]) -> dict[str, int] | None:
    """Word as it is written -> its number, where all are classes of one scale; None where they are not."""
    plain: dict[object, str] = {}
    for word in words:
        if not isinstance(word, str | bool):
            return None
        plain[word] = _plain(word)
    if not plain:
        return None
    for first, classes in SCALES:
        number = {word: first + at for at, names in enumerate(classes) for word in names}
        if all(word in number for word in plain.values()):
            return {str(word): number[name] for word, name in plain.items()}
    return None


def class_columns(records: Sequence[Record], keys: Collection[str]) -> dict[str, dict[str, int]]:
    """Columns among `keys` in which everything that is said is a class of one scale, with their classes."""
    found = {}
    for key in keys:
        said = (record.cells.get(key) for record in records)
        classes = classes_of(value for value in said if not is_undefined(value))
        if classes is not None:
            found[key] = classes
    return found


def with_classes(
    records: Sequence[Record], columns: Mapping[str, Mapping[str, int]], findings: FileFindings
) -> list[Record]:
    """The records with the numbers of their classes; which number stands for which word is noted."""
    for key, classes in columns.items():
        pairs = sorted(
            {_plain(word): number for word, number in classes.items()}.items(), key=lambda one: one[1]
        )
        findings.notes.append(
            f"column {shown(key)}: words are read as classes, {', '.join(f'{word} = {n}' for word, n in pairs)}"
        )
    return [
        replace(
            record,
            cells={
                key: columns[key].get(str(value), value)
                if key in columns and not is_undefined(value)
                else value
                for key, value in record.cells.items()
            },
        )
        for record in records
    ]


def _plain(word: str | bool) -> str:
    return " ".join(str(word).casefold().replace("_", " ").replace("-", " ").split())
