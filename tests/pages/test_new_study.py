"""The page for a new study: from a table to a draft, with what its design will ask and show."""

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from helpers.pages import study_visit
from streamlit.testing.v1 import AppTest

from core.schema.study import NO_LEVEL
from core.store import Store
from core.store.answers import load_record
from core.store.studies import find_study, list_studies, now_utc, outputs_of, update_study
from core.tables.mapping import NOT_USED

pytestmark = pytest.mark.usefixtures("cookies")


def visit() -> AppTest:
    return study_visit.visit("new")


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
    kinds = (at.radio, at.selectbox, at.number_input, at.text_input, at.toggle)
    return next(widget for kind in kinds for widget in kind if widget.label.startswith(label))


def button(at: AppTest, label: str) -> Any:
    return next(one for one in at.button if one.label == label)


def said(at: AppTest) -> str:
    return "\n".join(text.value for text in at.markdown)


MARGIN = "Do you want to show that one system is not worse"


def test_plain_pairs_become_a_draft_in_which_both_systems_are_alike(store: Store) -> None:
    at = given(visit(), table(["beta", "alpha"]))
    assert not [one for one in at.multiselect if one.label == "Levels"]
    assert field(at, MARGIN).value is False
    labels = [one.label for one in (*at.radio, *at.number_input)]
    assert not [label for label in labels if label.startswith(("Candidate", "Margin", "Confidence"))]
    button(at, "Create the draft").click().run()
    assert not at.exception
    design = find_study(store, "answers").design
    assert (design.candidate, design.comparator, design.margin) == ("beta", "alpha", None)
    assert (design.blinding_pairs, design.early_looks) == (0, False)


def test_a_margin_asks_for_a_candidate_and_a_level(store: Store) -> None:
    at = given(visit(), table(["alpha", "beta"]))
    field(at, MARGIN).set_value(True)
    at.run()
    assert button(at, "Create the draft").disabled
    field(at, "Candidate").set_value("beta")
    level = field(at, "Confidence level")
    assert (level.value, level.placeholder) == (None, "0.9"), "what is used while it is empty"
    level.set_value(0.95)
    at.run()
    button(at, "Create the draft").click().run()
    assert not at.exception
    study = find_study(store, "answers")
    assert (study.asks, study.levels, study.state) == ("preference", (NO_LEVEL,), "draft")
    design = study.design
    assert (design.candidate, design.comparator, design.blinding_pairs) == ("beta", "alpha", 0)
    assert (design.margin, design.confidence_level) == (0.1, 0.95)
    assert design.score == "net_preference"
    assert at.query_params["tab"] == "raters", "the new study is open at what it needs first"
    assert button(at, "Open the study").disabled, "nobody could answer"
    at = study_visit.turn_to(at, "Design", study.study_id)
    assert [one.label for one in at.segmented_control if one.label == "Part"]
    assert at.segmented_control(key=f"study_part_{study.study_id}").options == [
        "Design",
        "Plan",
        "What raters read",
        "Log",
    ]


def test_consequences_follow_the_design(store: Store) -> None:
    """3 pairs: 2 raters give 6 votes; one vote a pair gives 3.

    By hand, normal distribution, one vote: 2.1232^2 x .3 / .01 = 135 and x .8 / .01 = 361; a margin of .2 takes a quarter.
    """
    at = given(visit(), table(["alpha", "beta"]))
    assert "6 votes in all" in said(at)
    field(at, MARGIN).set_value(True)
    at.run()
    assert "84 to 291 questions" in said(at)
    field(at, "Votes per pair").set_value(1)
    field(at, "Margin").set_value(0.2)
    at.run()
    assert "3 votes in all" in said(at)
    low, high = re.findall(r"takes (\d+) to (\d+) questions", said(at))[0]
    assert (int(low), int(high)) == (pytest.approx(135 / 4, rel=0.15), pytest.approx(361 / 4, rel=0.15))


def test_two_of_several_systems_are_chosen(store: Store) -> None:
    at = given(visit(), table(["alpha", "beta", "gamma"]))
    assert not [one for one in at.button if one.label == "Create the draft"]
    field(at, "One system").set_value("gamma")
    at.run()
    field(at, "The other system").set_value("alpha")
    at.run()
    button(at, "Create the draft").click().run()
    (study,) = list_studies(store)
    design = study.design
    assert (design.candidate, design.comparator, design.margin) == ("alpha", "gamma", None)


@pytest.mark.parametrize("asks", ["preference", "levels", "ratings"])
def test_each_kind_of_study_offers_a_template(store: Store, asks: str) -> None:
    at = visit()
    field(at, "What do you ask raters?").set_value(asks)
    at.run()
    assert [one.label for one in at.get("download_button")] == ["Download a template (CSV)"]


