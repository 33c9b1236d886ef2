"""Tabs Agreement, Raters, Copying, Examples and Accuracy: marked errors and scores of one judge or several, against people."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core.analyses.copying import ANALYSIS as COPYING
from core.judges.rated import MERGED
from core.plots import judges as figures
from core.results.correlations.acc23 import Acc23, Acc23Options, acc23, accuracy_table, accuracy_test_table
from core.results.judges.spans import (
    GROUPINGS,
    ExampleCurve,
    GoldRaters,
    RaterMatrix,
    SpanAgreement,
    SpanComparison,
    SpanOptions,
    agreement_table,
    compare_spans,
    curve_table,
    differences_table,
    draws_of_judge,
    example_curve,
    judges_table,
    mean_f1,
    n_draws,
    rater_matrix,
    raters_of,
    raters_table,
    ratings_of_judge,
    span_agreement,
    systems_table,
)
from core.runs.asked import asked_of
from core.schema.runs import Run
from core.schema.scores import MarkingJudges
from core.stats.correlation.systems import Swap
from core.stats.span_f1 import Measure
from core.store import Store
from pages.specialist import chosen_run
from pages.tabs import judged
from pages.tabs.phrases import AS_A_TABLE, NOT_JUDGED
from pages.widgets import analysis, chosen_judge, chosen_scores, result_table
from pages.widgets.analysis import Data
from pages.widgets.chosen_scores import RUN
from pages.widgets.messages import mistakes_shown
from pages.widgets.parts import constants, nothing, number, part

_MARKS: dict[GoldRaters, str] = {
    "kept": "Each rater separately",
    "merged": "All raters of a text merged",
}
_RESAMPLES = 1_000


def _options(slot: str) -> SpanOptions:
    """Choose how marks are compared."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    raters: GoldRaters = left.selectbox(
        "People's marks", list(_MARKS), format_func=_MARKS.__getitem__, key=f"specialist_raters_{slot}"
    )
    references = right.checkbox("Count references as systems", key=f"specialist_references_{slot}")
    return SpanOptions(raters=raters, references=references, n_resamples=_RESAMPLES)


def agreement(store: Store, run: Run) -> None:
    """Show precision, recall and F1 overall, by system, rater and severity; then next to other judges."""
    part(
        "Agreement",
        "Precision: share of the judge's marked characters that people marked too. Recall: share of people's marked "
        "characters that the judge marked. A character counts 1 if the severity agrees, otherwise one half.",
        "marked-errors-against-peoples",
    )
    people = chosen_run.people_of(store, run)
    if not people.marked:
        nothing("nobody marked errors in these texts; start a run with ratings that mark errors")
        return
    chosen = _options("agreement")
    runs = chosen_run.runs_to_compare(store, run, "agreement", "Compare with", *chosen_run.marking())
    with st.spinner("Computing ..."):
        found = _alone(store, run, chosen)
    result_table.show(agreement_table(found, GROUPINGS))
    n = n_draws(chosen_judge.output_of(store, run))
    again = f", for each of {n} draws" if n > 1 else ""
    st.markdown(
        f":small[{found.n_segments:,} ratings on {found.n_items:,} items{again}. Intervals resample items "
        f"{found.options.n_resamples:,} times. Long marks weigh more than short ones.]"
    )
    if not found.by_rater:
        st.markdown(":small[No rows by rater: the ratings name no rater, or are merged.]")
    with mistakes_shown():
        _side_by_side(store, runs, chosen)


def _alone(store: Store, run: Run, chosen: SpanOptions) -> SpanAgreement:
    people, output = chosen_run.people_of(store, run), chosen_judge.output_of(store, run)
    return chosen_scores.once(
        ("span agreement", *chosen_run.keys_of(store, [run]), chosen),
        lambda: span_agreement(people.ratings, ratings_of_judge(output), texts=people.texts, options=chosen),
    )


def _side_by_side(store: Store, runs: Sequence[Run], chosen: SpanOptions) -> None:
    judges = {chosen_judge.short_name(one): _alone(store, one, chosen) for one in runs}
    result_table.show(
        systems_table(judges),
        figure=figures.spans_by_system({name: one.by_system for name, one in judges.items()}),
        alt=f"F1 of characters by system, of {len(judges)} judges",
        folded=AS_A_TABLE,
    )
    found = _compared(store, runs, chosen)
    several = len(runs) > 1
    if not several and found.judges[0].n_draws < 2:
        return
    part(
        "Side by side" if several else "Over draws",
        "On the ratings that every judge answered. With several draws of examples: mean and standard deviation over draws, "
        "and intervals of characters averaged over draws.",
        "marked-errors-against-peoples",
    )
    result_table.show(judges_table(found))
    st.markdown(f":small[{found.n_segments:,} ratings on {found.n_items:,} items.]")
    if found.tests:
        result_table.show(differences_table(found.tests))


