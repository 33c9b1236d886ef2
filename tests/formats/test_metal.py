"""METAL-style JSON: all its forms say the same, and dimensions can be turned."""

import json

import numpy as np
import pytest

from core.errors import InputError
from core.formats.metal import SCALES, read_metal
from core.formats.rated import write_rated
from core.formats.registry import read_rated

ABOUT = {
    "id": 7,
    "language": "sw",
    "task": "summary",
    "model": "gpt-4",
    "passage": "Chanzo.",
    "summary": "Muhtasari.",
}
SCORES = {"a": {"LA": 2, "H": 0}, "b": {"LA": 1, "H": 1}}
"""As METAL has it: H 1 is a hallucination."""


def read(value: object, name: str = "metal.json", **options: object):
    return read_metal(json.dumps(value).encode(), name, **options)


def scores_of(found) -> set[tuple]:
    return {(r.rater, r.dimension, r.score) for r in found.ratings.ratings}


def problems_of(value: object, **options: object) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read(value, **options)
    return tuple(caught.value.problems)


@pytest.mark.parametrize(
    "scores",
    [
        {"annotations": SCORES},
        {"annotations": [{"annotator": who, **own} for who, own in SCORES.items()]},
        {"annotations": [{"rater": who, "scores": own} for who, own in SCORES.items()]},
        {
            "human": {
                "Linguistic Acceptability": {"a": 2, "b": 1},
                "hallucinations": {"a": 0, "b": {"score": 1}},
            }
        },
        {"linguistic_acceptability": {"a": 2, "b": 1}, "H": {"a": 0, "b": 1}},
    ],
)
def test_forms_that_name_raters(scores: dict) -> None:
    for value in ([ABOUT | scores], {"data": [ABOUT | scores]}, {"7": ABOUT | scores}, ABOUT | scores):
        found = read(value, flip=("H",))
        assert scores_of(found) == {("a", "LA", 2), ("a", "H", 1), ("b", "LA", 1), ("b", "H", 0)}
        (text,) = found.rated.texts
        assert (text.output.item_id, text.output.system, text.output.language) == ("7", "gpt-4", "sw")
        assert (text.output.text, text.output.source) == ("Muhtasari.", "Chanzo.")
        assert text.output.labels == {"task": "summary"}
        assert found.evaluators is None
        assert found.rated.notes == ("scores reversed, because lower is better in the file: H",)


def test_forms_that_name_no_rater() -> None:
    found = read([ABOUT | {"LA": [2, 1, None], "H": [0, 1, 1]}])
    assert sorted((r.dimension, r.score) for r in found.ratings.ratings) == [
        ("H", 0), ("H", 1), ("H", 1), ("LA", 1), ("LA", 2),
    ]  # fmt: skip
    assert {r.rater for r in found.ratings.ratings} == {None}
    assert found.rated.left_out == {"no rating": 1}


def test_evaluators_are_turned_as_people_are() -> None:
    said = {"LA": {"score": 2, "justification": "good"}, "H": 1}
    other = {"id": 8, "text": "x", "annotations": SCORES}
    found = read(
        [ABOUT | {"annotations": SCORES, "evaluators": {"gpt-4": said}}, other], flip=["Hallucinations"]
    )
    assert [metric.name for metric in found.evaluators.metrics] == ["gpt-4-LA", "gpt-4-H"]
    assert found.evaluators.values[0].tolist() == [2, 0]
    assert np.isnan(found.evaluators.values[1]).all()
    assert [row.item_id for row in found.evaluators.rows] == ["7", "8"]
    alone = read([ABOUT | {"evaluator": {"LA": 1}, "annotations": SCORES}])
    assert [metric.name for metric in alone.evaluators.metrics] == ["evaluator-LA"]


def test_texts_with_their_ratings_go_on_as_rated_texts() -> None:
    found = read([ABOUT | {"annotations": SCORES}])
    assert read_rated(write_rated(found.rated.texts), "x.jsonl").texts == found.rated.texts


def test_lines_of_json() -> None:
    lines = "".join(json.dumps(ABOUT | {"id": n, "annotations": SCORES}) + "\n" for n in (1, 2))
    found = read_metal(lines.encode(), "metal.jsonl")
    assert [text.output.item_id for text in found.rated.texts] == ["1", "2"]


def test_other_dimensions_and_scales() -> None:
    value = [ABOUT | {"annotations": {"a": {"toxicity": 5}}}]
    assert scores_of(read(value)) == {("a", "toxicity", 5)}
    turned = read(value, flip=("toxicity",), scales=SCALES | {"toxicity": (1, 5)})
    assert scores_of(turned) == {("a", "toxicity", 1)}
    assert problems_of(value, flip=("toxicity",)) == ("flip: the scale of toxicity is unknown",)


def test_problems_name_record_rater_and_dimension() -> None:
    rows = [
        7,
        {"id": 1, "annotations": SCORES},
        ABOUT | {"annotations": {"a": {"LA": 3, "H": "x", "PC": True}}},
        ABOUT | {"language": "?", "annotations": SCORES},
        ABOUT | {"annotations": SCORES},
    ]
    assert problems_of(rows) == (
        "record 1: is a number, expected an object",
        "record 2: text is missing or empty",
        "record 3, a, LA: score 3 is not between 0 and 2",
        'record 3, a, H: score is "x", expected a number',
        "record 3, a, PC: score is true or false, expected a number",
        "record 4: language is not a tag such as en, pt-BR or und (?)",
        "item 7, system gpt-4: 2 records share this id, system, language and task",
    )
    same = ABOUT | {"annotations": [{"rater": "a", "LA": 1}, {"rater": "a", "LA": 2}]}
    assert problems_of([same]) == ("record 1: rater a rates dimension LA 2 times",)
    assert problems_of([]) == ("file: contains no record; at least one is needed",)
    assert problems_of([ABOUT | {"annotations": SCORES}], flip=("PC",)) == ("flip: no text is rated on PC",)
