"""Read a table column by column: numbers as arrays, other cells as codes of distinct cells, and no object for a row.

What a row means is decided by the readers of rows, which are asked about each distinct cell. A table with anything unusual
is left to them, because only they know the places that messages name.
"""

import csv
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.budget import IN_ARRAYS
from core.schema.row_columns import Coded, combined, renamed, same_everywhere
from core.tables.columns import (
    LABEL_PAIR,
    Names,
    NoLabel,
    Record,
    columns_of_keys,
    csv_cells,
    csv_lines,
    csv_opened,
    is_json,
    is_jsonl,
    level_in,
    names_in,
    no_label,
)
from core.tables.parquet import parquet_table, pyarrow_for
from core.tables.problems import FileFindings
from core.tables.reading import drawing_for, numbers_in
from core.tables.writer import unguarded

_AT_ONCE = 1_000
"""Rows that are read together, column by column."""
Numbers = Mapping[str, NDArray[np.float64]]
Choose = Callable[[list[str], dict[str, str]], Collection[str]]
"""Picks columns from the keys and key -> Assay's name."""


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """A table in columns: known columns under Assay's names, other columns under their own."""

    keys: list[str]
    """Its columns, as the file writes them."""
    columns: dict[str, str]
    """Key -> Assay's name, for the columns that the reader knows."""
    header: tuple[str, ...] = ()
    """All columns in the order of the file."""
    numbers: Numbers = field(default_factory=dict)
    """Columns in which every cell is a number or undefined (NaN), and at least one a number."""
    names: Mapping[str, Coded[Any]] | None = None
    """The other columns; None: the rows must be read one by one."""

    @property
    def n_rows(self) -> int:
        """Rows below the header, if they can be read in columns."""
        columns: list[Sized] = [*self.numbers.values(), *(self.names or {}).values()]
        return len(columns[0]) if columns else 0


