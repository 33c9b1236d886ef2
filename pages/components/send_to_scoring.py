"""A generation run's texts in the form of a new scoring run."""

import streamlit as st

from core.schema.runs import Run
from pages.components import metrics_scores, metrics_texts, other_pages
from pages.components.parts import part


def button(run: Run) -> None:
    """Open the page Metrics with the form filled with this run."""
    part(
        "Send to scoring",
        "Metrics score these texts; their correlations with the levels say which metric follows quality.",
    )
    if st.button("Score these texts", key="send_to_scoring", icon=":material/arrow_forward:"):
        metrics_texts.take_run(run.run_id)
        metrics_scores.remember((metrics_scores.NEW, 0))
        st.switch_page(other_pages.metrics())
