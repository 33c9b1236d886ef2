"""Runs of a model on a Ray cluster, with another cluster in Ray's place: results as here, and what a dead worker costs."""

import json
import pickle
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import Body, answer
from helpers.processes.scripted_server import Said, ScriptedServer
from helpers.texts.judge_runs import LEVELS, settings, texts, worked

from core.errors import InputError
from core.llm.client import MOST_IN_A_ROW, Reply
from core.runs.asked import Asked, ModelSettings, Running, ask
from core.runs.jobs import RunAtHand
from core.runs.kinds import KINDS
from core.runs.path import create, resume, saved_run, written
from core.runs.working import models_on_ray
from core.runs.working.cluster import LOST, Lost
from core.runs.working.models_on_ray import Answering, gpus_of, request_batches
from core.schema.runs import RUN_FILE
from core.store import Store, open_store
from core.store.runs import ask_to_stop, get_run

ROOT = Path(__file__).resolve().parents[2]
DEMO = (ROOT / "data" / "demo" / "questions.jsonl").read_bytes()
HERE = Running(concurrency=8, retries=0)
ON_RAY = HERE.but(engine="ray")
DEADLY = "mill number 3 "
"""In the prompts that kill a worker of the other cluster."""


class OtherCluster:
    """What Cluster does, in threads of this process. Functions and results are pickled, as on the way to a machine."""

    starts = 0
    messages: list[str]
    ends_after: int | None = None
    """Batches after which the run's process is as good as killed."""
    deadly: str | None = None
    hangs: Path | None = None
    """Database: its run is told to stop after the first batches, and all others take for ever."""

    def __init__(self, address: str = "", workers: int = 1) -> None:
        self.width = 2
        self.closed = threading.Event()

    def start(self) -> None:
        type(self).starts += 1

    def close(self) -> None:
        self.closed.set()

    def spread(
        self, function: Answering, batches: Sequence[Sequence[Any]]
    ) -> Iterator[tuple[int, list[Reply | Lost]]]:
        workers = [pickle.loads(pickle.dumps(function)) for _ in range(self.width)]
        with ThreadPoolExecutor(self.width) as pool:
            for n, first in enumerate(range(0, len(batches), self.width)):
                some = range(first, min(first + self.width, len(batches)))
                waiting = [
                    pool.submit(self._work, workers[at - first], pickle.dumps(batches[at])) for at in some
                ]
                for at, one in zip(some, waiting, strict=True):
                    yield at, pickle.loads(one.result())
                if n + 1 == self.ends_after:
                    raise KilledHere
                if self.hangs is not None:
                    with open_store(self.hangs) as store:
                        self.messages.append(get_run(store, 1).message)
                        ask_to_stop(store, 1)
                    assert self.closed.wait(20), "nobody ends the cluster"
                    raise RuntimeError("the cluster is gone")

    def _work(self, worker: Answering, data: bytes) -> bytes:
        asked = pickle.loads(data)
        dies = [self.deadly is not None and self.deadly in str(request.messages) for _, request in asked]
        left = [one for one, dead in zip(asked, dies, strict=True) if not dead]
        replies = iter(worker(left) if left else ())
        return pickle.dumps([LOST if dead else next(replies) for dead in dies])


class KilledHere(BaseException):
    """The end of the run's process, which nothing in it survives."""


@pytest.fixture(autouse=True)
def other_cluster(monkeypatch: pytest.MonkeyPatch) -> type[OtherCluster]:
    cluster = type("Cluster", (OtherCluster,), {"messages": []})
    monkeypatch.setattr(models_on_ray, "Cluster", cluster)
    return cluster


def judge(url: str) -> tuple[Asked, bytes]:
    return settings("rubric", url), texts(6, LEVELS[:3])


def many(url: str) -> tuple[Asked, bytes]:
    """100 requests in batches of 32, of which two are answered at a time."""
    return settings("rubric", url), texts(20)


def generation(url: str) -> tuple[Asked, bytes]:
    model = {"backend": "openai", "model": "tiny", "base_url": url}
    return ask(KINDS["factual"], {}, model, {})[0], b"\n".join(DEMO.splitlines()[:3])


def made(store: Store, what: tuple[Asked, bytes], running: Running) -> RunAtHand:
    asked, data = what
    return create(store, data, "t.jsonl", asked, running)[0]


def results(run: RunAtHand) -> dict[str, bytes]:
    """The files of a run without its account, in which times stand."""
    return {name: data for name, data in written(run).items() if name != RUN_FILE}


def account(run: RunAtHand) -> dict[str, Any]:
    """What a run cost, without times."""
    report = json.loads(written(run)[RUN_FILE])
    costs = [{name: n for name, n in one.items() if "seconds" not in name} for one in report["costs"]]
    return {"costs": costs, "failures": report["failures"], "state": report["state"]}


@pytest.mark.parametrize("what", [judge, generation])
def test_results_and_cost_are_those_of_a_run_without_a_cluster(
    what: Any, tmp_path: Path, other_cluster: type[OtherCluster]
) -> None:
    def script(body: Body, n: int) -> str:
        # Some answers are unusable, so that a second one is asked for.
        asked = str(body["messages"])
        return "{" if "number 2 " in asked and len(body["messages"]) < 3 else answer(body, n)

    runs = []
    with ScriptedServer(script) as server:
        for running in (HERE, ON_RAY):
            with open_store(tmp_path / f"{running.engine}.db") as store:
                run = worked(made(store, what(server.url), running))
                runs.append((results(run), account(run)))
        assert server.most_open <= HERE.concurrency
    assert runs[0] == runs[1]
    assert runs[1][1]["state"] == "done"
    assert other_cluster.starts == 1, "one cluster for all rounds"


