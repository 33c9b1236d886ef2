"""Engines of a cluster with a client in vLLM's place: `python ray_engines.py`, with Ray's Python, prints what came back.

The client answers in capitals. One request ends the process that answers it, as a fault of a model's code would.
"""

import json
import os
import threading
from collections.abc import Mapping

from core.llm.client import Message, Reply, Request, request_key
from core.runs.working.cluster import Cluster, Lost
from core.runs.working.models_on_ray import Answering, Engines, request_batches

N, DEADLY, BATCH = 40, 17, 8


class Capitals:
    """See Client."""

    backend, model, concurrency = "vllm", "capitals", 256
    identity: Mapping[str, object] = {}

    async def start(self) -> None:
        """Do nothing."""

    async def complete(self, request: Request) -> Reply:
        said = request.messages[0].content
        if said == f"number {DEADLY}":
            os._exit(9)
        return Reply(f"{said.upper()} by {os.getpid()}")

    async def close(self) -> None:
        """Do nothing."""


def main() -> None:
    requests = [Request("rank", (Message("user", f"number {n}"),)) for n in range(N)]
    asked = [(request_key(Capitals(), one), one) for one in requests]
    batches = request_batches(asked, BATCH, 1)
    found: dict[int, list[Reply | Lost]] = {}
    with Cluster(workers=2):
        engines = Engines(Answering(Capitals), 1, threading.Event())
        for at, replies in engines.answers(batches):
            assert at not in found
            found[at] = replies
    said = [one for at in range(len(batches)) for one in found[at]]
    print(json.dumps([one.text if isinstance(one, Reply) else None for one in said]))


if __name__ == "__main__":
    # As a module, because the cluster's workers import it by its name.
    from helpers.processes import ray_engines

    ray_engines.main()
