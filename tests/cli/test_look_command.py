"""`study look`: shut unless the design declares it, one bound, in the log; then beside the results."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.factories import prefers, study_in, vote

from core.cli import main
from core.store import open_store

Run = Callable[..., str]
Capsys = pytest.CaptureFixture[str]
DEMO = str(Path(__file__).resolve().parents[2] / "data" / "demo" / "answers.csv")


def refused(capsys: Capsys, *arguments: str) -> str:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


@pytest.fixture
def pilot(run: Run, tmp_path: Path) -> Run:
    """An open study `pilot` that may be looked at, in which both raters always prefer the candidate."""
    with open_store(tmp_path / "assay.db") as store:
        at_hand = study_in(store, raters=("ann", "ben"), name="pilot", early_looks=True)
        for token in at_hand.tokens.values():
            vote(store, token, prefers(0))
    return run


def test_the_option_declares_looks(run: Run, capsys: Capsys) -> None:
    for name, more in (("yes", ["--early-looks"]), ("no", ["--again"])):
        assert main(["study", "import", DEMO, "--name", name, "--candidate", "pipeline", *more]) == 0
        assert ("early looks" in capsys.readouterr().out) == (name == "yes")
    studies = {study["name"]: study for study in json.loads(run("study", "list", "--json"))}
    assert [studies[name]["design"]["early_looks"] for name in ("yes", "no")] == [True, False]
    assert "is a draft" in refused(capsys, "study", "look", "yes")
    run("study", "open", "no")
    assert "were not declared" in refused(capsys, "study", "look", "no")


def test_a_look_is_logged_and_then_beside_the_results(pilot: Run, tmp_path: Path, capsys: Capsys) -> None:
    found = json.loads(pilot("study", "look", "pilot", "--json"))
    assert (found["value"], found["n_entered"], found["looks"]) == ("continue", 4, 1)
    said = pilot("study", "look", "pilot", "--out", str(tmp_path / "look.csv"))
    assert said.startswith("Continue. 4 of 4 questions have entered.")
    assert (tmp_path / "look.csv").read_text("utf-8").startswith("verdict,bound,margin,questions_entered")
    log = [line.split("\t") for line in pilot("study", "log", "pilot").splitlines()]
    looks = [line[3] for line in log if line[1] == "looked early"]
    assert looks == [f"by command: 4 of 4 questions, bound {found['bound']:.3f}, Continue"] * 2
    assert "study look pilot" in refused(capsys, "study", "results", "pilot")
    pilot("study", "close", "pilot")
    pilot("study", "unblind", "pilot", "--reason", "done")
    results = json.loads(pilot("study", "results", "pilot", "--json", "--resamples", "100"))
    assert len(results["early"].pop("bounds")) == 4
    assert results["early"].pop("caution") is None
    assert {**results["early"], "looks": 1} == found
    said = pilot("study", "results", "pilot", "--resamples", "100", "--out", "path.csv", "--table", "early")
    assert "(always-valid bound)" in said
    assert (tmp_path / "path.csv").read_text("utf-8").splitlines()[0] == "question,bound,margin"
    assert "is unblinded" in refused(capsys, "study", "look", "pilot")
