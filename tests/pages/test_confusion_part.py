"""The part of the results page on raters' errors by Dawid and Skene's model."""

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.usefixtures("cookies")


def page() -> None:
    import streamlit as st
    from helpers.texts.rater_panel import panel

    from core.results.study.results import study_results
    from pages.results import parts

    parts.confusion(study_results(panel(st.session_state["accuracy"]), n_resamples=100))


def visit(*accuracy: float) -> AppTest:
    at = AppTest.from_function(page, default_timeout=30)
    at.session_state["accuracy"] = accuracy
    at.run()
    assert not at.exception
    return at


def test_raters_matrices_and_the_verdict_beside_the_declared_one() -> None:
    at = visit(0.9, 0.8, 0.85, 0.25)
    accuracy, matrices, verdicts = (table.value for table in at.table)
    assert list(accuracy["Rater"]) == ["r0", "r1", "r2", "r3"]
    assert list(accuracy["Below the others"]) == ["no", "no", "no", "yes"]
    assert len(matrices) == 16
    assert [said.replace("\\", "") for said in verdicts["Scores"]] == [
        "composite of the votes",
        "Dawid-Skene (not declared)",
    ]


def test_too_few_raters_are_a_reason_and_no_table() -> None:
    at = visit(0.9, 0.8)
    assert not at.table
    assert any("needs 3 raters" in one.value for one in at.markdown)
