"""How everything is done: statistics, how a study is drawn, how answers are made; for whoever reads a result."""

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
    """Show the documents; they hold nothing of any study."""
    for tab, name in zip(st.tabs(list(_SHOWN.values())), _SHOWN, strict=True):
        tab.markdown(_document(f"{name}.md"))


def _document(name: str) -> str:
    """A document of docs/ without its pictures: this page is open to all, and files are the admin's alone.

    Links between documents lead to the section on this page; to a document that is not here there is none.
    """
    text = (Path(__file__).resolve().parents[2] / "docs" / name).read_text("utf-8")
    # The colours of highlighted code have too little contrast, and no theme sets them.
    text = re.sub(r"^```\w*\n(.*?)^```$", r"```text\n\1```", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^!\[.*\]\(.*\)$", "", text, flags=re.MULTILINE)
    text = re.sub(rf"\]\((?:{'|'.join(_SHOWN)})\.md#", "](#", text)
    return re.sub(r"\[([^\]]+)\]\([\w./-]+\.md(?:#[\w-]+)?\)", r"\1", text)
