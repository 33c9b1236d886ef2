"""Figures that a result declares (`core.schema.figures`), drawn from the tables of the result."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import plotly.graph_objects as go

from core.plots.dressing import (
    BLUE,
    DARK,
    GRID,
    LINE,
    LOOKS,
    OCHRE,
    PALE,
    POINT_FONT,
    Ends,
    dressed,
    faint,
    heat_map,
    label,
    metric_label,
    name_rows,
    panels,
    point_names,
    whiskers,
)
from core.plots.dressing import marks as families
from core.plots.marks import marks
from core.results.cells import decimal
from core.schema.figures import AnyFigure, Axis, Dots, Heat, Intervals, Lines, Stacked
from core.schema.figures import Shares as SharesFigure
from core.schema.result_table import Interval, ResultTable

_NAME, _BESIDE = 24, 16
"""Letters of a row's name, and of a name behind the word that joins two."""
_BAR, _PART = 48, 30
"""Letters of the names of a bar and of its parts."""
_ROW, _TWO_LINES = 30, 38
"""Pixels of a row."""
_THREE_MARKS = 52
"""Pixels of a row with three marks or more."""
_AXIS_ROOM = 50
"""Pixels of the numbers below a panel and of the title above the next."""
_LEGEND = 24
"""Pixels of a legend above panels."""
_LOOKS = ((OCHRE, "square"), (DARK, "diamond"), (BLUE, "circle"))
"""Colours and symbols of a row's marks; the last is the one to look at."""
_DOT, _DOTS_HEIGHT, _DOTS_ROOM = 11, 470, (420.0, 330.0)
"""Pixels of a dot, of their figure, and of the least width and height between its axes."""
_TITLE, _LINE, _A_LINE = 80, 160, 18
"""Letters of a title and of a line below it; pixels of such a line."""
_PANEL = 260
"""Pixels of a panel with lines."""
_APART = 0.006
"""Share of the y axis between two lines that would hide each other."""
_FEWEST_WRITTEN = 0.06
"""Share of a bar's part from which its number fits in."""


def draw(figure: AnyFigure, tables: Mapping[str, ResultTable]) -> go.Figure:
    """Draw a figure of a result. tables: those of the result, by name. Raises KeyError where a column is missing."""
    table = tables[figure.table]
    match figure:
        case Lines():
            return _lines(figure, table)
        case SharesFigure():
            return _shares(figure, table)
        case Dots():
            return _dots(figure, table)
        case Heat():
            return _heat(figure, table)
        case Intervals():
            return _interval_panels(figure, table) if figure.panel else _intervals(figure, table)
        case Stacked():
            return _stacked(figure, table)


def _values(table: ResultTable, name: str) -> list[Any]:
    """The values of a column, of numbers with an interval the numbers."""
    return [cell.value if isinstance(cell, Interval) else cell for cell in _cells(table, name)]


def _cells(table: ResultTable, name: str) -> list[Any]:
    """The cells of a column."""
    names = [one.name for one in table.columns]
    if name not in names:
        raise KeyError(f"table {table.name} has no column {name}")
    return [row[names.index(name)] for row in table.rows]


def _heading(table: ResultTable, name: str) -> str:
    return next(one.heading for one in table.columns if one.name == name)


