"""The page Studies in every state: no sentence on it that cannot be true, and no change that would be refused."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
import regex
from helpers.pages import study_visit
from helpers.texts.factories import StudyInStore, dataset, new_name, study_in
from helpers.texts.rating_studies import rate, rating_study
from streamlit.testing.v1 import AppTest

from core.schema.study import State
from core.store import Store
from core.store.studies import set_state
from core.study.design import drafts_lost
from core.study.lifecycle import change_design, move
from pages.widgets import address

STATES: tuple[State, ...] = ("draft", "open", "closed", "unblinded")
KINDS = ("levels", "preference", "ratings")
RUNNING = {"draft", "open"}
TRUE_ONLY: dict[str, set[tuple[State, bool]]] = {
    r"stay hidden until": {
        (state, voted) for state in ("draft", "open", "closed") for voted in (True, False)
    },
    r"can change the design|Every change is logged": {(state, False) for state in RUNNING},
    r"[Aa]dd (raters|them)|New raters": {
        (state, v) for state in ("draft", "open", "closed") for v in (True, False)
    },
    r"raise the limit|Write guidelines": {(state, False) for state in RUNNING},
    r"Frozen since": {(state, True) for state in STATES},
    r"Open the study to|when you open the study\.": {("draft", True), ("draft", False)},
    r"when you open the study again": {("closed", True), ("closed", False)},
    r"dry run": {(state, voted) for state in RUNNING for voted in (True, False)},
    r"Raters can answer": {("open", True), ("open", False)},
    r"can no longer answer|unblind it for good": {("closed", True), ("closed", False)},
    r"has ended": {("unblinded", True), ("unblinded", False)},
    r"while the study runs": {(state, v) for state in ("draft", "open", "closed") for v in (True, False)},
}
"""Words -> the states, with votes or without, in which a sentence with them can be true."""


def made(store: Store, kind: str, *, voted: bool) -> StudyInStore:
    """A study whose two raters are too few, with a level that no shipped text explains."""
    if kind == "ratings":
        study: StudyInStore = rating_study(store, votes_per_pair=3, name=new_name())
        if voted:
            rate(study.desk("R1"), 1)  # type: ignore[attr-defined]
        return study
    levels = ("A0", "B1") if kind == "levels" else ("",)
    at_hand = study_in(
        store, dataset(levels=levels), votes_per_pair=3, max_questions=1, early_looks=True, name=new_name()
    )
    if voted:
        at_hand.desk("R1").save_choice(1, "left", seconds=2.0, diff_used="none")
    return at_hand


def shown(study_id: int) -> Iterator[AppTest]:
    """Every tab of a study, and every part of its design."""
    for tab in ("result", "raters", "design"):
        at = study_visit.visit(study_id, tab)
        yield at
        for part in at.segmented_control if tab == "design" else ():
            for name in part.options[1:]:
                yield study_visit.visit(study_id, tab, part=address.slug(name))


def sentences(at: AppTest) -> Iterator[str]:
    """Every text on the page: also labels, and help behind a question mark."""
    for kind in ("title", "header", "markdown", "text", "info", "warning", "error", "success", "caption"):
        yield from (str(one.value) for one in at.get(kind))
    for kind in (
        "button",
        "checkbox",
        "text_input",
        "text_area",
        "radio",
        "selectbox",
        "expander",
        "number_input",
    ):
        for one in at.get(kind):
            yield from (one.label, getattr(one, "help", None) or "")


@pytest.mark.usefixtures("cookies")
def test_no_sentence_that_cannot_be_true(store: Store) -> None:
    wrong: list[tuple[str, bool, State, str]] = []
    met: set[str] = set()
    for kind, voted in product(KINDS, (True, False)):
        at_hand = made(store, kind, voted=voted)
        for state in STATES:
            set_state(store, at_hand.study_id, state)
            for said in (one for at in shown(at_hand.study_id) for one in sentences(at)):
                found = {words for words in TRUE_ONLY if regex.search(words, said)}
                wrong += [
                    (kind, voted, state, said) for words in found if (state, voted) not in TRUE_ONLY[words]
                ]
                met |= found
    assert wrong == []
    assert met == set(TRUE_ONLY), "else the words would look for nothing"


@pytest.mark.usefixtures("cookies")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", ["closed", "unblinded"])
def test_what_would_be_refused_cannot_be_pressed(store: Store, kind: str, state: State) -> None:
    at_hand = made(store, kind, voted=False)
    set_state(store, at_hand.study_id, state)
    pressable = {one.label for at in shown(at_hand.study_id) for one in at.button if not one.disabled}
    assert not {label for label in pressable if label.startswith("Save")}
    open_fields = [
        one.label
        for at in shown(at_hand.study_id)
        for kind_of in (at.number_input, at.text_area)
        for one in kind_of
        if not one.disabled
    ]
    assert "Guidelines (Markdown). They must not name the systems." not in open_fields
    assert not [label for label in open_fields if "repeats" in label or "Raters per source" in label]


@pytest.mark.usefixtures("cookies")
@pytest.mark.parametrize("kind", KINDS)
def test_drafts_are_taken_off_only_after_a_tick(store: Store, kind: str) -> None:
    at_hand = made(store, kind, voted=False)
    if kind == "ratings":
        change_design(store, at_hand.study, replace(at_hand.study.design, votes_per_pair=1, max_questions=1))
    desk = at_hand.desk("R1")  # type: ignore[attr-defined]  # every kind of study has one
    desk.save_note(1, comment="See below.")
    before = at_hand.study.design
    seed = next(n for n in range(1000) if drafts_lost(store, at_hand.study, replace(before, seed=n)))
    at = study_visit.visit(at_hand.study_id, "design")
    for agreed in (False, True):
        next(one for one in at.text_input if one.label == "Seed").set_value(str(seed))
        if agreed:
            at.checkbox(key="design_drafts").check()
        next(one for one in at.button if one.label == "Save this design").click().run()
        assert not at.exception
        assert at_hand.study.design.seed == (seed if agreed else before.seed)
        assert len(at.error) == (not agreed)
    assert at_hand.record.log[-1].detail.endswith("lists: 1")


@pytest.mark.usefixtures("cookies")
def test_a_step_that_was_taken_elsewhere_is_said(store: Store) -> None:
    at_hand = study_in(store, state="closed", name=new_name())
    at = study_visit.visit(at_hand.study_id)
    move(store, at_hand.study, "unblinded", "elsewhere")
    at.button(key="state_unblinded").click().run()
    assert not at.exception
    assert len([one for one in at.warning if "meanwhile" in one.value]) == 1
    at.run()
    assert not [one for one in at.warning if "meanwhile" in one.value]
