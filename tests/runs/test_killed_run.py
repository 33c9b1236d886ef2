"""kill -9 in the middle of a run: the resumed run gives what an undisturbed one gives, and repeats no saved call."""

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from helpers.models.model_answers import Body, answer
from helpers.processes.killed_run import kill_in_the_middle, run_to_the_end
from helpers.processes.scripted_server import Said, ScriptedServer

CONCURRENCY = 16


def questions(folder: Path, n: int) -> Path:
    """N questions, no two alike."""
    path = folder / "questions.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            reference = (
                f"The mill number {number} was built in {1500 + number} by Jan Vermeer near Delft. It was {10 + number} "
                f"metres high and burned down on 3 May {1700 + number}. About {200 + number} people worked in it."
            )
            row = {
                "item_id": f"m{number}",
                "question": f"What is known of mill {number}?",
                "reference": reference,
            }
            file.write(json.dumps(row) + "\n")
    return path


def command(file: Path, out: Path, database: Path, url: str, *more: str) -> list[str]:
    return [
        *("generate", "factual", str(file), "--out", str(out), "--db", str(database)),
        *("--backend", "openai", "--model", "tiny", "--base-url", url, "--concurrency", str(CONCURRENCY)),
        *("--source", "tiny", *more),
    ]


def requests_of(bodies: list[Body]) -> Counter[str]:
    return Counter(json.dumps(body, sort_keys=True) for body in bodies)


@pytest.mark.parametrize(
    "n", [pytest.param(40, marks=pytest.mark.slow), pytest.param(500, marks=pytest.mark.slow)]
)
def test_a_killed_run_is_resumed_without_repeating_what_was_saved(n: int, tmp_path: Path) -> None:
    file, database = questions(tmp_path, n), tmp_path / "killed.db"

    def slowly(body: Body, number: int) -> Said:
        return Said(answer(body), delay=0.02)

    with ScriptedServer(slowly) as server:
        arguments = command(file, tmp_path / "killed", database, server.url)
        kill_in_the_middle(arguments, database, n // 3, n)
        time.sleep(0.2)  # what the dead process had asked is answered into the void
        before = len(server.bodies)
        run_to_the_end([*arguments, "--resume"])
        repeated = requests_of(server.bodies[:before]) & requests_of(server.bodies[before:])
        assert sum(repeated.values()) <= CONCURRENCY, "at most what was in flight is asked again"
        asked_in_all = len(server.bodies)

        fresh = command(file, tmp_path / "fresh", tmp_path / "fresh.db", server.url)
        run_to_the_end(fresh)
        undisturbed = len(server.bodies) - asked_in_all
    assert asked_in_all <= undisturbed + CONCURRENCY
    for name in ("dataset.json", "outputs.csv"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes(), name
