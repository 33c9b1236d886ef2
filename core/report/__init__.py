"""Render a result table: terminal, CSV, JSON, data frame, Markdown and LaTeX."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.results.cells import decimal, fitted, rows_covered
from core.schema.result_table import Cell, Column, Interval, ResultTable
from core.tables.files import json_text
from core.tables.reading import printable_text, shown, unlinked
from core.tables.writer import csv_bytes

if TYPE_CHECKING:
    import pandas as pd

DASH = "–"
"""Replaces an undefined number; the reason is below the table."""


def headings(table: ResultTable) -> list[str]:
    """Return the headings of the columns that readers see."""
    return [column.heading for column in table.columns if column.shown]


def lines(table: ResultTable) -> list[list[str]]:
    """Return the rows as readers see them, one text per cell."""
    return [
        [written(cell, column) for cell, column in zip(row, table.columns, strict=True) if column.shown]
        for row in table.rows
    ]


def written(cell: Cell, column: Column) -> str:
    """Write a cell in words: `0.51 [0.40, 0.61]`, `1,204`, `< 0.001`, a dash for an undefined number.

    An estimate has the decimals that its interval supports, or its n where no interval is possible; files have every digit.
    """
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return DASH
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Mapping):
        return "; ".join(f"{n:,} {reason}" for reason, n in cell.items()) or "none"
    if isinstance(cell, Interval):
        if cell.value is None:
            return DASH
        if isinstance(cell.value, int):  # a count beside estimates
            return f"{cell.value:,}"
        column = replace(column, places=_decimals(cell, column))
        ends = (
            ""
            if cell.low is None or cell.high is None
            else f" [{number(cell.low, column)}, {number(cell.high, column)}]"
        )
        return f"{number(cell.value, column)}{ends}{cell.beside and ' '}{cell.beside}"
    return f"{cell:,}" if isinstance(cell, int) else number(cell, column)


def decimals_of(cells: Iterable[Cell], column: Column) -> int:
    """Return the decimals for a whole column of numbers without their intervals: the most that any cell deserves."""
    found = [
        _decimals(cell, column) for cell in cells if isinstance(cell, Interval) and cell.value is not None
    ]
    return max(found, default=column.places)


def _decimals(cell: Interval, column: Column) -> int:
    if cell.value is None or column.general or column.p_value:
        return column.places
    # A number for which no interval was requested, such as a bound, keeps its decimals.
    n = cell.n if cell.low is not None or cell.interval_reason else None
    return fitted(cell.value, cell.low, cell.high, n, column.places)


def number(value: float, column: Column) -> str:
    """Write a number with the column's decimals."""
    if column.p_value and value < 10**-column.places:
        return f"< {10**-column.places:g}"
    if column.general:
        return f"{value:.{column.places}g}"
    if column.percent:
        return f"{decimal(100 * value, max(column.places - 2, 0))} %"
    return decimal(value, column.places)


def notes(table: ResultTable) -> list[str]:
    """Return the notes below the table: why cells are undefined or lack an interval, then the table's own notes."""
    names = [at for at, column in enumerate(table.columns) if column.names_row]
    undefined: dict[tuple[str, str], list[str]] = {}
    bare: dict[tuple[str, str], list[str]] = {}
    flat: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        name = " ".join(str(row[at]) for at in names if row[at] is not None)
        for cell, column in zip(row, table.columns, strict=True):
            if isinstance(cell, Interval) and column.shown:
                if cell.value is None:
                    undefined.setdefault((column.heading, cell.reason or "no reason given"), []).append(name)
                elif cell.interval_reason:
                    (bare if cell.low is None else flat).setdefault(
                        (column.heading, cell.interval_reason), []
                    ).append(name)
    return [
        *_reasons(undefined, "undefined", len(table.rows)),
        *_reasons(bare, "no interval", len(table.rows)),
        *_reasons(flat, "interval of width 0", len(table.rows)),
        *table.notes,
    ]


def _reasons(found: Mapping[tuple[str, str], list[str]], what: str, n_rows: int) -> list[str]:
    """Return a sentence for each reason, with the columns and rows that share it."""
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (heading, reason), names in found.items():
        together.setdefault((reason, tuple(names)), []).append(heading)
    return [
        f"{', '.join(columns)}: {what}{rows_covered(names, n_rows)}: {reason}"
        for (reason, names), columns in together.items()
    ]


