"""Requests leave at the pace that a server lets them in: learned from headers, from refusals, from nothing else."""

import asyncio
import math
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
from helpers.processes.scripted_server import Limited, Said, Script, ScriptedServer, error

from core.llm.client import Message, Reply, Request
from core.llm.openai import OpenAIServer
from core.llm.pacing import FIRST_STRETCH, LONGEST_WAIT, PATIENCE, SLOW_REFUSAL, Pace

N_OPEN = 32
TODAY = 1_790_000_000.0
"""Seconds since 1970 of the tests' clock: 21 September 2026, 14:13:20 UTC."""


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def question(n: int) -> Request:
    return Request("rank", (Message("user", f"Who is {n}?"),))


def calls(script: Script, n: int, **settings: Any) -> tuple[list[Reply], ScriptedServer]:
    """What so many requests give, as many open at once as a run has."""

    async def whole() -> list[Reply]:
        client = OpenAIServer(
            server.url, "tiny", **{"retries": 0, "concurrency": N_OPEN, "timeout": 20.0, **settings}
        )
        try:
            return await asyncio.gather(*(client.complete(question(one)) for one in range(n)))
        finally:
            await client.close()

    with ScriptedServer(script) as server:
        return asyncio.run(whole()), server


@pytest.mark.slow
@pytest.mark.parametrize("sliding", [False, True])
def test_with_limits_in_headers_nothing_is_refused_after_the_first_window(sliding: bool) -> None:
    script = Limited(lambda body, n: Said("Me."), 20, 0.2, "headers", sliding)
    replies, _ = calls(script, 400)
    assert [reply.text for reply in replies] == ["Me."] * 400
    assert 0 < len(script.refused) <= N_OPEN - 20
    assert max(script.refused) < script.seconds


@pytest.mark.slow
@pytest.mark.parametrize("sliding", [False, True])
def test_with_moments_alone_at_most_one_refusal_a_request_that_is_open(sliding: bool) -> None:
    script = Limited(lambda body, n: Said("Me."), 20, 0.2, "retry-after", sliding)
    replies, _ = calls(script, 400)
    assert [reply.text for reply in replies] == ["Me."] * 400
    assert 0 < len(script.refused) <= N_OPEN


