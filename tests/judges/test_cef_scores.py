"""Scores of a cross-examination from its record: 001's own example, and records worked out by hand."""

from collections.abc import Sequence

import pytest

from core.judges.alignment import Mismatch, mismatches_of
from core.judges.cross_examination import (
    CEF_COMPONENTS,
    CefRecord,
    Examination,
    conciseness,
    scores_of,
    used_of,
)
from core.judges.questions import CrossQuestion, Verdict, count_words
from core.schema.scores import Score

Given = tuple[Verdict, Verdict | None]
"""What is expected, and what was answered."""


def questions(side: str, given: Sequence[Given]) -> tuple[CrossQuestion, ...]:
    return tuple(
        CrossQuestion(f"{side} {number}?", expected, answer, None if answer else "unparsed")
        for number, (expected, answer) in enumerate(given)
    )


def yes(*answers: tuple[Verdict | None, int]) -> list[Given]:
    """Questions that expect YES, with so many of each answer."""
    return [("YES", answer) for answer, times in answers for _ in range(times)]


def examination(source: Sequence[Given] | None, text: Sequence[Given] | None, repeat: int = 0) -> Examination:
    return Examination(
        repeat,
        None if source is None else questions("source", source),
        None if text is None else questions("text", text),
    )


def scores(*examinations: Examination, document: str = "a b c d", text: str = "a b") -> dict[str, Score]:
    found = scores_of(CefRecord(tuple(examinations)), document, text)
    return dict(zip(CEF_COMPONENTS, found, strict=True))


def values(*examinations: Examination) -> dict[str, float | None]:
    return {name: score.value for name, score in scores(*examinations).items()}


A_6 = examination(yes(("YES", 9), ("IDK", 1)), yes(("YES", 3), ("NO", 3), ("IDK", 4)))
"""001, A.6: a French text in which bats have become mice."""


def test_the_papers_own_example() -> None:
    found = values(A_6)
    assert found["coverage"] == pytest.approx(0.9)
    assert found["conformity"] == 1.0
    assert found["consistency"] == pytest.approx(0.6), "by the formula of section 3.1"
    assert found["consistency-code"] == pytest.approx(0.3), "as A.6 prints it, and as the code counts"
    assert found["overall"] == pytest.approx((0.9 + 1.0 + 0.6) / 3)
    assert found["conciseness"] == pytest.approx(0.5)


def test_every_answer_moves_its_own_score() -> None:
    found = values(
        examination(yes(("YES", 5), ("NO", 2), ("IDK", 1)), yes(("YES", 1), ("NO", 1), ("IDK", 2)))
    )
    assert found["coverage"] == pytest.approx(7 / 8)
    assert found["conformity"] == pytest.approx(6 / 8)
    assert found["consistency"] == pytest.approx(2 / 4)
    assert found["consistency-code"] == pytest.approx(1 / 4)


def test_what_could_not_be_parsed_is_in_no_share_and_counted() -> None:
    one = examination(yes(("YES", 3), ("IDK", 1), (None, 6)), yes(("NO", 1), (None, 1)))
    found = values(one)
    assert found["coverage"] == pytest.approx(3 / 4)
    assert found["consistency-code"] == 0.0
    assert [len(used_of(asked or ())) for asked in (one.from_source, one.from_text)] == [4, 1]


def test_mixed_questions_that_expect_idk_are_in_no_share() -> None:
    given: list[Given] = [
        ("YES", "YES"),
        ("YES", "NO"),
        ("NO", "NO"),
        ("NO", "YES"),
        ("NO", "IDK"),
        ("IDK", "IDK"),
        ("IDK", "YES"),
        ("IDK", None),
    ]
    one = examination(given, given)
    found = values(one)
    assert found["coverage"] == pytest.approx(4 / 5)
    assert found["conformity"] == pytest.approx(3 / 5), "YES for NO contradicts as NO for YES does"
    assert found["consistency"] == pytest.approx(4 / 5)
    assert found["consistency-code"] == pytest.approx(2 / 5)
    assert [(asked.expected, asked.answer) for asked in used_of(one.from_source or ())] == given[:5]


def test_mismatches_are_the_answers_that_are_not_the_expected_ones() -> None:
    one = examination(
        [("YES", "YES"), ("YES", "NO"), ("YES", None), ("NO", "NO")], [("IDK", "YES"), ("YES", "IDK")]
    )
    assert mismatches_of(one) == (
        Mismatch("source", "source 1?", "YES", "NO"),
        Mismatch("text", "text 0?", "IDK", "YES"),
        Mismatch("text", "text 1?", "YES", "IDK"),
    )
    assert mismatches_of(examination(None, ())) == ()


def test_repeats_are_averaged_where_they_are_defined() -> None:
    found = scores(
        examination(yes(("YES", 1), ("IDK", 1)), yes(("YES", 1)), 0),
        examination(yes(("YES", 4)), (), 1),
        examination(yes((None, 2)), None, 2),
    )
    assert found["coverage"] == Score(0.75)
    assert found["consistency"] == Score(1.0)
    assert found["overall"].value == pytest.approx((0.75 + 1 + 1) / 3)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (examination((), ()), {"coverage": "no questions", "consistency-code": "no questions"}),
        (
            examination(yes((None, 2)), [("IDK", "YES")]),
            {"conformity": "no answer could be used", "consistency": "no question expects YES or NO"},
        ),
        (
            Examination(
                0,
                None,
                questions("text", yes((None, 2))),
                (
                    ("questions from source", "cut off"),
                    ("answers from source", "busy"),
                    ("asked again", "refused"),
                ),
            ),
            {
                "coverage": "questions from source: cut off",
                "consistency": "answers from source: busy",
                "overall": "no coverage (questions from source: cut off)",
            },
        ),
        (
            Examination(0, None, None, (("translate back", "refused"),)),
            dict.fromkeys(CEF_COMPONENTS[:5], "translate back: refused"),
        ),
    ],
)
def test_why_there_is_no_score(one: Examination, expected: dict[str, str]) -> None:
    found = scores(one)
    for name, reason in expected.items():
        assert found[name] == Score(None, reason), name


def test_overall_needs_all_three() -> None:
    found = scores(examination(yes(("YES", 2)), ()))
    assert found["conformity"] == Score(1.0)
    assert found["overall"] == Score(None, "no consistency (no questions)")


@pytest.mark.parametrize(
    ("document", "text", "expected"),
    [
        ("One two three four five.", "One two.", 0.6),
        ("One two.", "One, two, three.", -0.5),
        ("one two", "", 1.0),
        ("it isn't 3.5 metres", "3.5", 0.75),
        ("これは水車です", "水車", 1 - 2 / 7),
        ("สวัสดี", "สวัสดี", 0.0),
    ],
)
def test_conciseness_is_the_share_of_words_saved(document: str, text: str, expected: float) -> None:
    assert conciseness(document, text).value == pytest.approx(expected)


def test_words_and_characters_do_not_compare() -> None:
    assert conciseness("The mill was built.", "水車が建てられた。").value is None
    assert conciseness("... !", "One.") == Score(None, "the document has no words")
    assert (count_words("A mill, 1832!"), count_words("水車です。")) == (3, 4)


def test_of_a_round_trip_the_back_translation_counts() -> None:
    record = CefRecord((A_6,), back_translation="one two three")
    found = dict(zip(CEF_COMPONENTS, scores_of(record, "one two three four", "水車"), strict=True))
    assert found["conciseness"] == Score(0.25)
