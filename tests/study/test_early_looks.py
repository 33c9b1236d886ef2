"""Looks at a running study: shut unless declared, one bound and nothing else, questions enter once and in order."""

import json
import sqlite3
from dataclasses import asdict, replace

import pytest
from helpers.texts.factories import (
    StudyAtHand,
    always,
    changed_line,
    dataset,
    prefers,
    record_of,
    study_in,
    unblind,
    vote,
)
from helpers.texts.rating_studies import TASK

from core.analyses.look import ANALYSIS
from core.analyses.study_results.pair_rows import answer_of
from core.errors import InputError, NotAllowed
from core.results.study.counted import Filters
from core.results.study.early import last_look, look, ready, votes_lacking
from core.results.study.results import headline, study_results
from core.schema.study import NO_LEVEL, Design, Rater
from core.stats.non_inferiority import lower_bound_anytime
from core.store import Store, open_store
from core.study.analysis_set import LOOKED, check_released
from core.study.bundle import read_bundle, write_bundle
from core.study.design import check_rating_design, draw, entry_order, main_sequence
from core.study.lifecycle import (
    change_design,
    describe_design,
    exclude_rater,
    move,
    restore_study,
    withdraw_rater,
)
from core.study.raters import add_raters, revoke_link
from pages.studies.verdict import tone_of

SHOWN = {
    *("study", "value", "bound", "margin", "confidence_level", "n_entered", "n_questions", "reached_after"),
    *("looks", "next_lacks", "n_excluded_since"),
}
"""Everything that a look may show of a study that is not unblinded."""


def looked_at(store: Store, n_items: int = 6, **design: object) -> StudyAtHand:
    """A study of plain pairs whose design allows looks."""
    data = dataset(n_items, (NO_LEVEL,))
    return study_in(store, data, **{"early_looks": True, "repeat_share": 0.0, "blinding_pairs": 0, **design})


def order_of(at_hand: StudyAtHand) -> list[str]:
    return entry_order(at_hand.study.design.seed, [item.item_id for item in at_hand.record.items])


def answer_first(at_hand: StudyAtHand, rater: str, n: int, which: int = 0) -> None:
    """A rater answers the first n pairs of their list that are still open, always for one system."""
    desk, policy = at_hand.desk(rater), prefers(which)
    for _ in range(n):
        number = desk.next_open()
        assert number is not None
        choice = policy(desk.pair(number))
        assert choice is not None
        desk.save_choice(number, choice, seconds=2.0, diff_used="none")


def both(at_hand: StudyAtHand, n: int, which: int = 0) -> None:
    for rater in ("R1", "R2"):
        answer_first(at_hand, rater, n, which)


@pytest.mark.parametrize("state", ["draft", "open", "closed", "unblinded"])
def test_shut_without_the_declaration(store: Store, state: str) -> None:
    at_hand = study_in(store, state=state)
    before = at_hand.record
    with pytest.raises(NotAllowed) as refused:
        look(store, at_hand.study, by="test")
    assert ("Early looks were not declared" in str(refused.value)) == (state != "unblinded")
    assert at_hand.record == before, "asking changes nothing"
    if state != "unblinded":
        with pytest.raises(NotAllowed) as shut:
            check_released(at_hand.study)
        assert "study look" not in str(shut.value)


@pytest.mark.parametrize("state", ["draft", "unblinded"])
def test_shut_before_the_opening_and_after_the_end(store: Store, state: str) -> None:
    at_hand = looked_at(store, state=state)
    with pytest.raises(NotAllowed, match="is a draft" if state == "draft" else "is unblinded"):
        look(store, at_hand.study, by="test")
    assert at_hand.record.entered == ()


def test_results_stay_shut_while_looks_are_allowed(store: Store) -> None:
    at_hand = looked_at(store)
    both(at_hand, 3)
    look(store, at_hand.study, by="test")
    with pytest.raises(NotAllowed, match=r"results and exports stay hidden.*study look study"):
        check_released(at_hand.study)


