"""After the last answer is locked: a rated pair once more, and one question about who wrote it."""

import math
import time
from dataclasses import dataclass, replace

import streamlit as st

from core.errors import AssayError
from core.schema.study import GuessedSide
from core.study.blinding import RaterDesk
from core.study.guidelines import GUESS_KEYS, GUESS_QUESTION
from pages.components import blind_pair, presses, text_box, visitor
from pages.components.messages import plain
from pages.components.rating import DOUBLE_PRESS_SECONDS

_SHOWN, _HANDLED, _KNOWN = "guessing_shown", "guessing_handled", "guessing_known"


@dataclass(frozen=True)
class _OnScreen:
    """What was on the screen when a button was drawn."""

    token: str
    number: int
    key: str
    shown_at: float


def show(desk: RaterDesk, number: int) -> None:
    """One pair, three buttons, a comment; a press is kept before the next pair is drawn."""
    new_session = not st.session_state.get(_KNOWN)
    st.session_state[_KNOWN] = True
    again = desk.guessing()
    pair, words = again.pair(number), desk.wording()
    token = desk.token
    key = f"{number}-{visitor.key_of(token, pair.mark)}"
    if st.session_state.get(_SHOWN, ("",))[0] != key:
        st.session_state[_SHOWN] = (key, time.monotonic())
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
    text_box.text_box("What made you think so? (optional)", None, key=f"w{key}")
    screen = _OnScreen(token, number, key, st.session_state[_SHOWN][1])
    labels = {side: words[key] for side, key in GUESS_KEYS.items()}
    place = blind_pair.choice_place()
    presses.show_refused(place)
    pressed = blind_pair.choice_buttons(place, f"a{key}", labels, None, _press, (screen,))
    if pressed and not st.session_state.pop(_HANDLED, False):
        # A press without its callback: the server was restarted while the pair was on the screen.
        _press(pressed, replace(screen, shown_at=-math.inf) if new_session else screen)
        st.rerun()


def _press(side: GuessedSide, screen: _OnScreen) -> None:
    """A button was pressed: keep the guess; a double press and one for a pair that is gone change nothing."""
    seconds = time.monotonic() - screen.shown_at
    comment = text_box.in_browser(f"w{screen.key}") or ""
    problem: AssayError | None = None
    if seconds >= DOUBLE_PRESS_SECONDS:
        try:
            with visitor.rater_desk(screen.token) as desk:
                taken = seconds if math.isfinite(seconds) else None
                desk.guessing().save(screen.number, side, comment=comment, seconds=taken)
        except AssayError as error:
            problem = error
    st.session_state[_HANDLED] = True
    if problem:
        presses.refuse(f"Your answer on pair {screen.number} was not saved. {visitor.said_to_rater(problem)}")
