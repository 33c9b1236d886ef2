"""Models on a local Ray cluster of two workers: workers die, and the results are still those of a run without Ray."""

import csv
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import Body, answer
from helpers.models.vllm_environment import work_on
from helpers.processes.ray_engines import DEADLY
from helpers.processes.ray_workers import process_at
from helpers.processes.scripted_server import Said, ScriptedServer
from helpers.texts.judge_runs import settings, text_at, texts

from core.cli import main
from core.runs.asked import Running
from core.runs.path import create, saved_run, written
from core.schema.runs import RUN_FILE
from core.store import open_store

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ROOT / "data" / "demo" / "questions.jsonl"
KEY, VARIABLE = "sk_live_51HwVerySecretIndeed9876543210", "MODEL_SERVER_KEY"


def command(folder: Path, url: str, *arguments: str | Path) -> list[str]:
    """A command of core with the server's model."""
    where = ("--out", folder, "--db", folder.with_suffix(".db"))
    model = ("--backend", "openai", "--model", "tiny", "--base-url", url, "--key-variable", VARIABLE)
    return [*map(str, (*arguments, *where, *model)), "--retries", "1"]


def started(python: Path, arguments: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [python, "-m", "core", *arguments, "--engine", "ray"],
        cwd=ROOT,
        env={**os.environ, VARIABLE: KEY},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> int:
    """Its exit status. Fails if it is an error."""
    _, said = process.communicate(timeout=600)
    assert process.returncode <= 0, said[-3000:]
    return process.returncode


def account(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / RUN_FILE).read_bytes())
    return report


def keeps_no_key(folder: Path) -> None:
    for path in folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def scores(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    """(Item, level) -> the row of its score."""
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {(row["item"], row["level"]): row for row in csv.DictReader(file)}


def counted(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What a run cost, without times."""
    return [{name: n for name, n in one.items() if "seconds" not in name} for one in report["costs"]]


class Killing:
    """A server that kills the process that sends a request: by its number, and each time that it has a text in it."""

    def __init__(self, at: int, deadly: str = "") -> None:
        self.server: ScriptedServer
        self.at, self.deadly, self.killed = at, deadly, 0
        self.also: tuple[int, subprocess.Popen[str]] | None = None
        """A request's number, and the process that is killed with it."""

    def __call__(self, body: Body, n: int) -> Said:
        kills = n == self.at or (self.deadly and self.deadly in str(body["messages"]))
        if kills and (process := process_at(self.server.asked[n].peer)) is not None:
            os.kill(process, signal.SIGKILL)
            self.killed += 1
        if self.also is not None and n >= self.also[0]:
            self.also[1].kill()
        return Said(answer(body, n), delay=0.02)


def test_workers_die_and_only_the_text_that_kills_them_is_left_out(
    ray_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    data, here, on_ray = tmp_path / "t.jsonl", tmp_path / "here", tmp_path / "ray"
    data.write_bytes(texts(24))
    with ScriptedServer(lambda body, n: Said(answer(body, n)), key=KEY) as server:
        assert main(command(here, server.url, "judge", "rubric", data)) == 0
    script = Killing(30, text_at(3, 2))
    with ScriptedServer(script, key=KEY) as script.server:
        arguments = command(on_ray, script.server.url, "judge", "rubric", data)
        assert ended(started(ray_python, [*arguments, "--concurrency", "2"])) == 0
    assert script.killed >= 3
    report = account(on_ray)
    assert report["failures"] == [{"step": "rubric", "reason": "rejected", "n": 1}]
    assert (report["done"], report["failed"]) == (23, 1)
    found, wanted = scores(on_ray), scores(here)
    left_out = found.pop(("q3", "A2"))
    assert (left_out["score"], left_out["reason"]) == ("", "rubric: rejected")
    del wanted[("q3", "A2")]
    assert found == wanted
    keeps_no_key(tmp_path)


def test_a_run_killed_after_one_of_its_workers_goes_on_and_writes_the_same_texts(
    ray_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    data, here, on_ray = tmp_path / "t.jsonl", tmp_path / "here", tmp_path / "ray"
    data.write_bytes(b"\n".join(QUESTIONS.read_bytes().splitlines()[:8]))
    with ScriptedServer(lambda body, n: Said(answer(body, n)), key=KEY) as server:
        assert main(command(here, server.url, "generate", "factual", data)) == 0
        n_here = len(server.asked)
    script = Killing(3)
    with ScriptedServer(script, key=KEY) as script.server:
        arguments = command(on_ray, script.server.url, "generate", "factual", data)
        arguments += ["--concurrency", "4"]
        process = started(ray_python, arguments)
        script.also = n_here // 2, process
        assert ended(process) == -signal.SIGKILL
        script.also = None
        n_saved = len((tmp_path / "ray.db.d" / "run-1" / "answers.jsonl").read_bytes().splitlines())
        n_before = len(script.server.asked)
        assert 0 < n_saved < n_here
        assert ended(started(ray_python, [*arguments, "--resume"])) == 0
        # Workers of the dead run may have sent a few more.
        assert len(script.server.asked) - n_before <= n_here - n_saved + 4
    assert script.killed == 1
    for file in here.iterdir():
        if file.name != RUN_FILE:
            assert (on_ray / file.name).read_bytes() == file.read_bytes(), file.name
    assert counted(account(on_ray)) == counted(account(here))
    keeps_no_key(tmp_path)


def test_an_engine_dies_of_one_request_and_all_others_are_answered(ray_python: Path) -> None:
    told = subprocess.run(
        [ray_python, "-m", "helpers.processes.ray_engines"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    said = json.loads(told.stdout)
    assert [n for n, text in enumerate(said) if text is None] == [DEADLY]
    assert all(text.startswith(f"NUMBER {n} by ") for n, text in enumerate(said) if n != DEADLY)
    engines = {text.rpartition(" ")[2] for text in said if text is not None}
    assert len(engines) > 1, "another engine went on"


def test_vllm_on_ray_answers_as_in_process(vllm_python: Path, tiny_model: Path, tmp_path: Path) -> None:
    has_ray = subprocess.run([vllm_python, "-c", "import ray.data"], capture_output=True, check=False)
    if has_ray.returncode:
        pytest.skip(f"needs Ray beside vLLM: `{vllm_python} -m pip install -r requirements-ray.txt`")
    engine = {"dtype": "float32"}
    chosen = {"backend": "vllm", "model": str(tiny_model), "engine": engine, "max_model_len": 8192}
    databases = [tmp_path / "ray.db", tmp_path / "here.db"]
    for database, where in zip(databases, ("ray", "local"), strict=True):
        with open_store(database) as store:
            asked = settings("rubric", "", **chosen, largest_limit=1)
            create(store, texts(4), "t.jsonl", asked, Running(engine=where))
    work_on(vllm_python, *databases)
    found = []
    for database in databases:
        with open_store(database) as store:
            files = written(saved_run(store, 1))
            report = json.loads(files.pop(RUN_FILE))
            found.append((files, counted(report), report["failures"]))
    assert found[0] == found[1]
    assert found[0][1][0]["calls"] >= 20
