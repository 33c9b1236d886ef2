"""Which judge is looked at, what judges are called, their numbers as words, and what a model was asked about a text."""

import re
from collections.abc import Collection
from typing import NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core.judges.kind import JudgeKind, JudgeSettings
from core.runs.asked import asked_of
from core.runs.calls import THINKING, ItemCall, calls_of
from core.runs.judging import JudgedSoFar
from core.runs.kinds import KINDS, kinds_that
from core.runs.path import saved_run
from core.schema.runs import RULES, Kind, KindSettings, Reads, Run
from core.schema.scores import JudgedText, JudgeOutput, Metric, ScoredRow
from core.schema.study import Study
from core.store import Store
from core.store.kept import kept_files
from core.store.runs import item_counts, item_position, list_runs
from pages.widgets import address, chosen_scores, menus, open_study
from pages.widgets.chosen_scores import FILE, NEW, RUN, UPLOAD_SCORES, Chosen, Key
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, number, other_page, studies

SIDES = {"source": "made from sources", "text": "made from texts", "all": "all questions"}
"""What questions were made from."""
MARKS: dict[bool | None, str] = {True: "✓", False: "✗", None: "?"}
"""A verdict on a claim or an error as a sign; None: nobody could tell."""
_SOURCE = re.compile(r"\bsource\b")


def document_name(output: JudgeOutput) -> str:
    """What the judge compares a text with: `reference` or `source`."""
    return _compared_with(KINDS[output.kind].Settings.checked(output.settings))


def document_of_run(run: Run) -> str:
    """The same of a run, whatever its kind."""
    return _compared_with(asked_of(run).settings)


def _compared_with(chosen: KindSettings) -> str:
    return chosen.compares_with if isinstance(chosen, JudgeSettings) else "source"


def document_words(step: str, named: str) -> str:
    """A step or a side of a cross-examination in words that fit what was read: `source`, or `reference` in its place."""
    return step if named == "source" else _SOURCE.sub(named, step)


def sides(named: str) -> dict[str, str]:
    """What questions were made from, of a run that read a source or a reference."""
    return {side: said.replace("sources", f"{named}s") for side, said in SIDES.items()}


def short_name(run: Run) -> str:
    """A judge's run in a table or a figure."""
    return f"{asked_of(run).called} (run {run.run_id})"


def factor_of(metric: Metric) -> float:
    """What its scores are multiplied with to be shown: some judges' are in percent, as their paper prints them."""
    judges = (kind for kind in KINDS.values() if isinstance(kind, JudgeKind))
    return 100.0 if any(one.in_percent and one.family == metric.family for one in judges) else 1.0


def score(value: float | None, factor: float) -> str:
    """A score of one text on the scale on which it is shown."""
    return number(value) if value is None or factor == 1.0 else f"{number(factor * value, 1)} %"


def level_said(row: ScoredRow) -> str:
    """The level behind a text's name; empty where it has none."""
    return "" if row.level is None else f", level {row.level}"


COMPARE = "compare"
"""Stands for several prompts or models compared, in the menu of the page Judges."""
_FURTHER: dict[Chosen, str] = {
    (COMPARE, 0): "Compare prompts or models ...",
    (UPLOAD_SCORES, 0): "Upload a judge's output ...",
}
_CHOSEN, CHOSEN_SPECIALIST = "judges_chosen", "specialist_chosen"
"""Where a session stores what the pages Judges and Specialist show."""


def remember(choice: Chosen) -> None:
    """Make this what the page shows."""
    st.session_state[_CHOSEN] = choice


def choose(store: Store) -> Chosen:
    """Choose a judge's run or scores from elsewhere; without any, the form of a new run."""
    runs: dict[Chosen, str] = {
        (RUN, run.run_id): menus.name_of(run)
        for run in list_runs(
            store, tuple(kind.name for kind in (*judges_of("texts", "pairs"), *kinds_that("audit")))
        )
    }
    files: dict[Chosen, str] = {
        (FILE, file.file_id): chosen_scores.name_of(file) for file in kept_files(store, "scores")
    }
    return menus.run_or_new(
        "Judge",
        {**runs, **files},
        _CHOSEN,
        (NEW, 0),
        further=_FURTHER,
        also=", and tables of scores from elsewhere",
    )


