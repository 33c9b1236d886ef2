"""What the page's widgets need beyond the theme: a chosen one as legible as the others, tables that fit a phone."""

import streamlit as st

_STYLE = (
    "<style>"
    # On the dark ground the theme's colour, which buttons need that dark, is fainter than plain letters.
    '[data-testid="stTab"][aria-selected="true"], [data-testid="stTab"][aria-selected="true"] p,'
    ' [data-testid="stBaseButton-segmented_controlActive"] p'
    " { color: inherit; font-weight: 600; }"
    '[data-testid="stTable"] * { overflow-wrap: normal; word-break: normal; }'
    "@media (max-width: 640px) {"
    ' [data-testid="stTable"] th, [data-testid="stTable"] td'
    " { padding: .3rem .2rem !important; font-size: .72rem !important; white-space: normal; } }"
    "</style>"
)


def style() -> None:
    """The style sheet of the page."""
    st.html(_STYLE)
