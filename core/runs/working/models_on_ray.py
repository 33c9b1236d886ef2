"""Models on a Ray cluster: the open requests of a round, answered there by the client that a run here would use.

A server is asked by tasks of Ray Data, which share the requests that may be open. vLLM runs in actors, one for each share of
the cluster's GPUs, which keep their model until the run ends.

Ray Data has processors for models (`ray.data.llm`), which are not used: they return no reason why an answer ended, so an
answer that was cut off would count as one, and they restart a worker that dies of a request without end.
"""

import asyncio
import math
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from platform import node
from typing import Any

from core.errors import InputError
from core.llm.client import MOST_IN_A_ROW, NOT_KEPT, TRANSPORT, Client, Reply, Request, request_key
from core.llm.rounds import Collecting, OpenRequests
from core.llm.vllm import VllmEngine
from core.metrics.kind import cores
from core.runs.asked import ModelSettings, Running
from core.runs.working.answers import Answers, Delivered
from core.runs.working.cluster import Cluster, Lost, pieced
from core.store import Store
from core.store.beside import make_run_folder
from core.store.kept import failed_calls

AT_ONCE = 10_000
"""Requests in memory at the same time; those of a round can be millions."""
BATCHES_DEEP = 8
"""Requests of a batch for each that its worker has open: a batch ends when its last request does, and meanwhile less is
open. A worker that dies loses a batch."""
ENGINE_BATCH = 64
"""Requests of a batch for vLLM."""
ENGINE_BATCHES = VllmEngine.concurrency // ENGINE_BATCH
"""Batches that one engine works on at the same time, so that it never waits for the last request of one."""
Asked = tuple[str, Request]
"""A key and its request."""
ClientOf = Callable[[ModelSettings, Running], Client]


@dataclass(frozen=True)
class Answering:
    """Answers requests in a worker. The first call of a process connects to the server or loads the model."""

    client_of: Callable[[], Client]
    """Picklable. Secrets are not part of it: the client reads them from the environment of the worker."""

    def __call__(self, requests: Sequence[Asked]) -> list[Reply]:
        """The replies in the order of the requests. Raises InputError if the client cannot work on this machine."""
        return self._runner.run(self.answered(requests))

    async def answered(self, requests: Sequence[Asked]) -> list[Reply]:
        """The same in a running event loop."""
        try:
            await asyncio.shield(self._started)
        except InputError as problem:
            where = f"this was found on {node()}, where a worker of Ray runs, with the environment that Ray has there"
            raise InputError(problem.what, [*problem.problems, where]) from problem
        key, request = requests[0]
        if request_key(self._client, request) != key:
            raise InputError(
                f"The model {self._client.model} on {node()} is not the one that the run was started with.",
                ["put the same files, and the same version of vLLM, on every machine of the cluster"],
            )
        return list(await asyncio.gather(*(self._client.complete(request) for _, request in requests)))

    @cached_property
    def _runner(self) -> asyncio.Runner:
        return asyncio.Runner()

    @cached_property
    def _client(self) -> Client:
        return self.client_of()

    @cached_property
    def _started(self) -> "asyncio.Task[None]":
        return asyncio.create_task(self._client.start())


