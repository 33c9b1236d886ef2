"""The same model at another place, and in two parts with a worker process each; test_vllm_engine.py reads what was seen.

`python tests/llm/workers_session.py MODEL COPY REPORT.json`, as a child process of its own.
"""

import asyncio
import json
import os
import sys
import time
from multiprocessing import active_children
from pathlib import Path
from typing import Any

from vllm_session import SCHEMA, Session, items, plain

from core.errors import InputError
from core.llm.client import Message, Request
from core.llm.vllm import VllmEngine


def numbered() -> list[Request]:
    return [Request("try", (Message("user", f"Item {n}"),), max_tokens=12) for n in range(8)]


async def said(model: str, **options: Any) -> dict[str, Any]:
    engine = VllmEngine(model, max_model_len=512, dtype="float32", options=options)
    try:
        await engine.start()
    except InputError as problem:
        return {"refused": str(problem)}
    replies = plain(list(await asyncio.gather(*map(engine.complete, numbered()))))
    during, started = len(active_children()), time.perf_counter()
    await engine.close()
    seconds = time.perf_counter() - started
    return {"replies": replies, "during": during, "after": len(active_children()), "closing": seconds}


async def main(model: str, copied: str, report: Path) -> None:
    room = os.environ["VLLM_CPU_KVCACHE_SPACE"]
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "100000"
    seen: dict[str, Any] = {"memory": await said(model)}
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = room
    session = Session(copied)
    await session.start()
    seen["elsewhere"] = {
        "identity": dict(session.engine.identity),
        "free": plain(await session.ask(items())),
        "schema": plain(await session.ask(items(schema=SCHEMA, max_tokens=200))),
        "numbered": plain(await session.ask(numbered())),
    }
    await session.engine.close()
    seen["two"] = await said(model, tensor_parallel_size=2)
    report.write_text(json.dumps(seen), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
