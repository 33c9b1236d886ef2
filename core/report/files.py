"""A result table as bytes and values for other programs: CSV, JSON, a data frame, Markdown, LaTeX."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.report.words import headings, lines, notes
from core.schema.result_table import Cell, Interval, ResultTable
from core.tables.writer import csv_bytes

if TYPE_CHECKING:
    import pandas as pd

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
    """Rows with a value a cell; an interval takes several, `name`, `name_low`, `name_high`, `name_n`, `name_reason`."""
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
    """CSV with every column and every digit; a table without rows has its header alone."""
    rows = flat_rows(table)
    return csv_bytes(list(rows[0]) if rows else [column.name for column in table.columns], rows)


def frame_of(table: ResultTable) -> "pd.DataFrame":
    """The flat rows as a data frame."""
    import pandas as pd  # loads slowly

    return pd.DataFrame(flat_rows(table), columns=None if table.rows else [one.name for one in table.columns])


def json_of(table: ResultTable) -> list[dict[str, Any]]:
    """A dictionary a row; an interval is a dictionary of its own."""
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
    """A Markdown table of what readers see, with its title and notes."""
    head = headings(table)
    body = [head, ["---"] * len(head), *([_plain(cell) for cell in row] for row in lines(table))]
    drawn = "\n".join(f"| {' | '.join(row)} |" for row in body)
    return _joined(table, _plain, drawn, [f"- {_plain(note)}" for note in notes(table)])


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))


def latex_of(table: ResultTable) -> bytes:
    """A LaTeX tabular (package booktabs) of what readers see; title and notes are comments above and below."""
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
"""Ending of a file -> its media type, and what writes it."""
TITLES = {"csv": "CSV", "md": "Markdown", "tex": "LaTeX"}
"""Ending of a file -> what readers call it."""
