"""`study plan`: tables, JSON, files, pilots, a running study, and mistakes."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.factories import dataset, prefers, study_in, unblind, vote

from core.cli import main
from core.stats.planning import Size, power_of, stated_components
from core.store import open_store

Run = Callable[..., str]


def test_the_smallest_designs(run: Run, tmp_path: Path) -> None:
    words = ("study", "plan", "--raters", "3,8", "--score", "net_preference", "--power", "0.9")
    found = json.loads(run(*words, "--json"))
    assert [(one["scope"], one["raters"]) for one in found["plans"]] == [
        *(("these raters", 3), ("these raters", 8)),
        *(("raters as a sample", 3), ("raters as a sample", 8)),
    ]
    first = found["plans"][0]
    assert first["power"] == power_of(stated_components(), Size(first["questions"], 3, 3), margin=0.1) >= 0.9
    assert found["reached"] is None
    printed = run(*words, "--out", "plan.csv")
    assert f"{first['questions']} questions and 3 raters" in printed
    rows = list(csv.DictReader((tmp_path / "plan.csv").open(encoding="utf-8")))
    assert [row["questions"] for row in rows[:2]] == [str(one["questions"]) for one in found["plans"][:2]]
    run(*words, "--out", "power.csv", "--table", "power")
    assert len((tmp_path / "power.csv").read_text("utf-8").splitlines()) > 40


def test_a_pilot_and_a_running_study(run: Run, tmp_path: Path) -> None:
    with open_store(tmp_path / "assay.db") as store:
        pilot = study_in(store, dataset(16), name="pilot", score="net_preference", margin=0.2)
        for at, token in enumerate(pilot.tokens.values()):
            vote(store, token, prefers(at))
        unblind(pilot)
        study_in(store, dataset(6), name="open one", score="net_preference", margin=0.15)
    found = json.loads(run("study", "plan", "--pilot", "study:pilot", "--half-width", "0.2", "--json"))
    assert found["source"].startswith("study pilot (")
    assert found["levels"] == 4
    components = run(
        "study", "results", "pilot", "--resamples", "20", "--out", "c.csv", "--table", "variance-components"
    )
    assert components
    of_file = json.loads(
        run("study", "plan", "--pilot", "c.csv", "--levels", "4", "--half-width", "0.2", "--json")
    )
    assert (of_file["components"], of_file["plans"]) == (found["components"], found["plans"])
    running = json.loads(run("study", "plan", "--study", "open one", "--json"))
    assert (running["margin"], running["score"], running["levels"]) == (0.15, "net_preference", 4)
    assert running["reached"]["complete_questions"] == 0
    assert "Complete: 0 of 6 questions" in run("study", "progress", "open one")
    assert json.loads(run("study", "progress", "open one", "--json"))[0]["rater_id"] == "R1"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--power", "2"), "--power"),
        (("--half-width", "0"), "--half-width"),
        (("--question-correlation", "0.9"), "--agreement"),
        (("--raters", "x"), "--raters"),
        (("--confidence", "0.2"), "--confidence"),
        (("--votes", "50"), "--votes"),
        (("--questions", "50", "--power", "0.9"), "--questions"),
        (("--questions", "50", "--half-width", "0.1"), "--questions"),
        (("--pilot", "components.csv", "--decided", "0.3"), "--decided"),
    ],
)
def test_mistakes_name_the_option(
    words: tuple[str, ...],
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "components.csv").write_text("rater,question,residual\n.01,.1,.3\n", "utf-8")
    assert main(("study", "plan", *words)) == 2
    said = capsys.readouterr().err
    assert f"- {option}: " in said
    assert "question_correlation" not in said


def test_a_study_that_is_not_unblinded_is_no_pilot(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(tmp_path / "assay.db") as store:
        study_in(store, name="open one")
    assert main(("study", "plan", "--pilot", "study:open one")) == 2
    assert "hidden until you unblind it" in capsys.readouterr().err
