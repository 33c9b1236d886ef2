"""The folder of a big table (core.schema.big_tables): its texts, and a part of scores for each finished chunk of rows."""

import glob
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.joining.choices import NO_VALUE, check_names
from core.results.cells import plain
from core.schema.big_tables import TEXTS_FILE, part_name
from core.schema.result_table import Column, ResultTable
from core.schema.scores import Metric
from core.scratch import scratch_folder
from core.tables.columns import LABEL_MARK, level_number

if TYPE_CHECKING:
    import duckdb

MEMORY_MB = 512
"""Memory of DuckDB's own; larger sorts and groups go to a temporary folder on disk."""
COLUMNS = ("item", "system", "level", "language")
"""Columns of every table; any other name is that of a label."""
_OWN = {"item": "item_id", "system": "system", "level": "level", "language": "language"}


@dataclass(frozen=True)
class BigTable:
    """A big table as it stood when it was opened: parts that are finished later do not belong to it."""

    name: str
    """What messages call it, such as `Run 3`."""
    folder: Path
    metrics: tuple[Metric, ...]
    parts: tuple[Path, ...]
    n_scored: int
    """Rows with scores, or with reasons why they have none."""
    n_rows: int
    """Rows of the whole table."""

    @property
    def is_complete(self) -> bool:
        """Whether every row is scored."""
        return self.n_scored == self.n_rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What readers of any number must know while rows are missing."""
        if self.is_complete:
            return ()
        return (
            f"Not complete: {self.n_scored:,} of {self.n_rows:,} rows are scored. The numbers below are about these rows alone.",
        )

    def metric_named(self, names: Sequence[str]) -> tuple[Metric, ...]:
        """The chosen metrics in the order of the table; all without a name. Raises InputError for unknown names."""
        check_names("metric", names, [one.name for one in self.metrics])
        return tuple(one for one in self.metrics if not names or one.name in names)


def open_table(name: str, folder: Path, metrics: Sequence[Metric], chunks: Iterable[int]) -> BigTable:
    """Open the folder of a big table. chunks: those that are finished. Raises InputError if a file is missing or unreadable."""
    parts = tuple(folder / part_name(chunk) for chunk in sorted(chunks))
    if missing := [file for file in (folder / TEXTS_FILE, *parts) if not file.is_file()]:
        raise InputError(
            f"{name}: {missing[0]} is missing, and {len(missing) - 1:,} more files. Score the file again, or restore the folder."
            if len(missing) > 1
            else f"{name}: {missing[0]} is missing. Score the file again, or restore the folder."
        )
    table = BigTable(name, folder, tuple(metrics), parts, 0, 0)
    with connected(table) as database:
        counts = [
            database.execute(f"SELECT count(*) FROM {view}").fetchall()[0][0] if there else 0
            for view, there in (("scores", bool(parts)), ("texts", True))
        ]
    return BigTable(name, folder, table.metrics, parts, *counts)


@contextmanager
def connected(table: BigTable) -> Iterator["duckdb.DuckDBPyConnection"]:
    """A connection with the views `scores` (if a part is finished) and `texts`. Raises InputError for unreadable files.

    One thread, so that sums are added in the same order each time and a number never changes in its last digit.
    """
    import duckdb  # imported lazily: only big tables need it

    with scratch_folder() as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "threads": "1",
            "memory_limit": f"{MEMORY_MB}MB",
            "temp_directory": str(spill),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        try:
            with duckdb.connect(config=settings) as database:
                for view, files in (("scores", table.parts), ("texts", (table.folder / TEXTS_FILE,))):
                    if files:
                        listed = ", ".join(_literal(glob.escape(str(file))) for file in files)
                        database.execute(f"CREATE VIEW {view} AS SELECT * FROM read_parquet([{listed}])")
                yield database
        except (duckdb.IOException, duckdb.InvalidInputException, duckdb.OutOfMemoryException) as problem:
            said = str(problem).splitlines()[0]
            raise InputError(f"{table.name}: the table in {table.folder} cannot be read: {said}") from problem


def check_scored(table: BigTable) -> None:
    """Raise InputError if no row is scored yet."""
    if not table.parts:
        raise InputError(
            f"{table.name}: no row is scored yet. Its first chunk is still at work, or it was never started."
        )


def quoted(name: str) -> str:
    """A column's name in SQL."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _literal(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def value_of(column: str) -> str:
    """SQL for a row's value in a column or under a label; NULL without one."""
    if column in _OWN:
        return f"nullif({_OWN[column]}, '')"
    pointer = "/" + column.replace("~", "~0").replace("/", "~1")
    return f"nullif(json_extract_string(labels, {_literal(pointer)}), '')"


def group_of(column: str) -> str:
    """SQL for the group of a row: its value, or NO_VALUE without one."""
    return f"coalesce({value_of(column)}, {_literal(NO_VALUE)})"


def labels_of(table: BigTable) -> tuple[str, ...]:
    """The names of all labels, in the order of the alphabet."""
    if not table.parts:
        return ()
    with connected(table) as database:
        found = database.execute(
            "SELECT DISTINCT unnest(json_keys(labels)) AS label FROM (SELECT DISTINCT labels FROM scores) ORDER BY 1"
        )
        return tuple(row[0] for row in found.fetchall())


def check_columns(table: BigTable, columns: Sequence[str]) -> None:
    """Raise InputError for a column that is neither one of COLUMNS nor a label."""
    if not set(columns) <= set(COLUMNS):
        check_names("column", columns, [*COLUMNS, *labels_of(table)])


