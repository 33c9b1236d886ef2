"""Results of scores on a page: rows of tables and CSV files, heat behind numbers, a figure or a table with its downloads."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.plots.dressing import heat_colour, shortened
from core.results.correlations.levels import ALL_LEVELS, MetricByLevel
from core.results.correlations.ranking import Ranking, Redundancy
from core.results.correlations.table import CorrelationReport, MetricCorrelation
from core.results.correlations.votes import MetricVotes
from core.results.joining import SystemScores
from core.results.meta_correlation import Matrix, MetaCorrelation
from core.schema.scores import METHODS
from core.stats.degeneracy import Constant
from core.stats.resampling import Estimate, Share
from core.tables.writer import csv_bytes
from pages.widgets import visitor
from pages.widgets.messages import plain
from pages.widgets.parts import UNDEFINED, chart, left_out, nothing, number

Row = dict[str, Any]


def correlations(report: CorrelationReport) -> list[Row]:
    """Everything that was computed, a row a metric and group: the CSV file."""
    return [_correlation(row, report.options.system_scores) for row in report.rows]


def _correlation(row: MetricCorrelation, system_scores: SystemScores) -> Row:
    found: Row = {
        **row.group,
        "family": row.metric.family,
        "signature": row.metric.signature,
        "direction": row.metric.direction,
        "against": row.against,
        "n": row.n,
        "n_left_out": row.n_left_out,
        "left_out": left_out(row.left_out),
        **constant(row.constant),
    }
    for method in METHODS:
        pooled = row.pooled.get(method)
        found |= estimate(method, pooled.over_items if pooled else None)
        found |= {
            f"{method}_rows_low": pooled.over_rows.low if pooled else None,
            f"{method}_rows_high": pooled.over_rows.high if pooled else None,
            f"{method}_fisher_low": pooled.fisher[0] if pooled and pooled.fisher else None,
            f"{method}_fisher_high": pooled.fisher[1] if pooled and pooled.fisher else None,
        }
        for part, by_method in {
            "per_item": row.per_item,
            "per_system": row.per_system,
            "partial": row.partial,
        }.items():
            found |= estimate(f"{method}_{part}", by_method.get(method))
    found |= estimate("system_accuracy", row.system_accuracy)
    return {**found, "system_scores": system_scores if row.against == "human" else None}


def estimate(name: str, found: Estimate | None) -> Row:
    """An estimate as five cells."""
    return {
        name: None if found is None else found.estimate,
        f"{name}_low": None if found is None else found.low,
        f"{name}_high": None if found is None else found.high,
        f"{name}_n": None if found is None else found.n,
        f"{name}_reason": (found.reason or found.interval_reason or "") if found else "not computed",
    }


def constant(found: Constant | None) -> Row:
    """The score that covers nearly all texts as two cells."""
    return {
        "constant_value": None if found is None else found.value,
        "constant_share": None if found is None else found.share,
    }


def share(name: str, found: Share) -> Row:
    """A share of a count as six cells."""
    return {
        name: found.share,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
        f"{name}_count": found.count,
        f"{name}_n": found.n,
        f"{name}_reason": found.reason or "",
    }


def ranking(found: Ranking) -> list[Row]:
    """Every comparison of two metrics, with the clusters they are in."""
    return [
        {
            "first": one.first,
            "second": one.second,
            "first_cluster": found.cluster.get(one.first),
            "second_cluster": found.cluster.get(one.second),
            "first_direction": found.directions.get(one.first),
            "second_direction": found.directions.get(one.second),
            "method": found.method,
            "difference": one.difference,
            "p_two_sided": one.p,
            "test": one.test,
            "n": one.n,
            "left_out": left_out(found.left_out),
            "reason": one.reason or "",
        }
        for one in found.comparisons
    ]


def redundancy(found: Redundancy) -> list[Row]:
    """A row a pair of metrics."""
    return [
        {
            "first": first,
            "second": second,
            "method": found.method,
            "correlation": found.values[i][j],
            "n": found.n[i][j] if found.n else None,
            "left_out": left_out(found.left_out),
        }
        for i, first in enumerate(found.metrics)
        for j, second in enumerate(found.metrics)
        if i < j
    ]


def level_means(found: Sequence[MetricByLevel]) -> list[Row]:
    """A row a metric and level."""
    return [
        {
            "metric": one.metric,
            "family": one.family,
            "level": level.level,
            **estimate("mean", level.mean),
            **estimate("prefers_damaged", one.prefers_damaged.get(level.level)),
        }
        for one in found
        for level in one.levels
    ]


def order_of_levels(found: Sequence[MetricByLevel]) -> list[Row]:
    """A row a metric."""
    return [
        {
            "metric": one.metric,
            "family": one.family,
            **estimate("monotonic", one.monotonic),
            **estimate("strictly_monotonic", one.strictly_monotonic),
            **estimate("prefers_damaged", one.prefers_damaged[ALL_LEVELS]),
            **constant(one.constant),
            "left_out": left_out(one.left_out),
        }
        for one in found
    ]


def points(found: MetaCorrelation) -> list[Row]:
    """A row a point of the scatter, then the metrics that were dropped."""
    drawn = [
        {
            "metric": one.metric,
            "family": one.family,
            "human": one.human,
            "synthetic": one.synthetic,
            "dropped_because": "",
        }
        for one in found.points
    ]
    return drawn + [
        {"metric": name, "family": "", "human": None, "synthetic": None, "dropped_because": reason}
        for name, reason in found.dropped.items()
    ]


def matrix(found: Matrix) -> list[Row]:
    """A row a cell."""
    return [
        {
            **cell.by,
            **estimate("meta_correlation", cell.result.over_metrics if cell.result else None),
            "dropped": _named(cell.result.dropped) if cell.result else "",
            "reason": cell.reason or "",
        }
        for cell in found.cells
    ]


def summaries(found: Matrix) -> list[Row]:
    """A row for the variants of each combination of the other columns."""
    return [
        {**one.by, "mean": one.mean, "sd": one.sd, "n": one.n, "left_out": one.left_out}
        for one in found.summaries
    ]


def votes(found: Sequence[MetricVotes]) -> list[Row]:
    """A row a metric."""
    levels = list(dict.fromkeys(level for one in found for level in one.by_level))
    rows = []
    for one in found:
        row = {"metric": one.metric, "family": one.family, **estimate("agreement", one.agreement)}
        row |= estimate("tau", one.tau)
        for level in levels:
            row |= estimate(f"agreement_{level}", one.by_level.get(level))
        rows.append(row | {"left_out": left_out(one.left_out)})
    return rows


def _named(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())


_LONGEST, _LETTER, _BESIDE = 24, 7, 20
"""Letters of a name before it loses its middle; pixels of a letter, and of a cell's edges."""
_MOST_REASONS, _MOST_NAMED = 8, 12
_ROW, _MOST_ROWS = 35, 20
"""Pixels of a row; rows after which the table scrolls."""


