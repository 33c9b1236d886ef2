"""Answers to a run's requests that were delivered from outside, as lines of JSON in the run's folder.

Each line closes one request: {"key", "id", "reply", "left_out"}. `reply` has the fields of core.llm's Reply; null: there is
no answer and the request is asked again. `id` names the line of a file that people brought, so that it counts once. `left_out` names
parts of the request that the server refuses.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.disk import disk_named
from core.errors import InputError
from core.llm.client import NOT_KEPT, TRANSPORT, Reply
from core.scratch import scratch_folder
from core.store import Store
from core.store.beside import PARTIAL, append_lines, put_in_place, sync, whole_lines

_ANSWERS = "answers"
"""Beginning of the files' names."""
_NUMBERED = re.compile(rf"{_ANSWERS}-(\d+)\.jsonl", re.ASCII)
_KEY = b'{"key": "'
"""Beginning of every line, so that a key is found without reading the reply."""
KEY_LENGTH = 64
"""Characters of a request's key, see core.llm.client.request_key."""


@dataclass(frozen=True)
class Delivered:
    """The end of one request: a reply, or the reason for none."""

    key: str
    reply: Reply | None
    """None: no answer came, and the request is to be asked again."""
    id: str = ""
    """Name of the line in which it came; empty: none."""
    left_out: frozenset[str] = frozenset()
    """Parts of the request that the server refuses, so that it is asked again without them."""

    def line(self) -> bytes:
        """As a line of the file."""
        reply = None if self.reply is None else asdict(self.reply)
        values = {"key": self.key, "id": self.id, "reply": reply, "left_out": sorted(self.left_out)}
        return json.dumps(values).encode()


def _read(line: bytes) -> Delivered:
    values: Mapping[str, Any] = json.loads(line)
    reply = values["reply"]
    if reply is not None:
        reply = Reply(**{**reply, "not_sent": tuple(reply["not_sent"])})
    return Delivered(values["key"], reply, values["id"], frozenset(values["left_out"]))


class Answers:
    """The answers in a run's folder, and which of them the run has recorded as calls.

    Memory holds places of lines, not texts.
    """

    def __init__(
        self, folder: Path, recorded: Mapping[str, int], hear: Callable[[Reply], None] = lambda reply: None
    ) -> None:
        """recorded: key -> number of calls with a reason in NOT_KEPT that the run has recorded. hear: called with every
        reply, also with those that come later.
        """
        self._folder = folder
        self._files = files_of_answers(folder)
        self._places: dict[str, list[tuple[int, int]]] = {}
        """Key -> (number of the file, offset) of each reply, in the order in which they came."""
        self._recorded = Counter(recorded)
        self._taken: Counter[str] = Counter()
        """Key -> number of its replies that calls have recorded."""
        self.n_closed: Counter[str] = Counter()
        """Key -> how often a line closed the request, with or without a reply."""
        self.left_out: frozenset[str] = frozenset()
        """Parts of requests that the server has refused."""
        self._hear = hear
        for number, file in enumerate(self._files):
            for at, line in whole_lines(file):
                self._note(_read(line), number, at)

    def _note(self, one: Delivered, number: int, at: int) -> None:
        self.n_closed[one.key] += 1
        self.left_out |= one.left_out
        if one.reply is None:
            return
        self._hear(one.reply)
        places = self._places.setdefault(one.key, [])
        places.append((number, at))
        # Every recorded failure is one of these replies; another reply is found in the cache once it is recorded.
        at_front = self._taken[one.key] == len(places) - 1
        if at_front and one.reply.reason in NOT_KEPT and len(places) <= self._recorded[one.key]:
            self._taken[one.key] += 1

    def next_reply(self, key: str) -> Reply | None:
        """See core.llm.rounds.Deliverer."""
        places, taken = self._places.get(key, []), self._taken[key]
        if taken >= len(places):
            return None
        reply = self._at(places[taken])
        if reply.reason in NOT_KEPT:
            self._taken[key] += 1
        return reply

    def last_reply(self, key: str) -> Reply | None:
        """See core.llm.rounds.Deliverer."""
        places, taken = self._places.get(key, []), self._taken[key]
        if not taken or taken < len(places):
            return None
        reply = self._at(places[-1])
        return None if reply.reason in TRANSPORT else reply

    def _at(self, place: tuple[int, int]) -> Reply:
        number, at = place
        with self._files[number].open("rb") as file:
            file.seek(at)
            reply = _read(file.readline()).reply
        assert reply is not None, "only lines with a reply have a place"
        return reply

    def append(self, delivered: Iterable[Delivered]) -> None:
        """Add answers as they come; they are on disk when this returns. Only the run's own process may do so."""
        file = self._folder / f"{_ANSWERS}.jsonl"
        if file not in self._files:
            self._files.append(file)
        lines = [(one, one.line()) for one in delivered]
        at = append_lines(file, (line for _, line in lines))
        for one, line in lines:
            self._note(one, self._files.index(file), at)
            at += len(line) + 1


def store_answers(store: Store, folder: Path, read: Sequence[Path], delivered: Iterable[Delivered]) -> Path:
    """Store answers that people brought; returns the file. None is stored if `delivered` raises an error.

    read: the files against which `delivered` checks them. Raises InputError if another process stored answers meanwhile,
    because some would then count twice.
    """
    with disk_named(folder), scratch_folder(folder) as scratch:
        partial = scratch / f"{_ANSWERS}{PARTIAL}"
        with partial.open("wb") as out:
            out.writelines(one.line() + b"\n" for one in delivered)
        sync(partial)
        with store.writing():  # one process at a time
            if files_of_answers(folder) != list(read):
                raise InputError(
                    "Another process has read answers meanwhile, so nothing was stored. Try again."
                )
            numbers = [int(found[1]) for name in os.listdir(folder) if (found := _NUMBERED.fullmatch(name))]
            file = folder / f"{_ANSWERS}-{1 + max(numbers, default=0):03}.jsonl"
            put_in_place(partial, file)
    return file


def files_of_answers(folder: Path) -> list[Path]:
    """The files of answers in their order. Left out are others of such a name: people may put a service's answers there."""
    return [file for file in sorted(folder.glob(f"{_ANSWERS}*.jsonl")) if _is_ours(file)]


def _is_ours(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(len(_KEY)) == _KEY


def closed_in(folder: Path) -> Counter[str]:
    """Key -> how often a line closed the request. Reads no reply."""
    return Counter(
        line[len(_KEY) : len(_KEY) + KEY_LENGTH].decode()
        for file in files_of_answers(folder)
        for _, line in whole_lines(file)
    )


def delivered_in(folder: Path) -> Iterable[Delivered]:
    """All lines so far, in the order in which they came, read one at a time."""
    for file in files_of_answers(folder):
        for _, line in whole_lines(file):
            yield _read(line)
