"""What a person should know before believing a run's scores: metrics that cannot read its references."""

import streamlit as st

from core.runs.score_plan import reading_notes
from core.runs.score_settings import scoring_of
from core.schema import Run
from core.store import Store
from pages.components import metrics_scores, run_choice
from pages.components.messages import with_code
from pages.components.metrics_computed import Key


def render(store: Store, run: Run) -> None:
    """A warning for each group of metrics; most runs have none."""
    for note in _notes(run_choice.identity(run), store, run):
        st.warning(with_code(note))


@st.cache_data(show_spinner=False, max_entries=20)
def _notes(key: Key, _store: Store, _run: Run) -> tuple[str, ...]:
    return reading_notes(scoring_of(_run), metrics_scores.outputs(_store, _run))
