"""Corrected numbers of a table: passes, raters, systems, differences, what is assumed, missing scores, and the figure."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.analyses.corrected import ALL_ROWS, ANALYSIS, CorrectedNumbers, CorrectedOptions
from core.errors import InputError
from core.formats.panel import read_panel
from core.plots.drawn import draw
from core.report import csv_of, terminal_lines
from core.results.corrected import label_scale
from core.schema.analysis import Answer
from core.schema.settings import SettingsError
from core.stats.corrected import Asked, Texts, corrected
from core.stats.multiplicity import corrected as holm

NAN = float("nan")


def _answer(text: str, options: dict[str, Any] | None = None, **asked: Any) -> Answer:
    asked = {"human": ["human"], "judges": ["judge"], **asked}
    return ANALYSIS.answer(
        CorrectedOptions.checked(options or {}, "Invalid"), read_panel(text.encode(), "given.csv", **asked)
    )


def _corrected(text: str, options: dict[str, Any] | None = None, **asked: Any) -> CorrectedNumbers:
    found: CorrectedNumbers = _answer(text, options, **asked).result
    return found


def _systems(n: int = 60, labelled: int = 30, gap: float = 0.5) -> tuple[str, Any, Any]:
    """Three systems on the same items, the first labelled items with human ratings."""
    rng = np.random.default_rng(4)
    human = np.round(3 + rng.normal(size=(n, 3)) + gap * np.arange(3), 1)
    judge = np.round(human + 0.4 + 0.5 * rng.normal(size=(n, 3)), 1)
    lines = ["item,system,judge,human"]
    for item in range(n):
        for at, system in enumerate("ABC"):
            label = f"{human[item, at]}" if item < labelled else ""
            lines.append(f"q{item},{system},{judge[item, at]},{label}")
    return "\n".join(lines), judge, np.where(np.arange(n)[:, None] < labelled, human, NAN)


def test_systems_and_their_differences() -> None:
    text, judge, human = _systems()
    found = _corrected(text)
    assert found.passes is None
    assert [one.system for one in found.everyone] == [ALL_ROWS, "A", "B", "C"]
    asked = Asked(ends=None)
    whole = corrected(Texts(judge.ravel(), human.ravel(), np.repeat(np.arange(60), 3)), asked)
    assert (found.corrected.value, found.corrected.low) == (whole.decided.estimate, whole.decided.low)
    for at, one in enumerate(found.systems):
        alone = corrected(Texts(judge[:, at], human[:, at], np.arange(60)), asked)
        assert one.corrected.low == pytest.approx(alone.decided.low)
        assert one.n_labelled == 30
    assert [(one.first, one.second) for one in found.differences] == [("A", "B"), ("A", "C"), ("B", "C")]
    for one in found.differences:
        assert one.paired
        sides = [each.corrected.value for each in found.systems if each.system in (one.first, one.second)]
        assert one.difference.value == pytest.approx((sides[0] or 0.0) - (sides[1] or 0.0))
    assert [one.p_corrected for one in found.differences] == pytest.approx(
        holm([one.p.value for one in found.differences])
    )


def test_the_keys_of_the_json() -> None:
    text, _, _ = _systems()
    given = json.loads(json.dumps(_answer(text).json, allow_nan=False))
    numbers = {"estimate", "low", "high", "method", "judge_only", "labels_only", "lambda", "n", "n_labelled"}
    numbers |= {"labels_saved", "share_saved", "answers", "labelled_shift_p"}
    assert numbers | {"systems", "differences"} <= set(given)
    assert {"estimate", "low", "high"} <= set(given["judge_only"])
    assert list(given["systems"]) == ["A", "B", "C"]
    assert numbers <= set(given["systems"]["A"])
    assert {"estimate", "low", "high", "first", "second", "p", "p_holm", "paired"} <= set(
        given["differences"][0]
    )
    assert given["correction"] == "holm"
    assert (given["n"], given["n_labelled"], given["n_items"]) == (180, 90, 60)
    assert given["share_saved"] == pytest.approx(given["labels_saved"] / 90)


def test_words_are_passes_and_fails() -> None:
    rows = [("pass", "PASS")] * 80 + [("fail", "fail")] * 40 + [("pass", "fail")] * 10 + [("pass", "")] * 70
    text = "judge,human\n" + "\n".join(",".join(row) for row in rows)
    found = _corrected(text)
    assert found.passes is not None
    assert found.passes.casefold() == "pass"
    assert found.fails == ("fail",)
    assert found.labels_only.value == pytest.approx(80 / 130)
    assert found.judge_only.value == pytest.approx(160 / 200)
    assert found.corrected.value == pytest.approx(160 / 200 * 80 / 90)
    assert [(one.answer.casefold(), one.n, one.n_labelled) for one in found.answers] == [
        ("fail", 40, 40),
        ("pass", 160, 90),
    ]
    other = _corrected(text, {"passes": "Fail", "labels_chosen": "by-truth"})
    assert other.labels_only.value == pytest.approx(50 / 130)
    assert other.sensitivity.value == pytest.approx(40 / 50)
    with pytest.raises(SettingsError, match="maybe"):
        _corrected(text, {"passes": "maybe"})


def test_numbers_0_and_1_are_passes_and_other_numbers_are_grades() -> None:
    binary = _corrected("judge,human\n1,1\n0,0\n1,\n0,1\n")
    assert binary.passes == "1"
    grades = _corrected("judge,human\n1,1\n0,0\n1,\n2,2\n")
    assert grades.passes is None
    chosen = _corrected("judge,human\n1,1\n0,0\n1,\n2,2\n", {"passes": "2"})
    assert chosen.passes == "2"
    assert chosen.fails == ("0", "1")
    assert chosen.judge_only.value == pytest.approx(1 / 4)
    grade_nobody_gave = _corrected(
        "judge,human\n1,1\n5,5\n4,\n2,2\n", {"passes": "5", "labels_chosen": "by-truth"}
    )
    assert grade_nobody_gave.judge_only.value == pytest.approx(1 / 4)  # 4 is a class of 1 to 5: a fail
    probability = _corrected("judge,human\n0.8,1\n0.1,0\n0.7,\n0.4,1\n")
    assert probability.passes == "1"
    assert probability.judge_only.value == pytest.approx(0.5)
    assert probability.sensitivity.value is None


def test_words_without_an_order_need_a_choice() -> None:
    text = "judge,human\nred,red\nblue,blue\nred,\n"
    with pytest.raises(SettingsError, match="red"):
        _corrected(text)
    assert _corrected(text, {"passes": "red"}).fails == ("blue",)


def test_several_raters_are_averaged() -> None:
    text = "judge,a,b\n3,2,4\n4,5,\n2,,\n1,1,2\n"
    found = _corrected(text, human=["a", "b"])
    assert found.labels_only.value == pytest.approx((3 + 5 + 1.5) / 3)
    assert found.n_labelled == 3
    assert any("mean of the ratings" in note for note in found.notes)


def test_labels_without_a_score_count() -> None:
    text, _, human = _systems()
    lines = text.splitlines()
    lines[1] = f"q0,A,,{human[0, 0]}"
    found = _corrected("\n".join(lines))
    assert (found.n, found.n_labelled, found.n_unscored) == (180, 90, 1)
    assert [one.n_unscored for one in found.systems] == [1, 0, 0]
    assert found.answers[-1].answer == "no score"
    assert found.answers[-1].n_labelled == 1
    assert found.labels_only.value == pytest.approx(np.nanmean(human))


@pytest.mark.parametrize("name", ["judge_silent_on_fails", "judge_often_silent", "labels_by_judge_class"])
def test_case_files(name: str, shared_data: Path) -> None:
    data = (shared_data.parent / "cases" / "verdicts" / f"{name}.csv").read_bytes()
    found: CorrectedNumbers = ANALYSIS.answer(CorrectedOptions(), read_panel(data, name, find=True)).result
    expected = {
        "judge_silent_on_fails": (0.475, "exact", 200),
        "judge_often_silent": (0.55, "exact", 40),
        "labels_by_judge_class": (0.623, "by-class", 0),
    }[name]
    assert (round(found.corrected.value or 0.0, 3), found.method, found.n_unscored) == expected
    if name == "labels_by_judge_class":  # 60 % of the answers pass; Rogan-Gladen said 1.000 [.881, 1.000]
        assert found.corrected.low is not None
        assert found.corrected.high is not None
        assert found.corrected.low < 0.6 < found.corrected.high < 0.7
        assert [one.n_labelled for one in found.answers] == [138, 28]


@pytest.mark.parametrize(("passes", "codes"), [("pass", ("fail", "partial", "pass")), ("5", ("1", "3", "5"))])
def test_labels_chosen_by_three_answers_of_a_judge(passes: str, codes: tuple[str, str, str]) -> None:
    """100, 300, 100 texts with 100, 20, 40 labels of which 0, .6, .9 pass: .6 x .6 + .2 x .9 = .54, by the judge's own answers."""
    bad, middle, good = codes
    rows = [(bad, bad)] * 100 + [(middle, good)] * 12 + [(middle, middle)] * 8 + [(middle, "")] * 280
    rows += [(good, good)] * 36 + [(good, middle)] * 4 + [(good, "")] * 60
    text = "judge,human\n" + "\n".join(",".join(row) for row in rows)
    for chosen in ({}, {"labels_chosen": "by-judge"}):
        found = _corrected(text, {"passes": passes, **chosen})
        assert found.corrected.value == pytest.approx(0.54)
        assert [one.n for one in found.answers] == [100, 300, 100]


