"""vLLM with a worker process for each part of a model, as a child process; test_vllm_engine.py reads what it saw.

`python tests/llm/workers_session.py MODEL REPORT.json`.
"""

import asyncio
import json
import os
import sys
import time
from multiprocessing import active_children
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.llm.client import Message, Request
from core.llm.vllm import VllmEngine


async def said(model: str, **options: Any) -> dict[str, Any]:
    engine = VllmEngine(model, max_model_len=512, dtype="float32", options=options)
    try:
        await engine.start()
    except InputError as problem:
        return {"refused": str(problem)}
    asked = [Request("try", (Message("user", f"Item {n}"),), max_tokens=12) for n in range(8)]
    replies = [vars(one) for one in await asyncio.gather(*map(engine.complete, asked))]
    during, started = len(active_children()), time.perf_counter()
    await engine.close()
    seconds = time.perf_counter() - started
    return {"replies": replies, "during": during, "after": len(active_children()), "closing": seconds}


async def main(model: str, report: Path) -> None:
    room = os.environ["VLLM_CPU_KVCACHE_SPACE"]
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "100000"
    seen = {"memory": await said(model)}
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = room
    seen |= {"alone": await said(model), "two": await said(model, tensor_parallel_size=2)}
    report.write_text(json.dumps(seen), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
