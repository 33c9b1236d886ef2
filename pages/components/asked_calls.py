"""What a model was asked about a text, what it replied, and why a reply was not used: for the owner alone."""

from collections.abc import Collection

import streamlit as st

from core.runs.calls import THINKING, ItemCall, calls_of
from core.schema.judging import JudgedText, JudgeOutput
from core.schema.runs import RULES, Run
from core.store import Store
from core.store.runs import item_position
from pages.components import judges_names
from pages.components.messages import plain
from pages.components.parts import nothing

LABEL = "What the model was asked"
KEY = "asked_calls"
QUESTION = "Question to the model"


def of_text(store: Store, run: Run, output: JudgeOutput, text: JudgedText) -> None:
    """Every call that a judge made for one of its texts; nothing where rules judged. output: the run's."""
    position = item_position(store, run.run_id, text.row.item_id)
    if position is None or output.model == RULES:
        return
    number = [one for one in output.texts if one.row.item_id == text.row.item_id].index(text)
    of_item(store, run.run_id, position, number, judges_names.document_name(output))


def of_item(store: Store, run_id: int, position: int, text: int | None = None, named: str = "source") -> None:
    """A folded part with every call for an item, or for one of its texts. Nothing is read before it is opened.

    text: its number, as core.runs.calls has it; named: what a judge compares with, `reference` or `source`.
    """
    # One key for every text: who goes through texts finds the part as it was left.
    folded = st.expander(LABEL, key=KEY, on_change="rerun")
    if not folded.open:
        return
    with folded:
        calls = calls_of(store, run_id, position, None if text is None else [text])
        if not calls:
            nothing("no call was made")
            return
        for call in _question(calls, named, f"{KEY}_{run_id}_{position}_{text}"):
            _call(call, named)


def _question(calls: Collection[ItemCall], named: str, key: str) -> list[ItemCall]:
    """The calls of one question, which the reader chooses where there are several."""
    questions: dict[tuple[str, object], list[ItemCall]] = {}
    for at, call in enumerate(calls):
        questions.setdefault(
            (call.step, f"call {at}" if call.question is None else call.question), []
        ).append(call)
    order = list(questions)
    if len(order) == 1:
        return questions[order[0]]

    def label(number: int) -> str:
        found = questions[order[number]]
        step = judges_names.of_document(found[0].step, named)
        tries = "" if len(found) == 1 else f", {len(found)} calls"
        return f"{number + 1}. {step}{tries}: {found[-1].became}"

    chosen = st.selectbox(QUESTION, range(len(order)), format_func=label, key=key)
    return questions[order[chosen]]


def _call(call: ItemCall, named: str) -> None:
    title = judges_names.of_document(call.title, named)
    st.markdown(f"**{plain(title)}: {plain(call.became)}**  \n:small[{plain(call.cost)}]")
    for name, text in call.parts:
        if not text:
            st.markdown(f":small[{plain(name)}.]")
        elif name == THINKING:
            with st.expander(name):
                st.code(text, language=None, wrap_lines=True)
        else:
            st.markdown(f":small[{plain(name)}]")
            st.code(text, language=None, wrap_lines=True)
