"""One session with a real engine, as a child process in vLLM's environment; test_vllm_engine.py reads what it saw.

`python tests/llm/vllm_session.py MODEL REPORT.json`. Loading takes most of the time, so one process tries all.
"""

import asyncio
import json
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.llm.client import Message, Reply, Request
from core.llm.vllm.engine import VllmEngine

WINDOW = 1024
OPTIONS = {"enforce_eager": True}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text", "kind"],
    "properties": {"text": {"type": "string", "maxLength": 40}, "kind": {"enum": ["name", "number"]}},
}
ITEMS = 64


def question(words: str, **settings: Any) -> Request:
    system = Message("system", "You change one fact of a text and leave the rest as it is. " * 4)
    return Request("try", (system, Message("user", words)), **{"max_tokens": 24, **settings})


def items(**settings: Any) -> list[Request]:
    return [question(f"Item {n}: the bridge was opened in {1900 + n}.", **settings) for n in range(ITEMS)]


class Session:
    """An engine, and a record of what vLLM was called with: the calls themselves are the real ones."""

    def __init__(self, model: str) -> None:
        self.engine = VllmEngine(model, max_model_len=WINDOW, dtype="bfloat16", options=OPTIONS)
        self.calls: list[list[Any]] = []
        self.outputs: list[Any] = []

    async def start(self) -> None:
        await self.engine.start()
        real = self.engine._llm.chat

        def chat(conversations: list[Any], *arguments: Any, **named: Any) -> list[Any]:
            self.calls.append(conversations)
            outputs: list[Any] = real(conversations, *arguments, **named)
            self.outputs.append(outputs)
            return outputs

        self.engine._llm.chat = chat

    async def ask(self, requests: list[Request]) -> list[Reply]:
        self.calls.clear()
        self.outputs.clear()
        return list(await asyncio.gather(*[self.engine.complete(request) for request in requests]))


def plain(replies: list[Reply]) -> list[dict[str, Any]]:
    return [vars(reply) for reply in replies]


async def batches(session: Session) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for name, settings in {
        "free": {},
        "again": {},
        "schema": {"schema": SCHEMA, "max_tokens": 200},
        "schema_again": {"schema": SCHEMA, "max_tokens": 200},
    }.items():
        started = time.perf_counter()
        seen[name] = plain(await session.ask(items(**settings)))
        seen[f"{name}_seconds"] = time.perf_counter() - started
        seen[f"{name}_calls"] = [len(call) for call in session.calls]
        seen[f"{name}_prompts"] = {
            output.request_id: len(output.prompt_token_ids) for output in session.outputs[0]
        }
    return seen


async def prefixes(session: Session) -> dict[str, Any]:
    """Two long beginnings, asked in turns: alternating here, one after the other there."""
    starts = ["A record of the old town. " * 40, "Notes on a journey by sea. " * 40]
    replies = await session.ask([question(f"{starts[n % 2]} Part {n}.") for n in range(20)])
    order = [call[-1]["content"][:8] for call in session.calls[0]]
    return {
        "order": order,
        "cached": [output.num_cached_tokens for output in session.outputs[0]],
        "n": len(replies),
    }


async def bad_among_good(session: Session) -> dict[str, Any]:
    good = items()[:10]
    long = question("word " * 5000)
    impossible = question("One more.", schema={"type": "nonsense"})
    broken_text = question("half a pair: \ud800")
    replies = await session.ask([*good[:3], long, *good[3:7], impossible, broken_text, *good[7:]])
    calls = [len(call) for call in session.calls]
    alone = await session.ask(good)
    return {"replies": plain(replies), "calls": calls, "alone": plain(alone)}


async def limits(session: Session) -> dict[str, Any]:
    long = {**SCHEMA, "properties": {**SCHEMA["properties"], "text": {"type": "string", "minLength": 9000}}}
    nearly = question("a " * 700, max_tokens=2000, schema=long)
    cut, window = await session.ask([question("Tell a story.", max_tokens=5), nearly])
    seeds = [question("Once", temperature=1.0, seed=seed) for seed in (1, 1, 2)]
    return {"cut": vars(cut), "window": vars(window), "seeds": plain(await session.ask(seeds))}


