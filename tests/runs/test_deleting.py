"""Deleting runs: with all that belongs to them, nothing that others use, nothing that works; killed at any moment."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from helpers.pages.judges_visit import RULES, judged, texts
from helpers.pages.metrics_visit import scored
from helpers.texts.factories import always, dataset, study_in, vote, waiting_run

from core.errors import InputError, NotAllowed
from core.runs.overview.deleting import (
    NOT_BEGUN,
    PREVIEWS,
    chosen,
    delete,
    deletion_of,
    sweep,
)
from core.runs.working.environments import run_log
from core.schema.runs import RunItem
from core.store import Store, open_store, upkeep
from core.store.beside import make_run_folder, run_folder
from core.store.kept import find_reply, record_call
from core.store.places import folders_of
from core.store.runs import claim_run, finish_run, get_run, half_deleted, insert_run, list_runs, save_items
from core.store.studies import now_utc
from core.store.upkeep import compact, estimated_rows, going, space_of

OF_RUNS = ("run", "run_data", "run_item", "run_call", "run_metric", "reply", "request", "text_score")


def rows(store: Store) -> dict[str, int]:
    return {name: store.rows(f"select count(*) as n from {name}")[0]["n"] for name in OF_RUNS}


def asked(store: Store, *keys: str, cached: bool = False, n_items: int = 3) -> int:
    """A finished run that asked these requests, with a folder and a log."""
    run = waiting_run(store, b"x" * 1_000)
    owner = claim_run(store, run.run_id, 2**22 + 1)
    items = [RunItem(at, f"q{at}", "done", {"text": "é" * 100}) for at in range(n_items)]
    save_items(store, run.run_id, items, owner)
    for at, key in enumerate(keys):
        call = {
            "run_id": run.run_id,
            "position": at % n_items,
            "key": key,
            "step": "s",
            "reason": None,
            "seconds": 1.0,
        }
        reply = {"text": "answer " * 20, "reason": None, "detail": "", "seconds": 1.0}
        record_call(store, call | {"cached": int(cached)}, None if cached else reply, {"prompt": key})
    finish_run(store, run.run_id, "done", owner=owner)
    (make_run_folder(store, run.run_id) / "texts.parquet").write_bytes(b"x" * 5_000)
    log = run_log(store.path, run.run_id)
    log.parent.mkdir(exist_ok=True)
    log.write_text("said\n")
    return run.run_id


def test_a_run_goes_with_everything_that_belongs_to_it(store: Store) -> None:
    empty = rows(store)
    number = asked(store, "a", "b")
    log = run_log(store.path, number)
    found = deletion_of(store, [number])
    lost = found.going
    assert (lost.n_items, lost.n_calls, lost.n_replies, lost.n_shared) == (3, 2, 2, 0)
    assert found.files == 5_005
    assert 1_000 + 3 * 200 + 2 * 140 < lost.n_bytes < 1_000 + 3 * 300 + 2 * 140 + 2 * 250
    assert estimated_rows(store, [number])[number].n_bytes == pytest.approx(lost.n_bytes, rel=0.05)
    assert delete(store, [number]).run_ids == (number,)
    assert rows(store) == empty
    assert not run_folder(store, number).exists()
    assert not log.exists()
    assert half_deleted(store) == []
    assert waiting_run(store).run_id == number + 1, "no later run gets its number"


def test_replies_that_another_run_uses_stay(store: Store) -> None:
    first = asked(store, "shared", "own")
    second = asked(store, "shared", cached=True)
    lost = deletion_of(store, [first]).going
    assert (lost.n_replies, lost.n_shared) == (1, 1)
    delete(store, [first])
    assert find_reply(store, "shared") is not None
    assert find_reply(store, "own") is None
    assert going(store, [second]).n_replies == 1
    delete(store, [second])
    assert find_reply(store, "shared") is None


def test_runs_that_share_a_reply_and_go_together_take_it_along(store: Store) -> None:
    both = [asked(store, "shared"), asked(store, "shared", cached=True)]
    assert going(store, both).n_replies == 1
    delete(store, both)
    assert rows(store)["reply"] == rows(store)["request"] == 0


def test_cached_scores_go_with_the_last_run_that_scored_the_text(store: Store) -> None:
    file = b'{"item_id": "a", "text": "one two", "reference": "one"}'
    first, second = scored(store, file), scored(store, file)
    n = rows(store)["text_score"]
    assert n > 0
    delete(store, [first.run_id], force=True)
    assert rows(store)["text_score"] == n
    delete(store, [second.run_id], force=True)
    assert rows(store)["text_score"] == 0


def test_every_table_of_runs_is_emptied(store: Store) -> None:
    """Fails where a new table refers to runs and is not deleted with them."""
    judged(store, texts(store), RULES, limit=2)
    scored(store, b'{"item_id": "a", "text": "one two", "reference": "one"}')
    delete(store, [run.run_id for run in list_runs(store)], force=True)
    assert set(rows(store).values()) == {0}
    of_runs = {
        row["name"]
        for row in store.rows("select name, sql from sqlite_schema where type = 'table'")
        if "run_id" in (row["sql"] or "")
    }
    assert of_runs <= set(OF_RUNS)


def test_all_problems_are_listed_and_nothing_is_deleted(store: Store) -> None:
    given = texts(store)
    (source,) = list_runs(store)
    made = judged(store, given, RULES, limit=1)
    assert made.data_file.startswith(f"run-{source.run_id}-")
    study_in(store, dataset(2), raters=(), name="mine")
    with store.writing():
        store.change("update study set dataset_file = :f", {"f": f"next labels of run:{source.run_id}"})
    busy = waiting_run(store)
    claim_run(store, busy.run_id, os.getpid())
    before = rows(store)
    with pytest.raises(InputError) as problem:
        delete(store, [source.run_id, busy.run_id])
    said = str(problem.value)
    assert f"Run {made.run_id} was made from run {source.run_id}" in said
    assert f"The study 'mine' was made from run {source.run_id}" in said
    assert f"Process {os.getpid()} is working on run {busy.run_id}" in said
    with pytest.raises(InputError, match="working on run"):
        delete(store, [source.run_id, busy.run_id], force=True)
    with pytest.raises(InputError, match=r"(?s)no run 98.*no run 99"):
        delete(store, [made.run_id, 98, 99])
    assert rows(store) == before
    found = deletion_of(store, [source.run_id, busy.run_id])
    assert (found.runs, found.needed, len(found.refused)) == ((), True, 3)
    assert [one.run_id for one in deletion_of(store, [source.run_id, busy.run_id], force=True).runs] == [
        source.run_id
    ]
    delete(store, [source.run_id], force=True)
    assert get_run(store, made.run_id) == made
    assert deletion_of(store, [made.run_id]).refused == ()


def test_runs_made_from_each_other_may_go_together(store: Store) -> None:
    given = texts(store)
    (source,) = list_runs(store)
    made = judged(store, given, RULES, limit=1)
    assert deletion_of(store, [source.run_id]).needed
    assert delete(store, [source.run_id, made.run_id]).run_ids == (made.run_id, source.run_id)


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("run-7-questions.jsonl", True),
        ("twins-run-7.jsonl", True),
        ("run 7", True),
        ("escalated from run:7", True),
        ("run-70-questions.jsonl", False),
        ("rerun-7.jsonl", False),
        ("run-7b.jsonl", False),
    ],
)
def test_names_of_files_say_what_was_made_from_a_run(store: Store, file: str, named: bool) -> None:
    for _ in range(7):
        waiting_run(store)
    study_in(store, dataset(2), raters=())
    with store.writing():
        store.change("update study set dataset_file = :f", {"f": file})
    assert bool(deletion_of(store, [7]).refused) == named


def test_runs_are_chosen_by_age_kind_state_and_what_they_are(store: Store) -> None:
    given = texts(store)
    generation = list_runs(store)[0].run_id
    preview = judged(store, given, partial(RULES, name="preview-mine"), limit=1)
    begun = judged(store, given, RULES, limit=1)
    stopped = waiting_run(store)
    finish_run(store, stopped.run_id, "stopped", "no server")
    old = insert_run(store, get_run(store, stopped.run_id), b"")
    with store.writing():
        store.table("run").update(old.run_id, {"created_utc": now_utc(-40 * 86_400), "state": "waiting"})

    def numbers(**by: object) -> list[int]:
        return [run.run_id for run in chosen(store, **by)]  # type: ignore[arg-type]

    assert numbers() == [old.run_id, stopped.run_id, begun.run_id, preview.run_id, generation]
    assert numbers(older_than_days=30) == [old.run_id]
    assert numbers(only=PREVIEWS) == [preview.run_id]
    assert numbers(only=NOT_BEGUN) == [old.run_id, stopped.run_id]
    assert numbers(kinds=["claims"], states=["done"]) == [begun.run_id, preview.run_id]


def test_a_run_that_begins_meanwhile_stays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = asked(store, "a"), asked(store, "b")
    monkeypatch.setattr("core.runs.overview.deleting._ROWS_AT_ONCE", 1)

    def begin(_: int) -> None:
        if get_run(store, first).state == "done":
            claim_run(store, first, os.getpid())

    gone = delete(store, [first, second], tell=begin)
    assert (gone.run_ids, gone.begun) == ((second,), (first,))
    assert run_folder(store, first).is_dir()


def test_compacting_gives_space_back_and_changes_nothing(store: Store) -> None:
    at_hand = study_in(store, dataset(3))
    outputs = store.rows("select * from output order by rowid")
    delete(store, [asked(store, *map(str, range(300)))])
    for number in range(5):
        asked(store, str(number))
    before = space_of(store)
    assert before.unused > 50_000
    assert compact(store) > 50_000
    assert space_of(store).unused == 0
    assert space_of(store).database < before.database
    assert store.rows("select * from output order by rowid") == outputs
    assert at_hand.study_id == 1


def test_compacting_is_refused_while_raters_vote_or_without_room(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_hand = study_in(store, dataset(3), name="votes")
    vote(store, at_hand.tokens["R1"], always("left"))
    with pytest.raises(NotAllowed, match="Raters are voting in votes"):
        compact(store)
    monkeypatch.setattr(upkeep, "studies_with_votes", lambda _: [])
    busy = waiting_run(store)
    claim_run(store, busy.run_id, os.getpid())
    with pytest.raises(NotAllowed, match=f"Processes work on run {busy.run_id}"):
        compact(store)
    finish_run(store, busy.run_id, "cancelled")
    usage = upkeep.shutil.disk_usage(store.path.parent)._replace(free=1_000)
    monkeypatch.setattr(upkeep.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(NotAllowed, match="Compacting needs"):
        compact(store)


# --- kill -9 --------------------------------------------------------------------------------------

N_RUNS = 12
CHILD = """
import sys, time
from pathlib import Path
from core.runs.overview import deleting
from core.store import open_store
deleting._ROWS_AT_ONCE = 1
slow = deleting.delete_run_folder
def leisurely(store, number):
    print("folder", flush=True)
    slow(store, number)
