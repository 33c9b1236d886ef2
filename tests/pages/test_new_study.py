"""The page for a new study: from a table to a draft, with what its design will ask and show."""

import csv
import io
from collections.abc import Iterable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.schema.study import NO_LEVEL
from core.store import Store
from core.store.studies import find_study, list_studies

pytestmark = pytest.mark.usefixtures("cookies")


def page() -> None:
    from pages import studies

    studies.render()


def visit() -> AppTest:
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    return at


def table(systems: Iterable[str], n_questions: int = 3) -> bytes:
    buffer = io.StringIO()
    rows = [
        (f"q{n}", f"Question {n}?", system, f"{system} says {n}")
        for n in range(n_questions)
        for system in systems
    ]
    csv.writer(buffer).writerows([("id", "question", "system", "output"), *rows])
    return buffer.getvalue().encode()


def given(at: AppTest, data: bytes) -> AppTest:
    at.file_uploader[0].upload("answers.csv", data)
    return at.run()


def field(at: AppTest, label: str) -> Any:
    kinds = (at.radio, at.selectbox, at.number_input, at.text_input)
    return next(widget for kind in kinds for widget in kind if widget.label.startswith(label))


def button(at: AppTest, label: str) -> Any:
    return next(one for one in at.button if one.label == label)


def said(at: AppTest) -> str:
    return "\n".join(text.value for text in at.markdown)


def test_plain_pairs_become_a_draft_once_the_candidate_is_chosen(store: Store) -> None:
    at = given(visit(), table(["alpha", "beta"]))
    assert button(at, "Create the draft").disabled
    assert not [one for one in at.multiselect if one.label == "Levels"]
    field(at, "Candidate").set_value("beta")
    at.run()
    button(at, "Create the draft").click().run()
    assert not at.exception
    study = find_study(store, "answers")
    assert (study.asks, study.levels, study.state) == ("preference", (NO_LEVEL,), "draft")
    design = study.design
    assert (design.candidate, design.comparator, design.blinding_pairs) == ("beta", "alpha", 0)
    assert design.score == "net_preference"
    assert [tab.label for tab in at.tabs] == ["Raters", "Design", "Plan", "What raters read", "Log"]


def test_consequences_follow_the_design(store: Store) -> None:
    """3 pairs: 2 raters give 6 votes; one vote a pair gives 3."""
    at = given(visit(), table(["alpha", "beta"]))
    assert "6 votes in all" in said(at)
    assert "227 questions" in said(at)
    field(at, "Votes per pair").set_value(1)
    field(at, "Margin").set_value(0.2)
    at.run()
    assert "3 votes in all" in said(at)
    assert "58 questions" in said(at)


def test_two_of_several_systems_are_chosen(store: Store) -> None:
    at = given(visit(), table(["alpha", "beta", "gamma"]))
    assert not [one for one in at.button if one.label == "Create the draft"]
    field(at, "Candidate").set_value("gamma")
    at.run()
    field(at, "Comparator").set_value("alpha")
    at.run()
    button(at, "Create the draft").click().run()
    (study,) = list_studies(store)
    assert (study.design.candidate, study.design.comparator) == ("gamma", "alpha")


@pytest.mark.parametrize("asks", ["preference", "levels", "ratings"])
def test_each_kind_of_study_offers_a_template(store: Store, asks: str) -> None:
    at = visit()
    field(at, "What do you ask raters?").set_value(asks)
    at.run()
    assert [one.label for one in at.get("download_button")] == ["Download a template (CSV)"]
