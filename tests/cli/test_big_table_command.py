"""`runs table` and `runs texts`: estimates and texts of a run over a big table."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.big_tables import METRICS, big_run, scored_table

from core.cli import main
from core.store import open_store

Run = Callable[..., str]


@pytest.fixture
def number(tmp_path: Path) -> str:
    with open_store(tmp_path / "assay.db") as store:
        return str(big_run(store, scored_table(20)).run_id)


def test_estimates_say_the_verdict_first_and_write_both_tables(run: Run, number: str, tmp_path: Path) -> None:
    said = run("runs", "table", number, "--by", "level").splitlines()
    assert said[0].startswith("rouge-l")
    written = json.loads(run("runs", "table", number, "--by", "level", "--json"))
    assert [one["name"] for one in written["correlations"]] == list(METRICS)
    assert len(written["means"]) == 5 * len(METRICS)
    assert written["means"][0]["mean"]["low"] is None
    run("runs", "table", number, "--out", str(tmp_path / "followed.csv"))
    run("runs", "table", number, "--out", str(tmp_path / "means.csv"), "--table", "means")
    rows = list(csv.DictReader((tmp_path / "means.csv").open(encoding="utf-8")))
    assert [rows[0][name] for name in ("metric", "level", "system")] == ["bleu-4", "A0", "pipeline"]
    assert len(list(csv.DictReader((tmp_path / "followed.csv").open(encoding="utf-8")))) == len(METRICS)


def test_intervals_on_demand(run: Run, number: str) -> None:
    own = json.loads(
        run("runs", "table", number, "--intervals", "--resamples", "50", "--metrics", "ter", "--json")
    )
    assert own["n_resamples"] == 50
    assert own["means"][0]["mean"]["low"] < own["means"][0]["mean"]["high"]
    assert own["correlations"][0]["pearson"]["low"] is not None
    assert own["correlations"][0]["kendall"]["interval_reason"]


def test_texts_page_by_page(run: Run, number: str) -> None:
    words = ["--where", "level=A1", "--where", "domain=it's", "--sort", "ter", "--descending"]
    first, second = (
        json.loads(run("runs", "texts", number, *words, "--from", start, "--limit", "4", "--json"))
        for start in "15"
    )
    assert first["total"] == second["total"] > 4
    scores = [one["scores"]["ter"] for one in [*first["texts"], *second["texts"]]]
    defined = [score for score in scores if score is not None]
    assert defined == sorted(defined, reverse=True)
    assert {one["level"] for one in first["texts"]} == {"A1"}
    assert {one["labels"]["domain"] for one in first["texts"]} == {"it's"}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["table", "--by", "levle"], ["levle", "level"]),
        (["table", "--metrics", "bleu-44"], ["bleu-44", "bleu-4"]),
        (["table", "--resamples", "-1", "--confidence", "2"], ["--resamples", "--confidence"]),
        (
            ["texts", "--where", "level", "--limit", "0", "--descending"],
            ["--where", "--limit", "--descending"],
        ),
        (["texts", "--where", "lable=1"], ["lable"]),
    ],
)
@pytest.mark.usefixtures("run")
def test_mistakes_are_named_together(
    number: str, capsys: pytest.CaptureFixture[str], words: list[str], named: list[str]
) -> None:
    assert main(["runs", words[0], number, *words[1:]]) == 2
    said = capsys.readouterr().err
    assert all(name in said for name in named)


@pytest.mark.usefixtures("run")
def test_another_run_is_refused_with_its_own_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.csv"
    texts.write_text(
        "item_id,system,level,text,reference\nq1,a,A0,one two,one two\nq1,a,A1,one,one two\n", "utf-8"
    )
    assert main(["score", str(texts), "--metrics", "bleu-1", "--out", str(tmp_path / "scores.csv")]) == 0
    for verb in ("table", "texts"):
        assert main(["runs", verb, "1"]) == 2
        assert "runs write 1" in capsys.readouterr().err