def test_a_look_shows_one_bound_and_nothing_of_a_system_text_or_rater(store: Store) -> None:
    at_hand = looked_at(store)
    both(at_hand, 3)
    found = look(store, at_hand.study, by="test")
    answer = ANALYSIS.answer(ANALYSIS.Options(), found)
    assert answer.json.keys() == SHOWN
    (entry,) = [one for one in at_hand.record.log if one.action == LOOKED]
    everything = json.dumps([answer.json, answer.all_sentences, str(answer.tables), entry.detail]).lower()
    hidden = [name for item in at_hand.record.items for name in (item.item_id, item.question)]
    for name in (*hidden, "R1", "R2", "human", "Alpha", "Beta", "candidate", "comparator"):
        assert name.lower() not in everything, name
    assert '"ai"' not in everything


def test_the_bound_is_that_of_the_questions_that_have_entered(store: Store) -> None:
    at_hand = looked_at(store)
    assert look(store, at_hand.study, by="test").bound is None
    both(at_hand, 3)
    found = look(store, at_hand.study, by="test")
    assert (found.n_entered, found.n_questions, found.looks, found.next_lacks) == (3, 6, 2, 2)
    assert found.bound == lower_bound_anytime([1.0] * 3, 0.9)[-1]
    assert (found.value, found.reached_after) == ("continue", None)
    assert [one.mean for one in at_hand.record.entered] == [1.0] * 3
    details = [one.detail for one in at_hand.record.log if one.action == LOOKED]
    assert details == [
        "by test: 0 of 6 questions, no bound, Continue",
        f"by test: 3 of 6 questions, bound {found.bound:.3f}, Continue",
    ]


def test_it_is_reached_and_stays_reached(store: Store) -> None:
    at_hand = looked_at(store, n_items=12)
    both(at_hand, 9)
    found = look(store, at_hand.study, by="test")
    assert (found.value, found.reached_after) == ("non-inferior", 5)
    both(at_hand, 3, which=1)
    again = look(store, at_hand.study, by="test")
    assert (again.value, again.reached_after, again.bound) == ("non-inferior", 5, found.bound)
    assert (again.n_entered, again.next_lacks) == (12, None)


