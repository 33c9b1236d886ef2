"""What all figures share: colours, labels, rows and the clear ground.

A figure has no title (the page has one) unless the title is the result, and no background, so that it is readable
on light and on dark ground.
Colours are blue, ochre and two greys: told apart without red and green, and none says "right" or "wrong".
Names of sources, raters and levels are a user's text. Plotly reads HTML in every label, so they are escaped.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

BLUE, OCHRE, PALE, DARK, VIOLET = "#3d7fd0", "#d9982b", "#b9bfc7", "#727b87", "#9467bd"
LINE = "rgba(128, 128, 128, 0.9)"
GRID = "rgba(128, 128, 128, 0.25)"
_CLEAR = "rgba(0, 0, 0, 0)"
_LONGEST = 22


def label(text: str, *, longest: int = _LONGEST) -> str:
    """User text for a plotly label: no HTML, not too long."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return escape(short, quote=False)


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
    figure.update_xaxes(gridcolor=GRID, zeroline=False, automargin=True)
    figure.update_yaxes(automargin=True)
    return figure.update_layout(
        height=height,
        paper_bgcolor=_CLEAR,
        plot_bgcolor=_CLEAR,
        margin={"l": 10, "r": 15, "t": top, "b": 10},
        showlegend=legend,
        legend={"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0, "title": ""},
        dragmode=False,
        hovermode="closest",
    )
