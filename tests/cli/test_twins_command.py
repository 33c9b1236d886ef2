"""`judge twins`: from texts to a file that judges and metrics read, previews, kills, and what is wrong with the input."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.processes.killed_run import kill_in_the_middle
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import texts

from core.cli import main
from core.formats.registry import read_texts
from core.judges.twins import LEFT_OUT_FILE, TWINS_FILE

ROOT = Path(__file__).resolve().parents[2]
DEMO = str(ROOT / "data" / "demo" / "answers.csv")
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    return tmp_path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(arguments)
        return status, *capsys.readouterr()

    return run


def test_rules_make_twins_of_the_demo_and_metrics_score_them(command: Command, here: Path) -> None:
    status, out, _ = command("judge", "twins", DEMO, "--out", "made", "--json")
    assert status == 0
    found = {one["probe"]: one for one in json.loads(out)}
    assert {name: (one["n"], one["n_made"]) for name, one in found.items()} == {
        "padding": (28, 28), "lengthening": (28, 24), "authority": (28, 24), "formatting": (28, 28), "confidence": (28, 24),
    }  # fmt: skip
    assert {path.name for path in (here / "made").iterdir()} == {
        *("records.jsonl", "edits.csv", TWINS_FILE, LEFT_OUT_FILE, "run.json")
    }
    status, _, err = command("score", f"made/{TWINS_FILE}", "--metrics", "chrf-6-2", "--out", "scores.csv")
    assert status == 0, err
    assert len((here / "scores.csv").read_text("utf-8").splitlines()) == 313


def test_a_preview_goes_on_to_the_same_file(command: Command, here: Path) -> None:
    chosen = ("judge", "twins", DEMO, "--probes", "padding,authority", "--levels", "A0,A4", "--seed", "3")
    assert command(*chosen, "--out", "whole")[0] == 0
    assert command(*chosen, "--out", "part", "--limit", "2", "--db", "other.db")[0] == 0
    preview = read_texts((here / "part" / TWINS_FILE).read_bytes(), TWINS_FILE).outputs
    assert {one.item_id for one in preview} == {"d01", "d02"}
    assert {one.level for one in preview} == {"A0", "A4"}
    assert command(*chosen, "--out", "part", "--limit", "14", "--db", "other.db", "--resume")[0] == 0
    assert (here / "part" / TWINS_FILE).read_bytes() == (here / "whole" / TWINS_FILE).read_bytes()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--probes", "shouting"), "shouting"),
        (("--levels", "A0,A9"), "A9"),
        (("--editor", "model"), "--editor"),
        (("--longer", "9"), "--longer"),
    ],
)
def test_what_cannot_be_done_is_said(command: Command, more: tuple[str, ...], said: str) -> None:
    status, _, err = command("judge", "twins", DEMO, "--out", "made", *more)
    assert status != 0
    assert said in err
    assert "Traceback" not in err


def test_a_model_makes_all_probes_unless_some_are_chosen(command: Command, here: Path) -> None:
    (here / "mills.jsonl").write_bytes(texts(1, ("A0", "A2")))
    with ScriptedServer(lambda body, n: "No.", models=("tiny",)) as server:
        who = ("--backend", "openai", "--model", "tiny", "--base-url", server.url)
        status, out, _ = command("judge", "twins", "mills.jsonl", "--out", "made", *who, "--json")
    assert status == 0
    found = {one["probe"]: one["n_made"] for one in json.loads(out)}
    assert found == {
        "padding": 1,
        "lengthening": 1,
        "authority": 1,
        "formatting": 1,
        "confidence": 1,
        "own-style": 0,
    }


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_file(command: Command, here: Path) -> None:
    (here / "mills.jsonl").write_bytes(texts(60))
    arguments = ("judge", "twins", str(here / "mills.jsonl"))
    killed = here / "killed.db"
    kill_in_the_middle([*arguments, "--out", str(here / "a"), "--db", str(killed)], killed, 20, 60)
    assert command(*arguments, "--out", "a", "--db", str(killed), "--resume")[0] == 0
    assert command(*arguments, "--out", "b", "--db", "fresh.db")[0] == 0
    for name in (TWINS_FILE, "edits.csv", LEFT_OUT_FILE, "records.jsonl"):
        assert (here / "a" / name).read_bytes() == (here / "b" / name).read_bytes()
