"""`report pairs`: a judge of a study's pairs, run by the commands over a scripted server; what it prints and refuses."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.processes.scripted_server import Body
from helpers.texts import factories
from helpers.texts.judge_runs import judging_server

from core.cli import main
from core.store import open_store

Command = Callable[..., str]
MISTAKE, OPEN, UNDECIDED = 2, 3, 4
"""Exit codes: of a user's mistake, and of a verdict that is inconclusive."""


def compares(body: Body, _: int) -> str:
    """Prefers the first system's text in two questions, and the text that it reads first in the two others."""
    asked = next(one["content"] for one in body["messages"] if "<first>\n" in one["content"])
    alpha = asked.index("Alpha text") < asked.index("Beta text")
    keeps = re.search(r"text of q0[01]", asked) is not None
    return json.dumps(
        {"feedback": f"Alpha first: {alpha}.", "verdict": "first" if alpha or not keeps else "second"}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A study with votes, still closed; a judge compared its pairs under masks (run 1, folder judged), another texts."""
    folder = tmp_path_factory.mktemp("pairs")
    with pytest.MonkeyPatch.context() as patch, judging_server(compares) as server:
        patch.chdir(folder)
        patch.setenv("ASSAY_DB", str(folder / "assay.db"))
        with open_store(folder / "assay.db") as store:
            at_hand = factories.study_in(
                store, factories.dataset(4), name="s", raters=("R1", "R2", "R3"), state="open"
            )
            for token in at_hand.tokens.values():
                factories.vote(store, token, factories.prefers(0))
        who = ["--backend", "openai", "--model", "tiny", "--base-url", server.url]
        assert main(["judge", "pairwise", "study:s", *who, "--out", "judged"]) == 0
        yield folder


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*words: object, rc: int = 0) -> str:
        capsys.readouterr()
        assert main([str(word) for word in words]) == rc
        said = capsys.readouterr()
        return said.err if rc == MISTAKE else said.out

    return run


def test_before_the_study_is_unblinded_nothing_is_by_system(folder: Path, command: Command) -> None:
    for judge in ("run:1", "judged"):
        found = json.loads(command("report", "pairs", judge, "--json"))
        assert found["systems"] == []
        assert found["systems_reason"]
        (whole, *_) = found["orders"]
        assert (whole["n_pairs"], whole["same"]["estimate"], whole["n_flips"]) == (20, 0.5, [10, 0])
        assert whole["position"]["p"] == 2 / 2**2, "ten pairs, but of two questions"
        assert found["votes"] is None
        printed = command("report", "pairs", judge)
        assert not any(name in printed for name in ("ai ", "human", "answer 1", "answer 2"))
    out = folder / "systems.csv"
    assert "masked" in command(
        "report", "pairs", "run:1", "--table", "pairs-systems", "--out", out, rc=MISTAKE
    )
    assert not out.exists()
    assert "unblind" in command("report", "pairs", "run:1", "--study", "s", rc=MISTAKE)


def test_wrong_options_are_named_together(folder: Path, command: Command) -> None:
    said = command("report", "pairs", "run:1", "--epsilon", 2, "--gaps", 0, "--resamples", -1, rc=MISTAKE)
    assert all(option in said for option in ("--epsilon", "--gaps", "--resamples"))
    said = command("report", "pairs", "run:1", "--texts", rc=MISTAKE)
    assert all(option in said for option in ("--texts", "--study"))
    out = folder / "x.csv"
    assert "--table" in command("report", "pairs", "run:1", "--table", "gaps", "--out", out, rc=MISTAKE)


def test_with_the_votes_of_the_unblinded_study(folder: Path, command: Command) -> None:
    with open_store(folder / "assay.db") as store:
        factories.ended(store, 1)
    found = json.loads(command("report", "pairs", "run:1", "--study", "study:s", "--json"))
    assert {one["system"] for one in found["systems"]} == {"ai", "human"}
    levels = {(one["level"], one["answers"]): one["n_pairs"] for one in found["votes"]["blocks"]}
    assert levels["", "four"] == 16
    assert levels["A4", "three"] == 4
    assert found["votes"]["raters"] == ["R1", "R2", "R3"]
    assert found["votes"]["blocks"][0]["agreement_raters"]["estimate"] == 1
    out = folder / "gaps.csv"
    command(
        *("report", "pairs", "judged", "--study", "s", "--gaps", 3, "--texts"),
        *("--table", "gaps", "--out", out),
    )
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert len(rows) == 3
    assert "Candidate, ai: Alpha text" in rows[0]["text"]
    assert "candidate read first: Alpha first: True." in rows[0]["reasons"]
    printed = command("report", "pairs", "run:1", "--study", "s")
    assert all(title in printed for title in ("Both orders", "Win rates", "Beside raters", "Alt-test"))


def test_the_check_reads_the_same_verdicts_and_both_texts(folder: Path, command: Command) -> None:
    found = json.loads(
        command("check", "study:s", "run:1", "--use", "gate", "--json", "--gaps", 2, "--texts", rc=UNDECIDED)
    )
    pairs = json.loads(command("report", "pairs", "run:1", "--study", "s", "--json"))
    three = next(one for one in pairs["votes"]["blocks"] if (one["level"], one["answers"]) == ("", "three"))
    (judge,) = found["judges"]
    assert judge["agreement"]["estimate"] == pytest.approx(three["agreement"]["estimate"])
    assert "Comparator, human: Beta text" in json.dumps(found)
