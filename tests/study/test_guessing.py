"""Which of the two did the person write? Asked last, about pairs that the seed picks, and answered once."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from helpers.texts.factories import StudyAtHand, always, dataset, guess_all, prefers, study_in, vote

from core.errors import InputError, NotAllowed
from core.schema.study import Answer, Assignment
from core.store import Store, open_store
from core.study.blinding import LONGEST_COMMENT, GuessDesk, RaterDesk, pairs_to_guess
from core.study.lifecycle import change_design, move, withdraw_rater
from core.study.raters import preview_link, revoke_link

pytestmark = pytest.mark.usefixtures("each_pair_task")


def locked(at_hand: StudyAtHand, rater: str = "R1") -> RaterDesk:
    """A rater who has answered everything and locked it."""
    desk = vote(at_hand.store, at_hand.tokens[rater], prefers(0))
    desk.finish()
    return desk


def by_hand(at_hand: StudyAtHand, rater: str) -> list[Assignment]:
    """The rater's pairs of the main analysis by their draw for `guess`: docs/design.md, written out once more."""

    def drawn(a: Assignment) -> str:
        message = json.dumps(
            [at_hand.study.design.seed, rater, a.item_id, a.level, "guess"], separators=(",", ":")
        )
        return hashlib.sha256(message.encode()).hexdigest()  # of one length: sorted as the numbers are

    levels = at_hand.study.levels[1:] or at_hand.study.levels
    own = [a for a in at_hand.record.assignments if a.rater_id == rater and not a.repeat]
    return sorted((a for a in own if a.level in levels), key=drawn)


def shown(again: GuessDesk) -> list[tuple[str, str, str, str]]:
    pairs = [again.pair(number) for number in range(1, again.total + 1)]
    return [(pair.question, pair.level, pair.left, pair.right) for pair in pairs]


def expected(at_hand: StudyAtHand, pairs: list[Assignment]) -> list[tuple[str, str, str, str]]:
    texts = {(o.item_id, o.level, o.source): o.text for o in at_hand.record.outputs}
    return [
        (
            f"Question {a.item_id}?",
            a.level,
            texts[a.item_id, a.level, a.left],
            texts[a.item_id, a.level, a.right],
        )
        for a in pairs
    ]


def test_nothing_is_asked_before_the_lock(store: Store) -> None:
    at_hand = study_in(store)
    desk = vote(store, at_hand.tokens["R1"], always("left"))
    again = desk.guessing()
    assert (desk.finished, again.total, again.next_open()) == (False, 0, None)
    for step in (lambda: again.pair(1), lambda: again.save(1, "left", seconds=1.0)):
        with pytest.raises(NotAllowed, match="There is no pair 1 to guess about"):
            step()
    desk.finish()
    assert (desk.finished, desk.guessing().total) == (True, 10)
    assert at_hand.desk("R1").guessing().next_open() == 1, "and in another visit"
    assert at_hand.desk("R2").guessing().total == 0, "of one rater only"


def test_the_lock_waits_for_the_last_answer_and_holds(store: Store) -> None:
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    with pytest.raises(NotAllowed, match="Some pairs are still open"):
        desk.finish()
    assert not at_hand.desk("R1").finished
    other_tab = at_hand.desk("R1")
    vote(store, at_hand.tokens["R1"], always("left")).finish()
    at = at_hand.record.raters[0].finished_utc
    before = at_hand.record
    for tab in (at_hand.desk("R1"), other_tab):
        for save in (
            lambda tab=tab: tab.save_choice(1, "right", seconds=1.0, diff_used="none"),
            lambda tab=tab: tab.save_note(1, comment="later", invalid=True),
            lambda tab=tab: tab.skip(2) or tab.save_note(2, comment="later"),
        ):
            with pytest.raises(NotAllowed, match="Your answers are locked and can no longer change"):
                save()
    other_tab.finish()
    at_hand.desk("R1").finish()
    assert at_hand.record == before, "nothing changed, and locking twice is locking once"
    assert at is not None


@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
@pytest.mark.parametrize("wanted", [1, 10, 100])
def test_the_pairs_with_the_smallest_draws_in_that_order(store: Store, seed: int, wanted: int) -> None:
    at_hand = study_in(store, dataset(6), seed=seed, blinding_pairs=wanted, repeat_share=0.3)
    again = locked(at_hand).guessing()
    picked = by_hand(at_hand, "R1")[:wanted]
    assert again.total == len(picked) == min(wanted, 24 if at_hand.study.levels[1:] else 30), (
        "hidden repeats are never among them"
    )
    assert shown(again) == expected(at_hand, picked), "sides as the rater saw them"


