"""Working on a run: what is saved, what stops it, what a resumed run does again."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.errors import InputError, NotAllowed
from core.llm.client import Cache, Call, Reply, Request
from core.runs.jobs import Outcome
from core.runs.progress import progress_of
from core.runs.working.worker import BEAT_SECONDS, MOST_IN_A_ROW, work
from core.schema.runs import Run
from core.store import Store, open_store
from core.store.kept import step_costs
from core.store.runs import ask_to_stop, claim_run, get_run, insert_run, item_states, run_item

DONE = Outcome("done", {"text": "ß"})


@dataclass
class CountingJob:
    """A job whose items do what `each` says; remembers what it was asked."""

    n: int
    each: Callable[[int, Cache], Outcome] = lambda position, cache: DONE
    seconds: float = 0.0
    width: int = 4
    asked: list[int] = field(default_factory=list)
    closed: int = 0
    at_once: int = 0
    most_at_once: int = 0

    @property
    def item_ids(self) -> tuple[str, ...]:
        return tuple(f"q{number}" for number in range(self.n))

    async def start(self) -> None:
        return None

    async def do(self, position: int, cache: Cache) -> Outcome:
        self.asked.append(position)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
            return self.each(position, cache)
        finally:
            self.at_once -= 1

    async def close(self) -> None:
        self.closed += 1


def new_run(store: Store, n: int = 10, limit: int | None = None) -> Run:
    run = Run(0, "factual", "waiting", {}, {}, "q.csv", "00", n, limit, "", "0")
    return insert_run(store, run, b"data")


def test_every_item_is_worked_on_once_side_by_side_and_saved(store: Store) -> None:
    run, job = new_run(store), CountingJob(10, seconds=0.01)
    ended = work(store, run.run_id, lambda _: job)
    assert (ended.state, ended.message, ended.process) == ("done", "", None)
    assert sorted(job.asked) == list(range(10))
    assert job.most_at_once == 4
    assert job.closed == 1
    found = run_item(store, run.run_id, 3)
    assert found is not None
    assert (found.item_id, found.state, found.result) == ("q3", "done", {"text": "ß"})


def test_an_exception_costs_one_item_and_is_counted(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    def each(position: int, cache: Cache) -> Outcome:
        if position == 2:
            raise ZeroDivisionError("by nothing")
        return DONE

    run = new_run(store)
    work(store, run.run_id, lambda _: CountingJob(10, each))
    progress = progress_of(store, run.run_id)
    assert (progress.state, progress.n_done, progress.n_failed) == ("done", 9, 1)
    assert progress.failures == {("internal", "ZeroDivisionError"): 1}
    assert "by nothing" in capsys.readouterr().err  # the run's log has the traceback


def test_the_first_items_only_and_later_the_rest(store: Store) -> None:
    run = new_run(store, limit=3)
    first = CountingJob(10)
    work(store, run.run_id, lambda _: first)
    assert sorted(first.asked) == [0, 1, 2]
    assert not progress_of(store, run.run_id).can_resume
    store.table("run").update(run.run_id, {"limit": None})
    store._database.conn.commit()
    assert progress_of(store, run.run_id).can_resume
    rest = CountingJob(10)
    work(store, run.run_id, lambda _: rest)
    assert sorted(rest.asked) == list(range(3, 10))


def test_what_failed_for_good_is_left_and_what_the_server_failed_is_tried_again(store: Store) -> None:
    def each(position: int, cache: Cache) -> Outcome:
        if position == 1:
            return Outcome("failed", {}, (("rank", "invalid"),))
        return Outcome("again", {}, (("rank", "timeout"),)) if position == 2 else DONE

    run = new_run(store, 4)
    work(store, run.run_id, lambda _: CountingJob(4, each))
    progress = progress_of(store, run.run_id)
    assert (progress.n_done, progress.n_failed, progress.n_again, progress.can_resume) == (2, 1, 1, True)
    assert (progress.state, "timeout" in progress.run.message) == ("stopped", True)
    again = CountingJob(4)
    work(store, run.run_id, lambda _: again)
    assert again.asked == [2]
    assert progress_of(store, run.run_id).state == "done"
    assert progress_of(store, run.run_id).failures == {("rank", "invalid"): 1}


def test_a_server_that_went_away_stops_the_run_instead_of_failing_every_item(store: Store) -> None:
    run = new_run(store, 500)
    job = CountingJob(500, lambda position, cache: Outcome("again", {}, (("edit", "unreachable"),)))
    ended = work(store, run.run_id, lambda _: job)
    assert ended.state == "stopped"
    assert "unreachable" in ended.message
    assert MOST_IN_A_ROW <= len(job.asked) <= MOST_IN_A_ROW + job.width
    assert progress_of(store, run.run_id).can_resume


def test_cancelling_from_another_connection_stops_soon_and_resuming_does_the_rest(
    store: Store, tmp_path: Path
) -> None:
    run, job = new_run(store, 2_000), CountingJob(2_000, seconds=0.01)

    def cancel_when_it_is_going() -> None:
        with open_store(tmp_path / "assay.db") as other:
            while len(item_states(other, run.run_id)) < 8:
                time.sleep(0.01)
            ask_to_stop(other, run.run_id)

    canceller = threading.Thread(target=cancel_when_it_is_going)
    canceller.start()
    ended = work(store, run.run_id, lambda _: job)
    canceller.join()
    assert ended.state == "cancelled"
    done = set(item_states(store, run.run_id))
    assert 8 <= len(done) < 2_000
    rest = CountingJob(2_000, width=50)
    assert work(store, run.run_id, lambda _: rest).state == "done"
    assert set(rest.asked) == set(range(2_000)) - done


def test_two_processes_never_work_on_one_run(store: Store) -> None:
    run = new_run(store)
    claim_run(store, run.run_id, os.getppid())  # alive, and has just said so
    with pytest.raises(NotAllowed, match=str(os.getppid())):
        work(store, run.run_id, lambda _: CountingJob(10))
    with store.writing():  # its number is another's by now, who is younger than the last report
        store.table("run").update(run.run_id, {"beat_utc": "2001-01-01T00:00:00.000+00:00"})
    assert progress_of(store, run.run_id).state == "interrupted"
    assert work(store, run.run_id, lambda _: CountingJob(10)).state == "done"


def test_a_process_that_was_taken_for_dead_writes_no_more_once_another_took_over(
    store: Store, tmp_path: Path
) -> None:
    """Such as one that a laptop's sleep had stopped: its claim is gone, whatever it believes."""
    run = new_run(store, 50)
    job = CountingJob(50, seconds=0.02, width=1)

    def take_over() -> None:
        with open_store(tmp_path / "assay.db") as other:
            while len(item_states(other, run.run_id)) < 3:
                time.sleep(0.01)
            claim_run(other, run.run_id, os.getppid())

    other = threading.Thread(target=take_over)
    other.start()
    with pytest.raises(NotAllowed, match="taken over"):
        work(store, run.run_id, lambda _: job)
    other.join()
    after = get_run(store, run.run_id)
    assert (after.state, after.process) == ("running", os.getppid()), "it is the other's, and goes on"
    assert len(item_states(store, run.run_id)) < 10