def _lines(figure: Lines, table: ResultTable) -> go.Figure:
    """Draw a line for each name, moved apart a little where there are several, with limits and marks."""
    shown = list(dict.fromkeys(_values(table, figure.panel))) if figure.panel else [None]
    drawn, height, top = go.Figure(), 380, 50
    if figure.panel:
        titles = [label(str(one)) for one in shown]
        drawn, height, top = panels(titles, columns=1, room=_PANEL, between=_AXIS_ROOM, top=70)
    if figure.across is not None:
        line = {"color": LINE, "width": 2, "dash": "dot"}
        drawn.add_hline(y=figure.across, line=line, exclude_empty_subplots=False)  # panels are empty so far
    if figure.down is not None:
        drawn.add_vline(x=figure.down, line={"color": DARK, "width": 1}, exclude_empty_subplots=False)
    names, xs, ys = (_values(table, one) for one in (figure.by, figure.x, figure.y))
    within = _values(table, figure.panel) if figure.panel else [None] * len(names)
    said = f"{_heading(table, figure.x)} %{{x:.3~g}}: {_heading(table, figure.y)} %{{customdata:{_format(figure.y_axis)}}}"
    lines = list(dict.fromkeys(names))
    apart = _APART * _span(figure.y_axis, ys)
    named: set[Any] = set()
    for panel, (place, name) in product(range(len(shown)), enumerate(lines)):
        own = [
            (x, y)
            for of, at, x, y in zip(names, within, xs, ys, strict=True)
            if of == name and at == shown[panel]
        ]
        if not own:
            continue
        color, symbol = LOOKS[place % len(LOOKS)]
        shift = apart * (place - (len(lines) - 1) / 2)
        shifted = [(x, None if y is None else y + shift) for x, y in own]
        shape = {"shape": "hv"} if figure.steps else {}
        drawn.add_scatter(
            x=[x for x, _ in shifted],
            y=[y for _, y in shifted],
            customdata=[y for _, y in own],
            mode="lines",
            line={"color": color, "width": 2, **shape},
            name=label(str(name)),
            legendgroup=str(name),
            showlegend=name not in named,
            hovertemplate=f"{said}<extra>{label(str(name))}</extra>",
            **({"row": panel + 1, "col": 1} if figure.panel else {}),
        )
        named.add(name)
        at = figure.marked.get(str(name))
        if at is not None:
            drawn.add_scatter(
                x=[at],
                y=[_height(shifted, at, steps=figure.steps)],
                mode="markers",
                marker={"color": color, "symbol": symbol, "size": 11},
                showlegend=False,
                hovertemplate=f"{figure.mark} {at:.3g}<extra>{label(str(name))}</extra>",
            )
    drawn.update_xaxes(**_axis(figure.x_axis), gridcolor=GRID)
    drawn.update_yaxes(**_axis(figure.y_axis), gridcolor=GRID)
    dressed(drawn, height=height, top=top, legend=True)
    if any(isinstance(one, int | float) for one in lines):  # a bare number does not say what it counts
        drawn.update_layout(legend_title_text=_heading(table, figure.by))
    return drawn


_NO_CELL = Interval(None, reason="no data")


def _heat(figure: Heat, table: ResultTable) -> go.Figure:
    """Draw the table as a matrix; a cell says its number with its interval, or why it is undefined."""
    lines = _values(table, figure.row)
    parts = [_values(table, name) for name in figure.columns]
    columns = (
        [" ".join(map(str, own)) for own in zip(*parts, strict=True)]
        if parts
        else [_heading(table, figure.value)] * len(lines)
    )
    keys = zip(map(str, lines), map(str, columns), strict=True)
    cells = dict(zip(keys, _cells(table, figure.value), strict=True))
    rows, heads = ([*dict.fromkeys(map(str, names))] for names in (lines, columns))
    matrix = [[cells.get((row, head), _NO_CELL) for head in heads] for row in rows]
    return heat_map(
        [[cell.value for cell in line] for line in matrix],
        rows,
        heads,
        [
            [f"{row} against {head}\n{_number_said(cell)}" for head, cell in zip(heads, line, strict=True)]
            for row, line in zip(rows, matrix, strict=True)
        ],
        y=figure.row_title,
        x=figure.column_title,
    )


def _number_said(cell: Interval) -> str:
    """A number with its interval and the units behind it, or why it is undefined."""
    if cell.value is None:
        return f"undefined: {cell.reason}"
    ends = "" if cell.low is None or cell.high is None else f" [{decimal(cell.low)}, {decimal(cell.high)}]"
    return f"{decimal(cell.value)}{ends}{'' if cell.n is None else f', n = {cell.n:,}'}"


def _height(line: Sequence[tuple[float, float | None]], at: float, *, steps: bool) -> float | None:
    """The y of a line at an x, also between its points; None beyond its ends and where it is interrupted.

    steps: whether a value holds up to the next x.
    """
    before = max((point for point in line if point[0] <= at), key=lambda point: point[0], default=None)
    after = min((point for point in line if point[0] >= at), key=lambda point: point[0], default=None)
    if before is None or after is None or before[1] is None:
        return None
    if steps or before[0] == at:
        return before[1]
    return (
        None
        if after[1] is None
        else before[1] + (after[1] - before[1]) * (at - before[0]) / (after[0] - before[0])
    )


