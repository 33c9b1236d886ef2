"""Working on a run: items side by side, each saved when it is done; cancel, resume, and a server that went away."""

import asyncio
import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from core.errors import AssayError, NotAllowed
from core.llm.client import TRANSPORT
from core.runs.cache import ItemCache
from core.runs.jobs import Job, Outcome
from core.runs.progress import is_worked_on
from core.schema import Run, RunItem, RunState
from core.store import Store
from core.store.runs import beat, claim_run, finish_run, get_run, item_states, save_item

BEAT_SECONDS = 0.5
"""Between two looks at the cancel flag."""
MOST_IN_A_ROW = 20
"""Items that failed one after the other because no answer came: then the run stops, and can be resumed."""


def work(
    store: Store, run_id: int, job_of: Callable[[Run], Job], *, tell: Callable[[], None] | None = None
) -> Run:
    """Work on a run until it is done, cancelled or stopped; returns it as it then stands.

    job_of: makes the job of the run. tell: called about twice a second, for whoever shows progress.
    Raises NotAllowed when another process works on the run, and whatever `job_of` finds wrong.
    """
    run = _claim(store, run_id)
    try:
        job = job_of(run)
        state, message = asyncio.run(_Shift(store, run, job, tell).work())
    except AssayError as problem:
        finish_run(store, run_id, "stopped", str(problem))
        raise
    except BaseException as problem:
        finish_run(store, run_id, "stopped", f"The run broke off ({type(problem).__name__}: {problem}).")
        raise
    finish_run(store, run_id, state, message)
    return get_run(store, run_id)


def _claim(store: Store, run_id: int) -> Run:
    with store.writing():
        run = get_run(store, run_id)
        if is_worked_on(run):
            raise NotAllowed(f"Run {run_id} is being worked on by process {run.process}. Cancel it first.")
        claim_run(store, run_id, os.getpid())
    return get_run(store, run_id)


@dataclass
class _Shift:
    """One process's work on a run."""

    store: Store
    run: Run
    job: Job
    tell: Callable[[], None] | None = None
    todo: deque[int] = field(default_factory=deque)
    silent: int = 0
    """Items in a row to which no answer came."""
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: tuple[RunState, str] | None = None

    async def work(self) -> tuple[RunState, str]:
        """Do every open item; returns the state the run ends in, and a sentence."""
        known = item_states(self.store, self.run.run_id)
        self.todo.extend(at for at in range(self.run.n_wanted) if known.get(at, "again") == "again")
        beating = asyncio.create_task(self._beat())
        self._listen_to_signals()
        try:
            starting = asyncio.create_task(self.job.start())
            if await self._unless_stopped([starting]):
                hands = [
                    asyncio.create_task(self._hand()) for _ in range(min(self.job.width, len(self.todo)))
                ]
                await self._unless_stopped(hands)
        finally:
            beating.cancel()
            await self.job.close()
        return self.stopped or ("done", "")

    async def _unless_stopped(self, tasks: list["asyncio.Task[None]"]) -> bool:
        """Wait for the tasks, or put them down when the run is to stop; returns whether they were finished."""
        if not tasks:
            return True
        stopping = asyncio.ensure_future(self.stop.wait())
        everything = asyncio.gather(*tasks)
        either: list[asyncio.Future[Any]] = [everything, stopping]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not everything.done():
                everything.cancel()
            with suppress(asyncio.CancelledError):
                await everything
        finally:
            stopping.cancel()
        return self.stopped is None

    async def _hand(self) -> None:
        while self.todo and not self.stop.is_set():
            await self._one(self.todo.popleft())
            await asyncio.sleep(
                0
            )  # work without waiting, such as rules, must not keep the beat from its turn

    async def _one(self, position: int) -> None:
        begun = time.monotonic()
        try:
            outcome = await self.job.do(position, ItemCache(self.store, self.run.run_id, position))
        except Exception as problem:  # ours; it must cost one item, never the run
            if isinstance(problem, AssayError):  # such as a full disk: nothing more can be saved
                raise
            traceback.print_exc(file=sys.stderr)
            detail = f"{type(problem).__name__}: {problem}"
            outcome = Outcome("failed", {"detail": detail}, (("internal", type(problem).__name__),))
        item = RunItem(
            position,
            self.job.item_ids[position],
            outcome.state,
            outcome.result,
            outcome.failures,
            round(time.monotonic() - begun, 3),
        )
        save_item(self.store, self.run.run_id, item)
        self._listen_for_silence(outcome)

    def _listen_for_silence(self, outcome: Outcome) -> None:
        """Give up, for now, where the server has gone: thousands of items would each wait for it in vain."""
        self.silent = self.silent + 1 if outcome.state == "again" else 0
        if self.silent >= MOST_IN_A_ROW and not self.stop.is_set():
            reasons = sorted({reason for _, reason in outcome.failures if reason in TRANSPORT})
            self._stop(
                "stopped",
                f"No answer for {self.silent} items in a row ({', '.join(reasons) or 'server'}). "
                "Resume the run when the server answers again.",
            )

    async def _beat(self) -> None:
        try:
            while True:
                if beat(self.store, self.run.run_id):
                    self._stop("cancelled", "")
                if self.tell is not None:
                    self.tell()
                await asyncio.sleep(BEAT_SECONDS)
        except AssayError as problem:  # a run that cannot say that it lives would be started twice
            self._stop("stopped", str(problem))

    def _stop(self, state: RunState, message: str) -> None:
        if self.stopped is None:
            self.stopped = (state, message)
            self.stop.set()

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(
                NotImplementedError, RuntimeError, ValueError
            ):  # not in the main thread, or on Windows
                loop.add_signal_handler(number, self._stop, "cancelled", "")