@pytest.mark.slow
@pytest.mark.parametrize("sliding", [False, True])
def test_refusals_that_name_no_moment_use_up_no_retries(
    sliding: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.llm.openai.FIRST_PAUSE", 0.02)
    monkeypatch.setattr("core.llm.openai.LONGEST_PAUSE", 0.08)
    script = Limited(lambda body, n: Said("Me."), 20, 0.5, "nothing", sliding)
    replies, _ = calls(script, 120, retries=1)
    assert [reply.text for reply in replies] == ["Me."] * 120
    assert 0 < len(script.refused) <= 3 * N_OPEN


@pytest.mark.slow
def test_a_server_that_takes_few_at_a_time_and_names_no_moment_is_paced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.llm.openai.FIRST_PAUSE", 0.05)
    monkeypatch.setattr("core.llm.pacing.SLOW_REFUSAL", 0.1)

    def script(body: dict[str, Any], n: int) -> Said:
        return error(429, "overloaded") if server_open() > 4 else Said("Me.", delay=0.2)

    opened: list[ScriptedServer] = []

    def server_open() -> int:
        return opened[0].open

    async def whole() -> list[Reply]:
        client = OpenAIServer(server.url, "tiny", retries=3, concurrency=N_OPEN, timeout=20.0)
        try:
            return await asyncio.gather(*(client.complete(question(one)) for one in range(60)))
        finally:
            await client.close()

    with ScriptedServer(script) as server:
        opened.append(server)
        replies = asyncio.run(whole())
    assert [reply.text for reply in replies] == ["Me."] * 60


@pytest.mark.slow
def test_slow_answers_are_paced_too() -> None:
    """The accepted ones are answered long after the refused ones."""
    for told in ("headers", "retry-after"):
        script = Limited(lambda body, n: Said("Me.", delay=0.15), 20, 0.3, told)  # type: ignore[arg-type]
        replies, _ = calls(script, 120)
        assert [reply.text for reply in replies] == ["Me."] * 120
        assert len(script.refused) <= N_OPEN


def test_a_limit_in_tokens_is_kept() -> None:
    """Each request takes 400 tokens of answer and a few of prompt; 20 of them fit into a window."""
    left, began, refused = [0.0], [0.0], []

    def script(body: dict[str, Any], n: int) -> Said:
        now = time.monotonic()
        if now - began[0] >= 0.2:
            left[0], began[0] = 8_200.0, now
        headers = {
            "x-ratelimit-limit-tokens": "8200",
            "x-ratelimit-reset-tokens": f"{(began[0] + 0.2 - now) * 1000:.3f}ms",
        }
        fits = left[0] >= 404
        left[0] -= 404 if fits else 0
        headers["x-ratelimit-remaining-tokens"] = f"{left[0]:.0f}"
        if fits:
            return Said("Me.", headers=headers)
        refused.append(n)
        return error(429, "slow down", headers=headers)

    replies, _ = calls(script, 120)
    assert {reply.text for reply in replies} == {"Me."}
    assert len(refused) <= N_OPEN - 20
    assert not refused or max(refused) < N_OPEN


def test_the_seconds_of_a_reply_are_those_of_its_exchanges() -> None:
    script = Limited(lambda body, n: Said("Me."), 5, 0.4, "headers")
    replies, _ = calls(script, 20)
    assert {reply.text for reply in replies} == {"Me."}
    assert max(reply.seconds for reply in replies) < 0.4


def test_a_daily_limit_ends_a_request_with_its_reason() -> None:
    said = error(429, "Quota for today is used up.", headers={"Retry-After": "7200"})
    (reply,), server = calls(lambda body, n: said, 1, retries=3)
    assert (reply.reason, len(server.asked)) == ("busy", 1)
    assert "7,200 s" in reply.detail


def test_an_account_without_credit_is_not_paced() -> None:
    said = error(429, "You exceeded your quota.", "insufficient_quota", headers={"Retry-After": "1"})
    began = time.monotonic()
    (reply,), server = calls(lambda body, n: said, 1, retries=3)
    assert (reply.reason, len(server.asked)) == ("not allowed", 1)
    assert time.monotonic() - began < 1


def test_a_server_that_refuses_for_ever_is_left_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.llm.openai.LONGEST_WAIT", 0.5)
    (reply,), server = calls(lambda body, n: error(429, "Please try again in 100ms."), 1)
    assert (reply.reason, len(server.asked)) == ("busy", 6)


def test_a_refusal_that_names_no_moment_is_a_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.llm.openai.FIRST_PAUSE", 0.01)
    (reply,), server = calls(lambda body, n: error(429, "slow down"), 1, retries=3)
    assert (reply.reason, len(server.asked)) == ("busy", 4)
    (reply,), server = calls(lambda body, n: error(429, "slow down") if n < 3 else "Me.", 1, retries=3)
    assert (reply.text, len(server.asked)) == ("Me.", 4)


@pytest.mark.parametrize("seconds", [10, 60])
def test_the_pace_of_a_server_that_names_no_moment_is_learned(seconds: int) -> None:
    """20 requests a window: growing pauses find its end, then requests leave evenly."""
    clock, window, refused = Clock(), [-math.inf, 0.0], []

    async def whole() -> None:
        pace, taken = Pace(clock, clock.sleep), 0
        while taken < 200:
            async with pace.turn(1) as turn:
                if clock.now - window[0] >= seconds:
                    window[:] = [clock.now, 0]
                if window[1] < 20:
                    window[1] += 1
                    taken += 1
                    pace.taken(turn)
                else:
                    told = pace.refused(turn, {}, "slow down", lambda n: min(0.5 * 2**n, 8.0))
                    refused.append((told.seconds, told.named))
                    assert pace.lets_in
            assert clock.now < 100 + 20 * seconds

    asyncio.run(whole())
    assert refused[:3] == [(0.5, False), (1.0, False), (2.0, False)]
    assert len(refused) < 20


def test_a_server_that_lets_nothing_in_is_no_matter_of_pace() -> None:
    clock = Clock()

    async def whole() -> list[bool]:
        pace, found = Pace(clock, clock.sleep), []
        async with pace.turn(1) as turn:
            pace.refused(turn, {}, "slow down", lambda n: 0.5)
        found.append(pace.lets_in)
        async with pace.turn(1) as turn:
            pace.taken(turn)
        for wait in (PATIENCE, 1.0):
            await clock.sleep(wait)
            found.append(pace.lets_in)
        async with pace.turn(1):
            found.append(pace.lets_in)
            await clock.sleep(SLOW_REFUSAL)
            found.append(pace.lets_in)
        return found

    assert asyncio.run(whole()) == [False, True, False, False, True]


def test_refusals_of_requests_that_left_together_are_one_pause() -> None:
    clock = Clock()

    async def whole() -> float:
        pace = Pace(clock, clock.sleep)
        async with AsyncExitStack() as stack:
            turns = [await stack.enter_async_context(pace.turn(1)) for _ in range(5)]
            told = [pace.refused(turn, {}, "slow down", lambda n: 2.0**n).seconds for turn in turns]
        assert told == [1.0] * 5
        async with pace.turn(1) as turn:
            return pace.refused(turn, {}, "slow down", lambda n: 2.0**n).seconds

    assert asyncio.run(whole()) == 2.0


def test_waiting_can_be_cancelled() -> None:
    async def whole() -> int:
        client = OpenAIServer(server.url, "tiny", retries=0)
        tasks = [asyncio.create_task(client.complete(question(n))) for n in range(3)]
        while len(server.asked) < 3:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await client.close()
        return sum(isinstance(one, asyncio.CancelledError) for one in ended)

    began = time.monotonic()
    with ScriptedServer(lambda body, n: error(429, "no", headers={"Retry-After": "60"})) as server:
        assert asyncio.run(whole()) == 3
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, "", 0.25),
        ({"retry-after": "Mon, 21 Sep 2026 14:13:50 GMT"}, "", 30.0),
        ({}, "Please retry after 6 seconds.", 6.0),
        ({}, "Please try again in 1.5s. Visit us.", 1.5),
        ({}, "Please try again in 20ms.", 0.02),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30.5s"}, "", 90.5),
        ({"ratelimit-limit": "10", "ratelimit-remaining": "0", "ratelimit-reset": "12"}, "", 12.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{TODAY + 9:.0f}"}, "", 9.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{(TODAY + 9) * 1000:.0f}"}, "", 9.0),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-09-21T14:13:40Z",
                "anthropic-ratelimit-tokens-remaining": "80",
                "anthropic-ratelimit-tokens-reset": "2026-09-21T14:14:00Z",
            },
            "",
            20.0,
        ),
        ({"retry-after": "3600"}, "", 3600.0),
        ({}, "slow down", None),
        ({"retry-after": "0"}, "", None),
        ({"retry-after": "soon", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "nan"}, "", None),
    ],
)
def test_moments_are_read_in_every_form(
    headers: Mapping[str, str], message: str, seconds: float | None
) -> None:
    clock = Clock()

    async def whole() -> float | None:
        pace = Pace(clock, clock.sleep, lambda: TODAY)
        async with pace.turn(1) as turn:
            told = pace.refused(turn, headers, message, lambda n: 0.5)
        async with pace.turn(1):
            return told.seconds if told.named else None

    assert asyncio.run(whole()) == (None if seconds is None else pytest.approx(seconds))
    waited = 0.5 if seconds is None else seconds if seconds <= LONGEST_WAIT else 0.0
    assert clock.now - 100 == pytest.approx(waited, abs=0.1)


