"""Judges: language models that score texts. Their scores, their reasons, whether to believe them, what they cost."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.judges.alignment import MarkedText
from core.judges.answers import QuestionSet
from core.judges.kind import AuditKind
from core.runs.kinds import KINDS
from core.schema import Run
from core.store import Store
from core.store.runs import get_run
from pages.components import (
    blind_pair,
    generate_style,
    generated_level_diff,
    judges_again,
    judges_agreement,
    judges_answers,
    judges_cost,
    judges_files,
    judges_form,
    judges_marked,
    judges_reliability,
    judges_runs,
    judges_scores,
    judges_texts,
    messages,
    metrics_files,
    metrics_heat,
    metrics_scores,
    run_panel,
    visitor,
)
from pages.components.metrics_scores import FILE, NEW, RUN, UPLOAD, Chosen
from pages.components.parts import explained

_PROGRESS, _SCORES, _TEXTS, _JUDGES, _RELIABILITY, _COST, _FILES, _RESULT = (
    "Progress",
    "Scores",
    "Texts",
    "Judges",
    "Reliability",
    "Cost",
    "Files",
    "Result",
)
_OF_JUDGE = (_PROGRESS, _SCORES, _TEXTS, _JUDGES, _RELIABILITY, _COST, _FILES)
_OF_CHECK = (_PROGRESS, _RESULT, _COST, _FILES)
_OF_FILE = (_SCORES, _JUDGES, _FILES)


def render() -> None:
    """Choose a judge's run or make one, then look at it."""
    with visitor.admin_store() as store:
        st.title("Judges")
        blind_pair.style()
        generate_style.style()
        generated_level_diff.style()
        metrics_heat.style()
        messages.news()
        chosen = judges_runs.choose(store)
        if chosen[0] == NEW:
            explained(
                "A judge is a language model that scores texts, and says why. Judge texts whose quality is known first: "
                "then the scores show whether the judge can be believed. A preview of five items comes first, and says "
                "what all will cost.",
                "judges",
            )
            started = judges_form.form(store, "judges", judges_runs.judges_of("texts"))
            if started is not None:
                judges_runs.remember((RUN, started))
                st.rerun()
        elif chosen[0] == UPLOAD:
            judges_files.upload(store)
        elif chosen[0] == FILE:
            _tabs(_OF_FILE, "file", lambda name: _of_file(store, chosen, name))
        else:
            run = get_run(store, chosen[1])
            judges = KINDS[run.kind].work == "judging"
            parts, slot = (_OF_JUDGE, "judge") if judges else (_OF_CHECK, "check")
            _tabs(parts, slot, lambda name: _BODIES[name](store, run))


def _tabs(names: tuple[str, ...], slot: str, body: Callable[[str], None]) -> None:
    # Only the open one is computed.
    for name, tab in zip(names, st.tabs(names, key=f"judges_part_{slot}", on_change="rerun"), strict=True):
        if tab.open:
            with tab, messages.mistakes_shown():
                body(name)


def _of_file(store: Store, chosen: Chosen, name: str) -> None:
    bodies = {_SCORES: judges_scores.render, _JUDGES: judges_agreement.render, _FILES: metrics_files.render}
    metrics_scores.live(store, chosen, bodies[name])


def _progress(store: Store, run: Run) -> None:
    run_panel.render(store, run)
    if KINDS[run.kind].work == "judging":
        judges_again.button(store, run, "judges", lambda: judges_runs.remember((NEW, 0)))


def _result(store: Store, run: Run) -> None:
    kind = KINDS[run.kind]
    assert isinstance(kind, AuditKind)
    _RESULTS.get(kind.Piece, judges_files.render)(store, run)


_RESULTS: Mapping[type, Callable[[Store, Run], None]] = {
    QuestionSet: judges_answers.result,
    MarkedText: judges_marked.result,
}
"""What an audit works on -> what shows its result; of any other there are its files."""
_BODIES: dict[str, Callable[[Store, Run], None]] = {
    _PROGRESS: _progress,
    _SCORES: lambda store, run: metrics_scores.live(store, (RUN, run.run_id), judges_scores.render),
    _JUDGES: lambda store, run: metrics_scores.live(store, (RUN, run.run_id), judges_agreement.render),
    _RESULT: _result,
    _TEXTS: judges_texts.render,
    _RELIABILITY: judges_reliability.render,
    _COST: judges_cost.render,
    _FILES: judges_files.render,
}
