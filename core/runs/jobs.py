"""What a kind of run has to offer so that a worker can work on it."""

from dataclasses import dataclass
from typing import Protocol

from core.llm.client import Cache
from core.schema import ItemState


@dataclass(frozen=True)
class Outcome:
    """What came of one item."""

    state: ItemState
    result: dict[str, object]
    """JSON values: the item's record."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of everything that failed."""


class Job(Protocol):
    """Items, and what is done to each."""

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order of the file."""

    @property
    def width(self) -> int:
        """Items worth working on at once."""

    async def start(self) -> None:
        """Make ready. Raises InputError where nothing can work."""

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Work on one item. An exception is a defect of ours: it is counted, and the run goes on."""

    async def close(self) -> None:
        """Let go of the model."""
