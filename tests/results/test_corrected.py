"""Corrected numbers of a table: passes, raters, systems, differences, what is left out, and the page's figure."""

import json
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from core.plots.calibration import corrected as figure
from core.report import csv_of, terminal_lines
from core.results.corrected import (
    ALL_ROWS,
    NO_SCORE,
    CorrectedNumbers,
    Options,
    corrected_json,
    corrected_numbers,
    corrected_said,
    corrected_table,
    corrected_tables,
    differences_table,
    label_scale,
    saved_sentence,
)
from core.results.panel import read_panel
from core.stats.multiplicity import corrected as holm
from core.stats.prediction_powered import Scored, corrected_difference, corrected_mean

NAN = float("nan")


def _corrected(text: str, options: Options = Options(), **asked: Any) -> CorrectedNumbers:  # noqa: B008
    asked = {"human": ["human"], "judges": ["judge"], **asked}
    return corrected_numbers(read_panel(text.encode(), "given.csv", **asked), options)


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
    items = np.repeat(np.arange(60), 3)
    assert found.overall.found == corrected_mean(Scored(judge.ravel(), human.ravel(), items))
    keys = np.arange(60)
    for at, one in enumerate(found.systems):
        own = corrected_mean(Scored(judge[:, at], human[:, at]))
        assert one.found.decided == own.decided
        assert one.found.n_labelled == 30
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert [(one.first, one.second) for one in found.differences] == [("A", "B"), ("A", "C"), ("B", "C")]
    expected = [
        corrected_difference(
            Scored(judge[:, a], human[:, a], keys=keys), Scored(judge[:, b], human[:, b], keys=keys)
        )
        for a, b in pairs
    ]
    for one, other in zip(found.differences, expected, strict=True):
        assert one.found.paired
        assert one.found.decided.low == pytest.approx(other.decided.low)
    assert [one.p_corrected for one in found.differences] == pytest.approx(
        holm([one.p_value for one in expected])
    )


def test_the_keys_of_the_json() -> None:
    text, _, _ = _systems()
    given = json.loads(json.dumps(corrected_json(_corrected(text)), allow_nan=False))
    numbers = {"estimate", "low", "high", "method", "judge_only", "labels_only", "lambda", "n", "n_labelled"}
    numbers |= {"labels_saved", "share_saved"}
    assert numbers | {"systems", "differences"} <= set(given)
    assert set(given["judge_only"]) == {"estimate", "low", "high"} == set(given["labels_only"])
    assert list(given["systems"]) == ["A", "B", "C"]
    assert numbers <= set(given["systems"]["A"])
    assert numbers | {"first", "second", "p", "p_holm", "paired"} <= set(given["differences"][0])
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
    assert found.overall.found.labels_only.estimate == pytest.approx(80 / 130)
    assert found.overall.found.judge_only.estimate == pytest.approx(160 / 200)
    other = _corrected(text, Options(passes="Fail"))
    assert other.overall.found.labels_only.estimate == pytest.approx(50 / 130)
    assert other.overall.found.sensitivity is not None
    assert other.overall.found.sensitivity.estimate == pytest.approx(40 / 50)
    with pytest.raises(InputError, match="maybe"):
        _corrected(text, Options(passes="maybe"))


def test_numbers_0_and_1_are_passes_and_other_numbers_are_grades() -> None:
    binary = _corrected("judge,human\n1,1\n0,0\n1,\n0,1\n")
    assert binary.passes == "1"
    assert binary.overall.found.method == "exact"
    grades = _corrected("judge,human\n1,1\n0,0\n1,\n2,2\n")
    assert grades.passes is None
    chosen = _corrected("judge,human\n1,1\n0,0\n1,\n2,2\n", Options(passes="2"))
    assert chosen.passes == "2"
    assert chosen.fails == ("0", "1")
    assert chosen.overall.found.judge_only.estimate == pytest.approx(1 / 4)
    probability = _corrected("judge,human\n0.8,1\n0.1,0\n0.7,\n0.4,1\n")
    assert probability.passes == "1"
    assert probability.overall.found.judge_only.estimate == pytest.approx(0.5)
    assert probability.overall.found.rogan_gladen is None