def test_a_budget_is_not_overdrawn_by_what_is_open() -> None:
    """Ten are open when the first answer says that eleven are left: one more may leave, then all wait."""
    clock = Clock()
    headers = {"x-ratelimit-limit": "20", "x-ratelimit-remaining": "11", "x-ratelimit-reset": "30"}

    async def whole() -> list[float]:
        pace, left = Pace(clock, clock.sleep), asyncio.Event()
        moments: list[float] = []

        async def one(n: int) -> None:
            async with pace.turn(1) as turn:
                moments.append(clock.now)
                if n:
                    await left.wait()
                else:
                    pace.answered(turn, headers)

        first = [asyncio.create_task(one(n)) for n in range(11)]
        while len(moments) < 11:
            await asyncio.sleep(0)
        await first[0]
        more = [asyncio.create_task(one(n)) for n in range(1, 4)]
        while len(moments) < 14:
            await asyncio.sleep(0)
        left.set()
        await asyncio.gather(*first, *more)
        return moments

    moments = asyncio.run(whole())
    assert moments[:12] == [100.0] * 12
    assert moments[12] == moments[13] == pytest.approx(130, abs=0.1)


def limit_of(limit: int, left: int) -> dict[str, str]:
    return {
        "x-ratelimit-limit": f"{limit}",
        "x-ratelimit-remaining": f"{left}",
        "x-ratelimit-reset": "30",
    }