def page_of(run: Run) -> StreamlitPage:
    """Make this what its page shows, whatever its kind; returns that page."""
    kind = KINDS[run.kind]
    if kind.work == "generation":
        menus.remember_run(run.run_id)
        return other_page("generate")
    if kind.by_metrics:
        chosen_scores.remember((RUN, run.run_id))
        return other_page("metrics")
    if kind.reads == "rated texts":
        st.session_state[CHOSEN_SPECIALIST] = run.run_id
        return other_page("specialist")
    remember((RUN, run.run_id))
    return other_page("judges")


def open_pairs(study: Study, run: Run) -> NoReturn:
    """Go to what a judge of pairs said of a study's pairs, beside the votes."""
    shown = {"run": chosen_scores.code((RUN, run.run_id))}
    address.go(studies(), open_study.link(study.study_id, "judges", open_study.ORDERS) | shown)


PAIRS_TAB = "Pairs"
"""Name of the tab of a judge that compares pairs."""


def judges_of(*reads: Reads) -> tuple[JudgeKind, ...]:
    """The judges whose files hold one of these."""
    return tuple(
        kind for kind in kinds_that("judging") if isinstance(kind, JudgeKind) and kind.reads in reads
    )


def finished_runs(store: Store, *kinds: Kind) -> dict[int, Run]:
    """Runs of these kinds that have finished an item, newest first."""
    return {
        run.run_id: run
        for run in list_runs(store, tuple(kind.name for kind in kinds))
        if any(item_counts(store, run.run_id)[0].values())
    }


def output_of(store: Store, run: Run) -> JudgeOutput:
    """All that a judge said so far, read once."""
    return _output(menus.key_of(store, run), store, run)


# A resource: thousands of records would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=12)
def _output(key: Key, _store: Store, _run: Run) -> JudgeOutput:
    return _so_far(menus.identity(_run)).output(saved_run(_store, _run))


@st.cache_resource(show_spinner=False, max_entries=6)
def _so_far(key: Key) -> JudgedSoFar:
    """What has been read of a run's output: while it is at work, the next look reads only what came meanwhile."""
    return JudgedSoFar()


LABEL = "What the model was asked"
KEY = "asked_calls"
QUESTION = "Question to the model"


def text_calls(store: Store, run: Run, output: JudgeOutput, text: JudgedText) -> None:
    """Every call that a judge made for one of its texts; nothing where rules judged. output: the run's."""
    position = item_position(store, run.run_id, text.row.item_id)
    if position is None or output.model == RULES:
        return
    number = [one for one in output.texts if one.row.item_id == text.row.item_id].index(text)
    item_calls(store, run.run_id, position, number, document_name(output))


def item_calls(
    store: Store, run_id: int, position: int, text: int | None = None, named: str = "source"
) -> None:
    """A folded part with every call for an item, or for one of its texts. Nothing is read before it is opened.

    text: its number, as core.runs.calls has it; named: what a judge compares with, `reference` or `source`.
    """
    # One key for every text: who goes through texts finds the part as it was left.
    folded = st.expander(LABEL, key=KEY, on_change="rerun")
    if not folded.open:
        return
    with folded:
        calls = calls_of(store, run_id, position, None if text is None else [text])
        if not calls:
            nothing("no call was made")
            return
        for call in _question(calls, named, f"{KEY}_{run_id}_{position}_{text}"):
            _call(call, named)


def _question(calls: Collection[ItemCall], named: str, key: str) -> list[ItemCall]:
    """The calls of one question, which the reader chooses where there are several."""
    questions: dict[tuple[str, object], list[ItemCall]] = {}
    for at, call in enumerate(calls):
        questions.setdefault(
            (call.step, f"call {at}" if call.question is None else call.question), []
        ).append(call)
    order = list(questions)
    if len(order) == 1:
        return questions[order[0]]

    def label(number: int) -> str:
        found = questions[order[number]]
        step = document_words(found[0].step, named)
        tries = "" if len(found) == 1 else f", {len(found)} calls"
        return f"{number + 1}. {step}{tries}: {found[-1].became}"

    chosen = st.selectbox(QUESTION, range(len(order)), format_func=label, key=key)
    return questions[order[chosen]]


def _call(call: ItemCall, named: str) -> None:
    title = document_words(call.title, named)
    st.markdown(f"**{plain(title)}: {plain(call.became)}**  \n:small[{plain(call.cost)}]")
    for name, text in call.parts:
        if not text:
            st.markdown(f":small[{plain(name)}.]")
        elif name == THINKING:
            with st.expander(name):
                st.code(text, language=None, wrap_lines=True)
        else:
            st.markdown(f":small[{plain(name)}]")
            st.code(text, language=None, wrap_lines=True)
