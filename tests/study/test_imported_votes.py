"""Votes collected elsewhere: a study of nothing else is unblinded from its first import; one with raters is not."""

import pytest
from helpers.texts.factories import always, counts_of, study_in, vote

from core.errors import InputError, NotAllowed
from core.store import Store
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import exclude_rater, move, restore_study
from core.study.raters import add_raters, import_votes, preview_link, revoke_link

VOTES = {("q00", "A0"): "candidate", ("q01", "A1"): "both_bad"}
REASON = "every vote was imported, so nobody has to stay blind"


@pytest.mark.parametrize("state", ["draft", "open", "closed"])
def test_the_first_import_unblinds_where_nobody_rates_by_link(store: Store, state: str) -> None:
    at_hand = study_in(store, raters=(), state=state)
    logged = len(at_hand.record.log)
    import_votes(store, at_hand.study, "old", VOTES)
    assert at_hand.study.state == "unblinded"
    assert [(e.action, e.rater_id, e.detail) for e in at_hand.record.log[logged:]] == [
        ("votes imported", "old", "2 preferences, side and time unknown"),
        ("unblinded", None, REASON),
    ]


def test_more_imported_votes_follow_and_unblind_once(store: Store) -> None:
    at_hand = study_in(store, raters=())
    for rater in ("one", "two", "three"):
        import_votes(store, at_hand.study, rater, VOTES)
    exclude_rater(store, at_hand.study, "two", "the same person as one")
    import_votes(store, at_hand.study, "four", VOTES)
    actions = [entry.action for entry in at_hand.record.log]
    assert (actions.count("unblinded"), actions.count("votes imported")) == (1, 4)
    assert len(at_hand.record.answers) == 8


def test_raters_by_link_are_refused_from_then_on(store: Store) -> None:
    """Whoever has seen the votes by source could tell them."""
    at_hand = study_in(store, raters=())
    import_votes(store, at_hand.study, "old", VOTES)
    before = counts_of(store)
    with pytest.raises(NotAllowed, match="unblinded, so no raters"):
        add_raters(store, at_hand.study, ["R1"])
    assert counts_of(store) == before
    preview = preview_link(store, at_hand.study)
    assert "is closed" in str(at_hand.desk(preview.rater_id).closed_reason), "a preview may look, and no more"
    import_votes(store, at_hand.study, "later", VOTES)


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("state", ["draft", "open"])
def test_a_study_with_a_rater_by_link_stays_blind(store: Store, state: str, answered: bool) -> None:
    at_hand = study_in(store, raters=("R1",), state=state)
    if answered and state == "open":
        vote(store, at_hand.tokens["R1"], always("left"))
    import_votes(store, at_hand.study, "old", VOTES)
    assert at_hand.study.state == state
    assert at_hand.record.log[-1].action == "votes imported"
    assert at_hand.study.first_vote_utc is not None


@pytest.mark.parametrize("answered", [True, False])
def test_a_revoked_link_counts_where_it_was_used(store: Store, answered: bool) -> None:
    """A link that nobody used and that opens nothing keeps no study blind; answers given by one do."""
    at_hand = study_in(store, raters=("R1",))
    desk = at_hand.desk("R1")
    desk.skip(2)
    if answered:
        desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    revoke_link(store, at_hand.study, "R1")
    preview_link(store, at_hand.study)
    import_votes(store, at_hand.study, "old", VOTES)
    assert at_hand.study.state == ("open" if answered else "unblinded")


def test_an_unblinded_study_of_raters_takes_no_votes(store: Store) -> None:
    at_hand = study_in(store, raters=("R1",))
    import_votes(store, at_hand.study, "old", VOTES)
    move(store, at_hand.study, "closed")
    import_votes(store, at_hand.study, "second", VOTES)
    move(store, at_hand.study, "unblinded", "done")
    before = at_hand.record
    with pytest.raises(NotAllowed, match="votes can be added"):
        import_votes(store, at_hand.study, "late", VOTES)
    assert at_hand.record == before


def test_a_refused_import_unblinds_nothing(store: Store) -> None:
    at_hand = study_in(store, raters=())
    before = at_hand.record
    for rater, votes in (("", VOTES), ("old", {})):
        with pytest.raises(InputError):
            import_votes(store, at_hand.study, rater, votes)
    assert at_hand.record == before


def test_a_restored_study_of_imported_votes_takes_more(store: Store) -> None:
    at_hand = study_in(store, raters=())
    import_votes(store, at_hand.study, "old", VOTES)
    again = restore_study(store, read_bundle(write_bundle(at_hand.record), "b.zip"), name="again")
    assert again.state == "unblinded"
    assert import_votes(store, again, "more", VOTES) == 2
