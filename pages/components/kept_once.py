"""What a visitor gave, and what a page has read or made of it, kept until something else is wanted."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import streamlit as st

from pages.components.messages import plain

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


def given_file(slot: str, key: str, types: Sequence[str]) -> tuple[bytes, str] | None:
    """A file that was uploaded, with its name, while the session lasts; None: none was.

    slot: where it is kept in this visitor's session; another page may put one there. key: of the widget.
    """
    upload = st.file_uploader("File", type=types, key=key, max_upload_size=100)
    if upload is not None:
        st.session_state[slot] = (upload.getvalue(), upload.name)
    kept: tuple[bytes, str] | None = st.session_state.get(slot)
    if kept is not None and upload is None:
        st.markdown(f"The file is still {plain(kept[1])}; choose another to replace it.")
    return kept
