"""The tab Judges: metrics and judges of the study's texts, live, then what stands behind one of them."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.schema.study import Study
from core.store import Store
from pages.studies import checked, live, orders
from pages.widgets import address, open_study

_PARTS: Mapping[str, tuple[str, Callable[[Store, Study], None]]] = {
    open_study.LIVE: ("All judges", live.render),
    open_study.TRUST: ("Can one be trusted?", checked.render),
    open_study.ORDERS: ("Both orders", orders.render),
}


def render(store: Store, study: Study) -> None:
    """Show all metrics and judges together, or what stands behind one."""
    # Only pairs have an order.
    parts = [part for part in _PARTS if part != open_study.ORDERS or study.kind == "pairs"]
    part = st.segmented_control(
        "Part",
        parts,
        format_func=lambda one: _PARTS[one][0],
        required=True,
        label_visibility="collapsed",
        key=address.one(open_study.JUDGES_PART, open_study.part_key(study.study_id), parts, parts[0]),
    )
    _PARTS[part or parts[0]][1](store, study)
