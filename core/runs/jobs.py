"""What a kind of run has to offer so that a worker can work on it."""

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from core.errors import AssayError
from core.llm.client import Cache
from core.schema import ItemState

RULES_WIDTH = 1
"""Rules never wait: items side by side would gain nothing."""
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
