"""`study audit` from the command line: the finding, the table, the JSON."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.factories import LEVELS, dataset, paper_json

from core.cli import main

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command that must succeed on a database of its own; returns what it printed."""
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))

    def command(*arguments: str) -> str:
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        assert (status, err) == (0, "")
        return out

    return command


@pytest.fixture
def study(run: Run, tmp_path: Path) -> str:
    """Eight questions, in which the candidate's answers are longer by one letter throughout."""
    path = tmp_path / "answers.json"
    path.write_bytes(paper_json(dataset(8)))
    run("study", "import", str(path), "--name", "pilot")
    return "pilot"


def test_the_table_and_the_reading(run: Run, study: str) -> None:
    lines = run("study", "audit", study).splitlines()
    title = lines.index("Leakage audit: ai against human, texts only")
    rows = [re.split(r"  +", line) for line in lines[title + 1 : title + 8]]
    assert rows[0] == [
        "Level",
        "Pairs",
        "AUC",
        "p",
        "Holm p",
        "Strongest rule",
        "p of the rule",
        "Holm p of the rule",
    ]
    assert [row[0] for row in rows[1:]] == [*LEVELS, "all levels"]
    # Ten tests at the five levels, all with the smallest p of eight questions: 10 times 2 / 2^8.
    assert rows[1][1:] == [
        "8",
        "1.000",
        "0.0078",
        "0.0781",
        "longer answer: right for 8 of 8",
        "0.0078",
        "0.0781",
    ]
    printed = " ".join(lines)
    assert "share more with their own A0" in printed
    assert "Warning: superficial features reveal the system" in printed


def test_the_table_goes_into_a_file(run: Run, study: str, tmp_path: Path) -> None:
    out = tmp_path / "leakage.csv"
    run("study", "audit", study, "--out", str(out))
    rows = list(csv.DictReader(io.StringIO(out.read_text("utf-8"))))
    assert [row["level"] for row in rows] == [*LEVELS, "all levels"]
    found = json.loads(run("study", "audit", study, "--json"))
    for row in rows:
        part = found["per_level"].get(row["level"], found["overall"])
        assert (float(row["auc"]), float(row["p"])) == (part["auc"], part["p"])
        assert (int(row["pairs"]), int(row["auc_n"])) == (part["n_pairs"], part["n_questions"])
        assert float(row["p_of_the_rule"]) == part["strongest_rule"]["p"]
        assert float(row["p_holm"]) == part["p_holm"]
        assert float(row["p_of_the_rule_holm"]) == part["strongest_rule"]["p_holm"]


def test_too_few_questions_are_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "small.json").write_bytes(paper_json(dataset(3)))
    run("study", "import", str(tmp_path / "small.json"), "--name", "small")
    printed = run("study", "audit", "small")
    assert "AUC: undefined: the answers to 3 questions differ in a feature; 6 are needed" in printed
    assert json.loads(run("study", "audit", "small", "--json"))["overall"]["auc"] is None


def test_an_unknown_study_is_a_sentence(run: Run, study: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "audit", "other"]) != 0
    assert "There is no study named 'other'. Studies: pilot." in capsys.readouterr().err
