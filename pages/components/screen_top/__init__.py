"""Each new screen of a rater starts at its top: Streamlit leaves the scroll where the last screen had it."""

from pathlib import Path

import streamlit as st

from pages.components.own_component import own_component


def screen_top(screen: str) -> None:
    """Scroll to the top when `screen` names another screen than before; call it before the screen is drawn.

    The name reaches the browser: it is the place that the rater's address shows anyway.
    """
    with st.container(key=f"screen-{screen}"):
        own_component(Path(__file__).parent)(key="top")
