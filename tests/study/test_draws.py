"""Sides, order and hidden repeats: fixed by the seed, balanced, and blind to names and roles."""

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from helpers.texts.factories import LEVELS, dataset, item_ids
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from core.schema.study import Dataset, Design
from core.study.design import (
    REPEAT_DISTANCE,
    add_repeats,
    assign,
    draw,
    every_other,
    first_on_left,
    first_source,
    main_sequence,
)

DESIGN = Design("ai", "human", seed=3)
sizes = st.integers(1, 40)
seeds = st.integers(0, 2**63 - 1)
shares = st.floats(0, 0.5)


def levels_of(n: int) -> tuple[str, ...]:
    return tuple(f"A{number}" for number in range(n))


def first_of(data: Dataset) -> str:
    return first_source(data.items, data.levels, data.outputs)


def test_draw_is_the_documented_hash() -> None:
    """Written out by hand: sha256 of the JSON list without blanks, UTF-8, read as a big-endian integer."""
    by_hand = int(hashlib.sha256(b'[7,"R1","q00","A0","side"]').hexdigest(), 16)
    assert draw(7, "R1", "q00", "A0", "side") == by_hand
    assert hashlib.sha256(b'[7,"R1","q00","A0","side"]').hexdigest().startswith(f"{by_hand:064x}"[:8])
    unicode = '[0,"Zoë \\"Z\\"","日本","","question"]'.encode()
    assert draw(0, 'Zoë "Z"', "日本", "", "question") == int(hashlib.sha256(unicode).hexdigest(), 16)


@settings(deadline=None)
@given(sizes, st.integers(1, 6), seeds)
def test_sides_are_balanced_within_rater_and_level(n_items: int, n_levels: int, seed: int) -> None:
    design = replace(DESIGN, seed=seed, repeat_share=0)
    plan = assign(design, "R1", item_ids(n_items), levels_of(n_levels), "ai")
    for level in levels_of(n_levels):
        left = Counter(a.left for a in plan if a.level == level)
        assert abs(left["ai"] - left["human"]) <= 1
        assert left.total() == n_items
    assert all({a.left, a.right} == {"ai", "human"} for a in plan)


def test_each_item_is_on_the_left_for_half_of_the_raters() -> None:
    """Over 600 raters: each item's count is binomial(600, 1/2); the sum of squares is a chi-square."""
    items, n = item_ids(9), 600
    on_left: Counter[str] = Counter()
    for rater in range(n):
        on_left.update(first_on_left(11, f"rater {rater}", items, "A2"))
    low, high = binom.ppf([0.0005, 0.9995], n, 0.5)
    assert all(low <= on_left[item] <= high for item in items)
    statistic = sum((on_left[item] - n / 2) ** 2 / (n / 4) for item in items)
    assert chi2.ppf(0.001, len(items)) < statistic < chi2.ppf(0.999, len(items))


def test_no_two_items_hang_together() -> None:
    """Of 10 items half are on the left, so two agree with probability 4/9: no pair is tied together."""
    items, n = item_ids(10), 600
    together: Counter[tuple[str, str]] = Counter()
    for rater in range(n):
        left = first_on_left(5, f"rater {rater}", items, "A1")
        together.update(pair for pair in combinations(items, 2) if (pair[0] in left) == (pair[1] in left))
    low, high = binom.ppf([0.0001, 0.9999], n, 4 / 9)
    assert all(low <= together[pair] <= high for pair in combinations(items, 2))


def test_levels_of_a_question_are_drawn_apart() -> None:
    """The paper's interface used one side for all levels of a question: here knowing one tells nothing."""
    items, same = item_ids(20), 0
    for rater in range(40):
        on_left = [first_on_left(1, f"rater {rater}", items, level) for level in ("A0", "A1")]
        same += sum((item in on_left[0]) == (item in on_left[1]) for item in items)
    low, high = binom.ppf([0.001, 0.999], 800, 0.5)
    assert low <= same <= high


def test_an_odd_number_leans_either_way() -> None:
    counts = Counter(len(first_on_left(2, f"rater {n}", item_ids(5), "A0")) for n in range(400))
    assert set(counts) == {2, 3}
    low, high = binom.ppf([0.001, 0.999], 400, 0.5)
    assert low <= counts[2] <= high


