"""The questions that Assay answers, each with a button that opens the page for it."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages.widgets import chosen_scores, menus, open_study, parts


@dataclass(frozen=True)
class _Card:
    question: str
    sentence: str
    button: str
    page: str
    """Address of the page that answers the question."""
    prepare: Callable[[], None] = lambda: None
    """Makes the page begin with its form."""


_CARDS = (
    _Card(
        "Can I trust this judge?",
        "From one file with labels and scores to a verdict for a use.",
        "Check a judge",
        "check",
    ),
    _Card(
        "Which of two systems is better?",
        "People compare answers side by side without knowing who wrote them.",
        "New study",
        "studies",
        lambda: open_study.open_study(open_study.NEW_STUDY),
    ),
    _Card(
        "Which metric or judge follows quality?",
        "Score texts of known quality, then see whose scores fall with it.",
        "Score texts",
        "metrics",
        lambda: chosen_scores.remember((chosen_scores.NEW, 0)),
    ),
    _Card(
        "Where do I get test data?",
        "Make answers with a known amount of error from questions and references.",
        "Make test data",
        "generate",
        lambda: menus.remember_run(menus.NEW_RUN),
    ),
)


def render() -> None:
    """Show a card for each question, with the buttons at one height."""
    for column, card in zip(st.columns(len(_CARDS)), _CARDS, strict=True):
        with column:
            _show(card)


def _show(card: _Card) -> None:
    with st.container(border=True, height="stretch"):
        with st.container(height="stretch", gap=None):
            st.markdown(f"**{card.question}**")
            st.markdown(card.sentence)
        if st.button(card.button, type="primary", width="stretch", key=f"start_{card.page}"):
            card.prepare()
            st.switch_page(parts.other_page(card.page))
