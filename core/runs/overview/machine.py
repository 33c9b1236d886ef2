"""Memory of processes and of this machine, and which processes use a database. Only Linux reports them."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.runs.progress import process_fields
from core.schema.runs import Run

NOT_REPORTED = "this system does not report the memory of processes; Linux does, in /proc"
_PROC = Path("/proc")
_PARENT, _PAGES = 1, 21
"""Places in `process_fields`: the parent, and the pages in memory."""


@dataclass(frozen=True)
class Process:
    """A process that has the database open."""

    number: int
    does: Literal["app", "run", "command"]
    run_id: int | None
    """Of a process that works on a run."""
    n_bytes: int
    """Memory with that of its child processes; pages that several share count for each."""


@dataclass(frozen=True)
class Memory:
    """Memory of this machine, or of the container that the process runs in, in bytes."""

    total: int
    available: int


class Processes:
    """All processes of this machine at one moment."""

    def __init__(self) -> None:
        self._pages: dict[int, int] = {}
        self._children: dict[int, list[int]] = {}
        for folder in _PROC.glob("[0-9]*"):
            with suppress(OSError, ValueError, IndexError):
                number = int(folder.name)
                fields = process_fields(number)
                self._pages[number] = int(fields[_PAGES])
                self._children.setdefault(int(fields[_PARENT]), []).append(number)

    def memory_of(self, process: int) -> int | None:
        """Bytes in memory of a process and its descendants; None: it is gone, or see NOT_REPORTED."""
        if process not in self._pages:
            return None
        known, waiting = set[int](), [process]
        while waiting:
            one = waiting.pop()
            if one not in known:
                known.add(one)
                waiting += self._children.get(one, [])
        return sum(self._pages[one] for one in known) * os.sysconf("SC_PAGE_SIZE")

    def using(self, database: Path, working: Sequence[Run]) -> list[Process]:
        """The processes that have the database open, this one among them; those of other users cannot be seen.

        working: the runs with a process, which is listed too.
        """
        runs = {run.process: run.run_id for run in working if run.process is not None}
        path, found = str(database.resolve()), []
        for number in sorted(self._pages):
            if number in runs or number == os.getpid() or _has_open(number, path):
                does: Literal["app", "run", "command"] = (
                    "run" if number in runs else "app" if _is_app(number) else "command"
                )
                found.append(Process(number, does, runs.get(number), self.memory_of(number) or 0))
        return found


def _has_open(process: int, path: str) -> bool:
    try:
        for one in os.scandir(_PROC / str(process) / "fd"):
            with suppress(OSError):
                if os.readlink(one.path) == path:
                    return True
    except OSError:  # it is gone, or of another user
        pass
    return False


def _is_app(process: int) -> bool:
    with suppress(OSError):
        words = (_PROC / str(process) / "cmdline").read_bytes().split(b"\0")
        return b"streamlit" in words or any(word.endswith(b"/streamlit") for word in words[:2])
    return False


def memory_of_machine() -> Memory | None:
    """Memory in all and available; None: see NOT_REPORTED. A smaller limit of the container replaces the machine's."""
    try:
        lines = (line.split() for line in (_PROC / "meminfo").read_text("ascii").splitlines())
        kilobytes: Mapping[str, int] = {words[0].rstrip(":"): int(words[1]) for words in lines}
        found = Memory(kilobytes["MemTotal"] * 1024, kilobytes["MemAvailable"] * 1024)
    except (OSError, ValueError, KeyError, IndexError):
        return None
    limits = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):  # no limit, or another version of cgroups
        limit, used = (int((limits / name).read_text("ascii")) for name in ("memory.max", "memory.current"))
        if limit < found.total:
            return Memory(limit, min(found.available, max(0, limit - used)))
    return found
