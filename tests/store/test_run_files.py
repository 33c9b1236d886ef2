"""Where the file of a run lies: no polling reads it, and time worked is kept."""

from pathlib import Path

import pytest
from helpers.texts.factories import waiting_run

from core.runs.progress import progress_of, wall_seconds
from core.schema.runs import RunItem
from core.store import Store
from core.store.runs import (
    beat,
    claim_run,
    delete_run,
    finish_run,
    get_run,
    item_counts,
    list_runs,
    n_finished_since,
    run_data,
    save_items,
)
from core.store.studies import now_utc

FILES = (b"\x00short", b"text " * 50_000, b"")
IO = Path("/proc/self/io")


def item(position: int, *failures: tuple[str, str]) -> RunItem:
    return RunItem(position, f"q{position}", "failed" if failures else "done", {"outputs": []}, failures)


def bytes_moved() -> int:
    """By this process's reads and writes so far."""
    counted = dict(line.split(": ") for line in IO.read_text().splitlines())
    return int(counted["rchar"]) + int(counted["wchar"])


@pytest.mark.skipif(not IO.exists(), reason="needs Linux' count of bytes that are read and written")
def test_what_is_done_for_every_batch_does_not_touch_the_file(store: Store) -> None:
    run = waiting_run(store, b"x" * 20_000_000)
    owner = claim_run(store, run.run_id, 1)
    store.forget()
    before = bytes_moved()
    for position in range(3):
        save_items(store, run.run_id, [item(position)], owner)
        assert not beat(store, run.run_id, owner)
        progress_of(store, run.run_id)
        list_runs(store)
    finish_run(store, run.run_id, "done", owner=owner)
    assert bytes_moved() - before < 2_000_000
    assert len(run_data(store, run.run_id)) == 20_000_000


def test_a_run_that_is_forgotten_takes_its_file_with_it(store: Store) -> None:
    run = waiting_run(store)
    delete_run(store, run.run_id)
    assert store.rows("select * from run_data") == []


def test_failures_and_progress_are_counted_in_an_index(store: Store) -> None:
    run = waiting_run(store)
    owner = claim_run(store, run.run_id, 1)
    save_items(store, run.run_id, [item(0), item(1, ("lexical", "KeyError")), item(2)], owner)
    assert item_counts(store, run.run_id) == ({"done": 2, "failed": 1}, {("lexical", "KeyError"): 1})
    assert n_finished_since(store, run.run_id) == 3
    assert n_finished_since(store, run.run_id, "2999") == 0
    plans = [
        store.rows(f"explain query plan {sql}")[0]["detail"]
        for sql in (
            "select state, count(*) from run_item where run_id = 1 group by state",
            "select count(*) from run_item where run_id = 1 and finished_utc >= ''",
            "select count(*) from run_item where run_id = 1 and failures <> '[]'",
        )
    ]
    assert all("COVERING INDEX" in plan for plan in plans), plans


def test_time_worked_adds_up_over_starts_and_leaves_out_what_lies_between(store: Store) -> None:
    run = waiting_run(store)
    assert wall_seconds(run) == 0

    def started(seconds: int) -> None:
        """As if the present start had begun so long ago."""
        with store.writing():
            store.table("run").update(run.run_id, {"started_utc": now_utc(-seconds)})

    claim_run(store, run.run_id, 1)
    started(40)
    finish_run(store, run.run_id, "cancelled")
    assert wall_seconds(get_run(store, run.run_id)) == pytest.approx(40, abs=2)
    claim_run(store, run.run_id, 1)
    started(500)  # killed: its last sign of life is all that is known of its end
    with store.writing():
        store.table("run").update(run.run_id, {"beat_utc": now_utc(-493)})
    assert wall_seconds(get_run(store, run.run_id)) == pytest.approx(47, abs=2)
    claim_run(store, run.run_id, 1)
    finish_run(store, run.run_id, "done")
    assert wall_seconds(get_run(store, run.run_id)) == pytest.approx(47, abs=2)
