"""How everything is done: statistics, how a study is drawn, how answers are made; for whoever reads a result."""

import re
from pathlib import Path

import streamlit as st

_SHOWN = ("statistics", "metrics", "judges", "design", "generation")
"""Documents, in the order of their tabs."""


def render() -> None:
    """Show the documents; they hold nothing of any study."""
    statistics, metrics, judges, design, generation = st.tabs(
        ["Statistics", "Metrics", "Judges", "How a study is drawn", "How answers are made"]
    )
    statistics.markdown(_document("statistics.md"))
    metrics.markdown(_document("metrics.md"))
    judges.markdown(_document("judges.md"))
    design.markdown(_document("design.md"))
    generation.markdown(_document("generation.md"))


def _document(name: str) -> str:
    """A document of docs/ without its pictures: this page is open to all, and files are the admin's alone.

    Links between documents lead to the section on this page; to a document that is not here there is none.
    """
    text = (Path(__file__).resolve().parents[1] / "docs" / name).read_text("utf-8")
    text = re.sub(r"^!\[.*\]\(.*\)$", "", text, flags=re.MULTILINE)
    text = re.sub(rf"\]\((?:{'|'.join(_SHOWN)})\.md#", "](#", text)
    return re.sub(r"\[([^\]]+)\]\([\w./-]+\.md(?:#[\w-]+)?\)", r"\1", text)
