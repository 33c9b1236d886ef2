"""Keep, snake groups and dealing them to the levels."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generation.factual import deal, keep_first, snake_groups


@pytest.mark.parametrize(
    ("n", "n_groups", "expected"),
    [
        (10, 4, ((9, 2, 1), (8, 3, 0), (7, 4), (6, 5))),
        (5, 3, ((4,), (3, 0), (2, 1))),
        (1, 3, ((0,), (), ())),
        (0, 2, ((), ())),
    ],
)
def test_snake(n: int, n_groups: int, expected: tuple[tuple[int, ...], ...]) -> None:
    """The first three are what the published code gives."""
    assert snake_groups(n, n_groups) == expected


@given(st.integers(0, 60), st.integers(1, 9))
def test_the_snake_deals_every_index_once_and_evenly(n: int, n_groups: int) -> None:
    groups = snake_groups(n, n_groups)
    assert sorted(index for group in groups for index in group) == list(range(n))
    sizes = [len(group) for group in groups]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("n", "keep", "kept"), [(5, 0.8, 4), (25, 0.28, 7), (50, 0.56, 28), (1, 0.01, 1), (0, 0.8, 0)]
)
def test_keep_counts_exactly(n: int, keep: float, kept: int) -> None:
    """In floats 25 * .28 and 50 * .56 are a hair above the whole number, and one span too many is kept."""
    assert len(keep_first(range(n), keep)) == kept


@given(st.integers(0, 500), st.integers(1, 100))
def test_keep_is_the_ceiling_for_any_percentage(n: int, percent: int) -> None:
    assert len(keep_first(range(n), percent / 100)) == math.ceil(Fraction(percent, 100) * n)


@given(st.permutations(range(12)), st.integers(1, 9), st.integers(0, 5), st.text(max_size=8))
def test_dealing_depends_on_seed_and_id_alone(
    kept: list[int], n_groups: int, seed: int, item_id: str
) -> None:
    groups = deal(kept, n_groups, seed, item_id)
    assert deal(kept, n_groups, seed, item_id) == groups
    assert sorted(number for group in groups for number in group) == sorted(kept)
    assert all(list(group) == sorted(group) for group in groups)
    snakes = {tuple(sorted(kept[i] for i in group)) for group in snake_groups(len(kept), n_groups)}
    assert set(groups) == snakes


def test_seeds_and_ids_shuffle_differently() -> None:
    kept = list(range(12))
    assert len({deal(kept, 4, seed, "q") for seed in range(40)}) > 10
    assert len({deal(kept, 4, 0, f"q{n}") for n in range(40)}) > 10
    first = [deal(kept, 4, 0, f"q{n}")[0] for n in range(400)]
    counts = [first.count(group) for group in set(first)]
    assert len(counts) == 4
    assert min(counts) > 60, "each of the four groups is A1 about 100 times"
