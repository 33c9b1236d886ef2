"""The real app as a child process that tells what it holds: objects by type, and blocks of memory."""

import gc
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path

from helpers.processes.app_server import SERVERS, AppServer, run_streamlit


@dataclass(frozen=True)
class Held:
    """What a process holds after it has collected its garbage."""

    blocks: int
    """Pieces of memory that Python has given to objects."""
    objects: Counter[str]
    """Type -> number of objects that can hold others."""

    @property
    def n_objects(self) -> int:
        return self.objects.total()

    def since(self, before: "Held") -> str:
        """What was added, for a test to show."""
        grown = (self.objects - before.objects).most_common(12)
        return f"{self.blocks - before.blocks} blocks, {self.n_objects - before.n_objects} objects, of them {grown}"


def _run_counted(connection: Connection, database: Path, port: int, environment: dict[str, str]) -> None:
    threading.Thread(target=_answer, args=(connection,), daemon=True).start()
    run_streamlit(database, port, environment)


def _answer(connection: Connection) -> None:
    while connection.recv():
        connection.send(_at_rest())


def _at_rest() -> Held:
    """Count when nothing is under way: a run of a page ends a little after its last message."""
    before = _counted()
    for _ in range(50):
        time.sleep(0.1)
        now = _counted()
        if now.blocks >= before.blocks:
            break
        before = now
    return before


def _counted() -> Held:
    gc.collect()
    blocks = sys.getallocatedblocks()
    objects = Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
    return Held(blocks, objects)


class CountedApp(AppServer):
    """As AppServer."""

    def spawned(self) -> BaseProcess:
        self._asking, answering = Pipe()
        arguments = (answering, self.database, self.port, dict(os.environ))
        return SERVERS.Process(target=_run_counted, args=arguments)

    def held(self) -> Held:
        """Collect garbage and count."""
        self._asking.send(True)
        counted: Held = self._asking.recv()
        return counted


@contextmanager
def counted_running(database: Path) -> Iterator[CountedApp]:
    """Start the app, and end it."""
    app = CountedApp(database)
    app.start()
    try:
        yield app
    finally:
        app.stop()
