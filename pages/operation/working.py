"""What runs, waits for answers, or stopped: where, how fast, and buttons to cancel, resume and open each run."""

from collections.abc import Sequence

import streamlit as st

from core.errors import InputError, counted
from core.runs.kinds import KINDS
from core.runs.overview import OpenRun, is_moving, overview
from core.runs.overview.listing import Working, working, working_table
from core.runs.overview.machine import Processes
from core.runs.path import saved_run
from core.runs.progress import Answered, progress_of
from core.schema.runs import Run
from core.store import Store
from core.store.upkeep import byte_size
from pages.widgets import chosen_judge, menus, result_table, run_panel, visitor
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import nothing

_TICK = 5.0
"""Seconds between updates while a run is in progress."""
_MOST = 10
"""Runs of one state that are listed with buttons until all are asked for."""
_ANSWERED = "operation_answered"
"""Where a session stores the answered requests of running runs: run -> Answered."""
_PARTS = (
    ("Waiting for answers", ("awaiting",)),
    ("Stopped or interrupted", ("stopped", "interrupted")),
    ("Not started", ("waiting",)),
)
_STATES = {
    "awaiting": "waits for answers to its batch files",
    "waiting": "not started",
    "stopped": "stopped before its end",
    "interrupted": "interrupted: its process is gone",
}


def render(store: Store) -> None:
    """Show the runs; update by itself while one is in progress."""
    moving = _any_moving(store)
    st.fragment(_now, run_every=_TICK if moving else None)(moving)


def _now(moving: bool) -> None:
    with visitor.admin_store() as store:
        found = overview(store)
        if _any_moving(store) != moving:
            st.rerun()  # the clock starts or stops
        processes = Processes()
        st.header("Working now", anchor=False)
        if not found.running:
            nothing("no run is in progress")
        answered = _answered(found.running)
        shown = [working(store, one.run, processes, answered[one.run.run_id]) for one in found.running]
        for one in shown:
            _moving(store, one, answered[one.progress.run.run_id])
        for title, states in _PARTS:
            if waiting := [one for one in found.waiting if one.state in states]:
                st.header(title, anchor=False)
                more = len(waiting) > _MOST and st.toggle(
                    f"Show all {len(waiting):,}", key=f"operation_all_{states[0]}"
                )
                for run in waiting if more else waiting[:_MOST]:
                    _waiting(store, run)
        if shown:
            with st.expander("Speed, process and memory of each run"):
                result_table.show(working_table(shown), titled=False)


def _any_moving(store: Store) -> bool:
    """Whether a run is in progress or was just started here."""
    return is_moving(store) or any(
        run_panel.is_moving(progress_of(store, number)) for number in run_panel.starting_here()
    )


def _answered(running: Sequence[OpenRun]) -> dict[int, Answered]:
    """The answered requests of each run since its last start, from the last update where there was one."""
    known: dict[int, Answered] = st.session_state.get(_ANSWERED, {})
    now = {}
    for one in running:
        run = one.run
        before = known.get(run.run_id)
        same = before is not None and menus.identity(before.run) == menus.identity(run)
        if before is None or not same or before.run.started_utc != run.started_utc:
            before = Answered(run)
        now[run.run_id] = before
    st.session_state[_ANSWERED] = now
    return now


def _moving(store: Store, one: Working, answered: Answered) -> None:
    progress = one.progress
    run = progress.run
    left, right = st.columns([4, 1], vertical_alignment="center")
    with left:
        share = progress.n_finished / run.n_wanted if run.n_wanted else 0.0
        so_far = f"{progress.n_finished:,} of {counted(run.n_wanted, 'item')}"
        ending = ", stopping" if progress.state == "cancelling" else ""
        st.progress(min(share, 1.0), text=f"**{plain(_named(run))}**{ending}: {so_far}")
        said = []
        with mistakes_shown():
            said.append(run_panel.speed(saved_run(store, run), progress, answered).strip())
        if one.calls_rate is not None:
            said.append(f"{one.calls_rate:,.1f} calls a second.")
        place = str(one.place)
        memory = "" if one.memory is None else f", {byte_size(one.memory)} of memory"
        said.append(f"{place[:1].upper()}{place[1:]}{memory}.")
        if progress.failures:
            n = sum(progress.failures.values())
            reasons = ", ".join(dict.fromkeys(reason for _, reason in progress.failures))
            said.append(f"{counted(n, 'failure')}: {reasons}.")
        st.markdown(f":small[{plain(' '.join(filter(None, said)))}]")
    with right:
        _buttons(store, run, one)


def _waiting(store: Store, one: OpenRun) -> None:
    run = one.run
    left, right = st.columns([4, 1], vertical_alignment="center")
    with left:
        so_far = f"{one.n_finished:,} of {counted(run.n_wanted, 'item')}"
        state = "is starting" if run.run_id in run_panel.starting_here() else _STATES[one.state]
        st.markdown(f"**{plain(_named(run))}:** {state}, {so_far}")
        if run.message:
            what, *listed = (" ".join(line.split()) for line in run.message.splitlines() if line.strip())
            below = [f"- :small[{plain(line.removeprefix('- '))}]" for line in listed]
            st.markdown("\n".join([f":small[{plain(what)}]", *below]))
    with right:
        _buttons(store, run)


def _buttons(store: Store, run: Run, one: Working | None = None) -> None:
    if run.kind not in KINDS:
        st.markdown("Update Assay to open it.")
        return
    with mistakes_shown(), st.container(horizontal=True):
        at = saved_run(store, run)
        progress = one.progress if one is not None else progress_of(store, run.run_id)
        if progress.state != "awaiting":  # its own page takes the answers
            run_panel.cancel_or_resume(at, progress, f"operation_{run.run_id}", first=False)
        if st.button("Open", key=f"operation_{run.run_id}_open"):
            st.switch_page(chosen_judge.page_of(run))


def _named(run: Run) -> str:
    try:
        return f"Run {run.run_id}: {menus.what_of(run)}"
    except InputError:  # a newer Assay saved it
        return f"Run {run.run_id}: {run.kind}"
