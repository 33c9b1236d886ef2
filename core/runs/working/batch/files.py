"""Batch files: the open requests of a run as files in the form of OpenAI's Batch API, one round after the other.

The files lie in the run's folder: `round-001.jsonl`, and `rounds.jsonl` with a line for each round that is written whole.
Each request waits in one file at a time, however often the run is resumed.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from core.disk import disk_named
from core.errors import counted
from core.installation import COMMAND
from core.llm.client import NOT_KEPT, Reply, Request
from core.llm.exchange import BATCH_URL, parts_missing
from core.llm.rounds import Collecting, OpenRequests
from core.runs.asked import ModelSettings
from core.runs.working.answers import KEY_LENGTH, Answers, closed_in
from core.store import Store
from core.store.beside import PARTIAL, append_lines, make_run_folder, put_in_place, whole_lines
from core.store.kept import failed_calls

if TYPE_CHECKING:
    from core.llm.openai import OpenAIServer

MOST_REQUESTS = 50_000
"""Requests in one file, the limit of OpenAI's Batch API (API reference, Create batch)."""
MOST_BYTES = 200_000_000
"""Bytes of one file, the limit of OpenAI's Batch API (API reference, Create batch)."""
_ROUNDS = "rounds.jsonl"
_ID = b'{"custom_id": "'
"""Beginning of every line, so that a key is found without reading the request."""


@dataclass(frozen=True)
class Round:
    """A round whose files are written whole."""

    number: int
    files: tuple[str, ...]
    """Names in the run's folder."""
    n_requests: int
    left_out: tuple[str, ...] = ()
    """Parts of requests that its bodies lack because the server refuses them."""


def rounds_in(folder: Path) -> list[Round]:
    """The rounds of a run so far, the first one first."""
    if not (folder / _ROUNDS).is_file():
        return []
    read = [json.loads(line) for _, line in whole_lines(folder / _ROUNDS)]
    return [
        Round(one["number"], tuple(one["files"]), one["n_requests"], tuple(one["left_out"])) for one in read
    ]


def requests_in(folder: Path, round_: Round) -> Iterator[tuple[str, Path, int]]:
    """(key, file, offset of its line) of a round's requests."""
    for name in round_.files:
        for at, line in whole_lines(folder / name):
            yield line[len(_ID) : len(_ID) + KEY_LENGTH].decode(), folder / name, at


@dataclass(frozen=True)
class Waiting:
    """The requests of a round that have no answer."""

    round: Round
    files: Mapping[str, int]
    """Name -> number of its requests without an answer; without files that are answered whole."""

    @property
    def n(self) -> int:
        """Number of requests without an answer."""
        return sum(self.files.values())


def still_waiting(folder: Path) -> Sequence[Waiting]:
    """Every round with its requests that wait for an answer. Reads files again only if one has changed."""
    files = [(path, path.stat()) for path in sorted(folder.glob("*.jsonl"))]
    return _still_waiting(folder, tuple((path.name, one.st_mtime_ns, one.st_size) for path, one in files))


@lru_cache(maxsize=4)
def _still_waiting(folder: Path, _state_of_files: tuple[tuple[str, int, int], ...]) -> Sequence[Waiting]:
    closed = closed_in(folder)
    found = []
    for one in rounds_in(folder):
        files: Counter[str] = Counter()
        for key, path, _ in requests_in(folder, one):
            if closed[key]:
                closed[key] -= 1
            else:
                files[path.name] += 1
        found.append(Waiting(one, dict(files)))
    return tuple(found)


