"""Runs whose requests are answered in files: the same results as from a server, and nothing asked or paid twice."""

import csv
import io
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.models.batch_answerer import answered, as_file, requests_of_round, waiting_requests
from helpers.models.model_answers import answer
from helpers.models.three_tries import BEGUN, THOUGHT, UNREADABLE
from helpers.models.vllm_environment import answer_batch
from helpers.processes.batch_service import BatchService
from helpers.processes.killed_run import ROOT, kill_in_the_middle
from helpers.processes.scripted_server import Body, Said, Script, ScriptedServer, error
from helpers.texts.judge_runs import settings, texts, worked

from core.cli import main
from core.errors import InputError
from core.llm.asking import LIMIT_GROWS
from core.llm.exchange import MOST_BYTES
from core.runs.asked import Running
from core.runs.jobs import RunAtHand
from core.runs.judging import judge_output
from core.runs.kinds import KINDS
from core.runs.path import create, resume, saved_run, written
from core.runs.progress import money_of, progress_of
from core.runs.working.batch import files as batch_files
from core.runs.working.batch.answers import AnswersRead, read_answers
from core.runs.working.batch.service import Service, answers_of_service
from core.store import Store, open_store
from core.store.beside import append_lines, run_folder, whole_lines
from core.store.runs import get_run

URL = "http://127.0.0.1:9/v1"
"""Nobody answers there."""
LIMIT = 300
"""Tokens of an answer."""


def well(body: Body, n: int) -> str:
    return answer(body, n)


def in_three_tries(body: Body, n: int) -> Said | str:
    """First an answer nobody can read, then one that is cut off, then the right one, told from the request alone."""
    if "cannot be used" not in str(body["messages"][-1]["content"]):
        return UNREADABLE
    thought = f"<think>{THOUGHT}</think>"
    if body["max_tokens"] < LIMIT * LIMIT_GROWS:
        return Said(thought + BEGUN, finish_reason="length")
    return thought + answer(body, n)


def questions(n_items: int) -> bytes:
    rows = (
        {
            "item_id": f"q{n}",
            "question": f"What of mill {n}?",
            "reference": f"Jan Vermeer built mill {n} near Delft in {1600 + n}. It burned down on 3 May {1700 + n}.",
        }
        for n in range(n_items)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def begin(
    store: Store, kind: str = "rubric", n_items: int = 2, limit: int | None = None, **given: Any
) -> RunAtHand:
    """A run of batch files that waits for the answers of its first round."""
    data = questions(n_items) if KINDS[kind].work == "generation" else texts(n_items)
    chosen = settings(kind, given.pop("url", URL), backend="batch", **given)
    running = Running(input_price=1.0, output_price=10.0)
    run, _ = create(store, data, "mills.jsonl", chosen, running, limit)
    return worked(run)


def read(run: RunAtHand, *files: Sequence[Mapping[str, Any]], **how: bool) -> AnswersRead:
    """Read files of these lines."""
    opened = [
        (f"answers-{n}.jsonl", io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode()))
        for n, lines in enumerate(files)
    ]
    return read_answers(run.store, run.run.run_id, opened, **how)


def go_on(run: RunAtHand) -> RunAtHand:
    return worked(resume(run, None, run.run.limit))


def to_the_end(run: RunAtHand, script: Script) -> tuple[RunAtHand, int]:
    """The run when nothing is open any more, and the number of rounds that took."""
    rounds = 0
    while run.run.state == "awaiting":
        rounds += 1
        assert rounds < 20
        read(run, answered(waiting_requests(run.store, run.run.run_id), script))
        run = go_on(run)
    return run, rounds


def files_of(run: RunAtHand) -> dict[str, bytes]:
    """Results without what differs from one run to the next: times and the name of the backend."""
    return {name: data for name, data in written(run).items() if name != "run.json"}


