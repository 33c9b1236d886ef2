"""Tabs of a judge's run: summary of its scores, consistency, cost, and other scores of the same texts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from core.analyses.consistency import ANALYSIS as CONSISTENCY
from core.analyses.correlate import ANALYSIS as CORRELATE
from core.analyses.correlate import FOLLOWS_LEVEL, correlations
from core.analyses.costs import ANALYSIS as COSTS
from core.analyses.judge_scores import ANALYSIS as SCORES
from core.analyses.judge_scores import marks_said
from core.errors import AssayError
from core.joining.tables import LISTED_AS, merge_tables
from core.judges.rubric import Rubric
from core.results.correlations.table import CorrelationReport
from core.results.judges.consistency import nothing_compared
from core.runs.asked import asked_of
from core.runs.judging.levels import blind_to_levels
from core.runs.kinds import KINDS, kinds_that
from core.runs.path import runs_that
from core.schema.analysis import Answer, Caution
from core.schema.correlating import CorrelateOptions
from core.schema.injections import MARKED_TABLES
from core.schema.panel import JudgedTables
from core.schema.runs import Run
from core.schema.scores import ScoreTable, mask_notes
from core.sources.judges import costs_of
from core.sources.panel import signs_of
from core.sources.reading import reading_in
from core.store import Store
from core.store.kept import step_costs
from core.store.runs import item_counts
from pages.tabs import levels
from pages.tabs.phrases import NO_ITEM, NOT_JUDGED
from pages.widgets import analysis, chosen_judge, chosen_scores, menus, parts
from pages.widgets.against import has_levels
from pages.widgets.analysis import Data
from pages.widgets.chosen_judge import factor_of
from pages.widgets.chosen_scores import FILE, RUN, Chosen, Scores
from pages.widgets.messages import plain
from pages.widgets.parts import constants, nothing, part, waiting


def render_scores(store: Store, scores: Scores) -> None:
    """Show means and undefined scores, correlations with the level as in Factual, and scores by level."""
    part(
        "Scores",
        "Higher is better. Texts without a score are left out and counted with the reason. They never count as 0.",
        "scores",
    )
    if not scores.table.rows:
        nothing(NOT_JUDGED)
        return
    shown = _percent_scores(scores)
    answer = analysis.answer_of(SCORES, SCORES.Options(), _data(store, shown))
    marks = marks_said(answer.result)
    constants(line for line in answer.all_sentences if line not in marks)
    analysis.show_tables(answer, (SCORES.name,))
    _marked(answer, marks)
    if scale := _scale(scores):
        st.markdown(f":small[{scale}]")
    _lead_to_metrics(scores)
    if mask_notes(row.system for row in scores.table.rows):
        return  # at each level another of the two systems may be answer 1
    if _blind_to_levels(store, scores):
        st.markdown(
            "Scores of different levels are not compared: this judge only compared texts of one level, so each level has a mean "
            "of one half."
        )
        return
    if has_levels(scores.table):
        _show_level_correlations(scores)
    levels.render(store, shown, warned=True)


def _blind_to_levels(store: Store, scores: Scores) -> bool:
    if scores.run is None or KINDS[scores.run.kind].reads != "pairs" or not has_levels(scores.table):
        return False
    return blind_to_levels(chosen_judge.output_of(store, scores.run))


def _percent_scores(scores: Scores) -> Scores:
    """The scores; those of cross-examination, stored from 0 to 1, in percent as CEF publishes them."""
    factors = [factor_of(metric) for metric in scores.table.metrics]
    if set(factors) <= {1.0}:
        return scores
    metrics = tuple(
        metric if factor == 1.0 else replace(metric, name=f"{metric.name} (%)")
        for metric, factor in zip(scores.table.metrics, factors, strict=True)
    )
    values = scores.table.values * np.array(factors)
    return replace(
        scores, key=(*scores.key, "percent"), table=replace(scores.table, metrics=metrics, values=values)
    )


def _data(store: Store, scores: Scores) -> Data:
    """The scores with the judge's records; a table of scores has none."""

    def opened() -> JudgedTables:
        if scores.run is None:
            return JudgedTables((scores.table,), (None,))
        output = chosen_judge.output_of(store, scores.run)
        return JudgedTables((scores.table,), (output,), signs=partial(signs_of, [output]))

    return Data(scores.key, opened, grows=scores.grows)


def _marked(answer: Answer, said: Sequence[str]) -> None:
    """Show which judged texts have marks of injection, and how they are scored."""
    if not said:
        return
    part(
        "Marks of injection",
        "Texts that look like a chat or address an examiner. A judge that obeys them scores them by their words.",
        "judges#marks-of-injection",
    )
    for line in said:
        (st.warning if isinstance(line, Caution) else st.markdown)(plain(line))
    analysis.show_tables(answer, MARKED_TABLES)


def _scale(scores: Scores) -> str:
    """The scale of a rubric's verdicts; empty for other scores."""
    if scores.run is None:
        return ""
    asked = asked_of(scores.run)
    file = asked.kind.attachment
    rubric = None if file is None else file.read(asked.attached, file.name)
    if not isinstance(rubric, Rubric):
        return ""
    return f"Scale of the rubric {plain(rubric.name)}: {rubric.lowest} (worst) to {rubric.highest} (best)."


