"""How everything is done: statistics, how a study is drawn, how answers are made; for whoever reads a result."""

import re
from pathlib import Path

import streamlit as st


def render() -> None:
    """Show the documents; they hold nothing of any study."""
    statistics, metrics, design, generation = st.tabs(
        ["Statistics", "Metrics", "How a study is drawn", "How answers are made"]
    )
    statistics.markdown(_document("statistics.md"))
    metrics.markdown(_document("metrics.md"))
    design.markdown(_document("design.md"))
    generation.markdown(_document("generation.md"))


def _document(name: str) -> str:
    """A document of docs/ without its pictures: this page is open to all, and files are the admin's alone."""
    text = (Path(__file__).resolve().parents[1] / "docs" / name).read_text("utf-8")
    return re.sub(r"^!\[.*\]\(.*\)$", "", text, flags=re.MULTILINE)
