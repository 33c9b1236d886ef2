"""What stands in the form of a new run before anybody changes it."""

import streamlit as st


def given(key: str, default: object) -> str:
    """The key of a widget, which begins with `default` unless something stands under the key already.

    Streamlit warns of a widget that has a default of its own and a value from elsewhere as well.
    """
    st.session_state.setdefault(key, default)
    return key