def style() -> None:
    """Without the CSV of Streamlit's own table: it shortens names as the table does, and guards no formulas."""
    st.html('<style>button[aria-label="Download as CSV"] { display: none; }</style>')


def heat_table(
    frame: pd.DataFrame,
    heated: Collection[str],
    key: str,
    *,
    pinned: str | None = None,
    shares: Collection[str] = (),
) -> None:
    """The frame as it is, numbers with three decimals; `heated` columns hold numbers from -1 to 1 or None.

    shares: columns from 0 to 1 in which one half is by chance, and white.

    Cells are drawn as text, never as Markdown or HTML. Sorting is by number: a press on a column's head.
    """
    if frame.empty:
        nothing("no row is left by the filters")
        return
    heats: list[Hashable] = [name for name in frame.columns if name in heated]
    halves: list[Hashable] = [name for name in frame.columns if name in shares]
    for name in [*heats, *halves]:
        frame[name] = pd.to_numeric(frame[name])
    written: dict[Any, str | Callable[[object], str] | None] = dict.fromkeys([*heats, *halves], _number)
    if pinned:
        frame[pinned] = frame[pinned].map(lambda name: shortened(str(name), _LONGEST))
    styled = frame.style.format(written).map(_cell, subset=heats).map(_share_cell, subset=halves)
    st.dataframe(
        styled,
        hide_index=True,
        key=key,
        height=min(len(frame), _MOST_ROWS) * _ROW + _ROW + 4,
        column_config=_pinned(frame, pinned) if pinned else None,
        placeholder=UNDEFINED,
    )


