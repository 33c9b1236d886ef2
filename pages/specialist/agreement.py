"""Tab Agreement: the characters that a judge marked against those that people marked, and several judges side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.plots import judges as figures
from core.results.spans.agreement import (
    DrawSummary,
    JudgeSpans,
    SpanAgreement,
    SpanComparison,
    SpanOptions,
    compare_spans,
    span_agreement,
)
from core.results.spans.segments import GoldRaters, draws_of_judge, n_draws, ratings_of_judge
from core.schema.runs import Run
from core.stats.span_f1 import SpanF1
from core.store import Store
from pages.specialist import chosen_run
from pages.widgets import chosen_judge, chosen_scores, results_shown
from pages.widgets.chosen_judge import tested, with_ends
from pages.widgets.messages import mistakes_shown
from pages.widgets.parts import UNDEFINED, nothing, number, part, table

_MARKS: dict[GoldRaters, str] = {
    "kept": "each rater's marks by themselves",
    "merged": "all raters' marks of a text together",
}
_RESAMPLES = 1_000
_MOST_ROWS = 40


def options(slot: str) -> SpanOptions:
    """How marks are compared, as the widgets say."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    raters: GoldRaters = left.selectbox(
        "Compared with", list(_MARKS), format_func=_MARKS.__getitem__, key=f"specialist_raters_{slot}"
    )
    references = right.checkbox("References as systems too", key=f"specialist_references_{slot}")
    return SpanOptions(raters=raters, references=references, n_resamples=_RESAMPLES)


def render(store: Store, run: Run) -> None:
    """Precision, recall and F1: overall, by system, rater and severity; then beside other judges."""
    part(
        "Agreement",
        "Of the characters that the judge marked, how many did people mark (precision)? Of theirs, how many did it mark "
        "(recall)? A character counts 1 where the severity agrees too, and half where it does not.",
        "marked-errors-against-peoples",
    )
    people = chosen_run.people_of(store, run)
    if not people.marked:
        nothing("nobody marked errors in these texts: agreement needs people's marks")
        return
    chosen = options("agreement")
    runs = chosen_run.beside(store, run, "agreement", "Beside", *chosen_run.marking())
    with st.spinner("Computing ..."):
        found = _alone(store, run, chosen)
    _overall(found, n_draws(chosen_judge.output_of(store, run)))
    _groups(found)
    with mistakes_shown():
        _beside(store, runs, chosen)


def _alone(store: Store, run: Run, chosen: SpanOptions) -> SpanAgreement:
    people, output = chosen_run.people_of(store, run), chosen_judge.output_of(store, run)
    return chosen_scores.once(
        ("span agreement", *chosen_run.keys_of(store, [run]), chosen),
        lambda: span_agreement(people.ratings, ratings_of_judge(output), texts=people.texts, options=chosen),
    )


def _overall(found: SpanAgreement, n: int) -> None:
    table(pd.DataFrame([_row("All texts", found.overall)]))
    again = f", once for each of the {n} draws" if n > 1 else ""
    st.markdown(
        f":small[Characters: the judge marked {found.overall.predicted_characters:,}, people "
        f"{found.overall.gold_characters:,}. {found.n_segments:,} ratings of a text on {found.n_items:,} items{again}. 95 % intervals resample items, "
        f"{found.options.n_resamples:,} times. Long marks weigh more than short ones.]"
    )
    chosen_scores.read_notes(found.notes, found.left_out)


def _groups(found: SpanAgreement) -> None:
    groups = {"System": found.by_system, "Rater": found.by_rater, "Severity": found.by_severity}
    rows = []
    for name, own in groups.items():
        if not own:
            continue
        rows += [_csv_row(name.lower(), each, one) for each, one in own.items()]
        shown = dict(list(own.items())[:_MOST_ROWS])
        st.markdown(f"**By {name.lower()}**")
        table(
            pd.DataFrame([{name: each, **_row("", one)} for each, one in shown.items()]).drop(
                columns="Marks of"
            )
        )
        if len(own) > len(shown):
            st.markdown(f":small[The first {len(shown)} of {len(own):,}: the CSV has all.]")
    if not found.by_rater:
        st.markdown(":small[By rater: the ratings name nobody, or are taken together.]")
    results_shown.downloads("span-agreement", [_csv_row("all", "all", found.overall), *rows])


