"""When repeated words are a sign, and what is counted."""

import numpy as np
import pytest

from core.stats.degeneracy import DUPLICATE_SHARE, duplicates, usual_range


def test_words_repeated_for_different_texts_are_counted() -> None:
    found = duplicates([("a", ["x"]), ("b", ["x"]), ("c", ["y"]), ("d", []), ("a", ["x"])], "feedback")
    assert found is not None
    assert (found.sign, found.count, found.of) == ("duplicates", 2, 3)


@pytest.mark.parametrize(
    "said",
    [
        [],
        [("a", ["x"]), ("b", ["y"])],
        [("a", ["x"]), ("a", ["x"])],
        [("a", []), ("b", [])],
        [("a", ["x", "y"]), ("b", ["x", "z"])],
        [(str(n), [str(max(n, 2))]) for n in range(round(3 / DUPLICATE_SHARE) + 1)],
    ],
)
def test_equal_texts_silence_and_few_repetitions_are_no_sign(said: list[tuple[str, list[str]]]) -> None:
    assert duplicates(said, "feedback") is None


def test_one_value_that_more_than_doubles_a_range_is_left_out_of_it() -> None:
    assert usual_range([0.0, 0.4, 0.6, 1.0, 1000.0]) == 1.0
    assert usual_range([-1000.0, 0.0, 0.4, 0.6, 1.0]) == 1.0
    assert usual_range([0.0, 0.4, 0.6, 1.0, 2.0]) == 2.0, "doubles it, not more"
    assert usual_range([5.0, 5.0, 5.0, 1.0]) == 4.0, "the others are all equal"
    assert usual_range([0.0, 1.0, 100.0]) == 100.0, "too few to tell"
    assert (usual_range([]), usual_range([np.nan, 3.0])) == (0.0, 0.0)