@pytest.mark.parametrize(
    "kind",
    [
        "rubric",
        "factual",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("claims", "cef", "damage")),
    ],
)
def test_the_results_are_those_of_a_server_byte_by_byte(kind: str, tmp_path: Path) -> None:
    data = questions(2) if KINDS[kind].work == "generation" else texts(2)
    with (
        open_store(tmp_path / "server.db") as at_server,
        open_store(tmp_path / "batch.db") as in_files,
        ScriptedServer(in_three_tries) as server,
    ):
        limits = {"max_tokens": LIMIT, "reasoning_budget": 50}
        chosen = settings(kind, server.url, **limits)
        by_server = worked(create(at_server, data, "mills.jsonl", chosen, Running(retries=0))[0])
        run, rounds = to_the_end(begin(in_files, kind, url=server.url, **limits), in_three_tries)
        assert by_server.run.state == run.run.state == "done"
        assert rounds >= 3, "an answer nobody can read, one cut off, and the right one"
        assert files_of(run) == files_of(by_server)
        first = [one["body"] for one in requests_of_round(in_files, number=0)]
        sent = [asked.body for asked in server.asked]
        assert all(body in sent for body in first), "the bodies are those that a server gets"
        costs, same = (progress_of(one.store, 1).costs for one in (run, by_server))
        assert [(c.step, c.calls, c.unusable, c.input_tokens, c.output_tokens) for c in costs] == [
            (c.step, c.calls, c.unusable, c.input_tokens, c.output_tokens) for c in same
        ]


def test_costs_are_tokens_times_the_given_prices(store: Store) -> None:
    to_the_end(begin(store), lambda body, n: Said(answer(body, n), usage=(100, 7)))
    progress = progress_of(store, 1)
    (cost,) = progress.costs
    assert (cost.calls, cost.input_tokens, cost.output_tokens) == (10, 1000, 70)
    assert money_of(progress) == pytest.approx((1000 * 1.0 + 70 * 10.0) / 1e6)


def test_a_request_of_several_items_is_one_line(store: Store) -> None:
    row = json.loads(texts(1).splitlines()[0])
    data = "".join(json.dumps(row | {"item_id": name}) + "\n" for name in ("a", "b", "c")).encode()
    run, _ = create(store, data, "same.jsonl", settings("rubric", URL, backend="batch"), Running())
    run = worked(run)
    assert len(requests_of_round(store)) == 1
    run, _ = to_the_end(run, well)
    (cost,) = progress_of(store, 1).costs
    assert (cost.calls, cost.cached) == (1, 2)


def test_a_run_that_is_resumed_without_answers_asks_nothing_twice(store: Store) -> None:
    run = begin(store)
    before = sorted(file.name for file in run_folder(store, 1).iterdir())
    run = go_on(run)
    assert sorted(file.name for file in run_folder(store, 1).iterdir()) == before
    assert (run.run.state, "10 requests" in run.run.message) == ("awaiting", True)


def test_some_answers_are_enough_to_go_on_and_the_others_keep_waiting(store: Store) -> None:
    run = begin(store, "claims")
    lines = answered(requests_of_round(store), well)
    told = read(run, lines[:3])
    assert (told.n_answered, told.n_missing) == (3, len(lines) - 3)
    run = go_on(run)
    assert run.run.state == "awaiting"
    new = {one["custom_id"] for one in requests_of_round(store)}
    assert new.isdisjoint(line["custom_id"] for line in lines), "what waits in the first file is in no other"
    again = read(run, lines)
    assert (again.n_before, again.n_answered, again.n_missing) == (3, len(lines) - 3, len(new))
    run, _ = to_the_end(go_on(run), well)
    assert run.run.state == "done"


def test_missing_answers_are_asked_again_on_demand(store: Store) -> None:
    run = begin(store)
    lines = answered(requests_of_round(store), well)
    told = read(run, lines[:8], give_up=True)
    assert (told.n_answered, told.n_given_up, told.n_missing) == (8, 2, 0)
    run = go_on(run)
    assert {one["custom_id"] for one in requests_of_round(store)} == {line["custom_id"] for line in lines[8:]}
    assert to_the_end(run, well)[0].run.state == "done"


def test_failures_count_with_their_reason_and_those_on_the_way_are_asked_again(store: Store) -> None:
    run = begin(store)
    requests = requests_of_round(store)
    lines = answered(requests, well)
    busy, down, late, wrong, odd, of_vllm = lines[:6]
    busy["response"] |= {"status_code": 429, "body": error(429, "Rate limit reached.").body}
    down["response"] |= {"status_code": 503, "body": None}
    late |= {"response": None, "error": {"code": "batch_expired", "message": "Not executed in time."}}
    wrong["response"] |= {"status_code": 400, "body": error(400, "The messages are wrong.").body}
    odd["response"] |= {"status_code": 404, "body": error(404, "No such model.").body}
    of_vllm["response"] |= {"status_code": 400, "body": None}
    of_vllm["error"] = {"error": {"message": "maximum context length is 8", "type": "x", "code": 400}}
    told = read(run, lines[6:], lines[:6])
    assert told.n_answered == 4
    assert told.failed == {
        "busy": 1,
        "server error": 1,
        "timeout": 1,
        "rejected": 1,
        "unreachable": 1,
        "too long": 1,
    }
    run = go_on(run)
    assert {one["custom_id"] for one in requests_of_round(store)} == {
        line["custom_id"] for line in (busy, down, late, odd)
    }
    run, rounds = to_the_end(go_on(run), well)
    assert rounds == 1
    progress = progress_of(store, 1)
    assert (run.run.state, progress.n_done + progress.n_failed) == ("done", 2)
    assert progress.failures == {("rubric", "rejected"): 1, ("rubric", "too long"): 1}
    reasons = Counter(row["reason"] for row in store.rows("select reason from run_call where not cached"))
    assert reasons == told.failed | {None: 8}, "every failure is one call, however often the item began anew"


