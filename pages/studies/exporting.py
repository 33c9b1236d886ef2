"""The tab Export: every file of a study, once."""

import streamlit as st

from core.schema.study import Study
from core.store import Store
from core.study.analysis_set import released_record
from pages.studies import result_parts
from pages.widgets.parts import nothing


def render(store: Store, study: Study) -> None:
    """Show a button a file."""
    if study.state != "unblinded":
        nothing("the results are closed until you unblind the study")
        return
    st.write(released_record(store, study).study.name, result_parts.__name__)
