"""Ratings of whatever form a file has are told apart by what it holds."""

import json

import pytest

from core.errors import InputError
from core.formats.registry import read_ratings, read_spans

RATED = {
    "item_id": "1",
    "system": "A",
    "text": "abc",
    "ratings": [{"rater": "r", "dimension": "LA", "score": 1, "spans": []}],
}
UNRATED = {"item_id": "1", "system": "B", "text": "abd"}
METAL = {"id": "7", "text": "abc", "ratings": [{"rater": "r", "LA": 2}]}


def lines(*rows: dict[str, object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("first", [RATED, UNRATED | {"ratings": []}, UNRATED | {"ratings": None}, UNRATED])
def test_rated_texts_are_none_of_metals_whatever_the_first_one_has(first: dict[str, object]) -> None:
    rows = [first] if first is RATED else [first, RATED]
    for data, name in ((json.dumps(rows).encode(), "rated.json"), (lines(*rows), "rated.jsonl")):
        (one,) = read_ratings(data, name).ratings
        assert (one.item_id, one.system, one.dimension, one.score) == ("1", "A", "LA", 1.0)
        (one,) = read_spans(data, name).ratings
        assert one.spans == ()


def test_metal_may_call_its_raters_ratings() -> None:
    (one,) = read_ratings(json.dumps([METAL]).encode(), "metal.json", flip=("LA",)).ratings
    assert (one.item_id, one.dimension, one.score) == ("7", "LA", 0.0)


def test_files_without_a_rating_are_refused() -> None:
    for row, said in (
        ({"id": "7", "text": "abc"}, "file: column score is missing"),
        (METAL | {"ratings": [2, 1]}, "[0], item 7, rating 1: is a number, expected an object"),
        (
            {"id": "7", "text": "abc", "annotations": [2]},
            "record 1: the raters' scores are a list, expected",
        ),
        (UNRATED | {"ratings": []}, "file: contains no rated text; at least one is needed"),
    ):
        with pytest.raises(InputError) as caught:
            read_ratings(json.dumps([row]).encode(), "metal.json")
        assert caught.value.problems[0].startswith(said)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b'{"errors": [{"start": 0, "end": %d, "severity": "minor", "category": "x", "score": 1}]}',
            "ends at",
        ),
        (
            b'{"item_id": "1", "text": "a", "ratings": [{"spans": [{"start": 0, "end": %d}]}]}',
            "expected a whole",
        ),
        (b'{"item_id": "1", "start": 0, "end": %d, "severity": "minor"}', "expected a whole"),
    ],
)
def test_no_span_ends_where_no_text_can(data: bytes, said: str) -> None:
    name = "x.seg.rating" if b"errors" in data else "x.jsonl"
    with pytest.raises(InputError) as caught:
        read_spans((b"A\t" if b"errors" in data else b"") + data % 10**30, name)
    assert said in caught.value.problems[0]
    assert "1,000,000,000" in caught.value.problems[0]
