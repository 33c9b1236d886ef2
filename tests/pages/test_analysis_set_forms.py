"""What the verdict counts, on the page Studies: declared when a study is made, changed while it is a draft, then frozen."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.pages import study_visit
from helpers.texts.factories import always, dataset, paper_json, study_in, vote
from streamlit.testing.v1 import AppTest

from core.schema.study import Design
from core.store import Store
from core.store.studies import find_study
from core.study.analysis_set import analysis_set_problems, describe_analysis_set, margin_note
from core.study.lifecycle import move

pytestmark = pytest.mark.usefixtures("cookies")

FIELDS = (
    "Levels",
    "Votes needed per pair",
    "Score of a pair",
    "Pairs that a rater flags as invalid",
)


def visit(tab: str = "design") -> AppTest:
    return study_visit.visit(1, tab)


def field(at: AppTest, label: str) -> Any:
    kinds = (at.multiselect, at.number_input, at.selectbox, at.text_input)
    return next(widget for kind in kinds for widget in kind if widget.label == label)


def button(at: AppTest, label: str) -> Any:
    return next(one for one in at.button if one.label == label)


def choose(at: AppTest, levels: list[str], votes: int) -> None:
    field(at, FIELDS[0]).set_value(levels)
    field(at, FIELDS[1]).set_value(votes)
    field(at, FIELDS[2]).set_value("net_preference")
    field(at, FIELDS[3]).set_value("leave_out")


def declared(design: Design) -> tuple[object, ...]:
    return design.main_levels, design.votes_needed, design.score, design.flagged


def test_a_new_study_is_made_with_what_the_form_declares(store: Store) -> None:
    at = study_visit.visit("new")
    at.file_uploader[0].upload("answers.json", paper_json(dataset(2)))
    at.run()
    assert field(at, FIELDS[0]).value == ["A1", "A2", "A3", "A4"]
    assert any(margin_note(0.1) in text.value for text in at.markdown)
    choose(at, ["A4", "A2"], 3)
    button(at, "Create the draft").click().run()
    assert not at.exception
    design = find_study(store, "answers").design
    assert declared(design) == (("A2", "A4"), 3, "net_preference", "leave_out")
    assert design.declared


def test_the_defaults_stay_defaults(store: Store) -> None:
    at = study_visit.visit("new")
    at.file_uploader[0].upload("answers.json", paper_json(dataset(2)))
    button(at.run(), "Create the draft").click().run()
    assert declared(find_study(store, "answers").design) == (None, None, "composite", "keep")


def test_a_draft_is_changed_and_the_first_vote_freezes_it(store: Store) -> None:
    study = study_in(store, dataset(2), state="draft", repeat_share=0.0)
    at = visit()
    assert not any(field(at, label).disabled for label in FIELDS)
    choose(at, ["A3"], 1)
    button(at, "Save this design").click().run()
    wanted = (("A3",), 1, "net_preference", "leave_out")
    assert declared(study.study.design) == wanted
    move(store, study.study, "open")
    vote(store, study.tokens["R1"], always("left"))
    at = visit()
    assert all(field(at, label).disabled for label in FIELDS)
    assert [field(at, label).value for label in FIELDS] == [["A3"], 1, "net_preference", "leave_out"]
    assert declared(study.study.design) == wanted


def test_no_level_is_a_mistake_that_is_named(store: Store) -> None:
    study = study_in(store, dataset(2), state="draft")
    at = visit()
    field(at, FIELDS[0]).set_value([])
    button(at, "Save this design").click().run()
    (problem,) = analysis_set_problems(replace(study.study.design, main_levels=()), study.study.levels)
    assert any(problem in code.value for code in at.code)
    assert study.study.design.main_levels is None


def test_unblinding_shows_what_was_declared(store: Store) -> None:
    study = study_in(store, dataset(2), main_levels=("A2",), votes_needed=1)
    move(store, study.study, "closed")
    declared_line = describe_analysis_set(study.study.design, study.study.levels)[1:]
    assert any(declared_line in text.value.replace("\\", "") for text in visit("").markdown)
