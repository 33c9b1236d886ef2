"""Where the file of a run lies: no polling reads it, an old database's comes along, and time worked is kept."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from helpers.texts.factories import waiting_run
from sqlite_utils import Database, Migrations

from core.runs.progress import progress_of, wall_seconds
from core.schema.runs import RunItem
from core.store import Store, open_store
from core.store.backup import restore_backup, write_backup
from core.store.migrations import migrations
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
    run_items,
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


def old_database(path: Path) -> None:
    """As the version before left it: the file in the row of its run, and a run that was killed half-way."""
    before = Migrations("assay")
    for step in [step for step in migrations._migrations if step.name < "m007"]:
        before(name=step.name)(step.fn)
    with closing(sqlite3.connect(path)) as connection:
        before.apply(Database(connection))
        for number, data in enumerate(FILES, start=1):
            connection.execute(
                "insert into run (id, kind, state, settings, running, data_file, data_sha256, data, n_items, "
                "created_utc, app_version, started_utc, finished_utc) values (?, 'scores', 'done', '{}', '{}', "
                "'t.jsonl', '00', ?, 3, '', '0', '2026-01-01T10:00:00.000Z', '2026-01-01T10:00:30.000Z')",
                (number, data),
            )
        for run_id, finished in ((1, "2026-01-01T10:00:10.000Z"), (2, "2025-12-31T10:00:00.000Z")):
            connection.execute(
                "insert into run_item values (?, 0, 'q0', 'done', '{}', '[]', 0.5, ?)", (run_id, finished)
            )
        connection.commit()


def test_files_of_an_older_database_come_along(tmp_path: Path) -> None:
    old_database(tmp_path / "old.db")
    with open_store(tmp_path / "old.db") as store:
        assert [run_data(store, number) for number in (1, 2, 3)] == list(FILES)
        assert [wall_seconds(get_run(store, number)) for number in (1, 2)] == [30.0, None], (
            "of the second an earlier start did a part"
        )
        owner = claim_run(store, 1, 1)
        save_items(store, 1, [item(1), item(2)], owner)
        finish_run(store, 1, "done", owner=owner)
        assert [one.item_id for one in run_items(store, 1)] == ["q0", "q1", "q2"]
        assert wall_seconds(get_run(store, 1)) == pytest.approx(30.0, abs=1.0)
        restore_backup(write_backup(store), tmp_path / "else" / "new.db")
    with open_store(tmp_path / "else" / "new.db") as other:
        assert run_data(other, 2) == FILES[1]
    assert (tmp_path / "old.db.before-m007_run_data").exists()


def test_files_that_move_grow_the_database_by_one_of_them_at_most(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    old_database(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany(
            "insert into run (kind, state, settings, running, data_file, data_sha256, data, n_items, created_utc, "
            "app_version) values ('scores', 'done', '{}', '{}', 't.jsonl', '00', ?, 3, '', '0')",
            [(b"x" * 300_000,)] * 10,
        )
        connection.commit()
        before = connection.execute("pragma page_count").fetchone()[0]
    with open_store(path) as store:
        (pages,) = store.rows("pragma page_count")
    assert (pages["page_count"] - before) * 4096 < 2 * 300_000


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
