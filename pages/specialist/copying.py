"""Tabs Copying and Examples: does a specialist copy what it was shown, and what does each further example give it?"""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.plots import judges as figures
from core.results.spans.agreement import SpanOptions
from core.results.spans.copying import Copying, Disjoint, disjoint_errors, error_copying
from core.results.spans.examples import CurvePoint, ExampleCurve, example_curve
from core.runs.asked import asked_of
from core.schema.runs import Run
from core.store import Store
from pages.specialist import agreement, chosen_run
from pages.widgets import chosen_judge, chosen_scores, results_shown
from pages.widgets.chosen_judge import in_percent, tested, with_ends
from pages.widgets.parts import nothing, number, part, table

_COPIES = {
    "of_people": "People marked here",
    "of_examples": "Of its examples",
    "of_examples_or_parts": "Of its examples, or a part",
    "of_same_source": "Of the same source",
}


def copying(store: Store, run: Run) -> None:
    """The shares of copied errors, of this judge and of others."""
    part(
        "Copied errors",
        "Of the errors whose words the judge quotes, how many did people mark in this very text, how many stand among its "
        "examples, and how many in any other system's text of the same source? The words have to be the same, letter by letter.",
        "copied-errors",
    )
    runs = chosen_run.beside(store, run, "copying", "Beside", *chosen_run.marking())
    found = [_copying(store, one) for one in runs]
    table(pd.DataFrame([_row(one, who) for one, who in zip(found, runs, strict=True)]))
    st.markdown(":small[Shares of errors, 95 % intervals resample items; the first of several draws.]")
    for one, who in zip(found, runs, strict=True):
        if one.left_out:
            chosen_scores.read_notes((chosen_judge.short_name(who),), one.left_out)
    results_shown.downloads(
        "copied-errors",
        [
            {
                "judge": chosen_judge.short_name(who),
                "texts": one.n_texts,
                "errors": one.n_errors,
                "without_words": one.n_without_words,
                **{
                    key: each
                    for name in _COPIES
                    for key, each in results_shown.estimate(name, getattr(one, name)).items()
                },
            }
            for one, who in zip(found, runs, strict=True)
        ],
    )
    if len(runs) > 1:
        _alone(store, runs)


def _copying(store: Store, run: Run) -> Copying:
    rated, output = chosen_run.people_of(store, run).rated, chosen_judge.output_of(store, run)
    return chosen_scores.once(
        ("copying", *chosen_run.keys_of(store, [run])), lambda: error_copying(output, rated)
    )


def _row(one: Copying, run: Run) -> dict[str, str]:
    return {
        "Judge": chosen_judge.short_name(run),
        **{said: in_percent(getattr(one, name)) for name, said in _COPIES.items()},
        "Errors, texts": f"{one.n_errors:,}, {one.n_texts:,}",
        "Without words": f"{one.n_without_words:,}",
    }


def _alone(store: Store, runs: Sequence[Run]) -> None:
    part(
        "What one marks and the other does not",
        "Of the errors that a judge marks alone, how many stand among those of other systems' texts of the same source? A "
        "judge that copies has more of them than one that was not shown them.",
        "copied-errors",
    )
    first = runs[0]
    rated, one = chosen_run.people_of(store, first).rated, chosen_judge.output_of(store, first)
    rows = []
    for run in runs[1:]:
        other = chosen_judge.output_of(store, run)
        found = chosen_scores.once(
            ("alone", *chosen_run.keys_of(store, [first, run])),
            partial(disjoint_errors, one, other, rated),
        )
        names = chosen_judge.short_name(first), chosen_judge.short_name(run)
        rows += [_alone_row(found[0], *names), _alone_row(found[1], *reversed(names))]
    table(pd.DataFrame(rows))


def _alone_row(found: Disjoint, judge: str, other: str) -> dict[str, str]:
    return {
        "Judge": judge,
        "Not marked by": other,
        "Errors": f"{found.n_errors:,}",
        "Alone": f"{found.n_alone:,}",
        "Of these, of the same source": f"{found.n_alone_of_same_source:,}",
        "Share": in_percent(found.share),
    }


def examples(store: Store, run: Run) -> None:
    """F1 against the number of examples, over several runs."""
    part(
        "F1 by number of examples",
        "Runs with more and more examples, on the ratings that all of them have an answer to. Runs of one seed are nested: "
        "with five examples a judge is shown those it had with two, and three more.",
        "number-of-examples",
    )
    people = chosen_run.people_of(store, run)
    if not people.marked:
        nothing("nobody marked errors in these texts")
        return
    runs = chosen_run.beside(
        store,
        run,
        "curve",
        "Together with",
        *chosen_run.marking(),
        at_first=partial(_in_all_else_alike, run),
    )
    if len(runs) < 2:
        nothing("a curve needs at least two runs with different numbers of examples")
        return
    options = agreement.options("curve")
    with st.spinner("Computing ..."):
        found = chosen_scores.once(
            ("curve", *chosen_run.keys_of(store, runs), options),
            lambda: _curve(store, runs, options),
        )
    rows = [_point_csv(point) for point in found.points]
    results_shown.show(
        figures.example_curve(found),
        f"F1 of {len(runs)} runs against the number of examples shown",
        "examples-curve",
        rows,
    )
    table(pd.DataFrame([_point(point) for point in found.points]))
    st.markdown(
        f":small[{found.n_segments:,} ratings of a text on {found.n_items:,} items. 95 % intervals resample items; SD: over "
        "draws of the examples.]"
    )
    if found.tests:
        with st.expander("Tests of every two runs"):
            table(pd.DataFrame([tested(one) for one in found.tests]))
    chosen_scores.read_notes(found.notes)


def _in_all_else_alike(run: Run, other: Run) -> bool:
    """Whether two runs differ in the number of examples, and in the draws of it, alone."""
    a, b = asked_of(run), asked_of(other)
    alike = b.chosen.but(n_examples=a.chosen.n_examples, repeats=a.chosen.repeats)
    who_a, who_b = (one.model for one in (a, b))
    return (who_a.backend, who_a.model, a.prompts, a.chosen) == (who_b.backend, who_b.model, b.prompts, alike)


def _curve(store: Store, runs: Sequence[Run], options: SpanOptions) -> ExampleCurve:
    people = chosen_run.people_of(store, runs[0])
    outputs = {chosen_judge.short_name(one): chosen_judge.output_of(store, one) for one in runs}
    return example_curve(people.ratings, outputs, texts=people.texts, options=options)


def _point(point: CurvePoint) -> dict[str, str]:
    return {
        "Run": point.name,
        "Examples": point.variant,
        "Asked for": "all" if point.n_examples is None else f"{point.n_examples}",
        "Shown of a text": number(point.mean_shown, 2),
        "F1": with_ends(point.judge.overall.f1),
        "F1 over draws, mean (SD)": agreement.over_draws(point.judge.f1),
    }


def _point_csv(point: CurvePoint) -> dict[str, object]:
    return {
        "run": point.name,
        "examples": point.variant,
        "n_examples": point.n_examples,
        "mean_shown": point.mean_shown,
        **results_shown.estimate("f1", point.judge.overall.f1),
        "draws": point.judge.n_draws,
        "f1_mean": point.judge.f1.mean,
        "f1_sd": point.judge.f1.sd,
    }
