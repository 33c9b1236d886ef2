"""Scores of a run at work, read as they come in: always those that a fresh reading finds, at the price of the new ones."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts.growing_run import N_LEVELS, GrowingRun
from numpy.testing import assert_array_equal

from core.runs import jobs
from core.runs.path import saved_run
from core.runs.scoring import ScoresSoFar, score_table
from core.schema.runs import RunItem
from core.schema.scores import ScoreTable
from core.store import Store, open_store
from core.store.runs import claim_run, run_item, save_items


@pytest.fixture
def run(store: Store) -> GrowingRun:
    return GrowingRun(store, 12)


def alike(so_far: ScoresSoFar, store: Store, run_id: int) -> ScoreTable:
    """The table read so far, after it was found to be that of a fresh reading."""
    found, fresh = so_far.table(saved_run(store, run_id)), score_table(saved_run(store, run_id))
    assert_array_equal(found.values, fresh.values)
    assert replace(found, values=fresh.values) == fresh
    return found


def item(run: GrowingRun, at: int, **changed: object) -> RunItem:
    found = run_item(run.store, run.run_id, at)
    assert found is not None
    return replace(found, **changed)  # type: ignore[arg-type]


def test_a_table_grows_with_the_run(run: GrowingRun, store: Store) -> None:
    so_far = ScoresSoFar()
    assert alike(so_far, store, run.run_id).values.shape == (0, 16)
    for n in (5, 0, 4, 3):
        before = so_far.table(saved_run(store, run.run_id)).values.copy()
        run.grow(n)
        found = alike(so_far, store, run.run_id)
        assert len(found.rows) == len(before) + N_LEVELS * n
        assert_array_equal(found.values[: len(before)], before)
    run.finish()
    assert len(alike(so_far, store, run.run_id).rows) == 12 * N_LEVELS


def test_only_new_items_are_read(run: GrowingRun, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    plain = jobs.results_since

    def counted(*given: object) -> list[dict[str, object]]:
        found = plain(*given)  # type: ignore[arg-type]
        read.append(len(found))
        return found

    monkeypatch.setattr(jobs, "results_since", counted)
    so_far = ScoresSoFar()
    for _ in range(4):
        time.sleep(0.005)
        run.grow(3)
        so_far.table(saved_run(store, run.run_id))
    # Those of the same thousandth of a second as the newest one are read once more.
    assert read == [3, 6, 6, 6]


def test_items_stand_in_the_order_of_the_file_however_they_come(run: GrowingRun, store: Store) -> None:
    run.grow(3)
    so_far = ScoresSoFar()
    so_far.table(saved_run(store, run.run_id))
    late, first = item(run, 0, position=9, item_id="late"), item(run, 1, position=5, item_id="first")
    reasons = {
        "outputs": [{**late.result["outputs"][0], "scores": [None] * 16, "reasons": {"bleu-1": "why"}}]
    }
    save_items(store, run.run_id, [replace(late, result=reasons)], run.owner)
    assert alike(so_far, store, run.run_id).reasons == {(3 * N_LEVELS, 0): "why"}
    save_items(store, run.run_id, [first], run.owner)
    found = alike(so_far, store, run.run_id)
    assert [row.item_id for row in found.rows[3 * N_LEVELS :: N_LEVELS]] == ["first", "late"]
    assert found.reasons == {(4 * N_LEVELS, 0): "why"}


def test_an_item_that_is_tried_again_counts_once(run: GrowingRun, store: Store) -> None:
    run.grow(3)
    broken = item(run, 1, result={}, state="again")
    save_items(store, run.run_id, [broken], run.owner)
    so_far = ScoresSoFar()
    found = alike(so_far, store, run.run_id)
    assert len(found.rows) == 2 * N_LEVELS
    assert "1 item has no scores" in found.notes[0]
    run.finish("cancelled")
    alike(so_far, store, run.run_id)
    owner = claim_run(store, run.run_id, os.getpid())  # takes the item back
    assert len(alike(so_far, store, run.run_id).rows) == 2 * N_LEVELS
    save_items(store, run.run_id, [item(run, 0, position=1, item_id="q1")], owner)
    found = alike(so_far, store, run.run_id)
    assert len(found.rows) == 3 * N_LEVELS
    assert not found.notes


def test_items_that_have_gone_are_forgotten(run: GrowingRun, store: Store, tmp_path: Path) -> None:
    """An older copy of the database has the same run with fewer items."""
    so_far = ScoresSoFar()
    run.grow(4)
    with open_store(tmp_path / "copy.db") as other:
        older = GrowingRun(other, 12)
        older.grow(2)
        times = store.row("select started_utc from run where id = 1")
        assert times is not None
        with other.writing():
            other.table("run").update(1, {"started_utc": times["started_utc"]})
        so_far.table(saved_run(store, run.run_id))
        assert len(alike(so_far, other, 1).rows) == 2 * N_LEVELS
