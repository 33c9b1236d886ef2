"""Studies: a new one, raters and their links, progress, design, texts, leakage audit, log, plan."""

from collections.abc import Callable

import streamlit as st

from core.schema.study import Study
from core.store import Store
from core.store.studies import get_study, list_studies
from pages.studies import designing, early, importing, planning, raters, texts
from pages.widgets import menus, messages, parts, visitor

_PLAN = "Plan"


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
            if st.toggle("Plan the size of a study", key="plan_new"):
                planning.render(store)
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
        **({_PLAN: planning.render} if study.kind == "pairs" and study.state != "unblinded" else {}),
        "What raters read": texts.render_words,
        **({"Leakage": texts.render_audit} if study.asks == "levels" else {}),
        **({"Early look": early.render} if study.design.early_looks else {}),
        "Log": texts.log_table,
    }
    shown = st.tabs(list(tabs), key=f"tabs_{study_id}", on_change="rerun")
    for tab, (name, show) in zip(shown, tabs.items(), strict=True):
        if name != _PLAN or tab.open:  # a plan takes time, and nobody needs it before the tab is open
            with tab:
                show(store, study)
