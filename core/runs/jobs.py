"""Interfaces of runs: what a worker needs from each kind of run, and a run with its request and file, read once."""

import asyncio
import json
import math
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from core.errors import AssayError
from core.judges.kind import HELPER_AT_ONCE
from core.llm.asking import Model
from core.llm.client import Cache, Client
from core.llm.rounds import Collecting
from core.llm.vllm import VllmEngine
from core.runs.asked import (
    Asked,
    Environment,
    ModelSettings,
    Running,
    asked_of,
    environment_for,
    fields_named,
    running_of,
)
from core.runs.working.batch.files import batch_files
from core.runs.working.models_on_ray import ray_client
from core.schema.runs import ItemState, Kind, Run
from core.schema.scores import Metric
from core.schema.settings import Remark, SettingField
from core.store import Store
from core.store.kept import results_since, run_metrics
from core.store.runs import get_run, n_finished_since, run_data
from core.tables.files import write_file

ITEMS_AHEAD = 2
"""Texts in progress per open request: most texts have one request open at a time, some have several."""
Thing = TypeVar("Thing")
Done = TypeVar("Done")


@dataclass(frozen=True)
class Outcome:
    """The outcome for one item."""

    state: ItemState
    result: dict[str, object]
    """JSON values: the item's record."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of each failure."""


@dataclass(frozen=True)
class Batch:
    """The outcomes of several items that were processed together, saved all together or not at all."""

    outcomes: Sequence[Outcome]
    """In the order of the requested items."""
    keep: Callable[[], None]
    """Stores additional data; called in the transaction that saves the items."""


class AnyJob(Protocol):
    """The items that a worker processes."""

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""

    @property
    def width(self) -> int:
        """Useful number of items, or batches, to process at the same time."""

    async def start(self) -> None:
        """Get ready. Raises InputError if nothing can work."""

    async def close(self) -> None:
        """Close the model."""


class Job(AnyJob, Protocol):
    """A job whose items are saved one by one, such as paid answers."""

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Process one item. An exception is an internal error: it is counted, and the run continues."""


@runtime_checkable
class BatchJob(AnyJob, Protocol):
    """A job whose items take less time than saving them one by one."""

    @property
    def batch(self) -> int:
        """Useful number of items per batch; a killed process loses at most these."""

    async def do_together(self, positions: Sequence[int]) -> Batch:
        """Process several items. An exception is an internal error: the items are then processed one by one."""


@runtime_checkable
class InRounds(Protocol):
    """A job whose requests may be answered in rounds."""

    @property
    def rounds(self) -> Collecting | None:
        """The client that collects them; None: requests are answered one by one."""


class AskingJob:
    """Base class of jobs that use a model, or rules instead."""

    def __init__(self, run: "RunAtHand") -> None:
        self.asked, self.running = run.request, run.running
        self.item_ids, self.items = tuple(run.items), tuple(run.items.values())
        self.client: Client | None = None
        self.rounds: Collecting | None = None
        if self.asked.model.backend == "batch":
            self.client = self.rounds = batch_files(run.store, run.run.run_id, self.asked.model)
        elif self.running.engine == "ray" and self.asked.model.backend != "rules":
            self.client = self.rounds = ray_client(
                run.store, run.run.run_id, self.asked.model, self.running, client_of
            )
        elif self.asked.model.backend != "rules":
            self.client = client_of(self.asked.model, self.running)

    @property
    def width(self) -> int:
        """Enough items to keep all requests open, but few, so that started items finish soon."""
        return width_of(self.asked, self.running, sum(map(len, self.items)) / len(self.items))

    async def start(self) -> None:
        """Connect to the server, or load the model."""
        await self.get_ready()

    async def get_ready(self) -> None:
        """Do what each process that works on items must do first; `start` is for the run's own process."""
        if self.client is not None:
            await self.client.start()

    async def do(self, position: int, cache: Cache) -> Outcome:
        """See Job."""
        raise NotImplementedError

    def model(self, cache: Cache) -> Model | None:
        """The model for one item; None: rules do the work."""
        asked = self.asked.model
        cache = cache if self.rounds is None else self.rounds.recording(cache)
        return None if self.client is None else Model(self.client, cache, asked.attempts, asked)

    async def close(self) -> None:
        """Close connections and free memory."""
        if self.client is not None:
            await self.client.close()


