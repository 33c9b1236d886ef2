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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal, TypeVar, dataclass_transform

from core.schema.result_table import Cell, Column, Heat, Interval, ResultTable

Ends = Literal["value", "beside", "object", "counted", "inline"]
"""How JSON writes a number with its interval: the number alone; with `low`, `high` and `interval_reason` beside it; as an
object of `estimate`, `low`, `high`, `reason`, `interval_reason` and what Interval.how says; as such an object with `n` and
`n_left_out`, too; or inline, the entries of that object in the object of the row itself."""
WHOLE = "*"
"""In place of a JSON key: the rows of this field are the whole JSON, a list."""
_OF_A_ROW = "of a row"
_MANY = 12
"""Fields from which a type of row is described once, wherever else it stands."""


@dataclass(frozen=True)
class RowField:
    """A field of a row as tables, JSON and documentation see it."""

    name: str
    """Of the dataclass's field."""
    about: str
    """What it holds, for docs/results.md: no capital letter, no full stop."""
    column: Column | None
    """None: no table shows it. Of `columns` and `cells`: what their columns have in common."""
    key: str
    """Its key in JSON; empty: JSON does not repeat it, because an outer key or another field says it."""
    ends: Ends
    keyed_by: str
    """For several rows: the field whose value is their key in a JSON object; empty: they are a list."""
    words: tuple[str, str] | tuple[bool, bool] | None
    """What a table says for yes and no."""
    rows: type | None
    """The type of the row or rows in it, if it holds rows."""
    inlined: bool = False
    """Whether JSON holds the keys of its row in the outer object; of several rows only those of a row that is alone."""
    by_name: bool = False
    """Whether it maps names to cells, each of which is a column."""
    inner: bool = False
    """Whether it holds a row whose columns stand in this table."""
    optional: bool = False
    """Whether JSON has no such key where it is None."""
    parts: tuple["RowField", ...] = ()
    """Of a mapping: names that are columns in every table, as fields of their own."""
    flat: bool = False
    """Of a mapping: whether JSON holds each name as a key of the row itself."""


@dataclass(frozen=True)
class _Declared:
    about: str
    column: Column | None
    key: str | None
    ends: Ends = "value"
    keyed_by: str = ""
    words: tuple[str, str] | tuple[bool, bool] | None = None
    rows: type | None = None
    inlined: bool = False
    by_name: bool = False
    inner: bool = False
    optional: bool = False
    parts: Mapping[str, Any] = field(default_factory=dict)
    flat: bool = False


def column(
    about: str,
    *,
    name: str = "",
    title: str = "",
    key: str | None = None,
    ends: Ends = "value",
    words: tuple[str, str] | tuple[bool, bool] | None = None,
    places: int = 3,
    shown: bool = True,
    names_row: bool = False,
    heat: Heat | None = None,
    percent: bool = False,
    p_value: bool = False,
    general: bool = False,
    long: bool = False,
) -> Any:
    """Declare a field that is a column of the table.

    about: what it holds, in words for docs/results.md. name: in files; the field's own name by default. key: in JSON; the
    field's own name by default, "" for none. ends: how JSON writes an Interval. words: of a column of yes and no, such as
    ("passed", "not passed"); (True, False) writes `true` and `false` in files, where without words they are 1 and 0. Other parameters: see Column.
    """
    shape = Column(name, title, places, shown, names_row, heat, percent, p_value, general, long)
    return field(metadata={_OF_A_ROW: _Declared(about, shape, key, ends, words=words)})


def entry(
    about: str,
    *,
    key: str | None = None,
    ends: Ends = "value",
    rows: type | None = None,
    keyed_by: str = "",
    inlined: bool = False,
    optional: bool = False,
) -> Any:
    """Declare a field that JSON alone holds.

    rows: the type of the row or rows in it. keyed_by: of several rows, the field whose value is their key in an object. optional:
    whether JSON has no such key where the field is None.
    inlined: whether the keys of a row, or of several rows one that is alone, stand in the outer object.
    key: WHOLE for a result whose JSON is the list of these rows. Where another entry is not None, JSON is an object, in which
    they have the field's name.
    """
    declared = _Declared(about, None, key, ends, keyed_by, rows=rows, inlined=inlined, optional=optional)
    return field(metadata={_OF_A_ROW: declared})


