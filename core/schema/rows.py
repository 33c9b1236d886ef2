"""Rows of a result: dataclasses whose annotated fields become columns of a table, JSON and documentation.

    @row
    class RaterRow:
        rater: str = column("the rater who is compared", names_row=True)
        p: Interval = column("one-sided p", p_value=True)
        reason: str | None = entry("why p is undefined")

A field is declared once. `table_of` makes a ResultTable of such rows, `json_of` their JSON, and `documented` what
docs/results.md says of them.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, dataclass_transform

from core.schema.result_table import Cell, Column, Heat, Interval, ResultTable

Ends = Literal["value", "beside", "object", "counted"]
"""How JSON writes a number with its interval: the number alone; with `low`, `high` and `interval_reason` beside it; or as an
object of `estimate`, `low`, `high`, `reason` and `interval_reason`, when counted also of `n` and `n_left_out`."""
_OF_A_ROW = "of a row"


@dataclass(frozen=True)
class RowField:
    """A field of a row as tables, JSON and documentation see it."""

    name: str
    """Of the dataclass's field."""
    about: str
    """What it holds, for docs/results.md: no capital letter, no full stop."""
    column: Column | None
    """None: no table shows it."""
    key: str
    """Its key in JSON; empty: JSON does not repeat it, because an outer key or another field says it."""
    ends: Ends
    keyed_by: str
    """For several rows: the field whose value is their key in a JSON object; empty: they are a list."""
    words: tuple[str, str] | None
    """What a table says for yes and no."""
    rows: type | None
    """The type of the row or rows in it, if it holds rows."""
    inlined: bool = False
    """Whether JSON holds the keys of its row in the outer object; of several rows only those of a row that is alone."""
    absent: bool = False
    """Whether JSON has its key only where there is a value."""
    spread: bool = False
    """Whether it holds a column for each name: its keys, the same in all rows of a table."""


@dataclass(frozen=True)
class _Declared:
    about: str
    column: Column | None
    key: str | None
    ends: Ends = "value"
    keyed_by: str = ""
    words: tuple[str, str] | None = None
    rows: type | None = None
    inlined: bool = False
    absent: bool = False
    spread: bool = False


def column(
    about: str,
    *,
    name: str = "",
    title: str = "",
    key: str | None = None,
    ends: Ends = "value",
    words: tuple[str, str] | None = None,
    places: int = 3,
    shown: bool = True,
    names_row: bool = False,
    heat: Heat | None = None,
    percent: bool = False,
    p_value: bool = False,
    general: bool = False,
    spread: bool = False,
) -> Any:
    """Declare a field that is a column of the table.

    about: what it holds, in words for docs/results.md. name: in files; the field's own name by default. key: in JSON; the
    field's own name by default, "" for none. ends: how JSON writes an Interval. words: of a column of yes and no, such as
    ("passed", "not passed"). spread: of a mapping whose keys are names of columns, the same in all rows. Other parameters:
    see Column.
    """
    shape = Column(name, title, places, shown, names_row, heat, percent, p_value, general)
    return field(metadata={_OF_A_ROW: _Declared(about, shape, key, ends, words=words, spread=spread)})


def entry(
    about: str,
    *,
    key: str | None = None,
    ends: Ends = "value",
    rows: type | None = None,
    keyed_by: str = "",
    inlined: bool = False,
    absent: bool = False,
) -> Any:
    """Declare a field that JSON alone holds.

    rows: the type of the row or rows in it. keyed_by: of several rows, the field whose value is their key in an object.
    inlined: whether the keys of a row, or of several rows one that is alone, stand in the outer object. absent: whether there is
    no key without a value.
    """
    declared = _Declared(about, None, key, ends, keyed_by, rows=rows, inlined=inlined, absent=absent)
    return field(metadata={_OF_A_ROW: declared})


Class = TypeVar("Class")


@dataclass_transform(frozen_default=True, field_specifiers=(column, entry, field))
def row(kind: type[Class]) -> type[Class]:
    """Make a class a frozen dataclass whose fields `column` and `entry` declare. Every field needs a value.

    Raises TypeError where two fields have the same column or JSON key, of which one would be lost.
    """
    made = dataclass(frozen=True)(kind)
    declared = row_fields(made)
    columns = [one.column.name for one in declared if one.column is not None]
    for what, names in (("column", columns), ("JSON key", [key for one in declared for key in _keys(one)])):
        if repeated := sorted(name for name, times in Counter(names).items() if times > 1):
            raise TypeError(f"{kind.__name__}: two fields have the {what} {', '.join(repeated)}")
    return made


def _keys(of: RowField) -> tuple[str, ...]:
    """Its keys in JSON."""
    beside = ("low", "high", "interval_reason") if of.ends == "beside" else ()
    return (of.key, *beside) if of.key else ()


def row_fields(row: type) -> tuple[RowField, ...]:
    """The annotated fields of a type of row, in order. Others are for computing and drawing, and no door shows them."""
    found = []
    for one in fields(row):
        declared: _Declared | None = one.metadata.get(_OF_A_ROW)
        if declared is None:
            continue
        shape = declared.column
        if shape is not None:
            shape = replace(shape, name=shape.name or one.name)
        key = one.name if declared.key is None else declared.key
        found.append(
            RowField(
                *(one.name, declared.about, shape, key),
                *(declared.ends, declared.keyed_by, declared.words, declared.rows),
                *(declared.inlined, declared.absent, declared.spread),
            )
        )
    return tuple(found)


