"""How every number is computed: docs/statistics.md and docs/design.md, for whoever reads a result."""

from pathlib import Path

import streamlit as st


def render() -> None:
    """Show the two documents; they hold nothing of any study."""
    docs = Path(__file__).resolve().parents[1] / "docs"
    statistics, design = st.tabs(["Statistics", "How a study is drawn"])
    statistics.markdown((docs / "statistics.md").read_text("utf-8"))
    design.markdown((docs / "design.md").read_text("utf-8"))
