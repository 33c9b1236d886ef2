"""Several numbers with their intervals for each row, one above the other."""

from collections.abc import Sequence

import plotly.graph_objects as go

from core.plots.dressing import (
    BLUE,
    DARK,
    Ends,
    Mark,
    dressed,
    label,
    name_rows,
    row_name,
    shortened,
    whiskers,
)

_NAME = 40
"""Letters of a row's name."""
_ROW = 36
"""Pixels of a row."""
_BAND = 0.6
"""Part of a row that its marks take."""
_BOTH = (("two raters", (DARK, "square")), ("evaluator and a rater", (BLUE, "circle")))


def marks(
    names: Sequence[str],
    ends: Sequence[Sequence[Ends]],
    title: str,
    looks: Sequence[tuple[str, Mark]] = _BOTH,
    *,
    hover_text: str = "%{text}: %{x:.3f}",
    room: int = _ROW,
) -> go.Figure:
    """Draw several estimates per row, one above the other.

    ends: for each row its estimates, as many as `looks`, which name and colour them. hover_text: what a mark says. room: pixels of
    a row.
    """
    figure = go.Figure()
    for place, (what, (color, symbol)) in enumerate(looks):
        own = [pair[place] for pair in ends]
        figure.add_scatter(
            x=[value for _, value, _ in own],
            y=[row + (place - (len(looks) - 1) / 2) * _BAND / len(looks) for row in range(len(own))],
            mode="markers",
            name=what,
            marker={"color": color, "symbol": symbol, "size": 9},
            error_x={**whiskers(own), "color": color},
            text=[label(name, longest=_NAME) for name in names],
            hovertemplate=hover_text + "<extra>" + what + "</extra>",
        )
    name_rows(figure, [row_name(shortened(name, _NAME)) for name in names], None)
    figure.update_xaxes(title=title)
    return dressed(figure, height=120 + room * max(len(names), 3), top=40, legend=True)
