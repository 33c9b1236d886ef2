"""Damage levels 0-5 of one item: each text, how it was made, or why there is none."""

import streamlit as st

from core.generation.records import DamageTrace
from core.schema.study import Item
from pages.components import generated_level_diff as texts
from pages.components.messages import plain
from pages.components.parts import nothing

_HOW = {
    "llm": "written by the model",
    "paraphrase": "the file's paraphrase",
    "verbatim": "the reference word for word: every metric would call it perfect",
}


def render(trace: DamageTrace, item: Item) -> None:
    """All levels that were asked for, with what they changed."""
    for note in trace.notes:
        st.markdown(f":small[{plain(note)}]")
    if not trace.levels:
        nothing("no level was made")
        return
    st.subheader("Levels", anchor=False)
    against = texts.base_control("level 0")
    first = next((level.text for level in trace.levels if level.level == 0), None)
    before = item.reference
    for level in trace.levels:
        if level.text is None:
            again = " Resume the run to ask again." if level.temporary else ""
            st.warning(
                f"Level {level.level} is missing: {plain(level.reason or 'no reason was kept')}. "
                f"{plain(level.detail)}{again}"
            )
            continue
        at_first = item.reference if level.level == 0 or first is None else first
        texts.level_card(f"Level {level.level}", level.text, item, against, before=before, first=at_first)
        answers = f"; {level.attempts} answers of the model" if level.attempts > 1 else ""
        st.markdown(f":small[Made by: {plain(_HOW.get(level.how, level.how))}{answers}.]")
        before = level.text
