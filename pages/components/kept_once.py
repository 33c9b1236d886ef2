"""What a page has read or made, kept for the visitor until something else is wanted."""

from collections.abc import Callable, Hashable
from typing import TypeVar

import streamlit as st

Result = TypeVar("Result")


def once(
    slot: str, key: Hashable, make: Callable[[], Result], waiting: str = "Reading the texts ..."
) -> Result:
    """What `key` names, made once and not at every press of a widget; of each slot only the last is kept.

    slot: where it is kept in this visitor's session. waiting: what is said meanwhile.
    """
    known = st.session_state.get(slot)
    if known is None or known[0] != key:
        with st.spinner(waiting):
            st.session_state[slot] = known = (key, make())
    made: Result = known[1]
    return made
