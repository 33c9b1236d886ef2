"""Figures of any result table: one row a row, numbers with their intervals."""

import math
from html import escape

import plotly.graph_objects as go

from core.errors import InputError
from core.joining.choices import check_names
from core.plots.dressing import (
    BLUE,
    GRID,
    LINE,
    LOOKS,
    POINT_FONT,
    Ends,
    dressed,
    ends_said,
    label,
    log_ticks,
    metric_label,
    name_rows,
    point_names,
    row_name,
    shortened,
    stretched,
    whiskers,
)
from core.schema.result_table import Cell, Interval, ResultTable

_NAME, _ON_POINT = 44, 24
"""Letters of a row's name, and of a name beside a point."""
_ROOM, _HEIGHT, _POINT = (330, 290), 400, 10
"""Pixels between the axes on a phone, of a figure with two axes, and of a point."""


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


def column_against(table: ResultTable, column: str | None, beside: str) -> go.Figure:
    """Draw a column of numbers with their intervals against another column, such as a correlation against a model's size.

    column: as in `dots`. beside: the other column, by name or heading; its axis is logarithmic if it spans more than a
    factor of five. Rows without one of the numbers are left out. The first column that names rows gives the colours, if
    another one names them, too; names stand beside the points. Raises InputError as `dots`.
    """
    at, across = _place(table, column), _place(table, beside)
    keys = [place for place, one in enumerate(table.columns) if one.names_row] or [0]
    drawn = [
        (row, x, ends)
        for row in table.rows
        if (x := _ends(row[across])[1]) is not None and (ends := _ends(row[at]))[1] is not None
    ]
    figure = go.Figure()
    log = (
        bool(drawn)
        and min(x for _, x, _ in drawn) > 0
        and max(x for _, x, _ in drawn) > 5 * min(x for _, x, _ in drawn)
    )
    places = [math.log10(x) if log else x for _, x, _ in drawn]
    left, right = stretched(places)
    low, high = stretched([end for _, _, ends in drawn for end in ends if end is not None])
    said = [
        " ".join(str(row[key]) for key in keys[1:] or keys if row[key] is not None) for row, _, _ in drawn
    ]
    named = point_names(
        [
            ((place - left) / (right - left), ((ends[1] or 0.0) - low) / (high - low))
            for place, (_, _, ends) in zip(places, drawn, strict=True)
        ],
        [metric_label(name, _ON_POINT) for name in said],
        _ROOM,
        _POINT,
    )
    groups = [str(row[keys[0]]) if len(keys) > 1 else "" for row, _, _ in drawn]
    for number, group in enumerate(dict.fromkeys(groups)):
        color, symbol = LOOKS[number % len(LOOKS)]
        own = [place for place, one in enumerate(groups) if one == group]
        figure.add_scatter(
            x=[drawn[place][1] for place in own],
            y=[drawn[place][2][1] for place in own],
            mode="markers+text",
            name=label(group, longest=_NAME),
            marker={"color": color, "symbol": symbol, "size": _POINT},
            error_y=whiskers([drawn[place][2] for place in own]),
            text=[named[place][0] for place in own],
            textposition=[named[place][1] for place in own],
            textfont={"size": POINT_FONT},
            customdata=[
                f"{escape(shortened(said[place], _NAME))}<br>{_said(drawn[place][0][at])}" for place in own
            ],
            hovertemplate="%{customdata}<br>%{x:.3~g}<extra>" + label(group, longest=_NAME) + "</extra>",
        )
    figure.update_xaxes(
        title=escape(table.columns[across].heading),
        type="log" if log else "linear",
        range=[left, right],
        **(log_ticks(left, right) if log else {}),
    )
    figure.update_yaxes(
        title=escape(table.columns[at].heading), range=[low, high], gridcolor=GRID, zeroline=False
    )
    return dressed(figure, height=_HEIGHT, top=50 if len(keys) > 1 else 20, legend=len(keys) > 1)


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