class TestOrder:
    def test_it_follows_from_the_seed_and_the_ids_alone(self) -> None:
        ids = [f"q{n}" for n in range(30)]
        order = entry_order(7, ids)
        assert order == entry_order(7, ids[::-1]) == sorted(ids, key=lambda i: draw(7, "", i, "", "entry"))
        assert order != ids
        assert order != entry_order(8, ids)

    def test_every_rater_gets_the_questions_in_it(self, store: Store) -> None:
        at_hand = looked_at(store)
        lists: dict[str, list[str]] = {}
        for one in at_hand.record.assignments:
            lists.setdefault(one.rater_id, []).append(one.item_id)
        assert list(lists.values()) == [order_of(at_hand)] * 2
        usual = Design("a", "b", seed=7)
        ids = order_of(at_hand)
        assert [item for item, _ in main_sequence(usual, "R1", ids, ("A0",))] != ids
        assert [item for item, _ in main_sequence(usual, "R1", ids, ("A0",))] != [
            item for item, _ in main_sequence(usual, "R2", ids, ("A0",))
        ]

    def test_a_question_waits_for_those_before_it(self, store: Store) -> None:
        at_hand = looked_at(store)
        for rater in ("R1", "R2"):
            at_hand.desk(rater).skip(2)
            answer_first(at_hand, rater, 4)
        found = look(store, at_hand.study, by="test")
        assert (found.n_entered, found.next_lacks) == (1, 2)
        both(at_hand, 2)
        assert look(store, at_hand.study, by="test").n_entered == 6

    def test_a_question_waits_for_every_rater_who_has_it(self, store: Store) -> None:
        at_hand = looked_at(store)
        add_raters(store, at_hand.study, ["R3"])
        both(at_hand, 2)
        found = look(store, at_hand.study, by="test")
        assert (found.n_entered, found.next_lacks) == (0, 1)
        revoke_link(store, at_hand.study, "R3")
        assert look(store, at_hand.study, by="test").n_entered == 2

    def test_a_question_waits_for_the_votes_that_the_design_gives_it(self) -> None:
        pairs = {("q00", "A0"): "candidate"}
        record = record_of({"R1": pairs}, dataset(1, ("A0",)), votes_per_pair=3, early_looks=True)
        assert votes_lacking(record) == {"q00": 2}
        record = record_of({"R1": pairs}, dataset(1, ("A0",)), votes_needed=1, early_looks=True)
        assert votes_lacking(record) == {"q00": 0}

    def test_only_votes_that_count_complete_a_question(self) -> None:
        pairs = {("q00", "A0"): "candidate"}
        people = [Rater("R1"), Rater("R2", excluded="too fast"), Rater("P", dry_run=True)]
        votes = {person.rater_id: pairs for person in people}
        record = record_of(votes, dataset(1, ("A0",)), raters=people, votes_needed=2, early_looks=True)
        assert votes_lacking(record) == {"q00": 1}

    @pytest.mark.parametrize(
        ("levels", "votes_needed", "lacks", "mean"),
        [(("A0",), 2, 0, 1.0), (("A0",), 3, 0, None), (("A0", "A1"), 2, 1, None)],
    )
    def test_an_excluded_rater_holds_nothing_back_where_votes_are_dealt(
        self, levels: tuple[str, ...], votes_needed: int, lacks: int, mean: float | None
    ) -> None:
        """A question that they answered at every level is not dealt again, so nobody could ever give the vote."""
        pairs = {("q00", "A0"): "candidate"}
        people = [Rater("R1", excluded="too fast"), Rater("R2"), Rater("R3")]
        given = {"votes_per_pair": 3, "votes_needed": votes_needed, "main_levels": ("A0",)}
        votes = {person.rater_id: pairs for person in people}
        record = record_of(votes, dataset(1, levels), raters=people, early_looks=True, **given)
        assert votes_lacking(record) == {"q00": lacks}
        assert [one.mean for one in ready(record, "")] == ([] if lacks else [mean])

    def test_levels_outside_the_main_analysis_are_not_waited_for(self) -> None:
        data = dataset(1, ("A0", "A1"))
        record = record_of({"R1": {("q00", "A1"): "comparator"}}, data, votes_needed=1, early_looks=True)
        assert votes_lacking(record) == {"q00": 0}
        (entered,) = ready(record, "2026-01-01")
        assert (entered.mean, entered.votes, entered.position) == (-1.0, 1, 1)


class TestFrozen:
    def test_later_votes_exclusions_and_withdrawals_change_no_mean(self, store: Store) -> None:
        at_hand = looked_at(store)
        both(at_hand, 3)
        first = look(store, at_hand.study, by="test")
        before = at_hand.record.entered
        choice = "right" if prefers(0)(at_hand.desk("R1").pair(1)) == "left" else "left"
        at_hand.desk("R1").save_choice(1, choice, seconds=1.0, diff_used="none")
        exclude_rater(store, at_hand.study, "R1", "too fast")
        found = look(store, at_hand.study, by="test")
        assert (found.n_entered, found.bound) == (3, first.bound)
        assert (first.n_excluded_since, found.n_excluded_since) == (0, 1)
        withdraw_rater(store, at_hand.study, "R2", keep_votes=False)
        withdraw_rater(store, at_hand.study, "R1", keep_votes=True)
        assert look(store, at_hand.study, by="test").n_excluded_since == 2
        assert at_hand.record.entered == before

    def test_an_exclusion_before_the_entry_is_no_note(self, store: Store) -> None:
        at_hand = looked_at(store, votes_needed=1)
        both(at_hand, 2)
        exclude_rater(store, at_hand.study, "R1", "too fast")
        found = look(store, at_hand.study, by="test")
        assert (found.n_entered, found.n_excluded_since) == (2, 0)
        withdraw_rater(store, at_hand.study, "R1", keep_votes=True)
        assert look(store, at_hand.study, by="test").n_excluded_since == 0
        assert [one.votes for one in at_hand.record.entered] == [1, 1]

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE entered_question SET mean = 1",
            "DELETE FROM entered_question",
            "INSERT OR REPLACE INTO entered_question SELECT study_id, position, item_id, 1, 9, entered_utc "
            "FROM entered_question",
        ],
    )
    def test_the_database_refuses_a_change(self, store: Store, change: str) -> None:
        at_hand = looked_at(store)
        both(at_hand, 1)
        look(store, at_hand.study, by="test")
        with sqlite3.connect(store.path) as other, pytest.raises(sqlite3.IntegrityError, match="append-only"):
            other.execute(change)
        other.close()

    def test_the_declaration_is_frozen_at_the_first_vote(self, store: Store) -> None:
        at_hand = looked_at(store, early_looks=False)
        change_design(store, at_hand.study, replace(at_hand.study.design, early_looks=True))
        assert at_hand.record.log[-1].detail == "early_looks: False -> True"
        assert [one.item_id for one in at_hand.record.assignments[:6]] == order_of(at_hand)
        answer_first(at_hand, "R1", 1)
        with pytest.raises(NotAllowed):
            change_design(store, at_hand.study, replace(at_hand.study.design, early_looks=False))


