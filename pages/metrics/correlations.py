"""Tab Correlations: metrics against damage levels or human ratings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses.correlate import ANALYSIS as CORRELATE
from core.analyses.correlate import correlations
from core.joining.choices import group_columns, names_of
from core.plots import metrics as plots
from core.results.correlations.table import (
    CORRECTED,
    DIMENSION,
    CorrelationReport,
    Grid,
    Resampled,
    View,
    combined,
    dimension_options,
    grid,
)
from core.schema.analysis import COEFFICIENTS, Answer
from core.schema.correlating import CorrelateOptions
from core.schema.result_table import ResultTable
from core.schema.scores import Method, RatingSet, ScoreTable
from core.store import Store
from pages.metrics import explore
from pages.tabs import ranking
from pages.tabs.phrases import NOT_SCORED
from pages.widgets import address, against, chosen_scores, result_table, visitor
from pages.widgets.address import slug
from pages.widgets.analysis import Drawn, form, show_tables
from pages.widgets.chosen_scores import MAIN, Scores
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import constants, explained, nothing, places, waiting
from pages.widgets.settings_form import Link

_VIEWS: Mapping[str, tuple[str, Resampled, View]] = {
    "rows": ("Pooled, interval over rows", "rows", "pooled"),
    "items": ("Pooled, interval over items", "items", "pooled"),
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
    "system pairs in the raters' order. Coefficients and accuracy are naive, for comparison with published numbers: noise of the "
    "items lowers them. Read the noise-corrected Pearson for these systems over infinitely many items.",
    "given_system": "Partial correlation: what remains after each system's mean is removed.",
}
_GOING_ON, _TICK = "metrics_correlations_going_on", 2.0
"""Where the session stores whether intervals are being computed; seconds between two refreshes meanwhile."""
BY_GROUP, _TABLE = "By group", "correlations"
_LINKS: Mapping[str, Link] = {
    "group": Link("group", str),
    "methods": Link("methods", str),
    "system_scores": Link("rated", lambda texts: str(int(texts == "rated"))),
    "raw_level": Link("raw"),
    "n_resamples": Link("resamples"),
    "confidence_level": Link("confidence"),
    "rng": Link("seed"),
}
"""Option -> its parameter in the address."""
_LOOKS = ("Table", BY_GROUP, "Ranking", "Redundancy")
_ANCHORS = {"per_item": "per-item-and-per-system", "per_system": "noise-corrected-correlation-of-systems"}


def render(store: Store, scores: Scores) -> None:
    """Choose the target, then show one look at the correlations, and below it one metric's texts."""
    explained(
        "Does a metric rise and fall with quality? 1 is perfect, 0 is no relation. Below 0 the metric prefers worse texts.",
        "correlation",
    )
    if not scores.table.rows:
        nothing(NOT_SCORED)
        return
    # What is used at every visit comes first on the screen, and depends on what is chosen below it.
    above, below = st.container(), st.container()
    with below:
        folded = st.expander("Settings of ratings and intervals")
        scores = against.choose_rows(scores, MAIN)
    with above:
        _choose_target(store, scores, folded)


