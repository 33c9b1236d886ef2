"""What the rubric judge said of one text: every verdict with its feedback."""

import streamlit as st

from core.judges.rubric import KIND, RubricRecord, RubricTrial
from pages.components import generated_level_diff
from pages.components.messages import plain
from pages.components.parts import nothing, part

_ORDERS = {"reference-first": "reference read first", "response-first": "response read first"}


def render(record: RubricRecord) -> None:
    """A card a trial."""
    part("Verdicts", "The score is the mean of the verdicts that came.", KIND.section)
    if not record.trials:
        nothing("the judge was not asked")
    for trial in record.trials:
        verdict = "no verdict" if trial.verdict is None else f"verdict {trial.verdict}"
        generated_level_diff.plain_card(
            f"{_which(record, trial)}{verdict}", trial.feedback or "(no feedback)", "und"
        )
        if trial.reason:
            st.warning(plain(trial.reason))
            if trial.detail:
                st.text(trial.detail)


def _which(record: RubricRecord, trial: RubricTrial) -> str:
    if len(record.trials) == 1:
        return ""
    return f"{_ORDERS[trial.order].capitalize()}, repeat {trial.repeat + 1}: "
