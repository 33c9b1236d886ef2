"""Studies: import, design, leakage audit, raters and links, progress, texts, log."""

from collections.abc import Callable

import streamlit as st

from core.schema.study import Study
from core.store import Store
from core.store.studies import get_study, list_studies
from pages.studies import designing, importing, raters, texts
from pages.widgets import menus, messages, parts, visitor


def render() -> None:
    """Choose a study or import one, then work on it."""
    with visitor.admin_store() as store:
        parts.page(
            "Studies", "Raters compare or rate texts without knowing who wrote them.", "how-a-study-is-drawn"
        )
        messages.news()
        chosen = menus.choose_study(list_studies(store), offer_new=True)
        if chosen is None or chosen == menus.NEW_STUDY:
            imported = importing.form(store)
            if imported is not None:
                menus.remember_study(imported)
                st.rerun()
        else:
            _study(store, chosen)


def _study(store: Store, study_id: int) -> None:
    study = get_study(store, study_id)
    # Where texts are rated one by one there are no two sources whose traits a rater could set against each other.
    pairs = study.kind == "pairs"
    tabs: dict[str, Callable[[Store, Study], None]] = {
        "Overview": _overview,
        "Design": designing.form if pairs else designing.ratings_form,
        **({"Leakage": texts.render_audit} if pairs else {}),
        "Raters": raters.links_form,
        "Guidelines": texts.guidelines_form,
        "Consent and labels" if pairs else "Consent": texts.wording_form,
        "Log": texts.log_table,
    }
    for tab, show in zip(st.tabs(list(tabs)), tabs.values(), strict=True):
        with tab:
            show(store, study)


def _overview(store: Store, study: Study) -> None:
    raters.overview(store, study)
    designing.state_buttons(store, study)
