"""What a kind of run has to offer so that a worker can work on it; and a run at hand: what was asked for and its file, read and checked once."""

import asyncio
import math
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, Protocol, TypeVar, runtime_checkable

from core.errors import AssayError
from core.judges.kind import HELPER_AT_ONCE
from core.llm.asking import Model
from core.llm.client import Cache, Client
from core.llm.vllm import VllmEngine
from core.runs.asked import Asked, ModelSettings, Running, asked_of, fields_named, running_of
from core.schema.runs import ItemState, Kind, Run
from core.schema.scores import Metric
from core.schema.settings import Remark, SettingField
from core.store import Store
from core.store.kept import run_metrics
from core.store.runs import get_run, run_data

ITEMS_AHEAD = 2
"""Times as many texts at work as requests can be open: each has one open most of the time, some have several."""
Thing = TypeVar("Thing")
Done = TypeVar("Done")


@dataclass(frozen=True)
class Outcome:
    """What came of one item."""

    state: ItemState
    result: dict[str, object]
    """JSON values: the item's record."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of everything that failed."""


@dataclass(frozen=True)
class Batch:
    """What came of some items that were worked on together, and is saved together or not at all."""

    outcomes: Sequence[Outcome]
    """In the order in which the items were asked for."""
    keep: Callable[[], None]
    """Writes what else there is to keep; called in the transaction that saves the items."""


class AnyJob(Protocol):
    """Items on which a worker works."""

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""

    @property
    def width(self) -> int:
        """Items, or batches of them, worth working on at once."""

    async def start(self) -> None:
        """Make ready. Raises InputError where nothing can work."""

    async def close(self) -> None:
        """Let go of the model."""


class Job(AnyJob, Protocol):
    """Items that are worth saving one by one, such as answers that were paid for."""

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Work on one item. An exception is a defect of ours: it is counted, and the run goes on."""


@runtime_checkable
class BatchJob(AnyJob, Protocol):
    """Items that take less time than to save them one by one would."""

    @property
    def batch(self) -> int:
        """Items worth working on together now: what a process that is killed may lose."""

    async def do_together(self, positions: Sequence[int]) -> Batch:
        """Work on some items. An exception is a defect of ours: the items are then worked on one by one."""


class AskingJob:
    """What every Job has that asks a model, or has rules in its place."""

    def __init__(self, asked: Asked, running: Running, items: Mapping[str, Sequence[Any]]) -> None:
        self.asked, self.running = asked, running
        self.item_ids, self.items = tuple(items), tuple(items.values())
        self.client = _client_of(asked.model, running)

    @property
    def width(self) -> int:
        """Items enough to keep all requests open; few, so that those begun are soon finished."""
        return width_of(self.asked, self.running, sum(map(len, self.items)) / len(self.items))

    async def start(self) -> None:
        """Reach the server, or load the model."""
        if self.client is not None:
            await self.client.start()

    def model(self, cache: Cache) -> Model | None:
        """Who is asked about one item; None: rules do the work."""
        asked = self.asked.model
        return None if self.client is None else Model(self.client, cache, asked.attempts, asked)

    async def close(self) -> None:
        """Close connections and free memory."""
        if self.client is not None:
            await self.client.close()


def _client_of(model: ModelSettings, running: Running) -> Client | None:
    """None: rules do the work."""
    if model.backend == "rules":
        return None
    if model.backend == "vllm":
        return VllmEngine(model.model, max_model_len=model.max_model_len, options=model.engine)
    # Imported late: its package takes half a second to load, and most commands ask no server.
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
    """Requests that can be open at once: as the user says, but of vLLM in this process its own number; of rules 1."""
    if model.backend == "rules":
        return 1
    return VllmEngine.concurrency if model.backend == "vllm" else running.concurrency


def width_of(asked: Asked, running: Running, texts_per_item: float) -> int:
    """Items worth working on at once.

    Where a model is asked, each text has a request open, or more. Rules should fill the batches of the entailment
    model, if there is one, with a claim of each text.
    """
    if asked.by_rules:
        return (
            _items_of(HELPER_AT_ONCE, texts_per_item) if asked.chosen.needs == "neural" else 1
        )  # they never wait
    n_open = open_at_once(asked.model, running)
    return min(n_open, _items_of(ITEMS_AHEAD * n_open, texts_per_item))


def _items_of(n_texts: int, texts_per_item: float) -> int:
    """Items that have so many texts together."""
    return max(1, math.ceil(n_texts / max(texts_per_item, 1.0)))


def grouped(things: Iterable[Thing], item_of: Callable[[Thing], str]) -> dict[str, list[Thing]]:
    """Item -> what there is of it; items in the order in which they first come."""
    items: dict[str, list[Thing]] = {}
    for thing in things:
        items.setdefault(item_of(thing), []).append(thing)
    return items


async def each_of(
    things: Sequence[Thing], do: Callable[[Thing], Awaitable[Done]], broken: Callable[[Thing, str], Done]
) -> list[Done]:
    """What came of each, side by side. A defect costs no more than the one that shows it, and goes to standard error.

    broken: what to take in its place, by the name of the exception. Raises AssayErrors, such as a full disk, at which
    nothing more can be saved.
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
    """What came of an item. temporary: whether another run may mend a failure."""
    if temporary:
        return Outcome("again", result, failures)
    return Outcome("failed" if failures else "done", result, failures)


