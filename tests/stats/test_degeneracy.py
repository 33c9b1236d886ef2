"""When repeated words are a sign, and what is counted."""

import pytest

from core.stats.degeneracy import DUPLICATE_SHARE, duplicates


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
