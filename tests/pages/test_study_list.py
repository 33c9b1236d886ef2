"""The list of studies and the head of one: progress, verdict and agreement of the results, order, and no name while blind."""

import pytest
from helpers.pages import study_visit
from helpers.pages.study_visit import texts_of
from helpers.texts.factories import always, dataset, prefers, study_in, unblind, vote
from helpers.texts.rating_studies import rating_study
from streamlit.testing.v1 import AppTest

from core.results.study.in_short import short_summary
from core.results.study.results import study_results, verdict_of
from core.store import Store
from core.store.studies import read_log
from core.study.raters import import_votes
from pages.studies import listing

pytestmark = pytest.mark.usefixtures("cookies")
ONE, TWO = "MARKEROFONE", "MARKEROFTWO"


def names(at: AppTest) -> list[str]:
    """The links of the list, in its order."""
    return [one.proto.label for one in at.get("page_link")]


def test_without_a_study_there_is_a_sentence_and_the_button(store: Store) -> None:
    at = study_visit.visit("")
    assert names(at) == []
    assert [one.label for one in at.button] == ["New study"]
    assert at.button[0].proto.type == "primary"
    at.button(key="studies_new").click().run()
    assert at.query_params["study"] == "new"
    assert [one.value for one in at.title] == ["New study"]


def test_running_studies_come_first_and_a_row_is_a_link(store: Store) -> None:
    study_in(store, dataset(2), name="drafted", raters=(), state="draft")
    for name in ("ended first", "ended last"):
        unblind(study_in(store, dataset(2), name=name))
    study_in(store, dataset(2), name="shut", state="closed")
    running = rating_study(store, name="running")
    at = study_visit.visit("")
    assert names(at) == ["running", "shut", "ended last", "ended first", "drafted"]
    links = {one.proto.label: one.proto.query_string for one in at.get("page_link")}
    assert links["running"] == f"study={running.study_id}"


def test_a_row_says_what_the_results_say(store: Store) -> None:
    at_hand = study_in(store, dataset(20), name="ended")
    for at_place, token in enumerate(at_hand.tokens.values()):
        vote(store, token, prefers(at_place))
    unblind(at_hand)
    results = study_results(at_hand.record)
    short = short_summary(results)
    assert short.verdict == verdict_of(results)
    assert (short.coefficient, short.agreement) == ("Cohen's kappa", results.overall.cohen_kappa.estimate)
    listed = texts_of(study_visit.visit(""))
    assert short.verdict in listed
    assert short.agreement_said in listed


def test_votes_that_were_never_looked_at_are_not_looked_at_by_the_list(store: Store) -> None:
    """The first look fixes how many votes a pair needs, and marks what is imported later."""
    at_hand = study_in(store, dataset(2), name="imported", raters=())
    keys = {(output.item_id, output.level) for output in at_hand.record.outputs}
    import_votes(store, at_hand.study, "elsewhere", dict.fromkeys(keys, "candidate"))
    assert at_hand.study.state == "unblinded", "as nobody votes by link"
    before = read_log(store, at_hand.study_id)
    study_visit.visit("")
    assert read_log(store, at_hand.study_id) == before
    study_visit.visit(at_hand.study_id)
    assert len(read_log(store, at_hand.study_id)) == len(before) + 1


def test_a_list_computes_what_fits_and_comes_back_for_the_rest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_AT_ONCE", 0.0)
    at_hand = study_in(store, dataset(2), name="ended")
    vote(store, at_hand.tokens["R1"], prefers(0))
    unblind(at_hand)
    assert "Computing" in texts_of(study_visit.visit(""))
    monkeypatch.undo()
    assert "Computing" not in texts_of(study_visit.visit(""))


def test_list_and_head_name_no_system_before_unblinding(store: Store) -> None:
    at_hand = study_in(store, dataset(3, sources=(ONE, TWO)), name="blind", raters=("ann",), repeat_share=0)
    vote(store, at_hand.tokens["ann"], always("left"))
    listed, head = study_visit.visit(""), study_visit.visit(at_hand.study_id, "raters")
    assert "3 questions, 15 pairs, 1 rater" in texts_of(head)
    assert not [one for one in (ONE, TWO) for at in (listed, head) if one in texts_of(at)]
    unblind(at_hand)
    opened = texts_of(study_visit.visit(at_hand.study_id, "raters"))
    assert f"{ONE} and {TWO}, 3 questions" in opened
