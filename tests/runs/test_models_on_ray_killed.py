"""Models on a local Ray cluster of two workers: workers die, and the results are still those of a run without Ray."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import Body, answer
from helpers.models.vllm_environment import on_a_cpu
from helpers.processes.ray_engines import DEADLY
from helpers.processes.ray_workers import process_at
from helpers.processes.scripted_server import Said, ScriptedServer
from helpers.texts.judge_runs import settings, text_at, texts

from core.runs.asked import Running
from core.runs.path import at_hand, create, written
from core.schema.runs import RUN_FILE
from core.store import open_store

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ROOT / "data" / "demo" / "questions.jsonl"
KEY, VARIABLE = "sk_live_51HwVerySecretIndeed9876543210", "MODEL_SERVER_KEY"


def run(python: Path | str, folder: Path, url: str, *arguments: str | Path) -> dict[str, Any]:
    """Run a command of core with the server's model; returns its account."""
    where = ("--out", folder, "--db", folder.with_suffix(".db"))
    model = ("--backend", "openai", "--model", "tiny", "--base-url", url, "--key-variable", VARIABLE)
    ended = subprocess.run(
        [python, "-m", "core", *arguments, *where, *model, "--concurrency", "8", "--retries", "1"],
        cwd=ROOT,
        env={**os.environ, VARIABLE: KEY},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    report: dict[str, Any] = json.loads((folder / RUN_FILE).read_bytes())
    return report


def scores(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    """(Item, level) -> the row of its score."""
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {(row["item"], row["level"]): row for row in csv.DictReader(file)}


def counted(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What a run cost, without times."""
    return [{name: n for name, n in one.items() if "seconds" not in name} for one in report["costs"]]


class Killing:
    """A server that kills the process that sends the 30th request, and each one that asks about one item."""

    def __init__(self, deadly: str = "") -> None:
        self.server: ScriptedServer
        self.deadly, self.killed = deadly, 0

    def __call__(self, body: Body, n: int) -> Said:
        kills = n == 30 or (self.deadly and self.deadly in str(body["messages"]))
        if kills and (process := process_at(self.server.asked[n].peer)) is not None:
            os.kill(process, signal.SIGKILL)
            self.killed += 1
        return Said(answer(body, n), delay=0.02)


@pytest.mark.parametrize("kind", ["rubric", "factual"])
def test_workers_die_and_the_results_are_those_of_a_run_without_ray(
    kind: str, ray_python: Path, tmp_path: Path
) -> None:
    judging = kind == "rubric"
    data = tmp_path / "t.jsonl"
    data.write_bytes(texts(24) if judging else b"\n".join(QUESTIONS.read_bytes().splitlines()[:8]))
    arguments = ("judge", kind, data) if judging else ("generate", kind, data)
    script = Killing(text_at(3, 2) if judging else "")
    with ScriptedServer(lambda body, n: Said(answer(body, n)), key=KEY) as server:
        here = run(sys.executable, tmp_path / "here", server.url, *arguments)
    with ScriptedServer(script, key=KEY) as script.server:
        on_ray = run(ray_python, tmp_path / "ray", script.server.url, *arguments, "--engine", "ray")
    if judging:
        assert script.killed >= 3
        assert on_ray["failures"] == [{"step": "rubric", "reason": "rejected", "n": 1}]
        assert (on_ray["done"], on_ray["failed"]) == (23, 1)
        found, wanted = scores(tmp_path / "ray"), scores(tmp_path / "here")
        left_out = found.pop(("q3", "A2"))
        assert (left_out["score"], left_out["reason"]) == ("", "rubric: rejected")
        del wanted[("q3", "A2")]
        assert found == wanted
    else:
        assert script.killed == 1
        for file in (tmp_path / "here").iterdir():
            if file.name != RUN_FILE:
                assert (tmp_path / "ray" / file.name).read_bytes() == file.read_bytes(), file.name
        assert counted(on_ray) == counted(here)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_an_engine_dies_of_one_request_and_all_others_are_answered(ray_python: Path) -> None:
    ended = subprocess.run(
        [ray_python, "-m", "helpers.processes.ray_engines"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    said = json.loads(ended.stdout)
    assert [n for n, text in enumerate(said) if text is None] == [DEADLY]
    assert all(text.startswith(f"NUMBER {n} by ") for n, text in enumerate(said) if n != DEADLY)
    engines = {text.rpartition(" ")[2] for text in said if text is not None}
    assert len(engines) > 1, "another engine went on"


WORK = """
import sys
from pathlib import Path
from core.runs.path import at_hand
from core.store import open_store
from helpers.texts.judge_runs import worked

for database in sys.argv[1:]:
    with open_store(Path(database)) as store:
        print(worked(at_hand(store, 1)).run.state)
"""


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
    ended = subprocess.run(
        [vllm_python, "-c", WORK, *databases],
        cwd=ROOT,
        env=on_a_cpu(PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "tests")])),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.stdout.split() == ["done", "done"], ended.stderr[-3000:]
    found = []
    for database in databases:
        with open_store(database) as store:
            files = written(at_hand(store, 1))
            account = json.loads(files.pop(RUN_FILE))
            found.append((files, counted(account), account["failures"]))
    assert found[0] == found[1]
    assert found[0][1][0]["calls"] >= 20
