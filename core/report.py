"""Renderers of a result table: terminal, CSV, JSON, data frame, Markdown and LaTeX."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.results.cells import decimal, for_rows
from core.schema.result_table import Cell, Column, Interval, ResultTable
from core.tables.reading import printable_text, shown
from core.tables.writer import csv_bytes

if TYPE_CHECKING:
    import pandas as pd

DASH = "–"
"""Printed for an undefined number; the notes below the table give the reason."""


def headings(table: ResultTable) -> list[str]:
    """Return the headings of the visible columns."""
    return [column.heading for column in table.columns if column.shown]


def lines(table: ResultTable) -> list[list[str]]:
    """Return the visible cells of all rows as text."""
    return [
        [written(cell, column) for cell, column in zip(row, table.columns, strict=True) if column.shown]
        for row in table.rows
    ]


def written(cell: Cell, column: Column) -> str:
    """Return a cell as text: `0.512 [0.401, 0.611]`, `1,204`, `< 0.001`, a dash if undefined."""
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return DASH
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Mapping):
        return "; ".join(f"{n:,} {reason}" for reason, n in cell.items()) or "none"
    if isinstance(cell, Interval):
        if cell.value is None:
            return DASH
        ends = (
            ""
            if cell.low is None or cell.high is None
            else f" [{_number(cell.low, column)}, {_number(cell.high, column)}]"
        )
        return f"{_number(cell.value, column)}{ends}{cell.beside and ' '}{cell.beside}"
    return f"{cell:,}" if isinstance(cell, int) else _number(cell, column)


def _number(value: float, column: Column) -> str:
    if column.p_value and value < 10**-column.places:
        return f"< {10**-column.places:g}"
    if column.general:
        return f"{value:.{column.places}g}"
    if column.percent:
        return f"{decimal(100 * value, max(column.places - 2, 0))} %"
    return decimal(value, column.places)


def notes(table: ResultTable) -> list[str]:
    """Return the notes below the table: reasons for undefined cells and missing intervals, then its own notes."""
    names = [at for at, column in enumerate(table.columns) if column.names_row]
    undefined: dict[tuple[str, str], list[str]] = {}
    bare: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        name = " ".join(str(row[at]) for at in names if row[at] is not None)
        for cell, column in zip(row, table.columns, strict=True):
            if isinstance(cell, Interval) and column.shown:
                if cell.value is None:
                    undefined.setdefault((column.heading, cell.reason or "no reason given"), []).append(name)
                elif cell.interval_reason:
                    bare.setdefault((column.heading, cell.interval_reason), []).append(name)
    return [
        *_reasons(undefined, "undefined", len(table.rows)),
        *_reasons(bare, "no interval", len(table.rows)),
        *table.notes,
    ]


def _reasons(found: Mapping[tuple[str, str], list[str]], what: str, n_rows: int) -> list[str]:
    """Return one line for each reason, with its columns and rows."""
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (heading, reason), names in found.items():
        together.setdefault((reason, tuple(names)), []).append(heading)
    return [
        f"{', '.join(columns)}: {what}{for_rows(names, n_rows)}: {reason}"
        for (reason, names), columns in together.items()
    ]


_WIDE = frozenset("WF")
_GAP = "  "


def terminal_lines(table: ResultTable, room: int | None = None) -> list[str]:
    """Return the lines of a table: title, header, rows, notes. room: width of the terminal; None: no limit.

    A wider table is split into parts, each with the columns that name a row, else with the first column.
    """
    found = [printable_text(table.title)] if table.title else []
    if table.rows:
        seen = [column for column in table.columns if column.shown]
        keys = [at for at, column in enumerate(seen) if column.names_row] or [0]
        found += aligned(headings(table), lines(table), keys, room)
    return found + [f"Note: {printable_text(note)}" for note in notes(table)]


def aligned(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    keys: Sequence[int] = (0,),
    room: int | None = None,
    *,
    cut: bool = True,
) -> list[str]:
    """Return a header and its rows as aligned lines. keys: columns repeated in every part.

    cut: whether to shorten long cells and make them safe for a terminal; not needed for fixed texts.
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
    """Yield the columns of each part that fits into the room; all columns if it is None."""
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
    """Return the width of a text in columns of a terminal."""
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
    """Return rows with one value for each key; an interval becomes `name`, `name_low`, `name_high`, `name_n`, `name_reason`."""
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
    """Return CSV with every column and every digit; only the header for a table without rows."""
    rows = flat_rows(table)
    return csv_bytes(list(rows[0]) if rows else [column.name for column in table.columns], rows)


def frame_of(table: ResultTable) -> "pd.DataFrame":
    """Return the flat rows as a data frame."""
    import pandas as pd  # imported lazily: loads slowly

    return pd.DataFrame(flat_rows(table), columns=None if table.rows else [one.name for one in table.columns])


def json_of(table: ResultTable) -> list[dict[str, Any]]:
    """Return one dictionary for each row; an interval becomes a nested dictionary."""
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
    """Return the visible columns as a Markdown table, with title and notes."""
    head = headings(table)
    body = [head, ["---"] * len(head), *([_plain(cell) for cell in row] for row in lines(table))]
    drawn = "\n".join(f"| {' | '.join(row)} |" for row in body)
    return _joined(table, _plain, drawn, [f"- {_plain(note)}" for note in notes(table)])


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))


def latex_of(table: ResultTable) -> bytes:
    """Return the visible columns as a LaTeX tabular (package booktabs), with title and notes as comments."""
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
"""File ending -> name of the format for readers."""
