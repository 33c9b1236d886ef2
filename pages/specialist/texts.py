"""Tabs Spans and Texts: one text with the errors or scores of people and judge; worst texts first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from core.errors import InputError
from core.judges.automqm import ErrorTrial, Located
from core.judges.direct import DirectRecord
from core.judges.quality import QualityRecord
from core.judges.rated import ExampleSettings, ExampleUsed, ShownExample
from core.results.judges.spans import (
    Locating,
    Segment,
    counts_of,
    locating,
    n_draws,
    pair_spans,
    ratings_of_judge,
    trial_of,
)
from core.runs.asked import asked_of
from core.runs.kinds import kind_named
from core.schema.runs import Run
from core.schema.scores import JudgedText, JudgeOutput, RatedText, Rating, ScorableOutput, ScoredRow
from core.store import Store
from pages.specialist import chosen_run
from pages.specialist.chosen_run import People
from pages.tabs import texts
from pages.tabs.phrases import NOT_JUDGED
from pages.widgets import chosen_judge, chosen_scores, level_diff, marked_errors, menus
from pages.widgets.chosen_judge import level_said
from pages.widgets.chosen_scores import Key
from pages.widgets.marked_errors import LINES_SAID, Marked, card, marked_by, met, sort_by_place
from pages.widgets.messages import plain
from pages.widgets.parts import UNDEFINED, nothing, number, part, table

_KEY = f"{LINES_SAID} Blue: the other side marked something here too. Orange: only this side did."
OF_PERSON, OF_JUDGE = "missed by the judge", "not marked by people"
"""Label of a person's error, and of a judge's, that the other side did not mark."""
LOCATED: dict[Located, str] = {
    "exact": "",
    "nearest": "approximate match",
    "not found": "not found in the text",
    "nothing quoted": "quotes nothing",
}


MOST_LISTED = 200
"""Texts that a menu lists; a search finds the others."""
_WORST, _FILE, _LOST, _LOW = (
    "lowest F1 first",
    "as in the file",
    "quotes not found first",
    "lowest score first",
)
Place = tuple[object, ...]


@dataclass(frozen=True)
class Case:
    """One judged text, with people's ratings of it."""

    text: JudgedText
    people: RatedText | None
    f1: float | None = None
    """Over the marked characters of this text; None: not compared, or no mark on either side."""
    lost: int = 0
    """Number of quotes that are not in the text."""


def place_of(text: ScoredRow | ScorableOutput | Rating) -> Place:
    """Identifies a text within a file."""
    return text.item_id, text.system, text.level, text.language, tuple(sorted(text.labels.items()))


def cases(store: Store, run: Run, repeat: int = 0) -> list[Case]:
    """Every text that the judge finished, in file order; computed once."""
    return _cases((*menus.key_of(store, run), repeat), store, run, repeat)


# Cached as a resource: cached data would be copied at every rerun. Nobody changes the list.
@st.cache_resource(show_spinner="Comparing ...", max_entries=4)
def _cases(key: Key, _store: Store, _run: Run, _repeat: int) -> list[Case]:
    output, people = chosen_judge.output_of(_store, _run), chosen_run.people_of(_store, _run)
    known = {place_of(text.output): text for text in people.rated.texts}
    f1 = f1_by_text(output, people, _repeat)
    return [
        Case(text, known.get(place_of(text.row)), f1.get(place_of(text.row)), _lost(trial_of(text, _repeat)))
        for text in output.texts
    ]


def _lost(trial: ErrorTrial | None) -> int:
    return sum(error.located == "not found" for error in (trial.errors or () if trial else ()))


def f1_by_text(output: JudgeOutput, people: People, repeat: int) -> dict[Place, float]:
    """F1 of each text's characters, over all raters; texts without any mark are left out.

    Empty for a judge that marks no errors.
    """
    try:
        marks = ratings_of_judge(output, repeat)
        segments: Sequence[Segment] = pair_spans(
            people.ratings, marks, texts=people.texts, references=True
        ).segments
    except InputError:
        return {}
    counts = counts_of(segments)
    sums: dict[Place, list[float]] = {}
    for segment, credit, predicted, gold in zip(
        segments, counts.credit.tolist(), counts.predicted.tolist(), counts.gold.tolist(), strict=True
    ):
        own = sums.setdefault(place_of(segment.row), [0.0, 0.0])
        own[0] += 2 * credit
        own[1] += predicted + gold
    return {place: credit / marked for place, (credit, marked) in sums.items() if marked}