deleting.delete_run_folder = leisurely
with open_store(Path(sys.argv[1])) as store:
    deleting.delete(store, range(1, int(sys.argv[2]) + 1), tell=lambda n: print("deleted", n, flush=True))
"""


def killed(database: Path, after: Callable[[str], bool], delay: float) -> None:
    """Delete all runs in a process that is killed `delay` seconds after it said something."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(database), str(N_RUNS)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    for line in child.stdout:
        if after(line.strip()):
            break
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.stdout.close()
    assert child.wait() in (-signal.SIGKILL, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("after", "delay"),
    [("deleted 3", 0.0), ("deleted 6", 0.004), ("deleted 9", 0.011), ("folder", 0.0), ("folder", 0.002)],
)
def test_killed_in_the_middle_each_run_is_there_or_gone(tmp_path: Path, after: str, delay: float) -> None:
    database = tmp_path / "assay.db"
    with open_store(database) as store:
        for number in range(N_RUNS):
            asked(store, *(f"{number} {at}" for at in range(20)), "in all", n_items=40)
    killed(database, lambda line: line == after, delay)
    with open_store(database) as store:
        assert store.rows("pragma integrity_check") == [{"integrity_check": "ok"}]
        assert store.rows("pragma foreign_key_check") == []
        left = [run.run_id for run in list_runs(store)]
        assert len(left) < N_RUNS
        for number in range(1, N_RUNS + 1):
            n = {
                name: store.rows(f"select count(*) as n from {name} where run_id = {number}")[0]["n"]
                for name in ("run_data", "run_item", "run_call")
            }
            replies = store.rows(f"select count(*) as n from reply where key like '{number - 1} %'")[0]["n"]
            there = {"run_data": 1, "run_item": 40, "run_call": 21}
            assert (n, replies) == ((there, 20) if number in left else (dict.fromkeys(there, 0), 0))
            assert number not in left or (run_folder(store, number) / "texts.parquet").is_file()
        assert (find_reply(store, "in all") is not None) == bool(left)
        orphaned = set(half_deleted(store))
        assert orphaned >= {
            number
            for number in range(1, N_RUNS + 1)
            if number not in left and run_folder(store, number).exists()
        }
        assert set(sweep(store)) == orphaned
        names = sorted(path.name for path in folders_of(database).iterdir())
        assert names == sorted(f"run-{number}" for number in left)
        assert sorted(int(path.stem) for path in (tmp_path / "runs").iterdir()) == sorted(left)
        assert sweep(store) == ()


def test_of_a_linked_folder_only_the_link_goes(store: Store, tmp_path: Path) -> None:
    number, other = waiting_run(store).run_id, waiting_run(store).run_id
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.txt").write_bytes(b"x" * 1_000_000)
    (outside / "round").symlink_to(outside)
    folders_of(store.path).mkdir()
    run_folder(store, number).symlink_to(outside)
    assert deletion_of(store, [number]).files < 1_000
    delete(store, [number])
    assert not run_folder(store, number).is_symlink()
    (make_run_folder(store, other) / "there").symlink_to(outside)
    delete(store, [other])
    assert not run_folder(store, other).exists()
    assert (outside / "mine.txt").stat().st_size == 1_000_000
    assert half_deleted(store) == []