class WorkPath(Protocol):
    """How runs of one work go from their file to their results."""

    def read(self, asked: Asked, data: bytes, file_name: str) -> Any:
        """The file's contents. Raises InputError with every problem."""

    def items(self, asked: Asked, contents: Any) -> Mapping[str, Sequence[Any]]:
        """Item -> what there is to work on; in the order of the file."""

    def check(self, asked: Asked, contents: Any, sha256: str) -> tuple[Remark | str, ...]:
        """What to know before it costs anything. Raises InputError where nothing could be done."""
        return ()

    def named(self, thing: Any) -> tuple[str | None, str | None]:
        """System and level of one of the texts of an item, where they have some."""
        return None, None

    def job(self, run: "RunAtHand") -> Job | BatchJob:
        """What a worker does."""

    def planned(self, run: "RunAtHand") -> tuple[Metric, ...]:
        """The metrics of its scores as the settings tell them; none where it gives no scores."""
        return ()

    def left_out(self, run: "RunAtHand") -> Mapping[str, int]:
        """Reason -> rows of the file that give nothing to work on."""
        return {}

    def files(self, run: "RunAtHand") -> dict[str, bytes]:
        """File name -> content, as far as the run is, without run.json."""

    def maker(self, asked: Asked) -> str:
        """Whose texts, which metrics, or which judge."""
        return asked.called


class RunAtHand:
    """A run with what belongs to it. Nothing is read before it is needed, and nothing twice."""

    def __init__(
        self, store: Store, run: Run, path: WorkPath, *, asked: Asked | None = None, contents: Any = None
    ) -> None:
        """asked, contents: where they are known already."""
        self.store, self.run, self.path = store, run, path
        self.said: tuple[object, Any] | None = None
        """What a judge said, and when: see judging.judge_output."""
        if asked is not None:
            self.asked = asked
        if contents is not None:
            self.contents = contents

    @cached_property
    def asked(self) -> Asked:
        """What it was asked for."""
        return asked_of(self.run)

    @property
    def kind(self) -> Kind:
        """Its kind."""
        return self.asked.kind

    @property
    def running(self) -> Any:
        """See asked.running_of."""
        return running_of(self.run)

    @cached_property
    def contents(self) -> Any:
        """What its file holds."""
        data = run_data(self.store, self.run.run_id)
        return self.path.read(self.asked, data, PurePath(self.run.data_file).name)

    @cached_property
    def items(self) -> Mapping[str, Sequence[Any]]:
        """See WorkPath."""
        return self.path.items(self.asked, self.contents)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """With the signatures of what was loaded; before the first start as they are planned."""
        return run_metrics(self.store, self.run.run_id) or self.path.planned(self)

    @property
    def fields(self) -> dict[str, SettingField]:
        """All fields that a remark on it may name."""
        return fields_named(self.kind)

    def claimed(self, run: Run) -> "RunAtHand":
        """The same run as the process that claimed it has it."""
        self.run = run
        return self

    def now(self) -> "RunAtHand":
        """The same run as it stands by now."""
        self.run = get_run(self.store, self.run.run_id)
        return self