def arena() -> bytes:
    rows = [
        {"question": f"Question {n}?", "model_a": "x", "model_b": "y", "response_a": f"One {n} is.", "response_b": f"Two {n} is.",
         "winner": ("model_a", "tie")[n % 2]}
        for n in range(4)
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def upload(at: AppTest, name: str, data: bytes, number: int = 0) -> AppTest:
    at.file_uploader[number].upload(name, data)
    at.run()
    assert not at.exception
    return at


def roles(at: AppTest) -> dict[str, str]:
    """Column -> what it is read as, in the open selects."""
    meant = ("item_id", "question", "reference", "system", "text", "level", "language", NOT_USED)
    return {one.label.replace("\\", ""): one.value for one in at.selectbox if one.value in meant}


def test_what_was_understood_stands_open_and_can_be_changed(store: Store) -> None:
    at = upload(
        visit(),
        "a.csv",
        b"asked,one,two,extra\nWhy?,It is so.,It was so.,It may be.\nWho?,She did it.,He did it.,All did.\n",
    )
    for column, role in (("asked", "question"), ("one", "text"), ("two", "text"), ("extra", NOT_USED)):
        field(at, column).set_value(role)
    at.run()
    button(at, "Create the draft").click().run()
    assert not at.exception
    (study,) = list_studies(store)
    assert {one.text for one in outputs_of(store, study.study_id)} == {
        "It is so.",
        "It was so.",
        "She did it.",
        "He did it.",
    }


def test_votes_of_a_file_make_a_study_with_results(store: Store) -> None:
    at = upload(visit(), "arena.jsonl", arena())
    assert roles(at)["response_b"] == "text"
    (votes,) = [one for one in at.multiselect if one.label == "Votes in the file"]
    assert votes.options == ["winner"]
    votes.set_value(["winner"])
    at.run()
    button(at, "Create the draft").click().run()
    assert not at.exception
    (study,) = list_studies(store)
    assert (study.state, study.design.candidate) == ("unblinded", "x")
    record = load_record(store, study)
    assert [one.preference for one in record.answers] == ["candidate", "both_good"] * 2


def test_empty_answers_and_broken_rows_are_the_owners_choice(store: Store) -> None:
    rows = [
        ("Q1?", "x", "One is."),
        ("Q1?", "y", ""),
        ("Q2?", "x", "Two is."),
        ("Q2?", "y", "So it is."),
        ("Q3?", "x", "Three."),
    ]
    buffer = io.StringIO()
    csv.writer(buffer).writerows([("prompt", "model", "response"), *rows])
    at = upload(visit(), "a.csv", buffer.getvalue().encode())
    assert not [one for one in at.button if one.label == "Create the draft"]
    (broken,) = [
        one for one in at.checkbox if one.label.startswith("Leave out the questions with broken rows")
    ]
    broken.check()
    at.run()
    assert "2 questions with answers from x and y" in at.success[0].value
    field(at, "Empty answers").set_value("leave_out")
    at.run()
    assert "1 question with answers from x and y" in at.success[0].value


def test_the_other_system_may_stand_in_a_second_file(store: Store) -> None:
    one, two = (
        f"prompt,response\nWhy?,{text} it is.\nWho?,{text} it was.\n".encode() for text in ("So", "Thus")
    )
    at = upload(visit(), "ours.csv", one)
    at = upload(at, "theirs.csv", two, 1)
    button(at, "Create the draft").click().run()
    (study,) = list_studies(store)
    assert (study.design.candidate, study.design.comparator) == ("ours", "theirs")


def test_a_draft_may_still_declare_a_margin_and_a_voted_study_may_not(store: Store) -> None:
    at = given(visit(), table(["beta", "alpha"]))
    button(at, "Create the draft").click().run()
    at = study_visit.turn_to(at, "Design", find_study(store, "answers").study_id)
    field(at, MARGIN).set_value(True)
    at.run()
    button(at, "Save this design").click().run()
    assert find_study(store, "answers").design.margin is None, "no candidate is chosen"
    field(at, "Candidate").set_value("alpha")
    field(at, "Written by people").set_value("beta")
    button(at, "Save this design").click().run()
    assert not at.exception
    study = find_study(store, "answers")
    design = study.design
    assert (design.candidate, design.comparator, design.margin) == ("alpha", "beta", 0.1)
    assert design.person_system == "beta"
    field(at, MARGIN).set_value(False)
    at.run()
    button(at, "Save this design").click().run()
    design = find_study(store, "answers").design
    assert (design.candidate, design.comparator, design.margin) == ("beta", "alpha", None)
    assert design.person_system == "beta"
    update_study(store, study.study_id, first_vote_utc=now_utc())
    at.run()
    assert field(at, MARGIN).disabled
