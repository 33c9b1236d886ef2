"""Columns of several score tables side by side: what several judges and metrics say of the same texts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.errors import InputError, Problems
from core.results.choices import Key, column_of, has_column, keys_of, level_key, with_directions
from core.schema.scores import Metric, ScoredRow, ScoreTable
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown

SAME_NAME = "#"
"""Between a metric's name and the number of its table, where an earlier table has a metric of that name."""
_ALWAYS = ("system", "level", "language", "dataset")
_MOST_ALIKE = 3


def merge_tables(tables: Sequence[ScoreTable]) -> ScoreTable:
    """One table with the metrics of all tables, over the texts of any of them.

    Texts are the same where item, system, level, language and data set are, as far as all tables have these; a further
    label that all have takes part where the texts of a table differ in nothing else. Levels meet under any of their
    names. Labels of one table alone, or on which tables disagree without telling texts apart, tear nothing apart; the
    latter are left out. A text that a table lacks is undefined there, `not scored in <file>`. A metric's name that an
    earlier table has gets the table's number: `bleu-4#2`. Metrics of no stated direction get the registry's first.

    Raises InputError with every problem: a table without scores, one that shares no text with any other, one in which
    several rows are the same text.
    """
    if not tables:
        raise InputError("There is nothing to put side by side: no table of scores was given.")
    names = table_names(tables)
    _check_filled(tables, names)
    if len(tables) == 1:
        return tables[0]
    directed = [with_directions(table) for table in tables]
    columns = _columns(tables)
    keys = _keys(tables, columns)
    _check_texts(tables, names, columns, keys)
    rows = {key: index for index, key in enumerate(dict.fromkeys(key for own in keys for key in own))}
    metrics, renamed = _metrics([table for table, _ in directed], names)
    values = np.full((len(rows), len(metrics)), np.nan)
    reasons: dict[tuple[int, int], str] = {}
    first = 0
    for table, name, own in zip(tables, names, keys, strict=True):
        at = np.array([rows[key] for key in own])
        block = slice(first, first + len(table.metrics))
        values[at, block] = table.values
        reasons |= {(rows[own[row]], first + metric): why for (row, metric), why in table.reasons.items()}
        for row in sorted(set(rows.values()) - set(at.tolist())):
            reasons |= {(row, metric): not_scored_in(name) for metric in range(block.start, block.stop)}
        first = block.stop
    about, left = _rows(tables, keys)
    notes = [
        *_counted(names, keys, len(rows)),
        *renamed,
        *left,
        *(
            f"{name}: {note}"
            for name, table, (_, assumed) in zip(names, tables, directed, strict=True)
            for note in (*table.notes, *assumed)
        ),
    ]
    return ScoreTable(about, metrics, values, reasons, " + ".join(names), tuple(notes))


def not_scored_in(name: str) -> str:
    """Why a text has no score whose table does not hold it."""
    return f"not scored in {name}"


def table_names(tables: Sequence[ScoreTable]) -> tuple[str, ...]:
    """What to call each table: its file, with its number where another has the same or it has none."""
    files = [shown(table.file_name) if table.file_name else "" for table in tables]
    return tuple(
        f"table {number}" if not file else file if files.count(file) == 1 else f"{file} (table {number})"
        for number, file in enumerate(files, start=1)
    )


def _check_filled(tables: Sequence[ScoreTable], names: Sequence[str]) -> None:
    empty = [
        f"{name} holds no {'metric' if table.rows else 'text'}"
        for name, table in zip(names, tables, strict=True)
        if not table.rows or not table.metrics
    ]
    if empty:
        raise InputError("There are no scores yet to put side by side", empty)


def _columns(tables: Sequence[ScoreTable]) -> tuple[str, ...]:
    """What tells texts apart, among the columns that all tables have."""
    shared = [name for name in _ALWAYS if all(has_column(table.rows, name) for table in tables)]
    columns = ["item", *shared]
    for label in {label: None for table in tables for row in table.rows for label in row.labels}:
        if label not in columns and all(has_column(table.rows, label) for table in tables):
            with_it = (*columns, label)
            if any(_n_texts(table, with_it) > _n_texts(table, columns) for table in tables):
                columns.append(label)
    return tuple(columns)


def _n_texts(table: ScoreTable, columns: Sequence[str]) -> int:
    return len({tuple(column_of(row, name) for name in columns) for row in table.rows})


def _keys(tables: Sequence[ScoreTable], columns: Sequence[str]) -> list[list[Key]]:
    """A key a row and table; what a row leaves blank is filled from the item's other rows, whatever their table."""
    rows = [row for table in tables for row in table.rows]
    all_keys = keys_of(rows, columns)
    keys, begin = [], 0
    for table in tables:
        keys.append(all_keys[begin : begin + len(table.rows)])
        begin += len(table.rows)
    return keys