def test_a_system_may_be_called_all() -> None:
    rows = [(f"q{at}", "all", "pass", "pass" if at < 10 else "fail") for at in range(30)]
    rows += [(f"q{at}", "x", "pass", "pass") for at in range(30)]
    found = _corrected("id,system,judge,human\n" + "\n".join(",".join(row) for row in rows))
    assert [round(one.corrected.value or 0.0, 3) for one in found.everyone] == [0.667, 0.333, 1.0]


def test_one_class_among_the_labels() -> None:
    found = _corrected("judge,human\n" + "1,0\n" * 20 + "0,0\n" * 20)
    assert found.corrected.value == 0
    assert found.corrected.high is not None
    assert 0 < found.corrected.high < 0.1


def test_several_rows_of_an_item_are_one_cluster() -> None:
    rng = np.random.default_rng(7)
    lines = ["question,judge,human"]
    for row in range(120):
        value = rng.normal()
        lines.append(f"q{row // 3},{value + rng.normal():.2f},{f'{value:.2f}' if row < 60 else ''}")
    found = _corrected("\n".join(lines), item="question")
    assert found.n_items == 40
    assert found.n_labelled_items == 20


def test_mistakes_are_named() -> None:
    with pytest.raises(SettingsError, match="one judge"):
        _corrected("judge,human,other\n1,1,2\n2,2,2\n", judges=["judge", "other"])
    with pytest.raises(InputError):
        _corrected("judge,human\n1,\n2,\n")
    with pytest.raises(SettingsError) as refused:
        _corrected("judge,human\n1,1\n0,0\n1,\n", {"method": "rogan-gladen"})
    assert [one.name for one in refused.value.found_in] == ["method"]
    with pytest.raises(SettingsError) as refused:
        _corrected("judge,human\n1,2\n4,3\n1,\n", {"labels_chosen": "by-truth"})
    assert [one.name for one in refused.value.found_in] == ["labels_chosen"]
    for other in ({"method": "ppi++"}, {"population": "these"}):
        with pytest.raises(SettingsError) as refused:
            _corrected("judge,human\n1,1\n0,0\n1,\n", {"labels_chosen": "by-truth", **other})
        assert [one.name for one in refused.value.found_in] == ["method"]


