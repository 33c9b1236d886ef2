"""Tab Accuracy: does a judge order the texts of an item as people do, ties included?"""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.results.correlations.acc23 import Acc23, Acc23Options, acc23, accuracy_table, accuracy_test_table
from core.schema.runs import Run
from core.stats.correlation.systems import Swap
from core.store import Store
from pages.specialist import chosen_run
from pages.tabs import beside
from pages.widgets import chosen_scores, result_table
from pages.widgets.chosen_scores import RUN
from pages.widgets.parts import constants, nothing, part

_RESAMPLES = 500
_SWAPS: dict[Swap, str] = {"items": "Whole items", "pairs": "Single pairs (WMT23)"}


def render(store: Store, run: Run) -> None:
    """Accuracy with tie calibration, and segment and system correlation beside it."""
    part(
        "Accuracy",
        "Of all pairs of an item's texts, how many does the judge order as people do, or tie where they do? Scores that "
        "differ by no more than epsilon are ties; epsilon is the best there is for each judge.",
        "accuracy-within-items",
    )
    people = chosen_run.people_of(store, run)
    if not people.ratings.ratings:
        nothing("nobody rated these texts")
        return
    scores = chosen_scores.open_scores(store, (RUN, run.run_id))
    if not scores.table.rows:
        nothing("nothing is judged yet")
        return
    dimensions = list(dict.fromkeys(one.dimension for one in people.ratings.ratings))
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    dimension = dimensions[0]
    if len(dimensions) > 1:
        dimension = left.selectbox(
            "People's ratings of", dimensions, key=f"specialist_dimension_of_{run.run_id}"
        )
    references = right.checkbox("References as systems too", key="specialist_accuracy_references")
    rated = right.checkbox(
        "Systems' means over rated texts only",
        key="specialist_accuracy_rated",
        help="Otherwise a judge's score of a system is its mean over all texts, as in WMT's metrics task.",
    )
    runs = chosen_run.beside(store, run, "accuracy", "Beside", *chosen_run.judges())
    swap: Swap = "items"
    if len(runs) > 1:
        swap = st.radio(
            "What changes places",
            list(_SWAPS),
            format_func=_SWAPS.__getitem__,
            horizontal=True,
            key="specialist_accuracy_swap",
            help="In the test of two judges. Whole items: the results of all pairs of an item. Single pairs: as behind WMT23's "
            "published tables; their p is too small, because pairs of an item share texts.",
        )
    options = Acc23Options(
        references=references,
        dimension=dimension,
        test=len(runs) > 1,
        swap=swap,
        system_scores="rated" if rated else "all",
        n_resamples=_RESAMPLES,
    )
    with st.spinner("Computing ..."):
        found = _found(store, runs, options)
    _tables(found)


def _found(store: Store, runs: Sequence[Run], options: Acc23Options) -> Acc23:
    people = chosen_run.people_of(store, runs[0])

    def compute() -> Acc23:
        opened = [chosen_scores.open_scores(store, (RUN, one.run_id)) for one in runs]
        several = beside.merged(opened) if len(opened) > 1 else replace(opened[0].table, notes=())
        return acc23(people.ratings, several, options)

    return chosen_scores.once(("accuracy", *chosen_run.keys_of(store, runs), options), compute)


def _tables(found: Acc23) -> None:
    constants(found.constants)
    result_table.show(accuracy_table(found))
    if found.tests:
        result_table.show(accuracy_test_table(found))