async def cancelling(session: Session) -> dict[str, Any]:
    """One who waits and one whose batch runs are cancelled; the loop turns meanwhile; others get their answers."""
    session.calls.clear()
    engine = session.engine
    running = [asyncio.create_task(engine.complete(each)) for each in items(max_tokens=300, schema=SCHEMA)]
    while not session.calls:
        await asyncio.sleep(0.001)
    waiting = [asyncio.create_task(engine.complete(each)) for each in items()[:4]]
    await asyncio.sleep(0.01)
    started = time.perf_counter()
    running[0].cancel()
    waiting[0].cancel()
    stopped = await asyncio.gather(running[0], waiting[0], return_exceptions=True)
    seconds = time.perf_counter() - started
    at_work = not running[1].done()
    longest, last = 0.0, time.perf_counter()
    while not running[1].done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    others = await asyncio.gather(*running[1:], *waiting[1:])
    return {
        "stopped": [type(each).__name__ for each in stopped],
        "seconds": seconds,
        "at_work": at_work,
        "longest_pause": longest,
        "answered": sum(reply.text is not None for reply in others),
        "calls": [len(call) for call in session.calls],
    }


async def after_closing(session: Session) -> dict[str, Any]:
    """What waits when the engine closes is told so; then its place is free for another."""
    session.calls.clear()
    first = asyncio.create_task(session.engine.complete(items()[0]))
    while not session.calls:
        await asyncio.sleep(0.001)
    second = asyncio.create_task(session.engine.complete(items()[1]))
    await asyncio.sleep(0.001)
    await session.engine.close()
    late = await session.engine.complete(items()[0])
    return {"first": vars(await first), "second": vars(await second), "late": vars(late)}


async def failing(session: Session) -> dict[str, Any]:
    """A batch breaks off in the middle, as it does without memory; the raised error is the only thing made up."""
    engine = session.engine._llm.llm_engine
    real, steps = engine.step, 0

    def step() -> Any:
        nonlocal steps
        steps += 1
        if steps == 3:
            raise RuntimeError("out of memory")
        return real()

    engine.step = step
    broken = await session.ask(items()[:5])
    engine.step = real
    left = engine.has_unfinished_requests()
    return {"broken": plain(broken), "left": left, "next": plain(await session.ask(items()[5:9]))}


async def cannot_load(model: str, folder: Path) -> dict[str, str]:
    """The error's text for models and settings that cannot work."""
    missing = folder / "nowhere"
    empty = folder / "empty"
    empty.mkdir()
    tries = {
        "missing": VllmEngine(str(missing), options=OPTIONS),
        "empty": VllmEngine(str(empty), options=OPTIONS),
        "too_long": VllmEngine(model, max_model_len=10**7, options=OPTIONS),
        "option": VllmEngine(model, options={"no_such_option": 1}),
        "template": VllmEngine(str(folder / "untemplated"), max_model_len=WINDOW, options=OPTIONS),
    }
    said = {}
    for name, engine in tries.items():
        try:
            await engine.start()
            said[name] = ""
        except InputError as problem:
            said[name] = str(problem)
        await engine.close()
    return said


async def main(model: str, report: Path) -> None:
    started = time.perf_counter()
    session = Session(model)
    seen: dict[str, Any] = {"identity": dict(session.engine.identity), "model": session.engine.model}
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    await session.start()
    seen["start_seconds"] = time.perf_counter() - started
    seen["signals_kept"] = handlers == [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    seen["children"] = [
        Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    seen |= await batches(session)
    if (report.parent / "untemplated").exists():
        seen["prefixes"] = await prefixes(session)
        seen["bad"] = await bad_among_good(session)
        seen["limits"] = await limits(session)
        seen["cancelling"] = await cancelling(session)
        seen["closing"] = await after_closing(session)
        seen["cannot_load"] = await cannot_load(model, report.parent)
        again = Session(model)
        await again.start()
        seen["restarted"] = plain(await again.ask(items()[:4]))
        seen["failing"] = await failing(again)
        session = again
    await session.engine.close()
    seen["memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.write_text(json.dumps(seen, ensure_ascii=True), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
