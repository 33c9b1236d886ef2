"""The part Early look of a study's tab Design: only where the design declares looks, one bound a press, and in the log."""

import pytest
from helpers.pages import study_visit
from helpers.texts.factories import prefers, study_in, vote
from streamlit.testing.v1 import AppTest

from core.store import Store
from core.store.studies import read_log
from core.study.analysis_set import LOOKED

pytestmark = pytest.mark.usefixtures("cookies")


def visit(part: str = "") -> AppTest:
    return study_visit.visit(1, "design", **({"part": part} if part else {}))


def parts_of(at: AppTest) -> list[str]:
    return list(at.segmented_control(key="study_part_1").options)


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def test_no_tab_without_the_declaration(store: Store) -> None:
    at_hand = study_in(store, state="draft")
    at = visit()
    assert "Early look" not in parts_of(at)
    (box,) = [one for one in at.checkbox if one.label == "Allow early looks"]
    assert not box.value
    box.check()
    next(one for one in at.button if one.label == "Save this design").click().run()
    assert at_hand.study.design.early_looks
    at = visit("early-look")
    assert "Early look" in parts_of(at)
    assert "Look now" not in labels(at), "nobody has voted in a draft"


def test_a_look_happens_only_when_pressed_and_is_logged(store: Store) -> None:
    at_hand = study_in(store, early_looks=True)
    for token in at_hand.tokens.values():
        vote(store, token, prefers(0))
    at = visit()
    (box,) = [one for one in at.checkbox if one.label == "Allow early looks"]
    assert box.disabled, "frozen at the first vote"
    at = visit("early-look")
    assert not [one for one in read_log(store, at_hand.study_id) if one.action == LOOKED]
    next(one for one in at.button if one.label == "Look now").click().run()
    assert not at.exception
    assert [one.detail[:8] for one in read_log(store, at_hand.study_id) if one.action == LOOKED] == [
        "by page:"
    ]
    assert any("4 of 4" in info.value for info in at.markdown)
