"""Studies: import, design, leakage audit, raters and links, progress, texts, log."""

import streamlit as st

from core.schema import Study
from core.store import Store
from core.store.studies import get_study, list_studies
from pages.components import (
    messages,
    study_audit,
    study_choice,
    study_design,
    study_design_ratings,
    study_import,
    study_progress,
    study_raters,
    study_texts,
    visitor,
)


def render() -> None:
    """Choose a study or import one, then work on it."""
    with visitor.admin_store() as store:
        st.title("Studies")
        messages.news()
        chosen = study_choice.choose(list_studies(store), offer_new=True)
        if chosen is None or chosen == study_choice.NEW:
            imported = study_import.form(store)
            if imported is not None:
                study_choice.remember(imported)
                st.rerun()
        else:
            _study(store, chosen)


def _study(store: Store, study_id: int) -> None:
    study = get_study(store, study_id)
    if study.kind == "ratings":
        _rating_study(store, study)
        return
    overview, design, leaks, raters, texts, words, log = st.tabs(
        ["Overview", "Design", "Leakage", "Raters", "Guidelines", "Consent and labels", "Log"]
    )
    with overview:
        study_progress.overview(store, study)
        study_design.state_buttons(store, study)
    with design:
        study_design.form(store, study)
    with leaks:
        study_audit.render_audit(store, study)
    with raters:
        study_raters.links_form(store, study)
    with texts:
        study_texts.guidelines_form(store, study)
    with words:
        study_texts.wording_form(store, study)
    with log:
        study_texts.log_table(store, study)


def _rating_study(store: Store, study: Study) -> None:
    """Texts are rated one by one: there are no two sources whose traits a rater could set against each other."""
    overview, design, raters, texts, words, log = st.tabs(
        ["Overview", "Design", "Raters", "Guidelines", "Consent", "Log"]
    )
    with overview:
        study_progress.overview(store, study)
        study_design.state_buttons(store, study)
    with design:
        study_design_ratings.form(store, study)
    with raters:
        study_raters.links_form(store, study)
    with texts:
        study_texts.guidelines_form(store, study)
    with words:
        study_texts.wording_form(store, study)
    with log:
        study_texts.log_table(store, study)