class BatchFiles:
    """Deliverer that writes files for people to have answered; see core.llm.rounds."""

    n_arrived = 0

    def __init__(self, folder: Path, run_id: int, server: "OpenAIServer", answers: Answers) -> None:
        self._folder, self._run_id, self._server, self._answers = folder, run_id, server, answers
        self._rounds = rounds_in(folder)
        server.left_out |= answers.left_out
        self._without = frozenset(self._rounds[-1].left_out) if self._rounds else frozenset[str]()

    def next_reply(self, key: str, request: Request) -> Reply | None:
        """See Deliverer."""
        reply = self._answers.next_reply(key)
        return None if reply is None else replace(reply, not_sent=parts_missing(request, self._without))

    def last_reply(self, key: str) -> Reply | None:
        """See Deliverer."""
        return self._answers.last_reply(key)

    async def deliver(self, waiting: OpenRequests) -> str | None:
        """Write the requests that wait in no file yet, and ask the user to have all of them answered."""
        written = self._waiting_in_files()
        if self._write(waiting, written):
            self._rounds = rounds_in(self._folder)
        files = [
            (self._folder / name, n) for one in still_waiting(self._folder) for name, n in one.files.items()
        ]
        return _what_to_do(len(waiting), len(self._rounds), files, self._run_id)

    def _waiting_in_files(self) -> set[str]:
        """Keys that wait for an answer to a file."""
        n: Counter[str] = Counter()
        for one in self._rounds:
            n.update(key for key, _, _ in requests_in(self._folder, one))
        return {key for key, times in n.items() if times > self._answers.n_closed[key]}

    def _write(self, waiting: OpenRequests, written: set[str]) -> Sequence[str]:
        """Write the next round, without requests in `written`; returns the names of its files, none if it is empty."""
        number = len(self._rounds) + 1
        lines = (self._line(key, request) for key, request in waiting if key not in written)
        partial: list[Path] = []
        n_requests = 0
        for part in _split(lines):
            partial.append(self._folder / f"round-{number:03}-{len(partial) + 1}{PARTIAL}")
            with disk_named(partial[-1]), partial[-1].open("wb") as file:
                for line in part:
                    file.write(line)
                    n_requests += 1
        if not partial:
            return ()
        names = [
            f"round-{number:03}.jsonl" if len(partial) == 1 else f"{path.stem}.jsonl" for path in partial
        ]
        for path, name in zip(partial, names, strict=True):
            put_in_place(path, self._folder / name)
        # Only this line makes it a round: a process killed before it leaves files that the next one replaces.
        one = Round(number, tuple(names), n_requests, tuple(sorted(self._server.left_out)))
        append_lines(self._folder / _ROUNDS, [json.dumps(asdict(one)).encode()])
        return names

    def _line(self, key: str, request: Request) -> bytes:
        body = self._server.body(request)
        line = json.dumps({"custom_id": key, "method": "POST", "url": BATCH_URL, "body": body})
        return line.encode() + b"\n"

    async def close(self) -> None:
        """Do nothing."""


def _split(lines: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    """The lines in parts that keep the limits of one file. Each part must be read before the next."""
    held = next(lines, None)

    def part() -> Iterator[bytes]:
        nonlocal held
        n = size = 0
        while held is not None and n < MOST_REQUESTS and (not n or size + len(held) <= MOST_BYTES):
            n, size = n + 1, size + len(held)
            yield held
            held = next(lines, None)

    while held is not None:
        yield part()


def _what_to_do(n: int, number: int, files: Sequence[tuple[Path, int]], run_id: int) -> str:
    """The message of a run that waits: a sentence, then what to do, one line each."""
    named = [f"- Have the requests of {path} answered ({n:,} wait)" for path, n in files]
    then = f"- Then read the answers, all or some: {COMMAND} runs answers {run_id} FILE"
    return "\n".join([f"Waiting for answers to {counted(n, 'request')}, round {number}.", *named, then])


def batch_files(store: Store, run_id: int, model: ModelSettings) -> Collecting:
    """The client of a run whose requests go to batch files. It has the identity of the server that the batch is for."""
    # Imported lazily: its package takes half a second to load.
    from core.llm.openai import OpenAIServer

    server = OpenAIServer(model.base_url, model.model, how=model)
    folder = make_run_folder(store, run_id)
    answers = Answers(folder, failed_calls(store, run_id, NOT_KEPT), server.hear)
    return Collecting(server, BatchFiles(folder, run_id, server, answers))
