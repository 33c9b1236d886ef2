"""`serve --processes N` with its proxy, as a user starts it; tests end single processes of it, and read their CPU time."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.processes.app_server import ROOT

_PATIENCE = 180.0


def needs(proxy: str) -> None:
    """Skip the test where the proxy is not installed."""
    if shutil.which(proxy, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") is None:
        pytest.skip(f"needs {proxy} (on Debian: apt install {proxy})")


def free_ports(n: int) -> int:
    """The first of n free ports in a row."""
    draw = random.Random()
    while True:
        first = draw.randrange(20_000, 30_000)
        probes = [socket.socket() for _ in range(n)]
        try:
            for number, probe in enumerate(probes):
                probe.bind(("127.0.0.1", first + number))
            return first
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()


class SeveralApps:
    """The command, its app processes and its proxy."""

    def __init__(self, database: Path, processes: int, proxy: str = "haproxy") -> None:
        self.database, self.processes, self.proxy = database, processes, proxy
        self.port = free_ports(processes + 1)
        self._command: subprocess.Popen[bytes] | None = None
        self._of_the_dead = 0.0

    @property
    def url(self) -> str:
        """The proxy's address."""
        return f"http://127.0.0.1:{self.port}"

    def url_of(self, number: int) -> str:
        """The address of the app process of that number, from 1, past the proxy."""
        return f"http://127.0.0.1:{self.port + number}"

    def start(self) -> "SeveralApps":
        command = [sys.executable, "-m", "core", "serve", "--db", str(self.database)]
        options = ["--processes", str(self.processes), "--proxy", self.proxy, "--server.port", str(self.port)]
        with self._log.open("wb") as log:
            self._command = subprocess.Popen([*command, *options], cwd=ROOT, stdout=log, stderr=log)
        until = time.monotonic() + _PATIENCE
        while "Ctrl-C ends them" not in self.log() or not _listens(self.port):
            if self._command.poll() is not None or time.monotonic() > until:
                self.stop()
                raise RuntimeError(f"the app did not start: {self.log()[-2000:]}")
            time.sleep(0.1)
        return self

    def stop(self) -> int:
        """End it as a service manager does; returns the exit status."""
        assert self._command is not None
        self._command.terminate()
        try:
            return self._command.wait(60)
        except subprocess.TimeoutExpired:
            self._command.kill()  # its app processes and its proxy end with it
            raise

    def pid(self, number: int) -> int | None:
        """The id of the app process of that number, from 1; of the proxy for 0. None: it is being started again."""
        assert self._command is not None
        mark = f"--server.port={self.port + number}" if number else f"{self.proxy}.conf"
        for child in _children(self._command.pid):
            if mark in _read(child, "cmdline").replace("\0", " "):
                return child
        return None

    def kill(self, number: int) -> None:
        """Kill -9 of one app process."""
        pid = self.pid(number)
        assert pid is not None
        self._of_the_dead += _seconds(pid)
        os.kill(pid, signal.SIGKILL)

    def processor_seconds(self) -> float:
        """User and system time that the app processes have taken so far, one that was killed included (Linux)."""
        living = [pid for number in range(1, self.processes + 1) if (pid := self.pid(number))]
        return self._of_the_dead + sum(map(_seconds, living))

    def proxy_seconds(self) -> float:
        """The same of the proxy."""
        proxy = self.pid(0)
        return sum(map(_seconds, [proxy, *_children(proxy)])) if proxy else 0.0

    def memory_mib(self) -> float:
        """Resident memory of all app processes together."""
        living = [pid for number in range(1, self.processes + 1) if (pid := self.pid(number))]
        return sum(int(_read(pid, "status").split("VmRSS:")[1].split()[0]) for pid in living) / 1024

    def log(self) -> str:
        return self._log.read_text("utf-8", errors="replace")

    @property
    def _log(self) -> Path:
        return self.database.with_suffix(".log")


@contextmanager
def several_running(database: Path, processes: int, proxy: str = "haproxy") -> Iterator[SeveralApps]:
    apps = SeveralApps(database, processes, proxy).start()
    try:
        yield apps
    finally:
        apps.stop()


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text("utf-8", errors="replace")
    except OSError:  # it has just ended
        return ""


def _children(pid: int) -> list[int]:
    return [int(child) for child in _read(pid, f"task/{pid}/children").split()]


def _seconds(pid: int) -> float:
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