def test_work_that_never_waits_does_not_stop_the_beat(store: Store) -> None:
    """Rules are busy for seconds on a long text: the run is alive all the same, and hears the cancel after it."""
    seen: list[bool] = []

    def each(position: int, cache: Cache) -> Outcome:
        before = get_run(store, run.run_id).beat_utc
        time.sleep(2.5 * BEAT_SECONDS)
        seen.append(get_run(store, run.run_id).beat_utc != before)
        return DONE

    run = new_run(store, 1)
    work(store, run.run_id, lambda _: CountingJob(1, each))
    assert seen == [True]


def test_a_run_that_was_cancelled_before_it_began_does_nothing(store: Store) -> None:
    run, job = new_run(store), CountingJob(10)
    ask_to_stop(store, run.run_id)
    assert work(store, run.run_id, lambda _: job).state == "cancelled"
    assert job.asked == []
    assert work(store, run.run_id, lambda _: job).state == "done", "starting it again is a new wish"


def test_a_job_that_cannot_be_made_or_started_leaves_a_run_that_says_why(store: Store) -> None:
    class Unstartable(CountingJob):
        async def start(self) -> None:
            raise InputError("no such model: tiny")

    for make in (
        lambda _: Unstartable(10),
        lambda _: (_ for _ in ()).throw(InputError("no such model: tiny")),
    ):
        run = new_run(store)
        with pytest.raises(InputError):
            work(store, run.run_id, make)
        after = get_run(store, run.run_id)
        assert (after.state, after.message) == ("stopped", "no such model: tiny")


ASKED = Request("rank", ())


def test_calls_are_counted_by_step_and_a_resumed_item_is_not_charged_twice(store: Store) -> None:
    call = Call("k1", "rank", Reply("[]", None, "", 10, 2, 0.5), cached=False, request=ASKED)

    def each(position: int, cache: Cache) -> Outcome:
        known = cache.find("k1")
        cache.record(Call("k1", "rank", known, cached=True, request=ASKED) if known else call)
        cache.record(
            Call(
                f"lost{position}",
                "edit",
                Reply(None, "timeout", "", seconds=1.0),
                cached=False,
                request=ASKED,
            )
        )
        return Outcome("again", {}, (("edit", "timeout"),))

    run = new_run(store, 2)
    for _ in range(2):
        work(store, run.run_id, lambda _: CountingJob(2, each, width=1))
    rank, edit = step_costs(store, run.run_id)
    assert (rank.step, rank.calls, rank.cached, rank.input_tokens, rank.output_tokens) == (
        "rank",
        1,
        1,
        10,
        2,
    )
    assert (edit.calls, edit.unusable, edit.input_tokens, edit.seconds) == (4, 4, None, 4.0)
