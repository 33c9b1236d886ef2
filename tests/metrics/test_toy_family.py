"""A family of metrics is one file and one line: then commands, runs, signatures and the page's list have it."""

import csv
import json
from pathlib import Path

import pytest
from helpers.toys import family as toy_family

from core.cli import main
from core.metrics.lexical.scorer import LEXICAL_FAMILIES
from core.metrics.registry import canonical_name, find_metrics


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(LEXICAL_FAMILIES, toy_family.FAMILY.name, toy_family.FAMILY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))


def test_it_is_scored_by_command_and_kept_with_its_signature(capsys: pytest.CaptureFixture[str]) -> None:
    Path("texts.csv").write_text("item,text,reference\n1,a b,a b c d\n2,a b,a b\n")
    assert main(["score", "--list"]) == 0
    assert "toy-variety-1" in capsys.readouterr().out
    assert main(["score", "texts.csv", "--metrics", "toy-variety-1,bleu-1", "--out", "s.csv"]) == 0
    with open("s.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "toy-variety-1"]
    assert [float(row["score"]) for row in rows] == [0.5, 1.0]
    capsys.readouterr()
    assert main(["runs", "show", "1", "--json"]) == 0
    metrics = json.loads(capsys.readouterr().out)["settings"]["metrics"]
    assert tuple(metrics[0][key] for key in ("name", "signature", "family")) == (
        "toy-variety-1",
        toy_family.FAMILY.specs[0].metric.signature,
        "Toy",
    )


def test_it_is_found_by_its_other_name_and_not_among_the_papers() -> None:
    assert canonical_name("Toy variety 1") == "toy-variety-1"
    assert "toy-variety-1" not in {one.metric.name for one in find_metrics(["lexical"])}