def test_what_a_server_refuses_is_left_out_of_the_next_round(store: Store) -> None:
    run = begin(store)
    refused = error(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
        "unsupported_parameter",
        "max_tokens",
    )
    assert read(run, answered(requests_of_round(store), lambda body, n: refused)).n_changed == 10
    run = go_on(run)
    assert all("max_completion_tokens" in one["body"] for one in requests_of_round(store))
    run, _ = to_the_end(run, well)
    assert progress_of(store, 1).n_done == 2


def test_every_problem_of_the_files_is_named_and_nothing_is_stored(store: Store) -> None:
    run = begin(store)
    lines = answered(requests_of_round(store), well)
    begun = json.dumps(lines[4])[:40]
    content = [
        json.dumps(lines[0]),
        json.dumps(lines[0] | {"id": "other"}),
        json.dumps(lines[1] | {"custom_id": "nobody"}),
        "[1]",
        json.dumps({"id": "x", "response": {}}),
        json.dumps(requests_of_round(store)[0]),
        "",
        json.dumps(lines[2] | {"response": None}),
        begun,
    ]
    with pytest.raises(InputError) as wrong:
        read_answers(store, 1, [("a.jsonl", io.BytesIO("\n".join(content).encode()))])
    assert [problem.partition(":")[0] for problem in wrong.value.problems] == [
        f"line {n}" for n in (2, 3, 4, 5, 6, 8, 9)
    ]
    assert not list(run_folder(store, 1).glob("answers*"))
    assert read(run, lines).n_answered == 10


def test_a_line_that_no_answer_fills_is_named_and_not_read_whole(store: Store) -> None:
    begin(store)
    lines = answered(requests_of_round(store), well)
    begun = json.dumps(lines[0]).encode()
    content = b"\n".join([begun, begun[:-1] + b" " * 2 * MOST_BYTES + b"}", json.dumps(lines[1]).encode()])
    with pytest.raises(InputError) as wrong:
        read_answers(store, 1, [("a.jsonl", io.BytesIO(content))])
    assert list(wrong.value.problems) == ["line 2: longer than 16 MB"]


def test_answers_of_another_run_and_a_run_without_files_are_refused(store: Store) -> None:
    begin(store)
    lines = answered(requests_of_round(store), well)
    other = begin(store, n_items=1, name="other")
    with pytest.raises(InputError, match="another run"):
        read(other, [line | {"custom_id": "0" * 64} for line in lines])
    plain, _ = create(store, texts(1), "t.jsonl", settings("rubric", URL), Running())
    with pytest.raises(InputError, match="no batch file"):
        read(plain, lines)


def test_answers_may_lie_in_the_folder_of_the_run(store: Store) -> None:
    run = begin(store, n_items=1)
    folder = run_folder(store, 1)
    for n, name in enumerate(("answers.jsonl", "answers-service.jsonl", "answers-7.jsonl")):
        lines = answered(waiting_requests(store, 1), well)[: 5 if n == 2 else 1]
        file = as_file(folder / name, lines)
        with file.open("rb") as content:
            assert read_answers(store, 1, [(name, content)]).n_answered == len(lines)
    assert (folder / "answers-008.jsonl").is_file()
    assert go_on(run).run.state == "done"


