"""Whole runs on real vLLM with a tiny model of random weights: a server, and in process.

Such a model writes nonsense, so most items fail a check; what these tests see is that guided decoding holds the
schemas, that every item is accounted for, that both ways give the same texts, and that a rerun asks nothing.
"""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from helpers.models.vllm_environment import VllmServer, run_commands

from core.cli import main
from core.store import open_store

pytestmark = pytest.mark.slow
ENDLESS = ("--largest-limit", "1")
"""Random weights rarely end an answer: a larger limit would only be reached later."""

N = 12


def write_questions(folder: Path) -> Path:
    """Short references with one fact each, so that some items get through a model of random weights."""
    path = folder / "questions.jsonl"
    rows = [
        {"item_id": f"q{n}", "question": f"When was it founded, number {n}?", "reference": f"In {1900 + n}."}
        for n in range(N)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_questions(tmp_path)


def by_server(kind: str, server: VllmServer, questions: Path, out: Path, *more: str) -> None:
    where = ["--out", str(out), "--db", str(out.parent / "server.db")]
    who = ["--backend", "openai", "--base-url", server.url, "--model", server.model, *ENDLESS]
    assert main(["generate", kind, str(questions), *where, *who, *more]) == 0


def in_process(kind: str, model: Path, questions: Path, out: Path, *more: str) -> list[str]:
    """Arguments of the command that has vLLM in its own process."""
    return [
        *("generate", kind, str(questions), "--out", str(out), "--db", str(out.with_suffix(".db"))),
        *("--backend", "vllm", "--model", str(model), "--max-model-len", "8192", "--engine", "dtype=float32"),
        *more,
    ]


def check_run(out: Path, kind: str) -> dict[str, Any]:
    """Every item is there with its levels or a reason, and every call is on the account."""
    report: dict[str, Any] = json.loads((out / "run.json").read_bytes())
    assert report["done"] + report["failed"] == N
    assert report["again"] == 0
    rows = list(csv.DictReader(io.StringIO((out / "outputs.csv").read_text("utf-8"))))
    assert {row["item_id"] for row in rows} == {f"q{n}" for n in range(N)}
    assert all(bool(row["text"]) != bool(row["reason"]) for row in rows)
    costs = {cost["step"]: cost for cost in report["costs"]}
    assert all(cost["input_tokens"] and cost["output_tokens"] for cost in costs.values() if cost["calls"])
    assert set(costs) == {"damage"} if kind == "damage" else "paraphrase" in costs
    return report


def guided_replies(database: Path) -> list[str]:
    """What the model said where a schema was given and it came to its end."""
    with open_store(database) as store:
        rows = store.rows(
            "select distinct reply.text from reply join run_call using (key) "
            "where step in ('rank', 'edit') and reply.reason is null"
        )
    return [row["text"] for row in rows]


@pytest.mark.parametrize("kind", ["factual", "damage"])
def test_a_whole_run_over_the_server(
    kind: str, vllm_server: VllmServer, questions: Path, tmp_path: Path
) -> None:
    by_server(kind, vllm_server, questions, tmp_path / "out")
    report = check_run(tmp_path / "out", kind)
    if kind == "factual":
        replies = guided_replies(tmp_path / "server.db")
        assert replies
        assert all({"ranking", "replacements"} & set(json.loads(reply)) for reply in replies)
    else:
        assert report["done"] > 0
    again = tmp_path / "again"
    by_server(kind, vllm_server, questions, again, "--source", "again")
    second = check_run(again, kind)
    assert sum(cost["calls"] for cost in second["costs"]) == 0, "everything came from the cache"
    assert second["done"] == report["done"]


@pytest.fixture(scope="module")
def made(vllm_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what two commands made in one process."""
    folder = tmp_path_factory.mktemp("in-process")
    questions = write_questions(folder)
    run_commands(
        vllm_python,
        *(in_process(kind, tiny_model, questions, folder / kind, *ENDLESS) for kind in ("factual", "damage")),
    )
    return folder


@pytest.mark.parametrize("kind", ["factual", "damage"])
def test_a_whole_run_in_process(kind: str, made: Path) -> None:
    report = check_run(made / kind, kind)
    if kind == "factual":
        replies = guided_replies(made / "factual.db")
        assert replies
        assert all({"ranking", "replacements"} & set(json.loads(reply)) for reply in replies)
    else:
        assert report["done"] > 0


def test_a_real_model_damages_texts(
    vllm_python: Path, real_model: Path, questions: Path, tmp_path: Path
) -> None:
    """A weak one: its texts are refused for good reasons more often than not, so only the account is looked at."""
    few = ("--limit", "3", "--attempts", "1")
    run_commands(vllm_python, in_process("damage", real_model, questions, tmp_path / "out", *few))
    report: dict[str, Any] = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert report["done"] + report["failed"] == 3
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "outputs.csv").read_text("utf-8"))))
    assert all(bool(row["text"]) != bool(row["reason"]) for row in rows)
    [cost] = report["costs"]
    assert cost["calls"] > 0
    assert cost["input_tokens"] > 100 * cost["calls"]
    assert cost["output_tokens"] > 0
    with open_store(tmp_path / "out.db") as store:
        [kept] = store.rows("select count(*) as n from reply")
    assert kept["n"] > 0
