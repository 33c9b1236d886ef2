"""The blind freeze: nothing that tells sources apart leaves a study before it is unblinded."""

from collections.abc import Callable
from typing import get_args

import pytest
from helpers.texts.factories import members_of, prefers, study_in, unblind, vote

from core.errors import NotAllowed
from core.schema.study import State
from core.store import Store, open_store
from core.study.analysis_set import check_released, released_record
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import move, restore_study
from core.study.raters import import_votes

WAYS = {
    "draft": "To end the study, open and close it, then unblind it with a reason",
    "open": "To end the study, close it, then unblind it with a reason",
    "closed": "To end the study, unblind it with a reason",
}


def refusal(step: Callable[[], object]) -> str:
    with pytest.raises(NotAllowed) as said:
        step()
    return str(said.value)


@pytest.mark.parametrize("state", get_args(State))
def test_shut_until_it_is_unblinded(store: Store, state: str) -> None:
    at_hand = study_in(store, state=state)
    before = at_hand.record
    if state == "unblinded":
        assert released_record(store, at_hand.study) == before
        check_released(at_hand.study)
        return
    said = refusal(lambda: released_record(store, at_hand.study))
    assert said == refusal(lambda: check_released(at_hand.study))
    assert said.startswith(f"Study 'study' is {state}: results and exports stay hidden until you unblind it")
    assert WAYS[state] in said
    assert "`python -m core study unblind study --reason TEXT`" in said
    assert "`python -m core study progress study`" in said
    assert at_hand.record == before, "asking changes nothing"


def test_the_refusal_says_nothing_about_sources(store: Store) -> None:
    at_hand = study_in(store)
    for token in at_hand.tokens.values():
        vote(store, token, prefers(0))
    said = refusal(lambda: released_record(store, at_hand.study))
    assert not {"ai", "human", "candidate", "comparator"} & set(said.replace("'", " ").lower().split())


def test_the_way_that_the_sentence_names(store: Store) -> None:
    at_hand = study_in(store)
    vote(store, at_hand.tokens["R1"], prefers(0))
    unblind(at_hand)
    record = released_record(store, at_hand.study)
    assert record == at_hand.record
    assert [entry.action for entry in record.log[-2:]] == ["closed", "unblinded"]
    assert record.log[-1].detail == "all raters are done"


def test_a_study_looked_up_earlier_opens_nothing(store: Store) -> None:
    """What counts is the state in the database, in either direction."""
    at_hand = study_in(store, state="closed")
    stale = at_hand.study
    with open_store(store.path) as owner:
        move(owner, stale, "open")
    assert "is open" in refusal(lambda: released_record(store, stale))
    unblind(at_hand)
    assert released_record(store, stale).study.state == "unblinded"


def test_unblinded_is_for_good(store: Store) -> None:
    at_hand = study_in(store, state="unblinded")
    for state in get_args(State):
        assert "This state is final" in refusal(lambda to=state: move(store, at_hand.study, to, "x"))


@pytest.mark.parametrize("state", ["draft", "open", "closed"])
def test_a_bundle_of_a_blind_study_is_blind(store: Store, state: str) -> None:
    """Such a bundle comes from a backup or from an older Assay; restoring it opens nothing."""
    at_hand = study_in(store, state=state)
    record = read_bundle(write_bundle(at_hand.record), "b.zip")
    assert f"is {state}: results and exports" in refusal(lambda: check_released(record.study))
    again = restore_study(store, record, name="again")
    assert "Study 'again'" in refusal(lambda: released_record(store, again))


def test_imported_votes_alone_leave_nobody_to_keep_blind(store: Store) -> None:
    at_hand = study_in(store, raters=(), state="draft")
    import_votes(store, at_hand.study, "old", {("q00", "A0"): "candidate"})
    record = released_record(store, at_hand.study)
    assert record.study.state == "unblinded"
    assert b"every vote was imported" in members_of(write_bundle(record))["log.jsonl"]


def test_of_two_studies_only_the_unblinded_one_opens(store: Store) -> None:
    one, two = study_in(store, state="unblinded"), study_in(store, name="other")
    assert released_record(store, one.study).study.name == "study"
    assert "'other' is open" in refusal(lambda: released_record(store, two.study))
