"""One file at every door: the same column is the question, the system, the item, the rater, wherever it is read."""

from typing import get_args

import pytest

from core.formats.panel import read_panel
from core.formats.registry import read_questions, read_ratings, read_scores, read_texts
from core.formats.study.files import layout_found, read_dataset
from core.tables.columns import SPECS, Door, known_at, named_columns

EXCEPTIONS = {
    ("study", "source", "system"),  # a study's table calls its system so
    ("study", "src", ""),
    ("questions", "answer", "reference"),  # a file of questions has references and no answers
    ("questions", "source", "context"),
    ("questions", "src", "context"),
    ("scores", "rating", ""),  # in a wide table of scores `rating` is a metric of its own
    ("panel", "user", ""),  # beside labels what a user wrote
    ("panel", "user_id", ""),
}
"""(door, name of a column, what it is there), where a door means something else; docs/formats.md says so."""
HEADER = "uid,Prompt,gold_answer,Model Name,completion,annotator"


@pytest.mark.parametrize("door", get_args(Door))
def test_a_name_means_the_same_at_every_door(door: Door) -> None:
    known = known_at(door)
    there = {"system" if name == "source" and door == "study" else name for name in known}
    different = set()
    for spec in SPECS:
        if spec.name not in there:
            continue
        for name in (spec.name, *spec.aliases, *spec.wider):
            read = named_columns([name], known).get(name, "")
            read = "system" if (door, read) == ("study", "source") else read
            if read != spec.name:
                different.add((door, name, read))
    # Tables of ratings and scores need no texts: there, names of other programs for them are labels.
    no_texts = {
        (door, name, "")
        for spec in SPECS
        if spec.type == "text" and door in ("ratings", "scores", "spans", "texts")
        for name in (spec.wider if door != "texts" else spec.wider if spec.name == "context" else ())
    }
    assert different <= EXCEPTIONS | no_texts


def table(header: str, *rows: str) -> bytes:
    return "\n".join([header, *rows]).encode()


def test_one_file_at_every_door() -> None:
    data = table(
        f"{HEADER},score,chrF",
        *(
            f"i{n},Question {n}?,Gold {n}.,{system},{system} says {n}.,anna,{n},0.{n}{at}"
            for n in range(1, 5)
            for at, system in enumerate(("x", "y"))
        ),
    )
    rows = {(f"i{n}", system) for n in range(1, 5) for system in ("x", "y")}
    asked = {f"i{n}": f"Question {n}?" for n in range(1, 5)}
    study = read_dataset(data, "a.csv")
    assert {(one.item_id, one.source) for one in study.outputs} == rows
    assert {item.item_id: item.question for item in study.items} == asked
    texts = read_texts(data, "a.csv").outputs
    assert {(one.item_id, one.system) for one in texts} == rows
    assert {one.item_id: one.source for one in texts} == asked
    assert {one.text for one in texts} == {one.text for one in study.outputs}
    assert {one.reference for one in texts} == {item.reference for item in study.items}
    ratings = read_ratings(data, "a.csv").ratings
    assert {(one.item_id, one.system) for one in ratings} == rows
    assert {one.rater for one in ratings} == {"anna"}
    scores = read_scores(data.replace(b",score,", b",other score,"), "a.csv")
    assert {(one.item_id, one.system) for one in scores.rows} == rows
    panel = read_panel(data, "a.csv", find=True, judges=["chrF"])
    assert {(one.item_id, one.system) for one in panel.rows} == rows
    assert panel.raters == ("anna",)
    questions = read_questions(data, "a.csv").materials
    assert {one.item.item_id: one.item.question for one in questions} == asked
    layout = layout_found(data, "a.csv")
    assert layout is not None
    assert layout.named == {
        "item_id": "uid",
        "question": "Prompt",
        "reference": "gold_answer",
        "system": "Model Name",
        "text": "completion",
    }


def test_without_ids_the_question_is_the_item_everywhere() -> None:
    data = table(
        "prompt,model,response,annotator,score,chrF",
        *(
            f"Question {n}?,{system},{system} says {n}.,anna,{n},0.{n}"
            for n in range(1, 5)
            for system in ("x", "y")
        ),
    )
    rows = {(f"Question {n}?", system) for n in range(1, 5) for system in ("x", "y")}
    assert {(one.item_id, one.source) for one in read_dataset(data, "a.csv").outputs} == rows
    assert {(one.item_id, one.system) for one in read_texts(data, "a.csv").outputs} == rows
    assert {(one.item_id, one.system) for one in read_ratings(data, "a.csv").ratings} == rows
    assert {
        (one.item_id, one.system) for one in read_scores(data.replace(b",score,", b",other,"), "a.csv").rows
    } == rows
    panel = read_panel(data, "a.csv", find=True, judges=["chrF"])
    assert {(one.item_id, one.system) for one in panel.rows} == rows


def test_beside_levels_the_names_of_other_programs_say_how_they_were_made() -> None:
    data = table(
        "item,level,generator,prompt,chrF",
        "a,0,llama,p1,1",
        "a,1,llama,p1,0",
        "a,0,qwen,p2,1",
        "a,1,qwen,p2,0",
    )
    found = read_scores(data, "a.csv")
    assert {tuple(sorted(one.labels.items())) for one in found.rows} == {
        (("generator", "llama"), ("prompt", "p1")),
        (("generator", "qwen"), ("prompt", "p2")),
    }
