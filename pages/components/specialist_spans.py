"""Tab Spans: one text with the errors that people marked and those that the judge marked, side by side."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.judges.automqm.errors import ErrorTrial, Located
from core.results.spans.segments import Locating, locating, n_draws
from core.schema.judging import JudgedText, RatedText
from core.schema.runs import Run
from core.schema.scores import Rating
from core.store import Store
from pages.components import (
    asked_calls,
    generated_level_diff,
    judges_runs,
    metrics_computed,
    specialist_cases,
    specialist_marked,
    specialist_runs,
)
from pages.components.judges_numbers import level_said
from pages.components.messages import plain
from pages.components.numbers import number
from pages.components.parts import nothing, part
from pages.components.specialist_cases import Case
from pages.components.specialist_marked import OF_JUDGE, OF_PERSON, Marked

_SEVERAL = "all raters together"
_COUNTED: dict[Located, str] = {
    "exact": "letter by letter",
    "nearest": "by the nearest words",
    "not found": "not found: these mark no character, and count in the score",
    "nothing quoted": "quoted nothing",
}


def render(store: Store, run: Run) -> None:
    """Choose a text, and read who marked what in it."""
    part(
        "Spans",
        "What people marked on the left, what the judge marked on the right. What the judge quotes is looked for in the text: "
        "letter by letter, then the nearest words.",
        "specialist-automqm",
    )
    output = judges_runs.output_of(store, run)
    if not output.texts:
        nothing("nothing is judged yet")
        return
    specialist_marked.style()
    _located(
        metrics_computed.once(("located", *specialist_runs.keys_of(store, [run])), lambda: locating(output))
    )
    repeat, n = 0, n_draws(output)
    if n > 1:
        repeat = st.selectbox(
            "Repeat", range(n), format_func=lambda at: f"{at + 1}", key=f"specialist_repeat_{run.run_id}"
        )
    case = specialist_cases.choose(specialist_cases.cases(store, run, repeat), run, output.metrics[0].name)
    if case is not None:
        _case(store, run, case, repeat)


def _located(found: Locating) -> None:
    said = [f"{n:,} {_COUNTED[how]}" for how, n in found.located.items() if n]
    st.markdown(
        f":small[{found.n_errors:,} errors in {found.n_texts:,} texts, draws together: {'; '.join(said) or 'none named'}.]"
    )


def _case(store: Store, run: Run, case: Case, repeat: int) -> None:
    text, trial = case.text, specialist_cases.trial_of(case.text, repeat)
    if text.question:
        generated_level_diff.plain_card("Source", text.question, "und")
    rater, ratings = _ratings(case.people, run.run_id)
    theirs, judged = _people_marked(text.text, ratings, several=rater == _SEVERAL), _judge_marked(text, trial)
    person = [replace(one, met=specialist_marked.met(one, judged, OF_PERSON)) for one in theirs]
    judge = [replace(one, met=specialist_marked.met(one, theirs, OF_JUDGE)) for one in judged]
    if not ratings or trial is None or trial.errors is None:  # nothing to be hit or missed by
        person, judge = theirs, judged
    left, right = st.columns(2)
    with left:
        empty = "No error is marked." if ratings else "Nobody marked errors in this text."
        specialist_marked.card(
            f"People: {rater}" if rater else "People", text.text, person, text.row.language, empty
        )
    with right:
        specialist_marked.card(
            f"Judge{level_said(text.row)}", text.text, judge, text.row.language, _why(trial, text)
        )
    specialist_marked.explain()
    _numbers(case, ratings, judge)
    specialist_cases.examples(store, run, case.people, trial.examples if trial else (), repeat)
    asked_calls.of_text(store, run, judges_runs.output_of(store, run), text)


def _ratings(people: RatedText | None, run_id: int) -> tuple[str, list[Rating]]:
    """Whose marks are shown, and the ratings that hold them."""
    marked = [one for one in (people.ratings if people else ()) if one.spans is not None]
    names = sorted({one.rater for one in marked if one.rater})
    if len(names) < 2:
        return (names[0] if names else ""), marked
    chosen = st.selectbox(
        "Marked by", [_SEVERAL, *names], key=f"specialist_marked_by_{run_id}_{'/'.join(names)}"
    )
    return chosen, marked if chosen == _SEVERAL else [one for one in marked if one.rater == chosen]


def _people_marked(text: str, ratings: Sequence[Rating], *, several: bool) -> list[Marked]:
    found = [
        Marked(
            quote="" if span.in_source else text[span.start : span.end],
            severity=span.severity,
            category=span.category,
            start=None if span.in_source else span.start,
            end=None if span.in_source else span.end,
            where="in the source" if span.in_source else "",
            by=(rating.rater or "") if several else "",
        )
        for rating in ratings
        for span in rating.spans or ()
    ]
    return sorted(found, key=lambda one: (one.start is None, one.start or 0, one.end or 0))


def _judge_marked(text: JudgedText, trial: ErrorTrial | None) -> list[Marked]:
    found = []
    for error in (trial.errors or ()) if trial else ():
        where = specialist_marked.LOCATED[error.located]
        if error.located == "nearest" and error.start is not None and error.end is not None:
            where = f"{where}: {text.text[error.start : error.end]}"
        found.append(Marked(error.quote, error.severity, error.category, error.start, error.end, where=where))
    return sorted(found, key=lambda one: (one.start is None, one.start or 0, one.end or 0))


def _why(trial: ErrorTrial | None, text: JudgedText) -> str:
    """What stands in place of errors where the judge marked none."""
    if trial is None:
        return f"Not asked: {'; '.join(text.reasons.values()) or 'there is no such repeat'}."
    if trial.errors is None:
        return f"No usable answer: {trial.reason or 'unknown'}. {trial.detail}".strip()
    return "The judge found no error."


def _numbers(case: Case, ratings: Sequence[Rating], judge: Sequence[Marked]) -> None:
    """Scores of both sides, and the F1 of this text."""
    said = [f"people: {number(sum(one.score for one in ratings) / len(ratings), 2)}"] if ratings else []
    said += [f"{plain(name)}: {number(value, 2)}" for name, value in case.text.scores.items()]
    f1 = "" if case.f1 is None else f" F1 of its characters: {number(case.f1)}, over all who marked it."
    why = "; ".join(case.text.reasons.values())
    st.markdown(f"Scores: {'; '.join(said) or 'none'}{f' ({plain(why)})' if why else ''}.{f1}")
    if lost := sum(one.where == specialist_marked.LOCATED["not found"] for one in judge):
        st.markdown(f"Quotes not found in the text: {lost}. They mark no character, and count in the score.")
