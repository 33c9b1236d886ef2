"""A run's process that dies by kill -9 when it has saved so many items: always in the middle, on any machine.

A watcher beside the process would have to be faster than its work. So the process ends itself, inside the
transaction in which it would save the next items: what it had worked out is not kept, as with any kill.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from core.store import open_store
from core.store.runs import item_states

ROOT = Path(__file__).resolve().parents[3]
DYING = """
import os, runpy, signal, sys
from core.runs.working import worker

kept, saved, save = int(sys.argv.pop(1)), 0, worker.save_items

def save_or_die(store, run_id, items, owner):
    global saved
    if saved >= kept:
        os.kill(os.getpid(), signal.SIGKILL)
    save(store, run_id, items, owner)
    saved += len(items)

worker.save_items = save_or_die
runpy.run_module("core", run_name="__main__", alter_sys=True)
"""


def kill_in_the_middle(
    arguments: Sequence[str],
    database: Path,
    kept: int,
    n_items: int,
    before: str = "",
    python: Path | str = sys.executable,
) -> None:
    """Run a command of core on the database's first run until it has saved `kept` of its items or a batch more.

    before: code that the process runs first; python: that of the environment to run in.

    Fails unless the process died of it, left no other behind, and has saved some items and not others.
    """
    told = database.with_suffix(".stderr")  # not a pipe, which its helpers would keep open
    with told.open("w") as stderr:
        process = subprocess.Popen(
            [python, "-c", before + DYING, str(kept), *arguments],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,  # so that what it had started is found after its death
        )
    assert process.wait(timeout=300) == -signal.SIGKILL, told.read_text()
    until = time.monotonic() + 120
    while left := alive_in(process.pid):
        assert time.monotonic() < until, f"processes of a run that was killed stay behind: {left}"
        time.sleep(0.05)
    with open_store(database) as store:
        assert kept <= len(item_states(store, 1)) < n_items


def run_to_the_end(arguments: Sequence[str], python: Path | str = sys.executable) -> None:
    """The same command in a process that nobody kills."""
    ended = subprocess.run(
        [python, "-m", "core", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def alive_in(session: int) -> list[int]:
    """Processes of a session that still run, as the system has them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, of_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):  # ended while we looked
            continue
        if int(of_session) == session and state != "Z":
            found.append(int(folder.name))
    return found
