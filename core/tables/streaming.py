"""Read tables that are too large for memory, row by row: CSV, JSONL and Parquet.

A file is read twice: `survey` finds out what only the whole file can tell, such as the keys of all JSONL objects and the
columns that can be labels. Then `records` yields the same rows as the readers of whole files.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal

from core.budget import Drawing
from core.errors import InputError
from core.tables.columns import (
    Columns,
    CsvReader,
    Record,
    allow_cells,
    columns_of_keys,
    contradicts,
    csv_opened,
    csv_records,
    is_json,
    is_jsonl,
    jsonl_objects,
    level_in,
    no_label,
    records_of_objects,
    reported,
    split_item,
)
from core.tables.containers import decode, is_plain
from core.tables.mapping import new_names, rename_columns
from core.tables.parquet import is_parquet, n_parquet_rows, parquet_file, parquet_rows
from core.tables.problems import FileFindings
from core.tables.reading import bad_bytes, drawing_for, numbers_as_json, reject

HEAD_BYTES = 1 << 20
"""First bytes of a file, by which its form is recognised; of a table up to the end of a line."""
BUFFER_BYTES = 1 << 20
Form = Literal["csv", "jsonl", "parquet"]
Object = tuple[str, Mapping[str, object]]
"""The place of a row, and its cells under the file's own names."""


def head_of(path: Path) -> bytes:
    """The first bytes of a file. Raises InputError if it cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            if len(head) < HEAD_BYTES:
                return head
            drawing = drawing_for(path.name)
            head += file.readline(drawing.left("bytes"))
            drawing.draw("bytes", len(head))
            return head
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}.") from problem


def form_of(head: bytes, file_name: str) -> Form | None:
    """The form of a table that can be read row by row; None for another file, such as a JSON list."""
    if is_parquet(head, file_name):
        return "parquet"
    if not is_plain(head):
        return None  # opened whole
    text = head.decode("utf-8-sig")
    if is_json(text, file_name):
        return None
    return "jsonl" if is_jsonl(text, file_name) else "csv"


@dataclass(frozen=True)
class Survey:
    """What only the whole file can tell."""

    n_rows: int
    keys: list[str]
    """All columns, under the names of `--columns` where it has any."""
    columns: Mapping[str, str]
    """Key -> Assay's name, for the columns that the reader knows."""
    there: list[str]
    """The columns that rows have: Assay's names, and the own names of other columns."""
    reasons: Mapping[str, str]
    """Column -> why its cells cannot be labels."""
    splits: bool
    """Whether the ids of all rows name a level; see core.tables.columns.split_item_levels."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The file's column -> its name in `keys`, where it has another."""

    def no_label(self, column: str) -> str:
        """Why a column cannot be a label; empty if it can."""
        return self.reasons.get(column, "")