def _choose_target(store: Store, scores: Scores, folded: DeltaGenerator) -> None:
    controls = st.container(horizontal=True)
    chosen = against.choose(store, scores.table, MAIN, row=controls, folded=folded)
    if chosen is None:
        return
    scores, ratings = against.scores_and_target(scores, chosen)
    key = address.one("look", "metrics_look", _LOOKS, _LOOKS[0], slug)
    grouped = st.session_state[key] in ("Table", BY_GROUP)
    options = _options(scores, ratings, controls, folded, grouped=grouped)
    target = against.Target(ratings, chosen.key, chosen.use, options)
    for name, tab in zip(_LOOKS, st.tabs(_LOOKS, key=key, on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                _look(name, store, scores, target, controls)


def _options(
    scores: Scores,
    ratings: RatingSet | None,
    controls: DeltaGenerator,
    folded: DeltaGenerator,
    *,
    grouped: bool,
) -> CorrelateOptions:
    """Ask for the options that every look shares. grouped: whether the look shows groups of rows."""
    settled: dict[str, Any] = {"resample": "rows", "sizes": {}}  # each interval is there; there is one table
    settled |= {"system_scores": "all"} if ratings is None else {"raw_level": False}
    if scores.moving:
        settled |= {"n_resamples": 0, "confidence_level": 0.95, "rng": 0}
    if not grouped:
        settled["group"] = ()
    with folded:
        return form(
            CORRELATE,
            {"group": columns_of(scores.table, levels=ratings is not None), "methods": COEFFICIENTS},
            settled,
            folds=False,
            at={"group": controls},
            links=_LINKS,
        )


def _look(name: str, store: Store, scores: Scores, target: against.Target, controls: DeltaGenerator) -> None:
    below_it = partial(explore.explore, store, scores, target)
    if name == "Ranking":
        ranking.ranking(scores, target, controls, explore.press, below_it)
    elif name == "Redundancy":
        ranking.redundancy(scores, controls, explore.press, below_it)
    else:
        asked = _asked(name, scores, target, controls)
        going_on = bool(st.session_state.get(_GOING_ON, False))
        st.fragment(_again, run_every=_TICK if going_on else None)(scores, target, asked, going_on)


@dataclass(frozen=True)
class _Asked:
    """What a look at the correlations shows."""

    look: str
    view: str
    method: Method | None
    """Of the heat map."""


def _asked(look: str, scores: Scores, target: against.Target, controls: DeltaGenerator) -> _Asked:
    views = _views(target, scores.table)
    view = controls.selectbox(
        "Show",
        views,
        format_func=lambda name: _VIEWS[name][0],
        key=address.one("view", "metrics_view", views, views[0]),
        persist_state="session",
    )
    method = None
    if look == BY_GROUP:
        method = ranking.coefficient(controls, "metrics_group_method", target.options.coefficients)
    return _Asked(look, view, method)


def columns_of(table: ScoreTable, *, levels: bool = False) -> list[str]:
    """Columns that can group rows: those with more than one value. levels: whether the level is one of them."""
    columns = [name for name in group_columns(table) if name != "metric" and (levels or name != "level")]
    return [name for name in columns if len(set(names_of(table.rows, name))) > 1]


def _again(scores: Scores, target: against.Target, asked: _Asked, going_on: bool) -> None:
    with visitor.admin_store() as store, address.kept("table"), mistakes_shown():
        _table(store, scores, target, asked, going_on)


def _table(store: Store, scores: Scores, target: against.Target, asked: _Asked, going_on: bool) -> None:
    """going_on: intervals were still being computed, so that the fragment refreshes itself."""
    group = list(target.options.group)
    with waiting(scores.moving):
        key = (*scores.key, *target.key)
        found = {
            name: chosen_scores.correlated_so_far(key, scores.table, target.ratings, target.options, use)
            for name, use in dimension_options(target.use, target.ratings).items()
        }
        reports = {name: so_far for name, (so_far, _) in found.items()}
        doing = next((doing for so_far, doing in found.values() if not so_far.is_complete), "")
        report = combined(reports, scores.table, target.use)
    if len(reports) > 1:
        group = [DIMENSION, *group]
    if report.is_complete == going_on:
        st.session_state[_GOING_ON] = not going_on
        st.rerun()  # the clock starts or stops
    constants(report.constants)
    unread = () if scores.run is None else chosen_scores.unread(store, scores.run)
    if unread:
        st.markdown(
            ":small[:material/warning: Some metrics cannot read some of these texts. Notes below the table name them.]"
        )
    report = replace(
        report, notes=(*unread, *(note for note in report.notes if note not in scores.change_notes))
    )
    above, below = st.container(), st.container()
    with below:
        explained(_SAID[asked.view], _ANCHORS.get(asked.view, "intervals-of-correlations"))
        kept = _filtered(report, group)
    groups = {explore.named(row.group): row.group for row in report.rows}
    below_it = partial(
        explore.explore, store, scores, target, asked.method, list(groups.values()), _VIEWS[asked.view][2]
    )
    with above:
        if not report.is_complete:
            st.markdown(f":small[Computing intervals{f': {doing}' if doing else ''}.]")
        if asked.look == BY_GROUP and not group:
            nothing("choose a column under Group by")
            return
        answer = _answer(report, asked.view)
        if not kept.rows:
            nothing("the filters below hide every row; clear one")
            result_table.downloads(answer.tables[_TABLE])
        else:
            shown = Drawn(
                seen=_corrected_first(_answer(kept, asked.view).tables[_TABLE]),
                rows=explore.selection(kept, report),
                beneath=below_it,
            )
            if asked.method is not None:
                shown = _show_groups(shown, kept, asked.method, _VIEWS[asked.view][2])
            show_tables(answer, [_TABLE], {_TABLE: shown})
        if asked.look != BY_GROUP:
            _target_in_words(report, len(report.rows) - len(kept.rows))


def _show_groups(shown: Drawn, kept: CorrelationReport, method: Method, view: View) -> Drawn:
    """The table with its rows as a heat map of metrics and groups."""
    found = grid(kept)
    return replace(
        shown,
        figure=plots.coefficients_by_group(kept, method, view),
        alt=f"Heat map of {len(found.metrics)} metrics and {len(found.groups)} groups, {method.capitalize()}",
        instead=True,
        least_width=result_table.width_for(len(found.groups)),
        press=partial(_press_cell, found),
    )


def _press_cell(found: Grid, point: Mapping[str, Any]) -> None:
    row, column = point["customdata"]
    if (cell := found.cells[row][column]) is not None:
        explore.open_cell(cell.metric.name, cell.group)


def _answer(report: CorrelationReport, chosen: str) -> Answer:
    _, resampled, view = _VIEWS[chosen]
    return Answer(CORRELATE, report.options, correlations(report, resampled, view=view))


def _corrected_first(result: ResultTable) -> ResultTable:
    """The noise-corrected columns before the naive ones, which would push them out of a narrow window."""
    names = [column.name for column in result.columns]
    first = next((place for place, column in enumerate(result.columns) if column.heat), 0)
    order = sorted(
        range(len(names)), key=lambda place: (place >= first, not names[place].startswith(CORRECTED))
    )
    return replace(
        result,
        columns=tuple(result.columns[place] for place in order),
        rows=tuple(tuple(row[place] for place in order) for row in result.rows),
    )


def _views(target: against.Target, table: ScoreTable) -> list[str]:
    """The views that have values, or will have some."""
    several_systems = "system" not in target.options.group and len(set(names_of(table.rows, "system"))) > 1
    there = {"per_system": target.ratings is not None, "given_system": several_systems}
    return [view for view in _VIEWS if there.get(view, True)]


def _filtered(report: CorrelationReport, group: list[str]) -> CorrelationReport:
    """The report without the rows that the filters hide; an empty filter hides none."""
    of_rows = {"family": [row.metric.family for row in report.rows]}
    for name in group:
        # A column of the texts may be named family too.
        of_rows[f"group {name}" if name in of_rows else name] = [row.group[name] for row in report.rows]
    hidden: set[int] = set()
    with st.expander("Filter the rows"):
        for place, (name, own) in zip(places(), of_rows.items(), strict=False):
            offered = list(dict.fromkeys(own)) if name == "family" else sorted(set(own))
            wanted = place.multiselect(
                f"Filter by {plain(name)}",
                offered,
                key=address.several(f"only-{name}", f"metrics_only_{name}", offered),
                placeholder="All",
                persist_state="session",
            )
            if wanted:
                hidden |= {at for at, value in enumerate(own) if value not in wanted}
    return replace(report, rows=tuple(row for at, row in enumerate(report.rows) if at not in hidden))


def _target_in_words(report: CorrelationReport, hidden: int) -> None:
    words = {
        "human": "human ratings",
        "-level": "minus the damage level: a good metric is positive",
        "level": "the damage level itself: a good metric is negative",
    }
    filtered = f" {hidden} rows are hidden by the filters." if hidden else ""
    st.markdown(
        f":small[Correlated with {words[report.against]}. Click a cell for the texts behind it, a column heading to sort.{filtered} The CSV contains "
        "every interval.]"
    )
