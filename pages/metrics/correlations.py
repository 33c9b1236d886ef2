"""Tab Correlations: what scores are correlated with, and a table that can be sorted, filtered and taken away."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from core.results.choices import LOWER, group_columns, marked, names_of
from core.results.correlations.table import (
    DIMENSION,
    CorrelationReport,
    MetricCorrelation,
    by_dimension,
    combined,
)
from core.results.joining import SYSTEM_MEANS
from core.schema.scores import METHODS, Method, ScoreTable
from core.stats.resampling import Estimate
from core.store import Store
from pages.tabs import ranking
from pages.widgets import against, chosen_scores, results_shown, visitor
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import constants, explained, interval, left_out, nothing, part, percent
from pages.widgets.results_shown import heat_table, reasons_below

_VIEWS = {
    "items": "Pooled, interval over items",
    "rows": "Pooled, interval over rows",
    "fisher": "Pooled, Fisher's interval",
    "per_item": "Per item",
    "per_system": "Per system",
    "partial": "Controlling for system",
}
_SAID = {
    "items": "All rows together. The interval resamples whole items: the sound one where an item has several rows.",
    "rows": "All rows together. The interval resamples single rows, and is too narrow where an item has several.",
    "fisher": "All rows together. Fisher's z takes rows for independent; Kendall has no such interval here.",
    "per_item": "Within each item, then averaged over items: are an item's texts put in the right order?",
    "per_system": "Between the systems' means: are systems put in the right order? Accuracy: share of pairs of "
    "systems in the raters' order. Intervals resample items and lie too low where systems are close or items few.",
    "partial": "Partial correlation controlling for system: what is left when systems' means are taken out.",
}
_GOING_ON, _TICK = "metrics_correlations_going_on", 2.0
"""Whether intervals are being computed; seconds between two looks at them."""
_ANCHORS = {"per_item": "per-item-and-per-system", "per_system": "per-item-and-per-system"}


def render(store: Store, scores: Scores) -> None:
    """What they are correlated with, then one of three looks at it."""
    part(
        "Correlations",
        "Does a metric rise and fall with quality? One row per metric; 1 is perfect, 0 is none, below 0 the metric "
        "prefers what is worse.",
        "correlation",
    )
    if not scores.table.rows:
        nothing("nothing is scored yet")
        return
    scores = against.choose_rows(scores, "main")
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
    """Columns by which rows can be told into groups: those with more than one value, but for the level."""
    columns = [name for name in group_columns(table) if name != "level"]
    return [name for name in columns if len(set(names_of(table.rows, name))) > 1]


def _again(scores: Scores, target: against.Target, going_on: bool) -> None:
    with visitor.admin_store(), mistakes_shown():
        _table(scores, target, going_on)


def _table(scores: Scores, target: against.Target, going_on: bool) -> None:
    """going_on: intervals were still being computed, so that this is looked at again by itself."""
    columns = columns_of(scores.table)
    group: list[str] = []
    left, right = st.columns(2)
    if columns:
        group = right.multiselect(
            "Separately for each",
            columns,
            key="metrics_group",
            placeholder="All rows together",
            persist_state="session",
        )
        group = [name for name in group if name in columns]
    with st.spinner("Computing ..."):
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
        format_func=_VIEWS.__getitem__,
        key="metrics_view",
        persist_state="session",
    )
    said = _SAID[view]
    if view == "per_system":
        said += f" Here: {SYSTEM_MEANS[target.options.system_scores]}."
    explained(said, _ANCHORS.get(view, "intervals-of-correlations"))
    if not report.is_complete:
        st.markdown(f":small[Computing intervals{f': {doing}' if doing else ''}.]")
    rows = _filtered(report, group)
    frame = _frame(rows, group, view)
    heated = [method.capitalize() for method in METHODS]
    heat_table(frame, heated, "metrics_correlations", pinned="Metric", shares=["Accuracy"])
    reasons_below(_reasons(rows, group, view), len(rows))
    _standing(report, rows, scores.said)
    results_shown.downloads("correlations", results_shown.correlations(report))


def _views(report: CorrelationReport, table: ScoreTable, group: list[str]) -> list[str]:
    """Only those that hold something, or will."""
    several_systems = "system" not in group and len(set(names_of(table.rows, "system"))) > 1
    there = {"per_system": report.against == "human", "partial": several_systems}
    return [view for view in _VIEWS if there.get(view, True)]


def _filtered(report: CorrelationReport, group: list[str]) -> list[MetricCorrelation]:
    """The rows that the filters leave; an empty filter means all."""
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
    return kept


def _frame(rows: list[MetricCorrelation], group: list[str], view: str) -> pd.DataFrame:
    lines = []
    for row in rows:
        line: dict[str, Any] = {"Metric": marked(row.metric.name, row.metric.direction)}
        line |= {name: row.group[name] for name in group}
        found: dict[Method, Estimate | None] = {method: _one(row, method, view) for method in METHODS}
        if view == "per_item":
            used = max((one.n_clusters for one in found.values() if one), default=0)
            line |= {"n": row.n, "Items": used}
        elif view == "per_system":
            line |= {"Systems": max((one.n for one in found.values() if one), default=0)}
        else:
            line |= {"n": row.n}
        line["Left out"] = row.n_left_out
        for method, one in found.items():
            name = method.capitalize()
            ends = _ends(row, method, view, one)
            line |= {name: None if one is None else one.estimate, f"{name} interval": ends}
        if view == "per_system":
            accuracy = row.system_accuracy
            line["Accuracy"] = None if accuracy is None else accuracy.estimate
        line["Family"] = row.metric.family
        lines.append(line)
    return pd.DataFrame(lines)


def _one(row: MetricCorrelation, method: Method, view: str) -> Estimate | None:
    if view in ("per_item", "per_system", "partial"):
        parts: Mapping[Method, Estimate] = getattr(row, view)
        return parts.get(method)
    pooled = row.pooled.get(method)
    if pooled is None:
        return None
    return pooled.over_rows if view == "rows" else pooled.over_items


def _ends(row: MetricCorrelation, method: Method, view: str, one: Estimate | None) -> str:
    if not row.is_complete and view != "fisher":
        return "computing ..."
    if view == "fisher":
        pooled = row.pooled.get(method)
        return interval(*pooled.fisher) if pooled and pooled.fisher else "none"
    return "none" if one is None else interval(one.low, one.high)


def _reasons(rows: list[MetricCorrelation], group: list[str], view: str) -> dict[str, list[str]]:
    """What is undefined or left out -> the metrics, each with its group, of which that is true."""
    found: dict[str, list[str]] = {}
    for row in rows:
        parts = [_one(row, method, view) for method in METHODS]
        if view == "per_system":
            parts.append(row.system_accuracy)
        said = [f"Undefined: {one.reason}" for one in parts if one is not None and one.reason]
        if row.left_out:
            said.append(f"Left out: {left_out(row.left_out)}")
        for reason in dict.fromkeys(said):
            found.setdefault(reason, []).append(
                " ".join([row.metric.name, *(row.group[name] for name in group)])
            )
    return found


def _standing(report: CorrelationReport, rows: list[MetricCorrelation], said: Collection[str]) -> None:
    words = {
        "human": "human ratings",
        "-level": "minus the damage level, so that a good metric is positive",
        "level": "the raw damage level, so that a good metric is negative",
    }
    options = report.options
    fewest, most = report.resamples
    drawn = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    error = report.monte_carlo_error
    settled = (
        ""
        if error is None
        else f" (Monte Carlo error at most {percent(round(error, 3))} of an interval's width)"
    )
    hidden = len(report.rows) - len(rows)
    filtered = f" {hidden} rows are hidden by the filters." if hidden else ""
    turned = any(row.metric.direction == "lower" for row in rows)
    sign = f" {LOWER}: lower is better, so the sign is turned." if turned else ""
    st.markdown(
        f":small[Correlated with {words[report.against]}. Press a column's head to sort. {percent(options.confidence_level)} "
        f"intervals, {drawn} resamples{settled}, seed {options.rng}.{filtered}{sign} The CSV holds every interval.]"
    )
    chosen_scores.read_notes(tuple(note for note in report.notes if note not in said))
