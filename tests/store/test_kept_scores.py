"""What the store keeps of scores: the cache, the metrics of a run, files of pages; and that backups carry them."""

import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from helpers.texts.factories import waiting_run

from core.errors import NotFound
from core.schema.runs import Run
from core.schema.scores import Metric, Score
from core.store import Store, open_store
from core.store.backup import restore_backup, write_backup
from core.store.connection import Row
from core.store.kept import (
    delete_file,
    file_data,
    find_scores,
    get_file,
    keep_file,
    keep_run_metrics,
    keep_scores,
    kept_files,
    record_call,
    run_metrics,
    step_costs,
)
from core.store.runs import delete_run, list_runs

ONE, TWO, THREE = (bytes([number]) * 32 for number in (1, 2, 3))
METRICS = (Metric("bleu-1", "BLEU|order:1", "BLEU"), Metric("ter", "TER|", "TER", "lower"))


def call(key: str, cached: int = 0, position: int = 0) -> Row:
    about = {"step": "lexical", "reason": None, "seconds": 0.5}
    return {"position": position, "key": key, "cached": cached, **about}


def keep(store: Store, scores: dict[bytes, dict[str, Score]], run: Run, *calls: Row) -> None:
    fresh = [
        (
            pair,
            tuple(of),
            [one.value for one in of.values()],
            {at: one.reason for at, one in enumerate(of.values()) if one.reason is not None},
        )
        for pair, of in scores.items()
    ]
    keep_scores(store, fresh, calls, run_id=run.run_id)


def test_a_score_is_found_by_text_and_signature_alone(store: Store) -> None:
    run = waiting_run(store)
    scores = {ONE: {"a": Score(0.1 + 0.2), "b": Score(None, "no reference")}, TWO: {"a": Score(-math.pi)}}
    keep(store, scores, run)
    assert find_scores(store, [ONE, TWO, THREE], ["a", "b", "c"]) == scores
    assert find_scores(store, [ONE, ONE], ["b"]) == {ONE: {"b": Score(None, "no reference")}}
    assert find_scores(store, [ONE], ["c"]) == {}
    assert find_scores(store, [], ["a"]) == {}


def test_the_first_score_stays(store: Store) -> None:
    """Two runs may score the same text at once; what one has read must not change."""
    run = waiting_run(store)
    for value in (1.0, 2.0):
        keep(store, {ONE: {"a": Score(value)}}, run)
    assert find_scores(store, [ONE], ["a"]) == {ONE: {"a": Score(1.0)}}


def test_the_first_score_stays_whatever_it_was_kept_with(store: Store) -> None:
    run = waiting_run(store)
    keep(store, {TWO: {"a": Score(7.0), "b": Score(8.0)}}, run)
    keep(store, {ONE: {"a": Score(1.0)}}, run)
    keep(store, {ONE: {"a": Score(2.0), "b": Score(None, "why")}}, run)
    assert find_scores(store, [ONE], ["a", "b"]) == {ONE: {"a": Score(1.0), "b": Score(None, "why")}}


def test_more_texts_than_one_query_takes(store: Store) -> None:
    run = waiting_run(store)
    scores = {number.to_bytes(32, "big"): {"a": Score(float(number))} for number in range(2_345)}
    keep(store, scores, run)
    assert find_scores(store, list(scores), ["a"]) == scores


def test_a_text_stands_on_the_account_once(store: Store) -> None:
    run = waiting_run(store)
    keep(store, {}, run, call("k1"), call("k2"))
    keep(store, {}, run, call("k1", 1), call("k3", 1))  # begun once more
    keep(store, {}, run, call("k1", 1, position=1))
    (cost,) = step_costs(store, run.run_id)
    assert (cost.calls, cost.cached, cost.seconds) == (2, 2, 1.0)


def test_two_steps_that_ask_the_same_are_both_on_the_account(store: Store) -> None:
    run = waiting_run(store)
    for step, cached in (("source", 0), ("source", 1), ("text", 1), ("text", 1)):
        record_call(store, {**call("k", cached), "run_id": run.run_id, "step": step}, None)
    costs = [(cost.step, cost.calls, cost.cached) for cost in step_costs(store, run.run_id)]
    assert costs == [("source", 1, 0), ("text", 0, 1)]


def test_scores_and_account_are_kept_together_or_not_at_all(store: Store, tmp_path: Path) -> None:
    run = waiting_run(store)
    with pytest.raises(Exception, match="could not be used"):
        keep(store, {ONE: {"a": Score(1.0)}}, run, {**call("k"), "step": None})
    with closing(sqlite3.connect(tmp_path / "assay.db")) as other:
        for name in ("text_score", "score_list", "run_call"):
            assert other.execute(f"select count(*) from {name}").fetchone() == (0,)


def test_the_metrics_of_a_run_go_with_it(store: Store) -> None:
    run = waiting_run(store)
    keep_run_metrics(store, run.run_id, METRICS[::-1])
    keep_run_metrics(store, run.run_id, METRICS)
    assert run_metrics(store, run.run_id) == METRICS
    delete_run(store, run.run_id)
    assert list_runs(store) == []
    assert run_metrics(store, run.run_id) == ()


def test_a_file_is_kept_once_for_each_purpose_under_its_newest_name(store: Store) -> None:
    first = keep_file(store, "ratings", "old.csv", b"a,b", {"dimension": "fluency"})
    other = keep_file(store, "scores", "old.csv", b"a,b")
    again = keep_file(store, "ratings", "new.csv", b"a,b", {"dimension": "ß"})
    assert again.file_id == first.file_id != other.file_id
    assert (again.file_name, again.options, again.created_utc) == (
        "new.csv",
        {"dimension": "ß"},
        first.created_utc,
    )
    assert [file.file_id for file in kept_files(store)] == [other.file_id, first.file_id]
    assert kept_files(store, "ratings") == [again]
    assert kept_files(store, "correlations") == []
    assert file_data(store, again.file_id) == b"a,b"
    delete_file(store, again.file_id)
    delete_file(store, again.file_id)
    for ask in (get_file, file_data):
        with pytest.raises(NotFound, match="upload it again"):
            ask(store, again.file_id)


def test_a_backup_carries_scores_and_files(store: Store, tmp_path: Path) -> None:
    run = waiting_run(store)
    keep_run_metrics(store, run.run_id, METRICS)
    keep(store, {ONE: {"a": Score(0.25)}}, run, call("k"))
    kept = keep_file(store, "correlations", "theirs.json", b"{}")
    path = tmp_path / "else" / "new.db"
    restore_backup(write_backup(store), path)
    with open_store(path) as other:
        assert find_scores(other, [ONE], ["a"]) == {ONE: {"a": Score(0.25)}}
        assert run_metrics(other, run.run_id) == METRICS
        assert kept_files(other) == [kept]
        assert file_data(other, kept.file_id) == b"{}"
        assert step_costs(other, run.run_id)[0].calls == 1
