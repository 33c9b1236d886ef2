"""The tab Judges: metrics and judges of the study's texts, live, then what stands behind one of them."""

from collections.abc import Callable

import streamlit as st

from core.schema.study import Study
from core.store import Store
from pages.studies import checked, live, orders
from pages.widgets import address

_PARTS: dict[str, Callable[[Store, Study], None]] = {
    "All judges": live.render,
    "Can one be trusted?": checked.render,
    "Both orders": orders.render,
}


def render(store: Store, study: Study) -> None:
    """Show all metrics and judges together, or what stands behind one."""
    names = list(_PARTS)
    part = st.segmented_control(
        "Part",
        names,
        required=True,
        label_visibility="collapsed",
        key=address.one("judges", f"study_judges_{study.study_id}", names, names[0], address.slug),
    )
    _PARTS[part or names[0]](store, study)
