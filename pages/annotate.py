"""The rater's only page: guidelines, practice, then one blind pair after the other, saved before the next."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import streamlit as st

from core.errors import AssayError
from core.schema import FIRST_LEVEL, Choice
from core.study.blinding import RaterDesk
from core.study.design import estimated_minutes
from core.study.guidelines import practice_pairs
from pages.components import blind_pair, pair_list, visitor

_DOUBLE_PRESS_SECONDS = 0.35
_SHOWN, _SAVED = "annotate_shown", "annotate_saved"
_HANDLED, _PROBLEM, _NOTE = "annotate_handled", "annotate_problem", "annotate_note"
_KNOWN = "annotate_known"


def render() -> None:
    """Show the place on the rater's way that the address names: it survives reload, Back and restarts."""
    with visitor.rater_desk() as desk:
        blind_pair.style()
        if desk.dry_run:
            st.info("Preview: your answers are marked as a dry run and never counted.")
        if desk.closed_reason:
            st.title("Nothing to do here now")
            st.write(desk.closed_reason)
            return
        place = _place(desk)
        if place == "guide":
            _guide(desk)
        elif place.startswith("try-"):
            _practice(desk, int(place.removeprefix("try-")))
        elif place == "list":
            pair_list.overview(desk, _go)
        elif place == "end":
            pair_list.completion(desk, _go)
        else:
            _pair(desk, int(place))


def _place(desk: RaterDesk) -> str:
    """Where the address says we are, or where this rater left off."""
    asked = st.query_params.get("at", "")
    tries = {f"try-{number}" for number in range(1, len(practice_pairs()) + 1)}
    if asked == "guide" or (desk.onboarding >= 1 and asked in tries):
        return asked
    if desk.onboarding > len(tries):
        if asked in ("list", "end") or (
            asked.isdecimal() and len(asked) < 9 and 1 <= int(asked) <= desk.total
        ):
            return asked
        place = str(desk.next_open() or "end")
    else:
        place = "guide" if desk.onboarding == 0 else f"try-{desk.onboarding}"
    st.query_params["at"] = place
    return place


def _go(place: str | int) -> None:
    st.query_params["at"] = str(place)
    st.rerun()


def _guide(desk: RaterDesk) -> None:
    st.markdown(desk.guidelines())
    st.write(
        f"You have {desk.total} pairs, about {estimated_minutes(desk.total)} minutes in all. "
        "You can stop at any time: the same link brings you back to where you were."
    )
    if st.button("Start with three practice pairs" if desk.onboarding <= 1 else "Continue", type="primary"):
        desk.finish_step(1)
        place = f"try-{desk.onboarding}" if desk.onboarding <= len(practice_pairs()) else ""
        _go(place or desk.next_open() or "end")


def _practice(desk: RaterDesk, number: int) -> None:
    pair = practice_pairs()[number - 1]
    st.caption(f"Practice {number} of {len(practice_pairs())}: does not count")
    blind_pair.heading(pair.question, pair.reference, "en", pair.level)
    mode = blind_pair.diff_control(pair.level, desk.diff_mode)
    at_first = pair.level == FIRST_LEVEL
    bases = (pair.reference, pair.reference) if at_first else (pair.left_a0, pair.right_a0)
    blind_pair.texts(pair.left, pair.right, *bases, "en", mode)
    given: Choice | None = st.session_state.get(f"annotate_try_{number}")
    pressed = blind_pair.choice_buttons(blind_pair.choice_place(), f"p{number}", given)
    if pressed:
        st.session_state[f"annotate_try_{number}"] = pressed
        st.rerun()
    if given:
        agreed = "Most people would agree." if given == pair.expected else "Another choice fits better here."
        st.info(f"{agreed} {pair.hint}")
        last = number == len(practice_pairs())
        if st.button("Start the study" if last else "Next practice pair", type="primary"):
            desk.finish_step(number + 1)
            _go(desk.next_open() or "end" if last else f"try-{number + 1}")


@dataclass(frozen=True)
class _OnScreen:
    """What was on the screen when a button was drawn: all that its callback needs."""

    token: str
    number: int
    mark: str
    shown_at: float
    mode: str


