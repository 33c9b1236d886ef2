"""Who gets which questions: k votes each, whole, balanced, capped, and stable when raters come later."""

from collections import Counter
from dataclasses import replace
from functools import partial

from helpers.texts.factories import LEVELS, dataset, item_ids, study_in, vote
from hypothesis import given, settings
from hypothesis import strategies as st

from core.schema.study import Design
from core.store import Store
from core.study.design import assign, share_out, workload
from core.study.lifecycle import change_design
from core.study.raters import add_raters

DESIGN = Design("ai", "human", seed=3, votes_per_pair=2)


def people(n: int) -> list[str]:
    return [f"R{number}" for number in range(n)]


def votes_of(shares: dict[str, list[str]]) -> Counter[str]:
    return Counter(item for items in shares.values() for item in items)


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_k_votes_each_and_balanced(n_items: int, n_raters: int, k: int, seed: int) -> None:
    design = replace(DESIGN, votes_per_pair=k, seed=seed)
    shares = share_out(design, item_ids(n_items), people(n_raters))
    votes = votes_of(shares)
    assert all(votes[item] == min(k, n_raters) for item in item_ids(n_items))
    loads = [len(items) for items in shares.values()]
    assert max(loads) - min(loads) <= 1
    assert all(items == sorted(set(items)) for items in shares.values()), "once each, in the file's order"


@settings(deadline=None)
@given(st.integers(1, 25), st.integers(1, 8), st.integers(1, 8), st.integers(1, 12), st.integers(0, 99))
def test_the_cap_holds_and_is_used(n_items: int, n_raters: int, k: int, cap: int, seed: int) -> None:
    design = replace(DESIGN, votes_per_pair=k, max_questions=cap, seed=seed)
    shares = share_out(design, item_ids(n_items), people(n_raters))
    loads, votes = [len(items) for items in shares.values()], votes_of(shares)
    assert max(loads) <= cap
    assert max(votes.values()) <= k
    if n_raters >= k and n_raters * cap >= n_items * k:
        assert set(votes.values()) == {k}
        assert len(votes) == n_items
        assert max(loads) - min(loads) <= 1


def test_without_votes_per_pair_everybody_gets_all() -> None:
    shares = share_out(replace(DESIGN, votes_per_pair=None), item_ids(5), people(3))
    assert shares == {rater: item_ids(5) for rater in people(3)}


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(1, 6), st.integers(1, 6), st.integers(1, 4))
def test_what_raters_have_stays(n_items: int, n_raters: int, k: int, later: int) -> None:
    design = replace(DESIGN, votes_per_pair=k, max_questions=6)
    before = share_out(design, item_ids(n_items), people(n_raters))
    held = {rater: set(items) for rater, items in before.items()}
    after = share_out(design, item_ids(n_items), people(n_raters + later), held)
    assert all(held[rater] <= set(after[rater]) for rater in held)
    assert max(votes_of(after).values(), default=0) <= max(k, max(votes_of(before).values(), default=0))


def test_the_draw_decides_who_gets_what() -> None:
    shares = {
        tuple(map(tuple, share_out(replace(DESIGN, seed=seed), item_ids(9), people(4)).values()))
        for seed in range(6)
    }
    assert len(shares) == 6


def test_workload_says_what_falls_short() -> None:
    design = replace(DESIGN, max_questions=2)
    plan = workload(design, item_ids(4), people(3), partial(assign, design, levels=LEVELS, first="ai"))
    assert sum(plan.questions.values()) == 6
    assert plan.short == 1, "three questions get their two votes, the fourth none"
    assert plan.pairs == dict.fromkeys(people(3), 10)
    assert plan.minutes == dict.fromkeys(people(3), 8), "10 pairs x 45 s = 7.5 minutes, rounded to even"
    design = replace(DESIGN, votes_per_pair=None)
    assert (
        workload(design, item_ids(4), people(3), partial(assign, design, levels=LEVELS, first="ai")).short
        == 0
    )


def test_whole_questions_in_the_store(store: Store) -> None:
    at_hand = study_in(store, dataset(9), raters=people(3), votes_per_pair=2, repeat_share=0.0)
    plan = Counter((a.rater_id, a.item_id) for a in at_hand.record.assignments)
    assert set(plan.values()) == {5}
    assert Counter(item for _, item in plan) == dict.fromkeys(item_ids(9), 2)
    assert Counter(rater for rater, _ in plan) == dict.fromkeys(people(3), 6)


def test_raters_who_come_later_change_nobodys_list(store: Store) -> None:
    for number, design in enumerate(({}, {"votes_per_pair": 2, "max_questions": 4})):
        at_hand = study_in(store, dataset(9), raters=people(3), name=f"study {number}", **design)
        vote(store, at_hand.tokens["R0"], lambda _: "left")
        before = at_hand.record.assignments
        add_raters(store, at_hand.study, ["R8", "R9"])
        after = at_hand.record.assignments
        assert [a for a in after if a.rater_id in people(3)] == list(before)
        assert {a.rater_id for a in after} == {*people(3), "R8", "R9"}
        votes = Counter(item for _, item in {(a.rater_id, a.item_id) for a in after})
        assert set(votes.values()) == {5 if not design else 2}


def test_in_draft_the_questions_are_dealt_anew_to_all(store: Store) -> None:
    at_hand = study_in(store, dataset(8), raters=["R0"], state="draft", votes_per_pair=1, repeat_share=0.0)
    assert len(at_hand.record.assignments) == 40
    add_raters(store, at_hand.study, ["R1"])
    loads = Counter(a.rater_id for a in at_hand.record.assignments)
    assert loads == {"R0": 20, "R1": 20}


def test_a_rater_without_a_question_is_told_so(store: Store) -> None:
    at_hand = study_in(store, dataset(2), raters=["R0"], votes_per_pair=1)
    add_raters(store, at_hand.study, ["R1"])
    assert at_hand.desk("R1").total == 0
    assert "nothing to rate yet" in at_hand.desk("R1").closed_reason
    assert at_hand.desk("R1").next_open() is None
    change_design(store, at_hand.study, replace(at_hand.study.design, votes_per_pair=2))
    assert at_hand.desk("R1").total == 10
