"""`reproduce`: the papers' numbers from the command line, in every format."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.papers import PAPERS, paper

Run = Callable[..., str]


def test_without_a_paper_all_are_listed(run: Run) -> None:
    listed = json.loads(run("reproduce", "--json"))
    assert [(one["paper"], one["table"]) for one in listed] == [
        (name, part.table) for name in PAPERS for part in paper(name).parts
    ]
    own = json.loads(run("reproduce", "cef", "--list", "--json"))
    assert own == [one for one in listed if one["paper"] == "cef"]
    assert all(one["source"] or one["where"] for one in listed)


def test_json_csv_markdown_and_latex_hold_the_same_numbers(run: Run, tmp_path: Path) -> None:
    found = json.loads(run("reproduce", "cef", "4", "--json"))
    assert (found["paper"], found["n_numbers"], found["n_agree"], found["n_rounding"]) == ("cef", 11, 10, 0)
    run("reproduce", "cef", "4", "--out", "numbers.csv")
    with (tmp_path / "numbers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, one in zip(rows, found["numbers"], strict=True):
        assert (row["table"], row["row"], row["column"]) == (one["table"], one["row"], one["column"])
        assert (float(row["value"]), float(row["published"])) == (one["value"], one["published"])
        assert row["agrees"] == one["agrees"]
    for name in ("numbers.md", "numbers.tex"):
        run("reproduce", "cef", "4", "--out", name)
        assert "coreference" in (tmp_path / name).read_text("utf-8")
    run("reproduce", "cef", "--table", "reproduced-tables", "--out", "tables.csv")
    with (tmp_path / "tables.csv").open(encoding="utf-8", newline="") as file:
        tables = {row["table"]: row for row in csv.DictReader(file)}
    assert tables["Table 1"]["n_numbers"] == "80"
    assert tables["Table 2"]["missing"]


def test_many_numbers_are_printed_where_they_differ(run: Run) -> None:
    printed = run("reproduce", "cef")
    assert "GEMBA-MQM" in printed
    assert "coreference" not in printed
    assert "coreference" in run("reproduce", "cef", "Table 4")


@pytest.mark.shared
def test_data_are_found_at_any_depth(run: Run, shared_data: Path) -> None:
    found = json.loads(run("reproduce", "factual", "2", "--data", str(shared_data), "--json"))
    assert (found["n_numbers"], found["n_agree"]) == (18, 18)


def test_mistakes_are_reported_together(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = ("--data", str(tmp_path / "none"))
    assert main(["reproduce", "factual", *missing, "--out", "numbers.pdf"]) == 2
    said = capsys.readouterr().err
    assert "--data" in said
    assert "--out" in said
    assert main(["reproduce", "factual", "99"]) == 2
    assert "section-4" in capsys.readouterr().err
    assert main(["reproduce", "factual", "--resamples", "0"]) == 2
    assert "--resamples" in capsys.readouterr().err


def test_no_file_of_the_data_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "trutheval" / "results-evaluator-1.json"
    data.parent.mkdir()
    data.write_text("{}")
    assert main(["reproduce", "factual", "--data", str(tmp_path), "--out", str(data)]) == 2
    assert data.read_text() == "{}"
    assert "--out" in capsys.readouterr().err
