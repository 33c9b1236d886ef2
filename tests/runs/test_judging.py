"""Whole runs of the judges on a scripted server: what is scored, what is left out and why, what it cost, what is kept."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import Body, answer
from helpers.processes.scripted_server import Said, ScriptedServer, error
from helpers.texts.judge_runs import (
    COMPARING,
    LEVELS,
    RUNNING,
    create_told,
    facts,
    in_folder,
    judging_server,
    rows_of,
    run_to_the_end,
    settings,
    text_at,
    texts,
    worked,
)

from core.cli import main
from core.errors import InputError
from core.formats.registry import read_scores
from core.judges import answers
from core.judges.claims import ClaimsRecord
from core.judges.cross_examination import CefRecord
from core.judges.rubric import RubricRecord
from core.llm.client import Cache
from core.runs.asked import Running
from core.runs.costs import estimate_all
from core.runs.jobs import Outcome
from core.runs.judging import JudgeJob, judge_output
from core.runs.path import NO_SUCH_RUN, create, find_same, resume, run_report
from core.runs.progress import money_of, progress_of
from core.runs.records import read_judge_folder, read_pieces
from core.runs.scoring import score_table, undefined_scores
from core.runs.working.worker import work
from core.store import Store
from core.store.kept import keep_run_metrics, run_metrics
from core.store.runs import ask_to_stop, item_states

EXPECTED = {
    # By hand: of four facts, 0 to 4 are wrong at the five levels, and A4 lacks one.
    "rubric": {"rubric-tiny": [5, 4, 3, 2, 1]},
    "claims": {
        "claims-tiny-precision": [1, 0.75, 0.5, 0.25, 0],
        "claims-tiny-recall": [1, 0.75, 0.5, 0.25, 0],
    },
    # The source has one sentence more, `Of mill 7 this is known`, which no text has half of: four of five questions
    # are not IDK, and of a wrong fact more than half of the words are there: NO. A4 has no word of its missing fact.
    "cef": {
        "cef-tiny-coverage": [0.8, 0.8, 0.8, 0.8, 0.6],
        "cef-tiny-conformity": [1, 0.8, 0.6, 0.4, 0.4],
        "cef-tiny-consistency": [1, 1, 1, 1, 1],
        "cef-tiny-consistency-code": [1, 0.75, 0.5, 0.25, 0],
    },
}
CALLS = {
    "rubric": {"rubric": 5},
    "claims": {
        "claims of the response": 5,
        "claims of the reference": 1,
        "verify the response": 5,
        "verify the reference": 5,
    },
    "cef": {
        "questions from source": 1,
        "questions from text": 5,
        "answers from text": 5,
        "answers from source": 5,
    },
}
"""An item's, when all its texts share what they ask alike."""