def _compared(store: Store, runs: Sequence[Run], chosen: SpanOptions) -> SpanComparison:
    """Compare several runs on the ratings of the first run's file. Raises InputError if they share none."""
    people = chosen_run.people_of(store, runs[0])
    return chosen_scores.once(
        ("spans compared", *chosen_run.keys_of(store, runs), chosen),
        lambda: compare_spans(
            people.ratings,
            {
                chosen_judge.short_name(one): draws_of_judge(chosen_judge.output_of(store, one))
                for one in runs
            },
            texts=people.texts,
            options=chosen,
        ),
    )


def copying(store: Store, run: Run) -> None:
    """Show the shares of copied errors, of this judge and others."""

    def choose() -> list[Data]:
        runs = chosen_run.runs_to_compare(store, run, "copying", "Compare with", *chosen_run.marking())

        def opened() -> MarkingJudges:
            outputs = [
                replace(chosen_judge.output_of(store, one), name=chosen_judge.short_name(one)) for one in runs
            ]
            return MarkingJudges(tuple(outputs), chosen_run.people_of(store, run).rated)

        return [Data(chosen_run.keys_of(store, runs), opened)]

    analysis.render(COPYING, choose)


def examples(store: Store, run: Run) -> None:
    """Show F1 by number of examples, over several runs."""
    part(
        "F1 by number of examples",
        "Runs with different numbers of examples, on the ratings that every run answered. With the same seed, a judge with "
        "five examples sees the two of the smaller run and three more.",
        "number-of-examples",
    )
    people = chosen_run.people_of(store, run)
    if not people.marked:
        nothing("nobody marked errors in these texts; start a run with ratings that mark errors")
        return
    runs = chosen_run.runs_to_compare(
        store,
        run,
        "curve",
        "Compare with",
        *chosen_run.marking(),
        at_first=partial(_in_all_else_alike, run),
    )
    if len(runs) < 2:
        nothing("the curve needs two runs with different numbers of examples; choose or start another")
        return
    options = _options("curve")
    with st.spinner("Computing ..."):
        found = chosen_scores.once(
            ("curve", *chosen_run.keys_of(store, runs), options),
            lambda: _curve(store, runs, options),
        )
    result_table.show(
        curve_table(found),
        figure=figures.example_curve(found),
        alt=f"F1 of {len(runs)} runs against the number of examples shown",
        table_first=True,
    )
    st.markdown(f":small[{found.n_segments:,} ratings on {found.n_items:,} items.]")
    if found.tests:
        with st.expander("Tests of every two runs"):
            result_table.show(differences_table(found.tests, "examples-curve-tests"))


def _in_all_else_alike(run: Run, other: Run) -> bool:
    """Whether two runs differ only in the number of examples and draws."""
    a, b = asked_of(run), asked_of(other)
    alike = b.chosen.but(n_examples=a.chosen.n_examples, repeats=a.chosen.repeats)
    who_a, who_b = (one.model for one in (a, b))
    return (who_a.backend, who_a.model, a.prompts, a.chosen) == (who_b.backend, who_b.model, b.prompts, alike)


def _curve(store: Store, runs: Sequence[Run], options: SpanOptions) -> ExampleCurve:
    people = chosen_run.people_of(store, runs[0])
    outputs = {chosen_judge.short_name(one): chosen_judge.output_of(store, one) for one in runs}
    return example_curve(people.ratings, outputs, texts=people.texts, options=options)


_MEASURES: dict[Measure, str] = {"f1": "F1", "precision": "precision", "recall": "recall"}
_OF_CELLS = SpanOptions(n_resamples=200)
"""Few resamples for the many cells, whose intervals show on hover."""


def raters(store: Store, run: Run) -> None:
    """Show two matrices as heat maps: people with each other, and specialists with people."""
    part(
        "Agreement between people",
        "How well do one person's marks predict another's? A judge can hardly agree with people better than people agree "
        "with each other.",
        "rater-by-rater",
    )
    people = chosen_run.people_of(store, run)
    names = raters_of(people.ratings)
    if not names:
        nothing("the ratings name no raters or mark no errors; start a run with ratings that do")
        return
    measure: Measure = st.radio(
        "Measure",
        list(_MEASURES),
        format_func=_MEASURES.__getitem__,
        horizontal=True,
        key="specialist_measure",
    )
    if len(names) > 1:
        with st.spinner("Computing ..."):
            found = chosen_scores.once(
                ("raters", people.key, _OF_CELLS),
                lambda: rater_matrix(people.ratings, texts=people.texts, options=_OF_CELLS),
            )
        _matrix(found, measure, "raters-people")
    else:
        nothing("one rater marked all these texts; the matrix needs two")
    part(
        "Specialists and people",
        "Does a specialist with one person's ratings as examples mark as that person does? Start one run per rater, and "
        "choose the runs here.",
        "rater-by-rater",
    )
    _specialists(store, run, measure)