def test_of_two_processes_that_read_answers_at_once_one_is_refused(store: Store) -> None:
    run = begin(store)
    lines = answered(requests_of_round(store), well)

    class Meanwhile(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            if not list(run_folder(store, 1).glob("answers-*.jsonl")):
                assert read(run, lines).n_answered == len(lines)
            return super().readline(size)

    content = Meanwhile("".join(json.dumps(line) + "\n" for line in lines).encode())
    with pytest.raises(InputError, match="Another process"):
        read_answers(store, 1, [("a.jsonl", content)])
    assert [path.name for path in run_folder(store, 1).glob("answers*")] == ["answers-001.jsonl"]
    assert go_on(run).run.state == "done"


def test_a_round_is_split_at_the_limits_of_one_file(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_files, "MOST_REQUESTS", 4)
    begin(store)
    (one,) = batch_files.rounds_in(run_folder(store, 1))
    assert one.files == ("round-001-1.jsonl", "round-001-2.jsonl", "round-001-3.jsonl")
    assert len(requests_of_round(store)) == 10
    largest = max(len(json.dumps(line)) for line in requests_of_round(store)) + 1
    monkeypatch.setattr(batch_files, "MOST_REQUESTS", 10**6)
    monkeypatch.setattr(batch_files, "MOST_BYTES", 2 * largest)
    other = begin(store, "cef")
    folder = run_folder(store, other.run.run_id)
    sizes = [(folder / name).stat().st_size for name in batch_files.rounds_in(folder)[0].files]
    assert len(sizes) >= 2
    assert all(size <= 2 * largest for size in sizes) or len(sizes) == len(requests_of_round(store, 2))


def test_after_a_preview_only_the_other_items_are_asked(store: Store) -> None:
    run, _ = to_the_end(begin(store, n_items=3, limit=1), well)
    assert (run.run.state, progress_of(store, 1).n_done) == ("done", 1)
    run = worked(resume(run, None, None))
    assert len(requests_of_round(store)) == 10
    run, _ = to_the_end(run, well)
    assert progress_of(store, 1).n_done == 3


def test_the_same_requests_cost_nothing_at_a_server_later(store: Store) -> None:
    with ScriptedServer(well) as server:
        to_the_end(begin(store, url=server.url), well)
        run = worked(create(store, texts(2), "t.jsonl", settings("rubric", server.url), Running())[0])
        assert (run.run.state, len(server.asked)) == ("done", 0)


def test_a_line_that_a_killed_process_left_unfinished_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"one\ntwo\nthr")
    assert [line for _, line in whole_lines(path)] == [b"one", b"two"]
    assert append_lines(path, [b"four"]) == 8
    assert list(whole_lines(path)) == [(0, b"one"), (4, b"two"), (8, b"four")]


def test_the_commands_go_from_round_to_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, database, out = tmp_path / "t.jsonl", tmp_path / "c.db", tmp_path / "out"
    file.write_bytes(texts(2))
    where = ["--out", str(out), "--db", str(database)]
    model = ["--backend", "batch", "--model", "tiny", "--base-url", URL]
    assert main(["judge", "claims", str(file), *where, *model]) == 0
    told = capsys.readouterr().out
    with open_store(database) as store:
        folder = run_folder(store, 1)
        assert str(folder / "round-001.jsonl") in told
        while get_run(store, 1).state == "awaiting":
            answers = as_file(tmp_path / "answers.jsonl", answered(requests_of_round(store), well))
            assert main(["runs", "answers", "1", str(answers), *where]) == 0
        assert get_run(store, 1).state == "done"
    assert (out / "scores.csv").is_file()
    assert main(["runs", "answers", "1", str(tmp_path / "none.jsonl"), *where]) == 2


def first_of_demo(n_items: int) -> bytes:
    """The first answer to each of the demo's first questions."""
    rows = list(csv.DictReader(io.StringIO((ROOT / "data" / "demo" / "answers.csv").read_text("utf-8"))))
    first = list({row["item_id"]: row for row in reversed(rows)}.values())[::-1][:n_items]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(first)
    return out.getvalue().encode()


KEY = "secret-key-of-the-test"