def client_of(model: ModelSettings, running: Running) -> Client:
    """The client of a model on a server or in this process."""
    if model.backend == "vllm":
        return VllmEngine(
            model.model,
            max_model_len=model.max_model_len,
            adapter=model.adapter or None,
            options=model.engine,
        )
    # Imported lazily: its package takes half a second to load, and most commands need no server.
    from core.llm.openai import OpenAIServer

    return OpenAIServer(
        model.base_url,
        model.model,
        concurrency=running.concurrency,
        timeout=running.timeout,
        retries=running.retries,
        key_variable=running.key_variable,
        how=model,
    )


def open_at_once(model: ModelSettings, running: Running) -> int:
    """Requests that can be open at once: the user's setting; for vLLM in this process its own number; for rules 1."""
    if model.backend == "rules":
        return 1
    return VllmEngine.concurrency if model.backend == "vllm" else running.concurrency


def width_of(request: Asked, running: Running, texts_per_item: float) -> int:
    """Useful number of items to process at the same time.

    With a model, each text has at least one request open. With rules, there should be enough texts to fill the batches of
    an entailment model.
    """
    if request.by_rules:
        return (
            _items_of(HELPER_AT_ONCE, texts_per_item) if request.settings.needs == "neural" else 1
        )  # they never wait
    n_open = open_at_once(request.model, running)
    return min(n_open, _items_of(ITEMS_AHEAD * n_open, texts_per_item))


def _items_of(n_texts: int, texts_per_item: float) -> int:
    """Number of items with this many texts in total."""
    return max(1, math.ceil(n_texts / max(texts_per_item, 1.0)))


def grouped(things: Iterable[Thing], item_of: Callable[[Thing], str]) -> dict[str, list[Thing]]:
    """Item -> its things, with items in the order of first appearance."""
    items: dict[str, list[Thing]] = {}
    for thing in things:
        items.setdefault(item_of(thing), []).append(thing)
    return items


async def each_of(
    things: Sequence[Thing], do: Callable[[Thing], Awaitable[Done]], broken: Callable[[Thing, str], Done]
) -> list[Done]:
    """Process things concurrently. An internal error affects only one thing and is logged to standard error.

    broken: returns the replacement result, given the thing and the exception's name. Raises AssayErrors, such as a full
    disk, because nothing more can be saved.
    """
    told = await asyncio.gather(*(do(thing) for thing in things), return_exceptions=True)
    done = []
    for thing, one in zip(things, told, strict=True):
        if not isinstance(one, BaseException):
            done.append(one)
        elif not isinstance(one, Exception) or isinstance(one, AssayError):
            raise one
        else:
            traceback.print_exception(one, file=sys.stderr)
            done.append(broken(thing, type(one).__name__))
    return done


def outcome_of(
    result: dict[str, object], failures: tuple[tuple[str, str], ...], *, temporary: bool
) -> Outcome:
    """The outcome of an item. temporary: whether another run may succeed."""
    if temporary:
        return Outcome("again", result, failures)
    return Outcome("failed" if failures else "done", result, failures)


def broken(problem: Exception) -> Outcome:
    """The outcome of an item after an internal error, which must affect one item, never the run."""
    if isinstance(problem, AssayError):  # such as a full disk, so that nothing more can be saved
        raise problem
    traceback.print_exception(problem, file=sys.stderr)
    name = type(problem).__name__
    return Outcome("failed", {"detail": f"{name}: {problem}"}, (("internal", name),))


