"""What a kind of run has to offer so that a worker can work on it; what jobs that may ask a model have in common."""

import asyncio
import math
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from core.errors import AssayError
from core.judges.kind import HELPER_AT_ONCE
from core.llm.asking import Model
from core.llm.client import Cache, Client
from core.llm.vllm.engine import VllmEngine
from core.runs.asked import Asked, ModelSettings, Running
from core.schema import ItemState

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
    from core.llm.openai_server import OpenAIServer

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
