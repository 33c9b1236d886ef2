"""Figures of scores and metrics: ranking, by level, against votes, redundancy, meta-correlation."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import zip_longest

import plotly.graph_objects as go

from core.diff import WordsKept
from core.plots.dressing import (
    BLUE,
    GRID,
    LINE,
    POINT_FONT,
    dressed,
    ends_of,
    heat_map,
    interval_said,
    label,
    marks,
    metric_label,
    name_rows,
    panels,
    point_names,
    row_name,
    shortened,
    whiskers,
)
from core.results.cells import decimal
from core.results.choices import marked
from core.results.correlations.levels import MetricByLevel
from core.results.correlations.ranking import Ranking, Redundancy
from core.results.correlations.table import CorrelationReport
from core.results.correlations.votes import MetricVotes
from core.results.meta_correlation import Matrix, MetaCorrelation, meta_title
from core.stats.resampling import Estimate

_BAND = "rgba(128, 128, 128, 0.13)"
_METRIC = 44
"""Letters of a metric's name, longer than those of raters."""


def metric_ranking(report: CorrelationReport, found: Ranking) -> go.Figure:
    """Draw metrics from best to worst with intervals over items; a grey band marks every other cluster."""
    rows = {row.metric.name: row for row in report.rows}
    drawn = [
        (
            f"{found.cluster.get(name, '')}  {marked(name, found.directions.get(name))}".lstrip(),
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
    """Draw the share of pairs that each metric orders as the raters do, best first, against chance."""
    defined = sorted(
        (one for one in found if one.agreement.estimate is not None),
        key=lambda one: -(one.agreement.estimate or 0.0),
    )
    figure = _forest([(one.metric, one.family, one.agreement) for one in defined])
    figure.add_vline(x=0.5, line={"color": LINE, "width": 2, "dash": "dot"})
    figure.update_xaxes(title="share of pairs in the raters' order<br>(0.5: by chance)", range=[-0.02, 1.02])
    return figure


def _forest(rows: Sequence[tuple[str, str, Estimate]]) -> go.Figure:
    """Draw one row per (name, family, estimate) from the top, one trace per family."""
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
            error_x=whiskers([ends_of(one) for _, _, one in own]),
            text=[f"{metric_label(name, _METRIC)}<br>{interval_said(one)}" for _, name, one in own],
            hovertemplate="%{text}<extra>" + label(family) + "</extra>",
        )
    names = [row_name(shortened(name, _METRIC)) for name, _, _ in rows]
    name_rows(figure, names, None)
    row = 36 if any("<br>" in name for name in names) else 24
    return dressed(figure, height=130 + row * len(rows), top=60, legend=True)


def scores_by_level(found: Sequence[MetricByLevel]) -> go.Figure:
    """Draw the mean score per level with its interval, one panel per metric, because scales differ."""
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
        drawn = {level: mean for level, mean in one.levels.items() if mean.estimate is not None}
        figure.add_scatter(
            row=place // columns + 1,
            col=place % columns + 1,
            x=[label(level) for level in drawn],
            y=[mean.estimate for mean in drawn.values()],
            mode="lines+markers",
            line={"color": color, "width": 2},
            marker={"color": color, "symbol": symbol, "size": 9},
            error_y=whiskers([ends_of(mean) for mean in drawn.values()]),
            text=[f"{label(level)}: {interval_said(mean)}" for level, mean in drawn.items()],
            hovertemplate="%{text}<extra>" + metric_label(one.metric, _METRIC) + "</extra>",
        )
        figure.update_xaxes(
            type="category",
            categoryorder="array",
            categoryarray=[label(level) for level in one.levels],
            row=place // columns + 1,
            col=place % columns + 1,
        )
    figure.update_yaxes(gridcolor=GRID, zeroline=False)
    return dressed(figure, height=height, top=top)


def redundancy(found: Redundancy) -> go.Figure:
    """Draw how similarly every two metrics score the same texts."""
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


def words_kept(levels: Sequence[WordsKept]) -> go.Figure:
    """Draw the mean share of the reference's words per level, with the range over items; undefined values are left out."""
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


_LEAST_SPAN = 0.1
"""Shortest range of an axis of correlations."""
_SIZE, _NAME = 11, 24
"""Pixels of a point; letters of the name beside it."""
_LEAST_WIDTH, _AXES = 720, (620.0, 330.0)
"""Pixels of the figure and within its axes, for which names are placed: a narrower screen scrolls."""
_SIDE, _POINT = 34, 60
"""Letters of a side's name, and of a metric's name on hover."""


def meta_scatter(found: MetaCorrelation) -> go.Figure:
    """Draw each metric's correlation with people (x) and with known quality (y); the title states the result."""
    figure = go.Figure()
    across, up = (_range([getattr(point, side) for point in found.points]) for side in ("human", "synthetic"))
    named = _point_labels(found, across, up)
    for family, (color, symbol) in marks(point.family for point in found.points).items():
        own = [point for point in found.points if point.family == family]
        figure.add_scatter(
            x=[point.human for point in own],
            y=[point.synthetic for point in own],
            mode="markers+text",
            name=label(family),
            marker={"color": color, "symbol": symbol, "size": _SIZE, "line": {"width": 1, "color": "white"}},
            text=[named[point.metric][0] for point in own],
            textposition=[named[point.metric][1] for point in own],
            textfont={"size": POINT_FONT},
            customdata=[metric_label(point.metric, _POINT) for point in own],
            hovertemplate="%{customdata}<br>human %{x:.3f}<br>synthetic %{y:.3f}<extra>"
            + label(family)
            + "</extra>",
        )
    lines = [escape(line, quote=False) for line in meta_title(found).split("\n")]
    figure.update_layout(
        title={
            "text": f"<b>{lines[0]}</b>" + "".join(f"<br>{line}" for line in lines[1:]),
            "font": {"size": 14},
            "x": 0,
            "xanchor": "left",
            "yref": "container",
            "y": 0.975,
            "yanchor": "top",
        }
    )
    # If all points are on one side of zero, including it would press them together.
    if any(point.human <= 0 for point in found.points):
        figure.add_vline(x=0, line={"color": LINE, "width": 1, "dash": "dot"})
    if any(point.synthetic <= 0 for point in found.points):
        figure.add_hline(y=0, line={"color": LINE, "width": 1, "dash": "dot"})
    figure.update_xaxes(range=across)
    figure.update_yaxes(range=up)
    figure.update_xaxes(title=f"human: {label(found.human, longest=_SIDE)}")
    figure.update_yaxes(
        title=f"synthetic: {label(found.synthetic, longest=_SIDE)}", gridcolor=GRID, zeroline=False
    )
    dressed(figure, height=590, top=90, legend=True)
    # Below the axis: the title is above, and the legend needs several lines in a narrow window.
    return figure.update_layout(
        legend={"xref": "paper", "yref": "paper", "y": -0.27, "yanchor": "top"},
        meta={"least_width": _LEAST_WIDTH},
    )


def _point_labels(
    found: MetaCorrelation, across: Sequence[float] | None, up: Sequence[float] | None
) -> dict[str, tuple[str, str]]:
    """Return metric -> its name beside the point, and where."""
    if across is None or up is None:
        return {}
    places = [
        ((one.human - across[0]) / (across[1] - across[0]), (one.synthetic - up[0]) / (up[1] - up[0]))
        for one in found.points
    ]
    names = [metric_label(one.metric, _NAME) for one in found.points]
    placed = point_names(places, names, _AXES, _SIZE)
    return {one.metric: name for one, name in zip(found.points, placed, strict=True)}


def _range(values: Sequence[float]) -> list[float] | None:
    """Return a range with room around the points, wide enough that noise does not fill the figure."""
    if not values:
        return None
    middle = (min(values) + max(values)) / 2
    reach = max(_LEAST_SPAN, 1.15 * (max(values) - min(values))) / 2
    return [middle - reach, middle + reach]


def meta_matrix(found: Matrix) -> go.Figure:
    """Draw one cell per meta-correlation: the first column of `by` as rows, the others as columns."""
    first, *rest = found.cells[0].by
    cells = {(cell.by[first], " ".join(cell.by[name] for name in rest)): cell for cell in found.cells}
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    values: list[list[float | None]] = []
    said: list[list[str]] = []
    for row in rows:
        line = [cells.get((row, column)) for column in columns]
        results = [None if one is None or one.result is None else one.result.over_metrics for one in line]
        values.append([None if one is None else one.estimate for one in results])
        undefined = ["no data" if one is None else one.reason for one in line]
        said.append(
            [
                f"{row}, {column}\n"
                + (f"undefined: {why}" if one is None else f"{interval_said(one)} metrics")
                for column, one, why in zip(columns, results, undefined, strict=True)
            ]
        )
    return heat_map(values, rows, [column or "meta-correlation" for column in columns], said, y=label(first))


def published_heat(
    rows: Sequence[Mapping[str, object]], named_by: Sequence[str], columns: Sequence[str]
) -> go.Figure:
    """Draw the coefficients of a published table, with rows named by some of its columns; undefined cells have a dash.

    Hovering shows the row's further columns for the cell: interval, spread, error.
    """
    names = [" ".join(str(row[name]) for name in named_by) for row in rows]
    cells = [[row.get(column) for column in columns] for row in rows]
    values = [[cell if isinstance(cell, int | float) else None for cell in line] for line in cells]
    said = [[_cell_said(*named, column) for column in columns] for named in zip(names, rows, strict=True)]
    return heat_map(values, names, columns, said)


def _cell_said(name: str, row: Mapping[str, object], column: str) -> str:
    stem = column.removesuffix("_mean")
    further = [
        f"{key.removeprefix(f'{stem}_')} {value}"
        for key, value in row.items()
        if key != column and key.startswith(f"{stem}_") and value is not None
    ]
    flagged = [str(row[key]) for key in ("why_undefined", "error") if row.get(key)]
    value = "undefined" if row.get(column) is None else str(row[column])
    return "\n".join([name, f"{column} {value}", *further, *flagged])
