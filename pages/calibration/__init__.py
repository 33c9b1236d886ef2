"""Calibration: evaluators against human ratings, by language, task and dimension, and where not to use them."""

import streamlit as st

from core.store import Store
from pages.calibration import choice, parts
from pages.widgets import blind_pair, messages, result_table, visitor
from pages.widgets.parts import nothing, page, tabs


def render() -> None:
    """Choose ratings and judges, then look at how far they agree."""
    with visitor.admin_store() as store:
        page(
            "Calibration",
            "Does a judge agree with people, and where should you not use it?",
            "agreement-with-people",
        )
        blind_pair.style()
        result_table.style()
        messages.news()
        with messages.mistakes_shown():
            _calibration(store)


def _calibration(store: Store) -> None:
    given = choice.ratings(store)
    if given is None:
        return
    scores = choice.judges(store)
    if not scores:
        nothing("choose at least one judge")
        return
    how = choice.how(given, scores)
    with st.spinner("Computing ..."):
        everyone = [one for each in scores for one in choice.judged(given, each, how)]
    one = choice.one_of(everyone)
    tabs(
        {
            "Agreement": lambda: parts.agreement(one, how),
            "Classes": lambda: parts.classes(one),
            "Bias": lambda: parts.bias(one),
            "Consistency": lambda: parts.repeats(store, one, everyone),
            "Calibration map": lambda: parts.calibration_map(one),
            "Where not to use it": lambda: parts.where_not_to_use(one),
            "Files": lambda: parts.files(everyone),
        },
        "calibration_part",
    )
