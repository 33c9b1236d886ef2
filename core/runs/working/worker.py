"""The worker of runs: processes items concurrently and saves them as they finish; handles cancelling and lost servers."""

import asyncio
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, NoReturn

from core.errors import AssayError, NotAllowed, counted
from core.llm.client import MOST_IN_A_ROW, NOT_KEPT, TRANSPORT, Call, Reply, asked_as_json
from core.llm.rounds import Collecting
from core.runs.jobs import Batch, BatchJob, InRounds, Job, Outcome, broken
from core.runs.progress import why_not_now
from core.schema.runs import Run, RunItem, RunState
from core.store import Store, open_store
from core.store.kept import find_reply, record_call, reject_call
from core.store.runs import (
    Owner,
    ask_to_stop,
    beat,
    claim_run,
    finish_run,
    get_run,
    item_states,
    note_message,
    note_start,
    save_items,
)

BEAT_SECONDS = 0.5
"""Seconds between two checks of the cancel flag."""
ROUND_SECONDS = 2.0
"""Seconds between two looks at how far a round is."""
GRACE_SECONDS = 8.0
"""Seconds for a stopping run to abort open requests and close its model."""


def work(
    store: Store,
    run_id: int,
    job_of: Callable[[Run], Job | BatchJob],
    *,
    tell: Callable[[], None] | None = None,
    alone: bool = False,
) -> Run:
    """Work on a run until it is done, cancelled or stopped; returns its final state.

    job_of: creates the job of the run. tell: called about twice a second, to show progress. alone: this process does
    nothing else, so it ends itself if its model does not close in time after a stop, because a thread that loads a model
    cannot be interrupted. Finished items and the run's state are on disk by then.
    Raises NotAllowed if another process works on the run, and any errors from `job_of`.
    """
    owner = _claim(store, run_id)
    if owner is None:
        return get_run(store, run_id)
    try:
        run = get_run(store, run_id)
        state, message = asyncio.run(_Shift(store, run, owner, job_of(run), tell, alone).work())
    except AssayError as problem:
        with suppress(NotAllowed):  # taken over: the state belongs to the other process
            finish_run(store, run_id, "stopped", str(problem), owner=owner)
        raise
    except BaseException as problem:
        why = f"The run failed ({type(problem).__name__}: {problem})."
        with suppress(NotAllowed):
            finish_run(store, run_id, "stopped", why, owner=owner)
        raise
    finish_run(store, run_id, state, message, owner=owner)
    return get_run(store, run_id)


