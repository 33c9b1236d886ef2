"""Cancel and resume with real processes: a run ends soon, or shows that it still lives, and no second one joins it."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Body, Said
from helpers.texts.judge_runs import judging_server, settings, texts

from core.cli import main
from core.errors import InputError, NotAllowed
from core.runs import progress
from core.runs.asked import Running
from core.runs.jobs import RunAtHand
from core.runs.path import create, resume
from core.runs.progress import is_worked_on, progress_of, state_of, why_not_now
from core.runs.working.worker import work
from core.store import Store
from core.store.runs import ask_to_stop, get_run, item_states
from core.store.studies import now_utc

ROOT = Path(__file__).parents[2]
N_ITEMS = 12
CHILD = """
import asyncio, pathlib, runpy, sys, time
from core.runs import jobs
from core.runs.working import worker

how, gate = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
worker.BEAT_SECONDS = 0.05
worker.GRACE_SECONDS = 0.3
close = jobs.AskingJob.close

async def close_at_the_gate(self):
    while not gate.exists():
        await asyncio.sleep(0.02)
    await close(self)

async def load(self):
    # A thread cannot be interrupted: whoever is cancelled waits for its end, as an engine does.
    thread = asyncio.get_running_loop().run_in_executor(None, time.sleep, 600)
    try:
        await asyncio.shield(thread)
    except asyncio.CancelledError:
        await thread
        raise

if how == "close":
    jobs.AskingJob.close = close_at_the_gate
if how == "load":
    jobs.AskingJob.start = load
runpy.run_module("core", run_name="__main__", alter_sys=True)
"""
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(store: Store, tmp_path: Path) -> Iterator[Start]:
    """Starts `runs work` on the first run in a process of its own, which is gone after the test."""
    begun: list[subprocess.Popen[str]] = []

    def started(how: str, *more: str) -> "subprocess.Popen[str]":
        arguments = [how, str(tmp_path / "gate"), "runs", "work", "1", "--db", str(store.path), *more]
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, *arguments], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        begun.append(child)
        return child

    yield started
    for child in begun:
        child.kill()
        child.communicate()


@pytest.fixture
def run(store: Store) -> Iterator[RunAtHand]:
    """A run whose server takes 30 ms a request."""
    with judging_server(lambda body, n: slowly(body)) as server:
        made, _ = create(
            store,
            texts(N_ITEMS),
            "t.jsonl",
            settings("rubric", server.url),
            Running(concurrency=2, retries=0),
        )
        yield made


def slowly(body: Body) -> Said:
    return Said(answer(body), delay=0.03)


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    latest = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < latest
        time.sleep(0.02)


def state(run: RunAtHand) -> str:
    return state_of(run.now().run)


def finish(run: RunAtHand) -> None:
    """Resume and work to the end, in this process."""
    resume(run, None, None)
    assert work(run.store, 1, lambda claimed: run.path.job(run.claimed(claimed))).state == "done"
    assert len(item_states(run.store, 1)) == N_ITEMS


@pytest.mark.slow
def test_a_process_that_still_closes_its_model_is_seen_and_nobody_joins_it(
    run: RunAtHand, start: Start, tmp_path: Path
) -> None:
    child = start("close")
    until(lambda: len(item_states(run.store, 1)) >= 2)
    ask_to_stop(run.store, 1)
    until(lambda: state(run) == "cancelling" and run.run.process == child.pid)
    asked = time.monotonic()
    until(lambda: time.monotonic() - asked > 1.0)  # far beyond its grace: it is not alone, so nobody ends it
    assert state(run) == "cancelling"
    beat = run.run.beat_utc
    until(lambda: run.now().run.beat_utc != beat)
    assert not progress_of(run.store, 1).can_resume
    with pytest.raises(InputError, match=str(child.pid)):
        resume(run, None, None)
    assert get_run(run.store, 1).cancel, "the wish to stop stays"
    with pytest.raises(NotAllowed, match=str(child.pid)):
        work(run.store, 1, lambda claimed: run.path.job(run.claimed(claimed)))
    (tmp_path / "gate").touch()
    assert child.wait(10) == 0
    assert child.stderr is not None
    assert str(child.pid) in child.stderr.read(), "a terminal was told that the process still lives"
    assert state(run) == "cancelled"
    assert 2 <= len(item_states(run.store, 1)) < N_ITEMS
    finish(run)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["close", "load"])
def test_a_process_of_its_own_ends_in_time_whatever_hangs(how: str, run: RunAtHand, start: Start) -> None:
    child = start(how, "--alone")
    if how == "close":
        until(lambda: len(item_states(run.store, 1)) >= 2)
    else:
        until(lambda: progress_of(run.store, 1).starting_seconds is not None)
    ask_to_stop(run.store, 1)
    assert child.wait(5) == 0
    ended = get_run(run.store, 1)
    assert (ended.state, ended.process, ended.cancel) == ("cancelled", None, False)
    assert (ended.start_seconds is None) == (how == "load")
    finish(run)


@pytest.mark.slow
def test_a_cancel_that_nobody_lived_to_hear_is_taken_back_by_resuming(run: RunAtHand, start: Start) -> None:
    child = start("close")
    until(lambda: len(item_states(run.store, 1)) >= 2)
    ask_to_stop(run.store, 1)
    until(lambda: state(run) == "cancelling")
    child.kill()
    # Dead, though its parent has not collected it.
    until(lambda: state(run) == "interrupted")
    assert run.now().run.cancel
    finish(run)


@pytest.mark.slow
def test_a_process_that_is_silent_but_lives_keeps_its_run(
    run: RunAtHand, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "STALE_SECONDS", 0.3)
    child = start("work")
    until(lambda: len(item_states(run.store, 1)) >= 1)
    child.send_signal(signal.SIGSTOP)
    until(lambda: progress_of(run.store, 1).silent_seconds is not None)
    assert state(run) == "running"
    assert f"kill -9 {child.pid}" in (why_not_now(run.now().run) or "")
    with pytest.raises(NotAllowed, match=str(child.pid)):
        work(run.store, 1, lambda claimed: run.path.job(run.claimed(claimed)))
    child.kill()
    until(lambda: state(run) == "interrupted")
    finish(run)


def test_a_number_that_another_process_has_by_now_is_no_sign_of_life(run: RunAtHand) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        with run.store.writing():
            run.store.table("run").update(
                1, {"state": "running", "process": other.pid, "started_utc": now_utc(-900)}
            )
        for silent, worked_on in ((0, True), (600, False)):
            with run.store.writing():
                run.store.table("run").update(1, {"beat_utc": now_utc(-silent)})
            assert is_worked_on(get_run(run.store, 1)) == worked_on, "it is younger than the last report"
        other.kill()
    finish(run)


def test_the_command_waits_until_the_process_is_gone_or_says_that_it_still_runs(
    run: RunAtHand,
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("core.cli.runs.processing.CANCEL_SECONDS", 0.5)
    child = start("close")
    until(lambda: len(item_states(run.store, 1)) >= 2)
    cancel = ["runs", "cancel", "1", "--db", str(run.store.path)]
    assert main(cancel) == 0
    assert f"process {child.pid}" in capsys.readouterr().out
    (tmp_path / "gate").touch()
    monkeypatch.setattr("core.cli.runs.processing.CANCEL_SECONDS", 10.0)
    assert main(cancel) == 0
    assert capsys.readouterr().out.startswith("Run 1 is cancelled")
    assert child.wait(10) == 0
