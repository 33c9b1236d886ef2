"""A real model with a LoRA adapter, as a child process in vLLM's environment; test_adapters.py reads what it saw.

`python tests/llm/adapter_session.py MODEL MADE REPORT.json`, where MADE was made by tests/helpers/models/adapters.py.
"""

import asyncio
import json
import sys
import time
import typing
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.llm.client import Message, Request
from core.llm.vllm import VllmEngine

QUESTIONS = (
    "Name the largest moon of Saturn in one word.",
    "What is two plus two?",
    "Write a sentence about the sea.",
    "What is the capital of France?",
)
OPTIONS = {"max_num_batched_tokens": 256, "max_num_seqs": 4}


async def said(model: Path, adapter: Path | None = None) -> list[dict[str, Any]]:
    engine = VllmEngine(
        str(model),
        max_model_len=256,
        dtype="float32",
        adapter=None if adapter is None else str(adapter),
        options=OPTIONS,
    )
    await engine.start()
    asked = [Request("try", (Message("user", one),), max_tokens=20) for one in QUESTIONS]
    replies = await asyncio.gather(*map(engine.complete, asked))
    await engine.close()
    return [vars(reply) for reply in replies]


async def main(model: Path, made: Path, report: Path) -> None:
    seen: dict[str, Any] = {
        "merged": await said(made / "merged"),
        "adapter": await said(model, made / "adapter"),
    }
    started = time.perf_counter()
    try:
        await said(model, made / "gone")
    except InputError as problem:
        seen |= {"gone": str(problem), "gone_seconds": time.perf_counter() - started}
    from vllm.config.lora import MaxLoRARanks

    seen["ranks"] = typing.get_args(MaxLoRARanks)
    report.write_text(json.dumps(seen), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(*map(Path, sys.argv[1:])))
