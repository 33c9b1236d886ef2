"""Gathering questions into batches; the engine here is a plain function, since any list-at-once engine will do."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from core.judges.nli import Batcher

LOST = 999


class Doubling:
    """Answers numbers with their double, when `go` is set; refuses batches with a negative one; loses LOST."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go = threading.Event()
        self.go.set()
        self.started = threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[str]:
        self.batches.append(list(numbers))
        self.started.set()
        assert self.go.wait(10)
        if min(numbers) < 0:
            raise ValueError("below zero")
        return [str(2 * number) for number in numbers if number != LOST]


@asynccontextmanager
async def batching(engine: Doubling) -> Any:
    with ThreadPoolExecutor(1) as executor:
        batcher = Batcher[int, str](engine, lambda problem: f"failed: {problem}", executor)
        try:
            yield batcher
        finally:
            engine.go.set()
            await batcher.close()


def run(scenario: Any) -> Any:
    async def whole() -> Any:
        engine = Doubling()
        async with batching(engine) as batcher:
            return await asyncio.wait_for(scenario(engine, batcher), 20)

    return asyncio.run(whole())


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_who_asks_at_once_is_answered_at_once() -> None:
    async def scenario(engine: Doubling, batcher: Batcher[int, str]) -> None:
        answers = await asyncio.gather(*[batcher.ask(number) for number in range(100)])
        assert answers == [str(2 * number) for number in range(100)]
        assert engine.batches == [list(range(100))]

    run(scenario)


def test_who_needs_a_few_turns_of_the_loop_is_waited_for() -> None:
    """A caller looks into its cache first, or comes from another task's answer."""

    async def late(batcher: Batcher[int, str], number: int) -> str:
        for _ in range(number % 3):
            await asyncio.sleep(0)
        return await batcher.ask(number)

    async def scenario(engine: Doubling, batcher: Batcher[int, str]) -> None:
        await asyncio.gather(*[late(batcher, number) for number in range(30)])
        assert [len(batch) for batch in engine.batches] == [30]

    run(scenario)


def test_a_trickle_does_not_hold_the_first_back() -> None:
    async def scenario(engine: Doubling, batcher: Batcher[int, str]) -> None:
        asked: list[asyncio.Task[str]] = []

        async def trickle() -> None:
            while True:
                asked.append(asyncio.create_task(batcher.ask(len(asked))))
                await asyncio.sleep(0.0005)

        more = asyncio.create_task(trickle())
        await asyncio.wait_for(asyncio.shield(until(lambda: engine.batches)), 2)
        more.cancel()
        with suppress(asyncio.CancelledError):
            await more
        answers = await asyncio.gather(*asked)
        assert answers == [str(2 * number) for number in range(len(asked))]

    run(scenario)


def test_questions_gather_while_a_batch_runs() -> None:
    async def scenario(engine: Doubling, batcher: Batcher[int, str]) -> None:
        engine.go.clear()
        first = asyncio.create_task(batcher.ask(0))
        await until(engine.started.is_set)
        others = []
        for number in range(1, 21):
            others.append(asyncio.create_task(batcher.ask(number)))
            await asyncio.sleep(0.001)
        assert engine.batches == [[0]]
        engine.go.set()
        assert await first == "0"
        assert await asyncio.gather(*others) == [str(2 * number) for number in range(1, 21)]
        assert engine.batches == [[0], list(range(1, 21))]

    run(scenario)


def test_cancelled_callers_are_never_asked_for_and_hold_nobody_up() -> None:
    async def scenario(engine: Doubling, batcher: Batcher[int, str]) -> None:
        engine.go.clear()
        running = [asyncio.create_task(batcher.ask(number)) for number in (0, 1)]
        await until(engine.started.is_set)
        waiting = [asyncio.create_task(batcher.ask(number)) for number in (2, 3)]
        await asyncio.sleep(0.01)
        running[0].cancel()
        waiting[0].cancel()
        stopped = await asyncio.gather(running[0], waiting[0], return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in stopped)
        engine.go.set()
        assert await asyncio.gather(running[1], waiting[1]) == ["2", "6"]
        assert engine.batches == [[0, 1], [3]]

    run(scenario)


@pytest.mark.parametrize(("number", "words"), [(-1, "below zero"), (LOST, "1 answers came back for 2")])
def test_a_batch_that_fails_is_answered_and_the_next_one_works(number: int, words: str) -> None:
    async def scenario(engine: Doubling, batcher: Batcher[int, str]) -> None:
        failed = await asyncio.gather(batcher.ask(number), batcher.ask(5))
        assert len(set(failed)) == 1
        assert words in failed[0]
        assert await batcher.ask(6) == "12"

    run(scenario)


def test_closing_answers_everybody() -> None:
    async def scenario(engine: Doubling, batcher: Batcher[int, str]) -> None:
        engine.go.clear()
        running = asyncio.create_task(batcher.ask(1))
        await until(engine.started.is_set)
        waiting = asyncio.create_task(batcher.ask(2))
        await asyncio.sleep(0.01)
        closing = asyncio.create_task(batcher.close())
        await asyncio.sleep(0.01)
        late = await batcher.ask(3)
        engine.go.set()
        await closing
        assert [await running, await waiting, late] == ["2", "failed: None", "failed: None"]
        assert engine.batches == [[1]]

    run(scenario)
