"""Items of a run that asks no model, worked on by a Ray cluster: each worker makes the same job from the run and its file."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from core.errors import InputError
from core.llm.client import NoCache
from core.metrics.kind import cores
from core.runs.jobs import AskingJob, Batch, BatchJob, Job, Outcome, RunAtHand, WorkPath, broken
from core.runs.working.cluster import Cluster, Lost
from core.runs.working.environments import missing_for
from core.schema.runs import Run
from core.store.runs import run_data

HANDS = 3
"""Batches at the same time: two being worked on, so that no worker waits for the end of one, and one being saved."""
BLOCKS_AHEAD = 2
"""Blocks in a batch for each worker."""
FIRST_BLOCK, MOST_IN_BLOCK = 10, 1_000
"""Items that a worker gets at a time, when their time is unknown, and at most."""
BLOCK_SECONDS = 1.0
"""Seconds of work in a block: sending one costs a tenth of a second."""
Make = Callable[[RunAtHand], AskingJob]
"""Makes the job of a run; picklable."""


def job_for(run: RunAtHand, make: Make) -> Job | BatchJob:
    """The job of a run: on a cluster, if the run asks for it and no model is asked."""
    if run.running.engine == "ray" and run.request.by_rules:
        return SpreadJob(run, make)
    return make(run)


class SpreadJob:
    """BatchJob for a run whose items are worked on by a cluster."""

    def __init__(self, run: RunAtHand, make: Make) -> None:
        self._run, self._make = run, make
        self._own = make(run)
        """The job of this process, which records what belongs to the run and does no item."""
        self._cluster = Cluster(run.running.address, min(cores(), max(1, run.run.n_wanted)))
        self._threads = ThreadPoolExecutor(HANDS, thread_name_prefix="spread")
        self._function: _Items | None = None
        self._block = FIRST_BLOCK

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""
        return self._own.item_ids

    @property
    def width(self) -> int:
        """Batches to work on at the same time."""
        return HANDS

    @property
    def batch(self) -> int:
        """Items for about two seconds of all workers."""
        return min(self._block * BLOCKS_AHEAD * self._cluster.width, -(-len(self.item_ids) // HANDS))

    async def start(self) -> None:
        """Record what belongs to the run, and start the cluster."""
        await self._own.start()
        await asyncio.get_running_loop().run_in_executor(self._threads, self._cluster.start)
        run = self._run
        work = _Work(run.run, run.path, self._make, run_data(run.store, run.run.run_id), has_parser())
        self._function = _Items(work)

    async def do_together(self, positions: Sequence[int]) -> Batch:
        """Work on the items. One that no worker survives has failed, with the reason."""
        begun = time.monotonic()
        n = max(1, min(self._block, -(-len(positions) // (BLOCKS_AHEAD * self._cluster.width))))
        blocks = [positions[at : at + n] for at in range(0, len(positions), n)]
        found = await asyncio.get_running_loop().run_in_executor(self._threads, self._spread, blocks)
        each = (time.monotonic() - begun) * self._cluster.width / len(positions)
        self._block = max(1, min(round(BLOCK_SECONDS / max(each, 1e-6)), 2 * self._block, MOST_IN_BLOCK))
        return Batch(found, lambda: None)

    def _spread(self, blocks: Sequence[Sequence[int]]) -> list[Outcome]:
        assert self._function is not None, "start makes it"
        made = dict(self._cluster.spread(self._function, blocks))
        if len(made) < len(blocks):
            raise InputError("The cluster was left before the items were done.")
        return [
            Outcome("failed", {"detail": one.reason}, (("internal", one.reason),))
            if isinstance(one, Lost)
            else one
            for at in range(len(blocks))
            for one in made[at]
        ]

    async def close(self) -> None:
        """Leave the cluster and end what the job of this process started."""
        await asyncio.to_thread(self._cluster.close)
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        await self._own.close()


def has_parser() -> bool:
    """Whether this machine has a dependency parser, which finds other facts than rules do."""
    return missing_for("spacy") is None


@dataclass(frozen=True)
class _Work:
    """Everything from which a worker makes the run's job."""

    run: Run
    path: WorkPath
    make: Make
    data: bytes
    parser: bool


@dataclass(frozen=True)
class _Items:
    """What a worker does with a block of positions. A worker keeps it, and with it the job."""

    work: _Work

    @cached_property
    def _desk(self) -> tuple[asyncio.AbstractEventLoop, AskingJob]:
        work = self.work
        no_store: Any = None  # a worker saves nothing
        at = RunAtHand(no_store, work.run, work.path)
        if at.kind.work == "generation" and work.parser != has_parser():
            with_it, without = ("the run's machine", "a machine of the cluster")[:: 1 if work.parser else -1]
            raise InputError(
                f"There is a dependency parser on {with_it}, but not on {without}: texts would depend on where they are "
                "made. Set it up on all machines or on none."
            )
        at.contents = work.path.read(at.request, work.data, PurePath(work.run.data_file).name)
        loop, job = asyncio.new_event_loop(), work.make(at)
        loop.run_until_complete(job.get_ready())
        return loop, job

    def __call__(self, positions: Sequence[int]) -> list[Outcome]:
        """The outcomes of the items at these positions."""
        loop, job = self._desk

        async def done() -> list[Outcome | BaseException]:
            return await asyncio.gather(*(job.do(at, NoCache()) for at in positions), return_exceptions=True)

        found = loop.run_until_complete(done())
        return [broken(one) if isinstance(one, Exception) else one for one in found]  # type: ignore[misc]