def test_a_question_whose_pairs_are_all_flagged_enters_without_a_mean() -> None:
    votes = {("q00", "A0"): "candidate", ("q01", "A0"): "candidate"}
    record = record_of(
        {"R1": votes},
        dataset(2, ("A0",)),
        invalid=[("R1", "q01", "A0")],
        flagged="leave_out",
        votes_needed=1,
        early_looks=True,
    )
    entered = {one.item_id: (one.mean, one.votes) for one in ready(record, "")}
    assert entered == {"q00": (1.0, 1), "q01": (None, 0)}


class TestResults:
    def test_without_a_look_the_declared_verdict_decides(self, store: Store) -> None:
        at_hand = looked_at(store)
        both(at_hand, 6)
        unblind(at_hand)
        found = study_results(at_hand.record, n_resamples=200)
        assert found.early is None
        assert "early" not in answer_of(found).json

    def test_after_a_look_the_bound_decides_and_the_verdict_stands_beside_it(self, store: Store) -> None:
        at_hand = looked_at(store)
        both(at_hand, 5)
        look(store, at_hand.study, by="test")
        both(at_hand, 1)
        unblind(at_hand)
        found = study_results(at_hand.record, n_resamples=200)
        said = headline(found)
        assert found.early is not None
        assert (found.early.n_entered, found.early.reached_after, found.early.looks) == (6, 5, 1)
        assert answer_of(found).json["early"] == json.loads(
            json.dumps({**asdict(found.early), "caution": None})
        )
        assert found.early.bounds == tuple(lower_bound_anytime([1.0] * 6))
        assert [row[1] for row in answer_of(found).tables["early"].rows] == list(found.early.bounds)
        assert said[0].startswith("Non-inferior (always-valid bound). ")
        assert "so the always-valid bound decides" in said[1]
        assert said[2].startswith("Declared analysis, for comparison: ")
        part = study_results(at_hand.record, Filters(raters=["R1"]), n_resamples=200)
        assert headline(part)[0].startswith("Exploratory: ")
        as_json = answer_of(found).json
        assert (as_json["verdict"]["value"], as_json["answer"]["value"]) == ("non-inferior", "not worse")
        assert as_json["verdict"]["bound"] == as_json["answer"]["bound"] == found.early.bound
        assert as_json["declared"]["verdict"]["value"] == found.verdict.value
        assert as_json["declared"]["answer"]["value"] == found.answer.value
        assert as_json["early"]["caution"] is None
        assert "declared" not in answer_of(part).json

    def test_an_answer_that_only_the_declared_analysis_reaches_is_no_verdict(self, store: Store) -> None:
        at_hand = looked_at(store)
        both(at_hand, 3)
        look(store, at_hand.study, by="test")
        both(at_hand, 3)
        unblind(at_hand)
        found = study_results(at_hand.record, n_resamples=200)
        assert found.early is not None
        unreached = replace(found, early=replace(found.early, reached_after=None, bound=-0.6))
        as_json = answer_of(unreached).json
        assert (as_json["verdict"]["value"], as_json["answer"]["value"]) == ("not shown", "not shown")
        assert as_json["verdict"]["bound"] == as_json["answer"]["bound"] == -0.6
        assert as_json["declared"]["answer"]["value"] == found.answer.value

    def test_a_bound_above_the_mean_carries_a_caution(self, store: Store) -> None:
        at_hand = looked_at(store)
        both(at_hand, 5)
        look(store, at_hand.study, by="test")
        both(at_hand, 1)
        unblind(at_hand)
        found = study_results(at_hand.record, n_resamples=200)
        lower = replace(
            found, answer=replace(found.answer, conclusion=replace(found.answer.conclusion, mean=-0.5))
        )
        caution = answer_of(lower).json["early"]["caution"]
        assert caution is not None
        assert caution in headline(lower)
        assert tone_of(found) == "good"
        assert tone_of(lower) == "open"

    def test_what_changes_after_unblinding_changes_no_bound(self, store: Store) -> None:
        at_hand = looked_at(store)
        both(at_hand, 3)
        look(store, at_hand.study, by="test")
        both(at_hand, 2)
        unblind(at_hand)
        before = last_look(at_hand.record)
        exclude_rater(store, at_hand.study, "R1", "later")
        found = study_results(at_hand.record, n_resamples=200).early
        assert found == before
        assert found is not None
        assert found.n_entered == 5

    def test_a_study_stopped_without_a_question_in_order_was_not_looked_at(self, store: Store) -> None:
        at_hand = looked_at(store)
        look(store, at_hand.study, by="test")
        both(at_hand, 6)
        unblind(at_hand)
        assert study_results(at_hand.record, n_resamples=200).early is None


