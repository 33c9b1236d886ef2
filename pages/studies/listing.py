"""All studies in a list, and the head of the one that is open."""

import streamlit as st

from core.schema.study import Study
from core.store import Store
from core.store.studies import list_studies
from pages.widgets import open_study
from pages.widgets.messages import plain
from pages.widgets.open_study import NEW_STUDY
from pages.widgets.parts import nothing, studies


def render(store: Store) -> None:
    """Show every study with its state; a row opens it."""
    if st.button("New study", icon=":material/add:", key="studies_new"):
        open_study.open_study(NEW_STUDY)
    known = list_studies(store)
    if not known:
        nothing("there is no study yet")
        return
    for study in known:
        if st.button(f"{plain(study.name)} ({study.state})", key=f"studies_open_{study.study_id}"):
            open_study.open_study(study.study_id)


def back() -> None:
    """Link the list."""
    st.page_link(studies(), label="All studies", icon=":material/arrow_back:")


def head(store: Store, study: Study) -> None:
    """Show the study's name, state and size."""
    back()
    st.title(plain(study.name), anchor=False)
    st.markdown(f":small[{study.state}]")
