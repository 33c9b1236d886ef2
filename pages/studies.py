"""Studies: import, design, raters and links, progress, guidelines, log."""

import streamlit as st

from core.store import Store
from core.store.studies import get_study, list_studies
from pages.components import messages, study_design, study_import, study_raters, study_texts, visitor

_CHOSEN = "studies_chosen"


def render() -> None:
    """Choose a study or import one, then work on it."""
    with visitor.admin_store() as store:
        st.title("Studies")
        messages.news()
        studies = list_studies(store)
        names = {study.study_id: f"{study.name} ({study.state})" for study in studies}
        options = [*names, 0]
        chosen = st.session_state.get(_CHOSEN)
        asked = st.selectbox(
            "Study",
            options,
            index=options.index(chosen) if chosen in options else 0,
            format_func=lambda number: names.get(number, "Import a new study ..."),
        )
        st.session_state[_CHOSEN] = asked
        if asked == 0:
            imported = study_import.form(store)
            if imported is not None:
                st.session_state[_CHOSEN] = imported
                st.rerun()
        else:
            _study(store, asked)


def _study(store: Store, study_id: int) -> None:
    study = get_study(store, study_id)
    overview, design, raters, texts, log = st.tabs(["Overview", "Design", "Raters", "Guidelines", "Log"])
    with overview:
        study_raters.progress_table(store, study)
        study_design.state_buttons(store, study)
    with design:
        study_design.form(store, study)
    with raters:
        study_raters.links_form(store, study)
    with texts:
        study_texts.guidelines_form(store, study)
    with log:
        study_texts.log_table(store, study)
