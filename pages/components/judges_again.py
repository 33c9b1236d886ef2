"""The form of a new judge's run, filled with what another run was asked for."""

from collections.abc import Callable

import streamlit as st

from core.runs.path import at_hand
from core.schema import Run
from core.store import Store
from pages.components import judges_form


def button(store: Store, run: Run, prefix: str, open_form: Callable[[], None]) -> None:
    """Open the form as it was filled for the run, with its texts, its file and its prompts.

    prefix: of the form's keys and the button's. open_form: makes it what the page shows.
    """
    if st.button(
        "Judge with other settings",
        key=f"{prefix}_again",
        help="Opens the form of a new run with this run's texts, judge and model.",
    ):
        judges_form.put(prefix, at_hand(store, run))
        open_form()
        st.rerun()
