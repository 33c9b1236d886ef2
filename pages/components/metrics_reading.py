"""What a person should know before believing a run's scores: metrics that cannot read its references."""

import streamlit as st

from core.runs.at_hand import RunAtHand
from core.runs.scoring import reading_notes
from pages.components import metrics_scores, run_choice
from pages.components.messages import with_code
from pages.components.metrics_computed import Key


def render(run: RunAtHand) -> None:
    """A warning for each group of metrics; most runs have none."""
    for note in _notes(run_choice.identity(run.run), run):
        st.warning(with_code(note))


@st.cache_data(show_spinner=False, max_entries=20)
def _notes(key: Key, _run: RunAtHand) -> tuple[str, ...]:
    texts = metrics_scores.outputs(_run.store, _run.run).outputs
    return tuple(reading_notes(_run.asked.chosen.specs(), texts))
