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
from core.llm.call_settings import CallSettings
from core.llm.client import Message, Reply, Request
from core.llm.vllm import VllmEngine

WINDOW = 1024
OPTIONS = {"enforce_eager": True}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text", "kind"],
    "properties": {"text": {"type": "string", "maxLength": 40}, "kind": {"enum": ["name", "number"]}},
}
LONG = {**SCHEMA, "properties": {**SCHEMA["properties"], "text": {"type": "string", "minLength": 9000}}}
"""What no answer keeps that ends."""
ITEMS = 64


def question(words: str, **settings: Any) -> Request:
    system = Message("system", "You change one fact of a text and leave the rest as it is. " * 4)
    return Request("try", (system, Message("user", words)), **{"max_tokens": 24, **settings})


def items(**settings: Any) -> list[Request]:
    return [question(f"Item {n}: the bridge was opened in {1900 + n}.", **settings) for n in range(ITEMS)]


class Session:
    """An engine, and a record of what vLLM was given and gave back: the exchanges themselves are the real ones."""

    def __init__(self, model: str, **more: Any) -> None:
        self.engine = VllmEngine(model, max_model_len=WINDOW, dtype="float32", options=OPTIONS | more)
        self.entered: list[Any] = []
        self.outputs: list[Any] = []
        self.most_open = 0

    async def start(self) -> None:
        await self.engine.start()
        llm, engine = self.engine._llm, self.engine._llm.llm_engine
        real_enter, real_step = llm.enqueue_chat, engine.step

        def enter(messages: Any, *arguments: Any, **named: Any) -> Any:
            self.entered.append(messages)
            return real_enter(messages, *arguments, **named)

        def step() -> Any:
            self.most_open = max(self.most_open, engine.get_num_unfinished_requests())
            outputs = real_step()
            self.outputs += outputs
            return outputs

        llm.enqueue_chat, engine.step = enter, step

    @property
    def n_open(self) -> int:
        n: int = self.engine._llm.llm_engine.get_num_unfinished_requests()
        return n

    async def ask(self, requests: list[Request]) -> list[Reply]:
        self.entered.clear()
        self.outputs.clear()
        self.most_open = 0
        return list(await asyncio.gather(*[self.engine.complete(request) for request in requests]))


def plain(replies: list[Reply]) -> list[dict[str, Any]]:
    return [vars(reply) for reply in replies]


async def together(session: Session) -> dict[str, Any]:
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
        seen[f"{name}_most_open"] = session.most_open
        seen[f"{name}_prompts"] = [len(output.prompt_token_ids) for output in session.outputs]
    seen["alone"] = [vars((await session.ask([one]))[0]) for one in items()[:16]]
    return seen


async def chained(session: Session) -> dict[str, Any]:
    """Steps that follow each other beside one long answer: none of them waits for it."""
    session.outputs.clear()
    long = asyncio.create_task(session.engine.complete(question("A long one.", max_tokens=700, schema=LONG)))
    short = [vars(await session.engine.complete(question(f"Step {n}", max_tokens=4))) for n in range(20)]
    return {"short": short, "long_at_work": not long.done(), "long": vars(await long)}


async def prefixes(session: Session) -> dict[str, Any]:
    """Two long beginnings, in turns."""
    starts = ["A record of the old town. " * 40, "Notes on a journey by sea. " * 40]
    await session.ask([question(f"{starts[n % 2]} Part {n}.") for n in range(20)])
    return {"cached": [output.num_cached_tokens for output in session.outputs]}


async def bad_among_good(session: Session) -> dict[str, Any]:
    good = items()[:10]
    long = question("word " * 5000)
    impossible = question("One more.", schema={"type": "nonsense"})
    broken_text = question("half a pair: \ud800")
    replies = await session.ask([*good[:3], long, *good[3:7], impossible, broken_text, *good[7:]])
    return {"replies": plain(replies), "alone": plain(await session.ask(good))}


async def limits(session: Session) -> dict[str, Any]:
    nearly = question("a " * 700, max_tokens=2000, schema=LONG)
    cut, window = await session.ask([question("Tell a story.", max_tokens=5), nearly])
    seeds = [question("Once", temperature=1.0, seed=seed) for seed in (1, 1, 2)]
    return {"cut": vars(cut), "window": vars(window), "seeds": plain(await session.ask(seeds))}


