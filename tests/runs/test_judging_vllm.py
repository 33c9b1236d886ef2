"""Whole runs of the judges on real vLLM: a server, and in process.

A tiny model of random weights writes nonsense in the form that guided decoding allows; the real one, of 135 million,
is weak. What these tests see is that every text has its scores or the reason why not, that all that was guided to its
end keeps its schema, and that calls are on the account; of no score is said what it should be.
"""

import json
import re
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.models.vllm_environment import ROOT, VllmServer, on_a_cpu, run_core, work_on
from helpers.texts.judge_runs import COMPARING, LEVELS, settings, worked

from core.judges.pairwise import PairwiseRecord
from core.results.judges.pairwise import judged_pairs, pairs_report
from core.runs.asked import Running
from core.runs.judging import judge_output
from core.runs.path import create, run_report, saved_run, written
from core.runs.progress import progress_of
from core.runs.records import read_judge_folder
from core.schema.scores import JudgeOutput
from core.store import Store, open_store
from core.store.runs import ask_to_stop

pytestmark = pytest.mark.slow

N = 40
STEPS = {
    "rubric": {"rubric"},
    "claims": {"claims of the response", "claims of the reference"},
    "cef": {"questions from source", "questions from text"},
}

ENDLESS: dict[str, Any] = {"largest_limit": 1}
"""Random weights rarely end an answer: a larger limit would only be reached later."""


