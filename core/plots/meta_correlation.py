"""The figures of meta-correlation: a point a metric, and tables of many meta-correlations as heat maps."""

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from core.plots.dressing import GRID, LINE, dressed, heat_map, label, marks, metric_label
from core.plots.metrics import interval_said
from core.results.meta_correlation import Matrix, MetaCorrelation, meta_title

_LEAST_SPAN = 0.1
"""Of an axis of correlations."""
_AXIS, _NAME = 34, 60
"""Letters of a side's and of a metric's name."""


def meta_scatter(found: MetaCorrelation) -> go.Figure:
    """Each metric's correlation with people (x) and with known quality (y), by family; the title says the result."""
    figure = go.Figure()
    for family, (color, symbol) in marks(point.family for point in found.points).items():
        own = [point for point in found.points if point.family == family]
        figure.add_scatter(
            x=[point.human for point in own],
            y=[point.synthetic for point in own],
            mode="markers",
            name=label(family),
            marker={"color": color, "symbol": symbol, "size": 11, "line": {"width": 1, "color": "white"}},
            text=[metric_label(point.metric, _NAME) for point in own],
            hovertemplate="%{text}<br>human %{x:.3f}<br>synthetic %{y:.3f}<extra>"
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
    # Where all points are on one side of zero, to reach for it would press them together.
    if any(point.human <= 0 for point in found.points):
        figure.add_vline(x=0, line={"color": LINE, "width": 1, "dash": "dot"})
    if any(point.synthetic <= 0 for point in found.points):
        figure.add_hline(y=0, line={"color": LINE, "width": 1, "dash": "dot"})
    figure.update_xaxes(range=_range([point.human for point in found.points]))
    figure.update_yaxes(range=_range([point.synthetic for point in found.points]))
    figure.update_xaxes(title=f"human: {label(found.human, longest=_AXIS)}")
    figure.update_yaxes(
        title=f"synthetic: {label(found.synthetic, longest=_AXIS)}", gridcolor=GRID, zeroline=False
    )
    dressed(figure, height=560, top=90, legend=True)
    # Below the axis: above it stands the title, and a narrow window gives the legend several lines.
    return figure.update_layout(legend={"yref": "paper", "y": -0.16, "yanchor": "top"})


def _range(values: Sequence[float]) -> list[float] | None:
    """Room around the points, and never so little that noise fills the figure."""
    if not values:
        return None
    middle = (min(values) + max(values)) / 2
    reach = max(_LEAST_SPAN, 1.15 * (max(values) - min(values))) / 2
    return [middle - reach, middle + reach]


def meta_matrix(found: Matrix) -> go.Figure:
    """One cell a meta-correlation: the first column of `by` down, the others across."""
    first, *rest = found.cells[0].by
    cells = {(cell.by[first], " ".join(cell.by[name] for name in rest)): cell for cell in found.cells}
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    values: list[list[float | None]] = []
    said: list[list[str]] = []
    for row in rows:
        found_cells = [cells.get((row, column)) for column in columns]
        values.append(
            [
                None if one is None or one.result is None else one.result.over_metrics.estimate
                for one in found_cells
            ]
        )
        said.append(
            [
                f"{row}, {column}\n"
                + (
                    f"undefined: {'no data' if one is None else one.reason}"
                    if one is None or one.result is None
                    else interval_said(one.result.over_metrics) + " metrics"
                )
                for one, column in zip(found_cells, columns, strict=True)
            ]
        )
    return heat_map(values, rows, [column or "meta-correlation" for column in columns], said, y=label(first))


def published_heat(
    rows: Sequence[Mapping[str, object]], named_by: Sequence[str], columns: Sequence[str]
) -> go.Figure:
    """Coefficients of a published table: a row a row, named by some of its columns; undefined cells hold a dash.

    On hover stand all of a row's further columns that belong to the cell: its interval, its spread, its error.
    """
    names = [" ".join(str(row[name]) for name in named_by) for row in rows]
    values: list[list[float | None]] = []
    said: list[list[str]] = []
    for name, row in zip(names, rows, strict=True):
        cells = [row.get(column) for column in columns]
        values.append([cell if isinstance(cell, int | float) else None for cell in cells])
        said.append([_cell_said(name, column, row) for column in columns])
    return heat_map(values, names, columns, said)


def _cell_said(name: str, column: str, row: Mapping[str, object]) -> str:
    stem = column.removesuffix("_mean")
    further = [
        f"{key.removeprefix(f'{stem}_')} {value}"
        for key, value in row.items()
        if key != column and key.startswith(f"{stem}_") and value is not None
    ]
    flagged = [str(row[key]) for key in ("why_undefined", "error") if row.get(key)]
    value = "undefined" if row.get(column) is None else str(row[column])
    return "\n".join([name, f"{column} {value}", *further, *flagged])