def test_a_batch_service_answers_round_after_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BATCH_KEY", KEY)
    database = tmp_path / "s.db"
    with BatchService(well, KEY, leaves_out=2) as service, open_store(database) as store:
        run = begin(store, "claims", url=service.url)
        command = [
            "runs",
            "submit",
            "1",
            "--key-variable",
            "BATCH_KEY",
            "--every",
            "0.01",
            "--db",
            str(database),
        ]
        assert main(command) == 0
        progress = progress_of(store, 1)
        assert (progress.state, progress.n_done) == ("done", 2)
        first = requests_of_round(store, number=0)
        rounds = [len(data.splitlines()) for data in service.files.values() if b'"method"' in data]
        assert rounds[0] == len(first)
        assert sum(rounds) == sum(cost.calls for cost in progress.costs), (
            "the two that were late are asked again"
        )
        assert run.run.state == "awaiting"
    told = "".join(capsys.readouterr())
    assert KEY not in told
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_whoever_waits_for_a_service_may_be_killed_and_nothing_is_submitted_twice(store: Store) -> None:
    class Killed(BaseException):
        pass

    def killed(seconds: float) -> None:
        raise Killed

    with BatchService(well) as service:
        run = begin(store, url=service.url)
        access = Service(service.url, "BATCH_KEY")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BATCH_KEY", KEY)
            with pytest.raises(Killed):
                answers_of_service(store, 1, access, every=1, sleep=killed)
            assert answers_of_service(store, 1, access, every=0).n_answered == 10
            assert len(service.batches) == 1
            assert progress_of(store, go_on(run).run.run_id).n_done == 2


def test_a_file_that_a_service_refuses_is_an_error_with_its_message(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCH_KEY", KEY)
    monkeypatch.setenv("WRONG_KEY", "another-secret-key")
    with BatchService(well) as service:
        begin(store, url=service.url)
        with pytest.raises(InputError, match="401") as wrong:
            answers_of_service(store, 1, Service(service.url, "WRONG_KEY"), every=0)
        assert "another-secret-key" not in str(wrong.value)
        service.refuses = "too many tokens in the queue"
        with pytest.raises(InputError) as refused:
            answers_of_service(store, 1, Service(service.url, "BATCH_KEY"), every=0)
        assert list(refused.value.problems) == ["round-001.jsonl: too many tokens in the queue"]
        assert answers_of_service(store, 1, Service(service.url, "BATCH_KEY"), every=0).n_answered == 10
        assert len(service.batches) == 2


@pytest.mark.slow
def test_vllm_answers_the_file_of_a_real_judge(tmp_path: Path, vllm_python: Path, real_model: Path) -> None:
    with open_store(tmp_path / "real.db") as store:
        chosen = settings("rubric", URL, backend="batch", model="smollm2", attempts=1, largest_limit=1)
        run = worked(create(store, first_of_demo(2), "demo.csv", chosen, Running())[0])
        answers = tmp_path / "answers.jsonl"
        requests = run_folder(store, 1) / "round-001.jsonl"
        answer_batch(vllm_python, requests, answers, real_model, "smollm2")
        with answers.open("rb") as file:
            told = read_answers(store, 1, [(answers.name, file)])
        assert (told.n_answered, told.failed, told.n_missing) == (2, {}, 0)
        run = go_on(run)
        progress = progress_of(store, 1)
        assert (run.run.state, progress.n_done + progress.n_failed) == ("done", 2)
        (cost,) = progress.costs
        assert cost.calls == 2
        assert cost.input_tokens
        assert cost.output_tokens
        # At least one of the two is usable, though the model is far too small to judge.
        scores = [score for text in judge_output(run).texts for score in text.scores.values()]
        assert set(scores) - {None} <= {1, 2, 3, 4, 5}
        assert any(score is not None for score in scores)


DYING = """
import os, runpy, signal, sys
from core.runs.working import answers
answers.put_in_place = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
runpy.run_module("core", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
def test_kill_9_while_answers_are_read_and_between_items_loses_nothing(tmp_path: Path) -> None:
    database, fresh = tmp_path / "killed.db", tmp_path / "fresh.db"
    with open_store(database) as store:
        run = begin(store, n_items=12)
        lines = answered(requests_of_round(store), well)
    file = as_file(tmp_path / "answers.jsonl", lines)
    command = ["runs", "answers", "1", str(file), "--db", str(database)]
    died = subprocess.run([sys.executable, "-c", DYING, *command], cwd=ROOT, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    with open_store(database) as store:
        assert not batch_files.closed_in(run_folder(store, 1))
    kill_in_the_middle(command, database, 4, 12)
    with open_store(database) as store:
        paid = store.row("select count(*) as n from run_call where not cached")
        assert paid is not None
        assert 20 <= paid["n"] <= 60
    done = subprocess.run(
        [sys.executable, "-m", "core", *command], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with open_store(database) as store, open_store(fresh) as other:
        run = saved_run(store, 1)
        same, _ = to_the_end(begin(other, n_items=12), well)
        assert files_of(run) == files_of(same)
        (cost,) = progress_of(store, 1).costs
        assert (cost.calls, len(batch_files.rounds_in(run_folder(store, 1)))) == (60, 1)
