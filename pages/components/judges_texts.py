"""Tab Texts: one text with its scores, and how the judge came to them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.judges.claims.steps import ClaimsRecord
from core.judges.cross_examination.record import CefRecord
from core.judges.kind import JudgeKind
from core.judges.rubric import RubricRecord
from core.runs.kinds import KINDS
from core.schema.judging import JudgedText, JudgeOutput
from core.schema.runs import Run
from core.store import Store
from core.store.replies import step_costs
from core.store.runs import item_position
from pages.components import (
    asked_calls,
    generated_level_diff,
    judges_cef_text,
    judges_claims_text,
    judges_names,
    judges_rubric_text,
    judges_runs,
    run_costs,
)
from pages.components.judges_numbers import factor_of, level_said, score
from pages.components.messages import one_line, plain
from pages.components.parts import nothing, part, table

_WORST, _GIVEN, _UNDEFINED = "lowest score first", "as in the file", "without a score first"


def render(store: Store, run: Run) -> None:
    """Choose an item and one of its texts, and read what was said of it."""
    part(
        "Texts",
        "What the judge said of one text. Feedback, claims and questions are the model's own words: they tell where a "
        "score comes from, and can be wrong.",
        KINDS[run.kind].section,
    )
    output = judges_runs.output_of(store, run)
    if not output.texts:
        nothing("nothing is judged yet")
        return
    chosen = _choose(output)
    named = judges_names.document_name(output)
    _heading(chosen, named)
    scores(chosen, output, named)
    record(chosen, named)
    asked_calls.of_text(store, run, output, chosen)
    with st.expander("What this item cost"):
        _costs(store, run, chosen, named)


def _choose(output: JudgeOutput) -> JudgedText:
    names = [metric.name for metric in output.metrics]
    name = names[0]
    first = st.container()
    if len(names) > 1:
        second, first = st.columns(2)
        name = second.selectbox("Score", names, key="judges_text_metric")
    order = first.selectbox("Order", [_WORST, _GIVEN, _UNDEFINED], key="judges_text_order")
    items: dict[str, list[JudgedText]] = {}
    for text in _ordered(output.texts, name, order):
        items.setdefault(text.row.item_id, []).append(text)
    left, right = st.columns(2)
    item = left.selectbox("Item", list(items), format_func=lambda one: _item_said(one, items[one]))
    texts = items[item]
    factor = next(factor_of(metric) for metric in output.metrics if metric.name == name)
    at = right.selectbox(
        "Text", range(len(texts)), format_func=lambda at: _text_said(texts[at], name, factor)
    )
    return texts[min(at, len(texts) - 1)]


def _ordered(texts: Sequence[JudgedText], metric: str, order: str) -> list[JudgedText]:
    """By that score, or as they came; those without a score come last, unless they are wanted first."""
    if order == _GIVEN:
        return list(texts)
    undefined = 0 if order == _UNDEFINED else 2

    def place(text: JudgedText) -> tuple[int, float]:
        score = text.scores.get(metric)
        return (undefined, 0.0) if score is None else (1, score)

    return sorted(texts, key=place)


def _item_said(item: str, texts: Sequence[JudgedText]) -> str:
    short = one_line(texts[0].question or "", 60)
    return f"{item}: {short}" if short else item


def _text_said(text: JudgedText, metric: str, factor: float) -> str:
    return f"{text.row.system}{level_said(text.row)}: {score(text.scores.get(metric), factor)}"


def _heading(text: JudgedText, named: str) -> None:
    if text.question and text.question != text.document:
        generated_level_diff.plain_card("Source or question", text.question, text.row.language)
    left, right = st.columns(2)
    with left:
        if text.document is None:
            nothing(f"there is no {named}")
        else:
            generated_level_diff.plain_card(named.capitalize(), text.document, text.row.language)
    with right:
        generated_level_diff.plain_card(f"Text{level_said(text.row)}", text.text, text.row.language)


def scores(text: JudgedText, output: JudgeOutput, named: str) -> None:
    """The text's scores, or why there are none. named: as `record` has it."""
    factors = {metric.name: factor_of(metric) for metric in output.metrics}
    table(
        pd.DataFrame(
            {
                "Score": list(text.scores),
                "Value": [score(value, factors[name]) for name, value in text.scores.items()],
                "Note": [judges_names.of_document(text.reasons.get(name, ""), named) for name in text.scores],
            }
        )
    )
    repeats = output.settings.get("repeats")
    if isinstance(repeats, int) and repeats > 1:
        st.markdown(f":small[Scores are the mean of {repeats} repeats.]")


_RENDERERS: Mapping[type, Callable[[Any, str, str], None]] = {
    RubricRecord: lambda record, *_: judges_rubric_text.render(record),
    ClaimsRecord: lambda record, *_: judges_claims_text.render(record),
    CefRecord: judges_cef_text.render,
}
"""A record's class -> what shows it; any other is shown as its rows of details.csv."""


def record(text: JudgedText, named: str, slot: str = "text") -> None:
    """How the judge came to the text's scores.

    named: what the text was compared with, `reference` or `source`; slot: tells apart the places that show a record.
    """
    if text.record is None:
        nothing("the judge was not asked about this text")
    elif (shown := _RENDERERS.get(type(text.record))) is not None:
        shown(text.record, named, slot)
    else:
        details(text.record)


def details(record: Any) -> None:
    """A record as its judge has it in details.csv."""
    judges = (kind for kind in KINDS.values() if isinstance(kind, JudgeKind))
    kind = next(one for one in judges if one.Record is type(record))
    rows = pd.DataFrame(list(kind.details(record)))
    if rows.empty:
        nothing("the judge gave no details")
        return
    table(rows.dropna(axis="columns", how="all").fillna(""))


def _costs(store: Store, run: Run, text: JudgedText, named: str) -> None:
    position = item_position(store, run.run_id, text.row.item_id)
    costs = [] if position is None else step_costs(store, run.run_id, position=position)
    if not costs:
        st.markdown("No call was made.")
        return
    st.markdown(f"All texts of item {plain(text.row.item_id)} together; answers from the cache cost nothing.")
    run_costs.step_table(costs, named)
