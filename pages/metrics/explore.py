"""From a cell of the correlations to its scatter plot, and from a dot to the texts behind it; two metrics compared."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.analyses.compare import ANALYSIS as COMPARE
from core.analyses.compare import compared
from core.errors import counted
from core.plots import metrics as plots
from core.plots.dressing import shortened
from core.report import written
from core.results.cells import interval
from core.results.correlations.disagreement import (
    most_disagreed,
)
from core.results.correlations.points import Points, points, text_key
from core.results.correlations.ranking import (
    MetricComparison,
    better_first,
    compare_metrics,
    compared_verdict,
)
from core.results.correlations.table import CorrelationReport, View, group_name
from core.schema.analysis import Answer
from core.schema.correlating import CompareOptions
from core.schema.result_table import Column
from core.schema.scores import Method, ScoredRow
from core.store import Store
from pages.metrics import one_text
from pages.tabs import ranking
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import address, chosen_scores, own
from pages.widgets.against import Target
from pages.widgets.analysis import show_tables
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import code_markdown, plain
from pages.widgets.parts import chart, explained, told_apart
from pages.widgets.result_table import Selection

_METRIC, _GROUP, _SYSTEM, _TEXT = (
    f"metrics_explored_{what}" for what in ("metric", "group", "system", "text")
)
_SECOND = "metrics_compared"
_PRESSES = "metrics_presses"
"""Where the session counts the presses that opened something."""
_LONGEST = 24
"""Letters of an item's or a system's name in a menu."""
_MOST_TEXTS = 200
"""Texts in the menu; any other is chosen by its dot."""
Group = Mapping[str, str]


def named(group: Group) -> str:
    """Return the name of a group in menus and addresses."""
    return group_name([value for column, value in group.items() if column != "metric"])


def _hold_choices(metrics: Sequence[str], groups: Sequence[str]) -> None:
    """Let the address hold the metric and, of several, the group; a group that is not there is replaced by the first."""
    address.one("metric", _METRIC, metrics)
    if len(groups) > 1:
        address.one("cell", _GROUP, groups, groups[0])
        if st.session_state[_GROUP] not in groups:
            st.session_state[_GROUP] = groups[0]


def open_cell(metric: str, group: Group) -> None:
    """Open the scatter plot of a metric in a group."""
    st.session_state[_METRIC] = metric
    st.session_state[_GROUP] = named(group)
    _opened()


def _opened() -> None:
    st.session_state[_PRESSES] = st.session_state.get(_PRESSES, 0) + 1


def selection(report: CorrelationReport, whole: CorrelationReport) -> Selection:
    """Return what a press on a row of the report's table does: it opens the row's scatter plot.

    whole: the report with the rows that filters hide; their scatter plots can be open too.
    """
    rows = [(row.metric.name, named(row.group)) for row in report.rows]
    groups = list(dict.fromkeys(named(row.group) for row in whole.rows))
    _hold_choices(list(dict.fromkeys(row.metric.name for row in whole.rows)), groups)
    chosen = st.session_state.get(_METRIC), st.session_state[_GROUP] if len(groups) > 1 else groups[0]

    def choose(row: int) -> None:
        open_cell(report.rows[row].metric.name, report.rows[row].group)

    return Selection(choose, rows.index(chosen) if chosen in rows else None)


def press(metric: str, second: str | None) -> None:
    """Choose a metric, or two to compare. One metric is the second where another is chosen already."""
    first = st.session_state.get(_METRIC)
    if second is not None:
        first = metric
    elif first is None or first == metric:
        first = metric
        second = st.session_state.get(_SECOND)
    else:
        second = metric
    st.session_state[_METRIC] = first
    st.session_state[_SECOND] = None if second == first else second
    _opened()


def explore(
    store: Store,
    scores: Scores,
    target: Target,
    method: Method | None = None,
    groups: Sequence[Group] = ({},),
    view: View = "pooled",
) -> None:
    """Choose a metric and a group, and show its dots, the texts of one of them, and a second metric.

    method: coefficient of a comparison; None: is chosen here.
    """
    metrics = [metric.name for metric in scores.table.metrics]
    by_name = {named(group): group for group in groups}
    _hold_choices(metrics, list(by_name))
    own.shown(st.session_state.get(_PRESSES, 0))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metric = st.selectbox(
            "Metric",
            metrics,
            index=None,
            key=_METRIC,
            placeholder="Click above, or choose here",
            persist_state="session",
        )
        group: Group = groups[0]
        if len(by_name) > 1:
            group = by_name[st.selectbox("Group", list(by_name), key=_GROUP, persist_state="session")]
        others = [name for name in metrics if name != metric]
        second = st.selectbox(
            "Compare with",
            others,
            index=None,
            key=address.one("versus", _SECOND, others),
            placeholder="Another metric",
            disabled=metric is None,
            persist_state="session",
        )
        if metric is not None and second is not None and method is None:
            method = ranking.coefficient(st, "metrics_compare_method")
    if metric is None:
        return
    if second is not None and method is not None:
        _compared(scores, target, (metric, second), group, view, method)
    _dots(store, scores, target, [metric] if second is None else [metric, second], group, view)


def _dots(
    store: Store, scores: Scores, target: Target, metrics: Sequence[str], group: Group, view: View
) -> None:
    """Show the dots of each metric, and the texts of one dot. metrics: one, or two that are compared."""

    def dots(metric: str, view: View) -> Points:
        options = target.options
        return chosen_scores.once(
            ("points", *scores.key, *target.asked, metric, tuple(group.items()), view),
            lambda: points(
                scores.table,
                target.ratings,
                metric=metric,
                group=group,
                view=view,
                use=target.use,
                raw=options.raw_level,
                system_scores=options.system_scores,
            ),
        )

    found = [dots(metric, view) for metric in metrics]
    keys: list[str] = chosen_scores.once(
        ("text keys", scores.key), lambda: [text_key(row) for row in scores.table.rows]
    )
    places = st.columns(2)
    menu = places[1] if len(metrics) == 1 else st.container()
    with menu:
        row = _choose_text(
            scores, found[0] if view != "per_system" else dots(metrics[0], "pooled"), found[0], keys
        )
    for number, (place, one) in enumerate(zip(places, found, strict=False)):
        with place:
            chart(
                plots.scatter(
                    one,
                    None if row is None else _drawn(scores, one, row),
                    **({"most": plots.MOST_FOLLOWED} if scores.moving else {}),
                ),
                f"Scatter plot of {counted(one.n, 'dot')}: {' against '.join(one.labels)}",
                f"metrics_scatter_{number}",
                "assay-scatter",
                press=partial(_press_dot, keys),
            )
    if row is not None:
        with menu:
            one_text.numbers(scores, target, row)
        one_text.cards(store, scores, found[0], row)


def _drawn(scores: Scores, found: Points, row: int) -> int | None:
    """Return the row of the dot that stands for a text: per system, the system's."""
    if found.view != "per_system":
        return row
    own = found.rows[found.system == scores.table.rows[row].system]
    return int(own[0]) if own.size else None