def choose(cases: Sequence[Case], run: Run, metric: str) -> Case | None:
    """Choose a text by system, order and search; None if no text matches."""
    by_errors = chosen_run.marks_errors(run)
    left, middle, right = st.columns(3)
    systems = sorted({case.text.row.system for case in cases})
    system = left.selectbox(
        "System", [None, *systems], format_func=lambda name: name or "All", key="specialist_system"
    )
    orders = [_WORST, _FILE, _LOST] if by_errors else [_LOW, _FILE]
    order = middle.selectbox("Order", orders, key=f"specialist_order_{by_errors}")
    sought = right.text_input("Search in item, source and text", key="specialist_search").strip().casefold()
    found = [
        case
        for case in _ordered(cases, order, metric)
        if system in (None, case.text.row.system) and (not sought or sought in _searched(case.text))
    ]
    if not found:
        nothing("no matching text; change the system or the search")
        return None
    listed = found[:MOST_LISTED]
    if len(found) > len(listed):
        st.markdown(
            f":small[The menu lists the first {len(listed)} of {len(found):,} texts. Search to find others.]"
        )
    key = f"specialist_case_{run.run_id}_{order}_{system}_{sought}"
    return menus.one_of(None, "Text", listed, lambda case: _said(case, metric), key)


def _ordered(cases: Sequence[Case], order: str, metric: str) -> list[Case]:
    def low(value: float | None) -> tuple[bool, float]:
        return value is None, value or 0.0

    if order == _WORST:
        return sorted(cases, key=lambda case: low(case.f1))
    if order == _LOST:
        return sorted(cases, key=lambda case: -case.lost)
    if order == _LOW:
        return sorted(cases, key=lambda case: low(case.text.scores.get(metric)))
    return list(cases)


def _searched(text: JudgedText) -> str:
    return "\n".join((text.row.item_id, text.question or "", text.text)).casefold()


def _said(case: Case, metric: str) -> str:
    row = case.text.row
    what = f"F1 {number(case.f1)}" if case.f1 is not None else number(case.text.scores.get(metric))
    lost = f", {case.lost} not found" if case.lost else ""
    return f"{row.item_id[:40]}, {row.system[:40]}{level_said(row)}: {what}{lost}"


def examples(
    store: Store, run: Run, text: RatedText | None, used: Sequence[ExampleUsed], repeat: int
) -> None:
    """Show the examples that the judge saw with this text, in a folded part."""
    with st.expander(f"Examples used: {len(used)}"):
        if not used:
            nothing("the judge saw no example")
            return
        st.markdown(
            ":small[None is by the judged system. The run stores who rated each example. The texts are in its file.]"
        )
        drawn = _drawn(store, run, text, repeat)
        # Examples drawn from another file or by another version would not be those that the judge saw.
        same = [(one.used.item_id, one.used.system) for one in drawn] == [
            (one.item_id, one.system) for one in used
        ]
        for place, one in enumerate(used):
            _example(one, drawn[place] if same else None)


def _drawn(store: Store, run: Run, text: RatedText | None, repeat: int) -> tuple[ShownExample, ...]:
    """The examples that the judge saw, drawn again from the same seed."""
    pool = chosen_run.pool(store, run)
    if pool is None or text is None:
        return ()
    chosen: ExampleSettings = asked_of(run).settings
    return chosen.draw(pool, text, repeat)


def _example(used: ExampleUsed, example: ShownExample | None) -> None:
    by = f", rated by {used.rater}" if used.rater else ""
    title = f"{used.system}, item {used.item_id}{by}"
    if example is None:
        st.markdown(f"{plain(title)}: {used.n_errors} errors")
    elif example.score is not None:
        card(title, example.output.text, (), example.output.language, f"Score {number(example.score)}")
    else:
        errors = [
            Marked(quote, span.severity, span.category, span.start, span.end)
            for quote, span in example.errors
        ]
        card(title, example.output.text, errors, example.output.language)


_SEVERAL = "all raters together"
_COUNTED: dict[Located, str] = {
    "exact": "exact match",
    "nearest": "approximate match",
    "not found": "not found: these mark no character but count in the score",
    "nothing quoted": "without a quote",
}