def _check_texts(
    tables: Sequence[ScoreTable], names: Sequence[str], columns: Sequence[str], keys: Sequence[Sequence[Key]]
) -> None:
    problems = Problems()
    for number, (table, name, own) in enumerate(zip(tables, names, keys, strict=True)):
        problems += _listed_twice(table, name, own)
        others = {key for k, theirs in enumerate(keys) if k != number for key in theirs}
        if others.isdisjoint(own):
            example = ", ".join(
                f"{column} {shown(str(column_of(table.rows[0], column)))}" for column in columns
            )
            problems.append(f"{name} shares no text with the others; it names, for example, {example}")
    if problems:
        raise InputError(
            f"Scores stand side by side only for the same texts: {_listed(columns)} must be written alike",
            problems,
        )


def _listed_twice(table: ScoreTable, name: str, keys: Sequence[Key]) -> list[str]:
    """A problem where several rows are one text, with what tells them apart that other tables lack."""
    counts = Counter(keys)
    twice = [key for key, n in counts.items() if n > 1]
    if not twice:
        return []
    rows = [row for row, key in zip(table.rows, keys, strict=True) if key == twice[0]]
    own = ("system", "level", "language", *{label: None for row in rows for label in row.labels})
    differ = [column for column in own if len({column_of(row, column) for row in rows}) > 1]
    items = list(dict.fromkeys(shown(str(key[0])) for key in twice))
    more = f" and {len(items) - _MOST_ALIKE} more" if len(items) > _MOST_ALIKE else ""
    end = (
        f"which differ in {_listed(differ)}: the other tables need {differ[0]}, too, or leave all but one out"
        if differ
        else "which differ in nothing: leave all but one out"
    )
    return [f"{name}: item {', '.join(items[:_MOST_ALIKE])}{more} has several rows of one text, {end}"]


def _metrics(tables: Sequence[ScoreTable], names: Sequence[str]) -> tuple[tuple[Metric, ...], list[str]]:
    """All metrics under names of their own, and which were renamed."""
    metrics: list[Metric] = []
    notes = []
    taken = {metric.name for table in tables for metric in table.metrics}
    met: set[str] = set()
    for number, (table, name) in enumerate(zip(tables, names, strict=True), start=1):
        for metric in table.metrics:
            called, suffix = metric.name, f"{SAME_NAME}{number}"
            while called in met or (called != metric.name and called in taken):
                called += suffix
            if called != metric.name:
                notes.append(f"{shown(metric.name)} of {name} is called {shown(called)} here")
            metrics.append(replace(metric, name=called))
            met.add(called)
    return tuple(metrics), notes


def _rows(
    tables: Sequence[ScoreTable], keys: Sequence[Sequence[Key]]
) -> tuple[tuple[ScoredRow, ...], list[str]]:
    """Whose text each merged row is, as the first table that says it, and what was left out of it."""
    members: dict[Key, list[ScoredRow]] = {}
    spelled: dict[str | float | None, str | None] = {None: None}
    for table, own in zip(tables, keys, strict=True):
        for row, key in zip(table.rows, own, strict=True):
            members.setdefault(key, []).append(row)
            spelled.setdefault(level_key(row.level), row.level)
    torn = {
        label: None
        for rows in members.values()
        for label in {label: None for row in rows for label in row.labels}
        if len({row.labels[label] for row in rows if row.labels.get(label)}) > 1
    }
    found = tuple(
        ScoredRow(
            item_id=rows[0].item_id,
            system=next((row.system for row in rows if row.system != ONLY_SYSTEM), ONLY_SYSTEM),
            level=next((spelled[level_key(row.level)] for row in rows if row.level is not None), None),
            language=next((row.language for row in rows if row.language != "und"), "und"),
            labels={
                label: value
                for row in rows
                for label, value in row.labels.items()
                if label not in torn and value
            },
        )
        for rows in members.values()
    )
    return found, [f"label {shown(label)} differs between the tables and is left out" for label in torn]


def _counted(names: Sequence[str], keys: Sequence[Sequence[Key]], n_rows: int) -> list[str]:
    """How many texts all tables have, and how many each lacks."""
    sets = [set(own) for own in keys]
    n_all = len(set.intersection(*sets))
    lacking = [f"{n_rows - len(own)} not in {name}" for own, name in zip(sets, names, strict=True)]
    short = [text for text, own in zip(lacking, sets, strict=True) if len(own) < n_rows]
    return [
        f"{n_all} of {n_rows} texts are in all {len(names)} tables"
        + (f"; {', '.join(short)}" if short else "")
    ]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
