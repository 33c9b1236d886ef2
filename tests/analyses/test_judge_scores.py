"""Scores summarised, at every door: counts, mean, SD, reasons of missing scores, and cautions before any number."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
from core.analyses.correlate import FOLLOWS_LEVEL
from core.analyses.judge_scores import ANALYSIS
from core.cli import main
from core.schema.analysis import Caution
from core.schema.panel import JudgedTables
from core.schema.scores import Metric, ScoredRow, ScoreTable


def frame() -> pd.DataFrame:
    return pd.DataFrame({"item": list("abcd"), "always": [2.0] * 4, "judge": [1.0, 4.0, None, 7.0]})


def test_numbers_and_cautions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    frame().to_csv(path, index=False)
    assert main(["report", "scores", str(path)]) == 0
    printed = capsys.readouterr().out
    found = assay.judge_scores(frame()).json
    always, judge = found["scores"]
    assert (judge["n"], judge["mean"], judge["sd"], sum(judge["left_out"].values())) == (3, 4.0, 3.0, 1)
    assert judge["constant"] is None
    assert always["constant"] == {"value": 2.0, "share": 1.0, "n": 4, "n_others": 0}
    (said,) = found["cautions"]
    assert said in printed.splitlines()
    assert found["injections"] == []


def test_signs_of_a_judge_are_cautions_beside_constant_scores() -> None:
    rows = tuple(ScoredRow(str(n), "s") for n in range(2))
    table = ScoreTable(rows, (Metric("a", "", "x"),), np.ones((2, 1)))
    answer = ANALYSIS.answer(ANALYSIS.Options(), JudgedTables((table,), (None,), signs=lambda: ("repeats",)))
    assert len(answer.all_sentences) == 2
    assert answer.all_sentences[-1] == "repeats"
    assert all(isinstance(one, Caution) for one in answer.all_sentences)


def test_the_table_of_factual_is_there_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = assay.score(assay.read("data/demo/answers.csv"), "chrf-6-0")
    path = tmp_path / "scores.csv"
    scores.to_csv(path, index=False)
    asked = ("correlate", str(path), "--with", "level", "--resamples", "0")
    found = assay.correlate(scores, resamples=0)
    assert FOLLOWS_LEVEL not in found.names
    assert main([*asked, "--table", FOLLOWS_LEVEL, "--out", str(tmp_path / "two.csv")]) == 0
    row = pd.read_csv(tmp_path / "two.csv").iloc[0]
    (own,) = found.json
    assert row["n"] == own["n"] == 140
    assert row["pearson_over_rows"] == row["pearson_over_questions"] == own["pearson"]["estimate"]
    assert row["kendall_per_question"] == own["kendall_per_item"]["estimate"]
    capsys.readouterr()
    one_group = ("--group", "language", "--table", FOLLOWS_LEVEL, "--out", str(tmp_path / "none.csv"))
    assert main([*asked, *one_group]) == 2
    assert "all rows in one group" in capsys.readouterr().err
