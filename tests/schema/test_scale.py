"""The scale of ratings: guessed from numbers without their range, or declared."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.schema.scale import DeclaredScale, Scale, declared_scale, guessed_scale, scale_of_numbers
from core.schema.study import Dimension
from core.study.ratings import scale_of_form

USUAL = [(-1, 1), (0, 2), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10)]


@pytest.mark.parametrize(
    ("values", "kind", "ends"),
    [
        ((0, 1), "two", (0, 1)),
        ((0,), "two", (0, 1)),
        ((1,), "two", (0, 1)),
        ((1, 5), "two", (1, 5)),
        ((0, 100), "two", (0, 100)),
        ((1, 3, 4), "ordered", (1, 5)),
        ((-1, 0), "ordered", (-1, 1)),
        ((0, 4), "ordered", (0, 5)),
        ((2, 8), "ordered", (1, 10)),
        ((0, 50), "scores", None),
        ((1, 2.5), "scores", None),
        ((), "scores", None),
    ],
)
def test_guesses(values: tuple[float, ...], kind: str, ends: tuple[float, float] | None) -> None:
    found = guessed_scale(values)
    assert (found.kind, found.ends, found.origin) == (kind, ends, "guessed")


@given(st.lists(st.integers(1, 5), min_size=1, max_size=40), st.sampled_from([2, 3, 4]))
def test_ratings_within_a_scale_do_not_change_it(ratings: list[int], middle: int) -> None:
    """From 1 to 5, with a rating of 3 or 4 at least: which others are there is of no account."""
    assert guessed_scale([*ratings, 3, 4]) == guessed_scale([3, 4])
    assert guessed_scale([*ratings, np.nan, 3]).classes == (1, 2, 3, 4, 5)
    declared = declared_scale("1-5")
    assert scale_of_numbers([*ratings, middle], declared) == scale_of_numbers([middle], declared)


@given(st.sampled_from(USUAL), st.data())
def test_a_declared_range_is_kept_whatever_raters_gave(ends: tuple[int, int], data: st.DataObject) -> None:
    low, high = ends
    ratings = data.draw(st.lists(st.integers(low, high)))
    found = scale_of_numbers(ratings, declared_scale(f"{low}-{high}"))
    assert (found.ends, len(found.classes), found.origin) == ((low, high), high - low + 1, "declared")


@given(st.permutations([0, 1, 2, 3]), st.lists(st.integers(0, 3), min_size=1))
def test_other_codes_are_the_same_unordered_scale(codes: list[int], ratings: list[int]) -> None:
    found = [
        scale_of_numbers(one, codes=True)
        for one in (ratings, [codes[one] for one in ratings], [10 * one + 7 for one in ratings])
    ]
    assert {one.kind for one in found} == {"unordered"}
    assert len({len(one.classes) for one in found}) == 1
    assert {one.ends for one in found} == {None}


@pytest.mark.parametrize(
    ("scale", "classes", "values", "wanted"),
    [
        ("0-100", (), (3,), Scale("scores", ends=(0, 100), origin="declared")),
        ("0.5-5", (), (3,), Scale("scores", ends=(0.5, 5), origin="declared")),
        ("-1 - 1", (), (0,), Scale("ordered", (-1, 0, 1), ends=(-1, 1), origin="declared")),
        ("0-1", (), (0,), Scale("two", (0, 1), ends=(0, 1), origin="declared")),
        ("scores", (), (0, 1), Scale("scores", origin="declared")),
        ("Unordered", (), (4, 2), Scale("unordered", (2, 4), origin="declared")),
        ("two", (), (3, 4), Scale("two", (3, 4), ends=(3, 4), origin="declared")),
        ("two", (), (0,), Scale("two", (0, 1), ends=(0, 1), origin="declared")),
        ("ordered", (), (1, 5), Scale("ordered", (1, 2, 3, 4, 5), ends=(1, 5), origin="declared")),
        (None, ("1", "2", "4"), (1,), Scale("ordered", (1, 2, 4), ends=(1, 4), origin="declared")),
        (None, ("1", "2"), (1,), Scale("two", (1, 2), ends=(1, 2), origin="declared")),
        ("unordered", ("3", "1"), (1,), Scale("unordered", (1, 3), origin="declared")),
    ],
)
def test_what_is_declared_decides(
    scale: str | None, classes: tuple[str, ...], values: tuple[float, ...], wanted: Scale
) -> None:
    assert scale_of_numbers(values, declared_scale(scale, classes)) == wanted


@pytest.mark.parametrize(
    ("scale", "values"), [("two", (3,)), ("two", (1, 2, 3)), ("ordered", (0, 1)), ("ordered", (0, 30))]
)
def test_ratings_that_do_not_show_the_declared_kind(scale: str, values: tuple[float, ...]) -> None:
    with pytest.raises(InputError) as found:
        scale_of_numbers(values, declared_scale(scale))
    assert found.value.problems[0].startswith("scale: ")


@pytest.mark.parametrize(
    ("asked", "fields"),
    [
        ({"scale": "five"}, ["scale"]),
        ({"scale": "5-1"}, ["scale"]),
        ({"classes": ["a"]}, ["classes"]),
        ({"classes": ["a", "A"]}, ["classes"]),
        ({"scale": "1-5", "classes": ["1", "2"]}, ["classes"]),
        ({"scale": "two", "classes": ["1", "2", "3"]}, ["classes"]),
        ({"classes": ["a", "b"], "missing": ["B"], "scale": "?"}, ["scale", "missing"]),
    ],
)
def test_all_that_is_wrong_with_a_declaration_is_named(asked: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(InputError) as found:
        declared_scale(**asked)
    assert [one.partition(":")[0] for one in found.value.problems] == fields


def test_numbers_that_fall_are_names() -> None:
    assert DeclaredScale(classes=("3", "2", "1")).numbers == ()
    assert DeclaredScale(classes=("1", "2", "3")).numbers == (1, 2, 3)


def test_what_is_on_offer() -> None:
    assert guessed_scale([2, 3]).on_offer([1, 2.5, 6, np.nan]).tolist() == [True, False, False, False]
    scores = scale_of_numbers([2.5], declared_scale("0-100"))
    assert scores.on_offer([0, 2.5, 101, np.nan]).tolist() == [True, True, False, False]


def test_a_scale_in_words() -> None:
    assert guessed_scale([2, 3]).read_as == "ordered classes 1 to 5, guessed from the ratings"
    many = Scale("unordered", tuple(map(float, range(9))))
    assert many.said == "classes without an order (0, 1, 2, 3, 4, 5, 6 and 2 more)"


@pytest.mark.parametrize(
    ("lowest", "highest", "step", "kind", "n_classes"),
    [
        (0, 1, 1, "two", 2),
        (1, 5, 1, "ordered", 5),
        (0, 1, 0.1, "ordered", 11),
        (0, 100, 1, "scores", 0),
        (0, 1, 0, "scores", 0),
    ],
)
def test_a_form_shows_its_scale(
    lowest: float, highest: float, step: float, kind: str, n_classes: int
) -> None:
    found = scale_of_form(Dimension("LA", "", "", lowest, highest, step))
    assert (found.kind, len(found.classes), found.ends, found.origin) == (
        kind,
        n_classes,
        (lowest, highest),
        "file",
    )
