"""The page Methods: how numbers are computed, studies drawn and answers made."""

import re
from pathlib import Path

import streamlit as st

_SHOWN = {
    "statistics": "Statistics",
    "metrics": "Metrics",
    "judges": "Judges",
    "calibration": "Calibration",
    "design": "How a study is drawn",
    "generation": "How answers are made",
}
"""Document -> its tab."""


def render() -> None:
    """Show the documents; they contain nothing about any study."""
    st.title("Methods", anchor=False)
    st.markdown("How each number is computed, and when it misleads.")
    for tab, name in zip(st.tabs(list(_SHOWN.values())), _SHOWN, strict=True):
        tab.markdown(_document(f"{name}.md"))


def _document(name: str) -> str:
    """Read a document of docs/ without its pictures: this page is public, and only the admin may download files.

    Links between documents lead to the section on this page. Links to documents that are not here become plain text.
    """
    text = (Path(__file__).resolve().parents[2] / "docs" / name).read_text("utf-8")
    # Highlighted code has too little contrast, and no theme setting changes its colours.
    text = re.sub(r"^```\w*\n(.*?)^```$", r"```text\n\1```", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^!\[.*\]\(.*\)$", "", text, flags=re.MULTILINE)
    text = re.sub(rf"\]\((?:{'|'.join(_SHOWN)})\.md#", "](#", text)
    return re.sub(r"\[([^\]]+)\]\([\w./-]+\.md(?:#[\w-]+)?\)", r"\1", text)
