"""Rows of scores and of ratings by their columns: groups of them, and which belong to one item."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.datasets.open_tables import ONLY_SYSTEM
from core.datasets.score_tables import level_number
from core.schema.scores import Rating, ScoredRow, ScoreTable

Named = ScoredRow | Rating
Key = tuple[object, ...]

_BLANK = (None, "", "und")
NO_VALUE = "(none)"
"""What a group is called whose rows lack the column."""


def column_of(row: Named, name: str) -> str | None:
    """The row's value in a column: item, system, level, language, or a label."""
    if name == "item":
        return row.item_id
    if name in ("system", "level"):
        return row.system if name == "system" else row.level
    return row.language if name == "language" else row.labels.get(name)


def level_key(level: str | None) -> str | float | None:
    """So that A3, 3 and L3 meet."""
    number = level_number(level)
    return level if number is None else number


def has_column(rows: Sequence[Named], name: str) -> bool:
    """Whether any row says something in a column; the only system and an unknown language say nothing."""
    absent = {"language": "und", "system": ONLY_SYSTEM}.get(name, "")
    return any(column_of(row, name) not in (None, "", absent) for row in rows)


def group_columns(table: ScoreTable) -> tuple[str, ...]:
    """The columns by which rows can be grouped."""
    labels = {label: None for row in table.rows for label in row.labels}
    return ("system", "level", "language", *labels)


def items_of(rows: Sequence[Named]) -> NDArray[np.int64]:
    """A number for each row's item: its id, within its data set and language. What is resampled.

    A row that leaves data set or language blank belongs to the item of that id, where there is only one.
    """
    numbers: dict[Key, int] = {}
    columns = (values_of(rows, "dataset"), values_of(rows, "language"))
    keys = ((row.item_id, *own) for row, *own in zip(rows, *columns, strict=True))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def values_of(rows: Sequence[Named], column: str) -> list[str | None]:
    """Each row's value in a column that may be blank: then what the item's other rows say, if they agree."""
    own = [None if (value := column_of(row, column)) in _BLANK else value for row in rows]
    if None not in own:
        return own
    said: dict[str, set[str]] = {}
    for row, value in zip(rows, own, strict=True):
        if value is not None:
            said.setdefault(row.item_id, set()).add(value)
    only = {item: next(iter(values)) for item, values in said.items() if len(values) == 1}
    return [only.get(row.item_id) if value is None else value for row, value in zip(rows, own, strict=True)]


def keys_of(rows: Sequence[Named], columns: Sequence[str]) -> list[Key]:
    """What tells each row's text: item and system as they are, levels under any name, other blanks filled (`values_of`)."""
    values = [
        [level_key(row.level) for row in rows]
        if name == "level"
        else [column_of(row, name) for row in rows]
        if name in ("item", "system")
        else values_of(rows, name)
        for name in columns
    ]
    return list(zip(*values, strict=True)) if rows else []


def names_of(rows: Sequence[Named], column: str) -> NDArray[np.str_]:
    """Each row's value in a column, `NO_VALUE` where it has none."""
    return np.array([column_of(row, column) or NO_VALUE for row in rows], dtype=str)


def rows_by(rows: Sequence[Named], columns: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Combinations of the columns' values, in the order met, with the rows that have them; no column: all rows."""
    values = [names_of(rows, column).tolist() for column in columns]
    members: dict[tuple[str, ...], list[int]] = {}
    for index in range(len(rows)):
        members.setdefault(tuple(column[index] for column in values), []).append(index)
    return members


def columns_at(table: ScoreTable, places: Sequence[int]) -> ScoreTable:
    """Some metrics of a table, in the order given, with their reasons."""
    new = {place: number for number, place in enumerate(places)}
    return replace(
        table,
        metrics=tuple(table.metrics[place] for place in places),
        values=table.values[:, list(places)],
        reasons={(r, new[m]): reason for (r, m), reason in table.reasons.items() if m in new},
    )


def rows_at(table: ScoreTable, indices: Sequence[int]) -> ScoreTable:
    """Some rows of a table, in the order given, with their reasons."""
    place = {index: new for new, index in enumerate(indices)}
    return replace(
        table,
        rows=tuple(table.rows[index] for index in indices),
        values=table.values[list(indices)],
        reasons={(place[r], m): reason for (r, m), reason in table.reasons.items() if r in place},
        notes=(),
        left_out=(),
    )
