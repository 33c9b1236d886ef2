"""Rated texts: what a file says of texts and ratings, how the two meet, and that nothing is lost on the way."""

import json

import pytest

from core.errors import InputError
from core.formats.rated import outputs_of, rated_of, ratings_of, write_rated
from core.formats.ratings import OVERALL
from core.formats.registry import read_rated
from core.schema.scores import ErrorSpan, OutputSet, RatedText, Rating, RatingSet, ScorableOutput

SPAN = {"start": 4, "end": 9, "severity": "major", "category": "accuracy/mistranslation", "weight": 5.0}


def lines(*rows: dict) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def outputs(*texts: ScorableOutput) -> OutputSet:
    return OutputSet(texts, "", "texts.jsonl")


def ratings(*found: Rating) -> RatingSet:
    return RatingSet(found, "", "ratings.jsonl")


def problems_of(data: bytes, name: str = "rated.jsonl") -> list[str]:
    with pytest.raises(InputError) as caught:
        read_rated(data, name)
    return list(caught.value.problems)


def test_what_a_line_says() -> None:
    found = read_rated(
        lines(
            {
                "item_id": 1,
                "system": "A",
                "text": "Das blaue Haus",
                "source": "The red house",
                "level": "A1",
                "language": "de",
                "domain": "news",
                "ratings": [
                    {"rater": "r1", "score": -5, "spans": [SPAN]},
                    {"rater": "r1", "dimension": "LA", "score": 2},
                    {"rater": "r2", "spans": []},
                    {
                        "spans": [
                            {"start": 0, "end": 3, "severity": "minor", "category": "fluency/punctuation"}
                        ]
                    },
                ],
            },
            {"item_id": "2", "system": "A", "text": "Kein Urteil", "ratings": None},
        ),
        "rated.jsonl",
    )
    first, second = found.texts
    assert second.ratings == ()
    assert first.output.labels == {"domain": "news"}
    assert {(r.item_id, r.system, r.level, r.language) for r in first.ratings} == {("1", "A", "A1", "de")}
    assert [(r.rater, r.dimension, r.score) for r in first.ratings] == [
        ("r1", OVERALL, -5.0),
        ("r1", "LA", 2.0),
        ("r2", OVERALL, 0.0),
        (None, OVERALL, -0.1),  # minor punctuation
    ]
    assert first.ratings[0].spans == (ErrorSpan(4, 9, "major", "accuracy/mistranslation", 5.0),)
    assert first.ratings[1].spans is None
    assert first.ratings[2].spans == ()
    assert ratings_of(found).ratings == first.ratings
    assert outputs_of(found).outputs == (first.output, second.output)


def test_texts_stay_as_written_because_spans_count_their_characters() -> None:
    text = "  é\r\n😀 مرحبا \n"
    span = {"start": 7, "end": 12, "severity": "minor", "category": "other"}
    (read,) = read_rated(
        lines({"item_id": "1", "text": text, "ratings": [{"spans": [span]}]}), "x.jsonl"
    ).texts
    assert read.output.text == text
    (found,) = read.ratings[0].spans
    assert read.output.text[found.start : found.end] == "مرحبا"


@pytest.mark.parametrize(
    "text", ["plain", "", " ", "e\u0301 😀\u200d👩", "مرحبا بالعالم", "a\r\nb\r\n", "\ufeffx"]
)
def test_what_is_written_is_read_again(text: str) -> None:
    output = ScorableOutput(
        "7",
        "S 1",
        text,
        source="source\r\n",
        level="A2",
        language="ar",
        labels={"ratings": "x", "text": "y", "domain": "news"},
    )
    spans = (
        ErrorSpan(0, len(text), "critical", "non-translation"),
        ErrorSpan(0, 0, "minor", "accuracy/omission", 1.0, True),
    )
    names = ("7", "S 1", "A2", "ar", output.labels)
    own = [
        Rating(names[0], -25.0, names[1], names[2], rater, dimension, names[3], names[4], marked)
        for rater, dimension, marked in (("r", "overall", spans), ("r", "LA", None), (None, "H", ()))
    ]
    texts = (RatedText(output, tuple(own)), RatedText(ScorableOutput("8", "T", "unrated")))
    again = read_rated(write_rated(texts), "again.jsonl")
    assert again.texts == texts
    assert again.notes == ()


def test_a_file_of_plain_texts_has_texts_without_ratings() -> None:
    found = read_rated(b"item_id,system,text,reference\n1,A,one,ref\n2,A,,ref\n", "texts.csv")
    assert [(text.output.text, text.ratings) for text in found.texts] == [("one", ())]
    assert found.left_out == {"no text": 1}


def test_spans_that_reach_beyond_the_end_are_cut_with_a_note() -> None:
    long = SPAN | {"end": 99}
    data = lines({"item_id": "1", "system": "A", "text": "Das blaue Haus", "ratings": [{"spans": [long]}]})
    found = read_rated(data, "x.jsonl")
    assert found.texts[0].ratings[0].spans[0].end == 14
    assert found.notes == (
        "cut 1 span that reaches beyond the end of the text: line 1, item 1, rating 1, span 1",
    )


