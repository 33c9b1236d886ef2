"""Tab Pairs: what the order does to a judge of pairs, and whether it votes as the raters of a blind study do."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.plots import judges as plots
from core.report import number, written
from core.results.check.gaps import GAP, by_item, find_gaps, gap_table, reason_of
from core.results.judges.pairwise import (
    PAIRS_TABLES,
    BesideVotes,
    PairsReport,
    pairs_report,
    pairs_said,
    pairs_tables,
)
from core.schema.result_table import Column, ResultTable
from core.schema.runs import Run
from core.schema.study import NO_LEVEL, Study, StudyRecord
from core.store import Store
from core.store.studies import list_studies, outputs_of
from core.study.analysis_set import released_record
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import address, chosen_judge, chosen_scores, level_diff, menus, result_table
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import nothing, other_page, part

_SECTION = "pairs#beside-blind-votes"
_NO_STUDY = "none"
_LISTED, _MOST = 20, 100
_ANSWERS: Mapping[str, str] = {
    "four": "Four, as raters give them",
    "three": "Three: ties of both kinds as one",
}


def render(store: Store, run: Run) -> None:
    """Show the judge's verdicts in both orders, then beside the votes of a study of the same pairs."""
    if not chosen_judge.output_of(store, run).texts:
        nothing(NOT_JUDGED)
        return
    studies = _studies(store, run)
    study = _chosen(run, studies)
    with mistakes_shown():
        record = None if study is None else released_record(store, study)
        found = _report(store, run, record)
        said = pairs_said(found)
        st.markdown("  \n".join([f"**{plain(said[0])}**", *map(plain, said[1:])]))
        tables = pairs_tables(found)
        if found.votes is not None and study is not None:
            _votes(found.votes, tables)
            _check(run, study)
        _orders(found, tables)
        if found.votes is not None and record is not None:
            _gaps(found.votes, record)
        elif not studies:
            part("Beside raters", "How often does the judge give a rater's answer?", _SECTION)
            nothing("no unblinded study has these pairs; unblind a study of them first")


def _studies(store: Store, run: Run) -> dict[str, Study]:
    """Unblinded studies with the pairs that the judge compared, by name."""
    texts = {text.text for text in chosen_judge.output_of(store, run).texts}
    return {
        study.name: study
        for study in list_studies(store)
        if study.state == "unblinded"
        and study.kind == "pairs"
        and any(one.text in texts for one in outputs_of(store, study.study_id))
    }


def _chosen(run: Run, studies: dict[str, Study]) -> Study | None:
    if not studies:
        return None
    options = [*studies, _NO_STUDY]
    place = address.one("study", f"judges_pairs_study_{run.run_id}", options, options[0])
    name = st.selectbox(
        "Votes of",
        options,
        format_func=lambda one: "No study" if one not in studies else f"Study {studies[one].name}",
        key=place,
    )
    return studies.get(name)


def _report(store: Store, run: Run, record: StudyRecord | None) -> PairsReport:
    output = chosen_judge.output_of(store, run)
    votes = None if record is None else (record.study, record.raters, record.answers)
    with st.spinner("Computing ..."):
        found: PairsReport = chosen_scores.once(
            ("pairs", *menus.key_of(store, run), hash(votes)), lambda: pairs_report(output, record)
        )
    return found


def _orders(found: PairsReport, tables: dict[str, ResultTable]) -> None:
    part("Both orders", "Does the judge keep its verdict when the two answers change places?", _SECTION)
    figure = plots.pair_orders(found)
    result_table.show(
        tables[PAIRS_TABLES[0]],
        figure=figure,
        alt="Pairs with the same verdict in both orders, and pairs whose verdict follows the place, by level",
        titled=False,
    )
    part("Ties", "Which answers does it give?", _SECTION)
    result_table.show(tables[PAIRS_TABLES[1]], titled=False)
    part("Win rates", "Which system does this judge prefer?", _SECTION)
    if found.systems_reason:
        nothing(found.systems_reason.rstrip("."))
    else:
        result_table.show(tables[PAIRS_TABLES[2]], titled=False)


def _votes(votes: BesideVotes, tables: dict[str, ResultTable]) -> None:
    part(
        "Beside raters",
        "How often does the judge give a rater's answer, and how often does another rater?",
        _SECTION,
    )
    offered: list[str] = list(dict.fromkeys(one.answers for one in votes.blocks))
    answers: str | None = offered[0]
    if len(offered) > 1:
        answers = st.segmented_control(
            "Answers",
            offered,
            format_func=_ANSWERS.__getitem__,
            required=True,
            key=address.one("answers", "judges_pairs_answers", offered, offered[0]),
        )
    agreement, tested = (tables[name] for name in PAIRS_TABLES[4:6])
    result_table.show(
        _only(agreement, answers),
        whole=agreement,
        figure=plots.beside_raters(votes, answers or offered[0]),
        alt="Agreement of the judge with a rater beside that of two raters, by level",
        titled=False,
    )
    part("Alt-test", "May it replace a rater?", "inference#alt-test")
    result_table.show(_only(tested, answers), whole=tested, titled=False)


def _only(table: ResultTable, answers: str | None) -> ResultTable:
    """The rows of one number of answers."""
    at = [column.name for column in table.columns].index("answers")
    columns = tuple(replace(one, shown=one.shown and one.name != "answers") for one in table.columns)
    return replace(
        table, columns=columns, rows=tuple(row for row in table.rows if answers in (None, row[at]))
    )


def _gaps(votes: BesideVotes, record: StudyRecord) -> None:
    part(
        "Where people and judge differ",
        "The largest gaps come first. Read some of them: is the judge wrong, or a person?",
        "check#where-people-and-judge-differ",
    )
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
        key=address.one("pair", "judges_pairs_gap", range(len(names)), 0),
    )
    _pair(votes, found[at].row, record)
    result_table.show(
        gap_table(votes.panel, found, most=_LISTED), titled=False, whole=gap_table(votes.panel, found)
    )


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
        (one for one in by_item(votes.texts).get(row.item_id, ()) if one.row.level == row.level), None
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


def _check(run: Run, study: Study) -> None:
    """Show a button that checks the judge on the study's votes."""
    if st.button("Check this judge on these votes", key="judges_pairs_check", icon=":material/fact_check:"):
        menus.remember_checked(f"study:{study.name}")
        st.session_state[f"check_judges_study:{study.name}"] = [(chosen_scores.RUN, run.run_id)]
        st.switch_page(other_page("check"))
