"""Whether raters and judges use one scale: words, numbers, and both."""

from typing import Any

import pytest

from core.errors import InputError
from core.results.panel import read_panel
from core.results.scales import Side, common_scale


def _fits(
    people: tuple[object, ...], judge: tuple[object, ...]
) -> tuple[bool, dict[str, float], bool | None]:
    fits, words = common_scale([Side("human", people)], [Side("judge", judge)])
    return fits, dict(words.numbers) if words else {}, words.ordered if words else None


@pytest.mark.parametrize(
    ("people", "judge", "numbers"),
    [
        (("pass", "fail"), ("Pass", "FAIL"), {"pass": 1, "fail": 0}),
        (("pass", "fail"), ("1", "0"), {"pass": 1, "fail": 0}),
        (("1", "0"), ("pass", "fail"), {"pass": 1, "fail": 0}),
        ((True, False), ("yes", "no"), {"true": 1, "false": 0, "yes": 1, "no": 0}),
        (("pass", "fail"), ("correct", "incorrect"), {"pass": 1, "fail": 0, "correct": 1, "incorrect": 0}),
        (("pass",), ("incorrect",), {"pass": 1, "incorrect": 0}),
        (("low", "high"), ("medium",), {"low": 1, "medium": 2, "high": 3}),
        (("1", "3"), ("low", "high"), {"low": 1, "high": 3}),
        (("A", "C", "F"), ("B", "A"), {"a": 4, "b": 3, "c": 2, "f": 0}),
        (
            ("incorrect", "partially_correct"),
            ("correct",),
            {"incorrect": 0, "partially correct": 1, "correct": 2},
        ),
    ],
)
def test_classes_are_matched_where_their_meaning_is_plain(
    people: tuple[object, ...], judge: tuple[object, ...], numbers: dict[str, float]
) -> None:
    assert _fits(people, judge) == (True, numbers, True)


@pytest.mark.parametrize(
    ("people", "judge"),
    [
        (("pass", "fail"), ("1", "5")),
        (("pass", "fail"), ("0.3", "0.9")),
        (("1", "5"), ("pass", "fail")),
        (("red", "blue"), ("1", "0")),
        (("red", "blue"), ("green", "black")),
        (("pass", "fail"), ("low", "medium", "high")),
        (("good", "bad"), ("poor", "fair", "good", "excellent")),
        (("low", "high"), ("4", "5")),
    ],
)
def test_other_scales_do_not_fit(people: tuple[object, ...], judge: tuple[object, ...]) -> None:
    assert not _fits(people, judge)[0]


def test_labels_without_an_order() -> None:
    assert _fits(("red", "blue"), ("Red", "green")) == (True, {"blue": 0, "green": 1, "red": 2}, False)
    assert _fits(("A", "B"), ("B", "A")) == (True, {"a": 0, "b": 1}, False)  # the sides of a pair


def test_numbers_and_mixed_cells_are_left_to_the_reader() -> None:
    assert _fits(("1", "2"), ("0.5", "9")) == (True, {}, None)
    assert _fits(("1", "2"), ("pass", "2")) == (True, {}, None)


def _panel(text: str, **asked: Any) -> Any:
    return read_panel(text.encode(), "file.csv", find=True, **asked)


def test_a_judge_on_another_scale_is_left_out_if_another_one_fits() -> None:
    text = "id,human,judge,gpt_score\nq1,pass,Yes,4\nq2,fail,No,2\nq3,pass,No,5\n"
    panel = _panel(text)
    assert panel.judges == ("judge",)
    assert panel.scores.ravel().tolist() == [1, 0, 0]
    assert panel.classes == {0: "fail", 1: "pass"}
    assert any("gpt_score" in note and "2 to 5" in note for note in panel.notes)
    assert any("fail and No = 0" in note for note in panel.notes)
    with pytest.raises(InputError):
        _panel(text, judges=["gpt_score"])


def test_raters_on_several_scales_are_one_clear_error() -> None:
    with pytest.raises(InputError) as found:
        _panel("id,human_1,human_2,judge\nq1,pass,4,pass\nq2,fail,2,fail\n")
    assert len(found.value.problems) == 2


def test_rows_with_one_question_are_one_item() -> None:
    rows = "\n".join(f"What is {at // 2}?,It is {at},{at % 2},{at % 3 % 2}" for at in range(8))
    panel = _panel(f"question,answer,human_label,llm_label\n{rows}\n")
    assert panel.items.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    rows = "\n".join(f"What is it?,{at % 2},{at % 3 % 2}" for at in range(8))
    panel = _panel(f"question,human_label,llm_label\n{rows}\n")  # nothing tells the texts apart but the row
    assert len({*panel.items.tolist()}) == 8


def test_the_roles_of_a_panel_are_those_of_the_file() -> None:
    panel = _panel("key,who,human,judge\nq1,a,1,1\nq1,b,0,1\n", system_column="who", item="key")
    assert (panel.roles.item, panel.roles.system) == ("key", "who")
    assert panel.systems.tolist() == ["a", "b"]
