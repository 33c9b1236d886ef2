"""kill -9 in the middle of a judge's run: resumed, it repeats no saved call and says what an undisturbed run says."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import Body, answer
from helpers.processes.killed_run import kill_in_the_middle, run_to_the_end
from helpers.processes.scripted_server import Said
from helpers.texts.judge_runs import COMPARING, ON_RATINGS, judging_server, settings, texts, worked
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import says, specialist

from core.runs.asked import Running
from core.runs.judging import judge_output
from core.runs.path import create, saved_run
from core.schema.scores import JudgeOutput
from core.store import open_store

WORK = ("runs", "work", "1", "--db")
CONCURRENCY = 8


def output_in(database: Path) -> JudgeOutput:
    with open_store(database) as store:
        run = saved_run(store, 1)
        assert (run.run.state, run.run.message) == ("done", "")
        return judge_output(run)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_items"), [*((kind, 100) for kind in COMPARING), ("automqm", 40)])
def test_a_killed_judge_goes_on_without_repeating_what_was_saved(
    kind: Any, n_items: int, tmp_path: Path
) -> None:
    on_ratings = kind in ON_RATINGS

    def slowly(body: Body, number: int) -> Said:
        return Said(says(body) if on_ratings else answer(body), delay=0.02)

    killed, fresh = tmp_path / "killed.db", tmp_path / "fresh.db"
    with judging_server(slowly) as server:
        for database in (killed, fresh):
            with open_store(database) as store:
                running = Running(concurrency=CONCURRENCY)
                data = rated_texts(n_items) if on_ratings else texts(n_items)
                chosen = (specialist if on_ratings else settings)(kind, server.url)
                create(store, data, "t.jsonl", chosen, running)
        kill_in_the_middle([*WORK, str(killed)], killed, n_items // 3, n_items)
        time.sleep(0.2)  # what the dead process had asked is answered into the void
        before = len(server.bodies)
        run_to_the_end([*WORK, str(killed)])
        repeated = requests_of(server.bodies[:before]) & requests_of(server.bodies[before:])
        assert sum(repeated.values()) <= CONCURRENCY, "at most what was in flight is asked again"
        asked_in_all = len(server.bodies)
        with open_store(fresh) as store:
            worked(saved_run(store, 1))
        undisturbed = len(server.bodies) - asked_in_all
    assert asked_in_all <= undisturbed + CONCURRENCY
    assert output_in(killed) == output_in(fresh)


def requests_of(bodies: list[Body]) -> Counter[str]:
    return Counter(json.dumps(body, sort_keys=True) for body in bodies)
