"""What a browser sent that no widget of the page takes: it is dropped, and the session goes on."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import SessionState, Value, WStates


def forget_unusable(_problem: Exception) -> bool:
    """After a page failed, drop the widget values that it cannot use, and say so; returns whether there were any.

    For `st.App`. Streamlit keeps a value that it cannot read, and would fail at it in every later run of the session.
    """
    context = get_script_run_ctx()
    if context is None:
        return False
    state: SessionState = context.session_state._state
    sent = state._new_widget_state
    unusable = [widget for widget in {*sent.states, *sent.widget_metadata} if not _is_usable(state, widget)]
    for widget in unusable:
        sent.states.pop(widget, None)
        state._old_state.pop(widget, None)
    if unusable:
        st.error("Your browser sent something that this page cannot use. It was dropped. Reload the page.")
    return bool(unusable)


def _is_usable(state: SessionState, widget: str) -> bool:
    """Whether a widget's value can be read, and could have been sent in the form in which the widget sends its values."""
    metadata = state._new_widget_state.widget_metadata.get(widget)
    if metadata is None:  # it belongs to nothing: Streamlit passes it over
        return True
    try:
        sent = widget in state._new_widget_state.states
        value = state._new_widget_state[widget] if sent else state._old_state.get(widget)
        if value is not None:
            WStates({widget: Value(value)}, {widget: metadata}).get_serialized(widget)
    except Exception:  # whatever the widget makes of what it does not know
        return False
    return True