def test_every_other_by_hand() -> None:
    assert every_other({}) == set()
    assert every_other({"a": 10, "b": 30, "c": 20}) == {"a", "b"}, "ranked a c b, the first even: a and b"
    assert every_other({"a": 11, "b": 30, "c": 20}) == {"c"}, "the first odd: the second only"


def test_source_names_change_nothing() -> None:
    ids = item_ids(12)
    one, other = dataset(12), dataset(12, sources=("zebra", "apple"))
    rename = {"ai": "zebra", "human": "apple"}
    first = assign(DESIGN, "R1", ids, LEVELS, first_of(one))
    second = assign(Design("zebra", "apple", seed=3), "R1", ids, LEVELS, first_of(other))
    assert [(rename[a.left], rename[a.right]) for a in first] == [(a.left, a.right) for a in second]
    assert [replace(a, left="", right="") for a in first] == [replace(a, left="", right="") for a in second]


def test_roles_change_nothing() -> None:
    data = dataset(12)
    swapped = replace(DESIGN, candidate="human", comparator="ai")
    plans = [assign(d, "R1", item_ids(12), LEVELS, first_of(data)) for d in (DESIGN, swapped)]
    assert plans[0] == plans[1]


def test_the_files_order_of_sources_and_rows_changes_nothing() -> None:
    data = dataset(12)
    turned = replace(data, outputs=data.outputs[::-1], sources=data.sources[::-1])
    assert first_of(data) == first_of(turned) == "ai"


def test_swapped_names_swap_the_screen_labels_and_not_the_texts() -> None:
    """Exchange the two sources' names: the same text stands on the same side."""
    data = dataset(12)
    exchanged = {"ai": "human", "human": "ai"}
    other = replace(data, outputs=tuple(replace(o, source=exchanged[o.source]) for o in data.outputs))

    def texts_on_left(one: Dataset) -> list[str]:
        texts = {(o.item_id, o.level, o.source): o.text for o in one.outputs}
        return [
            texts[a.item_id, a.level, a.left]
            for a in assign(DESIGN, "R1", item_ids(12), LEVELS, first_of(one))
        ]

    assert first_of(other) == "human"
    assert texts_on_left(data) == texts_on_left(other)


def test_first_source_looks_for_the_first_difference() -> None:
    data = dataset(2, ("A0", "A1"))
    texts = {("q00", "A0"): ("same", "same"), ("q00", "A1"): ("b", "a"), ("q01", "A0"): ("a", "b")}
    outputs = tuple(
        replace(o, text=texts.get((o.item_id, o.level), ("x", "x"))[o.source == "human"])
        for o in data.outputs
    )
    assert first_source(data.items, data.levels, outputs) == "human"
    by_code_point = tuple(
        replace(o, text="\U0001f600" if o.source == "ai" else "\uff5e") for o in data.outputs
    )
    assert first_source(data.items, data.levels, by_code_point) == "human", "U+FF5E before U+1F600"


@settings(deadline=None)
@given(sizes, st.integers(1, 6), seeds, st.sampled_from(["fixed", "shuffled"]))
def test_questions_are_shuffled_whole(n_items: int, n_levels: int, seed: int, order: str) -> None:
    levels = levels_of(n_levels)
    design = replace(DESIGN, seed=seed, level_order=order)
    sequence = main_sequence(design, "R1", item_ids(n_items), levels)
    assert sorted(sequence) == sorted((item, level) for item in item_ids(n_items) for level in levels)
    for start in range(0, len(sequence), n_levels):
        block = sequence[start : start + n_levels]
        assert len({item for item, _ in block}) == 1
        if order == "fixed":
            assert tuple(level for _, level in block) == levels


def test_every_question_comes_first_equally_often() -> None:
    n, items = 600, item_ids(6)
    first = Counter(main_sequence(DESIGN, f"rater {r}", items, ("A0",))[0][0] for r in range(n))
    statistic = sum((first[item] - n / 6) ** 2 / (n / 6) for item in items)
    assert statistic < chi2.ppf(0.999, 5)


def test_shuffled_levels_come_in_every_order_per_rater_and_question() -> None:
    design, n = replace(DESIGN, level_order="shuffled"), 200
    orders: Counter[tuple[str, ...]] = Counter()
    for rater in range(n):
        sequence = main_sequence(design, f"rater {rater}", item_ids(3), ("A0", "A1", "A2"))
        orders.update(tuple(level for _, level in sequence[i : i + 3]) for i in (0, 3, 6))
    assert len(orders) == 6
    assert sum((count - 100) ** 2 / 100 for count in orders.values()) < chi2.ppf(0.999, 5)