def _press_dot(keys: Sequence[str], dot: Mapping[str, Any]) -> None:
    st.session_state[_TEXT] = keys[int(dot["customdata"][0])]
    _opened()


def _choose_text(scores: Scores, texts: Points, found: Points, keys: Sequence[str]) -> int | None:
    """Return the row of the chosen text; None until one is chosen. texts: one dot a text; found: the dots on the page."""
    address.one("text", _TEXT, keys)
    place = {key: row for row, key in enumerate(keys)}
    chosen = place.get(st.session_state.get(_TEXT, ""))
    rows = most_disagreed(texts).tolist()
    if found.view == "per_system" and chosen is not None:
        system = scores.table.rows[chosen].system
        rows = [row for row in rows if scores.table.rows[row].system == system]
    offered = rows[:_MOST_TEXTS]
    if chosen is not None and chosen not in offered:
        offered.append(chosen)
    values = dict(zip(texts.rows.tolist(), zip(texts.x.tolist(), texts.y.tolist(), strict=True), strict=True))
    # A browser tells a menu's options by their names alone.
    said = told_apart(_name_of(scores.table.rows[row], texts, values.get(row)) for row in offered)
    names = dict(zip([keys[row] for row in offered], said, strict=True))
    if chosen is not None:
        # Said again, because under another metric the text has another name, which a browser learns only so.
        st.session_state[_TEXT] = keys[chosen]
    text = st.selectbox(
        "Text, largest disagreement first",
        list(names),
        index=None,
        format_func=lambda key: names.get(key, key),
        key=_TEXT,
        placeholder="Click a dot, or choose here",
        help=f"Disagreement: metric and target rank the text differently. The menu holds {_MOST_TEXTS}; click a dot for "
        "any other.",
        persist_state="session",
    )
    return None if text is None else place[text]


def _name_of(row: ScoredRow, texts: Points, values: tuple[float, float] | None) -> str:
    """Name a text in the menu. values: its score and rating."""
    named = ", ".join(shortened(name, _LONGEST) for name in (row.item_id, row.system))
    level = "" if row.level is None else f", level {row.level}"
    if values is None:
        return named + level
    score, target = (f"{value:.4g}" for value in values)
    said = f"{shortened(texts.metric.name, _LONGEST)} {score}"
    return (
        f"{named}{level}: {said}, rating {target}" if texts.against == "human" else f"{named}{level}: {said}"
    )


def _compared(
    scores: Scores,
    target: Target,
    metrics: tuple[str, str],
    group: Group,
    view: View,
    method: Method,
) -> None:
    """Compare two metrics: the verdict first, then both coefficients and their difference."""
    if scores.moving:
        st.markdown("The comparison is computed when the run has stopped.")
        return
    shared = target.options
    options = CompareOptions(
        first=metrics[0],
        second=metrics[1],
        methods=(method,),
        system_scores=shared.system_scores,
        **shared.resampling,
    )
    with st.spinner("Comparing ..."):
        found: MetricComparison = chosen_scores.once(
            ("compared", *scores.key, *target.asked, options.model_dump_json(), tuple(group.items()), view),
            lambda: compare_metrics(
                scores.table, target.ratings, options, group=group, view=view, use=target.use
            ),
        )
    explained(_verdict(found), "two-metrics-compared")
    with st.expander(AS_A_TABLE):
        show_tables(Answer(COMPARE, options, compared([found])), ["comparison"])


def _verdict(comparison: MetricComparison) -> str:
    """Return which of the two follows quality more closely, then the numbers."""
    comparison = better_first(comparison)
    verdict = f"**{code_markdown(compared_verdict(comparison)[1])}**"
    if comparison.p is None:
        return f"{verdict}."
    things = "system" if comparison.view == "per_system" else "row"
    p = written(comparison.p, Column("p", p_value=True))
    each = ", ".join(
        f"{plain(name)} {plain(written(interval(one), Column(name)))}"
        for name, one in (
            (comparison.first, comparison.first_estimate),
            (comparison.second, comparison.second_estimate),
        )
    )
    apart = plain(written(interval(comparison.difference), Column("difference")))
    return (
        f"{verdict}: difference {apart}, p {p if p.startswith('<') else f'= {p}'}. "
        f"{comparison.method.capitalize()} on the same {counted(comparison.n, things)}: {each}. p counts this comparison alone: "
        "choose the metrics, group, view and coefficient before you read it."
    )
