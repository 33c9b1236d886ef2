"""Runs on a real Ray cluster of two workers: results are those of a local run, whatever dies."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from helpers.processes.app_server import free_port
from helpers.processes.killed_run import alive_in, kill_in_the_middle, run_to_the_end

from core.metrics.kind import KIND
from core.runs.asked import ask
from core.runs.path import at_hand, create, written
from core.runs.working.cluster import _someone_listens
from core.runs.working.environments import RAY_VARIABLE
from core.store import open_store
from core.store.runs import get_run

pytestmark = pytest.mark.slow
RUNS = """
import sys
from pathlib import Path
from helpers.processes.ray_runs import main
main(sys.argv[1], Path(sys.argv[2]))
"""
ROOT = Path(__file__).resolve().parents[2]
N_TEXTS = 5_000
WORDS = (
    "the",
    "old",
    "mill",
    "by",
    "the",
    "river",
    "burned",
    "down",
    "in",
    "May",
    "and",
    "nobody",
    "was",
    "hurt",
)


def texts(n: int) -> bytes:
    rows = (
        {
            "item_id": f"q{at}",
            "text": " ".join(WORDS[at % 7 :: 1 + at % 3]) + f" {at}",
            "reference": " ".join(WORDS[at % 5 :]),
        }
        for at in range(n)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def core(*arguments: str | Path, python: Path | None = None) -> "subprocess.Popen[str]":
    variables = {} if python is None else {RAY_VARIABLE: str(python)}
    return subprocess.Popen(
        [sys.executable, "-m", "core", *arguments],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def workers_of(driver: int) -> list[int]:
    """Processes of Ray that work on a block, in the session of the run's process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
            title = (folder / "cmdline").read_bytes()
        except OSError:  # ended while we looked
            continue
        if session == driver and title.startswith(b"ray::MapBatches"):
            found.append(int(folder.name))
    return found


def test_a_killed_worker_changes_no_byte_of_the_scores(ray_python: Path, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_bytes(texts(N_TEXTS))
    database = tmp_path / "ray.db"
    arguments = ("score", file, "--metrics", "lexical", "--workers", "2", "--out")
    run = core(*arguments, tmp_path / "ray.csv", "--db", database, "--engine", "ray", python=ray_python)
    here = core(*arguments, tmp_path / "here.csv", "--db", tmp_path / "here.db")
    assert here.wait(120) == 0, here.communicate()[0]
    until, killed = time.monotonic() + 120, 0
    while not killed and run.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
        if database.exists():
            with open_store(database) as store:
                begun = get_run(store, 1).start_seconds is not None
            if begun and (there := workers_of(run.pid)):
                os.kill(there[0], signal.SIGKILL)
                killed = there[0]
    said, _ = run.communicate(timeout=120)
    assert (run.returncode, bool(killed)) == (0, True), said
    assert "ray::" not in said
    assert (tmp_path / "ray.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    assert workers_of(run.pid) == []


def test_a_killed_run_goes_on_where_it_was(ray_python: Path, tmp_path: Path) -> None:
    """Kill -9 of the run's own process, after a third of the items: nothing of the cluster stays, and nothing is lost."""
    data, tables = texts(3_000), []
    for engine in ("ray", "local"):
        database = tmp_path / f"{engine}.db"
        with open_store(database) as store:
            asked, running = ask(
                KIND, {"metrics": ("bleu-1", "meteor-a0.9-g0")}, {}, {"engine": engine, "workers": 2}
            )
            create(store, data, "t.jsonl", asked, running)
        command = ["runs", "work", "1", "--db", str(database)]
        if engine == "ray":
            kill_in_the_middle(command, database, 500, 3_000, ray_python)
        run_to_the_end(command, ray_python if engine == "ray" else sys.executable)
        with open_store(database) as store:
            run = at_hand(store, 1)
            assert run.run.state == "done"
            tables.append(written(run)["scores.csv"])
    assert tables[0] == tables[1]


@pytest.fixture
def cluster(ray_python: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a cluster of this machine that no run has started."""
    ray, port = ray_python.parent / "ray", free_port()
    path = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
    own = {
        "PYTHONPATH": path,
        "RAY_USAGE_STATS_ENABLED": "0",
        "PATH": f"{ray.parent}{os.pathsep}{os.environ['PATH']}",
    }
    folder = Path("/tmp") / f"ray-test-{os.getpid()}"  # sockets need a short path
    how = ("--head", f"--port={port}", "--num-cpus=2", "--include-dashboard=false", f"--temp-dir={folder}")
    head = subprocess.Popen(
        [ray, "start", *how, "--block"],
        env={**os.environ, **own},
        stdout=(tmp_path / "head.log").open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while "Ray runtime started" not in (tmp_path / "head.log").read_text("utf-8", "replace"):
        assert head.poll() is None, (tmp_path / "head.log").read_text()
        assert time.monotonic() < until
        time.sleep(0.1)
    yield f"127.0.0.1:{port}"
    for process in alive_in(head.pid):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    head.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


def test_what_kills_its_workers_is_left_out_on_a_cluster_that_is_joined(
    ray_python: Path, cluster: str, tmp_path: Path
) -> None:
    ended = subprocess.run(
        [ray_python, "-c", RUNS, cluster, tmp_path],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    said = json.loads(ended.stdout.splitlines()[-1])
    assert said["died"]
    assert (said["scores"]["n"], said["scores"]["differ"]) == (1_500, [1_234])
    (row,) = said["scores"]["instead"][0]["outputs"]
    assert row["scores"] == [None, None]
    assert row["reasons"] == dict.fromkeys(
        ("words", "shared"), "the metric failed on this text (its worker died 2 times)"
    )
    assert said["judged"]["differ"] == [17]
    assert said["judged"]["instead"][0][:2] == ["failed", [["internal", "its worker died 2 times"]]]


def test_an_address_at_which_nothing_listens_is_refused_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            _someone_listens(f"127.0.0.1:{free.getsockname()[1]}")