def _span(axis: Axis, values: Sequence[float | None]) -> float:
    """The length of an axis: between its ends, or between those of the numbers where it has none."""
    known = [one for one in values if one is not None]
    low = min(known, default=0.0) if axis.low is None else axis.low
    high = max(known, default=0.0) if axis.high is None else axis.high
    return high - low


def _axis(axis: Axis) -> dict[str, Any]:
    ends = {} if axis.low is None and axis.high is None else {"range": [axis.low, axis.high]}
    return {"title": axis.title, **ends, **({"tickformat": ".0%"} if axis.percent else {})}


def _format(axis: Axis) -> str:
    return ".0%" if axis.percent else ".3g"


def _shares(figure: SharesFigure, table: ResultTable) -> go.Figure:
    """Draw a bar for each row that counts anything, cut into shares."""
    counts = list(zip(*(_values(table, one) for one in figure.parts), strict=True))
    rows = [at for at, own in enumerate(counts) if None not in own and sum(own)]
    drawn = go.Figure()
    for place, (part, color) in enumerate(zip(figure.parts, _colours(len(figure.parts)), strict=True)):
        shares = [counts[at][place] / sum(counts[at]) for at in rows]
        title = _heading(table, part)
        drawn.add_bar(
            orientation="h",
            x=shares,
            y=list(range(len(rows))),
            name=title,
            marker={"color": color, "line": {"color": "white", "width": 1}},
            text=[decimal(100 * share, 0) if share >= _FEWEST_WRITTEN else "" for share in shares],
            textfont={"color": "black" if color == PALE else "white"},
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            customdata=[counts[at][place] for at in rows],
            hovertemplate=f"%{{customdata}} {figure.of}, %{{x:.1%}}<extra>{title}</extra>",
        )
    telling = _telling(figure.names, table)
    name_rows(drawn, [_row_name([str(own[at]) for own in telling], figure.joint) for at in rows], None)
    drawn.update_xaxes(title=f"share of {figure.of}", tickformat=".0%", range=[0, 1])
    drawn.update_layout(barmode="stack")
    height = 120 + (_ROW if len(telling) < 2 else _TWO_LINES) * max(len(rows), 3)
    dressed(drawn, height=height, top=40, legend=True)
    return drawn.update_layout(legend={"traceorder": "normal"})


def _telling(names: Sequence[str], table: ResultTable) -> list[list[Any]]:
    """The columns that name a row, without those that are the same in all rows; at least one."""
    named = [_values(table, one) for one in names]
    return [own for own in named if len(set(own)) > 1] or named[-1:]


def _intervals(figure: Intervals, table: ResultTable) -> go.Figure:
    """Draw the numbers of each row one above the other, the last one in the colour of what counts."""
    shown = [_cells(table, side) for side in figure.sides]
    rows = [at for at in range(len(table.rows)) if any(cells[at].value is not None for cells in shown)]
    ends: list[list[Ends]] = [
        [(cells[at].low, cells[at].value, cells[at].high) for cells in shown] for at in rows
    ]
    looks = [
        (_heading(table, side).lower(), look)
        for side, look in zip(figure.sides, _LOOKS[-len(shown) :], strict=True)
    ]
    telling = _telling(figure.names, table)
    joint = f" {figure.joint} " if figure.joint else ", "
    names = [joint.join(str(own[at]) for own in telling) for at in rows]
    drawn = marks(names, ends, figure.axis.title, looks, room=_ROW if len(looks) < 3 else _THREE_MARKS)
    if figure.across is not None:
        drawn.add_vline(x=figure.across, line={"color": LINE, "width": 2, "dash": "dot"})
    return drawn.update_xaxes(**_axis(figure.axis)).update_layout(showlegend=len(looks) > 1)


