"""`acc23` from files of mt-metrics-eval to JSON, tables and sentences for mistakes."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.analyses.acc23 import ANALYSIS, Acc23Options, accuracies
from core.cli import main
from core.formats.mt_metrics_eval import read_seg_ratings, read_seg_scores
from core.joining.tables import merge_tables
from core.report import csv_of
from core.schema.analysis import Answer

Run = Callable[..., str]


def write(path: Path, scores: dict[str, list[object]]) -> None:
    lines = [f"{system}\t{score}\n" for system, own in scores.items() for score in own]
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The example of five texts as segment 1; in segment 2 nobody rated more than one text."""
    human = dict(zip("ABCDE", [1, 2, 2, 3, 4], strict=True))
    metric = dict(zip("ABCDE", [2, 1, 1.5, 5, 3], strict=True))
    write(
        tmp_path / "human.seg.score",
        {s: [x, 1 if s == "A" else None] for s, x in human.items()} | {"refA": [9, 9]},
    )
    write(tmp_path / "m.seg.score", {s: [x, 0.5] for s, x in metric.items()} | {"refA": [0, 0]})
    write(tmp_path / "n.seg.score", {s: [x, 0.5] for s, x in human.items()})
    return tmp_path


def test_json_holds_the_four_numbers_and_more(files: Path, run: Run) -> None:
    found = json.loads(run("acc23", "human.seg.score", "m.seg.score", "--json", "--resamples", "20"))
    assert found["acc23"] == pytest.approx(0.7)
    assert (found["epsilon"], found["n_items"], found["n_systems"], found["n_pairs"]) == (0.5, 1, 5, 10)
    assert (found["n_items_left_out"], found["metric"]) == (1, "m")
    assert "references left out: refA" in found["notes"]


@pytest.mark.parametrize(("epsilon", "accuracy"), [("0", 0.6), ("2", 0.4)])
def test_epsilon_can_be_given(epsilon: str, accuracy: float, files: Path, run: Run) -> None:
    found = json.loads(
        run("acc23", "human.seg.score", "m.seg.score", "--epsilon", epsilon, "--json", "--resamples", "0")
    )
    assert (found["acc23"], found["epsilon"]) == (pytest.approx(accuracy), float(epsilon))


def test_references_take_part_when_asked_for(files: Path, run: Run) -> None:
    found = json.loads(
        run("acc23", "human.seg.score", "m.seg.score", "--references", "--json", "--resamples", "0")
    )
    assert (found["n_systems"], found["n_items"]) == (6, 2)


@pytest.fixture
def partly_rated(tmp_path: Path) -> tuple[str, ...]:
    """Means of people 1, 2, 3; of the metric over all segments 1, 2, 4, over the two rated ones 1, 3, 2."""
    write(tmp_path / "human.seg.score", {"A": [1, 1, None], "B": [2, 2, None], "C": [3, 3, None]})
    write(tmp_path / "m.seg.score", {"A": [1, 1, 1], "B": [3, 3, 0], "C": [2, 2, 8]})
    return ("acc23", "human.seg.score", "m.seg.score", "--resamples", "100", "--json")


def test_systems_scores_are_over_all_segments_or_rated_ones(partly_rated: tuple[str, ...], run: Run) -> None:
    whole = json.loads(run(*partly_rated))
    assert whole["system_pearson"]["estimate"] == pytest.approx(np.corrcoef([1, 2, 3], [1, 2, 4])[0, 1])
    assert (whole["system_accuracy"]["estimate"], whole["system_scores"]) == (1.0, "all")
    rated = json.loads(run(*partly_rated, "--system-scores", "rated"))
    assert rated["system_pearson"]["estimate"] == pytest.approx(0.5)
    assert rated["system_accuracy"]["estimate"] == pytest.approx(2 / 3)
    assert rated["system_scores"] == "rated"
    assert rated["acc23"] == whole["acc23"]