def end_at_once(status: int = 0) -> NoReturn:
    """End this process and all its threads, as kill -9 would: nothing is closed, and saved data stay."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _claim(store: Store, run_id: int) -> Owner | None:
    """The claim on the run; None: it was cancelled before it began."""
    with store.writing():
        run = get_run(store, run_id)
        if why := why_not_now(run):
            raise NotAllowed(why)
        if run.cancel:
            finish_run(store, run_id, "cancelled")
            return None
        return claim_run(store, run_id, os.getpid())


def _why_unanswered(outcome: Outcome) -> str:
    """The first reason for missing answers; `waiting` only if there is no other."""
    reasons = {reason for _, reason in outcome.failures if reason in TRANSPORT}
    return min(reasons - {"waiting"} or reasons, default="server")


def _waiting_for(n: int, n_arrived: int) -> str:
    """How far a round is, in one sentence."""
    here = f", {n_arrived:,} are here" if n_arrived else ""
    return f"Waiting for answers to {counted(n, 'request')}{here}."


@dataclass
class _Shift:
    """The work of one process on a run."""

    store: Store
    run: Run
    owner: Owner
    job: Job | BatchJob
    tell: Callable[[], None] | None = None
    alone: bool = False
    todo: deque[int] = field(default_factory=deque)
    waiting: list[int] = field(default_factory=list)
    """Items that need answers which the next round may bring."""
    silent: int = 0
    """Consecutive items without an answer."""
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: tuple[RunState, str] | None = None
    ended: tuple[RunState, str] | None = None
    """State in which the run ends, set once its items are finished and only the model is left to close."""
    late: bool = False
    """Whether a user at a terminal was told that stopping takes long."""
    over: threading.Event = field(default_factory=threading.Event)
    unanswered: Counter[str] = field(default_factory=Counter)
    """Reasons for missing answers."""
    said: str = ""
    """Message of the server or the connection with the last failed reply."""

    async def work(self) -> tuple[RunState, str]:
        """Process every open item; returns the final state and a sentence."""
        self.store.expect_much()
        known = item_states(self.store, self.run.run_id)
        self.todo.extend(at for at in range(self.run.n_wanted) if at not in known)
        beating = asyncio.create_task(asyncio.to_thread(self._beat, asyncio.get_running_loop()))
        self._listen_to_signals()
        try:
            begun = time.monotonic()
            starting = asyncio.create_task(self.job.start())
            if await self._unless_stopped([starting]):
                note_start(self.store, self.run.run_id, time.monotonic() - begun, self.owner)
                await self._all_rounds(self.job.rounds if isinstance(self.job, InRounds) else None)
            self.ended = self.stopped or self._end()
        finally:
            try:
                await self.job.close()
            finally:  # only now, because a process that occupies a model's memory still counts as working
                self.over.set()
                await beating
        return self.ended

    async def _all_rounds(self, rounds: Collecting | None) -> None:
        """Process the items: once, or in rounds until none of them waits for an answer."""
        n_rounds = 0
        while True:
            self.waiting.clear()
            self.unanswered.clear()
            hands = [asyncio.create_task(self._hand()) for _ in range(min(self.job.width, len(self.todo)))]
            if not await self._unless_stopped(hands) or rounds is None or not self.waiting:
                return
            if n_rounds and not rounds.n_usable:
                return  # another round would bring the same failures
            n_rounds += 1
            delivering = asyncio.create_task(self._deliver(rounds))
            if not await self._unless_stopped([delivering]):
                return
            self.todo.extend(sorted(self.waiting))

    async def _deliver(self, rounds: Collecting) -> None:
        """Have the requests of this round answered, or end the run until people bring answers."""
        n, said = len(rounds.waiting), ""
        delivering = asyncio.ensure_future(rounds.end_round())
        try:
            while not delivering.done():
                if (now := _waiting_for(n, rounds.deliverer.n_arrived)) != said:
                    said = now
                    note_message(self.store, self.run.run_id, said, self.owner)
                await asyncio.wait([delivering], timeout=ROUND_SECONDS)
        finally:
            delivering.cancel()
            await asyncio.gather(delivering, return_exceptions=True)
        message = delivering.result()
        if message is None:
            note_message(self.store, self.run.run_id, "", self.owner)
        else:
            self._stop("awaiting", message)

    def _end(self) -> tuple[RunState, str]:
        if not self.unanswered:
            return "done", ""
        count = self.unanswered.total()
        reasons = ", ".join(sorted(self.unanswered))
        items = "1 item" if count == 1 else f"{count} items"
        what = f"No answer for {items} ({reasons})."
        return "stopped", f"{what}{self._last_said()} Resume the run to try again."

    async def _unless_stopped(self, tasks: list["asyncio.Task[None]"]) -> bool:
        """Wait for the tasks, or cancel them if the run must stop; returns whether they finished."""
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
            for task in tasks:  # after one failed, the others still use what is about to be closed
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return self.stopped is None

    async def _hand(self) -> None:
        job = self.job
        while self.todo and not self.stop.is_set():
            if isinstance(job, BatchJob):
                await self._some(job, [self.todo.popleft() for _ in range(min(job.batch, len(self.todo)))])
            else:
                await self._one(job, self.todo.popleft())
            await asyncio.sleep(0)  # rules never wait, so give the beat a turn

    async def _one(self, job: Job, position: int) -> None:
        begun = time.monotonic()
        try:
            outcome = await job.do(position, ItemCache(self.store, self.run.run_id, position, self._hear))
        except Exception as problem:
            outcome = broken(problem)
        if outcome.state == "again" and isinstance(self.job, InRounds) and self.job.rounds is not None:
            self.waiting.append(position)  # it stays open, and starts again once answers have arrived
            self.unanswered[_why_unanswered(outcome)] += 1
            return
        self._save([position], Batch([outcome], lambda: None), begun)
        self._listen_for_silence(outcome)

    async def _some(self, job: BatchJob, positions: Sequence[int]) -> None:
        begun = time.monotonic()
        batch = None
        try:
            batch = await job.do_together(positions)
        except Exception as problem:
            if len(positions) == 1 or isinstance(problem, AssayError):
                batch = Batch([broken(problem)], lambda: None)
        if batch is not None:
            self._save(positions, batch, begun)
        else:
            for position in positions:
                await self._some(job, [position])

    def _save(self, positions: Sequence[int], batch: Batch, begun: float) -> None:
        """Save the outcomes of several items in one transaction, unless another process has taken over the run."""
        share = round((time.monotonic() - begun) / len(positions), 3)
        items = [
            RunItem(at, self.job.item_ids[at], one.state, one.result, one.failures, share)
            for at, one in zip(positions, batch.outcomes, strict=True)
        ]
        with self.store.writing():
            batch.keep()
            save_items(self.store, self.run.run_id, items, self.owner)

    def _listen_for_silence(self, outcome: Outcome) -> None:
        """Stop the run after too many consecutive items without an answer, instead of waiting for each of thousands of items."""
        if outcome.state == "again":
            self.unanswered[_why_unanswered(outcome)] += 1
        self.silent = self.silent + 1 if outcome.state == "again" else 0
        if self.silent >= MOST_IN_A_ROW and not self.stop.is_set():
            reasons = sorted({reason for _, reason in outcome.failures if reason in TRANSPORT})
            self._stop(
                "stopped",
                f"No answer for {self.silent} items in a row ({', '.join(reasons) or 'server'})."
                f"{self._last_said()} Resume the run when the server answers again.",
            )

    def _hear(self, reply: Reply) -> None:
        if reply.reason in TRANSPORT and reply.detail:
            self.said = reply.detail

    def _last_said(self) -> str:
        """The last message as a sentence to append; empty if there is none."""
        if not self.said:
            return ""
        return f" Last: {self.said}" + ("" if self.said.endswith((".", "!", "?", "…")) else ".")

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        """Report that the process is alive, and make it stop in time. Runs in a thread, because the work may be busy."""
        stopping: float | None = None
        try:
            with open_store(self.store.path) as own:
                own.expect_much()  # otherwise every commit would copy the whole log
                while not self.over.is_set():
                    cancelled = beat(own, self.run.run_id, self.owner)
                    if cancelled:
                        loop.call_soon_threadsafe(self._stop, "cancelled", "")
                    elif self.stopped is not None and self.stopped[0] == "cancelled":
                        ask_to_stop(own, self.run.run_id)  # after a signal, so that pages show it too
                    if self.tell is not None:
                        loop.call_soon_threadsafe(self.tell)
                    if stopping is None and (cancelled or self.stopped is not None):
                        stopping = time.monotonic()
                    if stopping is not None and time.monotonic() - stopping > GRACE_SECONDS:
                        self._end_late(own)
                        stopping = float("inf")
                    self.over.wait(BEAT_SECONDS)
        except AssayError as problem:  # a run that cannot report that it is alive would be started twice
            if not self.over.is_set():
                loop.call_soon_threadsafe(self._stop, "stopped", str(problem))
            if self.alone and not self.over.wait(GRACE_SECONDS):
                end_at_once(1)

    def _end_late(self, own: Store) -> None:
        """End a process whose model does not close, unless a user is waiting for this process."""
        if not self.alone:
            print(
                f"Run {self.run.run_id} is stopping, but process {os.getpid()} is still working on it or closing its model. "
                "Press Ctrl-C again to end it at once; finished items are saved.",
                file=sys.stderr,
                flush=True,
            )
            self.late = True
            return
        state, message = self.ended or self.stopped or ("cancelled", "")
        with suppress(AssayError):  # another process took it over, or nothing can be written any more
            finish_run(own, self.run.run_id, state, message, owner=self.owner)
        end_at_once()

    def _stop(self, state: RunState, message: str) -> None:
        if self.stopped is None:
            self.stopped = (state, message)
            self.stop.set()

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            # Not possible outside the main thread, or on Windows.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._interrupted)

    def _interrupted(self) -> None:
        """Stop; if that takes too long, a second signal stops at once, because a user is waiting at a terminal."""
        if self.stopped is not None and self.late:
            state, message = self.ended or self.stopped
            with suppress(AssayError):
                finish_run(self.store, self.run.run_id, state, message, owner=self.owner)
            end_at_once(130)
        self._stop("cancelled", "")


class ItemCache:
    """The cache of model replies for one item of one run; see core.llm's Cache."""

    def __init__(
        self,
        store: Store,
        run_id: int,
        position: int,
        heard: Callable[[Reply], None] | None = None,
        text: int | None = None,
    ) -> None:
        """heard: called with every reply, stored or not. text: number of the item's text that makes the requests."""
        self._store = store
        self._run_id = run_id
        self._position = position
        self._heard = heard
        self._text = text

    def of(self, text: int) -> "ItemCache":
        """See core.llm's Cache."""
        return ItemCache(self._store, self._run_id, self._position, self._heard, text)

    def find(self, key: str) -> Reply | None:
        """The reply that any run has stored under this key."""
        row = find_reply(self._store, key)
        return None if row is None else Reply(**row)

    def record(self, call: Call) -> None:
        """Record the call, and store its reply unless the reason is in NOT_KEPT."""
        reply = call.reply
        if self._heard is not None:
            self._heard(reply)
        counts = {
            name: _countable(getattr(reply, name))
            for name in ("input_tokens", "output_tokens", "thinking_tokens")
        }
        keepable = reply.reason not in NOT_KEPT
        kept = asdict(reply) | counts
        del kept["not_sent"]  # applies to this call, not to later ones
        record_call(
            self._store,
            {
                **self._place(call.key, call.step),
                "reason": reply.reason,
                "cached": int(call.cached),
                "seconds": reply.seconds,
                "not_sent": ", ".join(reply.not_sent) or None,
                "detail": None if keepable else reply.detail or None,
                **counts,
            },
            kept if keepable and not call.cached else None,
            asked_as_json(call.request),
            self._text,
        )

    def reject(self, key: str, step: str, why: str) -> None:
        """See core.llm's Cache."""
        reject_call(self._store, self._place(key, step), why)

    def _place(self, key: str, step: str) -> dict[str, object]:
        return {"run_id": self._run_id, "position": self._position, "key": key, "step": step}


def _countable(tokens: int | None) -> int | None:
    """A count of tokens, or None if it is too large for the database."""
    return tokens if tokens is not None and 0 <= tokens < 2**63 else None