def test_an_answer_to_an_older_request_brings_no_budget_back() -> None:
    clock = Clock()

    async def whole() -> list[float]:
        pace, moments = Pace(clock, clock.sleep), []
        async with pace.turn(1) as early:
            await clock.sleep(1)
            async with pace.turn(1) as late:
                pace.answered(late, limit_of(20, 2))
            pace.answered(early, limit_of(20, 9))
        for _ in range(2):
            async with pace.turn(1):
                moments.append(clock.now)
        return moments

    moments = asyncio.run(whole())
    assert moments == [101, pytest.approx(131, abs=0.1)], "two are left, and the early one may be one of them"


def test_what_is_open_when_a_window_begins_counts_in_it() -> None:
    clock = Clock()

    async def whole() -> list[list[float]]:
        pace, ended = Pace(clock, clock.sleep), asyncio.Event()
        moments: list[float] = []
        seen: list[list[float]] = []

        async def slow() -> None:
            async with pace.turn(1) as turn:
                pace.answered(turn, limit_of(2, 0))
                await ended.wait()

        async def quick() -> None:
            async with pace.turn(1):
                moments.append(clock.now)

        tasks = [asyncio.create_task(one) for one in (slow(), quick(), quick())]
        for _ in range(2000):  # turns in which the clock goes on while somebody waits
            await asyncio.sleep(0)
        seen.append(list(moments))
        ended.set()
        await asyncio.gather(*tasks)
        return [*seen, moments]

    before, after = asyncio.run(whole())
    assert before == [pytest.approx(130, abs=0.1)]
    assert len(after) == 2


def test_the_rate_rises_while_nothing_is_refused() -> None:
    clock = Clock()

    async def whole() -> list[float]:
        pace, moments = Pace(clock, clock.sleep), []
        for n in range(400):
            async with pace.turn(1) as turn:
                moments.append(clock.now)
                if n == 10:
                    pace.refused(turn, {"retry-after": "10"}, "", lambda n: 0.5)
                else:
                    pace.taken(turn)
        return moments

    moments = asyncio.run(whole())
    assert moments[11] - moments[10] == pytest.approx(10, abs=0.1)
    assert moments[13] - moments[12] == pytest.approx(10 / 9, abs=0.1), "nine in ten of ten in ten seconds"
    n_calm = 2 * FIRST_STRETCH - 5
    assert moments[11 + n_calm] - moments[11] == pytest.approx(n_calm * 10 / 9, abs=1), "a refusal doubles it"
    assert moments[399] - moments[398] < 0.9 * 10 / 9


@pytest.mark.parametrize("every", [2, 10, 40])
def test_refusals_that_do_not_depend_on_the_rate_do_not_slow_a_run_down_without_end(every: int) -> None:
    clock = Clock()

    async def whole() -> None:
        pace = Pace(clock, clock.sleep)
        for n in range(2_000):
            async with pace.turn(1) as turn:
                clock.now += 0.1
                if n % every == every - 1:
                    pace.refused(turn, {"retry-after": "1"}, "", 0.5)
                else:
                    pace.taken(turn)

    asyncio.run(whole())
    waited = 2_000 / every
    assert clock.now - 100 < 5 * (200 + waited)
