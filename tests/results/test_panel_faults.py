"""What the reader of panels once misread: empty systems and columns, scales of equal ratings, dimensions, and what items are."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from core.errors import InputError
from core.formats.panel import read_panel
from core.formats.panel.judge_files import judge_scores
from core.formats.panel.repeats import Repeated
from core.joining.panel import NO_NAME
from core.schema.analysis import RepeatedRatings
from core.schema.panel import Panel
from core.tables.roles import Undecided, roles_said


def _read(text: str, **asked: object) -> Panel:
    return read_panel(text.encode(), "file.csv", find=True, **asked)  # type: ignore[arg-type]


def test_texts_without_a_system_are_one_system_beside_named_ones() -> None:
    named = "".join(f"{at},{'AB'[at % 2]},{at % 2},1\n" for at in range(10))
    some = "".join(f"{at},{'AB'[at % 2] if at % 5 else ''},{at % 2},1\n" for at in range(10))
    found, whole = (_read(f"id,system,human,judge\n{rows}") for rows in (some, named))
    assert found.left_out == {}
    assert sorted(set(found.systems.tolist())) == ["A", "B", NO_NAME]
    assert (found.systems == NO_NAME).sum() == 2
    assert np.array_equal(found.ratings, whole.ratings)
    assert any("2 of 10" in note for note in found.notes)
    assert not any(NO_NAME in note for note in whole.notes)


def test_a_row_of_a_long_table_without_a_system_is_no_text_of_another() -> None:
    """Whether a blank means the system of the row above or another one, nothing tells: two texts never become one."""
    found = _read(
        "id,system,rater,score\n1,,a,1\n1,B,b,0\n1,,gpt-4,1\n1,B,gpt-4,0\n2,,a,1\n2,B,b,1\n2,,gpt-4,1\n2,B,gpt-4,1\n"
    )
    assert sorted(found.systems.tolist()) == ["B", "B", NO_NAME, NO_NAME]
    assert np.isnan(found.ratings).sum() == 4
    both = _read(
        "id,system,rater,score\n1,,a,1\n1,B,a,0\n1,,gpt-4,1\n1,B,gpt-4,0\n2,,a,1\n2,B,a,1\n2,,gpt-4,1\n2,B,gpt-4,1\n"
    )
    assert not np.isnan(both.ratings).any()


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("id,human_label,judge\n1,,1\n2,,0\n", "human_label"),
        ("id,label,judge\n1,,1\n2,,0\n", "label"),
        ("id,rater,rating,judge\n1,a,,1\n2,a,,0\n", "rating"),
        ("id,annotator,human score,judge\n1,a,,1\n2,a,,0\n", "human score"),
        ("id,rater,score\n1,a,\n2,a,\n1,gpt-4,1\n2,gpt-4,0\n", "score"),
    ],
)
@pytest.mark.parametrize("find", [True, False])
def test_an_empty_column_is_named(text: str, column: str, find: bool) -> None:
    with pytest.raises(InputError) as refused:
        read_panel(text.encode(), "file.csv", find=find)
    assert f"column {column}" in str(refused.value)
    assert "empty" in str(refused.value)


def test_an_empty_column_of_a_judge_is_named() -> None:
    with pytest.raises(Undecided) as refused:
        _read("id,human,judge\n1,1,\n2,0,\n")
    assert "column judge" in str(refused.value)


def test_an_empty_column_that_the_user_names_is_named() -> None:
    with pytest.raises(InputError) as refused:
        _read("id,mine,judge\n1,,1\n2,,0\n", human=["mine"])
    assert "column mine" in str(refused.value)


def test_a_rater_without_any_rating_is_left_out_with_a_note() -> None:
    found = _read("id,rater,score\n1,a,1\n2,a,0\n1,b,\n2,b,\n1,gpt-4,1\n2,gpt-4,0\n")
    assert found.raters == ("a",)
    assert any(note.startswith("b: not used") for note in found.notes)


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        (range(1, 6), (1, 2, 3, 4, 5)),
        ([1.5, 2.5, 4.5], (1, 2, 3, 4, 5)),
        ([0, 1], (0, 1)),
        ([0.2, 0.9], (0, 1)),
        ([20, 60, 100], ()),
    ],
)
def test_equal_ratings_take_their_scale_from_the_judge_too(scores: list[float], scale: tuple[int]) -> None:
    rows = "".join(f"{at},1,{score}\n" for at, score in enumerate(scores))
    assert _read(f"id,human,judge\n{rows}").scale.classes == scale


def test_both_of_two_classes_stay_two_beside_a_graded_judge() -> None:
    rows = "".join(f"{at},{at % 2},{1 + at % 5}\n" for at in range(20))
    assert _read(f"id,human,judge\n{rows}").scale.classes == (0, 1)


_DIMENSIONS = "id,human_coherence,human_fluency,judge_coherence,judge_fluency\n" + "".join(
    f"{at},{1 + at % 5},{1 + at % 3},{1 + at % 5},{1 + at % 4}\n" for at in range(12)
)


@pytest.mark.parametrize("people_alone", [False, True])
def test_one_person_with_a_column_a_dimension_is_not_two_raters(people_alone: bool) -> None:
    with pytest.raises(Undecided) as refused:
        _read(_DIMENSIONS, people_alone=people_alone)
    assert refused.value.problems[0].startswith("dimension: ")
    chosen = _read(_DIMENSIONS, people_alone=people_alone, dimension="fluency")
    assert chosen.raters == ("human_fluency",)
    assert chosen.judges == (() if people_alone else ("judge_fluency",))


def test_names_of_two_people_are_no_dimensions() -> None:
    rows = "".join(f"{at},{1 + at % 5},{1 + at % 3},{1 + at % 4}\n" for at in range(12))
    assert _read(f"id,human_anna,human_ben,judge\n{rows}").raters == ("human_anna", "human_ben")


_TWICE = (
    "item_id,rater,score,seconds\nq1,w1,1,5\nq1,w1,0,6\nq1,w2,1,7\nq2,w1,0,8\nq1,gpt-4,1,9\nq2,gpt-4,0,9\n"
)
_WIDE_TWICE = "id,human,judge\nq1,1,1\nq2,0,0\nq1,4,3\n"


@pytest.mark.parametrize("text", [_TWICE, _WIDE_TWICE])
def test_repeated_ratings_are_refused_with_their_number_and_the_option(text: str) -> None:
    with pytest.raises(Repeated) as refused:
        _read(text)
    (said,) = [one for one in refused.value.problems if one.startswith("repeated: ")]
    assert "1 rating" in said


@pytest.mark.parametrize(
    ("policy", "rating", "wide"),
    [("first", 1, (1, 1)), ("last", 0, (4, 3)), ("mean", 0.5, (2.5, 2))],
)
@pytest.mark.parametrize("find", [True, False])
def test_the_rating_that_the_user_names_counts(
    policy: RepeatedRatings, rating: float, wide: tuple[float, float], find: bool
) -> None:
    found = read_panel(_TWICE.encode(), "file.csv", find=find, repeated=policy)
    first = [row.item_id for row in found.rows].index("q1")
    assert found.ratings[first].tolist() == [rating, 1]
    assert np.isnan(found.ratings[1 - first, 1])
    assert any(note.startswith("1 rating of a text") for note in found.notes)
    found = read_panel(_WIDE_TWICE.encode(), "file.csv", find=find, repeated=policy)
    assert [row.item_id for row in found.rows] == ["q1", "q2"]
    assert (found.ratings[0, 0], found.scores[0, 0]) == wide


def test_a_policy_that_no_rating_needs_changes_nothing() -> None:
    text = "id,human,judge\nq1,1,1\nq2,0,0\n"
    assert _read(text, repeated="mean").notes == _read(text).notes


@pytest.mark.parametrize(
    "text",
    [
        "id,human,judge\nq1,pass,pass\nq1,fail,pass\n",
        "id,rater,score\nq1,a,pass\nq1,a,fail\nq1,gpt-4,pass\n",
    ],
)
def test_words_have_no_mean(text: str) -> None:
    with pytest.raises(InputError) as refused:
        _read(text, repeated="mean")
    assert refused.value.problems[0].startswith("repeated: ")


def test_rows_that_are_texts_repeat_nothing() -> None:
    with pytest.raises(InputError) as refused:
        _read(_WIDE_TWICE, repeated="first", item="row")
    assert refused.value.problems[0].startswith("repeated: ")


@pytest.mark.parametrize(
    "name", ["DeepSeek", "LLaMA2", "MiniMax-M2", "QwQ", "SummaC", "AlignScore", "BARTScore"]
)
@pytest.mark.parametrize(
    "spelled", [str, str.lower, str.upper, "{}_score".format, "{}-32B".format, "{} label".format]
)
def test_models_and_metrics_are_judges_however_they_are_spelled(
    name: str, spelled: Callable[[str], str]
) -> None:
    rows = "".join(f"{at},{at % 2},{at // 2 % 2}\n" for at in range(20))
    assert _read(f"id,human,{spelled(name)}\n{rows}").judges == (spelled(name),)


@pytest.mark.parametrize("words", [("model_a", "model_b", "tie"), ("A", "B", "tie"), ("first", "second", "both"), ("left", "right", "tie")])  # fmt: skip
def test_winners_are_labels_without_an_order(words: tuple[str, ...]) -> None:
    rows = "".join(f"q{at},A,B,{words[at % 3]},{words[at // 3 % 3]}\n" for at in range(30))
    found = _read(f"question,model_a,model_b,human_winner,judge_winner\n{rows}")
    assert (found.raters, found.judges) == (("human_winner",), ("judge_winner",))
    assert found.scale.kind == "unordered"


def test_verdicts_in_blocks_are_columns() -> None:
    entries = [
        {"id": at, "human": {"label": at % 2}, "judge": {"label": 1, "reason": "b"}} for at in range(4)
    ]
    for data, name in (
        (json.dumps(entries), "all.json"),
        ("\n".join(map(json.dumps, entries)), "lines.jsonl"),
    ):
        found = read_panel(data.encode(), name, find=True)
        assert (found.raters, found.judges) == (("human.label",), ("judge.label",))
        assert found.ratings[:, 0].tolist() == [0, 1, 0, 1]


def test_a_verdict_whose_name_begins_with_is_has_a_giver() -> None:
    found = _read("id,is_correct (human),is_correct (LLM)\n1,True,False\n2,False,False\n")
    assert found.raters == ("is_correct (human)",)
    assert found.judges == ("is_correct (LLM)",)
    assert _read("id,human,judge,is_human\n1,1,0,1\n2,0,0,1\n").raters == ("human",)


_ASKED = "id,prompt,response,human,judge\n" + "".join(f"{at},q{at // 2},a,{at % 2},1\n" for at in range(80))


@pytest.mark.parametrize("item", ["prompt", None])
def test_notes_name_the_column_of_items_and_the_file_s_columns(item: str | None) -> None:
    found = _read(_ASKED, item=item)
    assert found.unit.name == "prompt"
    assert found.roles is not None
    assert found.roles.item == "prompt"
    assert "item: prompt" in roles_said(found.roles)
    assert any(note == f"columns found: {roles_said(found.roles)}" for note in found.notes)
    unused = [note for note in found.notes if note.startswith("columns not used")]
    assert [("prompt" in note, "response" in note) for note in unused] == [(False, True)]


def test_a_judge_in_the_file_stands_beside_one_in_another() -> None:
    rows = "".join(f"{at},{at % 2},{at // 2 % 2}\n" for at in range(12))
    other = "id,gpt\n" + "".join(f"{at},{at % 2}\n" for at in range(11, -1, -1))
    found = read_panel(
        f"id,human,judge\n{rows}".encode(),
        "file.csv",
        [judge_scores(other.encode(), "other.csv")],
        judges=["judge", "gpt"],
        find=True,
    )
    assert found.judges == ("judge", "gpt")
    assert found.scores[:, 1].tolist() == found.ratings[:, 0].tolist()


def test_a_block_of_scores_beside_a_rater_is_a_rating_for_each_dimension() -> None:
    given = {("ana", "fluency"): [1, 5, 3], ("ana", "style"): [2, 2, 4], ("ben", "fluency"): [1, 4, 3]}
    rows = [
        {
            "rater": rater,
            "item_id": f"q{at}",
            "scores": {name: cells[at] for (who, name), cells in given.items() if who == rater},
        }
        for rater in ("ana", "ben")
        for at in range(3)
    ]
    data = "\n".join(map(json.dumps, rows)).encode()
    found = read_panel(data, "export.jsonl", dimension="fluency", find=True, people_alone=True)
    assert found.raters == ("ana", "ben")
    assert found.ratings.T.tolist() == [given["ana", "fluency"], given["ben", "fluency"]]
    with pytest.raises(InputError, match="fluency, style"):
        read_panel(data, "export.jsonl", find=True, people_alone=True)


def test_a_column_of_labels_named_like_raters_stays_one_beside_a_block() -> None:
    rows = [
        {"id": at, "annotator": ("pass", "fail")[at % 2], "judge": "pass", "scores": {"a": at}}
        for at in range(20)
    ]
    found = read_panel("\n".join(map(json.dumps, rows)).encode(), "file.jsonl", find=True)
    assert (found.raters, found.judges) == (("annotator",), ("judge",))
