"""Figures of any result table: one row a row, numbers with their intervals."""

from html import escape

import plotly.graph_objects as go

from core.errors import InputError
from core.plots.dressing import BLUE, LINE, Ends, dressed, ends_said, name_rows, row_name, shortened, whiskers
from core.results.choices import check_names
from core.schema.result_table import Cell, Interval, ResultTable

_NAME = 44
"""Letters of a row's name."""


def dots(table: ResultTable, column: str | None = None) -> go.Figure:
    """Draw a column of numbers as dots with their intervals, the first row at the top.

    column: by name or heading; None: the first with intervals, else the first of numbers that readers see. Raises
    InputError if there is none.
    """
    at = _place(table, column)
    keys = [place for place, one in enumerate(table.columns) if one.names_row and place != at] or [0]
    names = [" ".join(str(row[key]) for key in keys if row[key] is not None) for row in table.rows]
    ends = [_ends(row[at]) for row in table.rows]
    drawn = [place for place, (_, value, _) in enumerate(ends) if value is not None]
    figure = go.Figure()
    figure.add_scatter(
        x=[ends[place][1] for place in drawn],
        y=drawn,
        mode="markers",
        marker={"color": BLUE, "size": 9},
        error_x=whiskers([ends[place] for place in drawn]),
        text=[f"{escape(names[place])}<br>{_said(table.rows[place][at])}" for place in drawn],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    if any(low is not None and low < 0 for low, _, _ in ends):
        figure.add_vline(x=0, line={"color": LINE, "width": 1, "dash": "dot"})
    rows = [row_name(shortened(name, _NAME)) for name in names]
    name_rows(figure, rows, None)
    figure.update_xaxes(title=table.columns[at].heading)
    row = 36 if any("<br>" in name for name in rows) else 24
    return dressed(figure, height=130 + row * len(rows), top=30)


def _place(table: ResultTable, column: str | None) -> int:
    """The index of the column to draw."""
    if column is not None:
        named = {
            name: at
            for at, one in enumerate(table.columns)
            if any(isinstance(row[at], Interval | float | int) for row in table.rows)
            for name in (one.heading, one.name)
        }
        check_names("column", [column], named)
        return named[column]
    seen = [at for at, one in enumerate(table.columns) if one.shown]
    for kinds in (Interval, float):
        for at in seen:
            if any(isinstance(row[at], kinds) for row in table.rows):
                return at
    raise InputError(f"The table {table.name} has no numbers to draw.")


def _ends(cell: Cell) -> Ends:
    if isinstance(cell, Interval):
        return cell.low, cell.value, cell.high
    return None, cell if isinstance(cell, int | float) else None, None


def _said(cell: Cell) -> str:
    low, value, high = _ends(cell)
    return (
        "" if value is None else ends_said(low, value, high, cell.n if isinstance(cell, Interval) else None)
    )