@pytest.mark.parametrize("n_items", [4, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", COMPARING)
def test_every_text_is_scored_as_counted_by_hand(
    kind: Any, n_items: int, store: Store, tmp_path: Path
) -> None:
    with judging_server() as server:
        run = run_to_the_end(store, settings(kind, server.url), texts(n_items))
    progress = progress_of(store, run.run.run_id)
    assert (run.run.state, run.run.message, progress.n_done, progress.failures) == ("done", "", n_items, {})
    table = score_table(run)
    assert len(table.rows) == n_items * len(LEVELS)
    columns = {metric.name: at for at, metric in enumerate(table.metrics)}
    for name, by_level in EXPECTED[kind].items():
        for row, value in zip(table.rows, table.values[:, columns[name]], strict=True):
            assert value == pytest.approx(by_level[LEVELS.index(str(row.level))]), (name, row)
    assert {cost.step: cost.calls for cost in progress.costs} == {
        step: n * n_items for step, n in CALLS[kind].items()
    }
    assert len(server.asked) == sum(CALLS[kind].values()) * n_items

    folder = in_folder(run, tmp_path / "out")
    assert read_judge_folder(folder) == judge_output(run), "the folder holds all that the run holds"
    again = read_scores((folder / "scores.csv").read_bytes(), "scores.csv")
    assert (again.rows, again.metrics, again.reasons) == (table.rows, table.metrics, table.reasons)
    assert (again.values == table.values).all()
    whats = Counter((row["what"], row["side"]) for row in rows_of(folder / "details.csv"))
    # Each text has as many statements as facts; A4 has three.
    assert (
        whats
        == {
            "rubric": {("trial", "reference-first"): 5 * n_items},
            "claims": {("claim", "response"): 19 * n_items, ("claim", "reference"): 20 * n_items},
            "cef": {("question", "source"): 25 * n_items, ("question", "text"): 19 * n_items},
        }[kind]
    )


def test_what_the_judges_said_is_kept_beside_the_texts_they_read(store: Store) -> None:
    kept: dict[str, Any] = {}
    with judging_server() as server:
        for kind in COMPARING:
            run = run_to_the_end(store, settings(kind, server.url), texts(1))
            kept[kind] = judge_output(run)
    for kind, output in kept.items():
        one = output.texts[1]
        assert (output.name, output.kind, output.model) == (f"{kind}-tiny", kind, "tiny")
        assert (one.row.item_id, one.row.level, one.text) == ("q0", "A1", text_at(0, 1))
        source = f"Of mill 0 this is known. {' '.join(reversed(facts(0)))}"
        assert one.question == source
        assert one.document == (source if kind == "cef" else " ".join(facts(0)))
    rubric, claims, cef = (kept[kind].texts[1].record for kind in COMPARING)
    assert isinstance(rubric, RubricRecord)
    assert [(trial.verdict, trial.feedback[:4]) for trial in rubric.trials] == [(4, "0.75")]
    assert isinstance(claims, ClaimsRecord)
    assert claims.response is not None
    assert sum(claim.supported is False for claim in claims.response) == 1
    assert isinstance(cef, CefRecord)
    (examination,) = cef.examinations
    assert examination.from_source is not None
    assert Counter(question.answer for question in examination.from_source) == {"YES": 3, "NO": 1, "IDK": 1}
    assert kept["cef"].settings["n_questions"] == 10


def test_settings_stand_in_the_signature(store: Store) -> None:
    with judging_server() as server:
        chosen = settings("cef", server.url, name="mine", n_questions=3, repeats=2, seed=5)
        run = run_to_the_end(store, chosen, texts(2))
    (signature,) = {metric.signature for metric in score_table(run).metrics if metric.name == "mine-overall"}
    for part in ("model:tiny", "attempts:3", "n-questions:3", "repeats:2", "seed:5", "mode:reference-free"):
        assert f"|{part}" in signature
    assert {
        "questions": sum(
            c.calls for c in progress_of(store, run.run.run_id).costs if c.step.startswith("questions")
        )
    } == {"questions": 2 * 6 * 2}, "each repeat asks anew"
    record = judge_output(run).texts[0].record
    assert isinstance(record, CefRecord)
    assert [examination.repeat for examination in record.examinations] == [0, 1]
    assert all(len(one.from_source or ()) == 3 for one in record.examinations)


def failing(body: Body, n: int) -> Said | str:
    """Mill 3: cut off; mill 4: the server breaks; mill 5: nonsense; mill 6: refused; the others as they should."""
    asked = str(body["messages"])
    for number, said in {
        3: Said(answer(body), finish_reason="length"),
        4: error(500, "out of order"),
        5: Said("I would rather not say \x00."),
        6: Said(None, refusal="No."),
    }.items():
        if f"mill {number} near Delft" in asked:
            return said
    return answer(body)


@pytest.mark.parametrize("kind", COMPARING)
def test_what_fails_has_a_reason_and_costs_nothing_else(kind: Any, store: Store) -> None:
    with ScriptedServer(failing) as server:
        run = run_to_the_end(store, settings(kind, server.url, attempts=2), texts(8))
        assert (run.run.state, run.run.message) == (
            "stopped",
            "No answer for 1 item (server error). Last: The server answered 500: out of order. Resume the run to try "
            "again.",
        )
        states = item_states(store, run.run.run_id)
        assert [states[position] for position in range(8)] == [
            *["done"] * 3,
            "failed",
            "again",
            *["failed"] * 2,
            "done",
        ]
        table = score_table(run)
        whole = {"q0", "q1", "q2", "q7"}
        for number, row in enumerate(table.rows):
            for at, metric in enumerate(table.metrics):
                undefined = table.values[number, at] != table.values[number, at]
                known = row.item_id in whole or metric.name.endswith("conciseness")
                assert undefined == (not known) == ((number, at) in table.reasons), (row, metric)
        reasons = {reason for _, reason in undefined_scores(table)}
        assert all(
            any(word in reason for reason in reasons) for word in ("cut off", "server error", "refused")
        )
        assert (
            sum(
                n
                for (_, reason), n in progress_of(store, run.run.run_id).failures.items()
                if reason == "cut off"
            )
            > 0
        )
        assert len(judge_output(run).texts) == 40
        server.script = lambda body, n: answer(body)
        again = worked(run)
    assert again.run.state == "done"
    assert item_states(store, run.run.run_id)[4] == "done"


def rows_lacking() -> bytes:
    """Texts without a reference, with a blank one, without a source, and empty ones."""
    whole = {
        "system": "s",
        "level": "A0",
        "text": "In 1900.",
        "reference": "In 1900.",
        "source": "It was 1900.",
    }
    rows = [
        {**whole, "item_id": "whole"},
        {**whole, "item_id": "no reference", "reference": None},
        {**whole, "item_id": "no source", "source": None},
        {**whole, "item_id": "empty", "text": ""},
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("kind", COMPARING)
def test_texts_that_lack_something_are_left_out_with_that_reason_and_are_no_failures(
    kind: Any, store: Store
) -> None:
    with judging_server() as server:
        chosen = settings(kind, server.url)
        run, notes = create_told(store, rows_lacking(), "lacking.jsonl", chosen, RUNNING)
        worked(run)
    lacking = "source" if kind == "cef" else "reference"
    assert any(f"1 of 4 texts have no {lacking}" in note for note in notes)
    progress = progress_of(store, run.run.run_id)
    assert (progress.n_done, progress.failures) == (4, {})
    texts_by_id = {one.row.item_id: one for one in judge_output(run).texts}
    assert set(texts_by_id[f"no {lacking}"].reasons.values()) == {f"no {lacking}"}
    assert set(texts_by_id["empty"].reasons.values()) == {"the text is empty"}
    assert texts_by_id["empty"].record is None
    assert not texts_by_id["whole"].reasons


def test_claims_by_rules_ask_nobody(store: Store) -> None:
    chosen = settings("claims", "", backend="rules", verifier="rules")
    run = run_to_the_end(store, chosen, texts(6))
    progress = progress_of(store, run.run.run_id)
    assert (run.run.state, progress.costs, money_of(progress)) == ("done", [], None)
    assert estimate_all(run, progress).calls == 0
    table = score_table(run)
    precision = table.values[:, [metric.name for metric in table.metrics].index("claims-rules-precision")]
    by_level = precision.reshape(6, 5).mean(axis=0)
    assert by_level[0] == 1
    assert all(before >= after for before, after in pairwise(by_level))
    assert (run.request.environment, run.path.maker(run.request), run.request.seed) == (
        "base",
        "claims-rules",
        None,
    )


def test_where_a_run_goes(store: Store) -> None:
    with judging_server() as server:
        by_nli = settings("claims", server.url, verifier="nli", nli_model="some/model")
        (at_server, _), (nli, _) = (
            create(store, texts(1), "t.jsonl", one, RUNNING)
            for one in (settings("rubric", server.url, seed=7), by_nli)
        )
    assert (
        at_server.request.environment,
        at_server.path.maker(at_server.request),
        at_server.request.seed,
    ) == (
        "base",
        "rubric-tiny",
        7,
    )
    assert nli.request.environment == "neural"
    assert nli.request.prompts.keys() == {"decompose"}, "claims are verified without a prompt"
    in_process = settings("rubric", "", backend="vllm")
    run, _ = create(store, texts(1), "t.jsonl", in_process, RUNNING)
    assert run.request.environment == "vllm"


def test_a_preview_tells_what_all_will_cost_and_all_costs_that(store: Store) -> None:
    running = Running(concurrency=16, retries=0, input_price=2.0, output_price=8.0)
    with judging_server() as server:
        run, _ = create(store, texts(10), "t.jsonl", settings("cef", server.url), running, limit=5)
        worked(run)
        assert len(item_states(store, run.run.run_id)) == 5
        told = estimate_all(run, progress_of(store, run.run.run_id))
        before = len(server.asked)
        resume(run, None, None)
        worked(run)
        assert len(server.asked) - before == 5 * sum(CALLS["cef"].values()), (
            "the preview is not paid for again"
        )
    progress = progress_of(store, run.run.run_id)
    assert (told.n_seen, told.n_items, told.calls) == (5, 10, sum(cost.calls for cost in progress.costs))
    assert told.input_tokens == pytest.approx(
        sum(cost.input_tokens or 0 for cost in progress.costs), rel=0.01
    )
    money = money_of(progress)
    assert money is not None
    assert told.money == pytest.approx(money, rel=0.01)
    report = run_report(run, progress)
    assert report["money"] == money
    assert report["left_out"] == {}


def test_the_time_told_is_at_least_what_the_requests_take_that_can_be_open_at_once(store: Store) -> None:
    running = Running(concurrency=4, retries=0)
    with judging_server(lambda body, n: Said(answer(body), delay=0.02)) as server:
        run, _ = create(store, texts(40), "t.jsonl", settings("rubric", server.url), running, limit=5)
        worked(run)
    told = estimate_all(run, progress_of(store, run.run.run_id))
    assert told.seconds is not None
    assert told.seconds >= 1.0, "200 calls of at least 20 ms, four at once"


def test_a_cancelled_run_goes_on_where_it_stopped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runs.working.worker.BEAT_SECONDS", 0.02)

    running = Running(concurrency=4, retries=0)
    with judging_server(lambda body, n: Said(answer(body), delay=0.02)) as server:
        run, _ = create(store, texts(12), "t.jsonl", settings("rubric", server.url), running)

        def stop_soon() -> None:
            if len(server.asked) > 5:
                ask_to_stop(store, run.run.run_id)

        cancelled = work(store, run.run.run_id, lambda one: run.path.job(run.claimed(one)), tell=stop_soon)
        assert cancelled.state == "cancelled"
        saved = len(item_states(store, run.run.run_id))
        assert saved < 12
        again = resume(run.now(), running, None)
        assert worked(again).run.state == "done"
        assert len(server.asked) <= 60 + running.concurrency, "at most what was open is asked again"
    assert len(score_table(run).rows) == 60


def test_a_second_run_of_the_same_asks_nothing(store: Store) -> None:
    with judging_server() as server:
        chosen = settings("claims", server.url)
        run_to_the_end(store, chosen, texts(3))
        asked = len(server.asked)
        named = replace(chosen, name="again")
        second = run_to_the_end(store, named, texts(3))
        assert len(server.asked) == asked
        assert find_same(store, texts(3), named).run.run_id == second.run.run_id
        with pytest.raises(InputError, match=NO_SUCH_RUN):
            find_same(store, texts(4), named)
    assert sum(cost.calls for cost in progress_of(store, second.run.run_id).costs) == 0


def test_a_run_goes_on_only_with_what_it_was_begun_with(store: Store) -> None:
    with judging_server() as server:
        run = run_to_the_end(store, settings("rubric", server.url), texts(3), limit=1)
        (known,) = run_metrics(store, run.run.run_id)
        keep_run_metrics(
            store, run.run.run_id, [replace(known, signature=known.signature.replace("tiny", "other"))]
        )
        resume(run, None, None)
        with pytest.raises(
            InputError, match="began with metrics that are now computed differently"
        ) as refused:
            worked(run)
    assert "rubric-tiny: " in refused.value.problems[0]


class BreakingJob(JudgeJob):
    """Has a defect that shows at the second item."""

    async def do(self, position: int, cache: Cache) -> Outcome:
        if position == 1:
            raise ZeroDivisionError("ours")
        return await super().do(position, cache)


def test_a_defect_of_ours_costs_one_item(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with judging_server() as server:
        run, _ = create(store, texts(3), "t.jsonl", settings("rubric", server.url), RUNNING)
        work(store, run.run.run_id, lambda one: BreakingJob(run.claimed(one)))
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert {one.row.item_id for one in judge_output(run).texts} == {"q0", "q2"}
    assert len(read_judge_folder(in_folder(run, tmp_path / "out")).texts) == 10
    assert any("1 item has no scores" in note for note in score_table(run).notes)


def test_the_commands_of_runs_know_judges(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(failing) as server:
        run, _ = create(store, texts(4), "t.jsonl", settings("rubric", server.url), RUNNING, limit=2)
        where = ["--db", str(store.path)]
        assert main(["runs", "work", str(run.run.run_id), *where]) == 0
        assert main(["runs", "resume", str(run.run.run_id), "--out", str(tmp_path / "out"), *where]) == 0
        printed = capsys.readouterr().out
    assert "3 of 4 items complete" in printed
    assert "20 texts, 1 metric." in printed
    assert "texts for which a step of the judge failed" in printed
    assert "rubric-tiny: rubric: cut off" in printed
    assert "Cost of rubric: 45 calls" in printed, "15 texts once; 5 cut off with four limits and twice more"
    assert (tmp_path / "out" / "details.csv").exists()
    assert main(["runs", "list", *where]) == 0
    listed = capsys.readouterr().out.splitlines()[1].split("\t")
    assert (listed[2], listed[5], listed[6]) == ("rubric", "rubric-tiny", "0")
    assert main(["runs", "show", str(run.run.run_id), "--json", *where]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["settings"]["prompts"]["rubric"]["name"] == "rubric"
    assert [metric["name"] for metric in shown["settings"]["metrics"]] == ["rubric-tiny"]
    with pytest.raises(InputError):
        read_pieces(answers.KIND, (tmp_path / "out" / "records.jsonl").read_bytes(), "records.jsonl")