def test_soft_pairwise_accuracy_stands_beside_the_hard_one(partly_rated: tuple[str, ...], run: Run) -> None:
    """Two equal differences a pair: p is 1/4 where the sign is plus, 1 where it is minus; B and C differ by 3/4."""
    found = json.loads(run(*partly_rated, "--resamples", "4000"))["soft_pairwise_accuracy"]
    assert found["accuracy"] == pytest.approx(1 - (3 / 4) / 3, abs=0.02)
    assert (found["n_pairs"], found["n_swaps"], found["reason"]) == (3, 4000, None)
    printed = run(*partly_rated[:-1])
    assert "3 system pairs (100 swaps of rated items, seed 0)" in printed


@pytest.mark.slow
def test_several_metrics_are_a_table_with_tests(files: Path, run: Run) -> None:
    arguments = ["acc23", "human.seg.score", "m.seg.score", "n.seg.score", "--test", "--resamples", "200"]
    found = json.loads(run(*arguments, "--json"))
    assert [one["metric"] for one in found["metrics"]] == ["m", "n"]
    assert [one["acc23"] for one in found["metrics"]] == pytest.approx([0.7, 1.0])
    (test,) = found["tests"]
    assert test["difference"] == pytest.approx(-0.3)
    assert (test["swap"], test["n_units"], test["p"], test["p_holm"]) == ("items", 1, 1, 1)
    (published,) = json.loads(run(*arguments, "--swap", "pairs", "--json"))["tests"]
    assert (published["swap"], published["n_units"], published["difference"]) == (
        "pairs",
        10,
        test["difference"],
    )
    assert 0 < published["p"] == published["p_holm"] < 1
    table = run(*arguments)
    assert "permutation test of whole items" in table
    assert "permutation test of single pairs" in run(*arguments, "--swap", "pairs")
    assert "Epsilon: calibrated for each metric" in table
    assert "basic for acc23, percentile for the others" in table
    assert "percentile." in run("acc23", "human.seg.score", "m.seg.score", "--epsilon", "1")


def test_a_metric_that_ties_everything_is_named_before_its_accuracy(files: Path, run: Run) -> None:
    write(files / "bot.seg.score", {system: [3, 3] for system in "ABCDE"})
    found = json.loads(run("acc23", "human.seg.score", "bot.seg.score", "--json", "--resamples", "0"))
    assert (found["constant"]["value"], found["constant"]["share"]) == (3, 1)
    assert found["acc23"] == pytest.approx(0.1), "what people tie"
    table = run("acc23", "human.seg.score", "bot.seg.score", "--resamples", "0").splitlines()
    assert table[1] == found["notes"][0]
    found = json.loads(run("acc23", "human.seg.score", "m.seg.score", "--json", "--resamples", "0"))
    assert found["constant"] is None


def test_the_file_is_the_table_that_the_page_offers(files: Path, run: Run) -> None:
    names = ("m.seg.score", "n.seg.score")
    table = merge_tables([read_seg_scores((files / name).read_bytes(), name) for name in names])
    people = read_seg_ratings((files / "human.seg.score").read_bytes(), "human.seg.score")
    chosen = Acc23Options(test=True, n_resamples=20)
    for made in Answer(ANALYSIS, chosen, accuracies(people, table, chosen)).tables.values():
        options = ("--test", "--resamples", "20", "--out", "out.csv", "--table", made.name)
        run("acc23", "human.seg.score", *names, *options)
        assert (files / "out.csv").read_bytes() == csv_of(made)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["m.seg.score", "--epsilon", "-1"], "--epsilon: -1 is not at least 0"),
        (["m.seg.score", "--epsilon", "1", "--test"], "--test: not possible with --epsilon"),
        (["m.seg.score", "m.seg.score"], "the same one is given twice"),
        (["m.seg.score", "--test", "--resamples", "0"], "--test: needs --resamples"),
        (["m.seg.score", "--swap", "pairs"], "--swap: needs --test"),
        # Refused before anything is read.
        (
            ["absent.seg.score", "--out", "t.csv", "--table", "accuracy-tests"],
            "--table accuracy-tests: needs --test",
        ),
        (["absent.seg.score"], "absent.seg.score cannot be read"),
    ],
)
def test_mistakes_are_told_in_a_sentence(
    arguments: list[str],
    said: str,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(files)
    assert main(["acc23", "human.seg.score", *arguments]) == 2
    assert said in capsys.readouterr().err