_WIDE = frozenset("WF")
_GAP = "  "


def terminal_lines(table: ResultTable, room: int | None = None) -> list[str]:
    """Return the lines of a table: title, header, rows, notes. room: width of the terminal in columns; None: no limit.

    A wider table is split into parts. Each repeats the columns that name a row, or else the first column. Where a column holds
    long texts, each row is written as lines.
    """
    found = [printable_text(table.title)] if table.title else []
    if any(column.long and column.shown for column in table.columns):
        found += _row_lines(table)
    elif table.rows:
        seen = [column for column in table.columns if column.shown]
        keys = [at for at, column in enumerate(seen) if column.names_row] or [0]
        found += aligned(headings(table), lines(table), keys, room)
    return found + [f"Note: {printable_text(note)}" for note in notes(table)]


def _row_lines(table: ResultTable) -> Iterator[str]:
    """Yield each row: its short cells in one line, then each long text."""
    for number, cells in enumerate(table.rows, start=1):
        row = [(column, cell) for column, cell in zip(table.columns, cells, strict=True) if column.shown]
        short = (
            f"{column.heading} {written(cell, column)}"
            for column, cell in row
            if not column.long and cell not in (None, "")
        )
        yield printable_text(f"{number}. {', '.join(short)}")
        for column, cell in row:
            if column.long and (text := printable_text(str(cell or ""))):
                first, *others = text.split("\n")
                yield f"   {column.heading}: {first}"
                yield from (f"   {line}" for line in others)


def aligned(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    keys: Sequence[int] = (0,),
    room: int | None = None,
    *,
    cut: bool = True,
) -> list[str]:
    """Align a header and its rows. Names from files are made printable. keys: columns repeated in every part.

    cut: whether long cells lose their end.
    """
    cells = [[shown(str(cell)) if cut else str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(_width(row[at]) for row in cells) for at in range(len(header))]
    found: list[str] = []
    for columns in _parts(widths, list(keys), room):
        found += [""] if found else []
        found += [
            _GAP.join(row[at] + " " * (widths[at] - _width(row[at])) for at in columns).rstrip()
            for row in cells
        ]
    return found


def _parts(widths: Sequence[int], keys: list[int], room: int | None) -> Iterator[list[int]]:
    """Yield the columns of each part: as many as fit beside each other."""
    part = list(keys)
    for column in range(len(widths)):
        if column in keys:
            continue
        taken = sum(widths[at] + len(_GAP) for at in part)
        if room is not None and taken + widths[column] > room and part != keys:
            yield part
            part = list(keys)
        part.append(column)
    yield sorted(part)


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in _WIDE else 1
        for one in text
    )


