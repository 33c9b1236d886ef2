"""Ratings go out as one JSON object a line and come back as they were."""

from core.datasets.rating_files import read_rating_file, write_ratings_jsonl
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
    found = read_rating_file(written, "ratings.jsonl")
    assert found.ratings == ratings
    assert not found.left_out
