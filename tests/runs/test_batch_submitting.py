"""Submitting to a batch service: one batch is paid whatever happens in between, and texts go to the named server alone."""

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

from core.runs.asked import Running
from core.runs.path import create
from core.runs.progress import progress_of
from core.store import open_store
from core.store.beside import run_folder

KEY = "secret-key-of-the-test"
N_ITEMS = 2
DYING_IN = {
    "read_answers": """
import os, runpy, signal
from core.runs.working.batch import service
service.read_answers = lambda *_, **how: os.kill(os.getpid(), signal.SIGKILL)
runpy.run_module("core", run_name="__main__", alter_sys=True)
""",
    "_noted_at_the_end": """
import os, runpy, signal
from core.runs.working.batch import service
read = service.read_answers
def read_and_die(*files, **how):
    read(*files, **how)
    os.kill(os.getpid(), signal.SIGKILL)
service.read_answers = read_and_die
runpy.run_module("core", run_name="__main__", alter_sys=True)
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


class Submitting:
    """`runs submit` in a process of its own."""

    def __init__(self, database: Path, *options: str, **environment: str) -> None:
        command = ["runs", "submit", "1", "--key-variable", "BATCH_KEY", "--every", "0.01", *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "core", *command, "--db", str(database)],
            cwd=ROOT,
            env={**os.environ, "BATCH_KEY": KEY, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=60)

    def ended(self) -> tuple[int, str]:
        """Its status and what it printed."""
        told, _ = self.process.communicate(timeout=120)
        return self.process.returncode, told


def submitted(database: Path, *options: str, **environment: str) -> tuple[int, str]:
    return Submitting(database, *options, **environment).ended()


def killed_before_the_answer(service: BatchService, database: Path, *, made: bool) -> None:
    """A process that is killed between its request for a batch and the answer, once the batch is made or before."""
    submitting: list[Submitting] = []

    def kill() -> None:
        submitting[0].kill()

    if made:
        service.lost = kill
    else:
        service.lost_before = kill
    submitting.append(Submitting(database))
    assert submitting[0].ended()[0] == -signal.SIGKILL
    service.lost = service.lost_before = None
    assert len(service.batches) == int(made)


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


@pytest.mark.parametrize("lists", ["no list", "without either name"])
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
    status, told = submitted(database)
    assert (status, len(service.batches), n_done(database)) == (0, 1, N_ITEMS), told


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
    service.lists = "all"
    submitting: list[Submitting] = []
    service.lost = lambda: submitting[0].kill()
    submitting.append(Submitting(database))
    submitting[0].ended()
    service.lost, service.twice = None, False
    status, told = submitted(database)
    assert (status, n_done(database), service.paid) == (0, N_ITEMS, ["batch_0"]), told


def test_a_service_that_refuses_metadata_is_asked_without(service: BatchService, database: Path) -> None:
    service.refuses_metadata = True
    killed_before_the_answer(service, database, made=True)
    status, told = submitted(database)
    assert (status, len(service.batches), n_done(database)) == (0, 1, N_ITEMS), told


def test_two_processes_at_once_pay_one_batch(service: BatchService, database: Path) -> None:
    told: list[tuple[int, str]] = []
    service.lost = lambda: told.append(submitted(database)) if not told else None
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
    assert 0 < service.n_sent < 20_000_000
    with open_store(database) as store:
        assert sum(path.stat().st_size for path in run_folder(store, 1).iterdir()) < 1_000_000


def test_an_endless_answer_to_a_submission_is_a_lost_one(service: BatchService, database: Path) -> None:
    service.endless = r"/batches$"
    status, told = submitted(database)
    assert (status, service.batches) == (2, {}), told
    assert 0 < service.n_sent < 20_000_000


@pytest.mark.parametrize("dies", ["read_answers", "_noted_at_the_end"])
def test_killed_while_answers_are_read_pays_one_batch(
    service: BatchService, database: Path, dies: str
) -> None:
    code = DYING_IN[dies]
    command = ["runs", "submit", "1", "--key-variable", "BATCH_KEY", "--every", "0.01", "--db", str(database)]
    died = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=ROOT,
        env={**os.environ, "BATCH_KEY": KEY},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
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
    assert {headers.get("x-team") for _, headers in service.asked} == {"mills"}
    assert {headers.get("x-token") for _, headers in service.asked} == {"token-of-the-team"}
    assert all(
        b"token-of-the-team" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
    )