def _lead_to_metrics(scores: Scores) -> None:
    if st.button(
        "Correlate on the page Metrics",
        key="judges_to_metrics",
        icon=":material/arrow_forward:",
        help="With levels, human ratings or votes, next to other metrics, and in the meta-correlation.",
    ):
        chosen_scores.remember(scores.origin)
        st.session_state[f"metrics_part_{scores.origin[0]}"] = "Correlations"
        st.switch_page(parts.metrics())


def _show_level_correlations(scores: Scores) -> None:
    (declared,) = (one for one in CORRELATE.tables if one.name == FOLLOWS_LEVEL)
    part(declared.title, declared.question, "correlation")
    with waiting(scores.moving):
        answer = Answer(CORRELATE, CORRELATE.Options(), correlations(level_correlations(scores)))
    analysis.show_tables(answer, (FOLLOWS_LEVEL,))


def level_correlations(scores: Scores) -> CorrelationReport:
    """Correlations with minus the level, in the form of Factual's Table 2."""
    options = CorrelateOptions(
        n_resamples=chosen_scores.resamples_for(scores), methods=("pearson", "kendall")
    )
    return chosen_scores.correlated((*scores.key, "as Table 2"), scores.table, None, options)


def render_costs(store: Store, run: Run) -> None:
    """Show what the run cost, next to other judges."""
    used = [run]

    def choose() -> list[Data]:
        others = {
            number: one
            for number, one in chosen_judge.finished_runs(store, *kinds_that("judging")).items()
            if number != run.run_id
        }
        used.extend(menus.several("Compare with", others, "judges_cost_beside", placeholder="No other judge"))
        # Costs grow with every call, even before an item is finished.
        counted = [
            (cost.step, cost.calls, cost.cached) for one in used for cost in step_costs(store, one.run_id)
        ]
        key = (*(menus.key_of(store, one) for one in used), *counted)
        return [Data(key, lambda: costs_of([f"run:{one.run_id}" for one in used], reading_in(store)))]

    if not any(item_counts(store, run.run_id)[0].values()):
        part(COSTS.title, COSTS.question, COSTS.section)
        nothing(NO_ITEM)
        return
    analysis.render(COSTS, choose)
    if any(asked_of(one).by_rules for one in used):
        st.markdown(":small[Rules cost nothing: they call no model.]")


def render_consistency(store: Store, run: Run) -> None:
    """Show agreement over repeats, then over the two orders of texts."""
    output = chosen_judge.output_of(store, run)
    if "consistency" not in KINDS[run.kind].reports:
        why = "a judge of this kind has no repeats; start two runs with different seeds and compare them"
    elif missing := nothing_compared(output):
        why = f"{missing}; start a new run with two or more repeats, or with both orders"
    else:
        analysis.render(CONSISTENCY, lambda: [Data(menus.key_of(store, run), lambda: output)])
        return
    part(CONSISTENCY.title, CONSISTENCY.question, CONSISTENCY.section)
    nothing(why)


_LOOKED_INTO = 30
"""Tables that are opened to check whether they score the same texts; older ones are offered unchecked."""


def others(store: Store, scores: Scores) -> dict[Chosen, str]:
    """Other scores of the same texts: those of the same file first, then the newest first.

    Runs without any score and tables of other items are left out.
    """
    names = chosen_scores.named(store)
    same = scores.run.data_sha256 if scores.run else ""
    runs = {(RUN, run.run_id): run for run in runs_that(store, "scores", "judging")}
    filled = [
        chosen
        for chosen in names
        if chosen != scores.origin
        and (chosen not in runs or any(item_counts(store, runs[chosen].run_id)[0].values()))
    ]
    order = sorted(filled, key=lambda chosen: chosen not in runs or runs[chosen].data_sha256 != same)
    items = _items(scores)
    return {
        chosen: names[chosen]
        for at, chosen in enumerate(order)
        if at >= _LOOKED_INTO or items & _items_of(store, chosen)
    }


def _items_of(store: Store, choice: Chosen) -> frozenset[str]:
    try:
        return _items(chosen_scores.open_scores(store, choice))
    except AssayError:
        return frozenset()  # Its own page shows what is wrong with it.


def _items(scores: Scores) -> frozenset[str]:
    """Items with a score."""

    def found() -> frozenset[str]:
        scored = np.flatnonzero((~np.isnan(scores.table.values)).any(axis=1))
        return frozenset(scores.table.rows[int(at)].item_id for at in scored)

    return chosen_scores.once(("scored items", *scores.key), found)


def called(scores: Scores) -> str:
    """Short name of a run or a file, for figures and notes."""
    kind, number = scores.origin
    return scores.name if kind == FILE else f"run {number}"


def table_of(scores: Scores) -> ScoreTable:
    """Its table, named as in the menu: several runs may share a file name."""
    return replace(scores.table, file_name=scores.name)


def merged(several: Sequence[Scores]) -> ScoreTable:
    """All columns side by side; columns with the same name also get their run's or file's name.

    Raises InputError for tables that share no text.
    """
    table = merge_tables([table_of(one) for one in several])
    whose = [(metric, called(one)) for one in several for metric in one.table.metrics]
    often = Counter(metric.name for metric, _ in whose)
    metrics = tuple(
        replace(column, name=f"{own.name} ({name})") if often[own.name] > 1 else column
        for column, (own, name) in zip(table.metrics, whose, strict=True)
    )
    return replace(table, metrics=metrics, notes=notes_of(table.notes))


def notes_of(notes: Sequence[str]) -> tuple[str, ...]:
    """Notes of a merged table without those on its column names, which the page does not use."""
    return tuple(
        note.replace("are in all 2 tables", "are in both") for note in notes if LISTED_AS not in note
    )