class OnRay:
    """Deliverer that has requests answered on a cluster; see core.llm.rounds. The first round starts or joins it."""

    def __init__(self, answers: Answers, model: ModelSettings, running: Running, client_of: ClientOf) -> None:
        """client_of: makes the client of a local run."""
        self._answers, self._model, self._running, self._client_of = answers, model, running, client_of
        self._cluster: Cluster | None = None
        self._engines: Engines | None = None
        self._stop = threading.Event()
        self._over = threading.Event()
        """Set while nothing is being answered."""
        self._over.set()
        self.n_arrived = 0
        """See Deliverer."""

    def next_reply(self, key: str, request: Request) -> Reply | None:
        """See Deliverer."""
        return self._answers.next_reply(key)

    def last_reply(self, key: str) -> Reply | None:
        """See Deliverer."""
        return self._answers.last_reply(key)

    async def deliver(self, waiting: OpenRequests) -> None:
        """Answer the requests, and save each batch of replies as it arrives. Ends early if the server does not answer.

        Raises InputError if there is no cluster, or the model cannot be used on it.
        """
        if self._stop.is_set():
            return
        self.n_arrived = 0
        try:
            await asyncio.to_thread(self._answer, waiting)
        except asyncio.CancelledError:
            # The thread reads the requests, which are gone as soon as this returns.
            await self._end()
            raise

    async def close(self) -> None:
        """End or leave the cluster."""
        await self._end()

    async def _end(self) -> None:
        self._stop.set()
        if self._cluster is not None:
            await asyncio.to_thread(self._cluster.close)
        await asyncio.to_thread(self._over.wait)

    # The following methods run in a thread.

    def _answer(self, waiting: OpenRequests) -> None:
        self._over.clear()
        try:
            self._start()
            left = iter(waiting)
            silent = 0
            while (
                (some := list(islice(left, AT_ONCE))) and silent < MOST_IN_A_ROW and not self._stop.is_set()
            ):
                silent = self._some(some, silent)
        except Exception:
            if not self._stop.is_set():  # otherwise it only says that the cluster is gone
                raise
        finally:
            self._over.set()

    def _start(self) -> None:
        if self._cluster is None:
            self._cluster = Cluster(self._running.address, workers=self._workers_here())
            self._cluster.start()
            if self._model.backend == "vllm":
                answering = Answering(partial(self._client_of, self._model, self._running))
                self._engines = Engines(answering, gpus_of(self._model), self._stop)

    def _workers_here(self) -> int:
        """Workers of a cluster that is started on this machine."""
        return min(cores(), self._running.concurrency) if self._model.backend == "openai" else 1

    def _some(self, requests: Sequence[Asked], silent: int) -> int:
        """Answer some requests; returns the number of replies in a row without an answer of the server."""
        batches, answered = self._spread(requests)
        for at, replies in answered:
            found = [
                Delivered(key, left_out(one) if isinstance(one, Lost) else one)
                for (key, _), one in zip(batches[at], replies, strict=True)
            ]
            self._answers.append(found)
            self.n_arrived += len(found)
            for one in found:
                assert one.reply is not None
                silent = silent + 1 if one.reply.reason in TRANSPORT else 0
            if silent >= MOST_IN_A_ROW or self._stop.is_set():
                break
        return silent

    def _spread(
        self, requests: Sequence[Asked]
    ) -> tuple[list[Sequence[Asked]], Iterator[tuple[int, list[Reply | Lost]]]]:
        """The requests in batches, and (index of a batch, its replies) as they come."""
        assert self._cluster is not None
        if self._engines is not None:
            batches = request_batches(requests, ENGINE_BATCH, len(self._engines) * ENGINE_BATCHES)
            return batches, self._engines.answers(batches)
        share = max(1, self._running.concurrency // self._cluster.width)
        running = self._running.but(concurrency=share)
        batches = request_batches(requests, share * BATCHES_DEEP, self._cluster.width)
        return batches, self._cluster.spread(
            Answering(partial(self._client_of, self._model, running)), batches
        )


class Engines:
    """Engines of vLLM in actors of a cluster. Only for one thread."""

    def __init__(self, answering: Answering, gpus: int, stop: threading.Event) -> None:
        """gpus: of one engine. Raises InputError if no machine has so many."""
        import ray

        self._stop = stop
        self._function = pickle.dumps(answering)
        machines = [one["Resources"] for one in ray.nodes() if one["Alive"] and "CPU" in one["Resources"]]
        with_gpus = [int(one["GPU"]) for one in machines if one.get("GPU", 0) >= 1]
        if with_gpus and (most := max(with_gpus)) < gpus:
            raise InputError(
                f"The engine needs {gpus} GPUs of one machine, but no machine of the cluster has more than {most}.",
                ["choose smaller engine options tensor_parallel_size and pipeline_parallel_size"],
            )
        # Without a GPU an engine has a machine to itself: two on one machine would only share its processors.
        n = sum(one // gpus for one in with_gpus) if with_gpus else len(machines)
        self._needs = {"num_gpus": gpus if with_gpus else 0, "num_cpus": 1, "max_restarts": 0}
        self._engines = [self._new() for _ in range(n)]

    def __len__(self) -> int:
        return len(self._engines)

    def _new(self) -> Any:
        import ray

        how = {**self._needs, "max_concurrency": ENGINE_BATCHES, "scheduling_strategy": "SPREAD"}
        return ray.remote(Engine).options(**how).remote(self._function)

    def answers(self, batches: Sequence[Sequence[Asked]]) -> Iterator[tuple[int, list[Reply | Lost]]]:
        """(Index of a batch, its replies) as they come; see Cluster.spread for workers that die."""
        at_once = iter([ENGINE_BATCHES])

        def worked(pieces: Sequence[Sequence[Asked]], tries: int) -> Iterator[tuple[int, Sequence[Reply]]]:
            # What comes back here was in an engine that died. Alone in an engine, only the culprit dies again.
            return self._round(pieces, tries, next(at_once, 1))

        return pieced(worked, batches, self._stop.is_set)

    def _round(
        self, pieces: Sequence[Sequence[Asked]], tries: int, at_once: int
    ) -> Iterator[tuple[int, Sequence[Reply]]]:
        """(Index, replies) of the pieces whose engines survive. at_once: pieces in an engine at the same time."""
        import ray
        from ray.exceptions import RayActorError

        todo = deque(enumerate(pieces))
        left = [tries] * len(pieces)
        busy: dict[Any, tuple[int, Any, int]] = {}  # answer that is awaited -> (engine, its actor, piece)
        room = deque(at for _ in range(at_once) for at in range(len(self)))
        while (todo or busy) and not self._stop.is_set():
            while todo and room:
                engine, (piece, asked) = room.popleft(), todo.popleft()
                actor = self._engines[engine]
                busy[actor.answer.remote(asked)] = engine, actor, piece
            done, _ = ray.wait(list(busy), timeout=1)
            for answer in done:
                engine, actor, piece = busy.pop(answer)
                room.append(engine)
                try:
                    replies, problem = ray.get(answer)
                except RayActorError:
                    if self._engines[engine] is actor:  # the first of its answers that is lost
                        self._engines[engine] = self._new()
                    left[piece] -= 1
                    if left[piece]:
                        todo.append((piece, pieces[piece]))
                    continue
                if problem is not None:
                    raise problem
                yield piece, replies


class Engine:
    """An actor with a model."""

    def __init__(self, function: bytes) -> None:
        self._answering: Answering = pickle.loads(function)

    async def answer(self, requests: Sequence[Asked]) -> tuple[list[Reply], InputError | None]:
        """The replies, or why the model cannot be used here."""
        try:
            return await self._answering.answered(requests), None
        except InputError as problem:
            return [], problem


def request_batches(requests: Sequence[Asked], size: int, width: int) -> list[Sequence[Asked]]:
    """The requests in batches of at most `size`, and of fewer if otherwise some of `width` workers had none."""
    size = max(1, min(size, math.ceil(len(requests) / width)))
    return [requests[at : at + size] for at in range(0, len(requests), size)]


def gpus_of(model: ModelSettings) -> int:
    """GPUs of one engine according to its options."""
    n = 1
    for name in ("tensor_parallel_size", "pipeline_parallel_size"):
        with suppress(TypeError, ValueError):  # vLLM reports wrong options, with what it expects
            n *= max(1, int(model.engine.get(name, 1)))
    return n


def left_out(lost: Lost) -> Reply:
    """The reply to a request that kills its worker: it is neither repeated nor kept for other runs."""
    return Reply(None, "rejected", f"The request was given up: {lost.reason}.")


def ray_client(
    store: Store, run_id: int, model: ModelSettings, running: Running, client_of: ClientOf
) -> Collecting:
    """The client of a run whose requests are answered on a cluster. It has the identity of the client of a local run."""
    answers = Answers(make_run_folder(store, run_id), failed_calls(store, run_id, NOT_KEPT))
    return Collecting(client_of(model, running), OnRay(answers, model, running, client_of))
