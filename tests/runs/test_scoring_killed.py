"""kill -9 in the middle of a scoring run: the resumed run gives what an undisturbed one gives."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.cli import main
from core.store import open_store
from core.store.replies import step_costs
from core.store.runs import item_states

ROOT = Path(__file__).resolve().parents[2]
WORDS = [f"word{number}" for number in range(80)]


def texts(folder: Path, n_items: int) -> Path:
    """Six levels of N items, no two texts alike, long enough that a run takes its time."""
    draw = random.Random(3)
    path = folder / "texts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for item in range(n_items):
            reference = draw.choices(WORDS, k=120)
            for level in range(6):
                words = [word if draw.random() > level / 8 else draw.choice(WORDS) for word in reference]
                row = {"item_id": f"q{item}", "system": "one", "level": str(level), "text": " ".join(words)}
                file.write(json.dumps({**row, "reference": " ".join(reference)}) + "\n")
    return path


def command(file: Path, out: Path, database: Path, *more: str) -> list[str]:
    return ["score", str(file), "--out", str(out), "--db", str(database), *more]


def children_of(process: int) -> set[int]:
    """Processes that this one started, as the system has them."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == process:
            found.add(int(folder.name))
    return found


def alive(process: int) -> bool:
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("n_items", "workers"),
    [
        (60, "1"),
        pytest.param(500, "1", marks=pytest.mark.slow),
        pytest.param(500, "2", marks=pytest.mark.slow),
    ],
)
def test_a_killed_run_is_resumed_and_its_table_is_that_of_an_undisturbed_one(
    n_items: int, workers: str, tmp_path: Path
) -> None:
    file, database = texts(tmp_path, n_items), tmp_path / "killed.db"
    arguments = command(file, tmp_path / "killed.csv", database, "--workers", workers)
    process = subprocess.Popen(
        [sys.executable, "-m", "core", *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not database.exists() or len(done_items(database)) < n_items // 4:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    helpers = children_of(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    saved = done_items(database)
    assert 0 < len(saved) < n_items
    assert not (tmp_path / "killed.csv").exists()
    while any(alive(helper) for helper in helpers):
        assert time.monotonic() < deadline, "processes of a run that was killed stay behind"
        time.sleep(0.05)
    assert main([*arguments, "--resume"]) == 0
    assert main(command(file, tmp_path / "fresh.csv", tmp_path / "fresh.db")) == 0
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "fresh.csv").read_bytes()
    with open_store(database) as store:
        (cost,) = step_costs(store, 1)
    assert (cost.calls, cost.cached) == (6 * n_items, 0), "nothing that was saved is scored again"


def done_items(database: Path) -> dict[int, str]:
    with open_store(database) as store:
        return item_states(store, 1)
