"""The figures of scores: metrics in order with intervals, scores by level, metrics against votes, redundancy."""

from collections.abc import Sequence
from itertools import zip_longest

import plotly.graph_objects as go

from core.plots.dressing import (
    GRID,
    LINE,
    dressed,
    heat_map,
    label,
    marks,
    metric_label,
    name_rows,
    panels,
    row_name,
    shortened,
    whiskers,
)
from core.results.choices import marked
from core.results.correlations.levels import MetricByLevel
from core.results.correlations.ranking import Ranking, Redundancy
from core.results.correlations.table import CorrelationReport
from core.results.correlations.votes import MetricVotes
from core.results.decimals import decimal
from core.stats.resampling import Estimate

_BAND = "rgba(128, 128, 128, 0.13)"
_METRIC = 44
"""Letters of a metric's name in a figure: names are longer than those of raters."""


def interval_said(found: Estimate) -> str:
    """An estimate with its interval and n, for a hover."""
    return value_said(found) if found.estimate is None else f"{value_said(found)}, n {found.n}"


def value_said(found: Estimate) -> str:
    """An estimate with its interval, or why there is none."""
    if found.estimate is None:
        return f"undefined: {found.reason}"
    ends = (
        "no interval"
        if found.low is None or found.high is None
        else f"[{decimal(found.low)}, {decimal(found.high)}]"
    )
    return f"{decimal(found.estimate)} {ends}"


def metric_ranking(report: CorrelationReport, found: Ranking) -> go.Figure:
    """Metrics from best to worst with intervals over items; a grey band behind every other cluster."""
    rows = {row.metric.name: row for row in report.rows}
    drawn = [
        (
            f"{found.cluster.get(name, '')}  {marked(name, found.directions.get(name))}",
            rows[name].metric.family,
            pooled.over_items,
        )
        for name in found.order
        if name in rows and (pooled := rows[name].pooled.get(found.method)) is not None
    ]
    figure = _forest(drawn)
    for place, name in enumerate(found.order):
        if found.cluster.get(name, 1) % 2 == 0:
            figure.add_hrect(
                y0=place - 0.5, y1=place + 0.5, fillcolor=_BAND, line={"width": 0}, layer="below"
            )
    figure.add_vline(x=0, line={"color": LINE, "width": 1, "dash": "dot"})
    figure.update_xaxes(title=f"{found.method.capitalize()}'s correlation")
    return figure


def metric_votes(found: Sequence[MetricVotes]) -> go.Figure:
    """The share of pairs that each metric orders as the raters did, best first, against chance."""
    defined = sorted(
        (one for one in found if one.agreement.estimate is not None),
        key=lambda one: -(one.agreement.estimate or 0.0),
    )
    figure = _forest([(one.metric, one.family, one.agreement) for one in defined])
    figure.add_vline(x=0.5, line={"color": LINE, "width": 2, "dash": "dot"})
    figure.update_xaxes(title="share of pairs in the raters' order<br>(0.5: by chance)", range=[-0.02, 1.02])
    return figure


def _forest(rows: Sequence[tuple[str, str, Estimate]]) -> go.Figure:
    """(name, family, estimate) a row from the top, a trace a family."""
    figure = go.Figure()
    for family, (color, symbol) in marks(family for _, family, _ in rows).items():
        own = [
            (place, name, one)
            for place, (name, its, one) in enumerate(rows)
            if its == family and one.estimate is not None
        ]
        figure.add_scatter(
            x=[one.estimate for _, _, one in own],
            y=[place for place, _, _ in own],
            mode="markers",
            name=label(family),
            marker={"color": color, "symbol": symbol, "size": 9},
            error_x=whiskers([(one.low, one.estimate, one.high) for _, _, one in own]),
            text=[f"{metric_label(name, _METRIC)}<br>{interval_said(one)}" for _, name, one in own],
            hovertemplate="%{text}<extra>" + label(family) + "</extra>",
        )
    names = [row_name(shortened(name, _METRIC)) for name, _, _ in rows]
    name_rows(figure, names, None)
    row = 36 if any("<br>" in name for name in names) else 24
    return dressed(figure, height=130 + row * len(rows), top=60, legend=True)


def scores_by_level(found: Sequence[MetricByLevel]) -> go.Figure:
    """Mean score at each level with its interval, a panel a metric, because metrics have scales of their own."""
    columns = min(2, max(1, len(found)))
    figure, height, top = panels(
        [shortened(one.metric, _METRIC) for one in found],
        columns=columns,
        room=160,
        between=60,
        top=35,
        horizontal_spacing=0.1,
    )
    looks = marks(one.family for one in found)
    for place, one in enumerate(found):
        color, symbol = looks[one.family]
        drawn = [level for level in one.levels if level.mean.estimate is not None]
        figure.add_scatter(
            row=place // columns + 1,
            col=place % columns + 1,
            x=[label(level.level) for level in drawn],
            y=[level.mean.estimate for level in drawn],
            mode="lines+markers",
            line={"color": color, "width": 2},
            marker={"color": color, "symbol": symbol, "size": 9},
            error_y=whiskers([(level.mean.low, level.mean.estimate, level.mean.high) for level in drawn]),
            text=[f"{label(level.level)}: {interval_said(level.mean)}" for level in drawn],
            hovertemplate="%{text}<extra>" + metric_label(one.metric, _METRIC) + "</extra>",
        )
        figure.update_xaxes(
            type="category",
            categoryorder="array",
            categoryarray=[label(level.level) for level in one.levels],
            row=place // columns + 1,
            col=place % columns + 1,
        )
    figure.update_yaxes(gridcolor=GRID, zeroline=False)
    return dressed(figure, height=height, top=top)


def redundancy(found: Redundancy) -> go.Figure:
    """How alike every two metrics score the same texts."""
    names = [
        marked(name, direction)
        for name, direction in zip_longest(found.metrics, found.directions[: len(found.metrics)])
    ]
    said = [
        [
            f"{row}\n{column}\n"
            + ("undefined" if value is None else decimal(value))
            + (f", n {found.n[i][j]}" if found.n else "")
            for j, (column, value) in enumerate(zip(names, line, strict=True))
        ]
        for i, (row, line) in enumerate(zip(names, found.values, strict=True))
    ]
    return heat_map(found.values, names, names, said)