def _row(name: str, one: SpanF1) -> dict[str, str]:
    return {
        "Marks of": name,
        "Precision": with_ends(one.precision),
        "Recall": with_ends(one.recall),
        "F1": with_ends(one.f1),
        "Texts": f"{one.n_texts:,}",
    }


def _csv_row(by: str, name: str, one: SpanF1) -> dict[str, Any]:
    return {
        "by": by,
        "name": name,
        **results_shown.estimate("precision", one.precision),
        **results_shown.estimate("recall", one.recall),
        **results_shown.estimate("f1", one.f1),
        "texts": one.n_texts,
        "predicted_characters": one.predicted_characters,
        "gold_characters": one.gold_characters,
    }


def _beside(store: Store, runs: Sequence[Run], chosen: SpanOptions) -> None:
    by_system = {chosen_judge.short_name(one): _alone(store, one, chosen).by_system for one in runs}
    results_shown.show(
        figures.spans_by_system(by_system),
        f"F1 of characters by system, of {len(by_system)} judges",
        "spans-by-system",
        [
            {"judge": judge} | _csv_row("system", system, one)
            for judge, own in by_system.items()
            for system, one in own.items()
        ],
    )
    found = compared(store, runs, chosen)
    several = len(runs) > 1
    if not several and found.judges[0].n_draws < 2:
        return
    part(
        "Side by side" if several else "Over draws",
        "On the ratings that all of them have an answer to. Where examples were drawn several times: mean and standard "
        "deviation over draws, and intervals of the characters averaged over draws. Nothing pays for the number of tests.",
        "marked-errors-against-peoples",
    )
    table(pd.DataFrame([_judge_row(one) for one in found.judges]))
    st.markdown(f":small[{found.n_segments:,} ratings of a text on {found.n_items:,} items.]")
    if found.tests:
        st.markdown("**Differences of F1**")
        table(pd.DataFrame([{**tested(one), "Note": one.test.reason or ""} for one in found.tests]))
        st.markdown(":small[Permutation test, two-sided: all texts of an item change places together.]")
    chosen_scores.read_notes(found.notes)
    results_shown.downloads("spans-side-by-side", _csv_judges(found))


def compared(store: Store, runs: Sequence[Run], chosen: SpanOptions) -> SpanComparison:
    """Several runs on the ratings of the first one's file. Raises InputError where they share none."""
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


def _judge_row(one: JudgeSpans) -> dict[str, str]:
    return {
        "Judge": one.name,
        "F1": with_ends(one.overall.f1),
        "Draws": f"{one.n_draws}",
        "Precision, mean (SD)": over_draws(one.precision),
        "Recall, mean (SD)": over_draws(one.recall),
        "F1, mean (SD)": over_draws(one.f1),
    }


def over_draws(found: DrawSummary) -> str:
    """Mean and standard deviation over draws; of one draw the number alone."""
    if found.mean is None:
        return UNDEFINED
    return number(found.mean) if found.sd is None else f"{number(found.mean)} ({number(found.sd, 4)})"


def _csv_judges(found: SpanComparison) -> list[Mapping[str, Any]]:
    return [
        {
            "judge": one.name,
            **results_shown.estimate("f1", one.overall.f1),
            "draws": one.n_draws,
            "f1_mean": one.f1.mean,
            "f1_sd": one.f1.sd,
            "precision_mean": one.precision.mean,
            "precision_sd": one.precision.sd,
            "recall_mean": one.recall.mean,
            "recall_sd": one.recall.sd,
        }
        for one in found.judges
    ]