def test_an_answer_without_labels_leaves_a_range() -> None:
    rows = [("pass", "pass")] * 30 + [("pass", "fail")] * 10 + [("fail", "")] * 20
    answer = _answer("judge,human\n" + "\n".join(",".join(row) for row in rows))
    (verdict,) = answer.verdicts
    assert verdict.code == "range"
    found: CorrectedNumbers = answer.result
    assert found.corrected.value is None
    assert found.open_share == pytest.approx(1 / 3)
    assert found.corrected.low is not None
    assert found.corrected.high is not None
    assert found.corrected.low < 40 / 60 * 30 / 40
    assert found.corrected.high > 40 / 60 * 30 / 40 + 20 / 60


def test_what_is_assumed_comes_first_and_is_tested() -> None:
    lines = [f"{at % 5},{at % 5 if at % 5 > 2 and at < 150 else ''}" for at in range(400)]
    text = "judge,human\n" + "\n".join(lines)
    undeclared, random = _corrected(text), _corrected(text, {"labels_chosen": "at-random"})
    assert undeclared.notes[0] != random.notes[0]
    assert all(one.notes[0].startswith("Assumed") for one in (undeclared, random))
    assert random.labelled_shift_p.value is not None
    assert random.labelled_shift_p.value < 0.01
    assert len(random.sentences) == 4
    assert undeclared.open_share == pytest.approx(0.6)  # scores 0 to 2 have no label
    all_labelled = _corrected("judge,human\n1,1\n0,0\n1,0\n0,1\n")
    assert not all_labelled.notes[0].startswith("Assumed")


def test_tables_and_the_figure() -> None:
    text, _, _ = _systems()
    answer = _answer(text)
    assert list(answer.tables) == ["corrected", "corrected-answers", "corrected-differences"]
    random = _answer(text, {"labels_chosen": "at-random"})
    assert list(random.tables) == ["corrected", "corrected-differences", "corrected-methods"]
    header, *rows = csv_of(answer.tables["corrected"]).decode().splitlines()
    assert len(rows) == 4
    assert {"corrected", "corrected_low", "judge_only", "labels_only", "lambda", "n"} <= set(
        header.split(",")
    )
    assert len(answer.tables["corrected-differences"].rows) == 3
    assert all(terminal_lines(one) for one in answer.printed)
    drawn = draw(answer.figures["corrected"], answer.tables)
    assert len(drawn.data) == 3
    assert all(len(one.x) == 4 for one in drawn.data)


def test_codes_without_an_order_have_no_mean() -> None:
    text = "item,human_preference,judge_preference\n" + "".join(
        f"q{at},{at % 3},{at % 3}\n" for at in range(30)
    )
    panel = read_panel(text.encode(), "given.csv", find=True)
    with pytest.raises(InputError):
        label_scale(panel, None)
    assert label_scale(panel, "2").ratings.sum() == 10
