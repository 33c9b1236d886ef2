"""Tabs Correlations and Votes: metrics against damage levels or human ratings, and against blind votes."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.plots import metrics as plots
from core.results.choices import group_columns, names_of
from core.results.correlations.table import (
    DIMENSION,
    CorrelationReport,
    Resampled,
    View,
    by_dimension,
    combined,
    correlation_table,
)
from core.results.correlations.votes import metrics_against_votes, vote_table
from core.schema.result_table import ResultTable
from core.schema.scores import ScoreTable
from core.store import Store
from core.study.analysis_set import released_record
from pages.tabs import ranking
from pages.tabs.phrases import NOT_SCORED
from pages.widgets import against, chosen_scores, menus, result_table, visitor
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import constants, explained, nothing, part, waiting

_VIEWS: Mapping[str, tuple[str, Resampled, View]] = {
    "items": ("Pooled, interval over items", "items", "pooled"),
    "rows": ("Pooled, interval over rows", "rows", "pooled"),
    "fisher": ("Pooled, Fisher's interval", "fisher", "pooled"),
    "per_item": ("Per item", "items", "per_item"),
    "per_system": ("Per system", "items", "per_system"),
    "given_system": ("Controlling for system", "items", "given_system"),
}
_SAID = {
    "items": "All rows together. Intervals resample whole items, which is right where an item has several rows.",
    "rows": "All rows together. Intervals resample single rows. They are too narrow where an item has several rows.",
    "fisher": "All rows together. Intervals use Fisher's z, which treats rows as independent. Kendall has no such interval.",
    "per_item": "Within each item, then averaged over items: does the metric order an item's texts as quality does?",
    "per_system": "Between the means of systems: does the metric order systems as raters do? Accuracy is the share of "
    "system pairs in the raters' order. Intervals resample items. They are too low where systems are close or items few.",
    "given_system": "Partial correlation: what remains after each system's mean is removed.",
}
_GOING_ON, _TICK = "metrics_correlations_going_on", 2.0
"""Where the session stores whether intervals are being computed; seconds between two refreshes meanwhile."""
_ANCHORS = {"per_item": "per-item-and-per-system", "per_system": "per-item-and-per-system"}


def render(store: Store, scores: Scores) -> None:
    """Choose the target, then show the table, the ranking or the redundancy."""
    part(
        "Correlations",
        "Does a metric rise and fall with quality? 1 is perfect, 0 is no relation. Below 0 the metric prefers worse texts.",
        "correlation",
    )
    if not scores.table.rows:
        nothing(NOT_SCORED)
        return
    # The table comes first on the screen, and depends on what is chosen below it.
    above, below = st.container(), st.container()
    with below:
        scores = against.choose_rows(scores, "main")
    with above:
        _against(store, scores)


def _against(store: Store, scores: Scores) -> None:
    target = against.choose(store, scores.table, "main", moving=scores.moving)
    if target is None:
        return
    if target.ratings is not None:
        target = replace(target, ratings=against.people(scores, target.ratings, target.key))
    table, order, alike = st.tabs(["Table", "Ranking", "Redundancy"], key="metrics_look", on_change="rerun")
    if table.open:
        with table:
            going_on = bool(st.session_state.get(_GOING_ON, False))
            st.fragment(_again, run_every=_TICK if going_on else None)(scores, target, going_on)
    if order.open:
        with order:
            ranking.ranking(scores, target)
    if alike.open:
        with alike:
            ranking.redundancy(scores)


def columns_of(table: ScoreTable) -> list[str]:
    """Columns that can group rows: those with more than one value, except the level."""
    columns = [name for name in group_columns(table) if name != "level"]
    return [name for name in columns if len(set(names_of(table.rows, name))) > 1]


def _again(scores: Scores, target: against.Target, going_on: bool) -> None:
    with visitor.admin_store(), mistakes_shown():
        _table(scores, target, going_on)


def _table(scores: Scores, target: against.Target, going_on: bool) -> None:
    """going_on: intervals were still being computed, so that the fragment refreshes itself."""
    columns = columns_of(scores.table)
    group: list[str] = []
    left, right = st.columns(2)
    if columns:
        group = right.multiselect(
            "Group by",
            columns,
            key="metrics_group",
            placeholder="All rows together",
            persist_state="session",
        )
        group = [name for name in group if name in columns]
    with waiting(scores.moving):
        key = (*scores.key, *target.key)
        found = {
            name: chosen_scores.correlated_so_far(key, scores.table, target.ratings, tuple(group), options)
            for name, options in by_dimension(target.options, target.ratings).items()
        }
        reports = {name: so_far for name, (so_far, _) in found.items()}
        doing = next((doing for so_far, doing in found.values() if not so_far.is_complete), "")
        report = combined(reports, scores.table, group=group, options=target.options)
    if len(reports) > 1:
        group = [DIMENSION, *group]
    if report.is_complete == going_on:
        st.session_state[_GOING_ON] = not going_on
        st.rerun()  # the clock starts or stops
    constants(report.constants)
    view = left.selectbox(
        "Show",
        _views(report, scores.table, group),
        format_func=lambda name: _VIEWS[name][0],
        key="metrics_view",
        persist_state="session",
    )
    if not report.is_complete:
        st.markdown(f":small[Computing intervals{f': {doing}' if doing else ''}.]")
    report = replace(report, notes=tuple(note for note in report.notes if note not in scores.said))
    above, below = st.container(), st.container()
    with below:
        explained(_SAID[view], _ANCHORS.get(view, "intervals-of-correlations"))
        kept = _filtered(report, group)
    with above:
        if kept.rows:
            result_table.show(_seen(kept, view), whole=_seen(report, view))
        else:
            nothing("the filters below hide every row; clear one")
            result_table.downloads(_seen(report, view))
        _target_in_words(report, len(report.rows) - len(kept.rows))


def _seen(report: CorrelationReport, chosen: str) -> ResultTable:
    _, resampled, view = _VIEWS[chosen]
    return correlation_table(report, resampled=resampled, view=view)


def _views(report: CorrelationReport, table: ScoreTable, group: list[str]) -> list[str]:
    """The views that have values, or will have some."""
    several_systems = "system" not in group and len(set(names_of(table.rows, "system"))) > 1
    there = {"per_system": report.against == "human", "given_system": several_systems}
    return [view for view in _VIEWS if there.get(view, True)]


def _filtered(report: CorrelationReport, group: list[str]) -> CorrelationReport:
    """The report without the rows that the filters hide; an empty filter hides none."""
    values = {"family": list(dict.fromkeys(row.metric.family for row in report.rows))}
    values |= {name: sorted({row.group[name] for row in report.rows}) for name in group}
    places = st.columns(max(2, len(values)))
    kept = list(report.rows)
    for at, (place, (name, offered)) in enumerate(zip(places, values.items(), strict=False)):
        wanted = place.multiselect(
            f"Filter by {plain(name)}", offered, key=f"metrics_only_{at}_{len(values)}", placeholder="All"
        )
        if wanted:
            kept = [
                row for row in kept if (row.metric.family if name == "family" else row.group[name]) in wanted
            ]
    return replace(report, rows=tuple(kept))


def _target_in_words(report: CorrelationReport, hidden: int) -> None:
    words = {
        "human": "human ratings",
        "-level": "minus the damage level: a good metric is positive",
        "level": "the damage level itself: a good metric is negative",
    }
    filtered = f" {hidden} rows are hidden by the filters." if hidden else ""
    st.markdown(
        f":small[Correlated with {words[report.against]}. Click a column heading to sort.{filtered} The CSV contains "
        "every interval.]"
    )


def votes(store: Store, scores: Scores) -> None:
    """Choose an unblinded study whose texts were scored."""
    part(
        "Votes",
        "For each pair of answers with a winner: does the metric score the preferred answer higher?",
        "metrics-against-votes",
    )
    study = menus.unblinded(store, "metrics_votes_study", "pairs")
    if study is None:
        nothing("votes stay hidden until you unblind their study on the page Studies")
        return
    record = released_record(store, study)
    key = (*scores.key, study.study_id, hash((record.answers, record.raters, record.study)))
    with waiting(scores.moving):
        found = chosen_scores.once(("votes", key), lambda: metrics_against_votes(record, scores.table))
    defined = [one for one in found if one.agreement.estimate is not None]
    result_table.show(
        vote_table(found),
        figure=plots.metric_votes(found) if defined else None,
        alt=f"Share of pairs that each of {len(defined)} metrics orders as the raters did, with intervals",
    )
    st.markdown(
        ":small[Agreement: share of pairs with a winner that the metric orders as the raters did. A tie of the metric "
        "counts half; 0.5 is chance. Kendall: between the difference of scores and the composite vote, over all pairs. "
        "Intervals resample questions. Left out: number of pairs.]"
    )
