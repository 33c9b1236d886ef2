"""Runs and studies in progress or waiting, each with a button that opens it."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import InputError, counted
from core.runs.kinds import KINDS
from core.runs.overview import OpenRun, Overview, is_moving, overview
from core.schema.runs import Run
from core.schema.study import Study
from pages.widgets import chosen_judge, menus, open_study, visitor
from pages.widgets.messages import plain

_TICK = 5.0
"""Seconds between updates while a run is in progress."""
_MOST = 5
"""Studies or runs of one state that are listed."""
_STATES = {
    "waiting": "not started",
    "awaiting": "waits for answers to its batch files",
    "stopped": "stopped before its end",
    "interrupted": "interrupted",
}


def render() -> None:
    """Show runs, raters' progress and what waits; update by itself while a run is in progress."""
    with visitor.admin_store() as store:
        moving = is_moving(store)
    st.fragment(_now, run_every=_TICK if moving else None)(moving)


def _now(moving: bool) -> None:
    with visitor.admin_store() as store:
        found = overview(store)
        if bool(found.running) != moving:
            st.rerun()  # the clock starts or stops
        _running(found)
        _waiting(found)


def _running(found: Overview) -> None:
    st.header("Running now", anchor=False)
    if not found.running and not found.open_studies:
        st.markdown("Nothing is running. The buttons above start a study or a run.")
    for run in found.running:
        ending = ", stopping" if run.state == "cancelling" else ""
        so_far = f"{run.n_finished:,} of {counted(run.run.n_wanted, 'item')}"
        with _line(f"{_named(run.run)}{ending}", so_far, run.share):
            _run_button(run, "Show progress")
    for study in found.open_studies:
        unit = "vote" if study.study.kind == "pairs" else "rating"
        so_far = f"{study.done:,} of {counted(study.n_asked, unit)}, {counted(study.n_raters, 'rater')}"
        with _line(f"Study {study.study.name}", so_far if study.n_raters else "no rater yet", study.share):
            _study_button(study.study, "Show raters" if study.n_raters else "Add raters", "raters")


def _waiting(found: Overview) -> None:
    lists = (
        (found.closed, "closed: unblind it to see the results", "Unblind"),
        (found.unblinded, "unblinded: the results are open", "Read the results"),
        (found.drafts, "draft: open it to let raters in", "Continue"),
    )
    if not found.waiting and not any(studies for studies, *_ in lists):
        return
    st.header("Waiting for you", anchor=False)
    for run in found.waiting[:_MOST]:
        with _line(_named(run.run), _STATES[run.state]):
            _run_button(run, "Continue")
    _more(len(found.waiting), "run")
    for studies, state, button in lists:
        for study in studies[:_MOST]:
            with _line(f"Study {study.name}", state):
                _study_button(study, button)
        _more(len(studies), "study", "studies")


def _named(run: Run) -> str:
    try:
        return f"Run {run.run_id}: {menus.what_of(run)}"
    except InputError:  # a newer Assay saved it
        return f"Run {run.run_id}: {run.kind}"


def _line(name: str, state: str, share: float | None = None) -> DeltaGenerator:
    """Write a line, with a bar where a share is given; returns the place for its button."""
    left, right = st.columns([4, 1], vertical_alignment="center")
    said = f"**{plain(name)}:** {plain(state)}"
    if share is None:
        left.markdown(said)
    else:
        left.progress(share, text=said)
    return right


def _run_button(run: OpenRun, label: str) -> None:
    if run.run.kind not in KINDS:
        st.markdown("Update Assay to open it.")
    elif st.button(label, key=f"start_run_{run.run.run_id}", width="stretch"):
        st.switch_page(chosen_judge.page_of(run.run))


def _study_button(study: Study, label: str, tab: str = "") -> None:
    if st.button(label, key=f"start_study_{study.study_id}", width="stretch"):
        open_study.open_study(study.study_id, tab)


def _more(n: int, one: str, many: str = "") -> None:
    if n > _MOST:
        st.markdown(f"And {n - _MOST:,} more {(many or f'{one}s') if n > _MOST + 1 else one}.")
