"""Whether raters and judges use one scale: words, numbers, and both."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.formats.panel import read_panel
from core.schema.scale import Scale, declared_scale
from core.tables.scales import NoClass, Side, common_scale


def _fits(
    people: tuple[object, ...], judge: tuple[object, ...]
) -> tuple[bool, dict[str, float], bool | None]:
    fits, words = common_scale([Side("human", Counter(people))], [Side("judge", Counter(judge))])
    return fits, dict(words.numbers) if words else {}, words.scale.ordered if words else None


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
    assert panel.scale.words == {0: "fail", 1: "pass"}
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


def _scale(text: str, **asked: Any) -> Any:
    return _panel(text, **asked).scale


def test_words_show_the_whole_scale() -> None:
    found = _scale("id,human,judge\n1,A,A\n2,F,B\n")
    assert found.classes == (0, 1, 2, 3, 4)
    assert (found.kind, found.name(4), found.name(3)) == ("ordered", "A", "B")
    found = _scale("id,human,judge\n1,Agree,Agree\n2,neutral,agree\n")
    assert (found.ends, found.name(5), found.name(4)) == ((1, 5), "strongly agree", "Agree")
    found = _scale("id,human,judge\n1,pass,correct\n2,pass,correct\n")
    assert (found.kind, found.words) == ("two", {0: "fail", 1: "pass"})


def test_labels_on_offer_are_those_of_the_raters() -> None:
    found = _panel("id,human,judge\n1,red,red\n2,blue,green\n").scale
    assert (found.kind, found.classes) == ("unordered", (0, 2))
    assert found.words == {0: "blue", 1: "green", 2: "red"}


WORDS = "id,human,judge\n1,good,fine\n2,fine,fine\n3,awful,awful\n4,good,good\n5,dunno,awful\n"


def test_declared_classes_have_their_order() -> None:
    declared = declared_scale(None, ["awful", "fine", "good"], ["dunno"])
    panel = _panel(WORDS, declared=declared)
    assert panel.scale == Scale(
        "ordered", (0, 1, 2), {0: "awful", 1: "fine", 2: "good"}, (0, 2), "declared", ("dunno",)
    )
    assert np.array_equal(panel.ratings.ravel(), [2, 1, 0, 2, np.nan], equal_nan=True)
    assert panel.scores.ravel().tolist() == [1, 1, 0, 2, 0]
    assert [*panel.left_out.values()] == [1]
    turned = _panel(WORDS, declared=declared_scale("unordered", ["good", "awful", "fine"], ["dunno"])).scale
    assert (turned.kind, turned.ends, turned.words) == ("unordered", None, {0: "good", 1: "awful", 2: "fine"})


def test_a_declared_class_may_be_a_word_that_means_nothing_elsewhere() -> None:
    text = "id,human,judge\n1,critical,none\n2,none,none\n3,minor,critical\n"
    panel = _panel(text, declared=declared_scale(None, ["critical", "minor", "none"]))
    assert panel.ratings.ravel().tolist() == [0, 2, 1]
    assert panel.scores.ravel().tolist() == [2, 2, 0]


def test_other_words_for_a_declared_class_are_that_class() -> None:
    text = "id,human,judge\n1,correct,1\n2,failed,pass\n3,pass,no\n"
    panel = _panel(
        text.replace("1,correct,1", "1,correct,yes"), declared=declared_scale(None, ["fail", "pass"])
    )
    assert (panel.ratings.ravel().tolist(), panel.scores.ravel().tolist()) == ([1, 0, 1], [1, 1, 0])
    numbers = "id,human,judge\n1,pass,1\n2,fail,0\n"
    panel = _panel(numbers, declared=declared_scale(None, ["fail", "pass"]))
    assert panel.scores.ravel().tolist() == [1, 0]


def test_cells_that_are_no_class_are_one_problem_a_word() -> None:
    declared = declared_scale(None, ["awful", "good"])
    with pytest.raises(NoClass) as found:
        _panel(WORDS, declared=declared)
    assert len(found.value.problems) == 3
    assert found.value.words == ("fine", "dunno")


def test_raters_of_a_long_table_share_one_problem() -> None:
    text = "item,rater,score\n" + "".join(
        f"q{at},{who},{'oops' if at else 3}\n" for at in range(4) for who in "abc"
    )
    with pytest.raises(NoClass) as found:
        read_panel(text.encode(), "long.csv")
    (problem,) = found.value.problems
    assert "oops" in problem
    assert "9 cells" in problem


def test_few_words_beside_a_known_scale_are_named() -> None:
    rows = "".join(
        f"{at},{'incorrect' if at % 2 else 'correct'},{'fail' if at % 3 else 'pass'}\n" for at in range(9)
    )
    text = f"id,human,judge\n{rows}9,unsure,pass\n10,unsure,pass\n"
    with pytest.raises(NoClass) as found:
        _panel(text)
    assert found.value.words == ("unsure",)
    panel = _panel(text, declared=declared_scale(None, None, found.value.words))
    assert (panel.scale.kind, np.isnan(panel.ratings).sum()) == ("two", 2)


def test_missing_cells_of_numbers_and_of_judges_own_files() -> None:
    text = b"id,human,judge\n1,4,3\n2,99,5\n3,oops,99\n"
    more = (b"id,score\n1,2\n2,oops\n3,3\n", "gpt.csv")
    panel = read_panel(
        text,
        "a.csv",
        human=["human"],
        find=True,
        beside=[more],
        declared=declared_scale(None, None, ["99", "oops"]),
    )
    assert np.array_equal(panel.ratings.ravel(), [4, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(panel.scores.ravel(), [2, np.nan, 3], equal_nan=True)
    assert sum(panel.left_out.values()) == 3


@pytest.mark.parametrize(
    ("scale", "wrong"), [("ordered", "order"), ("two", "order"), ("1-5", "1 to 5"), ("scores", "scores")]
)
def test_words_that_do_not_fit_the_declared_kind(scale: str, wrong: str) -> None:
    with pytest.raises(InputError) as found:
        _panel("id,human,judge\n1,red,red\n2,blue,blue\n", declared=declared_scale(scale))
    assert found.value.problems[0].startswith("scale: ")
    assert wrong in found.value.problems[0]


def test_ratings_that_are_not_on_the_declared_scale() -> None:
    text = "id,human,judge\n1,1,9\n2,7,1\n3,7,2\n"
    with pytest.raises(InputError) as found:
        _panel(text, declared=declared_scale("1-5"))
    (problem,) = found.value.problems
    assert "7 (2 cells)" in problem, "a judge may use any number"
    with pytest.raises(InputError) as found:
        _panel(text, declared=declared_scale("unordered", ["1", "7"]))
    assert len(found.value.problems) == 2, "but no other code"


CHOICES = "012210011222010"


def _votes(codes: str, names: tuple[str, str] = ("human_preference", "judge_preference")) -> str:
    judged = CHOICES[3:] + CHOICES[:3]
    rows = [
        f"{at},{codes[int(a)]},{codes[int(b)]}" for at, (a, b) in enumerate(zip(CHOICES, judged, strict=True))
    ]
    return "\n".join([f"id,{','.join(names)}", *rows, ""])


@pytest.mark.parametrize("codes", ["012", "120", "123", "ABT", "xyz"])
def test_codes_of_a_choice_have_no_order_whatever_they_are(codes: str) -> None:
    found = _scale(_votes(codes))
    assert (found.kind, len(found.classes), found.ends) == ("unordered", 3, None)


def test_codes_are_declared_or_named_like_a_choice() -> None:
    assert _scale(_votes("012", ("human", "judge"))).kind == "ordered"
    assert _scale(_votes("012"), declared=declared_scale("0-2")).kind == "ordered"
    assert _scale(_votes("012", ("human", "judge")), declared=declared_scale("unordered")).kind == "unordered"
    graded = "id,human_preference,judge_preference\n1,0,0.2\n2,1,0.9\n"
    assert _scale(graded).kind == "two", "the judge writes no codes"


def test_few_words_that_a_judge_need_not_know_are_noted() -> None:
    rows = "".join(f"{at},{'pass' if at % 2 else 'fail'},{'fail' if at % 3 else 'pass'}\n" for at in range(9))
    panel = _panel(f"id,human,judge\n{rows}9,unsure,pass\n")
    assert (panel.scale.kind, len(panel.scale.classes)) == ("unordered", 3)
    assert sum("unsure" in note and "1 cell" in note for note in panel.notes) == 1
    declared = _panel(f"id,human,judge\n{rows}9,unsure,pass\n", declared=declared_scale("unordered"))
    assert not any("1 cell" in note for note in declared.notes)
