"""What all figures share: colours, labels, rows and the clear ground.

A figure has no title (the page has one) unless the title is the result, and no background, so that it is readable
on light and on dark ground.
Colours are blue, ochre and two greys: told apart without red and green, and none says "right" or "wrong".
Names of sources, raters and levels are a user's text. Plotly reads HTML in every label, so they are escaped.
"""

import re
from collections.abc import Sequence
from html import escape, unescape
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

BLUE, OCHRE, PALE, DARK, VIOLET = "#3d7fd0", "#d9982b", "#b9bfc7", "#727b87", "#9467bd"
LINE = "rgba(128, 128, 128, 0.9)"
GRID = "rgba(128, 128, 128, 0.25)"
_CLEAR = "rgba(0, 0, 0, 0)"
_LONGEST = 22
_PANEL, _PANEL_SIZE, _PANEL_LINE = 20, 13, 17
"""Of the title of a panel that stands beside another on a phone: letters of a line, their size, pixels of a line."""


_AXIS = 28
"""Letters of a line of an x axis' title: names of rows leave it half the width of a phone."""
_ROW_NAME = 24
"""Letters of a line of a row's name."""


def label(text: str, *, longest: int = _LONGEST) -> str:
    """User text for a plotly label: no HTML, not too long."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return escape(short, quote=False)


def wrapped(text: str, *, letters: int) -> str:
    """User text as lines of at most so many letters, broken at blanks and hyphens where it has some; no HTML."""
    lines = [""]
    for piece in re.findall(r"[^\s_-]+[\s_-]*|[\s_-]+", text):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > letters:
            lines[-1:] = [lines[-1][:letters], lines[-1][letters:]]
    return "<br>".join(escape(line.rstrip(), quote=False) for line in lines)


def panels(
    titles: Sequence[str], *, columns: int, room: int, between: int, top: int, **shared: Any
) -> tuple[go.Figure, int, int]:
    """Panels with titles that fit side by side on a phone, and the height and the top margin for `dressed`.

    titles: plain texts, wrapped here. room: pixels of one panel; between: of the axis and a title of one line between two
    rows; top: above the first row. shared: what make_subplots takes besides.
    """
    lines = [wrapped(title, letters=_PANEL) for title in titles]
    further = _PANEL_LINE * max((line.count("<br>") for line in lines), default=0)
    rows = max(1, -(-len(titles) // columns))
    height = rows * room + (rows - 1) * (between + further)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=lines,
        vertical_spacing=(between + further) / height if rows > 1 else 0,
        **shared,
    )
    figure.update_annotations(font={"size": _PANEL_SIZE})
    return figure, height + between + top + further, top + further


def whiskers(ends: Sequence[tuple[float | None, float | None, float | None]]) -> dict[str, Any]:
    """Distances from each (low, value, high) to its ends, 0 where it has no interval."""
    reach = [
        (0.0, 0.0) if low is None or value is None or high is None else (value - low, high - value)
        for low, value, high in ends
    ]
    return {
        "type": "data",
        "symmetric": False,
        "array": [up for _, up in reach],
        "arrayminus": [down for down, _ in reach],
        "thickness": 2,
        "width": 5,
    }


def row_name(text: str) -> str:
    """A row's name in lines that leave the figure half the width of a phone."""
    return wrapped(text, letters=_ROW_NAME)


def name_rows(figure: go.Figure, labels: Sequence[str], title: str | None) -> None:
    """Name the rows 0, 1, ... from the top."""
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        range=[len(labels) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        title=title,
    )


def dressed(figure: go.Figure, *, height: int, top: int, legend: bool = False) -> go.Figure:
    """The figure on clear ground, of that height, with room for a legend above where there is one."""
    for axis in figure.select_xaxes(lambda one: one.title.text and "<br>" not in one.title.text):
        axis.title.text = wrapped(unescape(axis.title.text), letters=_AXIS)
    figure.update_xaxes(gridcolor=GRID, zeroline=False, automargin=True)
    figure.update_yaxes(automargin=True)
    return figure.update_layout(
        height=height,
        paper_bgcolor=_CLEAR,
        plot_bgcolor=_CLEAR,
        margin={"l": 10, "r": 15, "t": top, "b": 10},
        showlegend=legend,
        legend={
            "orientation": "h",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "xref": "container",
            "x": 0,
            "title": "",
        },
        dragmode=False,
        hovermode="closest",
    )