def texts(n_items: int) -> bytes:
    """Short ones, so that a model of random weights comes through hundreds of them."""
    rows = (
        {
            "item_id": f"q{item}",
            "system": "tiny",
            "level": level,
            "text": f"It was built in {1900 + item - number}.",
            "reference": f"In {1900 + item} it was built.",
            "source": f"The mill was built in {1900 + item}.",
        }
        for item in range(n_items)
        for number, level in enumerate(LEVELS)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def check(store: Store, run_id: int, kind: Any, n_items: int) -> JudgeOutput:
    """Every text is there, scored or with a reason, and every call is on the account."""
    run = saved_run(store, run_id)
    assert (run.run.state, run.run.message) == ("done", "")
    progress = progress_of(store, run_id)
    assert progress.n_done + progress.n_failed == n_items
    output = judge_output(run)
    assert Counter(text.row.level for text in output.texts) == dict.fromkeys(LEVELS, n_items)
    for text in output.texts:
        for metric in output.metrics:
            assert (text.scores[metric.name] is None) == (metric.name in text.reasons), text
    costs = {cost.step: cost for cost in progress.costs}
    assert STEPS[kind] <= set(costs)
    assert all(cost.input_tokens and cost.output_tokens for cost in costs.values() if cost.calls)
    return output


def guided_replies(store: Store) -> list[str]:
    """What the model said where it came to its end; every step of these judges gives a schema."""
    rows = store.rows(
        "select distinct reply.text from reply join run_call using (key) where reply.reason is null"
    )
    return [row["text"] for row in rows]


@pytest.mark.parametrize("kind", COMPARING)
def test_a_whole_run_over_the_server(
    kind: Any, vllm_server: VllmServer, store: Store, tmp_path: Path
) -> None:
    chosen = settings(kind, vllm_server.url, model=vllm_server.model, attempts=1, n_questions=2, **ENDLESS)
    running = Running(concurrency=64)
    run, _ = create(store, texts(N), "t.jsonl", chosen, running)
    worked(run)
    output = check(store, run.run.run_id, kind, N)
    if (
        kind == "rubric"
    ):  # nonsense in the form that was asked for; of the others' nonsense nothing can be measured
        assert any(score is not None for text in output.texts for score in text.scores.values())
    replies = guided_replies(store)
    assert replies
    assert all(isinstance(json.loads(reply), dict) for reply in replies)
    for name, data in written(run).items():
        (tmp_path / name).write_bytes(data)
    assert read_judge_folder(tmp_path) == output


def test_a_run_in_process(vllm_python: Path, tiny_model: Path, tmp_path: Path) -> None:
    n_items, database = 5, tmp_path / "process.db"
    chosen = settings(
        "cef",
        "",
        backend="vllm",
        model=str(tiny_model),
        attempts=1,
        max_model_len=8192,
        engine={"dtype": "float32"},
        n_questions=2,
        **ENDLESS,
    )
    with open_store(database) as store:
        create(store, texts(n_items), "t.jsonl", chosen, Running())
    ended = run_core(vllm_python, "runs", "work", "1", "--db", str(database))
    assert ended.returncode == 0, ended.stderr[-3000:]
    with open_store(database) as store:
        output = check(store, 1, "cef", n_items)
        report = run_report(saved_run(store, 1), progress_of(store, 1))
    for metric in output.metrics:  # which weights, with which options; not where they lie
        assert re.search(r"\|engine:[0-9a-f]{12}\|", metric.signature)
        assert str(tiny_model.parent) not in metric.signature
    assert report["settings"]["model"] == str(tiny_model)  # type: ignore[index]


REAL_ENGINE = {"dtype": "float32", "max_num_batched_tokens": 512, "max_num_seqs": 8}
"""Few and short steps: on a CPU a cancelled run waits for the one under way. Not every CPU computes with bfloat16."""


def of_real_model(kind: Any, model: Path, database: Path, rows: bytes, largest_limit: int = 400) -> None:
    """A waiting run of a judge on the real model."""
    chosen = settings(
        kind,
        "",
        backend="vllm",
        model=str(model),
        attempts=1,
        max_model_len=4096,
        engine=REAL_ENGINE,
        n_questions=2,
        largest_limit=largest_limit,
    )
    with open_store(database) as store:
        create(store, rows, "t.jsonl", chosen, Running())


def pair_of_texts() -> bytes:
    rows = (
        {"item_id": "q0", "system": system, "text": text, "source": "When was the mill built?"}
        for system, text in (("a", "It was built in 1900."), ("b", "Nobody knows."))
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture(scope="module")
def by_real_model(
    vllm_python: Path, real_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Kind of judge -> the database of its finished run on one item. One process does them all."""
    folder = tmp_path_factory.mktemp("real")
    databases = {kind: folder / f"{kind}.db" for kind in (*COMPARING, "pairwise")}
    for kind in COMPARING:
        of_real_model(kind, real_model, databases[kind], texts(1))
    of_real_model("pairwise", real_model, databases["pairwise"], pair_of_texts(), largest_limit=200)
    work_on(vllm_python, *databases.values())
    return databases


@pytest.mark.parametrize("kind", COMPARING)
def test_a_judge_on_a_real_model(kind: Any, by_real_model: dict[str, Path]) -> None:
    with open_store(by_real_model[kind]) as store:
        check(store, 1, kind, 1)
        report = run_report(saved_run(store, 1), progress_of(store, 1))
        worked_seconds = saved_run(store, 1).run.worked_seconds or 0.0
        replies = guided_replies(store)
        [kept] = store.rows("select count(*) as n from reply")
        [asked] = store.rows("select count(*) as n from request")
    assert all(isinstance(json.loads(reply), dict) for reply in replies)
    assert 0 < kept["n"] == asked["n"]
    costs: Any = report["costs"]
    # What a call is charged is its share of the engine's time, so all of them together take no longer than the run.
    assert 0 < sum(cost["seconds"] for cost in costs) <= worked_seconds


def test_a_judge_of_pairs_on_a_real_model(by_real_model: dict[str, Path]) -> None:
    """A pair in both orders: both texts tell the same of it, and the report adds up."""
    with open_store(by_real_model["pairwise"]) as store:
        output = judge_output(saved_run(store, 1))
        [asked] = store.rows("select count(*) as n from request")
    assert asked["n"] == 2
    (pair,) = judged_pairs(output)
    assert [trial.own_first for trial in pair.trials] == [True, False]
    assert all((trial.verdict is None) == bool(trial.reason) for trial in pair.trials)
    assert isinstance(pair.other.record, PairwiseRecord)
    mirrored = {"own": "other", "other": "own"}
    theirs = {trial.order == "other-first": trial.verdict for trial in pair.other.record.trials}
    for trial in pair.trials:
        assert theirs[trial.own_first] == mirrored.get(trial.verdict or "", trial.verdict)
    found = pairs_report(output, n_resamples=100)
    whole = found.blocks[0]
    assert whole.n_pairs + sum(found.left_out.values()) == 1
    assert sum(whole.verdicts.values()) == 2 * whole.n_pairs
    assert sum(whole.answers.values()) == whole.n_pairs


def test_a_cancelled_run_leaves_nothing_behind_within_ten_seconds(
    vllm_python: Path, real_model: Path, tmp_path: Path
) -> None:
    database = tmp_path / "cancelled.db"
    of_real_model("rubric", real_model, database, texts(40))
    command = [vllm_python, "-m", "core", "runs", "work", "1", "--db", str(database)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=on_a_cpu(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with open_store(database) as store:
            until = time.monotonic() + 240
            while not store.rows("select 1 from run_call limit 1"):
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.2)
            [calls] = store.rows("select count(*) as n from run_call")
            assert calls["n"] < 200 - 64, "at least 64 requests are open"
            cancelled = time.monotonic()
            ask_to_stop(store, 1)
            assert process.wait(60) == 0
            seconds = time.monotonic() - cancelled
            assert progress_of(store, 1).state == "cancelled"
    finally:
        process.kill()
        process.wait(30)
    assert seconds < 10
