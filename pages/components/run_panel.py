"""How a run goes: progress while it works, what is missing and why, what it cost; cancel, resume, run all."""

import time

import streamlit as st

from core.runs.asked import asked_of
from core.runs.costs import estimate_all
from core.runs.environments import forget_children, lives, run_log, start_child
from core.runs.jobs import RunAtHand
from core.runs.path import at_hand, resume
from core.runs.progress import (
    Answered,
    Progress,
    duration,
    progress_of,
    spoken_range,
    starting,
    why_not_now,
)
from core.schema.runs import Run
from core.store import Store, database_path
from core.store.runs import ask_to_stop
from pages.components import generate_again, run_asked, visitor
from pages.components.messages import mistakes_shown, show_mistake
from pages.components.parts import part
from pages.components.run_costs import costs, estimate_table, left_out
from pages.components.run_words import WORDS, RunWords

_STARTED = "run_panel_started"
"""Run -> (process, when the run was started before): until the process has said that it works."""
_TICK = 1.0
"""Seconds between two looks at a run that is worked on."""
_LOG_LINES = 15
_MOVING = ("starting", "running", "cancelling")
_ANSWERED = "run_panel_answered"
"""Requests that the last start of the run on show has had answered."""
_STATES = {
    "waiting": "waits to be started",
    "starting": "is being started",
    "running": "is running",
    "cancelling": "is being cancelled",
    "done": "is done",
    "cancelled": "was cancelled: what was finished is kept",
    "stopped": "stopped before its end: what was finished is kept",
    "interrupted": "was interrupted: its process is gone. What was finished is kept",
}


def start(run: Run) -> None:
    """Work on the run in a process of its own. Raises InputError where its environment is missing."""
    process = start_child(database_path(), run.run_id, asked_of(run).environment)
    st.session_state.setdefault(_STARTED, {})[run.run_id] = (process, run.started_utc)


def render(store: Store, run: Run) -> None:
    """The panel, which looks again by itself while the run is worked on."""
    forget_children()
    state = _state(progress_of(store, run.run_id))
    st.fragment(_live, run_every=_TICK if state in _MOVING else None)(run.run_id, state)
    with st.expander("Settings and prompts"):
        run_asked.render(at_hand(store, run))


def _live(run_id: int, before: str) -> None:
    with visitor.admin_store() as store:
        run, progress = at_hand(store, run_id), progress_of(store, run_id)
        state = _state(progress)
        if state != before:
            if state not in _MOVING:
                _let_end(run_id)
            st.rerun()  # the clock starts or stops, and the rest of the page names the state too
        if _refused(progress):
            _why_not_started(run)
            return
        _standing(run, progress, state)
        with mistakes_shown():
            _buttons(run, progress, state)
        if state not in _MOVING:
            _unfinished_start(run)
            _all_items(run, progress)
        left_out(run, progress)
        costs(run, progress)


def _words(run: RunAtHand) -> RunWords:
    return WORDS[run.kind.work]


def _state(progress: Progress) -> str:
    """As the store has it, or `starting` until a process that was begun here says that it works."""
    begun = st.session_state.get(_STARTED, {}).get(progress.run.run_id)
    if begun and progress.state not in _MOVING and begun[1] == progress.run.started_utc and lives(begun[0]):
        return "starting"
    return progress.state


def _let_end(run_id: int) -> None:
    """Wait a moment for a process that ends a little after its run, so that none stays behind as a zombie.

    To look again later instead would be a rerun more, which can swallow a press of a button.
    """
    begun = st.session_state.get(_STARTED, {}).get(run_id)
    latest = time.monotonic() + _TICK
    while begun is not None and lives(begun[0]) and time.monotonic() < latest:
        time.sleep(0.02)


def _refused(progress: Progress) -> bool:
    """Whether the run was stopped before it came to its first item, for a reason that it says."""
    return progress.state == "stopped" and progress.n_finished == 0 and bool(progress.run.message)


def _why_not_started(run: RunAtHand) -> None:
    """No counts: there is nothing to count, and no bar of a run that never moved."""
    st.markdown(f"Run {run.run.run_id} **did not start**. {_words(run).nothing_made}")
    _show_kept(run.run.message)
    with st.container(horizontal=True):
        _change_button(run, first=True)
        if st.button("Try again as it is", key="run_resume"):
            with mistakes_shown():
                start(resume(run, None, run.run.limit).run)
                st.rerun()


def _show_kept(message: str) -> None:
    """Show the message that a run keeps as the mistake that it was: a sentence, and its problems as a list."""
    what, *listed = message.splitlines() or [""]
    show_mistake(what, [line.strip().removeprefix("- ") for line in listed])


