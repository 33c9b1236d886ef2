"""Scoring runs: every text scored once and kept, whatever breaks, stops or is already known."""

import os
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.toys.scorer import BREAKS, DIES, NO_MODEL, NO_NUMBER, ToyScorer, open_toy

from core.errors import AssayError, InputError, NotAllowed
from core.metrics import kind as metrics
from core.metrics.kind import ScoringRunning
from core.metrics.parts import PoolPart, ThreadPart
from core.metrics.scorer import ScoringPair
from core.runs.asked import ask, kept
from core.runs.costs import estimate_all
from core.runs.path import saved_run
from core.runs.progress import progress_of
from core.runs.scoring import ScoringJob, pair_hash, score_table, undefined_scores
from core.runs.working.worker import work
from core.schema.runs import Run
from core.schema.scores import ScorableOutput, ScoredRow
from core.store import Store, open_store
from core.store.kept import run_metrics, step_costs
from core.store.runs import ask_to_stop, claim_run, delete_run, insert_run, item_states, list_runs
from core.tables.reading import sha256_of

NAMES = ("words", "shared")
PAPER = ScorableOutput(
    "q1", "tiny", "the mill", "the old mill", level="A0", language="en", labels={"shots": "zero"}
)
OUTPUTS = (
    PAPER,
    ScorableOutput("q2", "tiny", "a red house", "a house", level="A0"),
    ScorableOutput("q1", "tiny", "the sea and the sand", "the old mill", level="A1"),
    ScorableOutput("q2", "tiny", "nobody knows", None, level="A1"),
)


def many(n: int) -> tuple[ScorableOutput, ...]:
    """Two levels of N items, no two texts alike."""
    return tuple(
        ScorableOutput(f"q{item}", "tiny", f"word{item} {'x ' * level}", f"word{item}", level=str(level))
        for item in range(n)
        for level in (0, 1)
    )


def new_run(store: Store, outputs: Sequence[ScorableOutput], limit: int | None = None) -> Run:
    n_items = len({output.item_id for output in outputs})
    asked, running = ask(
        metrics.KIND, {"metrics": ("bleu-4", "chrf")}, {}, {}
    )  # the toy scorer is no metric of ours
    run = Run(
        run_id=0,
        kind=asked.kind.name,
        state="waiting",
        settings=kept(asked),
        running=running.model_dump(mode="json"),
        data_file="texts.jsonl",
        data_sha256=sha256_of(b"-"),
        n_items=n_items,
        limit=limit,
        created_utc="",
        app_version="",
    )
    return insert_run(store, run, b"-")


def job_with(
    store: Store,
    outputs: Sequence[ScorableOutput],
    *parts: ThreadPart,
    names: Sequence[str] = NAMES,
    workers: int = 1,
) -> partial[ScoringJob]:
    made = parts or (ThreadPart("lexical", ToyScorer),)
    running = ScoringRunning(batch_size=8, workers=workers)

    def job_of(run: Run) -> ScoringJob:
        return ScoringJob(store, run.run_id, outputs, names, made, running)

    return partial(job_of)


def scored(
    store: Store, outputs: Sequence[ScorableOutput], *parts: ThreadPart, names: Sequence[str] = NAMES
) -> Run:
    run = new_run(store, outputs)
    return work(store, run.run_id, job_with(store, outputs, *parts, names=names))


def same_table(store: Store, one: Run, other: Run) -> bool:
    first, second = score_table(saved_run(store, one)), score_table(saved_run(store, other))
    return (
        first.rows == second.rows
        and first.metrics == second.metrics
        and dict(first.reasons) == dict(second.reasons)
        and np.array_equal(first.values, second.values, equal_nan=True)
    )


def test_every_text_has_its_scores_or_a_reason(store: Store) -> None:
    run = scored(store, OUTPUTS)
    assert (run.state, run.n_items) == ("done", 2)
    table = score_table(saved_run(store, run))
    assert table.rows[0] == ScoredRow("q1", "tiny", "A0", "en", {"shots": "zero"})
    assert [(row.item_id, row.level) for row in table.rows] == [
        ("q1", "A0"),
        ("q1", "A1"),
        ("q2", "A0"),
        ("q2", "A1"),
    ]
    assert [metric.signature for metric in table.metrics] == ["words|version:1", "shared|version:1"]
    np.testing.assert_array_equal(table.values, [[2, 2], [5, 1], [3, 2], [2, np.nan]])
    assert table.reasons == {(3, 1): "no reference"}
    assert undefined_scores(table) == {("shared", "no reference"): 1}


def test_what_is_known_is_not_computed_again(store: Store) -> None:
    first = scored(store, OUTPUTS)
    again = ToyScorer()
    second = scored(store, OUTPUTS, ThreadPart("lexical", lambda: again))
    assert again.batches == []
    assert same_table(store, first, second)
    (one,), (other,) = step_costs(store, first.run_id), step_costs(store, second.run_id)
    assert (one.step, one.calls, one.cached) == ("lexical", 4, 0)
    assert (other.calls, other.cached, other.seconds) == (0, 4, 0)


