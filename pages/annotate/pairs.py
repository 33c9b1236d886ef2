"""Pairs: guidelines, practice, one pair after the other, and guesses at the end. Every press is saved first."""

import time
from functools import partial
from html import escape

import streamlit as st

from core.errors import AssayError, NotAllowed
from core.schema.study import FIRST_LEVEL, NO_LEVEL, Choice, GuessedSide
from core.study.blinding import BlindPair, RaterDesk
from core.study.design import estimated_minutes
from core.study.guidelines import (
    GUESS_KEYS,
    GUESS_QUESTION,
    LEVEL,
    NO_BASE,
    OWN_BASE,
    QUESTION_KEYS,
    REFERENCE,
)
from pages.annotate import around, keys
from pages.annotate.around import Go, OnScreen
from pages.widgets import blind_pair, own, said, visitor
from pages.widgets import blind_pair as presses
from pages.widgets.own import OfPress
from pages.widgets.said import study_words

_SHOWN, _SAVED = "rating_shown", "rating_saved"
_HANDLED, _NOTE = "rating_handled", "rating_note"
_KNOWN = "rating_known"
_TRIED = "onboarding_try_{}"


def show_study(desk: RaterDesk, go: Go) -> None:
    """Show the place in the address if this rater may open it, else where they left off."""
    tries = [f"try-{number}" for number in range(1, len(desk.practice()) + 1)]

    def early(asked: str) -> str | None:
        if asked == "guide" or (desk.onboarding >= 1 and asked in tries):
            return asked
        return ["guide", *tries, None][min(desk.onboarding, len(tries) + 1)]

    def end() -> str:
        again = desk.guessing().next_open()
        return f"again-{again}" if again else "end"

    place = around.place_of(desk, early, end)
    if around.show_place(place, desk, go):
        return
    if place == "guide":
        _guide(desk, go)
    elif place.startswith("try-"):
        _practice(desk, int(place.removeprefix("try-")), go)
    elif place.startswith("again-"):
        _show_guess(desk, int(place.removeprefix("again-")))
    else:
        _show(desk, int(place), go)


def _guide(desk: RaterDesk, go: Go) -> None:
    """The guidelines and the estimated time."""
    said.guidelines(desk.guidelines())
    said.line(
        f"You have {desk.total} pairs, about {estimated_minutes(desk.total)} minutes in all. "
        "You can stop at any time: the same link brings you back to where you were."
    )
    if st.button("Start with three practice pairs" if desk.onboarding <= 1 else "Continue", type="primary"):
        desk.finish_step(1)
        go(f"try-{desk.onboarding}" if desk.onboarding <= len(desk.practice()) else "start")


def _heading(desk: RaterDesk, pair: BlindPair, asked: str, *, of_study: bool = True) -> None:
    words, shown = desk.wording(), desk.shown
    blind_pair.heading(
        pair.question,
        pair.reference,
        pair.language,
        pair.level,
        asked,
        desk.aids,
        words,
        shown,
        pair.turns,
        pair.number,
        of_study=of_study,
    )


def _practice(desk: RaterDesk, number: int, go: Go) -> None:
    """A practice pair with the answer that most people would give."""
    practice, aids = desk.practice(), desk.aids
    pair = practice[number - 1]
    said.title(f"Practice {number} of {len(practice)}: does not count", small=True)
    words, shown = desk.wording(), pair.shown_in(desk.shown)
    asked = words[QUESTION_KEYS[desk.asks]]
    blind_pair.heading(pair.question, pair.reference, "en", pair.level, asked, aids, words, shown)
    base = NO_BASE if pair.level == NO_LEVEL else OWN_BASE
    bases = pair.left_a0, pair.right_a0
    if pair.level == FIRST_LEVEL:
        base, bases = REFERENCE, (pair.reference, pair.reference)
    mode = blind_pair.diff_control(base, desk.diff_mode, aids, desk.key_scheme)
    blind_pair.texts(words, pair.left, pair.right, *bases, "en", mode, base, shown)
    given: Choice | None = st.session_state.get(_TRIED.format(number))
    # What follows a press is beside the buttons: below a long page nobody would see it.
    place = blind_pair.choice_place()
    labels = blind_pair.choice_labels(words)
    pressed = blind_pair.choice_buttons(place, f"p{number}", labels, given, keys=desk.key_scheme)
    if pressed:
        st.session_state[_TRIED.format(number)] = pressed
        st.rerun()
    if given:
        agreed = (
            "Most people would agree."
            if given == pair.expected
            else f"Most people would choose: {study_words(labels[pair.expected])}."
        )
        said.status(f"{agreed} {escape(pair.hint)}", place, framed=True)
        last = number == len(practice)
        if place.button("Start the study" if last else "Next practice pair", type="primary"):
            desk.finish_step(number + 1)
            go("start" if last else f"try-{number + 1}")


