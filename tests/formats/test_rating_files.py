"""Ratings go out as one JSON object a line and come back as they were."""

import pytest

from core.errors import InputError
from core.formats.ratings import write_ratings_jsonl
from core.formats.registry import read_ratings
from core.schema.scores import Rating, RatingSet


def test_what_is_written_is_read_back() -> None:
    ratings = (
        Rating("q1", -2.5, "GPT-4", "3", "Ана \u2028 Б", "fluency", "uk", {"data_set": "wmt"}),
        Rating("q2", 1.0, None, None, None, "overall", "und", {"data_set": "wmt"}),
        Rating("q2", 0.0, "a,b", "0", "r2", "overall", "ja", {"data_set": '"'}),
        Rating("q3", 0.5, "a", "1", "r2", "overall", "de", {"Value": "x", "reason": "y", "label:z": "z"}),
        Rating("q3", 0.5, "b", "1", "r2", "overall", "de", {"pair": "7", "language_pair": "en-de"}),
        Rating("q3", 0.5, "c", "1", "r2", "overall", "de", {"metric": "BLEU", "lp": "old"}),
    )
    written = write_ratings_jsonl(RatingSet(ratings, "", "", (), {}))
    assert len(written.decode().split("\n")) == 1 + len(ratings)
    found = read_ratings(written, "ratings.jsonl")
    assert found.ratings == ratings
    assert not found.left_out


def test_files_of_other_programs_are_told_by_their_names_and_keys() -> None:
    rated = b'{"item_id": "1", "system": "A", "text": "x", "ratings": [{"rater": "r", "dimension": "LA", "score": 2}]}\n'
    for name, data in (
        ("rated.jsonl", rated),
        ("en-de.mqm.seg.score", b"A\t2\nA\tNone\n"),
        ("en-de.mqm.seg.rating", b'A\t{"errors": []}\nA\tNone\n'),
    ):
        (one,) = read_ratings(data, name).ratings
        assert (one.item_id, one.system, one.score) == ("1", "A", 0 if "rating" in name else 2)
        with pytest.raises(InputError, match=r"already.*\. Remove the setting that lower is better"):
            read_ratings(data, name, lower_is_better=True)
    with pytest.raises(InputError) as caught:
        read_ratings(rated.replace(b'[{"rater"', b'[], "n": [{"rater"'), "rated.jsonl")
    assert caught.value.problems == ("file: contains no rated text; at least one is needed",)
    (one,) = read_ratings(b'{"item_id": "1", "score": 3, "ratings": 7}\n', "plain.jsonl").ratings
    assert one.score == 3
