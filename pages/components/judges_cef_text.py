"""The questions of one text's cross-examination: mismatches first, then all with both answers."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.judges.alignment import mismatches_of
from core.judges.cross_examination.record import CefRecord, CrossQuestion, Examination
from pages.components import generated_level_diff
from pages.components.judges_names import of_document
from pages.components.messages import plain
from pages.components.parts import nothing, part, table


def render(record: CefRecord, named: str, slot: str) -> None:
    """One examination, of as many as there are repeats; texts are shown by whoever asks."""
    if record.back_translation is not None:
        generated_level_diff.plain_card(
            "Translated back: this was examined in the text's place", record.back_translation, "und"
        )
    if not record.examinations:
        nothing("the text was not examined")
        return
    at = 0
    if len(record.examinations) > 1:
        at = st.segmented_control(
            "Repeat",
            range(len(record.examinations)),
            default=0,
            format_func=lambda number: str(number + 1),
            required=True,
            key=f"judges_cef_repeat_{slot}",
        )
    examination = record.examinations[min(at, len(record.examinations) - 1)]
    for step, reason in examination.reasons:
        st.warning(plain(of_document(f"{step}: {reason}", named)))
    _mismatches(examination, named)
    _side(
        f"Made from the {named}, answered from the text",
        "Answered IDK: the text leaves it out (coverage). Answered otherwise than expected: it contradicts (conformity).",
        examination.from_source,
    )
    _side(
        f"Made from the text, answered from the {named}",
        "Answered otherwise than expected: the text says what is not there, or contradicts it (consistency).",
        examination.from_text,
    )


def _mismatches(examination: Examination, named: str) -> None:
    part(
        "Mismatches",
        "Questions that the other text does not answer as the question's own text does.",
        "cross-examination",
    )
    found = mismatches_of(examination)
    if not found:
        nothing("no question is answered otherwise than expected")
        return
    table(
        pd.DataFrame(
            {
                "Question": [one.question for one in found],
                "Made from the": [named if one.side == "source" else "text" for one in found],
                "Expected": [one.expected for one in found],
                "Answer": [one.answer for one in found],
            }
        )
    )


def _side(title: str, sentence: str, questions: Sequence[CrossQuestion] | None) -> None:
    part(title, sentence, "cross-examination")
    if not questions:
        nothing("no question could be made" if questions is None else "there is no question")
        return
    unparsed = sum(one.answer is None for one in questions)
    if unparsed:
        count = "1 answer was" if unparsed == 1 else f"{unparsed} answers were"
        st.markdown(f"{count} none of YES, NO and IDK: left out of the scores.")
    columns = {
        "Question": [one.text for one in questions],
        "Expected": [one.expected for one in questions],
        "Answer": [one.answer or one.reason or "none" for one in questions],
    }
    if unparsed:
        columns["It said"] = [one.said for one in questions]
    if any(one.again or one.again_reason for one in questions):
        columns["Asked again"] = [one.again or one.again_reason or "not asked" for one in questions]
    table(pd.DataFrame(columns))
