"""Submitting to a batch service: one batch is paid whatever happens in between, and texts go to the named server alone."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import answer
from helpers.processes.batch_service import BatchService, Lists
from helpers.processes.killed_run import ROOT
from helpers.processes.scripted_server import Body
from helpers.texts.judge_runs import settings, texts, worked

from core.cli import main
from core.runs.asked import Running
from core.runs.path import create
from core.runs.progress import progress_of
from core.store import open_store
from core.store.beside import run_folder

KEY = "secret-key-of-the-test"
N_ITEMS = 2
MOST_SENT = 40_000_000
"""Bytes of an answer of which a client reads 16 MB, and the rest waits in the system's buffers."""
DYING = {
    "before they are stored": """
import os, signal
from core.runs.working.batch import service
service.read_answers = lambda *_, **how: os.kill(os.getpid(), signal.SIGKILL)
""",
    "once they are stored": """
import os, signal
from core.runs.working.batch import service
read = service.read_answers
service.read_answers = lambda *files, **how: (read(*files, **how), os.kill(os.getpid(), signal.SIGKILL))
""",
}
"""Between the download of the answers and their reading, and between that and the note of it."""


def well(body: Body, n: int) -> str:
    return answer(body, n)


@pytest.fixture
def service() -> Iterator[BatchService]:
    with BatchService(well, KEY) as running:
        yield running


@pytest.fixture
def database(tmp_path: Path, service: BatchService) -> Path:
    """With a run whose first file waits."""
    begin(tmp_path / "submitting.db", service.url)
    return tmp_path / "submitting.db"


def begin(database: Path, url: str, **given: Any) -> None:
    with open_store(database) as store:
        run, _ = create(
            store, texts(N_ITEMS), "mills.jsonl", settings("rubric", url, backend="batch", **given), Running()
        )
        assert worked(run).run.state == "awaiting"


def command(database: Path, *options: str) -> list[str]:
    named = ["--key-variable", "BATCH_KEY", "--every", "0.01", "--db", str(database)]
    return ["runs", "submit", "1", *named, *options]


