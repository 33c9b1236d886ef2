"""The figures of a generation run."""

from collections.abc import Sequence

import plotly.graph_objects as go

from core.diff import WordsKept
from core.plots.dressing import BLUE, dressed, label, name_rows, whiskers


def words_kept(levels: Sequence[WordsKept]) -> go.Figure:
    """Mean share of the reference's words at each level, with the range over items; undefined: not drawn."""
    drawn = [(row, found) for row, found in enumerate(levels) if found.mean is not None]
    figure = go.Figure()
    figure.add_scatter(
        x=[found.mean for _, found in drawn],
        y=[row for row, _ in drawn],
        mode="lines+markers",
        line={"color": BLUE, "width": 1, "dash": "dot"},
        marker={"color": BLUE, "size": 10},
        error_x=whiskers([(found.low, found.mean, found.high) for _, found in drawn]),
        text=[f"{label(found.level)}: {found.mean:.2f} (n {found.n})" for _, found in drawn],
        customdata=[[found.low, found.high] for _, found in drawn],
        hovertemplate="%{text}<br>from %{customdata[0]:.2f} to %{customdata[1]:.2f}<extra></extra>",
    )
    figure.update_xaxes(title="share of the reference's words kept", range=[-0.02, 1.02])
    name_rows(figure, [f"{label(found.level)} (n {found.n})" for found in levels], None)
    return dressed(figure, height=100 + 38 * len(levels), top=15)
