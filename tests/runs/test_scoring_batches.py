"""Scoring in batches: many items a transaction, all of a batch or nothing of it, and processes that are worth starting."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.toys.scorer import ToyScorer
from test_scoring import job_with, many, new_run, same_table, scored

from core.errors import NotAllowed
from core.metrics.kind import TEXTS_PER_WORKER, ScoringRunning, ScoringSettings
from core.metrics.parts import PoolPart, ThreadPart
from core.metrics.scorer import ScoringPair
from core.runs import scoring
from core.runs.scoring import FIRST_BATCH, MOST_IN_BATCH, parts_of
from core.runs.working import worker
from core.runs.working.worker import work
from core.schema.scores import Score
from core.store import Store, open_store
from core.store.kept import step_costs
from core.store.runs import item_states

KEPT = ("run_item", "run_call", "text_score")


def counts(store: Store) -> list[int]:
    return [store.rows(f"select count(*) as n from {table}")[0]["n"] for table in KEPT]


class Meddling(ToyScorer):
    """Does something in the middle of its second batch."""

    def __init__(self, meddle: object) -> None:
        super().__init__()
        self._meddle = meddle

    def score(self, pairs: Sequence[ScoringPair]) -> list[tuple[Score, ...]]:
        if len(self.batches) == 1:
            self._meddle()  # type: ignore[operator]
        return super().score(pairs)


def test_many_items_share_a_transaction_and_a_look_at_the_claim(store: Store) -> None:
    outputs = many(3_000)
    run = new_run(store, outputs)
    sent: list[str] = []
    store._database.conn.set_trace_callback(sent.append)
    work(store, run.run_id, job_with(store, outputs))
    store._database.conn.set_trace_callback(None)
    assert sum(line.startswith("BEGIN") for line in sent) < 60
    assert sum("select process, started_utc" in line for line in sent) < 60
    assert counts(store) == [3_000, 6_000, 6_000]


def test_a_run_that_was_taken_over_in_the_middle_of_a_batch_keeps_nothing_of_it(
    store: Store, tmp_path: Path
) -> None:
    outputs = many(100)
    run = new_run(store, outputs)
    there: list[list[int]] = []

    def take_over() -> None:
        with open_store(tmp_path / "assay.db") as other:
            with other.writing():
                other.table("run").update(run.run_id, {"process": 1, "started_utc": "2999"})
            there.append(counts(other))

    with pytest.raises(NotAllowed):
        work(store, run.run_id, job_with(store, outputs, ThreadPart("lexical", lambda: Meddling(take_over))))
    assert counts(store) == there[0]
    assert there[0][0] <= FIRST_BATCH


def test_a_batch_that_cannot_be_saved_whole_leaves_nothing_and_is_done_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the process is killed between two writes."""
    outputs = many(60)
    run = new_run(store, outputs)
    real, calls = worker.save_items, []

    def dies(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 3:
            raise SystemExit
        real(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(worker, "save_items", dies)
        with pytest.raises(SystemExit):
            work(store, run.run_id, job_with(store, outputs))
    n_items = len(item_states(store, run.run_id))
    assert 0 < n_items < 60
    assert counts(store) == [n_items, 2 * n_items, 2 * n_items]
    assert work(store, run.run_id, job_with(store, outputs)).state == "done"
    assert counts(store) == [60, 120, 120]
    (cost,) = step_costs(store, run.run_id)
    assert (cost.calls, cost.cached) == (120, 0)
    assert same_table(store, run, scored(store, outputs))


def test_a_text_of_two_items_of_a_batch_is_scored_once(store: Store) -> None:
    one, _, other, _ = many(2)
    again = replace(one, item_id="again")
    scorer = ToyScorer()
    run = scored(store, (one, again, other), ThreadPart("lexical", lambda: scorer))
    assert scorer.batches == [1, 1], "two items are the first batch, one is the second"
    (cost,) = step_costs(store, run.run_id)
    assert (cost.calls, cost.cached) == (2, 1)


def test_batches_grow_while_texts_are_quick_and_stay_small_where_they_are_slow(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = ToyScorer()
    scored(store, many(3_000), ThreadPart("lexical", lambda: quick))
    assert FIRST_BATCH < max(quick.batches) // 2 <= MOST_IN_BATCH
    monkeypatch.setattr(scoring, "BATCH_SECONDS", 0.01)
    slow = ToyScorer(("words",), version="2", seconds=0.005)
    scored(store, many(40), ThreadPart("lexical", lambda: slow), names=("words",))
    assert max(slow.batches[3:]) <= 4, "two texts an item, 10 ms a batch"


def test_all_processors_score_by_default_where_there_is_enough_to_do() -> None:
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert ScoringRunning().workers == there
    running = ScoringRunning(workers=4)
    found = [running.processes(n * TEXTS_PER_WORKER) for n in (0, 1, 2, 4, 100)]
    assert found == [1, 1, 2, 4, 4]
    settings = ScoringSettings(metrics=("bleu-4",))
    (few,) = parts_of(settings, running, TEXTS_PER_WORKER)
    (lot,) = parts_of(settings, running, 3 * TEXTS_PER_WORKER)
    assert type(few) is ThreadPart
    assert (type(lot), lot.processes) == (PoolPart, 3)


def test_models_are_kept_with_their_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    given = {"bertscore-en": "mine", "nli": "org/model", "bleurt-20-d12": ""}
    kept = ScoringSettings(metrics=tuple(given), models=given).settled().models
    assert kept == given | {"bertscore-en": str(tmp_path / "mine")}, "nothing named is no folder"
