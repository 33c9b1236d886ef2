"""Figures of scores and metrics: ranking, by level, against votes, redundancy, meta-correlation."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.diff import WordsKept
from core.joining.choices import marked
from core.plots.dressing import (
    BLUE,
    CLEAR,
    DARK,
    GRID,
    LINE,
    POINT_FONT,
    VIOLET,
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
from core.results.correlations.levels import LevelMeans
from core.results.correlations.points import Points
from core.results.correlations.ranking import Ranking
from core.results.correlations.table import CorrelationReport, View, grid
from core.schema.scores import Direction, Method
from core.stats.resampling import Estimate, Floats, numbered

_BAND = "rgba(128, 128, 128, 0.13)"
_METRIC = 44
"""Letters of a metric's name, longer than those of raters."""


def metric_ranking(report: CorrelationReport, ranking: Ranking) -> go.Figure:
    """Draw metrics from best to worst with intervals over items; a grey band marks every other cluster.

    `customdata` of a point is the metric's place in `ranking.order`.
    """
    rows = {row.metric.name: row for row in report.rows}
    drawn = [
        (
            f"{ranking.cluster.get(name, '')}  {marked(name, ranking.directions.get(name))}".lstrip(),
            rows[name].metric.family,
            pooled.over_items,
            at,
        )
        for at, name in enumerate(ranking.order)
        if name in rows and (pooled := rows[name].pooled.get(ranking.method)) is not None
    ]
    figure = _forest(drawn)
    for place, name in enumerate(ranking.order):
        if ranking.cluster.get(name, 1) % 2 == 0:
            figure.add_hrect(
                y0=place - 0.5, y1=place + 0.5, fillcolor=_BAND, line={"width": 0}, layer="below"
            )
    figure.add_vline(x=0, line={"color": LINE, "width": 1, "dash": "dot"})
    figure.update_xaxes(title=f"{ranking.method.capitalize()}'s correlation")
    return figure


def _forest(rows: Sequence[tuple[str, str, Estimate, int]]) -> go.Figure:
    """Draw one row per (name, family, estimate, customdata) from the top, one trace per family."""
    figure = go.Figure()
    for family, (color, symbol) in marks(family for _, family, _, _ in rows).items():
        own = [
            (place, name, one, at)
            for place, (name, its, one, at) in enumerate(rows)
            if its == family and one.estimate is not None
        ]
        figure.add_scatter(
            x=[one.estimate for _, _, one, _ in own],
            y=[place for place, *_ in own],
            mode="markers",
            name=label(family),
            marker={"color": color, "symbol": symbol, "size": 9},
            error_x=whiskers([ends_of(one) for _, _, one, _ in own]),
            text=[f"{metric_label(name, _METRIC)}<br>{interval_said(one)}" for _, name, one, _ in own],
            customdata=[at for *_, at in own],
            unselected={"marker": {"opacity": 1}},
            hovertemplate="%{text}<extra>" + label(family) + "</extra>",
        )
    names = [row_name(shortened(name, _METRIC)) for name, *_ in rows]
    name_rows(figure, names, None)
    row = 36 if any("<br>" in name for name in names) else 24
    return dressed(figure, height=130 + row * len(rows), top=60, legend=True)


def scores_by_level(means: Sequence[LevelMeans]) -> go.Figure:
    """Draw the mean score per level with its interval, one panel per metric, because scales differ."""
    columns = min(2, max(1, len(means)))
    figure, height, top = panels(
        [shortened(one.metric, _METRIC) for one in means],
        columns=columns,
        room=160,
        between=60,
        top=35,
        horizontal_spacing=0.1,
    )
    looks = marks(one.family for one in means)
    for place, one in enumerate(means):
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


