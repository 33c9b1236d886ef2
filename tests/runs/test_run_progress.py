"""How far a run is while no item is finished yet: requests and tokens of this start, read cheaply, and its start."""

import math
from dataclasses import replace

import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Said
from helpers.texts.judge_runs import judging_server, settings, texts

from core.cli.shared.running import work_here
from core.runs.asked import Running
from core.runs.path import create, resume
from core.runs.progress import Answered, left_between, progress_of
from core.schema.runs import Run, RunItem
from core.store import Store
from core.store.runs import claim_run, get_run, insert_run, note_start, save_items
from core.store.studies import now_utc

_INSERT = (
    "insert into run_call (run_id, position, key, step, cached, input_tokens, output_tokens, seconds, at_utc) "
    "values (?, ?, 'k', 'rank', ?, ?, ?, 1, ?)"
)


def new_run(store: Store) -> Run:
    return insert_run(store, Run(0, "factual", "waiting", {}, {}, "q.csv", "00", 10, None, "", "0"), b"data")


def called(
    store: Store, run_id: int, n: int, *, item: int = 0, cached: int = 0, at: str | None = None
) -> None:
    with store.writing():
        store.change_all(_INSERT, ((run_id, item, cached, 100, 7, at or now_utc()) for _ in range(n)))


def test_requests_and_tokens_are_those_of_the_last_start_and_no_answer_of_the_cache(store: Store) -> None:
    run, other = new_run(store), new_run(store)
    called(store, run.run_id, 5, at=now_utc(-60))
    claim_run(store, run.run_id, 1)
    seen = Answered(get_run(store, run.run_id))
    assert seen.look(store).n == 0
    called(store, run.run_id, 3)
    called(store, run.run_id, 2, cached=1)
    called(store, other.run_id, 4)
    assert (seen.look(store).n, seen.input_tokens, seen.output_tokens) == (3, 300, 21)
    assert (seen.look(store).n, seen.input_tokens) == (3, 300), "what was seen is not counted again"
    called(store, run.run_id, 1)
    assert str(seen.look(store)) == "4 requests, 400 tokens in, 28 out"
    fresh = Answered(get_run(store, run.run_id)).look(store)
    assert replace(fresh, _seen=None) == replace(seen, _seen=None), "whoever looks first later sees the same"


def test_a_look_at_what_is_new_reads_no_more_for_a_hundred_thousand_calls(store: Store) -> None:
    run = new_run(store)
    claim_run(store, run.run_id, 1)
    called(store, run.run_id, 100)
    seen = Answered(get_run(store, run.run_id)).look(store)
    of_hundred = steps_of_look(store, run, seen)
    called(store, run.run_id, 99_890)
    seen.look(store)
    assert steps_of_look(store, run, seen) == of_hundred
    assert seen.n == 100_010


def steps_of_look(store: Store, run: Run, seen: Answered) -> int:
    """SQLite's steps for a look at ten new calls."""
    called(store, run.run_id, 10)
    steps: list[int] = []
    store._database.conn.set_progress_handler(lambda: steps.append(1), 1)
    seen.look(store)
    store._database.conn.set_progress_handler(None, 1)
    return len(steps)


def test_a_start_is_told_until_it_is_over(store: Store) -> None:
    run = new_run(store)
    owner = claim_run(store, run.run_id, 1)
    standing = progress_of(store, run.run_id)
    assert standing.starting_seconds is not None
    assert standing.starting_seconds < 60
    note_start(store, run.run_id, 1.23456, owner)
    standing = progress_of(store, run.run_id)
    assert (standing.starting_seconds, standing.run.start_seconds) == (None, 1.235)
    claim_run(store, run.run_id, 1)
    assert get_run(store, run.run_id).start_seconds is None, "of the last start"


def test_the_range_of_what_is_left_narrows_with_items_and_is_not_told_from_none() -> None:
    assert left_between(10, 0, 5.0) is None
    low, high = left_between(100, 4, 8.0) or (0.0, 0.0)
    assert low < 200 < high
    narrow_low, narrow_high = left_between(100, 400, 800.0) or (0.0, 0.0)
    assert low < narrow_low < 200 < narrow_high < high


def test_items_under_way_count_by_their_requests(store: Store) -> None:
    """Of 10 items 1 is finished after 10 requests, and the other 9 have 5 requests each: 5.5 items' worth."""
    run = new_run(store)
    owner = claim_run(store, run.run_id, 1)
    note_start(store, run.run_id, 0.0, owner)
    with store.writing():
        store.change(
            "update run set started_utc = :at where id = :id", {"at": now_utc(-22), "id": run.run_id}
        )
    run = get_run(store, run.run_id)
    seen = Answered(run)
    for item in range(10):
        called(store, run.run_id, 5, item=item)
    assert seen.look(store).left_between(store, run) is None, (
        "no item is finished: nobody knows how many it takes"
    )
    called(store, run.run_id, 5)
    save_items(store, run.run_id, [RunItem(0, "q1", "done", {}, (), 20.0)], (1, run.started_utc or ""))
    low, high = seen.look(store).left_between(store, run) or (0.0, 0.0)
    middle = math.sqrt(low * high)
    assert middle == pytest.approx(22 / 5.5 * 4.5, rel=0.05), "not 9 times what the one took"
    fresh = Answered(run).look(store).left_between(store, run) or (0.0, 0.0)
    assert math.sqrt(fresh[0] * fresh[1]) == pytest.approx(middle, rel=0.05)


def test_the_line_of_a_command_counts_requests_before_any_item_is_finished(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("core.cli.shared.running.LINE_SECONDS", 0.0)
    monkeypatch.setattr("core.runs.working.worker.BEAT_SECONDS", 0.02)
    with judging_server(lambda body, n: Said(answer(body), delay=0.15, usage=(1_000, 10))) as server:
        run, _ = create(
            store, texts(2), "t.jsonl", settings("rubric", server.url), Running(concurrency=2, retries=0)
        )
        work_here(resume(run, None, None))
    assert "0 of 2 items, 2 requests, 2,000 tokens in, 20 out\n" in capsys.readouterr().err