_LATEX = {
    **{one: f"\\{one}" for one in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def flat_rows(table: ResultTable) -> list[dict[str, Any]]:
    """Return rows of single values. An interval becomes `name`, `name_low`, `name_high`, `name_n`, `name_reason` and so on."""
    several = {
        column.name
        for at, column in enumerate(table.columns)
        if any(isinstance(row[at], Interval) for row in table.rows)
    }
    rows = []
    for row in table.rows:
        flat: dict[str, Any] = {}
        for cell, column in zip(row, table.columns, strict=True):
            flat |= _flat(column.name, cell, column.name in several)
        rows.append(flat)
    return rows


def _flat(name: str, cell: Cell, several: bool) -> dict[str, Any]:
    if isinstance(cell, Mapping):
        return {name: "; ".join(f"{n} {reason}" for reason, n in cell.items())}
    if not several:
        return {name: _finite(cell)}
    one = cell if isinstance(cell, Interval) else Interval(None)
    return {
        name: _finite(one.value),
        f"{name}_low": _finite(one.low),
        f"{name}_high": _finite(one.high),
        f"{name}_n": one.n,
        f"{name}_n_left_out": one.n_left_out,
        f"{name}_reason": one.reason or one.interval_reason,
    }


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csv_of(table: ResultTable) -> bytes:
    """Return CSV with every column and every digit; without rows, only the header."""
    rows = flat_rows(table)
    return csv_bytes(list(rows[0]) if rows else [column.name for column in table.columns], rows)


def frame_of(table: ResultTable) -> "pd.DataFrame":
    """Return the flat rows as a data frame."""
    import pandas as pd  # loads slowly

    return pd.DataFrame(flat_rows(table), columns=None if table.rows else [one.name for one in table.columns])


def json_of(table: ResultTable) -> list[dict[str, Any]]:
    """Return one dictionary per row; an interval is a dictionary of its own."""
    return [
        {column.name: _value(cell) for cell, column in zip(row, table.columns, strict=True)}
        for row in table.rows
    ]


def _value(cell: Cell) -> Any:
    if isinstance(cell, Interval):
        return {
            "estimate": _finite(cell.value),
            "low": _finite(cell.low),
            "high": _finite(cell.high),
            "reason": cell.reason or None,
            "interval_reason": cell.interval_reason or None,
            "n": cell.n,
            "n_left_out": cell.n_left_out,
        }
    return dict(cell) if isinstance(cell, Mapping) else _finite(cell)


def markdown_of(table: ResultTable) -> bytes:
    """Return a Markdown table of what readers see, with its title and notes."""
    head, *rows = (list(map(markdown_text, row)) for row in (headings(table), *lines(table)))
    drawn = "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
    return _joined(table, markdown_text, drawn, [f"- {markdown_text(note)}" for note in notes(table)])


def markdown_text(text: str) -> str:
    """Return a text on one line without meaning as Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", unlinked(" ".join(text.split())))


def sentences_of(sentences: Iterable[str], ending: str) -> bytes:
    """Return sentences as the beginning of a file: paragraphs in Markdown, comments in LaTeX, nothing in other files."""
    written = {
        "md": lambda one: f"{markdown_text(one)}\n\n",
        "tex": lambda one: f"% {' '.join(one.split())}\n",
    }.get(ending)
    return "".join(map(written, sentences)).encode() if written else b""


def latex_of(table: ResultTable) -> bytes:
    """Return a LaTeX tabular (package booktabs) of what readers see, with title and notes as comments."""
    head = headings(table)
    rows = [f"{' & '.join(map(_latex, row))} \\\\" for row in (head, *lines(table))]
    drawn = "\n".join(
        [
            f"\\begin{{tabular}}{{{'l' * len(head)}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )
    return _joined(table, _comment, drawn, [_comment(note) for note in notes(table)])


def _latex(text: str) -> str:
    return "".join(_LATEX.get(one, one) for one in " ".join(text.split()))


def _comment(text: str) -> str:
    return f"% {' '.join(text.split())}"


def _joined(table: ResultTable, title: Callable[[str], str], drawn: str, below: Sequence[str]) -> bytes:
    parts = [title(table.title)] if table.title else []
    return ("\n\n".join([*parts, drawn, *(["\n".join(below)] if below else [])]) + "\n").encode()


WRITERS: Mapping[str, tuple[str, Callable[[ResultTable], bytes]]] = {
    "csv": ("text/csv", csv_of),
    "md": ("text/markdown", markdown_of),
    "tex": ("application/x-tex", latex_of),
}
"""File ending -> media type and writer."""
TITLES = {"csv": "CSV", "md": "Markdown", "tex": "LaTeX"}
"""File ending -> name of the format."""


def file_of(ending: str, as_json: Any, parts: Sequence[str | ResultTable], *, only: bool = False) -> bytes:
    """Return a result as a file with one of ENDINGS.

    parts: sentences and tables in their order. A CSV file has the first table, other files of tables have all. only: a
    single table for a paper, without the sentences on which a report's tables rest, such as the verdict.
    """
    if ending == ".json":
        return (json_text(as_json) + "\n").encode()
    tables = [one for one in parts if isinstance(one, ResultTable)]
    name = ending.removeprefix(".")
    _, write = WRITERS[name]
    lead = [] if only else [one for one in parts if isinstance(one, str) and one]
    return sentences_of(lead, name) + b"\n".join(map(write, tables[:1] if name == "csv" else tables))


ENDINGS = (".json", *(f".{name}" for name in WRITERS))
"""Endings of the files that `file_of` makes."""
