"""From a cell of the correlations to its scatter plot, and from a dot to the texts behind it; two metrics compared."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.plots import metrics as plots
from core.results.correlations.points import Points, points, text_key
from core.results.correlations.table import CorrelationReport, View
from core.store import Store
from pages.widgets import address, chosen_scores
from pages.widgets.against import Target
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import plain
from pages.widgets.parts import chart, counted_as
from pages.widgets.result_table import Selection

_METRIC, _GROUP, _SYSTEM, _TEXT = (
    f"metrics_explored_{what}" for what in ("metric", "group", "system", "text")
)
_SECOND = "metrics_compared"
_MOST_ROWS = 9
"""Rows of the table before it scrolls, so that what a press opens stands right below."""
_MOST_TEXTS = 200
"""Texts in the menu; any other is chosen by its dot."""
Group = Mapping[str, str]


def named(group: Group) -> str:
    """Return the name of a group in menus and addresses."""
    return ", ".join(value for column, value in group.items() if column != "metric")


def open_cell(metric: str, group: Group) -> None:
    """Open the scatter plot of a metric in a group."""
    st.session_state[_METRIC] = metric
    st.session_state[_GROUP] = named(group)


def selection(report: CorrelationReport) -> Selection:
    """Return what a press on a row of the report's table does: it opens the row's scatter plot."""
    rows = [(row.metric.name, named(row.group)) for row in report.rows]
    first = rows[0][1] if rows else ""
    chosen = st.session_state.get(_METRIC), st.session_state.get(_GROUP, first)

    def choose(row: int) -> None:
        open_cell(report.rows[row].metric.name, report.rows[row].group)

    return Selection(choose, rows.index(chosen) if chosen in rows else None, _MOST_ROWS)


def press_metric(metric: str) -> None:
    """Choose a metric, or the second one where another is chosen."""
    first = st.session_state.get(_METRIC)
    if first is None:
        st.session_state[_METRIC] = metric
    elif first != metric:
        st.session_state[_SECOND] = metric


def press_pair(first: str, second: str) -> None:
    """Choose two metrics to compare; one where both are the same."""
    st.session_state[_METRIC] = first
    st.session_state[_SECOND] = None if first == second else second


def explore(
    store: Store, scores: Scores, target: Target, groups: Sequence[Group] = ({},), view: View = "pooled"
) -> None:
    """Choose a metric and a group, and show its dots, the texts of one of them, and a second metric."""
    metrics = [metric.name for metric in scores.table.metrics]
    by_name = {named(group): group for group in groups}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metric = st.selectbox(
            "Metric",
            metrics,
            index=None,
            format_func=plain,
            key=address.one("metric", _METRIC, metrics),
            placeholder="Click a row, or choose here",
            persist_state="session",
        )
        group: Group = groups[0]
        if len(by_name) > 1:
            key = address.one("cell", _GROUP, list(by_name), next(iter(by_name)))
            if st.session_state[key] not in by_name:
                st.session_state[key] = next(iter(by_name))
            group = by_name[
                st.selectbox("Group", list(by_name), format_func=plain, key=key, persist_state="session")
            ]
        others = [name for name in metrics if name != metric]
        second = st.selectbox(
            "Compare with",
            others,
            index=None,
            format_func=plain,
            key=address.one("versus", _SECOND, others),
            placeholder="Another metric",
            disabled=metric is None,
            persist_state="session",
        )
    if metric is None:
        return
    if second is not None:
        _compared(scores, target, metric, second, group)
    _dots(store, scores, target, metric, group, view)


def _dots(store: Store, scores: Scores, target: Target, metric: str, group: Group, view: View) -> None:
    key = (*scores.key, *target.key)
    asked = ("points", key, metric, tuple(group.items()), view, target.options)
    found: Points = chosen_scores.once(
        asked,
        lambda: points(
            scores.table, target.ratings, metric=metric, group=group, view=view, options=target.options
        ),
    )
    keys: list[str] = chosen_scores.once(
        ("text keys", scores.key), lambda: [text_key(row) for row in scores.table.rows]
    )
    left, right = st.columns(2)
    with right:
        row = _choose_text(scores, found, keys)
        if row is None:
            st.markdown(":small[Click a dot, or choose a text, to read it.]")
        else:
            _text(store, scores, target, found, row)
    with left:
        chart(
            plots.scatter(found, row),
            f"Scatter plot of {counted_as(found.n, 'dot')}: {' against '.join(found.labels)}",
            "metrics_scatter",
            "assay-scatter",
            press=partial(_press_dot, keys),
        )


def _press_dot(keys: Sequence[str], dot: Mapping[str, Any]) -> None:
    st.session_state[_TEXT] = keys[int(dot["customdata"][0])]


def _choose_text(scores: Scores, found: Points, keys: Sequence[str]) -> int | None:
    """The row of the chosen text; None until one is chosen."""
    address.one("text", _TEXT, keys)
    offered = [keys[row] for row in found.rows.tolist()[:_MOST_TEXTS]]
    chosen = st.session_state.get(_TEXT)
    if chosen in keys and chosen not in offered:
        offered.append(chosen)
    text = st.selectbox(
        "Text, largest disagreement first", offered, index=None, key=_TEXT, persist_state="session"
    )
    return None if text is None else keys.index(text)


def _text(store, scores, target, found, row) -> None:
    st.write(row)


def _compared(scores, target, metric, second, group) -> None:
    st.write(metric, second)
