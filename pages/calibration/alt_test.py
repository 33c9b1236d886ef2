"""The tab Alt-test: may a judge stand in for a rater?"""

from collections.abc import Sequence

import streamlit as st

from core.plots import alt_test as figures
from core.results.alt_test import (
    AltTestOptions,
    AltTests,
    alt_test_said,
    alt_test_tables,
    alt_tests,
)
from core.results.choices import dimensions_of
from core.results.panel import Panel, panel_of
from core.stats.alt_test import EPSILONS, MOST_EPSILON, Alignment
from pages.calibration.choice import Ratings
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import chosen_scores, menus
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import plain
from pages.widgets.parts import part
from pages.widgets.result_table import show

_ALIGNMENTS: dict[Alignment, str] = {
    "accuracy": "Same label (accuracy)",
    "rmse": "Small distance (root mean square)",
}
_MOST_ROWS = 40
"""Rows of the figure of single raters; with more, the table says the same."""


def alt_test(given: Ratings, scores: Sequence[Scores]) -> None:
    """Choose dimension, epsilon and closeness; show the verdict, the judges, each rater, the ceiling and power."""
    part(
        "Alt-test",
        "May a judge stand in for a rater? Each rater in turn is compared with the judge: who is closer to the other raters?",
        "alt-test",
    )
    rated = dimensions_of(given.found)
    dimension = (
        rated[0]
        if len(rated) == 1
        else menus.one_of(None, "Dimension", list(rated), str, "alt_test_dimension")
    )
    left, right = st.columns(2)
    epsilon = left.slider(
        "Epsilon, the price of a rater",
        0.0,
        MOST_EPSILON,
        EPSILONS["experts"],
        0.01,
        key="alt_test_epsilon",
        help="By which share of items may a rater be ahead of the judge, because the judge is cheaper? The paper advises "
        + ", ".join(f"{value:g} for {who}" for who, value in EPSILONS.items())
        + ". Choose it before you look.",
    )
    alignment: Alignment = right.selectbox(
        "Closeness to the other raters",
        list(_ALIGNMENTS),
        format_func=_ALIGNMENTS.__getitem__,
        key="alt_test_alignment",
    )
    options = AltTestOptions(epsilon=epsilon, alignment=alignment)
    question = ("alt-test", given.key, *(one.key for one in scores), dimension, options)

    def compute() -> AltTests:
        panel: Panel = panel_of(given.found, [one.table for one in scores], dimension=dimension)
        return alt_tests(panel, options)

    with st.spinner("Computing ..."):
        found = chosen_scores.once(question, compute)
    for place, sentence in enumerate(alt_test_said(found)):
        verdict = place < len(found.judges)
        st.markdown(f"**{plain(sentence)}**" if verdict else plain(sentence))
    _shown(found)


def _shown(found: AltTests) -> None:
    judges, raters, ceiling, power, epsilons = alt_test_tables(found).values()
    show(judges, titled=False)
    part(
        "By epsilon",
        "From which price of a rater does a judge pass? The vertical line is the chosen one.",
        "alt-test",
    )
    show(
        epsilons,
        figure=figures.winning_by_epsilon(found),
        alt="Winning rate of each judge by epsilon, with the pass mark at one half",
        folded=AS_A_TABLE,
    )
    part(
        "Against each rater",
        "On how many texts is the judge closer to the other raters than this rater?",
        "alt-test",
    )
    few = len(raters.rows) <= _MOST_ROWS
    show(
        raters,
        figure=figures.closer(found) if few else None,
        alt="Share of texts on which the judge, neither, or the rater is closer to the other raters",
        titled=False,
    )
    part(
        "Human ceiling",
        "What does a rater reach in the place of the judge? Each rater in turn leaves the panel and is tested like a judge.",
        "alt-test",
    )
    show(ceiling, titled=False)
    part("Probability to pass", "How many items would it take?", "alt-test")
    show(power, titled=False)