def _show(desk: RaterDesk, number: int, go: Go) -> None:
    """One pair, from top to bottom. A press is saved before this runs again (_press)."""
    pair = desk.pair(number)
    new_session = around.is_new_session(_KNOWN)
    key = f"{number}-{visitor.key_of(desk.token, pair.mark)}"
    if st.session_state.get(_SHOWN, ("",))[0] != key:
        # What was saved before stays said as long as this pair is on the screen.
        st.session_state[_SHOWN] = (key, time.monotonic(), st.session_state.pop(_SAVED, None))
        st.session_state[_NOTE] = (pair.comment, pair.invalid)
    _, shown_at, just_saved = st.session_state[_SHOWN]
    words = desk.wording()
    labels = blind_pair.choice_labels(words)
    called = {choice: study_words(label) for choice, label in labels.items()}
    marks = [f"Pair {just_saved[0]} saved: {called[just_saved[1]]}"] if just_saved else []
    if pair.choice:
        marks.append(f"Your answer here: {called[pair.choice]} (saved; press again to change)")
    around.header(desk, number, marks, "Not answered yet")
    asked = words[QUESTION_KEYS[desk.asks]]
    _heading(desk, pair, asked)
    mode = blind_pair.diff_control(pair.base, desk.diff_mode, desk.aids, desk.key_scheme)
    bases = (pair.left_base, pair.right_base)
    blind_pair.texts(words, pair.left, pair.right, *bases, pair.language, mode, pair.base, desk.shown)
    screen = OnScreen(desk.token, number, pair.mark, key, shown_at, mode)
    place = blind_pair.choice_place()
    pressed = blind_pair.choice_buttons(
        place, f"c{key}", labels, pair.choice, _press, (screen,), keys=desk.key_scheme, timed=key
    )
    handled = st.session_state.pop(_HANDLED, False)
    if pressed and not handled:
        _press(pressed, screen.begun_anew(new_session=new_session), told=own.last_press(key))
        st.rerun()
    known = st.session_state[_NOTE]
    written = around.note(desk, key, *known, hint=keys.hint(desk), on_change=partial(_written, screen))
    try:
        _keep_note(desk, number, written)
        desk.remember_diff(blind_pair.remembered_mode(mode, pair.base, desk.diff_mode, desk.aids))
    except AssayError as error:
        _refuse_note(number, error)
    else:
        if written != known:
            # Sent to a server that has started again since: its box does not know yet that it is saved.
            st.rerun()
        around.note_mark(desk, written[1])
    presses.show_refused(place)
    around.navigation(desk, number, go)


def _press(choice: Choice, screen: OnScreen, *, told: OfPress) -> None:
    """Save a choice, and only then move on. told: by the browser.

    Until the answer is on disk nothing of Streamlit is touched: each of its calls may end this run when a
    newer event waits. A double press, and one meant for a pair that is gone, change nothing.
    """
    seconds = screen.seconds()
    saved: str | None = None
    problem: AssayError | None = None
    if seconds is not None:
        try:
            with visitor.rater_desk(screen.token) as desk:
                saved = _save(desk, choice, screen, around.known_seconds(seconds), told)
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


def _written(screen: OnScreen) -> None:
    """Save a changed comment or flag before anything is drawn."""
    if st.session_state.get(_SHOWN, ("",))[0] == screen.key:
        _keep_last_note(screen)


