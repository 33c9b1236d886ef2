"""Studies: a new one, raters and their links, progress, design, texts, leakage audit, log."""

from collections.abc import Callable

import streamlit as st

from core.schema.study import Study
from core.store import Store
from core.store.studies import get_study, list_studies
from pages.studies import designing, early, importing, raters, texts
from pages.widgets import menus, messages, parts, visitor


def render() -> None:
    """Choose a study or create one, then work on it."""
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
    designing.state_box(store, study)
    tabs: dict[str, Callable[[Store, Study], None]] = {
        "Raters": raters.render,
        "Design": designing.form if study.kind == "pairs" else designing.ratings_form,
        "What raters read": texts.render_words,
        **({"Leakage": texts.render_audit} if study.asks == "levels" else {}),
        **({"Early look": early.render} if study.design.early_looks else {}),
        "Log": texts.log_table,
    }
    for tab, show in zip(st.tabs(list(tabs)), tabs.values(), strict=True):
        with tab:
            show(store, study)
