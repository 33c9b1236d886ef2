"""Tabs Agreement, Raters, Copying, Examples and Accuracy: marked errors and scores of one judge or several, against people."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core.analyses import analysis
from core.analyses.copying import ANALYSIS as COPYING
from core.analyses.examples_curve import ANALYSIS as CURVE
from core.analyses.raters import raters_of
from core.analyses.spans import GROUPINGS
from core.judges.rated import MERGED
from core.results.judges.spans import (
    draws_of_judge,
    n_draws,
)
from core.runs.asked import asked_of
from core.schema.marks import Marks, TaughtJudges
from core.schema.runs import Run
from core.schema.scores import MarkingJudges
from core.store import Store
from pages.specialist import chosen_run
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import chosen_judge, chosen_scores
from pages.widgets.analysis import Data, render
from pages.widgets.chosen_scores import RUN
from pages.widgets.parts import nothing


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

    def choose() -> list[Data]:
        runs = chosen_run.runs_to_compare(store, run, "copying", "Compare with", *chosen_run.marking())

        def opened() -> MarkingJudges:
            outputs = [
                replace(chosen_judge.output_of(store, one), name=chosen_judge.short_name(one)) for one in runs
            ]
            return MarkingJudges(tuple(outputs), chosen_run.people_of(store, run).rated)

        return [Data(chosen_run.keys_of(store, runs), opened)]

    render(COPYING, choose)


def examples(store: Store, run: Run) -> None:
    """Show F1 by number of examples, over several runs."""

    def choose() -> list[Data]:
        people = chosen_run.people_of(store, run)
        if not people.marked:
            nothing("nobody marked errors in these texts; start a run with ratings that mark errors")
            return []
        runs = chosen_run.runs_to_compare(
            store,
            run,
            "curve",
            "Compare with",
            *chosen_run.marking(),
            at_first=partial(_differ_in_examples, run),
        )
        if len(runs) < 2:
            nothing("the curve needs two runs with different numbers of examples; choose or start another")
            return []

        def opened() -> TaughtJudges:
            outputs = [
                replace(chosen_judge.output_of(store, one), name=chosen_judge.short_name(one)) for one in runs
            ]
            return TaughtJudges(people.ratings, tuple(outputs), people.texts)

        return [Data(chosen_run.keys_of(store, runs), opened)]

    render(CURVE, choose)


def _differ_in_examples(run: Run, other: Run) -> bool:
    """Whether two runs differ only in the number of examples and draws."""
    a, b = asked_of(run), asked_of(other)
    alike = b.settings.but(n_examples=a.settings.n_examples, repeats=a.settings.repeats)
    who_a, who_b = (one.model for one in (a, b))
    return (who_a.backend, who_a.model, a.prompts, a.settings) == (
        who_b.backend,
        who_b.model,
        b.prompts,
        alike,
    )


_THEMSELVES = "Raters"
_PREDICTORS = {
    _THEMSELVES: "A judge can hardly agree with people better than people agree with each other.",
    "Judges": "Does a specialist with one person's ratings as examples mark as that person does? Start one run per rater, and choose "
    "the runs here.",
}
"""Who predicts raters -> what the matrix then tells."""


def raters(store: Store, run: Run) -> None:
    """Show a matrix: how well people, or specialists, predict each rater's marks."""
    people = chosen_run.people_of(store, run)
    names = raters_of(people.ratings)
    if not names:
        nothing("the ratings name no raters or mark no errors; start a run with ratings that do")
        return

    def choose() -> list[Data]:
        who = st.radio("Who predicts", list(_PREDICTORS), horizontal=True, key="specialist_who_predicts")
        st.markdown(f":small[{_PREDICTORS[who]}]")
        if who == _THEMSELVES and len(names) < 2:
            nothing("one rater marked all these texts; the matrix needs two")
            return []
        runs: list[Run] = []
        if who != _THEMSELVES:
            runs = chosen_run.runs_to_compare(
                store, run, "raters", "Compare with", *chosen_run.marking(), at_first=_has_one_rater
            )
        return [
            Data(
                (people.key, *chosen_run.keys_of(store, runs)),
                lambda: _marks(store, people, runs, n_repeats=1),
            )
        ]

    answer = render(analysis("raters"), choose)
    if answer is not None and not any(one.same_rater for line in answer.result.cells for one in line):
        st.markdown(":small[No run here uses the ratings of a single rater as examples.]")


def _has_one_rater(run: Run) -> bool:
    rater: str = asked_of(run).settings.rater
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