def _pair(desk: RaterDesk, number: int) -> None:
    """One pair, drawn from top to bottom; a press is saved before this runs again (_press)."""
    pair = desk.pair(number)
    new_session = not st.session_state.get(_KNOWN)
    st.session_state[_KNOWN] = True
    if st.session_state.get(_SHOWN, ("",))[0] != pair.mark:
        st.session_state[_SHOWN] = (pair.mark, time.monotonic())
        st.session_state[_NOTE] = (pair.comment, pair.invalid)
    pair_list.header(desk, number, pair.choice, st.session_state.pop(_SAVED, None))
    blind_pair.heading(pair.question, pair.reference, pair.language, pair.level)
    mode = blind_pair.diff_control(pair.level, desk.diff_mode)
    blind_pair.texts(pair.left, pair.right, pair.left_base, pair.right_base, pair.language, mode)
    if problem := st.session_state.pop(_PROBLEM, None):
        st.error(f"Not saved. {problem}")
    screen = _OnScreen(st.query_params["t"], number, pair.mark, st.session_state[_SHOWN][1], mode)
    place = blind_pair.choice_place()
    pressed = blind_pair.choice_buttons(place, f"c{number}-{pair.mark}", pair.choice, _press, (screen,))
    handled = st.session_state.pop(_HANDLED, False)
    if pressed and not handled:
        # A press without its callback. In a session that has just begun the server was restarted while the
        # pair was on the screen: it was there for long enough, nobody knows how long.
        _press(pressed, replace(screen, shown_at=-math.inf) if new_session else screen)
        st.rerun()
    written = pair_list.note(number, *st.session_state[_NOTE])
    with _attempt():
        _keep_note(desk, number, written)
        desk.remember_diff(mode)
    pair_list.navigation(desk, number, _go)


def _press(choice: Choice, screen: _OnScreen) -> None:
    """A choice button was pressed: save, and only then move on.

    Until the answer is on disk nothing of Streamlit is touched: each of its calls may end this run when a
    newer event waits. A double press, and one meant for a pair that is gone, change nothing.
    """
    seconds = time.monotonic() - screen.shown_at
    saved: str | None = None
    problem: str | None = None
    if seconds >= _DOUBLE_PRESS_SECONDS:
        try:
            with visitor.desk_of(screen.token) as desk:
                saved = _save(desk, choice, screen, seconds if math.isfinite(seconds) else None)
        except AssayError as error:
            problem = str(error)
    st.session_state[_HANDLED] = True
    if problem:
        st.session_state[_PROBLEM] = problem
    if saved:
        _keep_last_note(screen)
        st.session_state[_SAVED] = (screen.number, choice)
        st.session_state.pop(_SHOWN, None)
        st.query_params["at"] = saved


def _save(desk: RaterDesk, choice: Choice, screen: _OnScreen, seconds: float | None) -> str | None:
    """Save a choice; the place to go to next, or None when that pair is gone."""
    number = screen.number
    pair = desk.pair(number)
    if pair.mark != screen.mark:
        return None
    desk.save_choice(number, choice, seconds=seconds, diff_used=screen.mode)
    if pair.choice is None:
        return str(desk.next_open(after=number) or "list")
    return str(number + 1) if number < desk.total else "list"


def _keep_last_note(screen: _OnScreen) -> None:
    """A comment may arrive with the press that ends it, when its pair is drawn no more."""
    written = pair_list.note_in_browser(screen.number)
    if written and _NOTE in st.session_state:
        with _attempt(), visitor.desk_of(screen.token) as desk:
            _keep_note(desk, screen.number, written)


def _keep_note(desk: RaterDesk, number: int, written: tuple[str, bool]) -> None:
    """Save what was changed in this tab, and only that: another tab may have said more meanwhile."""
    comment, invalid = st.session_state[_NOTE]
    if written[0] != comment:
        desk.save_note(number, comment=written[0])
    if written[1] != invalid:
        desk.save_note(number, invalid=written[1])
    st.session_state[_NOTE] = written


@contextmanager
def _attempt() -> Iterator[None]:
    """Keep the sentence of what could not be saved for the run that follows."""
    try:
        yield
    except AssayError as problem:
        st.session_state[_PROBLEM] = str(problem)
