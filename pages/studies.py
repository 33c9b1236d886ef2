"""Studies: import, design, leakage audit, raters and links, progress, texts, log."""

from collections.abc import Callable

import streamlit as st

from core.schema.study import Study
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
    # Where texts are rated one by one there are no two sources whose traits a rater could set against each other.
    pairs = study.kind == "pairs"
    parts: dict[str, Callable[[Store, Study], None]] = {
        "Overview": _overview,
        "Design": study_design.form if pairs else study_design_ratings.form,
        **({"Leakage": study_audit.render_audit} if pairs else {}),
        "Raters": study_raters.links_form,
        "Guidelines": study_texts.guidelines_form,
        "Consent and labels" if pairs else "Consent": study_texts.wording_form,
        "Log": study_texts.log_table,
    }
    for tab, show in zip(st.tabs(list(parts)), parts.values(), strict=True):
        with tab:
            show(store, study)


def _overview(store: Store, study: Study) -> None:
    study_progress.overview(store, study)
    study_design.state_buttons(store, study)
