"""The figure of made levels: scores and length by level, and the texts to remake."""

import plotly.graph_objects as go

from core.plots.dressing import (
    BLUE,
    GRID,
    LINE,
    OCHRE,
    dressed,
    ends_of,
    interval_said,
    label,
    metric_label,
    panels,
    shortened,
    whiskers,
)
from core.results.judges.made_levels import LevelSet, MadeLevels
from core.stats.resampling import Estimate

_NAME = 32
"""Letters of a judge's name."""
_MOST_LINES = 200
"""Items drawn; more would be one grey area."""


def made_levels(levels: MadeLevels) -> go.Figure:
    """Draw the scores and the words of each item by level, their means with intervals, and a cross for each text to remake."""
    figure, height, top = panels(
        [shortened(levels.judge, _NAME), "words"],
        columns=2,
        room=260,
        between=60,
        top=35,
        horizontal_spacing=0.1,
    )
    names = [one.level for one in levels.levels]
    for column, (measure, unit) in enumerate((("scores", ""), ("words", " words")), start=1):
        for faulty, color in ((False, LINE), (True, OCHRE)):
            _lines(figure, column, [one for one in levels.sets if bool(one.faults) is faulty], measure, color)
        _crosses(figure, column, levels, measure, unit)
        means = [one.score if measure == "scores" else one.words for one in levels.levels]
        _means(figure, column, names, means)
        figure.update_xaxes(
            type="category",
            categoryorder="array",
            categoryarray=[label(name) for name in names],
            row=1,
            col=column,
        )
    figure.update_yaxes(gridcolor=GRID, zeroline=False)
    return dressed(figure, height=height, top=top)


def _lines(figure: go.Figure, column: int, sets: list[LevelSet], measure: str, color: str) -> None:
    """One thin line for each item, as one trace with gaps."""
    x: list[str | None] = []
    y: list[float | int | None] = []
    for one in sets[:_MOST_LINES]:
        x += [*(label(level) for level in one.levels), None]
        y += [*getattr(one, measure), None]
    figure.add_scatter(
        row=1,
        col=column,
        x=x,
        y=y,
        mode="lines",
        line={"color": color, "width": 1},
        opacity=0.6,
        hoverinfo="skip",
        showlegend=False,
    )


def _crosses(figure: go.Figure, column: int, levels: MadeLevels, measure: str, unit: str) -> None:
    """A cross at each text to remake, with the reasons on hover."""
    x, y, said = [], [], []
    for one in levels.sets:
        values = dict(zip(one.levels, getattr(one, measure), strict=True))
        for level in dict.fromkeys(fault.level for fault in one.faults):
            if values.get(level) is not None:
                x.append(label(level))
                y.append(values[level])
                why = "<br>".join(
                    label(fault.why, longest=60) for fault in one.faults if fault.level == level
                )
                said.append(f"{metric_label(one.item_id, _NAME)}, {metric_label(one.system, _NAME)}<br>{why}")
    figure.add_scatter(
        row=1,
        col=column,
        x=x,
        y=y,
        mode="markers",
        marker={"color": OCHRE, "symbol": "x", "size": 9},
        text=said,
        hovertemplate=f"%{{text}}<br>%{{y:.3~f}}{unit}<extra></extra>",
        showlegend=False,
    )


def _means(figure: go.Figure, column: int, names: list[str], means: list[Estimate]) -> None:
    drawn = [(name, mean) for name, mean in zip(names, means, strict=True) if mean.estimate is not None]
    figure.add_scatter(
        row=1,
        col=column,
        x=[label(name) for name, _ in drawn],
        y=[mean.estimate for _, mean in drawn],
        mode="lines+markers",
        line={"color": BLUE, "width": 3},
        marker={"color": BLUE, "size": 9},
        error_y=whiskers([ends_of(mean) for _, mean in drawn]),
        text=[f"{label(name)}: {interval_said(mean)}" for name, mean in drawn],
        hovertemplate="mean of %{text}<extra></extra>",
        showlegend=False,
    )