def test_an_item_whose_request_kills_its_worker_is_left_out(
    tmp_path: Path, other_cluster: type[OtherCluster]
) -> None:
    with ScriptedServer(answer) as server, open_store(tmp_path / "a.db") as store:
        whole = worked(made(store, judge(server.url), HERE))
        scores_here = scores(whole)
    other_cluster.deadly = DEADLY
    with ScriptedServer(answer) as server, open_store(tmp_path / "b.db") as store:
        run = worked(made(store, judge(server.url), ON_RAY))
        assert run.run.state == "done"
        assert account(run)["failures"] == [{"step": "rubric", "reason": "rejected", "n": 3}]
        assert {item: one for item, one in scores(run).items() if item != "q3"} == {
            item: one for item, one in scores_here.items() if item != "q3"
        }
        [call] = store.rows("select distinct detail from run_call where reason = 'rejected'")
        assert LOST.reason in call["detail"]


def scores(run: RunAtHand) -> dict[str, list[object]]:
    """Item -> its lines of the scores, without the address of the server."""
    found: dict[str, list[object]] = {}
    for line in results(run)["scores.csv"].decode().splitlines()[1:]:
        found.setdefault(line.split(",")[0], []).append(line)
    return found


def test_a_killed_run_goes_on_with_what_has_arrived(
    tmp_path: Path, other_cluster: type[OtherCluster]
) -> None:
    with ScriptedServer(answer) as server, open_store(tmp_path / "a.db") as store:
        run = made(store, many(server.url), ON_RAY)
        other_cluster.ends_after = 1
        with pytest.raises(KilledHere):
            worked(run)
        n = len(server.bodies)
        assert n == 64
        other_cluster.ends_after = None
        worked(resume(saved_run(store, 1), None, None))
        assert len(server.bodies) == 100, "nothing that had arrived is asked again"
        assert account(run.now())["costs"][0]["calls"] == 100


def test_a_cancelled_run_leaves_the_cluster_and_keeps_what_has_arrived(
    tmp_path: Path, other_cluster: type[OtherCluster]
) -> None:
    database = tmp_path / "a.db"
    with ScriptedServer(answer) as server, open_store(database) as store:
        run = made(store, many(server.url), ON_RAY)
        other_cluster.hangs = database
        assert worked(run).run.state == "cancelled"
        n = len(server.bodies)
        assert n == 64
        assert other_cluster.messages[0].startswith("Waiting for answers to 100 requests")
        other_cluster.hangs = None
        assert worked(resume(saved_run(store, 1), None, None)).run.state == "done"
        assert len(server.bodies) == 100


def test_a_server_that_does_not_answer_is_given_up_soon(tmp_path: Path) -> None:
    def script(body: Body, n: int) -> Said:
        return Said(status=500, body={"error": {"message": "out of order"}})

    with ScriptedServer(script) as server, open_store(tmp_path / "a.db") as store:
        asked = settings("rubric", server.url)
        run = worked(create(store, texts(100), "t.jsonl", asked, ON_RAY)[0])
        assert (run.run.state, len(server.bodies) < 180) == ("stopped", True)
        assert "server error" in run.run.message
        assert len(server.bodies) >= MOST_IN_A_ROW


def test_without_the_model_the_run_ends_with_the_servers_reason(tmp_path: Path) -> None:
    with ScriptedServer(answer, models=("other",)) as server, open_store(tmp_path / "a.db") as store:
        run = made(store, judge(server.url), ON_RAY)
        with pytest.raises(InputError, match="other"):
            worked(run)
        assert run.now().run.state == "stopped"


def test_a_machine_with_another_model_is_refused(tmp_path: Path) -> None:
    with ScriptedServer(answer) as server:
        from core.llm.client import Message, Request
        from core.runs.jobs import client_of

        model = ModelSettings(backend="openai", model="tiny", base_url=server.url)
        answering = Answering(lambda: client_of(model, HERE))
        with pytest.raises(InputError, match="not the one"):
            answering([("another key", Request("rubric", (Message("user", "x"),)))])
        assert not server.bodies


def test_batches_are_large_and_no_worker_is_without_one() -> None:
    asked: Any = list(range(100))
    assert [len(one) for one in request_batches(asked, 32, 2)] == [32, 32, 32, 4]
    assert [len(one) for one in request_batches(asked, 64, 4)] == [25] * 4
    assert [len(one) for one in request_batches(asked[:3], 64, 8)] == [1] * 3
    assert [one for batch in request_batches(asked, 7, 3) for one in batch] == asked


@pytest.mark.parametrize(
    ("engine", "n"),
    [
        ({}, 1),
        ({"tensor_parallel_size": 2}, 2),
        ({"tensor_parallel_size": 4, "pipeline_parallel_size": "2"}, 8),
    ],
)
def test_an_engine_needs_a_gpu_for_each_part_of_its_model(engine: dict[str, Any], n: int) -> None:
    assert gpus_of(ModelSettings(backend="vllm", model="m", engine=engine)) == n
