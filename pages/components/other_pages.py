"""Other pages to lead to: Streamlit knows a page by its address, and only app.py knows what renders it."""

import streamlit as st
from streamlit.navigation.page import StreamlitPage


def metrics() -> StreamlitPage:
    """The page Metrics."""
    return st.Page(_nothing, title="Metrics", url_path="metrics")


def results() -> StreamlitPage:
    """The page Results."""
    return st.Page(_nothing, title="Results", url_path="results")


def studies() -> StreamlitPage:
    """The page Studies, which the address without a name opens."""
    return st.Page(_nothing, title="Studies", default=True)


def _nothing() -> None:
    """Stands in for the page's own render."""