def csv_columns(
    text: str,
    aliases: Mapping[str, Sequence[str]],
    file_name: str,
    choose: Choose,
    unread: Collection[str] = (),
) -> ColumnTable | None:
    """The table in CSV text; None for JSON, JSONL and text that cannot be read.

    choose: picks the columns that may be numbers. Arrays take a hundredth of the memory that an object for every cell
    would take. unread: columns to leave out, by Assay's names or their own.
    """
    if is_json(text, file_name) or is_jsonl(text, file_name):
        return None
    keys, columns, house, delimiter = csv_opened(text, aliases, file_name)
    rows, wanted = csv_cells(csv_lines(text), delimiter, file_name), set(choose(keys, columns))
    drawing = drawing_for(file_name)
    try:
        header = [house.named.get(cell.strip().lower()) for cell in next(rows)[1]]
        parts = {
            place: _Part([] if name in wanted else None)
            for place, name in enumerate(header)
            if name is not None and name not in unread
        }
        while some := [cells for _, cells in islice(rows, _AT_ONCE)]:
            by_column = list(zip(header, *some, strict=True))
            drawing.draw("rows", len(some))
            drawing.draw("values", len(parts) * len(some) // IN_ARRAYS)
            for place, part in parts.items():
                drawing.draw("values", part.add(by_column[place][1:]))
    except (csv.Error, ValueError, StopIteration):
        return ColumnTable(keys, columns)
    found = {header[place] or "": part for place, part in parts.items()}
    names = {name: part.as_names() for name, part in found.items() if part.as_numbers() is None}
    plain = None not in header and len(set(header)) == len(header) and None not in names.values()
    return ColumnTable(
        keys,
        columns,
        tuple(name for name in header if name is not None),
        {name: numbers for name, part in found.items() if (numbers := part.as_numbers()) is not None},
        {name: column for name, column in names.items() if column is not None} if plain else None,
    )


@dataclass
class _Part:
    """A column while it is read: as numbers, as names, or as both until a number or a word decides."""

    numbers: list[NDArray[np.float64]] | None
    """None: not numbers."""
    places: dict[str, int] | None = field(default_factory=dict)
    """Cell -> its code; None: not names, because the column has numbers."""
    codes: list[NDArray[np.int32]] = field(default_factory=list)
    has_number: bool = False

    def add(self, cells: Sequence[str]) -> int:
        """Add the cells of some rows; returns how many different cells are new."""
        before = len(self.places or ())
        if self.numbers is not None:
            if (found := numbers_in(cells)) is None:
                self.numbers = None
            else:
                self.numbers.append(np.array(found))
                if not self.has_number and not np.isnan(self.numbers[-1]).all():
                    self.has_number, self.places = True, None
                    self.codes.clear()
        if (places := self.places) is not None:
            codes = [places.setdefault(cell, len(places)) for cell in cells]
            self.codes.append(np.array(codes, dtype=np.int32))
        return max(len(self.places or ()) - before, 0)

    def as_numbers(self) -> NDArray[np.float64] | None:
        """The whole column as numbers; None if it is not numbers."""
        return np.concatenate(self.numbers) if self.numbers and self.has_number else None

    def as_names(self) -> Coded[Any] | None:
        """The whole column as names; None if numbers were read before a word, or a cell is marked as no formula."""
        if self.places is None or any(unguarded(cell) != cell for cell in self.places):
            return None
        return Coded(np.concatenate(self.codes or [np.empty(0, dtype=np.int32)]), tuple(self.places))


def parquet_columns(
    data: bytes,
    aliases: Mapping[str, Sequence[str]],
    file_name: str,
    choose: Choose,
    unread: Collection[str] = (),
) -> ColumnTable | None:
    """The table in a Parquet file, like `csv_columns`; None if it cannot be read."""
    arrow, _ = pyarrow_for(file_name)
    try:
        table = parquet_table(data, file_name, in_objects=False)
        keys = [str(name) for name in table.column_names]
        columns = columns_of_keys(keys, aliases)
        header, wanted = tuple(columns.get(key, key) for key in keys), {*choose(keys, columns)}
        if len(set(header)) < len(header):
            return None
        numbers, names = dict[str, NDArray[np.float64]](), dict[str, Coded[Any]]()
        for name, column in zip(header, table.columns, strict=True):
            if name in unread:
                continue
            if name in wanted and (
                arrow.types.is_floating(column.type) or arrow.types.is_integer(column.type)
            ):
                values = column.cast(arrow.float64(), safe=False).to_numpy()
                if not np.isnan(values).all():
                    numbers[name] = np.array(values)
                    continue
            names[name] = _coded_by_arrow(column, arrow)
    except (arrow.ArrowException, OSError, MemoryError, ValueError, OverflowError, KeyError):
        return None
    return ColumnTable(keys, columns, header, numbers, names)


def _coded_by_arrow(column: Any, arrow: Any) -> Coded[Any]:
    """A column of pyarrow with Python's objects as its words, as the reader of rows sees them."""
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    whole = column.combine_chunks().dictionary_encode()
    if isinstance(whole, arrow.ChunkedArray):
        whole = whole.combine_chunks()
    words = whole.dictionary.to_pylist()
    codes = whole.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    return Coded(codes.astype(np.int32), (*words, None) if whole.null_count else tuple(words))


class NamedColumns(NamedTuple):
    """What `names_in` gives for each row of a table, in columns."""

    item_id: Coded[str]
    system: Coded[str | None]
    level: Coded[str | None]
    language: Coded[str]
    labels: Coded[Mapping[str, str]]


def names_of_columns(
    names: Mapping[str, Coded[Any]], labels: Sequence[str], findings: FileFindings
) -> NamedColumns | None:
    """The item, system, level, language and labels of each row; None if only the reader of rows can tell.

    Each distinct cell is read by `names_in`. Its problems go to the findings, without places.
    """
    n_rows = len(names["item_id"])
    if all(level_in(cell) for cell in names["item_id"].words):
        return None  # ids with levels are split row by row

    def read(cells: dict[str, Any]) -> Names:
        found = names_in(Record("", cells), labels, findings)
        return Names("", None, None, "und", {}) if found is None else found

    def of(column: str, name: Callable[[Names], Any]) -> Coded[Any]:
        if column not in names:
            return same_everywhere(None, n_rows)
        return renamed(
            names[column], [name(read({"item_id": "-", column: cell})) for cell in names[column].words]
        )

    item, system, level = (
        of("item_id", lambda found: found.item_id),
        of("system", lambda found: found.system),
        of("level", lambda found: found.level),
    )
    others = [column for column in (*labels, LABEL_PAIR, "language") if column in names]
    codes, first = combined([names[column] for column in others]) if others else same_codes(n_rows)
    cells = ({column: names[column].words[names[column].codes[row]] for column in others} for row in first)
    read_once = [read({"item_id": "-", **own}) for own in cells]
    whole = Coded(codes, tuple(read_once))
    return NamedColumns(
        item,
        system,
        level,
        renamed(whole, [found.language for found in read_once]),
        renamed(
            whole, [found.labels for found in read_once], key=lambda labels: tuple(sorted(labels.items()))
        ),
    )


def same_codes(n_rows: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """`combined` without a column: all rows are alike."""
    return np.zeros(n_rows, dtype=np.int32), np.zeros(1, dtype=np.int64)


def no_label_in(names: Mapping[str, Coded[Any]], odd: list[str]) -> NoLabel:
    """Function that says whether a column can be no label, without a place; adds these columns to `odd`."""

    def reason(column: str) -> str:
        words = names[column].words if column in names else ()
        found = next(filter(None, (no_label("", word) for word in words)), "")
        if found:
            odd.append(column)
        return found

    return reason
