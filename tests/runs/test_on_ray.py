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
from helpers.processes.killed_run import alive_in, kill_in_the_middle
from helpers.processes.ports import free_port

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
PATIENCE = 300
"""Seconds for what takes ten on a machine that does nothing else."""
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


def test_kill_9_of_the_run_and_of_a_worker_changes_no_byte_of_the_scores(
    ray_python: Path, tmp_path: Path
) -> None:
    """First the run's own process, with a third of the items saved: nothing of its cluster stays. Then a worker of the
    run that goes on: its texts are scored again.
    """
    file, database = tmp_path / "texts.jsonl", tmp_path / "ray.db"
    file.write_bytes(texts(N_TEXTS))
    arguments = ("score", str(file), "--metrics", "lexical", "--workers", "2", "--out")
    on_ray = (*arguments, str(tmp_path / "ray.csv"), "--db", str(database), "--engine", "ray")
    kill_in_the_middle(on_ray, database, N_TEXTS // 4, N_TEXTS, python=ray_python)
    assert not (tmp_path / "ray.csv").exists()
    run = core(*on_ray, "--resume", python=ray_python)
    until, killed = time.monotonic() + PATIENCE, 0
    while not killed and run.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
        with open_store(database) as store:
            begun = get_run(store, 1).start_seconds is not None
        if begun and (there := workers_of(run.pid)):
            os.kill(there[0], signal.SIGKILL)
            killed = there[0]
    said, _ = run.communicate(timeout=PATIENCE)
    assert (run.returncode, bool(killed)) == (0, True), said
    assert "ray::" not in said
    assert workers_of(run.pid) == []
    here = core(*arguments, str(tmp_path / "here.csv"), "--db", str(tmp_path / "here.db"))
    said, _ = here.communicate(timeout=PATIENCE)
    assert here.returncode == 0, said
    assert (tmp_path / "ray.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


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
    until = time.monotonic() + PATIENCE
    try:
        while "Ray runtime started" not in (tmp_path / "head.log").read_text("utf-8", "replace"):
            assert head.poll() is None, (tmp_path / "head.log").read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
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
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    said = json.loads(ended.stdout.splitlines()[-1])
    assert (said["n"], said["differ"]) == (6, [4])
    assert said["instead"][0][:2] == ["failed", [["internal", "its worker died 2 times"]]]


def test_an_address_at_which_nothing_listens_is_refused_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            _someone_listens(f"127.0.0.1:{free.getsockname()[1]}")
