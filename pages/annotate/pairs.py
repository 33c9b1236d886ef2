"""Rating one pair: draw it, save a press before anything else happens, keep notes, move on; after the last one, who wrote which?"""

import math
import time
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from core.errors import AssayError, NotAllowed
from core.schema.study import Choice, GuessedSide
from core.study.blinding import RaterDesk
from core.study.guidelines import GUESS_KEYS, GUESS_QUESTION
from pages.annotate import around
from pages.widgets import blind_pair, own, visitor
from pages.widgets import blind_pair as presses
from pages.widgets.messages import plain

DOUBLE_PRESS_SECONDS = 0.35
"""A press this soon after a pair appeared was meant for the one before it."""
_SHOWN, _SAVED = "rating_shown", "rating_saved"
_HANDLED, _NOTE = "rating_handled", "rating_note"
_KNOWN = "rating_known"


@dataclass(frozen=True)
class _OnScreen:
    """What was on the screen when a button was drawn: all that its callback needs."""

    token: str
    number: int
    mark: str
    key: str
    shown_at: float
    mode: str


def show(desk: RaterDesk, number: int, go: around.Go) -> None:
    """One pair, drawn from top to bottom; a press is saved before this runs again (_press)."""
    pair = desk.pair(number)
    new_session = not st.session_state.get(_KNOWN)
    st.session_state[_KNOWN] = True
    token = desk.token
    key = f"{number}-{visitor.key_of(token, pair.mark)}"
    if st.session_state.get(_SHOWN, ("",))[0] != key:
        # What was saved before stays said as long as this pair is on the screen.
        st.session_state[_SHOWN] = (key, time.monotonic(), st.session_state.pop(_SAVED, None))
        st.session_state[_NOTE] = (pair.comment, pair.invalid)
    _, shown_at, just_saved = st.session_state[_SHOWN]
    words = desk.wording()
    labels = blind_pair.choice_labels(words)
    around.header(desk, number, pair.choice, just_saved, labels)
    blind_pair.heading(pair.question, pair.reference, pair.language, pair.level)
    mode = blind_pair.diff_control(pair.base, desk.diff_mode)
    names = blind_pair.box_names(words)
    blind_pair.texts(names, pair.left, pair.right, pair.left_base, pair.right_base, pair.language, mode)
    screen = _OnScreen(token, number, pair.mark, key, shown_at, mode)
    place = blind_pair.choice_place()
    refusals = place.container()
    pressed = blind_pair.choice_buttons(place, f"c{key}", labels, pair.choice, _press, (screen,))
    handled = st.session_state.pop(_HANDLED, False)
    if pressed and not handled:
        # A press without its callback. In a session that has just begun the server was restarted while the
        # pair was on the screen: it was there for long enough, nobody knows how long.
        _press(pressed, replace(screen, shown_at=-math.inf) if new_session else screen)
        st.rerun()
    known = st.session_state[_NOTE]
    written = around.note(key, *known, on_change=partial(_written, screen))
    try:
        _keep_note(desk, number, written)
        desk.remember_diff(mode)
    except AssayError as error:
        _refuse_note(number, error)
    else:
        if written != known:
            # Sent to a server that has started again since: its box does not know yet that it is saved.
            st.rerun()
        around.note_mark(written[1])
    presses.show_refused(refusals)
    around.navigation(desk, number, go)


def _press(choice: Choice, screen: _OnScreen) -> None:
    """A choice button was pressed: save, and only then move on.

    Until the answer is on disk nothing of Streamlit is touched: each of its calls may end this run when a
    newer event waits. A double press, and one meant for a pair that is gone, change nothing.
    """
    seconds = time.monotonic() - screen.shown_at
    saved: str | None = None
    problem: AssayError | None = None
    if seconds >= DOUBLE_PRESS_SECONDS:
        try:
            with visitor.rater_desk(screen.token) as desk:
                saved = _save(desk, choice, screen, seconds if math.isfinite(seconds) else None)
        except AssayError as error:
            problem = error
    st.session_state[_HANDLED] = True
    if saved:
        _keep_last_note(screen)
        st.session_state[_SAVED] = (screen.number, choice)
        st.session_state.pop(_SHOWN, None)
        around.move(saved)
    if problem:
        presses.refuse(f"Pair {screen.number} was not saved. {visitor.said_to_rater(problem)}")


def _written(screen: _OnScreen) -> None:
    """Comment or flag were changed: save them before anything is drawn."""
    if st.session_state.get(_SHOWN, ("",))[0] == screen.key:
        _keep_last_note(screen)


