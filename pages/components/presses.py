"""What a rater pressed, one thing after the other, however long the server was busy meanwhile.

Streamlit ends the run of a page when a newer event arrives. A press that had not begun by then is dropped without a
word. Events of a fragment end no run: they wait for it, and what came meanwhile arrives together, in one run, with
the newest press first. So the rater's page is one fragment (pages/annotate.py), and its presses take turns here.
"""

from collections.abc import Callable
from functools import partial
from typing import ParamSpec

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_Given = ParamSpec("_Given")
_WAITING, _REFUSED = "presses_waiting", "presses_refused"


def in_turn(call: Callable[_Given, None]) -> Callable[_Given, None]:
    """A callback for a widget: `call` begins with the run that the press causes, after the calls of older presses."""
    return partial(_wait, call)


def take_turns() -> None:
    """Call what waits, the oldest press first; before anything is drawn."""
    waiting: list[Callable[[], None]] = st.session_state.get(_WAITING, [])
    while waiting:
        waiting.pop()()


def refuse(sentence: str) -> None:
    """Keep what became of a press that was not saved, for whatever screen follows it."""
    refused: list[str] = st.session_state.setdefault(_REFUSED, [])
    if sentence not in refused:
        refused.append(sentence)


def show_refused(place: DeltaGenerator) -> None:
    """Say once what was not saved, where the rater looks."""
    for sentence in st.session_state.pop(_REFUSED, []):
        place.error(sentence)


def _wait(call: Callable[_Given, None], *args: _Given.args, **named: _Given.kwargs) -> None:
    st.session_state.setdefault(_WAITING, []).append(partial(call, *args, **named))