def _interval_panels(figure: Intervals, table: ResultTable) -> go.Figure:
    """Draw a panel for each value of a column, with the rows of that value that have a number."""
    (side,) = figure.sides
    cells, telling = _cells(table, side), _telling(figure.names, table)
    joint = f" {figure.joint} " if figure.joint else ", "
    by_panel: dict[str, list[int]] = {}
    for at, name in enumerate(_values(table, figure.panel)):
        if cells[at].value is not None:
            by_panel.setdefault(str(name), []).append(at)
    groups = [str(one) for one in (_values(table, figure.by) if figure.by else telling[0])]
    order = figure.values or tuple(dict.fromkeys(groups))
    looks = {name: LOOKS[place % len(LOOKS)] for place, name in enumerate(order)}
    most = max(map(len, by_panel.values()), default=0)
    drawn, height, top = panels(
        [label(name) for name in by_panel], columns=1, room=_ROW * max(most, 2), between=_AXIS_ROOM, top=30
    )
    told: set[str] = set()
    for place, rows in enumerate(by_panel.values(), start=1):
        names = [label(joint.join(str(own[at]) for own in telling)) for at in rows]
        if figure.around:
            _grey(drawn, [_values(table, figure.around)[at] for at in rows], place)
        for group in [one for one in order if one in {groups[at] for at in rows}] if figure.by else [""]:
            lines = [line for line, at in enumerate(rows) if group in ("", groups[at])]
            own = [cells[rows[line]] for line in lines]
            ends: list[Ends] = [(one.low, one.value, one.high) for one in own]
            own_looks = [looks[groups[rows[line]]] for line in lines]
            drawn.add_scatter(
                x=[value for _, value, _ in ends],
                y=lines,
                mode="markers",
                marker={
                    "color": [color for color, _ in own_looks],
                    "symbol": [symbol for _, symbol in own_looks],
                    "size": 9,
                },
                error_x={**whiskers(ends), "color": DARK},
                text=[names[line] for line in lines],
                hovertemplate="%{text}: %{x:.3f}<extra></extra>",
                name=label(group),
                legendgroup=group,
                showlegend=group not in told,
                row=place,
                col=1,
            )
            told.add(group)
        drawn.update_yaxes(
            tickvals=list(range(len(rows))),
            ticktext=names,
            range=[len(rows) - 0.5, -0.5],
            showgrid=False,
            zeroline=False,
            row=place,
            col=1,
        )
    drawn.update_xaxes(**_axis(replace(figure.axis, title="")))
    if by_panel:
        drawn.update_xaxes(title=figure.axis.title, row=len(by_panel), col=1)
    if figure.across is not None:
        drawn.add_vline(x=figure.across, line={"color": LINE, "width": 1})
    room = _LEGEND if figure.by else 0
    return dressed(drawn, height=height + _AXIS_ROOM + room, top=top + room, legend=bool(figure.by))


def _grey(drawn: go.Figure, reach: Sequence[float | None], place: int) -> None:
    """Draw grey bars on both sides of 0 behind the rows of a panel, as far as chance may lead."""
    known = [(line, end) for line, end in enumerate(reach) if end is not None]
    drawn.add_bar(
        orientation="h",
        y=[line for line, _ in known],
        x=[2 * end for _, end in known],
        base=[-end for _, end in known],
        width=0.6,
        marker={"color": GRID},
        hoverinfo="skip",
        showlegend=False,
        row=place,
        col=1,
    )


def _stacked(figure: Stacked, table: ResultTable) -> go.Figure:
    """Draw a bar for each name, one part a row. A bar without numbers is empty."""
    bars, parts = ([str(one) for one in _values(table, name)] for name in (figure.bars, figure.parts))
    numbers = list(zip(*(_values(table, one) for one in figure.numbers), strict=True))
    names = list(dict.fromkeys(bars))
    drawn = go.Figure()
    for place, part in enumerate(one for one in dict.fromkeys(parts) if one != figure.without):
        rows = [at for at, own in enumerate(parts) if own == part]
        drawn.add_bar(
            orientation="h",
            y=[names.index(bars[at]) for at in rows],
            x=[sum(number or 0 for number in numbers[at]) for at in rows],
            name=label(part, longest=_PART),
            marker={
                "color": LOOKS[place % len(LOOKS)][0],
                "pattern": {"shape": "/" if place >= len(LOOKS) else ""},
            },
            hovertemplate=f"%{{x:,.0f}} {figure.of}<extra>{label(part, longest=_PART)}</extra>",
        )
    name_rows(drawn, [metric_label(name, _BAR) for name in names], None)
    drawn.update_xaxes(**_axis(figure.axis), gridcolor=GRID)
    drawn.update_layout(barmode="stack")
    dressed(drawn, height=320 + 40 * len(names), top=10, legend=True)
    # Below the axis, because the legend needs several lines in a narrow window.
    return drawn.update_layout(
        legend={"traceorder": "normal", "xref": "paper", "yref": "paper", "y": -0.35, "yanchor": "top"}
    )