def _save(desk: RaterDesk, choice: Choice, screen: OnScreen, seconds: float | None, told: OfPress) -> str:
    """Save a choice; returns the place to go to next. Raises NotAllowed when that pair is gone."""
    number = screen.number
    pair = desk.pair(number)
    if pair.mark != screen.mark:
        raise NotAllowed("Your list of pairs was drawn again. This pair replaced the one you answered.")
    shown = blind_pair.diff_used(screen.mode, pair.base)
    desk.save_choice(
        number,
        choice,
        seconds=seconds,
        seconds_visible=told.seconds_visible,
        translated=told.translated,
        diff_used=shown,
    )
    if pair.choice is None:
        return str(desk.next_open(after=number) or "finish")
    return str(number + 1) if number < desk.total else "list"


def _keep_last_note(screen: OnScreen) -> None:
    """Save a comment that arrives with the press that leaves its pair."""
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
    around.save_note(desk, number, st.session_state[_NOTE], written)
    st.session_state[_NOTE] = written


_GUESS_SHOWN, _GUESS_HANDLED, _GUESSES_KNOWN = "guessing_shown", "guessing_handled", "guessing_known"


def _show_guess(desk: RaterDesk, number: int) -> None:
    """One pair, three buttons and a comment. A press is saved before the next pair is drawn."""
    new_session = around.is_new_session(_GUESSES_KNOWN)
    again = desk.guessing()
    pair, words = again.pair(number), desk.wording()
    key = f"{number}-{visitor.key_of(desk.token, pair.mark)}"
    if st.session_state.get(_GUESS_SHOWN, ("",))[0] != key:
        st.session_state[_GUESS_SHOWN] = (key, time.monotonic())
    said.title("One last question")
    said.line(
        f"Your answers are locked. You see {again.total} of your pairs once more. Say what you believe: "
        "your first thought is fine. You cannot return to a pair."
    )
    asked = study_words(words[GUESS_QUESTION])
    said.status(f"<strong>{number} of {again.total}: {asked}</strong>")
    meant = f"Both answers were meant for level {LEVEL}." if pair.level else ""
    _heading(desk, pair, meant, of_study=False)
    mode = blind_pair.diff_control(pair.base, desk.diff_mode, desk.aids, desk.key_scheme)
    bases = (pair.left_base, pair.right_base)
    blind_pair.texts(words, pair.left, pair.right, *bases, pair.language, mode, pair.base, desk.shown)
    own.text_box("What made you think so? (optional)", None, key=f"w{key}", hint=keys.hint(desk))
    screen = OnScreen(desk.token, number, pair.mark, key, st.session_state[_GUESS_SHOWN][1])
    labels = {side: words[key] for side, key in GUESS_KEYS.items()}
    place = blind_pair.choice_place()
    presses.show_refused(place)
    pressed = blind_pair.choice_buttons(
        place, f"a{key}", labels, None, _press_guess, (screen,), keys=desk.key_scheme, timed=key
    )
    if pressed and not st.session_state.pop(_GUESS_HANDLED, False):
        _press_guess(pressed, screen.begun_anew(new_session=new_session), told=own.last_press(key))
        st.rerun()


def _press_guess(side: GuessedSide, screen: OnScreen, *, told: OfPress) -> None:
    """Save a guess. A double press, or one for a pair that is gone, changes nothing."""
    seconds = screen.seconds()
    comment = own.box_in_browser(f"w{screen.key}") or ""
    problem: AssayError | None = None
    if seconds is not None:
        try:
            with visitor.rater_desk(screen.token) as desk:
                taken = around.known_seconds(seconds)
                desk.guessing().save(
                    screen.number,
                    side,
                    comment=comment,
                    seconds=taken,
                    seconds_visible=told.seconds_visible,
                    translated=told.translated,
                )
        except AssayError as error:
            problem = error
    st.session_state[_GUESS_HANDLED] = True
    if problem:
        presses.refuse(f"Your answer on pair {screen.number} was not saved. {visitor.said_to_rater(problem)}")