def columns(
    about: str,
    parts: Mapping[str, Any] = MappingProxyType({}),
    *,
    key: str | None = None,
    names_row: bool = False,
    shown: bool = True,
    places: int = 3,
    general: bool = False,
    long: bool = False,
    flat: bool = False,
) -> Any:
    """Declare a field that maps names, such as those of the user's labels, to cells: each name is a column.

    A row without a name has an empty cell there. parts: name -> `column(...)`, of columns that every table has, in their order;
    those of other names follow in the order in which names appear. JSON holds the mapping, or if `flat` its names as keys of the
    row itself.
    """
    shape = Column("", places=places, names_row=names_row, shown=shown, general=general, long=long)
    return field(metadata={_OF_A_ROW: _Declared(about, shape, key, by_name=True, parts=parts, flat=flat)})


def cells(about: str, *, rows: type, key: str | None = None, name: str = "") -> Any:
    """Declare a field that holds a row whose columns stand in this table, their names behind the field's, or behind `name`.

    The inner row's column `value` has that name alone. JSON holds the inner row as an object.
    """
    return field(metadata={_OF_A_ROW: _Declared(about, Column(name), key, rows=rows, inner=True)})


Class = TypeVar("Class")


@dataclass_transform(frozen_default=True, field_specifiers=(column, columns, cells, entry, field))
def row(kind: type[Class]) -> type[Class]:
    """Make a class a frozen dataclass whose fields `column` and `entry` declare. Every field needs a value.

    Raises TypeError where two fields have the same column or JSON key, of which one would be lost.
    """
    made = dataclass(frozen=True)(kind)
    declared = row_fields(made)
    fixed = [own for one in declared for own in (one.parts if one.by_name else () if one.inner else (one,))]
    columns = [one.column.name for one in fixed if one.column is not None]
    for what, names in (("column", columns), ("JSON key", [key for one in declared for key in _keys(one)])):
        if repeated := sorted(name for name, times in Counter(names).items() if times > 1):
            raise TypeError(f"{kind.__name__}: two fields have the {what} {', '.join(repeated)}")
    return made


def _keys(of: RowField) -> tuple[str, ...]:
    """Its keys in JSON."""
    if not of.key:
        return ()
    if of.ends == "inline":
        return _ENDS
    return (of.key, *(("low", "high", "interval_reason") if of.ends == "beside" else ()))


_ENDS = ("estimate", "low", "high", "reason", "interval_reason")


def row_fields(row: type) -> tuple[RowField, ...]:
    """The annotated fields of a type of row, in order. Others are for computing and drawing, and no door shows them."""
    declared = ((one.name, one.metadata.get(_OF_A_ROW)) for one in fields(row))
    return tuple(_row_field(name, one) for name, one in declared if one is not None)


def _row_field(name: str, declared: _Declared) -> RowField:
    shape = declared.column
    if shape is not None:
        shape = replace(shape, name=shape.name or name)
    parts = tuple(_row_field(part, one.metadata[_OF_A_ROW]) for part, one in declared.parts.items())
    return RowField(
        *(name, declared.about, shape, name if declared.key is None else declared.key),
        *(declared.ends, declared.keyed_by, declared.words, declared.rows),
        *(declared.inlined, declared.by_name, declared.inner, declared.optional),
        parts=parts,
        flat=declared.flat,
    )


def columns_of(
    row: type,
    hidden: Collection[str] = (),
    shaped: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    rows: Iterable[object] = (),
) -> tuple[Column, ...]:
    """The columns of rows of this type.

    hidden: names of columns for files alone. shaped: name of a column -> what of it differs in this result, such as its title.
    rows: those of which `columns` names some columns. Raises KeyError for an unknown name.
    """
    changes: dict[str, dict[str, Any]] = {name: dict(of) for name, of in (shaped or {}).items()}
    for name in hidden:
        changes.setdefault(name, {}).update(
            shown=False, names_row=False
        )  # notes name rows by what readers see
    declared = [one for one, _ in _laid_out(row, list(rows))]
    if unknown := changes.keys() - {one.name for one in declared}:
        raise KeyError(f"{row.__name__} has no column {', '.join(sorted(unknown))}")
    return tuple(replace(one, **changes.get(one.name, {})) for one in declared)


