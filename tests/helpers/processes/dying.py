"""A step that is killed at each of its critical moments in turn: before each file is made or deleted, before and after it is
renamed or linked, before it is brought to disk, and before a transaction begins or ends.

Delays hit such a moment by luck. Here a forked process counts its moments and kills itself before the k-th.
"""

import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from core.store import connection

EVENTS = {
    *("os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.truncate"),
    *("shutil.rmtree", "shutil.copyfile", "fcntl.flock"),
}
TRANSACTIONS = ("BEGIN", "COMMIT", "ROLLBACK", "VACUUM", "PRAGMA WAL_CHECKPOINT")
_FORK = multiprocessing.get_context("fork")


def _watch(passed: Callable[[], None]) -> None:
    """Call `passed` before each critical moment of this process, on the connections that it opens from now on."""
    sync, connect = os.fsync, sqlite3.connect

    def fsync(handle: int) -> None:
        passed()
        sync(handle)

    def statement(sql: str) -> None:
        if sql.lstrip().upper().startswith(TRANSACTIONS):
            passed()

    def connected(*given: Any, **options: Any) -> sqlite3.Connection:
        found = connect(*given, **options)
        found.set_trace_callback(statement)
        return found

    def event(name: str, given: tuple[Any, ...]) -> None:
        if name in EVENTS or (name == "open" and _writes(given[2])):
            passed()

    def then(step: Callable[..., None]) -> Callable[..., None]:
        def stepped(*given: Any, **options: Any) -> None:
            step(*given, **options)
            passed()  # whatever follows may be out of Python's sight, such as the commit of a copied database

        return stepped

    os.fsync, sqlite3.connect = fsync, connected
    os.rename, os.replace, os.link = then(os.rename), then(os.replace), then(os.link)
    sys.addaudithook(event)


def _writes(flags: object) -> bool:
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def _live(step: Callable[[], object], last: int, count: "Synchronized[int]") -> None:
    def passed() -> None:
        count.value += 1
        if count.value == last:
            os.kill(os.getpid(), signal.SIGKILL)

    connection._good.clear()  # the databases of another process
    _watch(passed)
    try:
        step()
        passed()  # before anybody hears that it has ended
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def run_until(step: Callable[[], object], last: int = 0) -> int:
    """Run a step in a process that dies before its moment of this number, from 1; 0: it lives to the end.

    Returns the number of moments that it had. Fails if the step fails.
    """
    count = _FORK.Value("i", 0)
    process = _FORK.Process(target=_live, args=(step, last, count))
    process.start()
    process.join(120)
    assert process.exitcode == (-signal.SIGKILL if last else 0), f"ended with {process.exitcode}"
    return int(count.value)


def each_death(prepare: Callable[[], object], step: Callable[[], object], at_most: int) -> Iterator[int]:
    """Kill a step at each of its moments, or at so many of them drawn with a fixed seed; yields after each death.

    prepare: makes the state in which the step begins, before each.
    """
    prepare()
    moments = range(1, run_until(step) + 1)
    for moment in moments if len(moments) <= at_most else sorted(random.Random(52).sample(moments, at_most)):
        prepare()
        run_until(step, moment)
        yield moment