async def cancelling(session: Session) -> dict[str, Any]:
    """Some are cancelled at work: they leave the engine; the loop turns meanwhile; the others get their answers."""
    engine = session.engine
    session.outputs.clear()
    running = [asyncio.create_task(engine.complete(each)) for each in items(max_tokens=300, schema=LONG)[:16]]
    while session.n_open < len(running):
        await asyncio.sleep(0.001)
    started = time.perf_counter()
    for task in running[:12]:
        task.cancel()
    stopped = await asyncio.gather(*running[:12], return_exceptions=True)
    seconds = time.perf_counter() - started
    while (left := session.n_open) == len(running):
        await asyncio.sleep(0)
    longest, last = 0.0, time.perf_counter()
    while not running[-1].done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    others = await asyncio.gather(*running[12:])
    return {
        "stopped": [type(each).__name__ for each in stopped],
        "seconds": seconds,
        "longest_pause": longest,
        "left": left,
        "others": [vars(reply) for reply in others],
        "outputs": len([each for each in session.outputs if each.finished]),
    }


async def after_closing(session: Session) -> dict[str, Any]:
    """What is open when the engine closes is told so; then its place is free for another."""
    open_ones = [
        asyncio.create_task(session.engine.complete(each)) for each in items(max_tokens=700, schema=LONG)
    ]
    while session.n_open < ITEMS:
        await asyncio.sleep(0.001)
    started = time.perf_counter()
    await session.engine.close()
    seconds = time.perf_counter() - started
    late = await session.engine.complete(items()[0])
    return {
        "open": plain(list(await asyncio.gather(*open_ones))),
        "late": vars(late),
        "seconds": seconds,
    }


async def chosen(session: Session) -> dict[str, Any]:
    """What a user chooses for every call reaches the model."""

    async def said(**how: Any) -> dict[str, Any]:
        return vars((await session.ask([question("Tell a story.", how=CallSettings(**how))]))[0])

    usual = await said()
    stop = usual["text"][4:6]
    return {
        "usual": usual,
        "stop": stop,
        "stopped": await said(stop=(stop,)),
        "budget": await said(reasoning_budget=5),
        "own": vars((await session.ask([question("Tell a story.", temperature=None)]))[0]),
    }


async def thinking(model: str) -> dict[str, Any]:
    """A model whose template begins its thinking, with vLLM's parser for such models."""
    session = Session(model, reasoning_parser="deepseek_r1")
    await session.start()
    guided = {"schema": SCHEMA, "max_tokens": 300}
    seen = {
        "guided": plain(
            await session.ask(items(**guided, how=CallSettings(reasoning_budget=12))[:16]),
        ),
        "without": plain(await session.ask(items(**guided, how=CallSettings(reasoning_effort="none"))[:8])),
        "told": plain(await session.ask([question("Hi", how=CallSettings(reasoning_effort="high"))])),
        "untold": plain(await session.ask([question("Hi")])),
        "template": plain(
            await session.ask([question("Hi", how=CallSettings(chat_template={"enable_thinking": False}))])
        ),
    }
    await session.engine.close()
    return seen


async def failing(session: Session) -> dict[str, Any]:
    """A step fails, as it does without memory; the raised error is the only thing made up."""
    engine = session.engine._llm.llm_engine
    real, steps = engine.step, 0

    def step() -> Any:
        nonlocal steps
        steps += 1
        if steps == 3:
            raise RuntimeError("out of memory")
        return real()

    engine.step = step
    broken = await session.ask(items(max_tokens=300, schema=LONG)[:5])
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
        "option": VllmEngine(model, options={"gpu_memory_utilisation": 0.5}),
        "type": VllmEngine(model, options={"max_num_seqs": "many", "dtype": "int3", "enforce_eager": 1}),
        "parser": VllmEngine(model, options=OPTIONS | {"reasoning_parser": "deepseek_r1"}),
        "template": VllmEngine(str(folder / "untemplated"), max_model_len=WINDOW, options=OPTIONS),
    }
    said = {}
    for name, engine in tries.items():
        started = time.perf_counter()
        try:
            await engine.start()
            said[name] = ""
        except InputError as problem:
            said[name] = str(problem)
        said[f"{name}_seconds"] = str(time.perf_counter() - started)
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
    seen |= await together(session)
    seen["chained"] = await chained(session)
    seen["chosen"] = await chosen(session)
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
    seen["thinking"] = await thinking(str(report.parent / "thinking"))
    await again.engine.close()
    seen["memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.write_text(json.dumps(seen, ensure_ascii=True), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
