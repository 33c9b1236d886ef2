"""Which text a row of scores is about, by hand."""

import pytest

from core.joining.tables import place_of, places_of, text_of
from core.schema.scores import ScoredRow

ENGLISH = ScoredRow("1", "s", "A0", "en")
GERMAN = ScoredRow("1", "s", "A0", "de")
WORSE = ScoredRow("1", "s", "A1", "en")
SHOTS = [ScoredRow("1", "s", "0", "en", {"shots": shots, "file": "a"}) for shots in ("0", "5")]


@pytest.mark.parametrize(
    ("row", "place"),
    [
        (ENGLISH, 0),
        (GERMAN, 1),
        (ScoredRow("1", "s", "0", "en"), 0),
        (ScoredRow("1", "s", "L1", "en"), 2),
        (ScoredRow("1", "output", "A1"), 2),
        (ScoredRow("1", "s", None, "de"), 1),
        (ScoredRow("1", "s", "A0"), None),
        (ScoredRow("1", "t", "A0", "en"), None),
        (ScoredRow("2", "s", "A0", "en"), None),
        (ScoredRow("1", "s", "A2", "en"), None),
    ],
    ids=[
        "language",
        "other language",
        "level",
        "other level",
        "blanks",
        "no level",
        "two fit",
        "system",
        "item",
        "no such level",
    ],
)
def test_a_row_meets_the_one_text_that_contradicts_it_in_nothing(row: ScoredRow, place: int | None) -> None:
    assert place_of(row, [ENGLISH, GERMAN, WORSE]) == place


def test_labels_that_both_have_tell_texts_apart_and_others_do_not() -> None:
    assert place_of(ScoredRow("1", "s", "0", "en", {"shots": "5", "year": "1"}), SHOTS) == 1
    assert place_of(ScoredRow("1", "s", "0", "en", {"year": "1"}), SHOTS) is None


def test_places_of_several_rows_count_from_the_first_text_of_all() -> None:
    other = ScoredRow("2", "s", "0", "en")
    assert places_of([other, ENGLISH, ScoredRow("3", "s")], [GERMAN, ENGLISH, other]) == [2, 1, None]


def test_one_text_in_two_places_is_one_text() -> None:
    named = [(ENGLISH, "Yes."), (GERMAN, "Ja."), (ENGLISH, "Yes.")]
    assert text_of(ENGLISH, named) == "Yes."
    assert text_of(ScoredRow("1", "s", "A0"), named) is None
    assert text_of(ScoredRow("2", "s", "A0"), named) is None