def render_spans(store: Store, run: Run) -> None:
    """Choose a text, and show who marked what in it."""
    part(
        "Spans",
        "People's marks are on the left, the judge's on the right. Assay searches the text for the judge's quotes: exact "
        "matches first, then approximate ones.",
        "specialist-automqm",
    )
    output = chosen_judge.output_of(store, run)
    if not output.texts:
        nothing(NOT_JUDGED)
        return
    marked_errors.style()
    _located(chosen_scores.once(("located", *chosen_run.keys_of(store, [run])), lambda: locating(output)))
    repeat, n = 0, n_draws(output)
    if n > 1:
        repeat = st.selectbox(
            "Repeat", range(n), format_func=lambda at: f"{at + 1}", key=f"specialist_repeat_{run.run_id}"
        )
    case = choose(cases(store, run, repeat), run, output.metrics[0].name)
    if case is not None:
        _span_case(store, run, case, repeat)


def _located(found: Locating) -> None:
    said = [f"{n:,} {_COUNTED[how]}" for how, n in found.located.items() if n]
    st.markdown(
        f":small[The judge marked {found.n_errors:,} errors in {found.n_texts:,} texts, over all draws"
        f"{': ' if said else ''}{'; '.join(said)}.]"
    )


def _span_case(store: Store, run: Run, case: Case, repeat: int) -> None:
    text, trial = case.text, trial_of(case.text, repeat)
    if text.question:
        level_diff.plain_card("Source", text.question, "und")
    rater, ratings = _ratings(case.people, run.run_id)
    theirs, judged = _people_marked(text.text, ratings, several=rater == _SEVERAL), _judge_marked(text, trial)
    person = [replace(one, met=met(one, judged, OF_PERSON)) for one in theirs]
    judge = [replace(one, met=met(one, theirs, OF_JUDGE)) for one in judged]
    if not ratings or trial is None or trial.errors is None:  # One side is missing: no hits or misses.
        person, judge = theirs, judged
    left, right = st.columns(2)
    with left:
        empty = "No error is marked." if ratings else "Nobody marked errors in this text."
        card(f"People: {rater}" if rater else "People", text.text, person, text.row.language, empty)
    with right:
        card(f"Judge{level_said(text.row)}", text.text, judge, text.row.language, _why(trial, text))
    st.markdown(f":small[{_KEY}]")
    _numbers(case, ratings, judge)
    examples(store, run, case.people, trial.examples if trial else (), repeat)
    chosen_judge.text_calls(store, run, chosen_judge.output_of(store, run), text)


def _ratings(people: RatedText | None, run_id: int) -> tuple[str, list[Rating]]:
    """Choose whose marks to show; return the name and the ratings."""
    marked = [one for one in (people.ratings if people else ()) if one.spans is not None]
    names = sorted({one.rater for one in marked if one.rater})
    if len(names) < 2:
        return (names[0] if names else ""), marked
    chosen = st.selectbox(
        "Marked by", [_SEVERAL, *names], key=f"specialist_marked_by_{run_id}_{'/'.join(names)}"
    )
    return chosen, marked if chosen == _SEVERAL else [one for one in marked if one.rater == chosen]


def _people_marked(text: str, ratings: Sequence[Rating], *, several: bool) -> list[Marked]:
    return sort_by_place(
        [
            error
            for rating in ratings
            for error in marked_by(text, rating.spans or (), (rating.rater or "") if several else "")
        ]
    )


def _judge_marked(text: JudgedText, trial: ErrorTrial | None) -> list[Marked]:
    found = []
    for error in (trial.errors or ()) if trial else ():
        where = LOCATED[error.located]
        if error.located == "nearest" and error.start is not None and error.end is not None:
            where = f"{where}: {text.text[error.start : error.end]}"
        found.append(Marked(error.quote, error.severity, error.category, error.start, error.end, where=where))
    return sort_by_place(found)


def _why(trial: ErrorTrial | None, text: JudgedText) -> str:
    """The sentence shown when the judge marked no error."""
    if trial is None:
        return f"Not asked: {'; '.join(text.reasons.values()) or 'this repeat does not exist'}."
    if trial.errors is None:
        return f"No usable answer: {trial.reason or 'unknown'}. {trial.detail}".strip()
    return "The judge found no error."