def reasons_below(reasons: Mapping[str, Sequence[str]], n_rows: int) -> None:
    """What is undefined or left out, with the rows of which that is true: a narrow window shows this too."""
    for reason, names in list(reasons.items())[:_MOST_REASONS]:
        whose = "; ".join(names[:_MOST_NAMED])
        if len(names) > _MOST_NAMED:
            whose += f" and {len(names) - _MOST_NAMED} more"
        if len(names) == n_rows > 1:
            whose = "every row"
        st.markdown(f":small[{plain(f'{reason} ({whose})')}]")
    if len(reasons) > _MOST_REASONS:
        st.markdown(f":small[And {len(reasons) - _MOST_REASONS} more reasons: the CSV has all.]")


def _pinned(frame: pd.DataFrame, name: str) -> dict[str, Any]:
    longest = max([len(name), *map(len, frame[name])])
    return {name: st.column_config.TextColumn(name, pinned=True, width=_BESIDE + _LETTER * longest)}


def _number(value: Any) -> str:
    return number(None if value != value else float(value))


def _share_cell(value: Any) -> str:
    return _cell(None if value is None or value != value else 2 * value - 1)


def _cell(value: Any) -> str:
    colour = heat_colour(value)
    return "" if colour is None else f"background-color: {colour}; color: #000000"


Rows = Sequence[Mapping[str, Any]]
"""What a picture draws, a dictionary a row, all with the same keys."""
_INK, _GROUND = "#262730", "#ffffff"


def show(figure: go.Figure, alt: str, name: str, rows: Rows, *, least_width: int = 0) -> None:
    """The figure, and below it its files; `name` is unique on the page and names the files.

    least_width: pixels; in a narrower window the figure is scrolled.
    """
    place = f"metrics_wide_{name}"
    if least_width:
        st.html(
            f"<style>.st-key-{place} {{ overflow-x: auto; }}"
            f" .st-key-{place} > div {{ min-width: {least_width}px; }}</style>"
        )
    with st.container(key=place):
        chart(figure, alt, f"metrics_{name}", f"assay-{name}")
    downloads(name, rows, figure)


def downloads(name: str, rows: Rows, figure: go.Figure | None = None) -> None:
    """A button a file, made when it is pressed; the picture itself is the camera's, at its upper right corner."""
    checked = visitor.admin_making()
    files = {f"assay-{name}.csv": ("CSV", "text/csv", partial(_csv, rows))}
    if figure is not None:
        files[f"assay-{name}.html"] = ("HTML", "text/html", partial(page_of, figure))
    with st.container(horizontal=True, vertical_alignment="center"):
        for file_name, (label, kind, make) in files.items():
            st.download_button(
                label,
                partial(checked, make),
                file_name,
                kind,
                key=f"metrics_{name}_{label}",
                on_click="ignore",
                icon=":material/download:",
                help=f"{file_name}, made when you press.",
            )
        if figure is not None:
            st.markdown(":small[PNG: the camera in the figure's corner.]", width="content")


def width_for(n_columns: int) -> int:
    """Pixels in which the numbers of a heat map with so many columns can be read."""
    return 170 + 34 * n_columns


def page_of(figure: go.Figure) -> bytes:
    """A web page of its own that holds the figure and plotly itself (some 4 MB): it needs no network.

    On white with dark letters, whatever the app's ground was.
    """
    own = go.Figure(figure)
    own.update_layout(font={"color": _INK}, paper_bgcolor=_GROUND, plot_bgcolor=_GROUND)
    for update in (own.update_xaxes, own.update_yaxes):
        update(tickfont={"color": _INK}, title_font={"color": _INK})
    text: str = own.to_html(include_plotlyjs=True, full_html=True, config={"displaylogo": False})
    return text.encode()


def _csv(rows: Rows) -> bytes:
    return csv_bytes(list(rows[0]) if rows else ["nothing"], rows)
