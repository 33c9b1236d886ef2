"""Tab Pairs: what the order does to a judge of pairs, and the studies whose raters voted on the same pairs."""

import streamlit as st

from core.schema.runs import Run
from core.store import Store
from pages.tabs import orders
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import chosen_judge
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import nothing


def render(store: Store, run: Run) -> None:
    """Show the judge's verdicts in both orders, and lead to the votes on the same pairs."""
    if not chosen_judge.output_of(store, run).texts:
        nothing(NOT_JUDGED)
        return
    with mistakes_shown():
        found = orders.answer(store, run)
        _lead_to_studies(store, run)
        orders.render(found)


def _lead_to_studies(store: Store, run: Run) -> None:
    """Lead to each unblinded study with these pairs."""
    voted = orders.studies_of(store, run)
    if not voted:
        st.markdown(
            ":small[Once a study of these pairs is unblinded, its votes stand beside the judge there.]"
        )
    for study in voted:
        label = f"Beside the votes of {plain(study.name)}"
        if st.button(label, key=f"judges_pairs_{study.study_id}", icon=":material/arrow_forward:"):
            chosen_judge.open_pairs(study, run)