def redundancy(
    metrics: Sequence[str],
    values: Sequence[Sequence[float | None]],
    n: Sequence[Sequence[int]] = (),
    directions: Sequence[Direction] = (),
) -> go.Figure:
    """Draw how similarly every two metrics score the same texts. values, n: square tables; directions: better end of each metric."""
    names = [marked(name, direction) for name, direction in zip_longest(metrics, directions[: len(metrics)])]
    said = [
        [
            f"{row}\n{column}\n"
            + ("undefined" if value is None else decimal(value))
            + (f", n {n[i][j]}" if n else "")
            for j, (column, value) in enumerate(zip(names, line, strict=True))
        ]
        for i, (row, line) in enumerate(zip(names, values, strict=True))
    ]
    return _pressable(heat_map(values, names, names, said))


def _pressable(figure: go.Figure) -> go.Figure:
    """Add an invisible mark on each cell of a heat map, because a browser cannot select the cells themselves.

    It is the second trace. `customdata` of a mark: [row, column].
    """
    said = figure.data[0].customdata
    places = [[row, column] for row, line in enumerate(said) for column, _ in enumerate(line)]
    hidden = {"marker": {"opacity": 0}}
    return figure.add_scatter(
        x=[column for _, column in places],
        y=[row for row, _ in places],
        mode="markers",
        marker={"symbol": "square", "size": 24, "opacity": 0, "color": LINE},
        selected=hidden,
        unselected=hidden,
        customdata=places,
        text=[said[row][column] for row, column in places],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


_SMALL, _MOST_DOTS = 2_000, 10_000
"""Dots above which they are small, and above which only so many are drawn: as vectors more make the page slow, and plotly's
WebGL writes programs at run time, which the app's security policy forbids."""
_DISCRETE, _DOTS_A_VALUE = 15, 3
"""Most distinct targets for which dots are shifted, and the least mean number of dots a target."""
_SHIFT, _GOLDEN = 0.5, 0.6180339887498949
"""Range of the shift as a share of the smallest step; a fraction that spreads consecutive rows evenly (golden ratio)."""
_LINKED = 40
"""Most items whose texts are linked while none is marked."""
_AXIS_TITLE = 60
"""Letters of an axis' title."""
_MARKED = "#d55e00"
_ROOM = 0.06
"""Room between dots and the ends of an axis, as a share of their range."""
SHIFTED = "dots are shifted up and down, so that they do not hide each other"


MOST_FOLLOWED = 2_000
"""Dots drawn at most of scores that change every few seconds."""


def scatter(points: Points, marked_row: int | None = None, *, most: int = _MOST_DOTS) -> go.Figure:
    """Draw the dots of one cell of the correlation table. marked_row: row of the table whose dots are marked.

    most: dots to draw at most; a larger number is thinned out evenly, and the axis says so.

    Four traces, always in this order: the dots, lines between texts of an item (`per_item`), a trend (medians where the
    target has few values, else least squares), the marked dots. `customdata` of a dot: table row, item, system, score,
    target, texts behind the score, ratings behind the target. With `given_system`, positions are differences from the
    system's means. An axis of a metric whose lower scores are better is reversed, so that a good metric rises to the right.
    Dots at the same few targets are shifted, a row always by the same amount, and the axis says so.
    """
    x, y = _positions(points)
    raised = y + _shifts(points, y)
    chosen = np.isin(points.rows, [] if marked_row is None else [marked_row])
    color, symbol = marks([points.metric.family])[points.metric.family]
    many = points.n > _SMALL
    drawn = chosen | _spread(points.rows, most)
    of_dot = (points.rows, points.item, points.system, points.x, points.y, points.n_scored, points.n_rated)
    named = {name: label(name) for held in of_dot[1:3] for name in set(held[drawn].tolist())}
    about = np.empty((points.n, 7), dtype=object)  # an array, because plotly checks lists cell by cell
    for place, held in enumerate(of_dot):
        own = held[drawn].tolist()
        about[drawn, place] = [named[one] for one in own] if place in (1, 2) else own
    figure = go.Figure()
    lower = points.metric.direction == "lower"
    across, up = _roomy_range(x, reverse=lower), _roomy_range(raised)
    beside: dict[str, Any] = {"mode": "markers"}
    if points.view == "per_system":
        names = [metric_label(name, _NAME) for name in points.system.tolist()]
        placed = _name_places(list(zip(x.tolist(), y.tolist(), strict=True)), names, across, up)
        beside = {
            "mode": "markers+text",
            "text": [name for name, _ in placed],
            "textposition": [place for _, place in placed],
            "textfont": {"size": POINT_FONT},
        }
    figure.add_scatter(
        x=x[drawn],
        y=raised[drawn],
        name="systems" if points.view == "per_system" else "texts",
        marker={
            "color": color,
            "symbol": symbol,
            "size": _SIZE if points.view == "per_system" else 5 if many else 8,
            "opacity": 0.4 if many else 0.7,
        },
        customdata=about[drawn],
        hovertemplate=_hover(points),
        showlegend=False,
        **beside,
    )
    figure.add_scatter(
        **_links(points, x, raised, chosen),
        mode="lines+markers" if chosen.any() else "lines",
        name="same item",
        line={"color": _MARKED if chosen.any() else LINE, "width": 1},
        marker={"color": _MARKED, "size": 7},
        hoverinfo="skip",
        showlegend=bool(points.view == "per_item" and chosen.any()),
    )
    figure.add_scatter(**_trend(points, x, y), hoverinfo="skip")
    figure.add_scatter(
        x=x[chosen],
        y=raised[chosen],
        mode="markers",
        name="marked",
        marker={"color": CLEAR, "size": 18, "line": {"color": _MARKED, "width": 3}},
        customdata=about[chosen],
        hovertemplate=_hover(points),
        showlegend=False,
    )
    within = ", minus the system's mean" if points.view == "given_system" else ""
    score, target = (metric_label(title, _AXIS_TITLE) + within for title in points.labels)
    figure.update_xaxes(title=f"{score} (axis reversed)" if lower else score, range=across)
    if (raised != y).any():
        target += f"<br><sup>{SHIFTED}</sup>"
    if not drawn.all():
        target += f"<br><sup>{int(drawn.sum()):,} of {points.n:,} dots are drawn</sup>"
    figure.update_yaxes(title=target, range=up, gridcolor=GRID, zeroline=False)
    dressed(figure, height=440, top=30, legend=True)
    # Unchanged while the cell is the same, so that a refresh keeps zoom and selection.
    return figure.update_layout(
        uirevision="|".join([points.metric.name, points.view, *map(str, points.group.items())])
    )


def _spread(rows: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """Mask of the dots to draw: all, or so many, spread evenly over the table."""
    spread: NDArray[np.bool_] = np.zeros(rows.size, dtype=bool)
    spread[np.argsort(rows * _GOLDEN % 1, kind="stable")[:most]] = True
    return spread


def _positions(points: Points) -> tuple[Floats, Floats]:
    """Where dots are drawn: at their values, or at the differences from their system's means."""
    if points.view != "given_system":
        return points.x, points.y
    system = numbered(points.system)
    n = np.bincount(system)
    x, y = (one - (np.bincount(system, weights=one) / n)[system] for one in (points.x, points.y))
    return x, y


def _shifts(points: Points, y: Floats) -> Floats:
    """How far each dot is shifted: 0 unless many dots share a few targets."""
    values = np.unique(y)
    if not 1 < values.size <= _DISCRETE or y.size < _DOTS_A_VALUE * values.size:
        return np.zeros(y.size)
    return np.asarray((points.rows * _GOLDEN % 1 - 0.5) * _SHIFT * np.diff(values).min())


def _links(points: Points, x: Floats, y: Floats, chosen: NDArray[np.bool_]) -> dict[str, list[float | None]]:
    """A line through the texts of each item, from the lowest target up: of marked items, else of all if they are few."""
    places: list[int | None] = []
    if points.view == "per_item":
        items = np.unique(points.items[chosen] if chosen.any() else points.items)
        for item in items if chosen.any() or items.size <= _LINKED else ():
            own = np.flatnonzero(points.items == item)
            places += [*own[np.argsort(points.y[own], kind="stable")].tolist(), None]
    return {
        "x": [None if at is None else float(x[at]) for at in places],
        "y": [None if at is None else float(y[at]) for at in places],
    }


def _trend(points: Points, x: Floats, y: Floats) -> dict[str, Any]:
    """Median score at each of a few targets, else the least-squares line; nothing per item, where neither is the result."""
    color = DARK if marks([points.metric.family])[points.metric.family][0] == VIOLET else VIOLET
    look = {"line": {"color": color, "width": 2}, "marker": {"color": color, "size": 8, "symbol": "diamond"}}
    targets = np.unique(y)
    if points.view == "per_item" or targets.size < 2 or np.ptp(x) == 0:
        return {"x": [], "y": [], "mode": "lines", "name": "trend", **look}
    if targets.size <= _DISCRETE and y.size >= _DOTS_A_VALUE * targets.size:
        medians = [float(np.median(x[y == target])) for target in targets]
        return {"x": medians, "y": targets, "mode": "lines+markers", "name": "median score", **look}
    ends = np.array([x.min(), x.max()])
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    line = y.mean() + slope * (ends - x.mean())
    return {"x": ends, "y": line, "mode": "lines", "name": "least squares", **look}


def _hover(points: Points) -> str:
    target = {"human": "rating", "-level": "minus the damage level", "level": "damage level"}[points.against]
    numbers = "score %{customdata[3]:.4~g}<br>" + target + " %{customdata[4]:.4~g}"
    if points.view == "per_system":
        return (
            "%{customdata[2]}<br>mean "
            + numbers.replace("<br>", " of %{customdata[5]} texts<br>mean ")
            + " of %{customdata[6]}<extra></extra>"
        )
    return "item %{customdata[1]}<br>system %{customdata[2]}<br>" + numbers + "<extra></extra>"


def coefficients_by_group(report: CorrelationReport, method: Method, view: View) -> go.Figure:
    """Draw one coefficient of every metric (rows) in every group (columns), in the order of `grid`.

    Undefined cells have a dash.
    """
    found = grid(report)
    estimates = found.estimates(method, view)
    said = [
        [
            f"{metric}\n{group}\n" + ("not computed" if one is None else interval_said(one))
            for group, one in zip(found.groups, line, strict=True)
        ]
        for metric, line in zip(found.metrics, estimates, strict=True)
    ]
    figure = heat_map(
        [[None if one is None else one.estimate for one in line] for line in estimates],
        found.metrics,
        found.groups,
        said,
    )
    return _pressable(figure).update_layout(uirevision=f"{method} {view}")


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


_SIZE, _NAME = 11, 24
"""Pixels of a point; letters of the name beside it."""
_LEAST_WIDTH, _AXES = 720, (620.0, 330.0)
"""Pixels of the figure and within its axes, for which names are placed: a narrower screen scrolls."""


def _name_places(
    places: Sequence[tuple[float, float]],
    names: Sequence[str],
    across: Sequence[float] | None,
    up: Sequence[float] | None,
) -> list[tuple[str, str]]:
    """Return each point's name, empty in a crowd, and where it stands beside the point. across, up: ranges of the axes."""
    if across is None or up is None:
        return []
    shares = [((x - across[0]) / (across[1] - across[0]), (y - up[0]) / (up[1] - up[0])) for x, y in places]
    return point_names(shares, names, _AXES, _SIZE)


def _roomy_range(values: Floats, *, reverse: bool = False) -> list[float] | None:
    """Return a range that holds all values, with room for the dots; None without values."""
    if not values.size:
        return None
    room = _ROOM * float(np.ptp(values)) or 1.0
    ends = [float(values.min()) - room, float(values.max()) + room]
    return ends[::-1] if reverse else ends


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
