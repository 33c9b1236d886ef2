"""Runs on a Ray cluster that is there, in Ray's Python: one item kills each worker that gets it.

With tests on the path of this process and of the cluster; imported and not started as a script, because workers import it
too. Each run is also done here without Ray.
"""

import json
import os
from pathlib import Path

from helpers.texts.judge_runs import settings, texts
from helpers.toys.scorer import DIES, open_toy

from core.llm.client import Cache
from core.metrics.kind import ScoringRunning
from core.metrics.parts import ClusterPart, ThreadPart
from core.runs.asked import Running, ask
from core.runs.jobs import Outcome, RunAtHand
from core.runs.judging import JudgeJob
from core.runs.kinds import KINDS
from core.runs.path import at_hand, create
from core.runs.scoring import ScoringJob
from core.runs.working.cluster import Cluster
from core.runs.working.spreading import SpreadJob
from core.runs.working.worker import work
from core.store import open_store
from core.store.runs import run_items

# Each death costs the start of a worker. Eight texts are two for each block, which is then worked on in pieces.
N_TEXTS, POISONED = 8, 5
N_JUDGED, POISONED_ITEM = 6, 4


class PoisonedJudging(JudgeJob):
    """A judge's job whose process dies of one item."""

    async def do(self, position: int, cache: Cache) -> Outcome:
        if position == POISONED_ITEM:
            os._exit(1)
        return await super().do(position, cache)


def scored(address: str, folder: Path, on_ray: bool) -> list[dict[str, object]]:
    """Results of a run of a toy metric."""
    rows = [
        {"item_id": f"q{at}", "text": DIES if at == POISONED else f"one two {at}", "reference": f"one {at}"}
        for at in range(N_TEXTS)
    ]
    if not on_ray:
        rows[POISONED]["text"] = "three words here"  # where this process would die
    asked, running = ask(KINDS["scores"], {"metrics": ("bleu-1",)}, {}, {"engine": "local"})
    with open_store(folder / f"scores-{on_ray}.db") as store:
        run, _ = create(
            store, "".join(json.dumps(row) + "\n" for row in rows).encode(), "t.jsonl", asked, running
        )
        part = (
            ClusterPart("lexical", open_toy, Cluster(address)) if on_ray else ThreadPart("lexical", open_toy)
        )
        done = work(
            store,
            run.run.run_id,
            lambda it: ScoringJob(
                store, it.run_id, run.contents.outputs, ("words", "shared"), [part], ScoringRunning()
            ),
        )
        assert done.state == "done", done.message
        return [one.result for one in run_items(store, 1)]


def judged(address: str, folder: Path, on_ray: bool) -> list[object]:
    """States, failures and results of a judge by rules."""
    chosen = settings("claims", "", backend="rules")
    with open_store(folder / f"judge-{on_ray}.db") as store:
        running = Running(engine="ray", address=address) if on_ray else Running()
        create(store, texts(N_JUDGED), "t.jsonl", chosen, running)

        def job(run: RunAtHand) -> SpreadJob | JudgeJob:
            return SpreadJob(run, PoisonedJudging) if on_ray else JudgeJob(run)

        done = work(store, 1, lambda run: job(at_hand(store, 1).claimed(run)))
        assert done.state == "done", done.message
        return [(one.state, one.failures, one.result) for one in run_items(store, 1)]


def main(address: str, folder: Path) -> None:
    """Print, as JSON, the positions at which the results differ, and what a poisoned item has instead."""
    said: dict[str, object] = {}
    for name, results in (("scores", scored), ("judged", judged)):
        here, there = results(address, folder, False), results(address, folder, True)
        assert len(here) == len(there)
        differ = [at for at, (one, other) in enumerate(zip(here, there, strict=True)) if one != other]
        said[name] = {"n": len(here), "differ": differ, "instead": [there[at] for at in differ][:1]}
    print(json.dumps(said))