def test_every_problem_is_named_with_its_place() -> None:
    data = lines(
        {"item_id": "1", "text": "abc", "ratings": {"score": 1}},
        {"item_id": "2", "text": "abc", "ratings": [7, {"score": "x"}, {"score": 1, "rating": 2}, {}]},
        {
            "item_id": "3",
            "text": "abc",
            "ratings": [
                {"spans": [SPAN]},
                {"spans": [{"start": 2, "end": 1, "severity": "minor", "category": "x"}]},
                {"spans": [{"start": -1, "end": "b", "severity": "", "kind": 1}]},
                {"spans": "none"},
            ],
        },
        {"item_id": "4", "text": "abc", "ratings": [{"rater": "a", "score": 1}, {"rater": "a", "score": 2}]},
        {"item_id": "5", "text": "a", "ratings": [{"spans": [SPAN | {"start": 0, "end": 1, "weight": -1}]}]},
    )
    assert problems_of(data) == [
        "line 1, item 1: ratings is an object, expected a list of objects",
        "line 2, item 2, rating 1: is a number, expected an object",
        'line 2, item 2, rating 2: score is "x", expected a number',
        "line 2, item 2, rating 3: rating is unknown; expected rater, dimension, score or spans",
        "line 2, item 2, rating 4: score is missing, and no errors are marked",
        "line 3, item 3, rating 1, span 1: starts at 4, but the text has 3 characters",
        "line 3, item 3, rating 2, span 1: starts at 2 and ends at 1, expected 0 <= start <= end",
        "line 3, item 3, rating 3, span 1: kind is unknown; expected start, end, severity, category, weight, in_source",
        "line 3, item 3, rating 3, span 1: start is -1, expected a whole number from 0",
        "line 3, item 3, rating 3, span 1: end is b, expected a whole number from 0",
        "line 3, item 3, rating 3, span 1: severity is missing",
        "line 3, item 3, rating 3, span 1: category is missing",
        "line 3, item 3, rating 4: spans is text, expected a list of objects",
        "line 3, item 3, rating 4: score is missing, and no errors are marked",
        "line 4, item 4: rater a rates dimension overall 2 times",
        "line 5, item 5, rating 1, span 1: weight is -1, expected a number from 0",
    ]


def test_ratings_meet_their_texts() -> None:
    texts = outputs(
        ScorableOutput("1", "A", "null", level="A0", language="de", labels={"domain": "news"}),
        ScorableOutput("1", "A", "drei", level="A3", language="de", labels={"domain": "news"}),
        ScorableOutput("2", "A", "zwei", level="A0", language="de"),
    )
    found = rated_of(
        texts,
        ratings(
            Rating("1", 3.0, "A", "3", rater="r"),  # A3, 3 and L3 are one level; the language is left blank
            Rating("1", 1.0, "A", "A0", rater="r", language="de", labels={"batch": "7"}),
            Rating("9", 1.0, "A", "A0", rater="r"),
            Rating("1", 1.0, "B", "A0", rater="r"),
        ),
        ratings(Rating("2", -1.0, "A", "A0", spans=(ErrorSpan(2, 9, "minor", "other"),))),
    )
    assert [[r.score for r in text.ratings] for text in found.texts] == [[1.0], [3.0], [-1.0]]
    assert found.texts[0].ratings[0].labels == {"domain": "news"}
    assert found.left_out == {"ratings without a matching text": 2}
    assert found.texts[2].ratings[0].spans == (ErrorSpan(2, 4, "minor", "other"),)
    (note,) = found.notes
    assert note.startswith("cut 1 span that reaches beyond the end of the text: ratings.jsonl: item 2")


def test_language_counts_where_items_have_several() -> None:
    texts = outputs(*(ScorableOutput("1", "A", tag, language=tag) for tag in ("de", "ja")))
    found = rated_of(
        texts, ratings(Rating("1", 1.0, "A", language="ja"), Rating("1", 2.0, "A", language="fr"))
    )
    assert [[r.score for r in text.ratings] for text in found.texts] == [[], [1.0]]
    assert found.left_out == {"ratings whose text exists only in another language or data set": 1}
    with pytest.raises(InputError) as caught:
        rated_of(texts, ratings(Rating("1", 1.0, "A", language="ja"), Rating("1", 2.0, "A")))
    assert caught.value.problems == ("ratings.jsonl: item 1, system A: matches 2 texts; add its language",)


def test_ratings_without_systems_or_levels_meet_all_the_same() -> None:
    texts = outputs(ScorableOutput("1", "output", "a"), ScorableOutput("2", "output", "b"))
    found = rated_of(texts, ratings(Rating("2", 1.0), Rating("1", 2.0)))
    assert [[r.score for r in text.ratings] for text in found.texts] == [[2.0], [1.0]]


def test_spans_that_cannot_lie_in_their_text_are_problems() -> None:
    texts = outputs(ScorableOutput("1", "A", "abc"))
    twice = Rating("1", 1.0, "A", rater="r")
    with pytest.raises(InputError) as caught:
        rated_of(
            texts, ratings(Rating("1", -1.0, "A", spans=(ErrorSpan(4, 5, "minor", "other"),)), twice, twice)
        )
    assert caught.value.problems == (
        "ratings.jsonl: item 1, system A, span 1: starts at 4, but the text has 3 characters",
        "item 1, system A: rater r rates dimension overall 2 times",
    )