def values_of(table: BigTable, column: str, most: int) -> tuple[str, ...]:
    """The values of a column, levels by their number and others in the order of the table; at most `most`."""
    if not table.parts:
        return ()
    with connected(table) as database:
        found = database.execute(
            f"SELECT {group_of(column)}, min(row) FROM scores GROUP BY 1 ORDER BY 2 LIMIT {most:d}"
        ).fetchall()
    names = [name for name, _ in found]
    return tuple(sorted(names, key=level_place) if column == "level" else names)


def label_column(label: str, taken: Collection[str]) -> str:
    """The name of a label's column in a table: marked, as in files of scores, if another column has this name."""
    return f"{LABEL_MARK}{label}" if label in taken or label.startswith(LABEL_MARK) else label


def level_place(level: str) -> tuple[bool, float, str]:
    """Where a level stands among others: by its number, and those without a number last."""
    number = level_number(level)
    return number is None, number or 0.0, level


@dataclass(frozen=True)
class ScoredText:
    """One text with its scores."""

    row: int
    """Its place in the file, from 0."""
    item: str
    system: str
    level: str | None
    language: str
    text: str
    reference: str | None
    source: str | None
    labels: Mapping[str, str]
    scores: Mapping[str, float | None]
    """Metric -> score; None if undefined."""
    reasons: Mapping[str, str]
    """Metric -> why its score is undefined."""


@dataclass(frozen=True)
class TextQuery:
    """Which texts of a big table to show, and in which order."""

    where: Mapping[str, str] = field(default_factory=dict)
    """Column or label -> value that a text must have."""
    sort: str | None = None
    """Metric to sort by; None: the order of the file. Undefined scores come last."""
    descending: bool = False
    offset: int = 0
    limit: int = 50


def texts_page(table: BigTable, query: TextQuery) -> tuple[tuple[ScoredText, ...], int]:
    """One page of texts, and how many texts there are in total. Raises InputError for unknown columns and metrics."""
    check_scored(table)
    check_columns(table, [*query.where])
    table.metric_named([query.sort] if query.sort is not None else [])
    conditions = " AND ".join(f"{group_of(name)} = ?" for name in query.where) or "true"
    values = [*query.where.values()]
    order = "row" if query.sort is None else _order(query.sort, query.descending)
    scores = "".join(f", {quoted(metric.name)}" for metric in table.metrics)
    with connected(table) as database:
        total = table.n_scored
        if query.where:
            total = database.execute(f"SELECT count(*) FROM scores WHERE {conditions}", values).fetchall()[0][
                0
            ]
        # The places first: a sort of whole rows would read every column of every part.
        places = database.execute(
            f"SELECT row FROM scores WHERE {conditions} ORDER BY {order} LIMIT {query.limit:d} OFFSET {query.offset:d}",
            values,
        ).fetchall()
        rows = [place for (place,) in places]
        if not rows:
            return (), total
        chosen = f"row IN ({', '.join(map(str, rows))})"
        scored = database.execute(
            f"SELECT row, item_id, system, level, language, labels, reasons{scores} FROM scores WHERE {chosen}"
        ).fetchall()
        texts = database.execute(f"SELECT row, text, reference, source FROM texts WHERE {chosen}").fetchall()
    by_row = {own[0]: own for own in scored}
    texts_by_row = {own[0]: own[1:] for own in texts}
    return tuple(_text_row(table, by_row[row], texts_by_row[row]) for row in rows), total


def _order(metric: str, descending: bool) -> str:
    return f"{quoted(metric)} {'DESC' if descending else 'ASC'} NULLS LAST, row"


def _text_row(table: BigTable, scored: Sequence[Any], texts: Sequence[Any]) -> ScoredText:
    row, item, system, level, language, labels, reasons, *scores = scored
    text, reference, source = texts
    return ScoredText(
        *(row, item, system, level, language, text, reference, source),
        labels=json.loads(labels) if labels else {},
        scores={metric.name: score for metric, score in zip(table.metrics, scores, strict=True)},
        reasons=json.loads(reasons) if reasons else {},
    )


def texts_table(
    texts: Sequence[ScoredText], metrics: Sequence[Metric], total: int, query: TextQuery
) -> ResultTable:
    """One row for each text of a page. metrics: those to show."""
    labels = list(dict.fromkeys(name for one in texts for name in one.labels))
    first, last = query.offset + 1, query.offset + len(texts)
    undefined = [_undefined(one, metrics) for one in texts]
    taken = {"row", *COLUMNS, "undefined", "text", "reference", "source", *(texts[0].scores if texts else ())}
    named = [label_column(label, taken) for label in labels]
    return ResultTable(
        "texts",
        (
            Column("row"),
            Column("item", names_row=True),
            *map(Column, ("system", "level")),
            Column("language", shown=False),
            *(Column(name, name, shown=False) for name in named),
            *(Column(metric.name, metric.name) for metric in metrics),
            Column("undefined", shown=any(undefined)),
            Column("text"),
            *(Column(name, shown=False) for name in ("reference", "source")),
        ),
        tuple(
            (
                *(one.row, one.item, one.system, one.level, one.language),
                *(one.labels.get(name) for name in labels),
                *(one.scores[metric.name] for metric in metrics),
                *(why, one.text, one.reference, one.source),
            )
            for one, why in zip(texts, undefined, strict=True)
        ),
        title=f"Texts {first:,} to {last:,} of {total:,}" if texts else "No matching text",
    )


NO_REASON = "no reason given"


def _undefined(text: ScoredText, metrics: Sequence[Metric]) -> str:
    names = [metric.name for metric in metrics if text.scores[metric.name] is None]
    return "; ".join(f"{name}: {text.reasons.get(name, NO_REASON)}" for name in names)


def texts_json(texts: Sequence[ScoredText], total: int, query: TextQuery) -> dict[str, Any]:
    """JSON of a page of texts."""
    return {"total": total, "from": query.offset + 1, "texts": [plain(one) for one in texts]}
