"""Which study the admin looks at: one choice for all admin pages."""

from collections.abc import Sequence

import streamlit as st

from core.schema.study import Study
from core.schema.tasks import StudyKind
from core.store import Store
from core.store.studies import list_studies
from pages.components.menu import menu

NEW = 0
"""Stands for a study that is still to be imported."""
_CHOSEN = "study_choice"


def choose(studies: Sequence[Study], *, offer_new: bool = False) -> int | None:
    """The number of the study chosen, NEW, or None when there is nothing to choose."""
    names = {study.study_id: f"{study.name} ({study.state})" for study in studies}
    options = [*([NEW] if offer_new else []), *names]
    if not options:
        return None
    if st.session_state.get(_CHOSEN) not in options:
        remember(next(iter(names), NEW))
    return menu("Study", options, _CHOSEN, lambda number: names.get(number, "Import a new study ..."))


def unblinded(store: Store, key: str, kind: StudyKind | None = None) -> Study | None:
    """One of the studies whose answers are open, of that kind or of any, kept under `key`; None: there is none yet."""
    studies = {
        study.study_id: study
        for study in list_studies(store)
        if study.state == "unblinded" and kind in (None, study.kind)
    }
    if not studies:
        return None
    chosen = st.selectbox(
        "Study",
        list(studies),
        format_func=lambda number: studies[number].name,
        key=key,
        persist_state="session",
    )
    return studies[chosen]


def remember(study_id: int) -> None:
    """Make this the study that all pages show."""
    st.session_state[_CHOSEN] = study_id