def _save(desk: RaterDesk, choice: Choice, screen: _OnScreen, seconds: float | None) -> str:
    """Save a choice; returns the place to go to next. Raises NotAllowed when that pair is gone."""
    number = screen.number
    pair = desk.pair(number)
    if pair.mark != screen.mark:
        raise NotAllowed(
            "Your list of pairs was drawn again. This pair took the place of the one you answered."
        )
    shown = pair.base if screen.mode == blind_pair.OWN_BASE else screen.mode
    desk.save_choice(number, choice, seconds=seconds, diff_used=shown)
    if pair.choice is None:
        return str(desk.next_open(after=number) or "finish")
    return str(number + 1) if number < desk.total else "list"


def _keep_last_note(screen: _OnScreen) -> None:
    """A comment may arrive with the press that ends it, when its pair is drawn no more."""
    known = st.session_state.get(_NOTE)
    written = known and around.note_in_browser(screen.key, known)
    if written:
        try:
            with visitor.rater_desk(screen.token) as desk:
                _keep_note(desk, screen.number, written)
        except AssayError as error:
            _refuse_note(screen.number, error)


def _refuse_note(number: int, problem: AssayError) -> None:
    presses.refuse(f"The comment or report on pair {number} was not saved. {visitor.said_to_rater(problem)}")


def _keep_note(desk: RaterDesk, number: int, written: tuple[str, bool]) -> None:
    """Save what was changed in this tab, and only that: another tab may have said more meanwhile."""
    comment, invalid = st.session_state[_NOTE]
    if written[0] != comment:
        desk.save_note(number, comment=written[0])
    if written[1] != invalid:
        desk.save_note(number, invalid=written[1])
    st.session_state[_NOTE] = written


_GUESS_SHOWN, _GUESS_HANDLED, _GUESSES_KNOWN = "guessing_shown", "guessing_handled", "guessing_known"


@dataclass(frozen=True)
class _GuessOnScreen:
    """What was on the screen when a button was drawn."""

    token: str
    number: int
    key: str
    shown_at: float


def show_guesses(desk: RaterDesk, number: int) -> None:
    """One pair, three buttons, a comment; a press is kept before the next pair is drawn."""
    new_session = not st.session_state.get(_GUESSES_KNOWN)
    st.session_state[_GUESSES_KNOWN] = True
    again = desk.guessing()
    pair, words = again.pair(number), desk.wording()
    token = desk.token
    key = f"{number}-{visitor.key_of(token, pair.mark)}"
    if st.session_state.get(_GUESS_SHOWN, ("",))[0] != key:
        st.session_state[_GUESS_SHOWN] = (key, time.monotonic())
    st.title("One last question")
    st.write(
        f"Your answers are locked. You see {again.total} of your pairs once more. Say what you believe; "
        "your first thought is fine, and there is no way back to a pair."
    )
    st.markdown(f"**{number} of {again.total}: {plain(words[GUESS_QUESTION])}**")
    blind_pair.heading(pair.question, pair.reference, pair.language, pair.level, asks=False)
    mode = blind_pair.diff_control(pair.base, desk.diff_mode)
    names = blind_pair.box_names(words)
    blind_pair.texts(names, pair.left, pair.right, pair.left_base, pair.right_base, pair.language, mode)
    own.text_box("What made you think so? (optional)", None, key=f"w{key}")
    screen = _GuessOnScreen(token, number, key, st.session_state[_GUESS_SHOWN][1])
    labels = {side: words[key] for side, key in GUESS_KEYS.items()}
    place = blind_pair.choice_place()
    presses.show_refused(place)
    pressed = blind_pair.choice_buttons(place, f"a{key}", labels, None, _press_guess, (screen,))
    if pressed and not st.session_state.pop(_GUESS_HANDLED, False):
        # A press without its callback: the server was restarted while the pair was on the screen.
        _press_guess(pressed, replace(screen, shown_at=-math.inf) if new_session else screen)
        st.rerun()


def _press_guess(side: GuessedSide, screen: _GuessOnScreen) -> None:
    """A button was pressed: keep the guess; a double press and one for a pair that is gone change nothing."""
    seconds = time.monotonic() - screen.shown_at
    comment = own.box_in_browser(f"w{screen.key}") or ""
    problem: AssayError | None = None
    if seconds >= DOUBLE_PRESS_SECONDS:
        try:
            with visitor.rater_desk(screen.token) as desk:
                taken = seconds if math.isfinite(seconds) else None
                desk.guessing().save(screen.number, side, comment=comment, seconds=taken)
        except AssayError as error:
            problem = error
    st.session_state[_GUESS_HANDLED] = True
    if problem:
        presses.refuse(f"Your answer on pair {screen.number} was not saved. {visitor.said_to_rater(problem)}")
