"""Words as classes: of ratings and of scores, shown, in order; other words stay what they were."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from core.formats.registry import read_ratings, read_scores
from core.schema.scale import declared_scale
from core.tables.mapping import (
    SCALES,
    class_words,
    classes_of,
    majority_scale,
    number_declared,
    number_words,
    plain_word,
    scale_of,
)

TABLE = b"id,human,judge\n1,pass,Pass\n2,fail,pass\n3,pass,fail\n4,,fail\n"


def test_words_of_one_scale_have_their_numbers() -> None:
    assert classes_of(["Pass", "FAIL", "passed"]) == {"Pass": 1, "FAIL": 0, "passed": 1}
    assert classes_of(["agree", "strongly_disagree", "Neutral"]) == {
        "agree": 4,
        "strongly_disagree": 1,
        "Neutral": 3,
    }
    assert classes_of([True, False]) == {"True": 1, "False": 0}
    for words in ([], ["yes", "pass"], ["good", "nice"], ["good", 3], [None], [[]]):
        assert classes_of(words) is None


def test_no_scale_says_a_word_twice_and_every_scale_has_an_order() -> None:
    for _, classes in SCALES:
        words = [word for names in classes for word in names]
        assert len(words) == len(set(words)) >= len(classes) > 1


@pytest.mark.parametrize("case", [str.upper, str.title, str])
def test_every_scale_is_read_with_its_order_and_whole(case: Callable[[str], str]) -> None:
    for first, classes in SCALES:
        for k in range(max(map(len, classes))):  # a word of each class, the k-th if there are so many
            words = [case(names[min(k, len(names) - 1)]) for names in classes]
            numbers = [(classes_of(words) or {})[word] for word in words]
            assert numbers == sorted({*numbers})
        known = scale_of(case(names[0]) for names in classes)
        assert known is not None
        assert [*known.names.items()] == [*enumerate((names[0] for names in classes), first)]


def test_no_two_scales_order_the_same_two_words_differently() -> None:
    orders: dict[tuple[str, str], int] = {}
    for _, classes in SCALES:
        place = {word: at for at, names in enumerate(classes) for word in names}
        assert all(plain_word(word) == word for word in place), "words are written as they are compared"
        for pair in combinations(sorted(place), 2):
            order = int(np.sign(place[pair[1]] - place[pair[0]]))
            assert orders.setdefault(pair, order) == order, pair


@pytest.mark.parametrize(
    ("words", "classes"),
    [
        ("pass fail partial", ["fail", "partial", "pass"]),
        ("minor critical", ["critical", "major", "minor"]),
        ("bad OK", ["bad", "ok", "good"]),
        ("Better same", ["worse", "same", "better"]),
        ("gut schlecht", ["schlecht", "gut"]),
        ("immer nie", ["nie", "selten", "manchmal", "oft", "immer"]),
        ("oui non", ["non", "oui"]),
        (
            "d\u2019accord",
            ["pas du tout d'accord", "pas d'accord", "neutre", "d'accord", "tout à fait d'accord"],
        ),
    ],
)
def test_words_show_every_class_on_offer(words: str, classes: list[str]) -> None:
    known = scale_of(words.split())
    assert known is not None
    assert [*known.names.values()] == classes


def test_few_words_that_are_no_class_are_found() -> None:
    known = majority_scale({"pass": 20, "Fail": 10, "unsure": 5}, 3)
    assert known is not None
    assert [*known.names.values()] == ["fail", "pass"]
    assert majority_scale({"pass": 20, "Fail": 10, "unsure": 31}, 3) is None, "half of the cells"
    assert majority_scale({"pass": 20, "Fail": 10}, 3) is None, "nothing is odd"
    assert majority_scale({"a": 9, "b": 9, "x": 1}, 3) is None, "A and B may be the sides of a pair"


def test_ratings_and_scores_in_words_are_read_from_one_table() -> None:
    people = read_ratings(TABLE, "a.csv")
    said = {(one.item_id, one.rater): one.score for one in people.ratings}
    assert said == {("1", None): 1, ("2", None): 0, ("3", None): 1}
    table = read_scores(TABLE, "a.csv")
    assert [metric.name for metric in table.metrics] == ["judge"]
    assert table.values[:, 0].tolist() == [1, 1, 0, 0]
    for found in (people, table):
        assert any("fail = 0, pass = 1" in note for note in found.notes)


def test_nested_scores_are_no_words() -> None:
    nested = b'{"id": 1, "score": [{"rater": "A", "fluency": 4}]}\n'
    assert [one.score for one in read_ratings(nested, "a.jsonl").ratings] == [4]


@pytest.mark.parametrize("score", ["score", "rating"])
def test_a_score_in_words(score: str) -> None:
    data = f"item,rater,{score}\n1,a,strongly agree\n1,b,Disagree\n2,a,\n".encode()
    found = read_ratings(data, "a.csv")
    assert [(one.rater, one.score) for one in found.ratings] == [("a", 5), ("b", 2)]
    assert found.left_out == {"no rating": 1}


def test_beside_numbers_words_are_labels_as_before() -> None:
    table = read_scores(b"id,bleu,formal\n1,.5,yes\n2,.25,no\n", "a.csv")
    assert [metric.name for metric in table.metrics] == ["bleu"]
    assert [dict(row.labels) for row in table.rows] == [{"formal": "yes"}, {"formal": "no"}]
    ratings = read_ratings(b"id,fluency,formal\n1,3,yes\n2,2,no\n", "a.csv").ratings
    assert [(one.dimension, dict(one.labels)) for one in ratings] == [
        ("fluency", {"formal": "yes"}),
        ("fluency", {"formal": "no"}),
    ]


CSV = b"id,system,human\n\n1,a,pass\n2,a,Fail\n3,a,\n"
JSONL = b'{"id": 1, "score": true}\n{"id": 2, "score": false}\n'


def test_what_a_page_shows_of_classes_is_what_is_read() -> None:
    assert class_words(CSV, "a.csv") == {"human": {"pass": 1, "Fail": 0}}
    assert class_words(JSONL, "a.jsonl") == {"score": {"True": 1, "False": 0}}
    assert class_words(b"id,bleu,formal\n1,.5,yes\n", "a.csv") == {}, "beside numbers words are labels"
    assert class_words(b"id,rater,score\n1,yes,good\n", "a.csv") == {"score": {"good": 1}}


def test_other_numbers_stand_in_the_place_of_words() -> None:
    changed = number_words(CSV, "a.csv", {"human": {"pass": 5, "Fail": 0.5}})
    assert changed == b"id,system,human\n\n1,a,5\n2,a,0.5\n3,a,\n"
    assert [one.score for one in read_ratings(changed, "a.csv").ratings] == [5, 0.5]
    changed = number_words(JSONL, "a.jsonl", {"score": {"True": 3.0, "False": 2.0}})
    assert changed == b'{"id": 1, "score": 3.0}\n{"id": 2, "score": 2.0}\n'
    changed = number_words(b'[{"id": 1, "score": "yes"}]', "a.json", {"score": {"yes": 2.0}})
    assert changed == b'[{"id": 1, "score": 2.0}]'


def test_a_cell_that_holds_a_list_or_a_number_is_no_class() -> None:
    assert classes_of(["pass", {"score": 1}]) is None
    assert classes_of([["pass"], "fail"]) is None
    assert classes_of(["no", 1]) is None


def test_declared_classes_and_missing_cells_of_a_file() -> None:
    declared = declared_scale(None, ["awful", "fine", "good"], ["unsure", "99"])
    csv = b"id,human,note,n\n1,good,good,99\n2,Unsure,see 1,2\n3,awful,,1\n"
    assert number_declared(csv, "a.csv", declared) == b"id,human,note,n\n1,2,good,\n2,,see 1,2\n3,0,,1\n"
    jsonl = b'{"id": "x", "human": "fine"}\n{"id": "y", "human": "unsure"}\n'
    assert (
        number_declared(jsonl, "a.jsonl", declared)
        == b'{"id": "x", "human": 1}\n{"id": "y", "human": null}\n'
    )
    assert number_declared(csv, "a.csv", declared_scale()) == csv