def test_words_without_an_order_need_a_choice() -> None:
    text = "judge,human\nred,red\nblue,blue\nred,\n"
    with pytest.raises(InputError, match="red"):
        _corrected(text)
    assert _corrected(text, Options(passes="red")).fails == ("blue",)


def test_several_raters_are_averaged() -> None:
    text = "judge,a,b\n3,2,4\n4,5,\n2,,\n1,1,2\n"
    found = _corrected(text, human=["a", "b"])
    assert found.overall.found.labels_only.estimate == pytest.approx((3 + 5 + 1.5) / 3)
    assert found.overall.found.n_labelled == 3
    assert any("mean" in note for note in found.notes)


def test_rows_without_a_score_are_left_out_by_reason() -> None:
    text, _, _ = _systems()
    lines = text.splitlines()
    lines[1] = "q0,A,,4"
    found = _corrected("\n".join(lines))
    assert found.left_out[NO_SCORE] == 1
    assert found.overall.found.decided.n == 179
    assert found.systems[0].n_left_out == 1
    assert found.differences[0].found.n_left_out == 1
    assert corrected_json(found)["left_out"] == {NO_SCORE: 1}


def test_several_rows_of_an_item_are_one_cluster() -> None:
    rng = np.random.default_rng(7)
    lines = ["question,judge,human"]
    for row in range(120):
        value = rng.normal()
        lines.append(f"q{row // 3},{value + rng.normal():.2f},{f'{value:.2f}' if row < 60 else ''}")
    found = _corrected("\n".join(lines), item="question")
    assert found.overall.found.decided.n_clusters == 40
    assert found.overall.found.n_labelled_clusters == 20


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="one judge"):
        _corrected("judge,human,other\n1,1,2\n2,2,2\n", judges=["judge", "other"])
    with pytest.raises(InputError, match="both"):
        _corrected("judge,human\n1,\n,2\n2,\n")


def test_the_sentence_when_nothing_was_saved() -> None:
    rng = np.random.default_rng(3)
    lines = [
        f"{judge:.2f},{f'{human:.2f}' if at < 40 else ''}"
        for at, (judge, human) in enumerate(rng.normal(size=(200, 2)))
    ]
    weak = _corrected("judge,human\n" + "\n".join(lines)).overall.found
    assert abs(weak.labels_saved or 0) < 1
    assert saved_sentence(weak).startswith("The judge saved no labels")
    text, _, _ = _systems()
    good = _corrected(text)
    assert "saved" in corrected_said(good)[2]
    assert f"{round(good.overall.found.labels_saved or 0):,}" in corrected_said(good)[2]


def test_labels_that_are_no_random_choice_are_noticed() -> None:
    lines = [f"{at % 5},{at % 5 if at % 5 > 2 and at < 150 else ''}" for at in range(400)]
    said = corrected_said(_corrected("judge,human\n" + "\n".join(lines)))
    assert len(said) == 4
    assert "random" in said[3]


def test_tables_and_the_figure() -> None:
    text, _, _ = _systems()
    found = _corrected(text)
    printed, further = corrected_tables(found)
    assert [one.name for one in (*printed, *further)] == [
        "corrected",
        "corrected-differences",
        "corrected-methods",
    ]
    header, *rows = csv_of(corrected_table(found)).decode().splitlines()
    assert len(rows) == 4
    assert {"corrected", "corrected_low", "judge_only", "labels_only", "lambda", "n"} <= set(
        header.split(",")
    )
    assert len(differences_table(found).rows) == 3
    assert all(terminal_lines(one) for one in printed)
    drawn = figure(found)
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
