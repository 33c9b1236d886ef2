"""Tab Accuracy: does a judge order the texts of an item as people do, ties included?"""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.results.correlations.acc23 import Acc23, Acc23Options, MetricAccuracy, acc23
from core.results.joining import SYSTEM_MEANS
from core.schema.runs import Run
from core.stats.correlation.systems import SoftAccuracy, Swap
from core.store import Store
from pages.specialist import chosen_run
from pages.tabs import beside
from pages.widgets import chosen_scores, results_shown
from pages.widgets.chosen_judge import p_value, tested, with_ends
from pages.widgets.chosen_scores import RUN
from pages.widgets.parts import UNDEFINED, constants, left_out, nothing, number, part, table

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
    table(pd.DataFrame([_row(one) for one in found.metrics]))
    st.markdown("**Correlations (Pearson)**")
    table(pd.DataFrame([_correlations(one) for one in found.metrics]))
    st.markdown(
        f":small[95 % intervals resample items, {found.options.n_resamples:,} times, with epsilon found anew. Segment: over "
        "all texts; item: within each item, averaged; system: between systems' means, whose intervals lie too low where systems are "
        f"close or items few ({SYSTEM_MEANS[found.options.system_scores]}). Soft: soft pairwise accuracy, how near the judge's "
        f"confidence in every two systems is to people's; {found.options.n_resamples:,} swaps of rated texts. Epsilon is fitted on the texts it is reported on, which favours a fine scale a little.]"
    )
    if found.tests:
        st.markdown("**Differences of accuracy**")
        table(pd.DataFrame([{**tested(one), "Holm p": p_value(one.p_holm)} for one in found.tests]))
        st.markdown(
            f":small[Two-sided permutation test; {_SWAPS[found.options.swap].lower()} change places. Holm p is corrected "
            f"for {len(found.tests)} tests.]"
        )
    lost = [f"{one.metric}: left out: {left_out(one.left_out)}" for one in found.metrics if one.left_out]
    chosen_scores.read_notes((*found.notes, *lost))
    results_shown.downloads("accuracy", [_csv_row(one) for one in found.metrics])


def _row(one: MetricAccuracy) -> dict[str, str]:
    epsilon = one.accuracy.epsilon
    return {
        "Judge": one.metric,
        "Accuracy": with_ends(one.interval),
        "Epsilon": UNDEFINED if epsilon is None else f"{epsilon:.4g}",
        "Texts, pairs": f"{one.n_texts:,}, {one.accuracy.n_pairs:,}",
    }


def _correlations(one: MetricAccuracy) -> dict[str, str]:
    return {
        "Judge": one.metric,
        "Segment": with_ends(one.segment),
        "Item": with_ends(one.per_item),
        "System": with_ends(one.system),
        "Systems ordered": with_ends(one.system_accuracy),
        "Soft": _soft(one.soft_accuracy),
    }


def _soft(one: SoftAccuracy) -> str:
    return (
        f"{UNDEFINED}: {one.reason}"
        if one.accuracy is None
        else f"{number(one.accuracy)} ({one.n_pairs} pairs)"
    )


def _csv_row(one: MetricAccuracy) -> dict[str, object]:
    return {
        "metric": one.metric,
        "acc23": one.accuracy.accuracy,
        "epsilon": one.accuracy.epsilon,
        "n_items": one.accuracy.n_items,
        "n_systems": one.accuracy.n_systems,
        "n_pairs": one.accuracy.n_pairs,
        **results_shown.estimate("accuracy", one.interval),
        **results_shown.estimate("segment", one.segment),
        **results_shown.estimate("per_item", one.per_item),
        **results_shown.estimate("system", one.system),
        **results_shown.estimate("system_accuracy", one.system_accuracy),
        "soft_pairwise_accuracy": one.soft_accuracy.accuracy,
        "soft_n_pairs": one.soft_accuracy.n_pairs,
        "soft_n_swaps": one.soft_accuracy.n_swaps,
        "texts": one.n_texts,
        "left_out": left_out(one.left_out),
    }
