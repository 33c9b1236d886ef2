"""Tabs Agreement, Raters, Copying, Examples and Accuracy: marked errors and scores of one judge or several, against people."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core.analyses import analysis
from core.analyses.raters import raters_of
from core.analyses.spans import GROUPINGS
from core.judges.rated import MERGED
from core.plots import judges as figures
from core.results.judges.copying import (
    Copying,
    Disjoint,
    alone_table,
    copied_table,
    disjoint_errors,
    error_copying,
)
from core.results.judges.spans import (
    ExampleCurve,
    curve_table,
    differences_table,
    draws_of_judge,
    example_curve,
    n_draws,
)
from core.runs.asked import asked_of
from core.schema.marks import GoldRaters, Marks, SpanOptions
from core.schema.runs import Run
from core.store import Store
from pages.specialist import chosen_run
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import chosen_judge, chosen_scores, result_table
from pages.widgets.analysis import Data, render
from pages.widgets.chosen_scores import RUN
from pages.widgets.parts import nothing, part

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
    """Show precision, recall and F1: of this judge, also by system, rater and severity, or of several judges side by side."""
    people = chosen_run.people_of(store, run)
    if not people.marked:
        nothing("nobody marked errors in these texts; start a run with ratings that mark errors")
        return

    def choose() -> list[Data]:
        runs = chosen_run.runs_to_compare(store, run, "agreement", "Compare with", *chosen_run.marking())
        alone = len(runs) == 1 and n_draws(chosen_judge.output_of(store, run)) < 2
        groupings = [one for one in GROUPINGS if one != "rater" or raters_of(people.ratings)]
        if alone:
            st.session_state.setdefault("spans_by", groupings)
        return [
            Data(
                (people.key, *chosen_run.keys_of(store, runs)),
                lambda: _marks(store, people, runs),
                {"by": groupings if alone else ()},
            )
        ]

    render(analysis("spans"), choose)


def _marks(
    store: Store, people: chosen_run.People, runs: Sequence[Run], n_repeats: int | None = None
) -> Marks:
    """Return what people and judges marked. n_repeats: how many of each judge count; None: all."""
    outputs = {chosen_judge.short_name(one): chosen_judge.output_of(store, one) for one in runs}
    return Marks(
        gold=people.ratings,
        judges={name: draws_of_judge(one)[:n_repeats] for name, one in outputs.items()},
        texts=people.texts,
        raters={name: str(one.settings.get("rater") or "") for name, one in outputs.items()},
    )


def copying(store: Store, run: Run) -> None:
    """Show the shares of copied errors, of this judge and others."""
    part(
        "Copied errors",
        "Of the errors that the judge quotes, how many did people mark in the same text? How many are in its examples, or "
        "in other systems' texts of the same source? Words must match exactly.",
        "copied-errors",
    )
    runs = chosen_run.runs_to_compare(store, run, "copying", "Compare with", *chosen_run.marking())
    found = [_copying(store, one) for one in runs]
    result_table.show(copied_table(found))
    st.markdown(":small[95 % intervals resample items. Of several draws only the first counts.]")
    if len(runs) > 1:
        _marked_alone(store, runs)


def _copying(store: Store, run: Run) -> Copying:
    rated, output = chosen_run.people_of(store, run).rated, chosen_judge.output_of(store, run)
    found: Copying = chosen_scores.once(
        ("copying", *chosen_run.keys_of(store, [run])), lambda: error_copying(output, rated)
    )
    return replace(found, judge=chosen_judge.short_name(run))


def _marked_alone(store: Store, runs: Sequence[Run]) -> None:
    part(
        "Errors that only one judge marks",
        "How many of them were marked in other systems' texts of the same source? A judge that copies its examples has "
        "more of them than a judge without these examples.",
        "copied-errors",
    )
    first = runs[0]
    rated, one = chosen_run.people_of(store, first).rated, chosen_judge.output_of(store, first)
    rows: list[Disjoint] = []
    for run in runs[1:]:
        other = chosen_judge.output_of(store, run)
        found = chosen_scores.once(
            ("alone", *chosen_run.keys_of(store, [first, run])),
            partial(disjoint_errors, one, other, rated),
        )
        names = chosen_judge.short_name(first), chosen_judge.short_name(run)
        rows.append(replace(found[0], judge=names[0], other=names[1]))
        rows.append(replace(found[1], judge=names[1], other=names[0]))
    result_table.show(alone_table(rows))


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


_THEMSELVES = "Raters"


def raters(store: Store, run: Run) -> None:
    """Show a matrix: how well people, or specialists, predict each rater's marks."""
    people = chosen_run.people_of(store, run)
    names = raters_of(people.ratings)
    if not names:
        nothing("the ratings name no raters or mark no errors; start a run with ratings that do")
        return

    def choose() -> list[Data]:
        who = st.radio(
            "Who predicts", (_THEMSELVES, "Judges"), horizontal=True, key="specialist_who_predicts"
        )
        runs: list[Run] = []
        if who != _THEMSELVES:
            runs = chosen_run.runs_to_compare(
                store, run, "raters", "Compare with", *chosen_run.marking(), at_first=_of_one_rater
            )
        return [
            Data(
                (people.key, *chosen_run.keys_of(store, runs)),
                lambda: _marks(store, people, runs, n_repeats=1),
            )
        ]

    render(analysis("raters"), choose)


def _of_one_rater(run: Run) -> bool:
    rater: str = asked_of(run).chosen.rater
    return rater != MERGED


_DIMENSION = "acc23_dimension"
"""Key of the widget. Where there are several dimensions, the first is shown until another is chosen."""


def accuracy(store: Store, run: Run) -> None:
    """Show accuracy with tie calibration, and segment and system correlations."""
    people = chosen_run.people_of(store, run)
    if not people.ratings.ratings:
        nothing("nobody rated these texts; start a run with ratings")
        return
    if not chosen_scores.open_scores(store, (RUN, run.run_id)).table.rows:
        nothing(NOT_JUDGED)
        return

    def choose() -> list[Data]:
        runs = chosen_run.runs_to_compare(store, run, "accuracy", "Compare with", *chosen_run.judges())
        tables = [chosen_scores.open_scores(store, (RUN, one.run_id)).table for one in runs]
        dimensions = list(dict.fromkeys(one.dimension for one in people.ratings.ratings))
        if st.session_state.get(_DIMENSION) not in dimensions:
            st.session_state[_DIMENSION] = dimensions[0]
        offered = {"dimension": dimensions if len(dimensions) > 1 else ()}
        return [
            Data(people.key, lambda: people.ratings, offered),
            Data(chosen_run.keys_of(store, runs), lambda: tables),
        ]

    render(analysis("acc23"), choose)
