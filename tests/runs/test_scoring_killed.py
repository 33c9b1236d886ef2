"""kill -9 in the middle of a scoring run: the resumed run gives what an undisturbed one gives."""

import json
import random
from pathlib import Path

import pytest
from helpers.processes.killed_run import kill_in_the_middle

from core.cli import main
from core.store import open_store
from core.store.kept import step_costs

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
    kill_in_the_middle(arguments, database, n_items // 4, n_items)
    assert not (tmp_path / "killed.csv").exists()
    assert main([*arguments, "--resume"]) == 0
    assert main(command(file, tmp_path / "fresh.csv", tmp_path / "fresh.db")) == 0
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "fresh.csv").read_bytes()
    with open_store(database) as store:
        (cost,) = step_costs(store, 1)
    assert (cost.calls, cost.cached) == (6 * n_items, 0), "nothing that was saved is scored again"