def test_order_does_not_depend_on_the_order_of_the_file() -> None:
    assert main_sequence(DESIGN, "R1", item_ids(9), LEVELS) == main_sequence(
        DESIGN, "R1", item_ids(9)[::-1], LEVELS
    )
    one, other = (assign(DESIGN, "R1", ids, LEVELS, "ai") for ids in (item_ids(9), item_ids(9)[::-1]))
    assert one == other


@settings(max_examples=200, deadline=None)
@given(sizes, st.integers(1, 6), seeds, shares)
def test_hidden_repeats(n_items: int, n_levels: int, seed: int, share: float) -> None:
    levels = levels_of(n_levels)
    design = replace(DESIGN, seed=seed, repeat_share=share)
    main = main_sequence(design, "R1", item_ids(n_items), levels)
    sequence = add_repeats(design, "R1", main, n_levels)
    assert [pair for pair, repeat, _ in sequence if not repeat] == main
    again = [(number, pair, swap) for number, (pair, repeat, swap) in enumerate(sequence) if repeat]
    possible = max(0, len(main) - REPEAT_DISTANCE)
    assert len(again) == min(int(share * len(main) + 0.5), possible)
    assert len({pair for _, pair, _ in again}) == len(again), "nothing comes a third time"
    swapped = sum(swap for *_, swap in again)
    assert abs(2 * swapped - len(again)) <= 1
    for number, pair, _ in again:
        first = next(at for at, (other, repeat, _) in enumerate(sequence) if other == pair and not repeat)
        between = {other for other, _, _ in sequence[first + 1 : number]}
        assert len(between) >= REPEAT_DISTANCE
        before = sum(not repeat for _, repeat, _ in sequence[:number])
        assert before % n_levels == 0, "between two questions, never inside one"


@pytest.mark.parametrize(("n_items", "n_levels"), [(1, 5), (2, 5), (10, 1)])
def test_a_short_study_has_no_repeats(n_items: int, n_levels: int) -> None:
    design = replace(DESIGN, repeat_share=0.5)
    plan = assign(design, "R1", item_ids(n_items), levels_of(n_levels), "ai")
    assert not any(a.repeat for a in plan)
    assert any(a.repeat for a in assign(design, "R1", item_ids(n_items + 10), levels_of(n_levels), "ai"))


@settings(deadline=None)
@given(sizes, seeds)
def test_sides_of_a_repeat_are_those_of_the_first_time_or_swapped(n_items: int, seed: int) -> None:
    design = replace(DESIGN, seed=seed, repeat_share=0.5)
    plan = assign(design, "R1", item_ids(n_items), LEVELS, "ai")
    assert [a.position for a in plan] == list(range(1, len(plan) + 1))
    main = {(a.item_id, a.level): (a.left, a.right) for a in plan if not a.repeat}
    assert len(main) == n_items * len(LEVELS)
    again = [a for a in plan if a.repeat]
    same = sum(main[a.item_id, a.level] == (a.left, a.right) for a in again)
    swapped = sum(main[a.item_id, a.level] == (a.right, a.left) for a in again)
    assert same + swapped == len(again)
    assert abs(same - swapped) <= 1


def test_the_share_asked_for_is_the_share_shown() -> None:
    plan = assign(replace(DESIGN, repeat_share=0.05), "R1", item_ids(20), LEVELS, "ai")
    assert (len(plan), sum(a.repeat for a in plan)) == (105, 5)


def test_raters_and_seeds_give_other_draws() -> None:
    ids = item_ids(20)
    plans = {
        tuple(
            (a.item_id, a.level, a.left) for a in assign(replace(DESIGN, seed=seed), rater, ids, LEVELS, "ai")
        )
        for seed in range(5)
        for rater in ("R1", "R2", "r1", "R1 ")
    }
    assert len(plans) == 20


def test_purposes_do_not_share_their_draws() -> None:
    purposes = ("side", "question", "level", "repeat", "swap", "place", "workload", "guess")
    assert len({draw(1, "R1", "q00", "A0", purpose) for purpose in purposes}) == len(purposes)
    assert draw(1, "a", "b", "", "side") != draw(1, "a,b", "", "", "side")