class WorkPath(Protocol):
    """How runs of one type of work get from their file to their results."""

    def read(self, request: Asked, data: bytes, file_name: str) -> Any:
        """Read the file's contents. Raises InputError with every problem."""

    def items(self, request: Asked, contents: Any) -> Mapping[str, Sequence[Any]]:
        """Item -> things to process, in the order of the file."""

    def check(self, request: Asked, contents: Any, sha256: str) -> tuple[Remark | str, ...]:
        """Remarks before the run costs anything. Raises InputError if nothing could be done."""
        return ()

    def named(self, thing: Any) -> tuple[str | None, str | None]:
        """System and level of one of an item's texts, if there are any."""
        return None, None

    def job(self, run: "RunAtHand") -> Job | BatchJob:
        """The job for a worker."""

    def planned(self, run: "RunAtHand") -> tuple[Metric, ...]:
        """The metrics of its scores according to the settings; empty if it gives no scores."""
        return ()

    def left_out(self, run: "RunAtHand") -> Mapping[str, int]:
        """Reason -> number of rows in the file with nothing to process."""
        return {}

    def files(self, run: "RunAtHand") -> dict[str, bytes]:
        """File name -> content for the run so far, without run.json."""

    def write_files(self, run: "RunAtHand", folder: Path) -> tuple[str, ...]:
        """Write these files into a folder; returns their names."""
        files = self.files(run)
        for name, data in files.items():
            write_file(folder / name, data)
        return tuple(files)

    def maker(self, request: Asked) -> str:
        """What made the results: generator, metrics or judge."""
        return request.called


class RunAtHand:
    """A run with its request, file and results. Everything is read when first needed, and only once."""

    def __init__(
        self, store: Store, run: Run, path: WorkPath, *, request: Asked | None = None, contents: Any = None
    ) -> None:
        """request, contents: if already known."""
        self.store, self.run, self.path = store, run, path
        self.said: tuple[object, Any] | None = None
        """The judge's output and its time: see judging.judge_output."""
        if request is not None:
            self.request = request
        if contents is not None:
            self.contents = contents

    @cached_property
    def request(self) -> Asked:
        """The run's request."""
        return asked_of(self.run)

    @property
    def kind(self) -> Kind:
        """The run's kind."""
        return self.request.kind

    @property
    def running(self) -> Any:
        """See asked.running_of."""
        return running_of(self.run)

    @property
    def environment(self) -> Environment:
        """See asked.environment_for."""
        return environment_for(self.request, self.running)

    @cached_property
    def contents(self) -> Any:
        """The contents of its file."""
        data = run_data(self.store, self.run.run_id)
        return self.path.read(self.request, data, PurePath(self.run.data_file).name)

    @cached_property
    def items(self) -> Mapping[str, Sequence[Any]]:
        """See WorkPath."""
        return self.path.items(self.request, self.contents)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics with the signatures of loaded models; before the first start, as planned."""
        return run_metrics(self.store, self.run.run_id) or self.path.planned(self)

    @property
    def fields(self) -> dict[str, SettingField]:
        """All fields that a remark on the run can mention."""
        return fields_named(self.kind)

    def claimed(self, run: Run) -> "RunAtHand":
        """The same run in the state of the process that claimed it."""
        self.run = run
        return self

    def now(self) -> "RunAtHand":
        """The same run in its current state."""
        self.run = get_run(self.store, self.run.run_id)
        return self


class ResultsSoFar(Generic[Thing]):
    """The results of one run as they come in: every look reads only what is new. Several threads may share one."""

    def __init__(self, made: Callable[[RunAtHand, str, dict[str, Any]], Thing]) -> None:
        """made: makes a thing of an item of the run and its result as JSON."""
        self._made = made
        self._lock = Lock()
        self._worked: tuple[str | None, str | None] | None = None
        """Start and end of the work on the run at the last look; a new start takes back items without an answer."""
        self._last = ""
        """When the newest item was finished."""
        self._things: dict[int, Thing] = {}

    def look(self, run: RunAtHand) -> list[Thing]:
        """What was made of all items that the run has reached, in the order of the file."""
        store, number = run.store, run.run.run_id
        worked = run.run.started_utc, run.run.finished_utc
        with self._lock:
            if worked != self._worked:
                self._forget(worked)
            least = n_finished_since(store, number)
            self._read(run)
            if not least <= len(self._things) <= n_finished_since(store, number):
                self._forget(worked)  # items that were read are no longer there
                self._read(run)
            return [self._things[position] for position in sorted(self._things)]

    def _forget(self, worked: tuple[str | None, str | None]) -> None:
        self._worked, self._last = worked, ""
        self._things.clear()

    def _read(self, run: RunAtHand) -> None:
        for row in results_since(run.store, run.run.run_id, self._last):
            self._things[row["position"]] = self._made(run, row["item_id"], json.loads(row["result"]))
            self._last = max(self._last, row["finished_utc"])