@dataclass
class _Seen:
    """What was seen of the cells, row by row."""

    drawing: Drawing
    n_rows: int = 0
    keys: dict[str, None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    ids: dict[str, set[str]] | None = None
    """Columns whose cells all name a level, each with the columns that contradict it."""

    def add(self, where: str, cells: Mapping[str, object]) -> None:
        self.n_rows += 1
        for key, value in cells.items():
            if key not in self.keys:
                self.drawing.draw("columns")
                self.keys[key] = None
            if key not in self.reasons and (reason := no_label(where, value)):
                self.reasons[key] = reason
        if self.ids is None:
            self.ids = {key: set() for key in cells}
        for key in list(self.ids):
            found = level_in(cells.get(key))
            if found is None:
                del self.ids[key]
            else:
                self.ids[key].update(at for at, value in cells.items() if contradicts(value, found[1]))

    def survey(
        self, keys: list[str], columns: Mapping[str, str], house: Mapping[str, str], names: Mapping[str, str]
    ) -> Survey:
        """house: column as it was seen -> Assay's name or its own."""
        seen = {house.get(key, key): key for key in self.keys}
        others = (self.ids or {}).get(seen.get("item_id", ""))
        splits = others is not None and seen.get("level") not in others
        there = dict.fromkeys([*seen, "level"] if splits else seen)
        reasons = {house.get(key, key): why for key, why in self.reasons.items()}
        return Survey(self.n_rows, keys, columns, list(there), reasons, splits, names)


@dataclass(frozen=True)
class TableFile:
    """A table on disk. Its methods raise InputError if it cannot be read."""

    path: Path
    form: Form
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Assay's name -> the file's column, as in `--columns`."""

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @cached_property
    def sha256(self) -> str:
        """Hash of the file's bytes. With renamed columns, of this hash and the names, because other texts are read."""
        with self.path.open("rb") as file:
            own = hashlib.file_digest(file, "sha256").hexdigest()
        if not self.renamed:
            return own
        return hashlib.sha256(json.dumps([own, dict(self.renamed)], sort_keys=True).encode()).hexdigest()

    def has_more_rows(self, n: int) -> bool:
        """Whether the table has more than n rows; reads no more of the file than needed to know."""
        if self.form == "parquet":
            return n_parquet_rows(self.path, self.name) > n
        if not _has_more_lines(self.path, n):
            return False
        if self.form == "jsonl":
            return _more_than(n, (line for line in self._lines("\n") if line.strip()))
        *_, delimiter = csv_opened(self._head(), {}, self.name)
        rows = (
            cells for cells in CsvReader(self._lines(""), delimiter, self.name) if any(map(str.strip, cells))
        )
        try:
            return _more_than(n + 1, rows)  # the first is the header
        except csv.Error:
            return False  # the reader of whole files reports it

    def survey(self, aliases: Mapping[str, Sequence[str]]) -> Survey:
        """Read the file for what only the whole of it can tell. aliases: the reader's columns."""
        seen, unheard = (
            _Seen(drawing_for(self.name)),
            FileFindings(self.name, ""),
        )  # `records` reports the same problems
        if self.form == "csv":
            keys, columns, house, delimiter = csv_opened(self._head(), aliases, self.name)
            for record in self._csv_records(house, delimiter, unheard):
                seen.add(record.where, record.cells)
            return seen.survey(keys, columns, {}, {})
        for where, one in self._objects(unheard):
            seen.add(where, one)
        own = self._parquet_keys() if self.form == "parquet" else [key for key in seen.keys if key.strip()]
        names = new_names(own, self.name, self.renamed) if self.renamed else {}
        keys = [names.get(key, key) for key in own]
        columns = columns_of_keys(keys, aliases)
        house_names = {key: columns.get(name, name) for key, name in zip(own, keys, strict=True)}
        return seen.survey(keys, columns, house_names, names)

    def records(
        self, survey: Survey, aliases: Mapping[str, Sequence[str]], findings: FileFindings
    ) -> Iterator[Record]:
        """Yield the rows as readers of whole files do; add problems and notes to the findings."""
        if self.form == "csv":
            *_, house, delimiter = csv_opened(self._head(), aliases, self.name)
            rows = self._csv_records(house, delimiter, findings)
        else:
            objects = self._objects(findings)
            if names := survey.names:
                objects = (
                    (where, {names.get(key, key): cell for key, cell in one.items()})
                    for where, one in objects
                )
            rows = records_of_objects(objects, survey.keys, survey.columns, findings)
        return (split_item(row) or row for row in rows) if survey.splits else rows

    def _head(self) -> str:
        """The beginning of CSV, with the columns renamed."""
        return decode(rename_columns(self._checked_head(), self.name, self.renamed), self.name)

    def _checked_head(self) -> bytes:
        """The first bytes of a text file. Raises InputError for an empty file, or another encoding."""
        head = head_of(self.path)
        decode(head, self.name)
        return head

    def _lines(self, newline: str) -> Iterator[str]:
        """The lines of a text file; of CSV with the columns renamed."""
        head = self._checked_head()
        start = rename_columns(head, self.name, self.renamed) if self.form == "csv" else head
        allow_cells(self.path.stat().st_size + len(start))
        with self.path.open("rb") as file:
            file.seek(len(head))
            raw = io.BufferedReader(_Joined(start, file), BUFFER_BYTES)
            try:
                lines = io.TextIOWrapper(raw, encoding="utf-8-sig", newline=newline)
                if self.path.stat().st_size <= (most := drawing_for(self.name).left("bytes")):
                    yield from lines
                while line := lines.readline(most + 1):
                    drawing_for(self.name).draw("bytes", len(line))
                    yield line
            except UnicodeDecodeError:
                file.seek(0)
                reject(self.name, [bad_bytes(file)])

    def _csv_records(self, house: Columns, delimiter: str, findings: FileFindings) -> Iterator[Record]:
        return csv_records(self._lines(""), delimiter, house, findings)

    def _objects(self, findings: FileFindings) -> Iterator[Object]:
        if self.form == "jsonl":
            return reported(jsonl_objects(map(numbers_as_json, self._lines("\n")), self.name), findings)
        return self._parquet_objects()

    def _parquet_objects(self) -> Iterator[Object]:
        for at, row in enumerate(parquet_rows(self.path, self.name), start=1):
            yield f"row {at}", row

    def _parquet_keys(self) -> list[str]:
        with parquet_file(self.path, self.name) as file:
            keys = [str(name) for name in file.schema_arrow.names]
        if len(set(keys)) < len(keys):
            reject(self.name, ["file: two columns have the same name"])
        return keys


class _Joined(io.RawIOBase):
    """Bytes, and the rest of a file after them."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start, self._rest = memoryview(start), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._start:
            return int(self._rest.readinto(buffer))  # type: ignore[attr-defined]
        n = min(len(buffer), len(self._start))
        buffer[:n] = self._start[:n]
        self._start = self._start[n:]
        return n


def _has_more_lines(path: Path, n: int) -> bool:
    """Whether a file has more than n lines, however they end."""
    count = 0
    with path.open("rb") as file:
        while block := file.read(BUFFER_BYTES):
            count += block.count(b"\n") or block.count(b"\r")
            if count > n:
                return True
    return count >= n  # the last line may have no end


def _more_than(n: int, things: Iterable[object]) -> bool:
    return next(islice(things, n, None), None) is not None
