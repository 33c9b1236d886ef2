"""Ratings nested in records, or in a column a dimension."""

import json
from collections.abc import Sequence

import pytest

from core.errors import InputError
from core.formats.ratings import NO_RATING
from core.formats.registry import read_rated, read_ratings
from core.schema.scores import Rating, RatingSet


def read(*records: dict[str, object], name: str = "ratings.jsonl") -> RatingSet:
    return read_ratings("".join(json.dumps(one) + "\n" for one in records).encode(), name)


def scores(found: RatingSet) -> list[tuple[str, str | None, str, float]]:
    return [(one.item_id, one.rater, one.dimension, one.score) for one in found.ratings]


def problems(*records: dict[str, object]) -> Sequence[str]:
    with pytest.raises(InputError) as caught:
        read(*records)
    return caught.value.problems


def test_dimensions_of_a_record() -> None:
    found = read(
        {"id": "1", "system": "A", "output": "x", "ratings": {"fluency": 4, "coherence": "3.5"}},
        {"id": "2", "system": "A", "output": "y", "ratings": {"fluency": {"score": 2, "why": "odd"}}},
        {"id": "3", "system": "A", "output": "z", "ratings": {"fluency": [1, 5], "coherence": None}},
        {"id": "4", "system": "A", "output": "z"},
    )
    assert scores(found) == [
        ("1", None, "fluency", 4),
        ("1", None, "coherence", 3.5),
        ("2", None, "fluency", 2),
        ("3", None, "fluency", 1),
        ("3", None, "fluency", 5),
    ]
    assert {one.system for one in found.ratings} == {"A"}
    assert found.left_out == {NO_RATING: 2}, "a null, and a record without ratings"


def test_raters_by_name_outside_or_inside() -> None:
    outside = read({"id": "1", "ratings": {"rater1": {"fluency": 4}, "rater2": {"fluency": 5}}})
    inside = read({"id": "1", "ratings": {"fluency": {"rater1": 4, "rater2": 5}}})
    alone = read({"id": "1", "ratings": {"rater1": 4, "rater2": 5}})
    assert scores(outside) == [("1", "rater1", "fluency", 4), ("1", "rater2", "fluency", 5)]
    assert scores(inside) == scores(outside)
    assert scores(alone) == [("1", "rater1", "overall", 4), ("1", "rater2", "overall", 5)]


def test_lists_of_annotations_as_summeval_has_them() -> None:
    experts = [{"coherence": 2, "fluency": 5, "note": "long"}, {"coherence": 4, "fluency": 5}]
    record = {"id": "dm-1", "decoded": "x", "expert_annotations": experts, "references": ["r"]}
    found = read(record)
    assert scores(found)[::2] == [("dm-1", None, "coherence", 2), ("dm-1", None, "coherence", 4)]
    assert len(found.ratings) == 4
    assert any("not used, because they contain no number: note" in note for note in found.notes)
    assert any(note.startswith("1 texts have several ratings without") for note in found.notes)
    crowd = read({**record, "turker_annotations": [{"coherence": 1, "worker_id": 7}]})
    assert scores(crowd)[-1] == ("dm-1", "7", "turker_annotations.coherence", 1)
    assert {one.dimension for one in crowd.ratings[:4]} == {
        "expert_annotations.coherence",
        "expert_annotations.fluency",
    }


def test_an_entry_may_name_its_rater_and_one_score() -> None:
    entry = {"annotator": "B", "dimension": "tone", "score": 3}
    assert scores(read({"id": "1", "annotations": [entry, {"rater": "C", "score": 1}]})) == [
        ("1", "B", "tone", 3),
        ("1", "C", "overall", 1),
    ]
    assert scores(read({"id": "1", "rater": "D", "score": {"tone": 2}})) == [("1", "D", "tone", 2)]
    assert scores(read({"id": "1", "human_scores": [4, 5]})) == [
        ("1", None, "overall", 4),
        ("1", None, "overall", 5),
    ]


