"""A run on a Ray cluster that is there, in Ray's Python: one item kills each worker that gets it.

With tests on the path of this process and of the cluster; imported and not started as a script, because workers import it
too. The run is also done here without Ray.
"""

import json
import os
from pathlib import Path

from helpers.texts.judge_runs import settings, texts

from core.llm.client import Cache
from core.runs.asked import Running
from core.runs.jobs import Outcome, RunAtHand
from core.runs.judging import JudgeJob
from core.runs.path import create, saved_run
from core.runs.working.spreading import SpreadJob
from core.runs.working.worker import work
from core.store import open_store
from core.store.runs import run_items

N_JUDGED, POISONED_ITEM = 6, 4
"""Few: each death costs the start of a worker."""


class PoisonedJudging(JudgeJob):
    """A judge's job whose process dies of one item."""

    async def do(self, position: int, cache: Cache) -> Outcome:
        if position == POISONED_ITEM:
            os._exit(1)
        return await super().do(position, cache)


def judged(address: str, folder: Path, on_ray: bool) -> list[object]:
    """States, failures and results of a judge by rules."""
    chosen = settings("claims", "", backend="rules")
    with open_store(folder / f"judge-{on_ray}.db") as store:
        running = Running(engine="ray", address=address) if on_ray else Running()
        create(store, texts(N_JUDGED), "t.jsonl", chosen, running)

        def job(run: RunAtHand) -> SpreadJob | JudgeJob:
            return SpreadJob(run, PoisonedJudging) if on_ray else JudgeJob(run)

        done = work(store, 1, lambda run: job(saved_run(store, 1).claimed(run)))
        assert done.state == "done", done.message
        return [(one.state, one.failures, one.result) for one in run_items(store, 1)]


def main(address: str, folder: Path) -> None:
    """Print, as JSON, the positions at which the results differ, and what the poisoned item has instead."""
    here, there = judged(address, folder, False), judged(address, folder, True)
    differ = [at for at, (one, other) in enumerate(zip(here, there, strict=True)) if one != other]
    print(json.dumps({"n": len(here), "differ": differ, "instead": [there[at] for at in differ]}))