def test_raters_are_shown_other_pairs(store: Store) -> None:
    at_hand = study_in(store, dataset(6))
    one, two = (shown(locked(at_hand, rater).guessing()) for rater in ("R1", "R2"))
    assert {pair[:2] for pair in one} != {pair[:2] for pair in two}


def test_pairs_reported_as_invalid_are_left_out(store: Store) -> None:
    at_hand = study_in(store, dataset(4), blinding_pairs=3)
    broken, *rest = by_hand(at_hand, "R1")[:4]
    desk = vote(store, at_hand.tokens["R1"], always("both_good"))
    desk.save_note(broken.position, invalid=True)
    desk.finish()
    assert shown(desk.guessing()) == expected(at_hand, rest), "the next in order takes its place"


def test_open_pairs_are_left_out(store: Store) -> None:
    """No desk can lock these; the rule holds by itself."""
    pairs = [Assignment("R1", n, f"q{n}", "A0", "ai", "human") for n in range(1, 4)]
    said = Answer("R1", "q1", "A0", choice="left"), Answer("R1", "q2", "A0", comment="hm")
    study = replace(study_in(store).study, levels=("A0",))
    picked = pairs_to_guess(study, pairs, {answer.key: answer for answer in said})
    assert [a.item_id for a in picked] == ["q1"]


def test_the_bases_of_marked_differences_are_those_of_the_rating(store: Store) -> None:
    at_hand = study_in(store)
    desk = locked(at_hand)
    again = desk.guessing()
    for number, a in enumerate(by_hand(at_hand, "R1")[:10], start=1):
        rated, seen = desk.pair(a.position), again.pair(number)
        assert seen == replace(rated, number=number, choice=None)


def test_who_began_with_pairs_of_all_levels_goes_on_with_them(store: Store) -> None:
    """Guesses given before pairs were drawn from the main analysis: nobody's list changes under them."""
    at_hand = study_in(store, dataset(6), blinding_pairs=10)
    study, answers = at_hand.study, {}
    desk = locked(at_hand)
    answers = {given.key: given for given in at_hand.record.answers if given.rater_id == "R1"}
    listed = [a for a in at_hand.record.assignments if a.rater_id == "R1"]
    everything = replace(study, design=replace(study.design, main_levels=study.levels))
    before, now = (pairs_to_guess(one, listed, answers) for one in (everything, study))
    outside = [a for a in before if a not in now]
    assert bool(outside) == (len(study.levels) > 1)
    assert pairs_to_guess(study, listed, answers, {a.key for a in now[:3]}) == now
    for a in outside:
        assert pairs_to_guess(study, listed, answers, {now[0].key, a.key}) == before
    assert shown(desk.guessing()) == expected(at_hand, now)


def test_no_guesses_asked_for(store: Store) -> None:
    at_hand = study_in(store, blinding_pairs=0)
    assert (locked(at_hand).guessing().total, locked(at_hand, "R2").guessing().next_open()) == (0, None)


@pytest.mark.parametrize("wanted", [-1, 101])
def test_numbers_of_guesses_that_cannot_be(store: Store, wanted: int) -> None:
    with pytest.raises(InputError, match=f"Pairs to guess at the end: {wanted} is not between 0 and 100"):
        study_in(store, blinding_pairs=wanted)
    with pytest.raises(InputError, match="person: 'robot' is neither candidate nor comparator"):
        study_in(store, person="robot")


def test_a_guess_given_once_stands(store: Store) -> None:
    at_hand = study_in(store)
    one, other_tab = locked(at_hand).guessing(), at_hand.desk("R1").guessing()
    one.save(1, "left", comment="long words\0", seconds=3.14159)
    assert (one.next_open(), other_tab.next_open(), at_hand.desk("R1").guessing().next_open()) == (2, 1, 2)
    other_tab.save(1, "right", comment="no, the other", seconds=1.0)
    one.save(1, "unsure", seconds=9.0)
    assert other_tab.next_open() == 2, "and goes on"
    (guess,) = at_hand.record.guesses
    first = by_hand(at_hand, "R1")[0]
    assert (guess.rater_id, guess.item_id, guess.level) == ("R1", first.item_id, first.level)
    assert (guess.guess, guess.comment, guess.seconds) == ("left", "long words\ufffd", 3.14)
    assert guess.answered_utc.endswith("Z")
    assert guess.app_version


