"""The share of the reference's words that a level keeps: counted by hand, and undefined where there is no word."""

import pytest

from core.diff import WordsKept, share_kept, words_kept


@pytest.mark.parametrize(
    ("reference", "text", "share"),
    [
        ("one two three four", "one two three four", 1.0),
        ("one two three four", "One, two; three: four!", 0.75),  # compared as written
        ("one two three four", "four three two one", 0.25),  # in the same order
        ("one two three four", "one and two and three and four", 1.0),  # what is added takes nothing away
        ("one two three four", "nothing of it", 0.0),
        ("one two three four", "", 0.0),
        ("東京は大きい", "京都は大きい", 5 / 6),  # a visible character is a word where no spaces are written
        ("?!", "one", None),
        ("", "", None),
    ],
)
def test_share_of_words_kept(reference: str, text: str, share: float | None) -> None:
    assert share_kept(reference, text) == share


def test_mean_and_range_over_the_items_that_have_the_level() -> None:
    references = {"a": "one two three four", "b": "one two three four", "c": "..."}
    texts = [
        ("a", {"A0": "one two three four", "A1": "one two"}),
        ("b", {"A0": "one two three x", "A2": "x"}),
        ("c", {"A0": "no word to keep"}),
    ]
    assert words_kept(references, texts, ("A0", "A1", "A2", "A3")) == (
        WordsKept("A0", 2, 0.875, 0.75, 1.0),
        WordsKept("A1", 1, 0.5, 0.5, 0.5),
        WordsKept("A2", 1, 0.0, 0.0, 0.0),
        WordsKept("A3", 0, None, None, None),
    )