def _laid_out(row: type, rows: Sequence[Any]) -> Iterator[tuple[Column, Callable[[Any], Cell]]]:
    """Each column with what gives its cell of a row. rows: as in `columns_of`."""
    for one in row_fields(row):
        if one.column is None:
            continue
        held = attrgetter(one.name)
        if one.by_name:
            names = dict.fromkeys(name for each in rows for name in held(each))
            for part in one.parts:
                if part.column is not None:
                    yield part.column, partial(_named_cell, held, part.name)
            fixed = {part.name for part in one.parts}
            for name in (name for name in names if name not in fixed):
                yield replace(one.column, name=name, title=name), partial(_named_cell, held, name)
        elif one.inner and one.rows is not None:
            for inner, cell in _laid_out(one.rows, [held(each) for each in rows]):
                name = one.column.name if inner.name == "value" else f"{one.column.name}_{inner.name}"
                yield replace(inner, name=name), partial(_inner_cell, held, cell)
        else:
            yield one.column, partial(_field_cell, held, one)


def _named_cell(held: Callable[[Any], Mapping[str, Cell]], name: str, row: object) -> Cell:
    return held(row).get(name)


def _inner_cell(held: Callable[[Any], Any], cell: Callable[[Any], Cell], row: object) -> Cell:
    return cell(held(row))


def _field_cell(held: Callable[[Any], Any], of: RowField, row: object) -> Cell:
    return _cell(of, held(row))


def table_of(
    name: str,
    row: type,
    rows: Iterable[object],
    *,
    title: str = "",
    notes: tuple[str, ...] = (),
    hidden: Collection[str] = (),
    shaped: Mapping[str, Mapping[str, Any]] | None = None,
    marked: Collection[object] = (),
    mark: str = "",
) -> ResultTable:
    """A table of these rows. row: their type; hidden, shaped: as in `columns_of`. marked: those of the rows that are; mark: what
    they are.
    """
    held = list(rows)
    shown = columns_of(row, hidden, shaped, rows=held)
    laid_out = [cell for _, cell in _laid_out(row, held)]
    return ResultTable(
        name,
        shown,
        tuple(tuple(cell(each) for cell in laid_out) for each in held),
        title,
        notes,
        marked=tuple(at for at, each in enumerate(held) if any(each is one for one in marked)),
        mark=mark,
    )


def _cell(of: RowField, value: Any) -> Cell:
    if of.words is not None:
        return "" if value is None else of.words[0 if value else 1]
    value = python_value(value)
    if isinstance(value, bool):
        return int(value)
    cell: Cell = value
    return cell


def result_json(result: object) -> Any:
    """The JSON of a result: an object as of a row, or the list of the rows that are all of it."""
    whole = _whole(result)
    found = result_entries(result)
    return found[whole] if [*found] == [whole] else found


def result_entries(result: object) -> dict[str, Any]:
    """The JSON object of a result. Of one whose JSON may be a list: without entries that it does not have."""
    whole = _whole(result)
    found = json_of(result)
    return (
        {whole: found.pop(WHOLE), **{key: one for key, one in found.items() if one is not None}}
        if whole
        else found
    )


def _whole(result: object) -> str:
    """The field whose rows may be all of a result's JSON; empty: none."""
    return next((one.name for one in row_fields(type(result)) if one.key == WHOLE), "")


def json_of(row: object) -> dict[str, Any]:
    """The JSON object of a row: an undefined number and an empty reason are null."""
    found: dict[str, Any] = {}
    for one in row_fields(type(row)):
        value = getattr(row, one.name)
        if one.key and not (one.optional and value is None):
            found |= dict(_entries(one, value))
    return found