def test_what_cannot_be_told_is_refused_with_its_place() -> None:
    (unclear,) = problems({"id": "1", "ratings": {"ann": {"fluency": 4}, "bob": {"fluency": 5}}})
    assert unclear.startswith("line 1: ratings: unclear whether ann, bob are raters and fluency dimensions")
    assert '[{"rater": "A", "fluency": 4}]' in unclear
    (mixed,) = problems({"id": "1", "ratings": {"rater1": 4, "fluency": 5}})
    assert "rater1 look like raters, but fluency like dimensions" in mixed
    good = {"id": "0", "ratings": {"fluency": 4}}
    assert problems(good, {"id": "1", "ratings": "high"}) == (
        "line 2: ratings is text, expected an object or a list of ratings",
    )
    assert problems(good, {"id": "1", "ratings": {"fluency": "high"}}) == (
        'line 2, rating 1, fluency: score is "high", expected a number',
    )


def test_a_rater_rates_a_dimension_of_a_text_once() -> None:
    twice = [{"rater": "A", "fluency": 4}, {"rater": "A", "fluency": 5}]
    assert problems({"id": "1", "annotations": twice}) == (
        "line 1, rating 2, fluency: the same rater, text and dimension (rater A, item 1) as in line 1, rating 1, fluency",
    )


def test_a_flat_score_wins_over_nested_fields_as_before() -> None:
    found = read({"id": "1", "score": 2, "annotations": {"fluency": 4}})
    assert scores(found) == [("1", None, "overall", 2)]


def test_rated_texts_take_nested_ratings_too() -> None:
    record = {"item_id": "1", "text": "abc", "ratings": {"rater1": {"LA": 2, "H": 1}}}
    found = read_rated(json.dumps(record).encode(), "rated.jsonl")
    assert [(one.rater, one.dimension, one.score) for one in found.texts[0].ratings] == [
        ("rater1", "LA", 2),
        ("rater1", "H", 1),
    ]
    listed = {"item_id": "1", "text": "abc", "ratings": [{"rater": "r", "LA": 2}]}
    assert read_rated(json.dumps(listed).encode(), "rated.jsonl").texts[0].ratings[0].rater == "r"
    assert scores(read(listed)) == [("1", "r", "LA", 2)]


def test_a_column_a_dimension_as_hanna_has_them() -> None:
    data = (
        b"item,system,Worker ID,Story Id,Relevance,Coherence,BLEU,Prompt\n"
        b"1,GPT,A1,17,4,3,.5,Once\n1,GPT,B2,17,5,,.5,Once\n1,Human,A1,18,1,2,.1,Twice\n"
    )
    found = read_ratings(data, "hanna.csv")
    assert [(one.system, one.dimension, one.score) for one in found.ratings] == [
        ("GPT", "Relevance", 4),
        ("GPT", "Coherence", 3),
        ("GPT", "Relevance", 5),
        ("Human", "Relevance", 1),
        ("Human", "Coherence", 2),
    ]
    assert found.left_out == {NO_RATING: 1}
    assert any("(Relevance, Coherence)" in note for note in found.notes)
    assert any("BLEU" in note for note in found.notes)
    turned = read_ratings(data, "hanna.csv", lower_is_better=True)
    assert turned.ratings[0].score == -4
    assert turned.ratings[0].rater == "A1"


def test_a_column_a_rater() -> None:
    found = read_ratings(b"item,rater1,rater2\n1,4,3\n2,5,n/a\n", "r.csv")
    assert found.ratings[1] == Rating("1", 3, rater="rater2")
    assert len(found.ratings) == 3


def test_tables_of_metrics_and_broken_cells_are_no_ratings() -> None:
    for data, said in (
        (b"item,bleu,chrF2\n1,2,3\n", "column score is missing"),
        (b"item,metric,human\n1,x,3\n", "column score is missing"),
        (b'item,tone\n1,2\n2,3\n3,"4,5"\n', "line 4, column tone: score is"),
    ):
        with pytest.raises(InputError) as caught:
            read_ratings(data, "t.csv")
        assert any(said in problem for problem in caught.value.problems), data