class TestBundle:
    def stopped(self, store: Store) -> StudyAtHand:
        at_hand = looked_at(store)
        both(at_hand, 3)
        look(store, at_hand.study, by="test")
        unblind(at_hand)
        return at_hand

    def test_it_carries_the_entered_questions(
        self, store: Store, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        at_hand = self.stopped(store)
        written = write_bundle(at_hand.record)
        record = read_bundle(written, "b.zip")
        assert record == at_hand.record
        assert len(record.entered) == 3
        with open_store(tmp_path_factory.mktemp("other") / "other.db") as other:
            restore_study(other, record)
            (kept,) = other.rows("select count(*) as n from entered_question")
            assert kept["n"] == 3

    @pytest.mark.parametrize(
        ("line", "values", "said"),
        [
            (0, {"mean": 1.5}, "is not a mean score"),
            (0, {"mean": None}, "is not a mean score"),
            (1, {"item_id": "q99"}, "not in the order that the seed gives"),
            (1, {"position": 9}, "not in the order that the seed gives"),
        ],
    )
    def test_a_forged_entry_is_refused(
        self, store: Store, line: int, values: dict[str, object], said: str
    ) -> None:
        written = write_bundle(self.stopped(store).record)
        with pytest.raises(InputError, match=said):
            read_bundle(changed_line(written, "entered.jsonl", line, **values), "b.zip")


def test_the_declaration_is_in_the_design_text() -> None:
    design = Design("a", "b")
    assert "early looks" not in describe_design(design)
    assert describe_design(replace(design, early_looks=True)).endswith(
        "early looks with an always-valid bound"
    )


def test_a_rating_study_has_no_verdict_to_look_at() -> None:
    with pytest.raises(InputError, match="early looks"):
        check_rating_design(Design("", "", early_looks=True), TASK)


def test_the_preview_never_enters(store: Store) -> None:
    """A dry run votes on everything; no question is complete by that."""
    from core.study.raters import preview_link

    at_hand = looked_at(store)
    vote(store, preview_link(store, at_hand.study).token, always("left"))
    assert look(store, at_hand.study, by="test").n_entered == 0
    move(store, at_hand.study, "closed")
    assert look(store, at_hand.study, by="test").looks == 2