def columns_of(
    row: type, hidden: Collection[str] = (), spread: Mapping[str, Iterable[str]] = {}
) -> tuple[Column, ...]:
    """The columns of rows of this type.

    hidden: names of columns for files alone. spread: field that is spread -> the names of its columns. Raises KeyError for an
    unknown name.
    """
    if unknown := set(hidden) - {one.column.name for one in row_fields(row) if one.column is not None}:
        raise KeyError(f"{row.__name__} has no column {', '.join(sorted(unknown))}")
    columns: list[Column] = []
    for one in row_fields(row):
        if one.column is not None:
            shape = replace(one.column, shown=False) if one.column.name in hidden else one.column
            names = spread.get(one.name, ()) if one.spread else ()
            columns += [replace(shape, name=name, title=name) for name in names] if one.spread else [shape]
    return tuple(columns)


def table_of(
    name: str,
    row: type,
    rows: Iterable[object],
    *,
    title: str = "",
    notes: tuple[str, ...] = (),
    hidden: Collection[str] = (),
) -> ResultTable:
    """A table of these rows. row: their type; hidden: as in `columns_of`."""
    rows = tuple(rows)
    shown = [one for one in row_fields(row) if one.column is not None]
    spread = {one.name: tuple(getattr(rows[0], one.name)) for one in shown if one.spread} if rows else {}
    cells = tuple(tuple(cell for one in shown for cell in _cells(one, each, spread)) for each in rows)
    return ResultTable(name, columns_of(row, hidden, spread), cells, title, notes)


def _cells(of: RowField, row: object, spread: Mapping[str, Iterable[str]]) -> Iterator[Cell]:
    value = getattr(row, of.name)
    if not of.spread:
        yield _cell(of, value)
        return
    for name in spread[of.name]:
        yield _cell(of, value[name])


def _cell(of: RowField, value: Any) -> Cell:
    if of.words is not None:
        return "" if value is None else of.words[0 if value else 1]
    value = without_numpy(value)
    if isinstance(value, bool):
        return int(value)
    cell: Cell = value
    return cell


def json_of(row: object) -> dict[str, Any]:
    """The JSON object of a row: an undefined number and an empty reason are null."""
    found: dict[str, Any] = {}
    for one in row_fields(type(row)):
        if one.key:
            found |= dict(_entries(one, getattr(row, one.name)))
    return found


def _entries(of: RowField, value: Any) -> Iterator[tuple[str, Any]]:
    if value is None and of.absent:
        return
    if isinstance(value, Interval) and of.ends in ("object", "counted"):
        counts = {"n": value.n, "n_left_out": value.n_left_out} if of.ends == "counted" else {}
        yield (
            of.key,
            {"estimate": plain(value.value), **_ends(value), "reason": value.reason or None} | counts,
        )
    elif isinstance(value, Interval):
        yield of.key, plain(value.value)
        if of.ends == "beside":
            yield from _ends(value).items()
    elif of.rows is None:
        yield of.key, plain(value)
    elif value is None:
        yield of.key, None
    elif is_dataclass(value):
        yield from json_of(value).items() if of.inlined else [(of.key, json_of(value))]
    elif of.inlined and len(value) == 1:
        yield from json_of(value[0]).items()
    elif of.keyed_by:
        names = [str(getattr(one, of.keyed_by)) for one in value]
        if len(set(names)) < len(names):
            raise ValueError(
                f"{of.name}: two rows have the same {of.keyed_by}, and JSON would hold one of them"
            )
        yield of.key, dict(zip(names, map(json_of, value), strict=True))
    else:
        yield of.key, [json_of(one) for one in value]


def _ends(cell: Interval) -> dict[str, Any]:
    return {
        "low": plain(cell.low),
        "high": plain(cell.high),
        "interval_reason": cell.interval_reason or None,
    }


def plain(value: Any) -> Any:
    """A value as JSON holds it: tuples as lists, numbers that are not finite as null, numbers of numpy as Python's own."""
    value = without_numpy(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def without_numpy(value: Any) -> Any:
    """Numbers and arrays of numpy, which only what computes imports, as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


def documented(row: type, path: str = "") -> Iterator[tuple[str, str]]:
    """Each JSON key of a type of row with what it holds, the inner ones by their path: `judges.*.per_rater[].p`."""
    for one in row_fields(row):
        if not one.key:
            continue
        at = f"{path}{one.key}"
        if one.rows is not None:
            holds_several = _holds_several(row, one.name)
            if one.inlined and not holds_several:
                yield from documented(one.rows, path)
                continue
            alone = "; one alone has its keys in the outer object instead" if one.inlined else ""
            yield at, f"{one.about}{alone}"
            several = ".*" if one.keyed_by else "[]" if holds_several else ""
            yield from documented(one.rows, f"{at}{several}.")
        elif one.ends in ("object", "counted"):
            counted = ", n and n_left_out" if one.ends == "counted" else ""
            yield (
                at,
                f"{one.about}: an object of estimate, low, high, reason{',' if counted else ' and'} interval_reason{counted}",
            )
        else:
            yield at, one.about
            if one.ends == "beside":
                yield f"{path}low, {path}high", f"the ends of the interval of {one.key}"
                yield f"{path}interval_reason", "why there is no interval"


def _holds_several(row: type, name: str) -> bool:
    kind = next(one.type for one in fields(row) if one.name == name)
    return "[" in str(kind)  # a tuple or another sequence of them; a single one is `Row` or `Row | None`
