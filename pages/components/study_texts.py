"""A study's own guidelines, and its log."""

import re

import pandas as pd
import streamlit as st

from core.schema import Study
from core.store import Store
from core.store.studies import read_guidelines, read_log
from core.study import lifecycle
from core.study.guidelines import guideline_text, levels_note, shipped_languages
from pages.components.figures import table
from pages.components.messages import mistakes_shown, moment, tell

_LONG_HASH = re.compile(r"([0-9a-f]{32})(?=[0-9a-f])")  # broken in two, so that a table need not cut it


def guidelines_form(store: Store, study: Study) -> None:
    """Edit the guidelines of one language; they may name no source."""
    own = read_guidelines(store, study.study_id)
    languages = sorted({*shipped_languages(), *own})
    left, right = st.columns(2)
    chosen = left.selectbox("Language", languages, languages.index("en"))
    other = right.text_input("Or another language (BCP 47, such as cs or pt-BR)").strip()
    language = other or chosen
    text = st.text_area(
        "Guidelines (Markdown). They must not say who or what wrote the answers.",
        guideline_text(own, language),
        height=380,
        key=f"guideline_{language}",
    )
    if note := levels_note(study.levels):
        st.warning(note)
    with mistakes_shown():
        if st.button("Save guidelines"):
            lifecycle.set_guideline(store, study, language, text)
            tell(f"The guidelines in {language} are saved.")
    with st.expander("As raters see it"):
        st.markdown(text)


def log_table(store: Store, study: Study) -> None:
    """Everything an owner did, oldest first."""
    entries = read_log(store, study.study_id)
    table(
        pd.DataFrame(
            {
                "Time (UTC)": [moment(entry.at_utc) for entry in entries],
                "Action": [entry.action for entry in entries],
                "Detail": [_LONG_HASH.sub(r"\1 ", entry.detail) for entry in entries],
            }
        )
    )