def test_guesses_go_on_after_a_restart(store: Store) -> None:
    at_hand = study_in(store)
    again = locked(at_hand).guessing()
    for number in (1, 2, 3):
        again.save(number, "unsure", seconds=None)
    before = shown(again)
    with open_store(store.path) as restarted:
        later = StudyAtHand(restarted, at_hand.study_id).desk("R1").guessing()
        assert (later.next_open(), shown(later)) == (4, before)
        while (number := later.next_open()) is not None:
            later.save(number, "right", seconds=1.0)
    assert [guess.guess for guess in at_hand.record.guesses] == ["unsure"] * 3 + ["right"] * 7


def test_a_comment_has_an_end(store: Store) -> None:
    at_hand = study_in(store)
    locked(at_hand).guessing().save(1, "left", comment="x" * (LONGEST_COMMENT + 1), seconds=1.0)
    assert len(at_hand.record.guesses[0].comment) == LONGEST_COMMENT


@pytest.mark.parametrize("number", [0, -1, 11])
def test_numbers_that_are_not_there(store: Store, number: int) -> None:
    at_hand = study_in(store)
    again = locked(at_hand).guessing()
    with pytest.raises(NotAllowed, match=f"There is no pair {number} to guess about"):
        again.save(number, "left", seconds=1.0)
    assert at_hand.record.guesses == ()


@pytest.mark.parametrize("opened", ["before", "after"])
@pytest.mark.parametrize("state", ["closed", "unblinded"])
def test_a_closed_study_takes_no_guess(store: Store, state: str, opened: str) -> None:
    """Also where it closed while the pair was on the screen: only a look inside the transaction can know."""
    at_hand = study_in(store)
    again = locked(at_hand).guessing()
    again.save(1, "left", seconds=1.0)
    with open_store(store.path) as owner:
        move(owner, at_hand.study, "closed")
        if state == "unblinded":
            move(owner, at_hand.study, "unblinded", "done")
    if opened == "after":
        again = at_hand.desk("R1").guessing()
    with pytest.raises(NotAllowed, match=r"This study is closed"):
        again.save(2, "left", seconds=1.0)
    assert len(at_hand.record.guesses) == 1
    assert again.next_open() == 2


@pytest.mark.parametrize("gone", ["revoked", "withdrawn"])
def test_a_link_withdrawn_while_a_pair_is_on_the_screen(store: Store, gone: str) -> None:
    """A guess kept under a pseudonym that was just deleted would bring it back."""
    at_hand = study_in(store)
    again = locked(at_hand).guessing()
    with open_store(store.path) as owner:
        if gone == "revoked":
            revoke_link(owner, at_hand.study, "R1")
        else:
            withdraw_rater(owner, at_hand.study, "R1", keep_votes=True)
    with pytest.raises(NotAllowed, match="link no longer works"):
        again.save(1, "left", seconds=1.0)
    assert at_hand.record.guesses == ()


def test_a_preview_guesses_too_and_freezes_nothing(store: Store) -> None:
    at_hand = study_in(store, state="draft")
    guess_all(vote(store, preview_link(store, at_hand.study).token, always("left")))
    assert {guess.rater_id for guess in at_hand.record.guesses} == {"preview-1"}
    assert at_hand.study.first_vote_utc is None
    change_design(store, at_hand.study, replace(at_hand.study.design, blinding_pairs=3))


def test_how_many_is_frozen_at_the_first_vote(store: Store) -> None:
    at_hand = study_in(store)
    at_hand.desk("R1").save_choice(1, "left", seconds=1.0, diff_used="none")
    for change in ({"blinding_pairs": 3}, {"person": "candidate"}):
        with pytest.raises(NotAllowed, match="design was frozen"):
            change_design(store, at_hand.study, replace(at_hand.study.design, **change))


def texts_of(again: GuessDesk) -> Iterator[str]:
    yield repr([again.pair(number) for number in range(1, again.total + 1)])
    yield repr((again.total, again.next_open()))


def test_nothing_handed_out_names_a_source(store: Store) -> None:
    """test_blinding.py looks at a desk with marks of every kind; here one where names and roles swap."""
    seen = []
    for name, sources, more in (
        ("one", ("zqfirst", "zqsecond"), {}),
        ("two", ("zqsecond", "zqfirst"), {}),
        ("three", ("zqfirst", "zqsecond"), {"candidate": "zqsecond", "comparator": "zqfirst"}),
        ("four", ("zqfirst", "zqsecond"), {"person": "candidate"}),
    ):
        at_hand = study_in(store, dataset(4, sources=sources), name=name, **more)
        seen.append(list(texts_of(locked(at_hand).guessing())))
        assert "zq" not in "".join(seen[-1])
    assert seen[0] == seen[1] == seen[2] == seen[3]
