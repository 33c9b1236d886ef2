"""The tab with the judge's mean or pass rate, corrected by the ratings."""

import streamlit as st

from core.plots import calibration as figures
from core.results.corrected import (
    CorrectedNumbers,
    Options,
    corrected_numbers,
    corrected_said,
    corrected_tables,
)
from core.results.panel import panel_of
from pages.calibration.choice import Judged, Ratings
from pages.widgets import chosen_scores, menus
from pages.widgets.messages import plain
from pages.widgets.parts import part
from pages.widgets.result_table import show

_AVERAGE = "By the rule: 1 of 0 and 1, else average the ratings"
_MOST_VALUES = 12


def render(given: Ratings, one: Judged) -> None:
    """Show the corrected numbers of the evaluator: verdict, figure, tables."""
    part(
        "Corrected numbers",
        "What would people have said on average about all texts that the judge scored? The ratings correct the judge's mean, if "
        "the rated texts are a random choice.",
        "corrected-numbers",
    )
    left, right = st.columns(2)
    dimension = menus.one_of(
        left, "Dimension", list(one.evaluator.columns), str, "calibration_corrected_dimension"
    )
    values = sorted({each.score for each in given.found.ratings if each.dimension == dimension})
    passes = right.selectbox(
        "Rating that counts as a pass",
        [None, *(f"{value:g}" for value in values[:_MOST_VALUES])],
        format_func=lambda value: _AVERAGE if value is None else value,
        key="calibration_corrected_pass",
    )
    found: CorrectedNumbers = chosen_scores.once(
        ("corrected", one.key, dimension, passes),
        lambda: corrected_numbers(
            panel_of(
                given.found,
                [one.scores.table],
                judges=[one.evaluator.columns[dimension]],
                dimension=dimension,
            ),
            Options(passes),
        ),
    )
    first, *others = map(plain, corrected_said(found))
    st.markdown("  \n".join([f"**{first}**", *others]))
    (main, *further), _ = corrected_tables(found)
    show(
        main,
        figure=figures.corrected(found),
        alt=f"{found.what} by system: {found.judge} alone, labels alone, and corrected, with intervals",
        table_first=True,
    )
    for table in further:
        show(table)