def _numbers(case: Case, ratings: Sequence[Rating], judge: Sequence[Marked]) -> None:
    """Show the scores of both sides, and the F1 of this text."""
    said = [f"people: {number(sum(one.score for one in ratings) / len(ratings), 2)}"] if ratings else []
    said += [f"{plain(name)}: {number(value, 2)}" for name, value in case.text.scores.items()]
    f1 = "" if case.f1 is None else f" F1 of characters in this text: {number(case.f1)}, over all raters."
    why = "; ".join(case.text.reasons.values())
    st.markdown(f"Scores: {'; '.join(said) or 'none'}{f' ({plain(why)})' if why else ''}.{f1}")
    if lost := sum(one.where == LOCATED["not found"] for one in judge):
        st.markdown(f"Quotes not found in the text: {lost}. They mark no character but count in the score.")


def render_scores(store: Store, run: Run) -> None:
    """Choose a text, and show its scores with their reasons."""
    part(
        "Texts",
        "The judge's scores of one text, and people's ratings of it. Justifications are the model's own words and can be "
        "wrong.",
        kind_named(run.kind).section,
    )
    output = chosen_judge.output_of(store, run)
    if not output.texts:
        nothing(NOT_JUDGED)
        return
    marked_errors.style()
    case = choose(cases(store, run), run, output.metrics[0].name)
    if case is not None:
        _said_case(store, run, case)


def _said_case(store: Store, run: Run, case: Case) -> None:
    text = case.text
    left, right = st.columns(2)
    with left:
        if text.question:
            level_diff.plain_card("Source", text.question, "und")
        else:
            nothing("this text has no source")
    with right:
        level_diff.plain_card(f"Text{level_said(text.row)}", text.text, text.row.language)
    left, right = st.columns(2)
    with left:
        st.markdown("**The judge's scores**")
        texts.scores(text, chosen_judge.output_of(store, run), "source")
    with right:
        st.markdown("**People's ratings**")
        _people(case)
    if text.record is None:
        nothing("the judge was not asked about this text")
    elif (shown := _RECORDS.get(type(text.record))) is not None:
        shown(store, run, case, text.record)
    else:
        texts.details(text.record)
    chosen_judge.text_calls(store, run, chosen_judge.output_of(store, run), text)


def _people(case: Case) -> None:
    ratings = case.people.ratings if case.people else ()
    if not ratings:
        nothing("nobody rated this text")
        return
    raters = list(dict.fromkeys(one.rater for one in ratings))
    rows = [
        (
            dimension,
            *(
                ", ".join(
                    number(one.score, 2)
                    for one in ratings
                    if one.dimension == dimension and one.rater == rater
                )
                for rater in raters
            ),
        )
        for dimension in dict.fromkeys(one.dimension for one in ratings)
    ]
    heads = [f"Rater {rater}" if rater else "Rating" for rater in raters]
    table(pd.DataFrame(rows, columns=["Dimension", *heads]))


def _direct(store: Store, run: Run, case: Case, record: DirectRecord) -> None:
    _trials([("", one.repeat, one.verdict, one.reason or one.detail) for one in record.trials])
    if record.trials:
        examples(store, run, case.people, record.trials[0].examples, 0)


def _quality(store: Store, run: Run, case: Case, record: QualityRecord) -> None:
    _trials(
        [
            (one.dimension, one.repeat, one.verdict, one.feedback or one.reason or one.detail)
            for one in record.trials
        ]
    )
    if record.judged is not None:
        level_diff.plain_card("As the judge read it", record.judged, case.text.row.language)
    examples(store, run, None, record.examples, 0)


_RECORDS: Mapping[type, Callable[[Store, Run, Case, Any], None]] = {
    DirectRecord: _direct,
    QualityRecord: _quality,
}
"""A record's class -> the function that shows it."""


def _trials(rows: Sequence[tuple[str, int, float | None, str]]) -> None:
    """Show the judge's replies. rows: dimension, number of the repeat, score, and justification or reason."""
    st.markdown("**The judge's replies**")
    frame = pd.DataFrame(
        {
            "Dimension": [dimension for dimension, _, _, _ in rows],
            "Repeat": [repeat + 1 for _, repeat, _, _ in rows],
            "Score": [UNDEFINED if score is None else number(score, 2) for _, _, score, _ in rows],
            "Note": [why for _, _, _, why in rows],
        }
    )
    table(frame if any(frame["Dimension"]) else frame.drop(columns="Dimension"))
