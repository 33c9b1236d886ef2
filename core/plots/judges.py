"""The figures of judges: two of them on the same texts, and what they cost by step."""

from collections import Counter
from collections.abc import Sequence

import plotly.graph_objects as go

from core.formats.study_tables import natural_order
from core.plots.dressing import GRID, LOOKS, dressed, label, metric_label, name_rows
from core.results.judges.agreement import Disagreement
from core.results.judges.costs import ALL_STEPS, CostRow

_NAME, _STEP = 48, 30
"""Letters of a judge's and of a step's name."""
_SMALLEST = 8
"""Pixels of a point that is one text."""


def two_judges(
    texts: Sequence[Disagreement], names: tuple[str, str], factors: tuple[float, float]
) -> go.Figure:
    """The first judge's score across, the second's up, a colour and symbol a level; texts in one place make it larger.

    factors: what each judge's scores are multiplied with, 100 for percent.
    """
    figure = go.Figure()
    levels = sorted({one.row.level or "" for one in texts}, key=natural_order)
    for place, level in enumerate(levels):
        color, symbol = LOOKS[place % len(LOOKS)]
        own = Counter(
            (factors[0] * one.score_a, factors[1] * one.score_b)
            for one in texts
            if (one.row.level or "") == level
        )
        said = f"level {level}" if level else "no level"
        figure.add_scatter(
            x=[x for x, _ in own],
            y=[y for _, y in own],
            mode="markers",
            name=label(said),
            marker={
                "color": color,
                "symbol": symbol,
                "size": [_SMALLEST * n**0.4 for n in own.values()],
                "opacity": 0.7,
                "line": {"width": 1, "color": "white"},
            },
            text=["1 text" if n == 1 else f"{n} texts" for n in own.values()],
            hovertemplate="%{text}<br>%{x:.3f}, %{y:.3f}<extra>" + label(said) + "</extra>",
        )
    figure.update_xaxes(title=metric_label(names[0], _NAME))
    figure.update_yaxes(title=metric_label(names[1], _NAME), gridcolor=GRID, zeroline=False)
    return dressed(figure, height=480, top=60, legend=True)


def judge_costs(rows: Sequence[CostRow]) -> go.Figure:
    """Input and output tokens of one text: a bar a judge, a part a step. Judges without counts have no bar."""
    judges = list(dict.fromkeys(row.judge for row in rows))
    figure = go.Figure()
    steps = [step for step in dict.fromkeys(row.step for row in rows) if step != ALL_STEPS]
    for place, step in enumerate(steps):
        own = [row for row in rows if row.step == step]
        figure.add_bar(
            orientation="h",
            y=[judges.index(row.judge) for row in own],
            x=[
                (row.each("input_tokens", "text") or 0) + (row.each("output_tokens", "text") or 0)
                for row in own
            ],
            name=label(step, longest=_STEP),
            marker={
                "color": LOOKS[place % len(LOOKS)][0],
                "pattern": {"shape": "/" if place >= len(LOOKS) else ""},
            },
            hovertemplate="%{x:,.0f} tokens a text<extra>" + label(step, longest=_STEP) + "</extra>",
        )
    name_rows(figure, [metric_label(name, _NAME) for name in judges], None)
    figure.update_xaxes(title="tokens of a text, in and out", gridcolor=GRID)
    figure.update_layout(barmode="stack")
    dressed(figure, height=320 + 40 * len(judges), top=10, legend=True)
    # Below the axis, where it pushes the bars up: a narrow window gives it several lines.
    return figure.update_layout(
        legend={"traceorder": "normal", "yref": "paper", "y": -0.35, "yanchor": "top"}
    )