def _specialists(store: Store, run: Run, measure: Measure) -> None:
    runs = chosen_run.runs_to_compare(
        store, run, "raters", "Compare with", *chosen_run.marking(), at_first=_of_one_rater
    )
    people = chosen_run.people_of(store, run)
    raters = {chosen_judge.short_name(one): asked_of(one).chosen.rater for one in runs}
    with st.spinner("Computing ..."):
        found = chosen_scores.once(
            ("specialists by rater", *chosen_run.keys_of(store, runs), _OF_CELLS),
            lambda: rater_matrix(
                people.ratings,
                {
                    chosen_judge.short_name(one): ratings_of_judge(chosen_judge.output_of(store, one), 0)
                    for one in runs
                },
                raters=raters,
                texts=people.texts,
                options=_OF_CELLS,
            ),
        )
    own, other = mean_f1(found, same=True), mean_f1(found, same=False)
    _matrix(found, measure, "raters-specialists")
    if own is not None:
        st.markdown(
            f"Mean F1 of a specialist with its own rater: {number(own)}; with others: {number(other)}."
        )
    else:
        st.markdown(":small[No run here uses the ratings of a single rater as examples.]")


def _of_one_rater(run: Run) -> bool:
    rater: str = asked_of(run).chosen.rater
    return rater != MERGED


def _matrix(found: RaterMatrix, measure: Measure, name: str) -> None:
    result_table.show(
        raters_table(found, name),
        figure=figures.rater_heat(found, measure),
        alt=f"Heat map of {_MEASURES[measure]}: {len(found.rows)} rows that predict {len(found.columns)} raters",
        least_width=result_table.width_for(len(found.columns)),
        folded=AS_A_TABLE,
    )


_ACCURACY_RESAMPLES = 500
_SWAPS: dict[Swap, str] = {"items": "Whole items", "pairs": "Single pairs (WMT23)"}


def accuracy(store: Store, run: Run) -> None:
    """Show accuracy with tie calibration, and segment and system correlations."""
    part(
        "Accuracy",
        "Share of an item's text pairs that the judge orders or ties as people do. Scores that differ by at most epsilon "
        "count as ties. Each judge gets its best epsilon.",
        "accuracy-within-items",
    )
    people = chosen_run.people_of(store, run)
    if not people.ratings.ratings:
        nothing("nobody rated these texts; start a run with ratings")
        return
    scores = chosen_scores.open_scores(store, (RUN, run.run_id))
    if not scores.table.rows:
        nothing(NOT_JUDGED)
        return
    dimensions = list(dict.fromkeys(one.dimension for one in people.ratings.ratings))
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    dimension = dimensions[0]
    if len(dimensions) > 1:
        dimension = left.selectbox(
            "Dimension of the ratings", dimensions, key=f"specialist_dimension_of_{run.run_id}"
        )
    references = right.checkbox("Count references as systems", key="specialist_accuracy_references")
    rated = right.checkbox(
        "System means over rated texts only",
        key="specialist_accuracy_rated",
        help="Otherwise a system's score is the judge's mean over all its texts, as in WMT's metrics task.",
    )
    runs = chosen_run.runs_to_compare(store, run, "accuracy", "Compare with", *chosen_run.judges())
    swap: Swap = "items"
    if len(runs) > 1:
        swap = st.radio(
            "What the test swaps",
            list(_SWAPS),
            format_func=_SWAPS.__getitem__,
            horizontal=True,
            key="specialist_accuracy_swap",
            help="Whole items: the test of two judges swaps the results of all pairs of an item. Single pairs: as in WMT23's "
            "published tables. Their p is too small because the pairs of an item share texts.",
        )
    options = Acc23Options(
        references=references,
        dimension=dimension,
        test=len(runs) > 1,
        swap=swap,
        system_scores="rated" if rated else "all",
        n_resamples=_ACCURACY_RESAMPLES,
    )
    with st.spinner("Computing ..."):
        found = _accuracy_found(store, runs, options)
    _accuracy_tables(found)


def _accuracy_found(store: Store, runs: Sequence[Run], options: Acc23Options) -> Acc23:
    people = chosen_run.people_of(store, runs[0])

    def compute() -> Acc23:
        opened = [chosen_scores.open_scores(store, (RUN, one.run_id)) for one in runs]
        several = judged.merged(opened) if len(opened) > 1 else replace(opened[0].table, notes=())
        return acc23(people.ratings, several, options)

    return chosen_scores.once(("accuracy", *chosen_run.keys_of(store, runs), options), compute)


def _accuracy_tables(found: Acc23) -> None:
    constants(found.constants)
    result_table.show(accuracy_table(found))
    if found.tests:
        result_table.show(accuracy_test_table(found))
