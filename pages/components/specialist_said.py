"""Tab Texts: what a judge that gives scores said of one text, beside what people gave it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.judges.direct import DirectRecord
from core.judges.quality import QualityRecord
from core.runs.kinds import kind_named
from core.schema.runs import Run
from core.store import Store
from pages.components import (
    asked_calls,
    generated_level_diff,
    judges_runs,
    judges_texts,
    specialist_cases,
    specialist_marked,
)
from pages.components.judges_numbers import level_said
from pages.components.numbers import UNDEFINED, number
from pages.components.parts import nothing, part, table
from pages.components.specialist_cases import Case


def render(store: Store, run: Run) -> None:
    """Choose a text, and read its scores with their reasons."""
    part(
        "Texts",
        "What the judge said of one text, beside people's ratings. A justification is the model's own words: it can be wrong.",
        kind_named(run.kind).section,
    )
    output = judges_runs.output_of(store, run)
    if not output.texts:
        nothing("nothing is judged yet")
        return
    specialist_marked.style()
    case = specialist_cases.choose(specialist_cases.cases(store, run), run, output.metrics[0].name)
    if case is not None:
        _case(store, run, case)


def _case(store: Store, run: Run, case: Case) -> None:
    text = case.text
    left, right = st.columns(2)
    with left:
        if text.question:
            generated_level_diff.plain_card("Source", text.question, "und")
        else:
            nothing("there is no source")
    with right:
        generated_level_diff.plain_card(f"Text{level_said(text.row)}", text.text, text.row.language)
    judges_texts.scores(text, judges_runs.output_of(store, run), "source")
    _people(case)
    if text.record is None:
        nothing("the judge was not asked about this text")
    elif (shown := _RECORDS.get(type(text.record))) is not None:
        shown(store, run, case, text.record)
    else:
        judges_texts.details(text.record)
    asked_calls.of_text(store, run, judges_runs.output_of(store, run), text)


def _people(case: Case) -> None:
    ratings = case.people.ratings if case.people else ()
    if not ratings:
        nothing("nobody rated this text")
        return
    table(
        pd.DataFrame(
            {
                "Rater": [one.rater or "not named" for one in ratings],
                "Dimension": [one.dimension for one in ratings],
                "Rating": [number(one.score, 2) for one in ratings],
            }
        )
    )


def _direct(store: Store, run: Run, case: Case, record: DirectRecord) -> None:
    _trials([("", one.repeat, one.score, one.reason or one.detail) for one in record.trials])
    if record.trials:
        specialist_cases.examples(store, run, case.people, record.trials[0].examples, 0)


def _quality(store: Store, run: Run, case: Case, record: QualityRecord) -> None:
    _trials(
        [
            (one.dimension, one.repeat, one.score, one.justification or one.reason or one.detail)
            for one in record.trials
        ]
    )
    if record.judged is not None:
        generated_level_diff.plain_card("As the judge read it", record.judged, case.text.row.language)
    specialist_cases.examples(store, run, None, record.examples, 0)


_RECORDS: Mapping[type, Callable[[Store, Run, Case, Any], None]] = {
    DirectRecord: _direct,
    QualityRecord: _quality,
}
"""A record's class -> what shows it."""


def _trials(rows: Sequence[tuple[str, int, float | None, str]]) -> None:
    frame = pd.DataFrame(
        {
            "Dimension": [dimension for dimension, _, _, _ in rows],
            "Repeat": [repeat + 1 for _, repeat, _, _ in rows],
            "Said": [UNDEFINED if score is None else number(score, 2) for _, _, score, _ in rows],
            "Note": [why for _, _, _, why in rows],
        }
    )
    table(frame if any(frame["Dimension"]) else frame.drop(columns="Dimension"))
