"""The texts of a run as they are listed: filtered, searched, the worst first; and the examples that one was shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.errors import InputError
from core.judges.automqm.errors import AutoMqmRecord, ErrorTrial
from core.judges.rated import ExampleSettings, ExampleUsed, ShownExample
from core.results.spans.agreement import counts_of
from core.results.spans.segments import Segment, pair_spans, ratings_of_judge
from core.runs.asked import asked_of
from core.schema.judging import JudgedText, JudgeOutput, RatedText
from core.schema.runs import Run
from core.schema.scores import Rating, ScorableOutput, ScoredRow
from core.store import Store
from pages.components import choices, judges_runs, run_choice, specialist_marked, specialist_runs
from pages.components.judges_numbers import level_said
from pages.components.messages import plain
from pages.components.metrics_computed import Key
from pages.components.numbers import number
from pages.components.parts import nothing
from pages.components.specialist_marked import Marked
from pages.components.specialist_runs import People

MOST_LISTED = 200
"""Texts that a menu offers; a search narrows."""
_WORST, _FILE, _LOST, _LOW = (
    "lowest F1 first",
    "as in the file",
    "quotes not found first",
    "lowest score first",
)
Place = tuple[object, ...]


@dataclass(frozen=True)
class Case:
    """One judged text, with what people said of it."""

    text: JudgedText
    people: RatedText | None
    f1: float | None = None
    """Of the characters marked in this text; None: not compared, or nothing is marked on either side."""
    lost: int = 0
    """Quotes that stand nowhere in the text."""


def place_of(one: ScoredRow | ScorableOutput | Rating) -> Place:
    """What a text of one file is told by."""
    return one.item_id, one.system, one.level, one.language, tuple(sorted(one.labels.items()))


def cases(store: Store, run: Run, repeat: int = 0) -> list[Case]:
    """Every text that the judge came to, in the order of the file; computed once."""
    return _cases((*run_choice.key_of(store, run), repeat), store, run, repeat)


# A resource: thousands of texts would be copied at every press of a widget. Nobody changes them.
@st.cache_resource(show_spinner="Comparing ...", max_entries=4)
def _cases(key: Key, _store: Store, _run: Run, _repeat: int) -> list[Case]:
    return cases_of(judges_runs.output_of(_store, _run), specialist_runs.people_of(_store, _run), _repeat)


def cases_of(output: JudgeOutput, people: People, repeat: int = 0) -> list[Case]:
    """The same, computed."""
    known = {place_of(text.output): text for text in people.rated.texts}
    f1 = f1_by_text(output, people, repeat)
    return [
        Case(text, known.get(place_of(text.row)), f1.get(place_of(text.row)), _lost(trial_of(text, repeat)))
        for text in output.texts
    ]


def trial_of(text: JudgedText, repeat: int) -> ErrorTrial | None:
    """What an error-marking judge said the n-th time; None: it was not asked so often."""
    if not isinstance(text.record, AutoMqmRecord):
        return None
    return next((trial for trial in text.record.trials if trial.repeat == repeat), None)


def _lost(trial: ErrorTrial | None) -> int:
    return sum(error.located == "not found" for error in (trial.errors or () if trial else ()))


def f1_by_text(output: JudgeOutput, people: People, repeat: int) -> dict[Place, float]:
    """F1 of each text's characters, over all who marked it; texts without a mark on either side have none.

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
    """The text to look at, by system, order and search; None: none is like that."""
    by_errors = specialist_runs.marks_errors(run)
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
        st.markdown(f":small[The first {len(listed)} of {len(found):,} texts are listed: a search narrows.]")
    key = f"specialist_case_{run.run_id}_{order}_{system}_{sought}"
    return choices.one_of(None, "Text", listed, lambda case: _said(case, metric), key)


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
    """What the judge was shown beside this text, and whose texts they are; folded away."""
    with st.expander(f"Examples used: {len(used)}"):
        if not used:
            nothing("the judge was shown no example")
            return
        st.markdown(
            ":small[None is of the judged system. The run stores who rated each example. The texts are in its file.]"
        )
        drawn = _drawn(store, run, text, repeat)
        # Drawn from another file or by another version they would not be what the judge saw.
        same = [(one.used.item_id, one.used.system) for one in drawn] == [
            (one.item_id, one.system) for one in used
        ]
        for place, one in enumerate(used):
            _example(one, drawn[place] if same else None)


def _drawn(store: Store, run: Run, text: RatedText | None, repeat: int) -> tuple[ShownExample, ...]:
    """The examples as the judge drew them, drawn once more from the same seed."""
    pool = specialist_runs.pool(store, run)
    if pool is None or text is None:
        return ()
    chosen: ExampleSettings = asked_of(run).chosen
    return chosen.draw(pool, text, repeat)


def _example(used: ExampleUsed, example: ShownExample | None) -> None:
    by = f", rated by {used.rater}" if used.rater else ""
    title = f"{used.system}, item {used.item_id}{by}"
    if example is None:
        st.markdown(f"{plain(title)}: {used.n_errors} errors")
    elif example.score is not None:
        specialist_marked.card(
            title, example.output.text, (), example.output.language, f"Score {number(example.score)}"
        )
    else:
        errors = [
            Marked(quote, span.severity, span.category, span.start, span.end)
            for quote, span in example.errors
        ]
        specialist_marked.card(title, example.output.text, errors, example.output.language)
