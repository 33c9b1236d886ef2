"""Results."""

import streamlit as st

from pages.components import visitor


def render() -> None:
    """Stub for now."""
    with visitor.admin_store():
        st.title("Results")