def _dots(figure: Dots, table: ResultTable) -> go.Figure:
    """Draw a dot for each row that has both numbers. `customdata` of a dot is the place of its row in the table."""
    across, up = (
        [one if isinstance(one, Interval) else Interval(one) for one in _cells(table, name)]
        for name in (figure.x, figure.y)
    )
    telling, groups = _telling(figure.names, table), _values(table, figure.by)
    rows = [at for at in range(len(table.rows)) if None not in (across[at].value, up[at].value)]
    names = [metric_label(", ".join(str(own[at]) for own in telling), _NAME) for at in rows]
    spans = [
        (axis.low or 0.0, (axis.high or 1.0) - (axis.low or 0.0)) for axis in (figure.x_axis, figure.y_axis)
    ]
    shares = [
        tuple(
            ((cells[at].value or 0.0) - low) / width
            for cells, (low, width) in zip((across, up), spans, strict=True)
        )
        for at in rows
    ]
    beside = point_names([(x, y) for x, y in shares], names, _DOTS_ROOM, _DOT)
    drawn = go.Figure()
    for name, (color, symbol) in families(map(str, groups)).items():
        own = [place for place, at in enumerate(rows) if str(groups[at]) == name]
        ends: list[list[Ends]] = [
            [(cells[rows[place]].low, cells[rows[place]].value, cells[rows[place]].high) for place in own]
            for cells in (across, up)
        ]
        thin = {"color": faint(color), "thickness": 0.8, "width": 0}
        drawn.add_scatter(
            x=[value for _, value, _ in ends[0]],
            y=[value for _, value, _ in ends[1]],
            error_x={**whiskers(ends[0]), **thin},
            error_y={**whiskers(ends[1]), **thin},
            mode="markers+text",
            name=label(name or "other"),
            marker={"color": color, "symbol": symbol, "size": _DOT, "line": {"width": 1, "color": "white"}},
            text=[beside[place][0] for place in own],
            textposition=[beside[place][1] for place in own],
            textfont={"size": POINT_FONT},
            customdata=[[rows[place]] for place in own],
            hovertext=[names[place] for place in own],
            hovertemplate="%{hovertext}<br>"
            + f"{_heading(table, figure.x)} %{{x:.3f}}<br>{_heading(table, figure.y)} %{{y:.3f}}"
            + f"<extra>{label(name or 'other')}</extra>",
        )
    if figure.marked in rows:
        drawn.add_scatter(
            x=[across[figure.marked].value],
            y=[up[figure.marked].value],
            mode="markers",
            marker={"symbol": "circle-open", "size": 2 * _DOT, "color": DARK, "line": {"width": 2}},
            showlegend=False,
            hoverinfo="skip",
        )
    line = {"color": LINE, "width": 1, "dash": "dot"}
    if figure.across is not None:
        drawn.add_hline(y=figure.across, line=line)
    if figure.down is not None:
        drawn.add_vline(x=figure.down, line=line)
    drawn.update_xaxes(**_axis(figure.x_axis))
    drawn.update_yaxes(**_axis(figure.y_axis), gridcolor=GRID, zeroline=False)
    if figure.title:
        drawn.update_layout(
            title={
                "text": "<br>".join(
                    [
                        f"<b>{label(figure.title, longest=_TITLE)}</b>",
                        *(label(line, longest=_LINE) for line in figure.lines),
                    ]
                ),
                "font": {"size": 14},
                "x": 0,
                "xanchor": "left",
                "yref": "container",
                "y": 0.98,
                "yanchor": "top",
            }
        )
    more = _A_LINE * len(figure.lines)
    dressed(drawn, height=_DOTS_HEIGHT + more, top=40 + more, legend=True)
    return drawn.update_layout(legend={"yref": "paper", "y": -0.17, "yanchor": "top", "xref": "paper"})


def _row_name(names: Sequence[str], joint: str) -> str:
    first, *others = names
    joined = f"{joint} " if joint else ""
    return "<br>".join(
        [metric_label(first, _NAME), *(f"{joined}{metric_label(one, _BESIDE)}" for one in others)]
    )


def _colours(parts: int) -> list[str]:
    """From one colour over pale to another: what stands in the middle is neither."""
    return [BLUE, *[PALE] * (parts - 2), OCHRE][:parts]
