"""Several app processes and their proxy: started together, started again when one dies, and ended together."""

import ctypes
import http.client
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from core.errors import InputError

_LOOK_SECONDS = 0.2
SOON_SECONDS = 10.0
"""A process that ends earlier after its start has failed to start."""
_MOST_FAILURES = 3
"""Failures in a row of a process that has never run, until all is given up."""
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 2.0, 30.0
"""Until a process is started again; doubled with each failure. The proxy notices the death meanwhile: the port is open long
before a new process answers at it, and browsers would be sent there."""
_PATIENCE_SECONDS = 15.0
"""From the request to end until a process is killed."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


@dataclass(frozen=True)
class Part:
    """A process that is to run all the time. name: as messages write it, e.g. `app process 2 (port 8503)`."""

    name: str
    command: Sequence[str]
    port: int
    environment: Mapping[str, str] | None = None
    folder: Path | None = None


class _Watched:
    """A part with its process, and what became of earlier ones."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.failures, self.has_run = 0, False
        self._due = 0.0
        self._begin()

    def _begin(self) -> None:
        self.process: subprocess.Popen[bytes] | None = subprocess.Popen(
            self.part.command,
            cwd=self.part.folder,
            env=self.part.environment,
            stdin=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C reaches this process alone, which ends the others in order
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )
        self._begun = time.monotonic()

    def look(self, say: Callable[[str], None]) -> None:
        """Start the process again if it died. Raises InputError if it cannot start at all."""
        now = time.monotonic()
        if self.process is None:
            if now >= self._due:
                self._begin()
            return
        status = self.process.poll()
        if status is None:
            if now - self._begun > SOON_SECONDS:
                self.failures, self.has_run = 0, True
            return
        self.process = None
        self.failures += 1
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        if not self.has_run and self.failures >= _MOST_FAILURES:
            raise InputError(f"The {self.part.name} ended {how} at each start. Its messages are above.")
        pause = min(_PAUSE_SECONDS * 2 ** (self.failures - 1), _LONGEST_PAUSE_SECONDS)
        self._due = now + pause
        say(f"The {self.part.name} ended {how}. It is started again in {pause:.0f} s.")


def check_free(address: str, door: int | None, processes: Sequence[int]) -> None:
    """Raise InputError unless all ports can be used. address, door: where the proxy listens; None: none is started."""
    wanted = [(address, door)] if door is not None else []
    problems = []
    for host, port in [*wanted, *(("127.0.0.1", port) for port in processes)]:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as problem:
                problems.append(f"{host}:{port}: {problem.strerror}")
    if problems:
        raise InputError(
            "These ports are not free. Stop the program that uses them, or choose other ports by --server.port.",
            problems,
        )


def keep_running(
    apps: Sequence[Part], proxy: Part | None, say: Callable[[str], None], ready: Callable[[], None]
) -> None:
    """Run all parts until SIGTERM, SIGHUP or Ctrl-C, the proxy from when all apps answer. `ready` is called then.

    Raises InputError if a part cannot start, and KeyboardInterrupt after Ctrl-C, when all have ended.
    """
    with _collecting_signals() as received:
        watched: list[_Watched] = []
        try:
            for part in apps:
                watched.append(_Watched(part))
            silent = {part.port for part in apps}
            while not received:
                for one in watched:
                    one.look(say)
                if silent:
                    silent = {port for port in silent if not is_healthy(port)}
                    if not silent:
                        watched += [_Watched(part) for part in (proxy,) if part is not None]
                        ready()
                time.sleep(_LOOK_SECONDS)
        except FileNotFoundError as problem:
            raise InputError(f"A process could not be started ({problem}).") from problem
        finally:
            # The proxy first: a browser then waits for the address, and is not sent from process to process.
            for one in reversed(watched):
                _ask_to_end(one)
            for one in watched:
                _end(one)
    if signal.SIGINT in received:
        raise KeyboardInterrupt


def is_healthy(port: int) -> bool:
    """Whether an app process answers at a port of this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def _collecting_signals() -> Iterator[list[int]]:
    """Collect signals that ask to end, instead of ending at once."""
    received: list[int] = []

    def keep(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    before = {one: signal.signal(one, keep) for one in _SIGNALS}
    try:
        yield received
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _ask_to_end(one: _Watched) -> None:
    if one.process is not None and one.process.poll() is None:
        one.process.terminate()


def _end(one: _Watched) -> None:
    if one.process is None:
        return
    try:
        one.process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        one.process.kill()
        one.process.wait()


_C = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _end_with_parent() -> None:
    """In the new process: end when the one that started it is killed, so that no port stays taken."""
    assert _C is not None
    _C.prctl(_DIE_WITH_PARENT, signal.SIGTERM, 0, 0, 0)
