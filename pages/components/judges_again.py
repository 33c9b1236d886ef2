"""The form of a new judge's run, filled with what another run was asked for."""

from typing import Any

import streamlit as st
from core.runs.judge_settings import judge_of

from core.judges.kind import JudgeSettings
from core.runs.asked import running_of
from core.schema import JUDGE_KINDS, Run
from core.store import Store
from core.store.runs import run_data
from pages.components import generate_again, judges_prompts, judges_runs, judges_settings, metrics_texts
from pages.components.metrics_scores import NEW


def button(store: Store, run: Run) -> None:
    """Open the form as it was filled for the run, with its texts, its rubric and its prompts."""
    if run.kind in JUDGE_KINDS and st.button(
        "Judge with other settings",
        key="judges_again",
        help="Opens the form of a new run with this run's texts, judge and model.",
    ):
        settings = judge_of(run)
        running = generate_again.fields_of_running("judges", running_of(run), settings.base_url)
        for key, value in {**_model(settings), **running}.items():
            st.session_state[key] = value
        judges_settings.put(settings)
        judges_prompts.put(run.run_id, settings)
        generate_again.warn_of_engine(settings)
        metrics_texts.take_file(run_data(store, run.run_id), run.data_file)
        judges_runs.remember((NEW, 0))
        st.rerun()


def _model(settings: JudgeSettings) -> dict[str, Any]:
    """Key of a widget -> its value."""
    found: dict[str, Any] = {
        "judges_kind": settings.kind,
        "judges_backend": settings.backend,
        "judges_name": settings.name,
        "judges_attempts": settings.attempts,
    }
    if settings.backend != "rules":
        found |= {"judges_model": settings.model, "judges_longest": settings.max_model_len or 0}
    return found