def _entries(of: RowField, value: Any) -> Iterator[tuple[str, Any]]:
    if of.flat:
        yield from ((name, plain(one)) for name, one in value.items())
        return
    if isinstance(value, Interval) and of.ends in ("object", "counted", "inline"):
        found = {
            "estimate": plain(value.value),
            **_ends(value),
            "reason": value.reason or None,
            **({"n": plain(value.n), "n_left_out": plain(value.n_left_out)} if of.ends == "counted" else {}),
            **{name: plain(one) for name, one in value.how},
        }
        yield from found.items() if of.ends == "inline" else [(of.key, found)]
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
        yield of.key, _list_of(value)


def _list_of(rows: Iterable[object]) -> list[Any]:
    """The rows as JSON objects; rows of a matrix stay lists of them."""
    return [_list_of(one) if isinstance(one, tuple) else json_of(one) for one in rows]


def _ends(cell: Interval) -> dict[str, Any]:
    return {
        "low": plain(cell.low),
        "high": plain(cell.high),
        "interval_reason": cell.interval_reason or None,
    }


def plain(value: Any) -> Any:
    """A value as JSON holds it: tuples as lists, numbers that are not finite as null, numbers of numpy as Python's own."""
    value = python_value(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value


def python_value(value: Any) -> Any:
    """Numbers and arrays of numpy, which only what computes imports, as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


@dataclass(frozen=True)
class ColumnAbout:
    """A column as documents describe it."""

    name: str
    """`*` where each name of the user's is a column."""
    heading: str
    """What readers see above it; empty: they do not see it."""
    about: str


def documented_columns(row: type, prefix: str = "") -> Iterator[ColumnAbout]:
    """Each column of rows of this type, with what it holds. prefix: of a row within another."""
    declared = (own for one in row_fields(row) for own in one.parts or (one,))
    for one in declared:
        if one.column is None:
            continue
        if one.inner and one.rows is not None:
            yield from documented_columns(one.rows, one.column.name)
            continue
        name = "*" if one.by_name else one.column.name
        if prefix:
            name = prefix if name == "value" else f"{prefix}_{name}"
        heading = replace(one.column, name=name).heading
        yield ColumnAbout(name, heading if one.column.shown else "", one.about)


def documented(row: type) -> Iterator[tuple[str, str]]:
    """Each JSON key of a type of row with what it holds, the inner ones by their path: `judges.*.per_rater[].p`.

    Many keys of a type of row that stands in several places are described at the first.
    """
    yield from _documented(row, "", {})


def _documented(row: type, path: str, known: dict[type, str]) -> Iterator[tuple[str, str]]:
    for one in row_fields(row):
        if not one.key:
            continue
        at = f"{path}{'*' if one.flat else one.key}"
        if one.rows is not None:
            depth = _depth(row, one.name)
            if one.inlined and not depth:
                yield from _documented(one.rows, path, known)
                continue
            several = ".*" if one.keyed_by else "[]" * depth
            at, inner = ("[]", "[]") if one.key == WHOLE else (at, f"{at}{several}")
            alone = "; one alone has its keys in the outer object instead" if one.inlined else ""
            if one.rows in known:
                yield at, f"{one.about}, with the keys of `{known[one.rows]}`{alone}"
                continue
            if len(row_fields(one.rows)) >= _MANY:
                known[one.rows] = inner
            yield at, f"{one.about}{alone}"
            yield from _documented(one.rows, f"{inner}.", known)
        elif one.ends == "inline":
            yield ", ".join(f"{path}{name}" for name in _ENDS), one.about
        elif one.ends in ("object", "counted"):
            counts = ", n and n_left_out" if one.ends == "counted" else ""
            keys = (
                "estimate, low, high, reason, interval_reason"
                if counts
                else "estimate, low, high, reason and interval_reason"
            )
            yield at, f"{one.about}: an object of {keys}{counts}"
        else:
            yield at, one.about
            if one.ends == "beside":
                yield f"{path}low, {path}high", f"the ends of the interval of {one.key}"
                yield f"{path}interval_reason", "why there is no interval"


def _depth(row: type, name: str) -> int:
    """How many sequences stand around each row of a field: 0 of a single one, 1 of several, 2 of a matrix."""
    return str(next(one.type for one in fields(row) if one.name == name)).count("[")