def test_another_version_is_another_score(store: Store) -> None:
    scored(store, OUTPUTS)
    newer = ToyScorer(version="2")
    run = scored(store, OUTPUTS, ThreadPart("lexical", lambda: newer))
    assert sum(newer.batches) == 4
    assert [metric.signature for metric in run_metrics(store, run.run_id)] == [
        "words|version:2",
        "shared|version:2",
    ]


def test_of_models_only_those_that_lack_a_score_are_asked(store: Store) -> None:
    scored(store, OUTPUTS[:2], ThreadPart("neural", lambda: ToyScorer(("words",))), names=("words",))
    words, shared = ToyScorer(("words",)), ToyScorer(("shared",))
    run = scored(
        store, OUTPUTS, ThreadPart("neural", lambda: words), ThreadPart("neural", lambda: shared), names=NAMES
    )
    assert (sum(words.batches), sum(shared.batches)) == (2, 4)
    np.testing.assert_array_equal(
        score_table(saved_run(store, run)).values, [[2, 2], [5, 1], [3, 2], [2, np.nan]]
    )


def test_the_same_text_with_another_reference_is_another_text() -> None:
    pairs = [("a", "b", None), ("a", None, "b"), ("ab", "", None), ("ab", None, None), ("a", "b", "")]
    assert len({pair_hash(ScoringPair(*pair)) for pair in pairs}) == len(pairs)
    assert pair_hash(ScoringPair("a", "b")) == pair_hash(ScoringPair("a", "b"))


