"""`report bias` over whole runs: twins by rules, pairwise and rubric judges on a scripted server, a metric, a judge by rules."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Body, ScriptedServer

from core.cli import main

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "answers.csv"
Command = Callable[..., Any]


def _texts(asked: str, *tags: str) -> list[str]:
    return [re.findall(rf"<{tag}>\n(.*?)\n</{tag}>", asked, re.DOTALL)[-1] for tag in tags]


def swayed(body: Body, n: int = 0) -> str:
    """`first`: takes the first text. `long`: takes the longer of two texts, and gives a short one a 2, a long one a 4."""
    asked = str(body["messages"][-1]["content"])
    if "<first>" in asked:
        first, second = _texts(asked, "first", "second")
        longer = "first" if len(first) > len(second) else "second"
        return json.dumps({"feedback": "Read.", "verdict": "first" if body["model"] == "first" else longer})
    if "<criterion>" in asked:
        (response,) = _texts(asked, "response")
        return json.dumps(
            {"feedback": f"{len(response)} letters.", "verdict": 4 if len(response) > 450 else 2}
        )
    return answer(body, n)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    found = tmp_path_factory.mktemp("bias")
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(swayed, models=("first", "long")) as server:
        patch.chdir(found)
        patch.setenv("ASSAY_DB", str(found / "assay.db"))
        answers = pd.read_csv(DEMO)
        answers[(answers["language"] == "en") & (answers["source"] == "pipeline")].to_csv(
            "a.csv", index=False
        )
        who = ["--backend", "openai", "--base-url", server.url, "--model"]
        for command in (
            ["judge", "twins", "a.csv", "--out", "twins"],
            ["judge", "pairwise", "twins/twins.jsonl", *who, "first", "--out", "first"],
            ["judge", "pairwise", "twins/twins.jsonl", *who, "long", "--out", "long"],
            ["judge", "rubric", "twins/twins.jsonl", *who, "long", "--order", "both", "--out", "rubric"],
            ["judge", "claims", "twins/twins.jsonl", "--backend", "rules", "--out", "claims"],
            ["score", "twins/twins.jsonl", "--metrics", "chrf-6-2", "--out", "scores.csv"],
        ):
            assert main(command) == 0, command
        yield found


@pytest.fixture
def told(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run `report bias` with --json; what it prints."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ASSAY_DB", str(folder / "assay.db"))

    def command(*words: str, status: int = 0) -> Any:
        capsys.readouterr()
        assert main(["report", "bias", *words, "--json"]) == status
        said = capsys.readouterr()
        return json.loads(said.out) if status == 0 else said.err

    return command


def effects(found: Any) -> dict[str, dict[str, Any]]:
    return {one["probe"]: one for one in found["effects"]}


def test_a_judge_that_takes_the_first_is_biased_for_the_place_and_for_nothing_else(told: Command) -> None:
    found = effects(told("first"))
    place = found.pop("position")
    assert (place["verdict"], place["favours"], place["change"]["estimate"]) == ("biased", "first", 0.5)
    assert place["flips"]["estimate"] == 1
    # Both orders together give a tie to every pair, so nothing is left for the edits to move.
    assert {one["verdict"] for one in found.values()} == {"undefined"}


def test_a_judge_that_takes_the_longer_is_biased_for_length(told: Command) -> None:
    found = effects(told("long"))
    assert found["lengthening"]["verdict"] == "biased"
    assert found["lengthening"]["favours"] == "edited"
    assert found["position"]["verdict"] == "underpowered", "eleven questions"
    assert abs(found["position"]["change"]["estimate"]) < 0.05, "texts of one length"


def test_runs_folders_and_tables_stand_side_by_side(told: Command, folder: Path) -> None:
    found = told("rubric", "run:5", "scores.csv", "--texts", "twins/twins.jsonl", "--changes", "400")
    probes: dict[str, set[str]] = {}
    for one in found["effects"]:
        probes.setdefault(one["judge"], set()).add(one["probe"])
    edits = {"padding", "lengthening", "authority", "formatting", "confidence"}
    rubric, *others = probes.values()
    assert rubric == edits | {"position"}
    assert others == [edits] * 5, "four numbers of the claims, and chrF"
    assert [one["p"] is None for one in found["effects"]].count(False) >= 15
    for one in found["changes"]:
        assert one["unedited"] != one["edited"]
        if one["judge"].startswith("rubric"):
            assert one["reasons_edited"].endswith("letters.")


def test_it_prints_the_verdict_first_and_writes_its_tables(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert main(["report", "bias", "scores.csv", "--out", "bias.csv"]) == 0
    assert "chrf-6-2 is biased on" in capsys.readouterr().out.splitlines()[0]
    written = pd.read_csv("bias.csv")
    assert {"judge", "probe", "verdict", "change_low", "of_gap", "flips", "detectable", "p_bh"} <= set(
        written
    )
    assert main(["report", "bias", "scores.csv", "--out", "changes.csv", "--table", "bias-changes"]) == 0
    assert len(pd.read_csv("changes.csv")) == 10


def test_mistakes_are_named(told: Command, folder: Path) -> None:
    said = told("scores.csv", "--limit", "0", "--alpha", "2", "--changes", "-1", status=2)
    assert all(f"--{name}:" in said for name in ("limit", "alpha", "changes"))
    (folder / "plain.csv").write_text("item,system,level,m\nq1,s,A0,1\nq1,s,A1,0\n", encoding="utf-8")
    assert "plain.csv has no edited text" in told("plain.csv", status=2)