def _change_button(run: RunAtHand, *, first: bool = False) -> None:
    if run.kind.work == "generation" and st.button(
        "Change the settings",
        type="primary" if first else "secondary",
        key="run_change",
        help="Opens the form of a new run, filled with this run's settings and file.",
    ):
        generate_again.open_form(run)


def _standing(at: RunAtHand, progress: Progress, state: str) -> None:
    run = progress.run
    answered = _answered(at, progress)
    st.markdown(f"Run {run.run_id} **{_STATES[state]}**.{_speed(at, progress, answered)}")
    share = progress.n_finished / run.n_wanted if run.n_wanted else 1.0
    so_far = f"{progress.n_finished:,} of {run.n_wanted:,} items{f', {answered}' if answered and answered.n else ''}"
    st.progress(min(share, 1.0), text=so_far)
    if run.message and state in ("stopped", "cancelled"):
        _show_kept(run.message)
    if progress.silent_seconds is not None:
        st.warning(why_not_now(run) or "")
    elif state == "cancelling":
        st.info(
            f"Process {run.process} still runs. {_words(at).stopping} A process that this page started ends within ten "
            "seconds; one that a command started may take longer."
        )
    with st.container(horizontal=True, gap="large"):
        st.metric("Complete", progress.n_done, width="content")
        st.metric("Incomplete", progress.n_failed, width="content")
        if at.kind.work != "scores":
            st.metric("No answer yet", progress.n_again, width="content")
    st.markdown(f":small[{_words(at).counts}]")


def _answered(at: RunAtHand, progress: Progress) -> Answered | None:
    """Requests and tokens of this start, while it goes on: they come long before the first item is finished."""
    run = progress.run
    if progress.state not in _MOVING:
        return None
    known = st.session_state.get(_ANSWERED)
    if known is None or (known.run.run_id, known.run.started_utc) != (run.run_id, run.started_utc):
        known = st.session_state[_ANSWERED] = Answered(run)
    return known.look(at.store)


def _speed(run: RunAtHand, progress: Progress, answered: Answered | None) -> str:
    if progress.state != "running" or answered is None:
        return ""
    if (passed := progress.starting_seconds) is not None:
        return f" {starting(run.asked.model).capitalize()}: {duration(passed)} so far."
    if progress.rate is None:
        return f" No {'further ' if progress.n_done else ''}item is finished yet."
    said = (
        f" {progress.rate * 60:,.0f} items a minute"
        if progress.rate < 10
        else f" {progress.rate:,.0f} items a second"
    )
    left = answered.left_between(run.store, progress.run)
    return f"{said}{'' if left is None else f', {spoken_range(*left)} left'}."


def _buttons(run: RunAtHand, progress: Progress, state: str) -> None:
    if state in _MOVING:
        if st.button("Cancel", key="run_cancel", disabled=state != "running"):
            ask_to_stop(run.store, run.run.run_id)
            st.rerun(scope="fragment")
    elif progress.can_resume:
        label = "Start" if state == "waiting" else "Resume"
        if st.button(label, type="primary", key="run_resume", help=_words(run).resuming):
            start(resume(run, None, run.run.limit).run)  # which takes back a cancel that nobody lived to hear
            st.rerun()
    if state == "stopped":
        _change_button(run)


def _unfinished_start(run: RunAtHand) -> None:
    """Say what became of a process that ended before it could say anything in the database."""
    begun = st.session_state.get(_STARTED, {}).get(run.run.run_id)
    if not begun or begun[1] != run.run.started_utc:
        return
    log = run_log(database_path(), run.run.run_id)
    st.error("The run's process ended before it began to work. The last lines it wrote:")
    lines = log.read_text("utf-8", errors="replace").splitlines()[-_LOG_LINES:] if log.is_file() else []
    st.code("\n".join(lines) or "(nothing)", language=None, wrap_lines=True)
    _change_button(run)


def _all_items(at: RunAtHand, progress: Progress) -> None:
    """After a preview: what all items will take, and the button that lets them run."""
    run = progress.run
    if run.limit is None or run.n_wanted >= run.n_items or not progress.n_done:
        return
    part(
        "All items",
        f"Estimated from the {progress.n_done + progress.n_failed} items above, for all {run.n_items:,}: "
        f"{_words(at).told_from}, times the number of items.",
    )
    estimate_table(estimate_all(at, progress), at)
    st.markdown(_words(at).before_all)
    with mistakes_shown():
        if st.button(f"Run all {run.n_items:,} items", type="primary", key="run_all"):
            start(resume(at, None, None).run)
            st.rerun()