def test_one_bad_text_costs_its_own_scores_alone(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    bad = (
        *many(20),
        ScorableOutput("q7", "tiny", BREAKS, "x", level="2"),
        ScorableOutput("q8", "tiny", NO_NUMBER),
    )
    for part in (ThreadPart("lexical", ToyScorer), ThreadPart("neural", ToyScorer)):
        run = scored(store, bad, part)
        progress = progress_of(store, run.run_id)
        assert (progress.state, progress.n_done, progress.n_failed) == ("done", 19, 1)
        assert progress.failures == {(part.group, "ZeroDivisionError"): 1}
        assert undefined_scores(score_table(saved_run(store, run))) == {
            (metric, reason): 1
            for metric in ("words", "shared")
            for reason in (
                "the metric failed on this text (ZeroDivisionError)",
                "the metric gave no finite number",
            )
        }
        assert np.isfinite(score_table(saved_run(store, run)).values).sum() == 80
        assert "by nothing" in capsys.readouterr().err
    mended = ToyScorer()
    scored(store, bad, ThreadPart("lexical", lambda: mended))
    assert mended.batches == [1], "what broke is not kept as if it were a score"


def test_several_processes_give_the_same_scores(store: Store, tmp_path: Path) -> None:
    outputs = many(40)
    alone = scored(store, outputs)
    with open_store(tmp_path / "other.db") as other:
        run = new_run(other, outputs)
        pool = PoolPart("lexical", partial(open_toy, NAMES), 2)
        assert work(other, run.run_id, job_with(other, outputs, pool, workers=2)).state == "done"
        one, two = score_table(saved_run(store, alone)), score_table(saved_run(other, run))
    assert one.rows == two.rows
    np.testing.assert_array_equal(one.values, two.values)


def nothing_there() -> ToyScorer:
    raise InputError("There is no such scorer.")


def test_a_scorer_that_a_process_cannot_open_says_why(store: Store) -> None:
    run = new_run(store, OUTPUTS)
    with pytest.raises(InputError, match="no such scorer"):
        work(store, run.run_id, job_with(store, OUTPUTS, PoolPart("lexical", nothing_there, 1)))


def test_a_process_that_is_ended_from_outside_stops_the_run(store: Store) -> None:
    outputs = (ScorableOutput("q0", "tiny", DIES, "x"), *many(3)[2:])
    run = new_run(store, outputs)
    with pytest.raises(InputError, match="ended from outside"):
        work(
            store,
            run.run_id,
            job_with(store, outputs, PoolPart("lexical", partial(open_toy, NAMES), 1), workers=1),
        )
    progress = progress_of(store, run.run_id)
    assert (progress.state, progress.n_failed, progress.can_resume) == ("stopped", 0, True)
    assert "fewer workers" in progress.run.message


def test_a_model_that_is_not_there_stops_the_run_and_leaves_nothing(store: Store) -> None:
    outputs = [ScorableOutput("q0", "tiny", NO_MODEL, "x")]
    run = new_run(store, outputs)
    with pytest.raises(AssayError, match="no such model"):
        work(store, run.run_id, job_with(store, outputs, ThreadPart("neural", ToyScorer)))
    assert progress_of(store, run.run_id).run.message == "There is no such model: tiny."
    delete_run(store, run.run_id)  # as a command does
    assert list_runs(store) == []
    assert run_metrics(store, run.run_id) == ()


def test_a_cancelled_run_goes_on_where_it_stopped(store: Store, tmp_path: Path) -> None:
    outputs = many(60)
    run, slow = new_run(store, outputs), ToyScorer(seconds=0.015)

    def cancel_when_it_is_going() -> None:
        with open_store(tmp_path / "assay.db") as other:
            while len(item_states(other, run.run_id)) < 5:
                time.sleep(0.01)
            ask_to_stop(other, run.run_id)

    canceller = threading.Thread(target=cancel_when_it_is_going)
    canceller.start()
    ended = work(store, run.run_id, job_with(store, outputs, ThreadPart("lexical", lambda: slow)))
    canceller.join()
    n_done = len(item_states(store, run.run_id))
    assert (ended.state, 5 <= n_done < 60) == ("cancelled", True)
    assert len(score_table(saved_run(store, run)).rows) == 2 * n_done, "a table as far as it is"
    rest = ToyScorer()
    assert (
        work(store, run.run_id, job_with(store, outputs, ThreadPart("lexical", lambda: rest))).state == "done"
    )
    assert sum(rest.batches) <= 120 - 2 * n_done
    assert step_costs(store, run.run_id)[0].calls == 120, "each text on the account once"
    assert same_table(store, run, scored(store, outputs))


def test_a_run_is_not_resumed_with_metrics_that_are_computed_otherwise(store: Store) -> None:
    outputs = many(3)
    run = new_run(store, outputs, limit=1)
    work(store, run.run_id, job_with(store, outputs))
    newer = ThreadPart("lexical", partial(open_toy, NAMES, "2"))
    with pytest.raises(InputError) as refused:
        work(store, run.run_id, job_with(store, outputs, newer))
    assert refused.value.problems[0] == "words: words|version:1 then, words|version:2 now"
    assert "Start a new run" in refused.value.what
    assert run_metrics(store, run.run_id)[0].signature == "words|version:1"


def test_two_processes_never_work_on_one_run(store: Store) -> None:
    run = new_run(store, OUTPUTS)
    claim_run(store, run.run_id, os.getppid())
    with pytest.raises(NotAllowed, match=str(os.getppid())):
        work(store, run.run_id, job_with(store, OUTPUTS))


def test_models_are_given_the_texts_of_many_items_at_once(store: Store) -> None:
    scorer = ToyScorer(seconds=0.0005)
    scored(store, many(64), ThreadPart("neural", lambda: scorer))
    assert sum(scorer.batches) == 128
    assert max(scorer.batches) == 32, "four batches of eight"
    assert len(scorer.batches) <= 6


def test_what_all_items_will_take_is_told_from_the_first(store: Store) -> None:
    outputs = many(50)
    run = new_run(store, outputs, limit=10)
    work(
        store,
        run.run_id,
        job_with(store, outputs, ThreadPart("lexical", partial(open_toy, NAMES, "1", 0.005))),
    )
    found = estimate_all(saved_run(store, run), progress_of(store, run.run_id))
    assert (found.n_seen, found.n_items, found.calls, found.money) == (10, 50, 100, None)
    assert found.seconds == pytest.approx(0.5, rel=0.5)
    cached = new_run(store, outputs, limit=10)
    work(store, cached.run_id, job_with(store, outputs))
    assert estimate_all(saved_run(store, cached), progress_of(store, cached.run_id)).seconds is None, (
        "the cache says nothing of the time"
    )


def test_twenty_thousand_texts_by_28_metrics_are_a_table_in_seconds(store: Store) -> None:
    names = tuple(f"m{number}" for number in range(28))
    run = new_run(store, many(2))
    row = {
        "system": "tiny",
        "level": "3",
        "language": "en",
        "labels": {"dataset": "news"},
        "scores": [0.1234567890123456] * 27 + [None],
        "reasons": {"m27": "no reference"},
    }
    import json

    result = json.dumps({"outputs": [row] * 5})
    with store.writing():
        store.change_all(
            "insert into run_item values (:run, :at, 'q', 'done', :result, '[]', 0, '')",
            [{"run": run.run_id, "at": at, "result": result} for at in range(4_000)],
        )
        store.change_all(
            "insert into run_metric values (:run, :at, :name, '', '', 'higher')",
            [{"run": run.run_id, "at": at, "name": name} for at, name in enumerate(names)],
        )
    begun = time.process_time()
    table = score_table(saved_run(store, run))
    assert time.process_time() - begun < 3
    assert table.values.shape == (20_000, 28)
    assert len(table.reasons) == 20_000
