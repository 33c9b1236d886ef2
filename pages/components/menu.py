"""A menu whose names may change while it is open, such as that of a run that comes to its end."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

Option = TypeVar("Option")


def menu(
    label: str,
    options: Sequence[Option],
    place: str,
    name_of: Callable[[Option], str],
    *,
    help_text: str | None = None,
) -> Option:
    """The option chosen, kept in the session's state under `place`; the first one until somebody chooses."""
    before = st.session_state.get(place)
    chosen: Option = st.selectbox(
        label,
        options,
        index=options.index(before) if before in options else 0,
        format_func=name_of,
        help=help_text,
    )
    st.session_state[place] = chosen
    if before in options and chosen != before:
        # Streamlit knows the menu by its names and by where it stands: drawn again at once, or the next
        # choice would be made in a menu that is gone, and be lost.
        st.rerun()
    return chosen
