"""The page Methods: documents that explain how each result is made."""

import re
from pathlib import Path

import streamlit as st

_SHOWN = {
    "statistics": "Statistics",
    "check": "Check",
    "inference": "Inference",
    "metrics": "Metrics",
    "judges": "Judges",
    "pairs": "Judges on pairs",
    "calibration": "Calibration",
    "studies": "Studies",
    "design": "How a study is drawn",
    "generation": "How answers are made",
}
"""Document -> its tab."""


def render() -> None:
    """Show the documents. They contain nothing about any study, so everybody may read them."""
    st.title("Methods", anchor=False)
    st.markdown("How each number is computed, and when it misleads.")
    wanted = _SHOWN.get(st.query_params.get("document", ""))
    for tab, name in zip(st.tabs(list(_SHOWN.values()), default=wanted), _SHOWN, strict=True):
        tab.markdown(_document(f"{name}.md"))


def _document(name: str) -> str:
    """Return the text of a document in docs/, ready for this page.

    Pictures are left out: everybody may open this page, but only the admin may load files. A link to a section of a
    document on this page leads to that section. A link to any other document becomes plain text.
    """
    text = (Path(__file__).resolve().parents[2] / "docs" / name).read_text("utf-8")
    # Highlighted code has too little contrast, and no theme setting changes its colours.
    text = re.sub(r"^```\w*\n(.*?)^```$", r"```text\n\1```", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^!\[.*\]\(.*\)$", "", text, flags=re.MULTILINE)
    text = re.sub(rf"\]\((?:{'|'.join(_SHOWN)})\.md#", "](#", text)
    return re.sub(r"\[([^\]]+)\]\([\w./-]+\.md(?:#[\w-]+)?\)", r"\1", text)
