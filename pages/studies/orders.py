"""A judge that compared the study's pairs: what the order does to it, and whether it votes as the raters do."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from core.analyses.gaps import ANALYSIS as GAPS
from core.analyses.pairs import ANALYSIS
from core.plots import judges as plots
from core.report import number, written
from core.results.check.gaps import GAP, find_gaps, reason_of, texts_by_item
from core.results.judges.pairwise import BesideVotes
from core.schema.analysis import Answer
from core.schema.result_table import Column
from core.schema.runs import Run
from core.schema.study import NO_LEVEL, Study, StudyRecord
from core.store import Store
from core.study.analysis_set import released_record
from pages.tabs import new_run, orders
from pages.tabs.checked import judges
from pages.widgets import address, analysis, chosen_judge, chosen_scores, level_diff, menus, open_study
from pages.widgets.chosen_scores import RUN, Chosen
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, other_page, part

_MOST = 100
"""Pairs that can be chosen to be read."""
_ANSWERS: Mapping[str, str] = {
    "four": "Four, as raters give them",
    "three": "Three: ties of both kinds as one",
}


def render(store: Store, study: Study) -> None:
    """Choose a judge of the pairs; show its verdicts beside the votes, then in both orders."""
    if study.state != "unblinded":
        nothing("votes are closed until you unblind the study. A judge can compare its pairs meanwhile")
        _new_run(study)
        return
    runs = {
        (RUN, number): run
        for number, run in chosen_judge.finished_runs(store, *chosen_judge.judges_of("pairs")).items()
        if orders.compared(store, run, study)
    }
    if not runs:
        st.markdown("No judge has compared these pairs yet.")
        _new_run(study)
        return
    _show_run(store, study, runs[_chosen(study, runs)])


def _new_run(study: Study) -> None:
    """Show a button that opens the form of a judge of pairs, with the pairs of this study."""
    if st.button("Let a judge compare the pairs", key="study_orders_new", icon=":material/balance:"):
        new_run.compare_pairs_of(study)
        chosen_judge.remember((chosen_scores.NEW, 0))
        st.switch_page(other_page("judges"))


def _chosen(study: Study, runs: Mapping[Chosen, Run]) -> Chosen:
    place = f"study_orders_run_{study.study_id}"
    if st.session_state.get(place) not in runs:
        st.session_state.pop(place, None)  # it was deleted
    address.one("run", place, list(runs), next(iter(runs)), chosen_scores.code)
    return st.selectbox("Judge", list(runs), format_func=lambda one: menus.name_of(runs[one]), key=place)


def _show_run(store: Store, study: Study, run: Run) -> None:
    record = released_record(store, study)
    found = orders.answer(store, run, record)
    votes = found.result.report.votes
    _votes(found, votes)
    _check(study, run)
    orders.render(found)
    _gaps(found, votes, record)


_BESIDE, _TESTED, _GAPS = ANALYSIS.tables[4:]


def _votes(result: Answer, votes: BesideVotes) -> None:
    analysis.heading(ANALYSIS, _BESIDE)
    offered: list[str] = list(dict.fromkeys(one.answers for one in votes.blocks))
    answers: str | None = offered[0]
    if len(offered) > 1:
        answers = st.segmented_control(
            "Answers",
            offered,
            format_func=_ANSWERS.__getitem__,
            required=True,
            key=address.one("answers", "study_orders_answers", offered, offered[0]),
        )
    beside = analysis.Drawn(
        plots.judge_and_raters(votes, answers or offered[0]),
        "Agreement of the judge with a rater beside that of two raters, by level",
    )
    analysis.show_tables(
        result,
        (_BESIDE.name, _TESTED.name),
        {_BESIDE.name: beside},
        only={"answers": [answers or offered[0]]},
    )


def _gaps(answer: Answer, votes: BesideVotes, record: StudyRecord) -> None:
    part(GAPS.title, _GAPS.question, GAPS.section)
    found = find_gaps(votes.panel)
    if not found:
        nothing("no pair has both a vote and a verdict")
        return
    rows = [votes.panel.rows[one.row] for one in found[:_MOST]]
    names = [
        f"{row.item_id}{chosen_judge.level_said(row)}: gap {number(one.gap, GAP)}"
        for row, one in zip(rows, found, strict=False)
    ]
    at = st.selectbox(
        "Pair, largest gap first",
        range(len(names)),
        format_func=names.__getitem__,
        key=address.one("pair", "study_orders_gap", range(len(names)), 0),
    )
    _pair(votes, found[at].row, record)
    analysis.show_tables(answer, (_GAPS.name,))


def _pair(votes: BesideVotes, place: int, record: StudyRecord) -> None:
    """Show everybody's answer, the question, both texts and the judge's reasons."""
    panel, label = votes.panel, Column("label", general=True)
    row = panel.rows[place]

    def word(value: float) -> str:
        return "none" if value != value else written(panel.scale.words.get(value, value), label)

    people = [
        f"{plain(name)}: **{plain(word(float(value)))}**"
        for name, value in zip(panel.raters, panel.ratings[place], strict=True)
    ]
    judge = panel.judges[0]
    st.markdown(
        f"People: {', '.join(people)}. Judge {plain(judge)}: **{plain(word(float(panel.scores[place, 0])))}**."
    )
    beside = next(
        (one for one in texts_by_item(votes.texts).get(row.item_id, ()) if one.row.level == row.level), None
    )
    if beside is None:
        return
    level_diff.plain_card("Question", beside.question, row.language)
    design = record.study.design
    of_system = {
        one.source: one.text
        for one in record.outputs
        if (one.item_id, one.level) == (row.item_id, row.level or NO_LEVEL)
    }
    roles = (" (candidate)", " (comparator)") if design.margin is not None else ("", "")
    for column, system, role in zip(st.columns(2), (design.candidate, design.comparator), roles, strict=True):
        with column:
            level_diff.plain_card(f"{system}{role}", of_system.get(system, ""), row.language)
    if reasons := reason_of(beside, judge):
        level_diff.plain_card("The judge's reasons", reasons, row.language)


def _check(study: Study, run: Run) -> None:
    """Show a button that checks the judge on the study's votes."""
    st.button(
        "Can it be trusted on these votes?",
        key="study_orders_check",
        icon=":material/fact_check:",
        on_click=partial(_open_check, study, run),
    )


def _open_check(study: Study, run: Run) -> None:
    judges.choose(f"study_{study.study_id}", [(RUN, run.run_id)])
    open_study.show_judges(study.study_id, open_study.TRUST)
