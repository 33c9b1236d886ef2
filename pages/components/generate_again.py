"""The form of a new run, filled with what another run was asked for: to change what kept that one from starting."""

import streamlit as st

from core.runs.jobs import RunAtHand
from core.store.runs import run_data
from pages.components import generate_backend, generate_file, generate_prompts, run_choice, setting_form

FORM = "generate"
"""With which the keys of the form's widgets begin."""


def open_form(run: RunAtHand) -> None:
    """Open the form as it was filled for the run, with its file."""
    setting_form.put(run.asked.chosen, FORM)
    generate_backend.put(FORM, run)
    generate_prompts.put(FORM, run)
    st.session_state[f"{FORM}_kind"] = run.kind.name
    st.session_state[f"{FORM}_source"] = run.asked.name
    generate_file.put(run.run.data_file, run_data(run.store, run.run.run_id))
    run_choice.remember(run_choice.NEW)
    st.rerun()
