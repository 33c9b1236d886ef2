"""Human ratings out of tables: raters, dimensions, polarity, and what is no rating."""

import json
from functools import partial

import pytest
from helpers.processes.traced_memory import traced_memory

from core.errors import InputError
from core.formats.registry import read_ratings
from core.schema.scores import Rating

TABLE = """item,system,rater,score,dimension,language
q1,GPT,ann,2,fluency,en
q1,GPT,bob,0,fluency,en
q1,GPT,ann,1,adequacy,en
q2,GPT,ann,,fluency,uk
"""


def test_a_long_table() -> None:
    found = read_ratings(TABLE.encode(), "ratings.csv")
    assert found.ratings == (
        Rating("q1", 2.0, "GPT", None, "ann", "fluency", "en"),
        Rating("q1", 0.0, "GPT", None, "bob", "fluency", "en"),
        Rating("q1", 1.0, "GPT", None, "ann", "adequacy", "en"),
    )
    assert found.left_out == {"no rating": 1}


def test_other_names_and_other_columns() -> None:
    lines = [
        {"segment_id": 3, "lp": "en-de", "annotator": "a1", "rating": 88.5, "domain": "news", "mt": "Hallo"},
        {
            "segment_id": 4,
            "lp": "en-de",
            "annotator": "a1",
            "rating": float("nan"),
            "domain": "news",
            "mt": "Tag",
        },
    ]
    found = read_ratings("\n".join(map(json.dumps, lines)).encode(), "x.jsonl")
    (one,) = found.ratings
    assert one == Rating(
        "3", 88.5, None, None, "a1", "overall", "de", {"domain": "news", "language_pair": "en-de"}
    )
    assert (found.left_out, found.notes) == ({"no rating": 1}, ("columns not used: text",))
    assert read_ratings(json.dumps(lines[:1]).encode(), "x.json").ratings == (one,)


def test_a_scale_on_which_lower_is_better_is_turned() -> None:
    found = read_ratings(TABLE.encode(), "x.csv", lower_is_better=True)
    assert [rating.score for rating in found.ratings] == [-2.0, 0.0, -1.0]
    assert str(found.ratings[1].score) == "0.0"
    assert "signs were reversed, because lower is better in the file" in found.notes


def test_one_rater_rates_a_text_once_on_a_dimension() -> None:
    with pytest.raises(InputError) as caught:
        read_ratings((TABLE + "q1,GPT,ann,1,fluency,en\n").encode(), "x.csv")
    assert caught.value.problems == (
        "line 6: the same rater, text and dimension (rater ann, item q1) as in line 2",
    )


def test_without_raters_names_several_ratings_are_several_raters() -> None:
    found = read_ratings(b"item,score\n1,2\n1,3\n2,1\n", "x.csv")
    assert len(found.ratings) == 3
    assert found.notes == (
        "1 texts have several ratings without a rater's name; they count as different raters'",
    )


def test_all_problems_together() -> None:
    with pytest.raises(InputError) as caught:
        read_ratings(b"item,score,language\n1,good,en\n,2,en\n3,inf,en\n4,1,??\n", "x.csv")
    assert caught.value.problems == (
        'line 2: score is "good", expected a number',
        "line 3: item_id is missing",
        "line 4: score is infinite, expected a number",
        "line 5: language is not a tag such as en, pt-BR or und (??)",
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"item,bleu\n1,2\n", "column score is missing"),
        (b"item,score\n1,\n", "contains no rating"),
        (b"score\n1\n", "column item_id is missing"),
    ],
)
def test_files_without_ratings(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_ratings(data, "x.csv")


def test_ratings_of_many_texts_take_little_room():
    """800 bytes a row at the peak and 200 at the end; with names and labels of each row's own it was half as much again."""
    data = "item,system,score\n" + "".join(f"q{at // 5},s{at % 5},{at / 7}\n" for at in range(20_000))
    read = partial(read_ratings, data.encode(), "ratings.csv")
    assert len(read().ratings) == 20_000
    kept, peak = traced_memory(read)
    assert kept < 270 * 20_000
    assert peak < 900 * 20_000
