"""The figures of judges that mark errors: F1 by number of examples, by system, and rater by rater."""

from collections.abc import Mapping

import plotly.graph_objects as go

from core.plots.dressing import GRID, LOOKS, dressed, heat_map, label, metric_label, whiskers
from core.plots.metrics import value_said
from core.results.decimals import decimal
from core.results.spans.agreement import ExampleCurve, RaterMatrix, interval_of
from core.stats.span_f1 import Measure, SpanF1

_NAME = 44
"""Letters of a judge's or a system's name."""
_OFFSET = 0.18
"""Between the points of two judges in one row."""


def example_curve(found: ExampleCurve) -> go.Figure:
    """F1 against the number of examples that were shown, a line a variant; whiskers as `interval_of` has them."""
    figure = go.Figure()
    for place, variant in enumerate(dict.fromkeys(point.variant for point in found.points)):
        color, symbol = LOOKS[place % len(LOOKS)]
        own = [point for point in found.points if point.variant == variant]
        ends = [interval_of(point) for point in own]
        said = [
            f"{metric_label(point.name, _NAME)}<br>{point.mean_shown:.2f} examples a text<br>F1 {_ends(*end)}"
            for point, end in zip(own, ends, strict=True)
        ]
        figure.add_scatter(
            x=[point.mean_shown for point in own],
            y=[middle for _, middle, _ in ends],
            mode="lines+markers",
            name=label(variant or "examples"),
            line={"color": color, "width": 2},
            marker={"color": color, "symbol": symbol, "size": 9},
            error_y=whiskers(ends),
            text=said,
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_xaxes(title="examples shown of each text (mean)", rangemode="tozero")
    figure.update_yaxes(title="F1 of characters", gridcolor=GRID, zeroline=False)
    return dressed(figure, height=380, top=60, legend=True)


def spans_by_system(judges: Mapping[str, Mapping[str, SpanF1]], measure: Measure = "f1") -> go.Figure:
    """A row a system, a colour and symbol a judge, with intervals over items; undefined values have no point.

    judges: name -> system -> its agreement, as `SpanAgreement.by_system`.
    """
    systems = sorted({system for own in judges.values() for system in own})
    figure = go.Figure()
    for number, (judge, own) in enumerate(judges.items()):
        color, symbol = LOOKS[number % len(LOOKS)]
        drawn = [
            (place, system, one)
            for place, system in enumerate(systems)
            if system in own and (one := getattr(own[system], measure)).estimate is not None
        ]
        shift = _OFFSET * (number - (len(judges) - 1) / 2)
        figure.add_scatter(
            x=[one.estimate for _, _, one in drawn],
            y=[place + shift for place, _, _ in drawn],
            mode="markers",
            name=metric_label(judge, _NAME),
            marker={"color": color, "symbol": symbol, "size": 9},
            error_x=whiskers([(one.low, one.estimate, one.high) for _, _, one in drawn]),
            text=[f"{metric_label(system, _NAME)}<br>{value_said(one)}" for _, system, one in drawn],
            hovertemplate="%{text}<extra>" + metric_label(judge, _NAME) + "</extra>",
        )
    figure.update_yaxes(
        tickvals=list(range(len(systems))),
        ticktext=[metric_label(system, _NAME) for system in systems],
        range=[len(systems) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.update_xaxes(title={"f1": "F1"}.get(measure, measure) + " of characters", range=[-0.02, 1.02])
    return dressed(figure, height=130 + 30 * len(systems), top=60, legend=True)


def rater_heat(found: RaterMatrix, measure: Measure = "f1") -> go.Figure:
    """Who predicts (down) whose marks (across); undefined cells hold a dash and say why on hover."""
    values: list[list[float | None]] = []
    said: list[list[str]] = []
    for row, line in zip(found.rows, found.cells, strict=True):
        estimates = [None if cell.agreement is None else getattr(cell.agreement, measure) for cell in line]
        values.append([None if one is None else one.estimate for one in estimates])
        said.append(
            [
                f"{row} against {column}\n"
                + (
                    f"undefined: {cell.reason}"
                    if one is None
                    else f"{value_said(one)}, {cell.n_segments} texts"
                )
                for column, cell, one in zip(found.columns, line, estimates, strict=True)
            ]
        )
    return heat_map(values, found.rows, found.columns, said, y="who predicts", x="whose marks are the gold")


def _ends(low: float | None, middle: float | None, high: float | None) -> str:
    if middle is None:
        return "undefined"
    return (
        decimal(middle)
        if low is None or high is None
        else f"{decimal(middle)} [{decimal(low)}, {decimal(high)}]"
    )