def process(database: Path, before: str = "") -> "subprocess.Popen[str]":
    """`runs submit` in a process of its own. before: code that it runs first."""
    run = 'import runpy; runpy.run_module("core", run_name="__main__", alter_sys=True)'
    return subprocess.Popen(
        [sys.executable, "-c", f"{before}\n{run}", *command(database)],
        cwd=ROOT,
        env={**os.environ, "BATCH_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(running: "subprocess.Popen[str]") -> tuple[int, str]:
    """Its status and what it printed."""
    told, _ = running.communicate(timeout=240)
    return running.returncode, told


def submitted(database: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Status and output of `runs submit` in this process, with these environment variables."""
    told = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(told),
    ):
        for name, value in {"BATCH_KEY": KEY, **environment}.items():
            patch.setenv(name, value)
        return main(command(database, *options)), told.getvalue()


def killed_before_the_answer(service: BatchService, database: Path, *, made: bool) -> None:
    """A process that is killed between its request for a batch and the answer, once the batch is made or before."""
    submitting: list[subprocess.Popen[str]] = []

    def kill() -> None:
        submitting[0].kill()
        submitting[0].wait(timeout=60)

    if made:
        service.lost = kill
    else:
        service.lost_before = kill
    submitting.append(process(database))
    assert ended(submitting[0])[0] == -signal.SIGKILL
    service.lost = service.lost_before = None
    assert len(service.batches) == made * (1 + service.twice)


def process_killed_while_it_waits(service: BatchService, database: Path) -> list[str]:
    """The batches of a process that is killed once its batch is noted."""
    died = process(
        database,
        """
import os, signal
from core.llm.batches import BatchService
BatchService.batch = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
""",
    )
    status, told = ended(died)
    assert status == -signal.SIGKILL, told
    return list(service.batches)


def n_done(database: Path) -> int:
    with open_store(database) as store:
        return progress_of(store, 1).n_done


@pytest.mark.parametrize("lists", ["all", "without metadata"])
def test_killed_between_request_and_answer_pays_one_batch(
    service: BatchService, database: Path, lists: Lists
) -> None:
    service.lists = lists
    killed_before_the_answer(service, database, made=True)
    status, told = submitted(database)
    assert (status, len(service.batches), n_done(database)) == (0, 1, N_ITEMS), told


def test_a_batch_is_found_on_a_later_page_of_the_list(service: BatchService, database: Path) -> None:
    killed_before_the_answer(service, database, made=True)
    for n in range(5):
        service.batches[f"other_{n}"] = {
            **service.batches["batch_0"],
            "id": f"other_{n}",
            "metadata": {"of": "another program"},
            "input_file_id": "file_of_another",
        }
    status, told = submitted(database)
    assert (status, len(service.batches), n_done(database)) == (0, 6, N_ITEMS), told


@pytest.mark.parametrize("lists", ["no list", "without either name", "nothing"])
def test_where_it_cannot_be_looked_up_nothing_is_submitted_again(
    service: BatchService, database: Path, lists: Lists
) -> None:
    service.lists = lists
    killed_before_the_answer(service, database, made=True)
    for _ in range(2):
        status, told = submitted(database)
        assert (status, len(service.batches)) == (2, 1), told
        assert "--again" in told
        assert "file_0" in told
    status, told = submitted(database, "--again")
    assert (status, len(service.batches), n_done(database)) == (0, 2, N_ITEMS), told


def test_a_batch_that_was_never_made_is_submitted_again(service: BatchService, database: Path) -> None:
    killed_before_the_answer(service, database, made=False)
    service.batches["other"] = {"id": "other", "status": "completed", "metadata": {"of": "another program"}}
    status, told = submitted(database)
    assert (status, len(service.batches), n_done(database)) == (0, 2, N_ITEMS), told


def test_a_refusal_does_not_make_a_lost_submission_forgotten(service: BatchService, database: Path) -> None:
    service.lists = "no list"
    killed_before_the_answer(service, database, made=True)
    assert submitted(database, "--again", BATCH_KEY="wrong")[0] == 2
    assert submitted(database)[0] == 2
    assert len(service.batches) == 1


def test_a_second_batch_that_appears_later_is_cancelled(service: BatchService, database: Path) -> None:
    assert process_killed_while_it_waits(service, database) == ["batch_0"]
    service.batches["batch_1"] = {**service.batches["batch_0"], "id": "batch_1", "created_at": 2e9}
    status, told = submitted(database)
    assert (status, n_done(database), service.paid) == (0, N_ITEMS, ["batch_0"]), told
    assert "Cancelled: batch_1" in told


@pytest.mark.parametrize("lists", ["all", "no list"])
def test_an_answer_that_was_lost_on_the_way_pays_one_batch(
    service: BatchService, database: Path, lists: Lists
) -> None:
    service.lists = lists
    service.lost = lambda: None
    status, told = submitted(database)
    service.lost = None
    assert len(service.batches) == 1, told
    assert (status, n_done(database)) == ((0, N_ITEMS) if lists == "all" else (2, 0)), told
    status, told = submitted(database)
    assert len(service.batches) == 1, told


def test_a_redirect_after_a_submission_is_a_lost_answer(service: BatchService, database: Path) -> None:
    """`See Other` may lead to the batch that was made."""
    service.leads_to_batch = True
    status, told = submitted(database)
    assert (status, n_done(database), service.paid) == (0, N_ITEMS, ["batch_0"]), told


def test_a_list_that_may_have_more_proves_nothing(service: BatchService, database: Path) -> None:
    """It keeps metadata, shows the newest batches alone, and never says that there are more."""
    killed_before_the_answer(service, database, made=True)
    for number in range(1, 4):
        service.batches[f"other_{number}"] = {**service.batches["batch_0"], "id": f"other_{number}"} | {
            "input_file_id": f"other_file_{number}",
            "metadata": {"assay": "another"},
        }
    service.newest_only = True
    n_before = len(service.batches)
    status, told = submitted(database)
    assert (status, len(service.batches)) == (2, n_before), told


@pytest.mark.parametrize("after", [1, 100])
def test_answers_without_a_file_are_waited_for_and_never_asked_again(
    service: BatchService, database: Path, after: int
) -> None:
    service.names_files_after = after
    status, told = submitted(database)
    assert (status, n_done(database)) == ((0, N_ITEMS) if after == 1 else (2, 0)), told
    service.names_files_after = 0
    status, told = submitted(database)
    assert (n_done(database), service.paid) == (N_ITEMS, ["batch_0"]), told


def test_of_two_batches_the_one_with_answers_is_taken(service: BatchService, database: Path) -> None:
    service.twice = True
    killed_before_the_answer(service, database, made=True)
    service.batches["batch_0"] |= {"status": "expired", "output_file_id": None}
    status, told = submitted(database)
    assert (status, n_done(database)) == (0, N_ITEMS), told
    assert len(service.batches) == 2


def test_of_two_batches_of_one_name_one_is_paid(service: BatchService, database: Path) -> None:
    service.twice = True
    status, told = submitted(database)
    assert (status, n_done(database)) == (0, N_ITEMS), told
    assert service.paid == ["batch_0"]
    assert "batch_1" in told


def test_made_twice_and_killed_before_the_answer_pays_one_batch(
    service: BatchService, database: Path
) -> None:
    service.twice = True
    killed_before_the_answer(service, database, made=True)
    service.twice = False
    status, told = submitted(database)
    assert (status, n_done(database), service.paid) == (0, N_ITEMS, ["batch_0"]), told


def test_a_service_that_refuses_metadata_is_asked_without(service: BatchService, database: Path) -> None:
    service.refuses_metadata = True
    killed_before_the_answer(service, database, made=True)
    status, told = submitted(database)
    assert (status, len(service.batches), n_done(database)) == (0, 1, N_ITEMS), told


def test_two_processes_at_once_pay_one_batch(service: BatchService, database: Path) -> None:
    told: list[tuple[int, str]] = []
    service.lost = lambda: told.append(ended(process(database)))
    status, first = submitted(database)
    service.lost = None
    assert told[0][0] == 2, told
    assert (status, len(service.batches)) == (0, 1), first


def test_no_text_goes_where_a_service_redirects(service: BatchService, database: Path) -> None:
    with BatchService(well, KEY) as elsewhere:
        service.redirects_to = elsewhere.url.removesuffix("/v1")
        status, told = submitted(database)
        assert (elsewhere.n_received, elsewhere.asked) == (0, [])
    assert status == 2
    assert "redirects (307)" in told


@pytest.mark.parametrize("endless", [r"/files$", r"/batches/\w+$", r"/content$"])
def test_an_answer_without_end_is_cut(service: BatchService, database: Path, endless: str) -> None:
    service.endless = endless
    status, told = submitted(database)
    assert status == 2, told
    assert re.search(r"\d MB", told)
    assert 0 < service.n_sent < MOST_SENT
    with open_store(database) as store:
        assert sum(path.stat().st_size for path in run_folder(store, 1).iterdir()) < 1_000_000


def test_a_file_that_trickles_is_given_up(
    service: BatchService, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.llm.guarded.STALL", 0.2)
    service.endless, service.trickles = r"/content$", True
    status, told = submitted(database)
    assert (status, list(service.paid)) == (2, ["batch_0"]), told
    assert 0 < service.n_sent < 1_000
    service.endless = ""
    assert (submitted(database)[0], list(service.paid), n_done(database)) == (0, ["batch_0"], N_ITEMS)


def test_an_endless_answer_to_a_submission_is_a_lost_one(service: BatchService, database: Path) -> None:
    service.endless = r"/batches$"
    status, told = submitted(database)
    assert (status, service.batches) == (2, {}), told
    assert 0 < service.n_sent < MOST_SENT


@pytest.mark.parametrize("dies", DYING)
def test_killed_while_answers_are_read_pays_one_batch(
    service: BatchService, database: Path, dies: str
) -> None:
    status, told = ended(process(database, DYING[dies]))
    assert status == -signal.SIGKILL, told
    assert n_done(database) == 0
    status, told = submitted(database)
    assert (status, len(service.batches), n_done(database)) == (0, 1, N_ITEMS), told


def test_a_proxy_is_not_used_for_a_server_on_this_machine(service: BatchService, database: Path) -> None:
    with BatchService(well, KEY) as proxy:
        address = proxy.url.removesuffix("/v1")
        names = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
        status, told = submitted(database, **dict.fromkeys(names, address), no_proxy="", NO_PROXY="")
        assert (status, proxy.asked) == (0, []), told


def test_nothing_of_the_environment_reaches_a_service(service: BatchService, database: Path) -> None:
    names = (
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_WEBHOOK_SECRET",
    )
    environment = dict.fromkeys(names, "of-another-server")
    environment["OPENAI_CUSTOM_HEADERS"] = "X-Team: of-another-server\nAuthorization: of-another-server"
    environment["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
    status, told = submitted(database, **environment)
    assert status == 0, told
    sent = [value for _, headers in service.asked for value in headers.values()]
    assert [value for value in sent if "of-another-server" in value] == []


def test_headers_and_version_of_the_run_reach_a_service(tmp_path: Path, service: BatchService) -> None:
    database = tmp_path / "version.db"
    begin(
        database,
        service.url,
        api_version="2024-10-21",
        headers={"x-team": "mills", "x-token": "env:TEAM_TOKEN"},
    )
    status, told = submitted(database, TEAM_TOKEN="token-of-the-team")
    assert status == 0, told
    assert {bool(re.search(r"[?&]api-version=2024-10-21", asked)) for asked, _ in service.asked} == {True}
    (listed,) = service.requests_to("GET /batches?")
    assert "limit=100" in listed[0]
    assert {headers.get("x-team") for _, headers in service.asked} == {"mills"}
    assert {headers.get("x-token") for _, headers in service.asked} == {"token-of-the-team"}
    assert all(
        b"token-of-the-team" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
    )
