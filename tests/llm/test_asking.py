"""Asking until it can be used, against a real server and with accounts that are looked at."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import pytest
from helpers.processes.scripted_server import Body, Said, Script, ScriptedServer, error

from core.errors import InputError, StorageError
from core.llm.asking import LONGEST_ECHO, Answer, Model, Unusable
from core.llm.call_settings import CallSettings
from core.llm.client import TRANSPORT, Call, Message, Reply, Request, request_key
from core.llm.openai import OpenAIServer

T = TypeVar("T")
QUESTION = Request("rank", (Message("system", "Numbers only."), Message("user", "How many?")), seed=3)


class Ledger:
    """A cache in memory that keeps the protocol's promise: failures of the line are not kept."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.kept: dict[str, Reply] = {}
        self.rejected: list[tuple[str, str, str]] = []

    def find(self, key: str) -> Reply | None:
        return self.kept.get(key)

    def record(self, call: Call) -> None:
        self.calls.append(call)
        if not call.cached and call.reply.reason not in TRANSPORT:
            self.kept[call.key] = call.reply

    def reject(self, key: str, step: str, why: str) -> None:
        self.rejected.append((key, step, why))

    @property
    def cached(self) -> list[bool]:
        return [call.cached for call in self.calls]


def number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Unusable(f"{text!r} is no number.", "no number") from None


def with_model(
    script: Script, work: Callable[[Model], Awaitable[T]], cache: Any = None, **settings: Any
) -> tuple[T, ScriptedServer]:
    async def whole(url: str) -> T:
        client = OpenAIServer(url, "tiny", retries=0, timeout=5)
        try:
            return await work(Model(client, cache, **settings))
        finally:
            await client.close()

    with ScriptedServer(script) as server:
        return asyncio.run(whole(server.url)), server


def says(*texts: Said | str) -> Script:
    """The texts one after the other, the last again and again."""
    return lambda body, n: texts[min(n, len(texts) - 1)]


def ask(script: Script, **settings: Any) -> tuple[Answer[int], ScriptedServer]:
    return with_model(script, lambda model: model.ask(QUESTION, number), **settings)


def test_a_usable_answer_takes_one_call() -> None:
    answer, server = ask(says("5"))
    assert answer == Answer(5, attempts=1)
    assert len(server.asked) == 1


def test_a_wrong_answer_goes_back_with_what_was_wrong() -> None:
    answer, server = ask(says("five", "5"))
    assert answer == Answer(5, attempts=2)
    first, second = server.bodies
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2] == {"role": "assistant", "content": "five"}
    assert "'five' is no number." in second["messages"][3]["content"]
    assert {key: second[key] for key in ("temperature", "seed", "max_tokens")} == {
        key: first[key] for key in ("temperature", "seed", "max_tokens")
    }


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_it_is_asked_as_often_as_stated(attempts: int) -> None:
    ledger = Ledger()
    answer, server = ask(says("many"), attempts=attempts, cache=ledger)
    assert answer == Answer(None, "no number", "'many' is no number.", attempts)
    assert len(server.asked) == attempts
    # A model that repeats itself is asked anew each time, not answered from the cache.
    assert ledger.cached == [False] * attempts
    assert len({call.key for call in ledger.calls}) == attempts


@pytest.mark.parametrize("attempts", [0, -1])
def test_it_has_to_be_asked_at_all(attempts: int) -> None:
    with pytest.raises(InputError, match="1 or more"):
        Model(OpenAIServer("http://127.0.0.1:1/v1", "tiny"), attempts=attempts)


def test_the_prompt_stays_bounded_however_often_it_is_asked() -> None:
    def script(body: dict[str, Any], n: int) -> str:
        return f"{n} " + "x" * 50_000

    def strict(text: str) -> int:
        raise Unusable(text, "wrong")

    answer, server = with_model(script, lambda model: model.ask(QUESTION, strict), attempts=6)
    assert answer.attempts == 6
    sizes = [sum(len(turn["content"]) for turn in body["messages"]) for body in server.bodies]
    assert max(sizes) < sizes[0] + LONGEST_ECHO + 700
    assert [len(body["messages"]) for body in server.bodies] == [2, 4, 4, 4, 4, 4]
    assert server.bodies[5]["messages"][2]["content"].startswith("4 xx")


def test_what_was_thought_aloud_does_not_go_back() -> None:
    _, server = ask(says("<think>" + "hm " * 2000 + "</think>five", "5"))
    assert server.bodies[1]["messages"][2]["content"] == "five"


@pytest.mark.parametrize(
    ("said", "reason", "calls"),
    [
        (Said(None, refusal="no"), "refused", 3),
        (Said("  "), "empty", 3),
        (error(400, "bad"), "rejected", 1),
        (error(400, "maximum context length is 9"), "too long", 1),
        (error(401, "who?"), "not allowed", 1),
        (error(429, "busy"), "busy", 1),
        (error(500, "boom"), "server error", 1),
        (Said(then="close"), "unreachable", 1),
        (Said(raw=b"<html>"), "server error", 1),
    ],
)
def test_what_asking_again_may_mend_is_asked_again(said: Said, reason: str, calls: int) -> None:
    ledger = Ledger()
    answer, server = ask(says(said), cache=ledger)
    assert (answer.value, answer.reason, answer.attempts) == (None, reason, calls)
    assert answer.detail
    assert len(server.asked) == calls == len(ledger.calls)
    assert answer.temporary == (reason in TRANSPORT) == (not ledger.kept)


def test_a_second_request_that_does_not_fit_leaves_the_first_reason() -> None:
    answer, server = ask(says("five", error(400, "maximum context length is 9")))
    assert (answer.reason, answer.attempts) == ("no number", 2)
    assert answer.detail == "'five' is no number. There was no room to ask again."
    assert len(server.asked) == 2


def test_what_is_in_the_cache_is_not_asked_for_wrong_answers_too() -> None:
    ledger = Ledger()
    first, server = ask(says("five", "5"), cache=ledger)
    again, second = with_model(
        says("never"),
        # The same address as before, because it is part of the key.
        lambda model: _elsewhere(model, server.url).ask(QUESTION, number),
        cache=ledger,
    )
    assert first == again == Answer(5, attempts=2)
    assert second.asked == []
    assert ledger.cached == [False, False, True, True]
    assert [call.step for call in ledger.calls] == ["rank"] * 4


def _elsewhere(model: Model, url: str) -> Model:
    return Model(OpenAIServer(url, "tiny"), model._cache)


def test_an_empty_cache_that_counts_as_false_is_used() -> None:
    class Sized(Ledger):
        def __len__(self) -> int:
            return len(self.kept)

    ledger = Sized()
    ask(says("5"), cache=ledger)
    assert len(ledger) == 1


def test_two_equal_requests_at_once_cost_one_call() -> None:
    ledger = Ledger()

    async def work(model: Model) -> list[Answer[int]]:
        other = Request("edit", QUESTION.messages, seed=3)
        return await asyncio.gather(*(model.ask(request, number) for request in [QUESTION, other, QUESTION]))

    answers, server = with_model(says(Said("5", delay=0.05)), work, cache=ledger)
    assert answers == [Answer(5)] * 3
    assert len(server.asked) == 1
    assert ledger.cached == [False, True, True]
    # Each under its own step, though the step is no part of the request.
    assert [call.step for call in ledger.calls] == ["rank", "edit", "rank"]
    assert len({call.key for call in ledger.calls}) == 1


def test_different_requests_at_once_are_different_calls() -> None:
    async def work(model: Model) -> list[Answer[int]]:
        requests = [Request("rank", (Message("user", str(n)),)) for n in range(20)]
        return await asyncio.gather(*(model.ask(request, number) for request in requests))

    answers, server = with_model(lambda body, n: Said(body["messages"][0]["content"], delay=0.02), work)
    assert [answer.value for answer in answers] == list(range(20))
    assert server.most_open > 1


def test_a_failure_that_was_shared_is_not_kept_and_is_asked_for_again_later() -> None:
    ledger = Ledger()

    async def work(model: Model) -> list[Answer[int]]:
        both = await asyncio.gather(model.ask(QUESTION, number), model.ask(QUESTION, number))
        return [*both, await model.ask(QUESTION, number)]

    answers, server = with_model(says(error(500, "boom"), "5"), work, cache=ledger)
    assert [answer.reason for answer in answers] == ["server error", "server error", None]
    assert len(server.asked) == 2


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)


def test_cancelling_one_of_two_leaves_the_other_its_reply() -> None:
    for which in (0, 1):
        ledger, came = Ledger(), threading.Event()

        def script(body: Body, n: int, came: threading.Event = came) -> Said:
            came.set()
            return Said("5", delay=0.5)

        async def work(model: Model, which: int = which, came: threading.Event = came) -> Answer[int]:
            tasks = [asyncio.create_task(model.ask(QUESTION, number)) for _ in range(2)]
            await asyncio.to_thread(came.wait, 30)
            tasks[which].cancel()
            with pytest.raises(asyncio.CancelledError):
                await tasks[which]
            return await tasks[1 - which]

        answer, server = with_model(script, work, cache=ledger)
        assert answer == Answer(5)
        assert len(server.asked) == 1


def test_cancelling_all_ends_the_call_and_the_next_one_starts_afresh() -> None:
    ledger, came = Ledger(), threading.Event()

    def script(body: Body, n: int) -> Said:
        came.set()
        return Said("5", then="hang" if n == 0 else "answer")

    async def work(model: Model) -> Answer[int]:
        tasks = [asyncio.create_task(model.ask(QUESTION, number)) for _ in range(2)]
        await asyncio.to_thread(came.wait, 30)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results] == [asyncio.CancelledError] * 2
        return await model.ask(QUESTION, number)

    answer, server = with_model(script, work, cache=ledger)
    assert answer == Answer(5)
    assert [asked.n for asked in server.asked] == [0, 1]
    assert ledger.cached == [False]


def test_a_request_that_comes_while_the_last_call_is_being_cancelled_does_not_join_it() -> None:
    came = threading.Event()

    def script(body: Body, n: int) -> Said:
        came.set()
        return Said("5", then="hang" if n == 0 else "answer")

    async def work(model: Model) -> Answer[int]:
        first = asyncio.create_task(model.ask(QUESTION, number))
        await asyncio.to_thread(came.wait, 30)
        first.cancel()
        await asyncio.sleep(0)
        return await asyncio.wait_for(model.ask(QUESTION, number), 5)

    assert with_model(script, work)[0] == Answer(5)


def test_an_account_that_cannot_be_written_stops_everybody_who_waits() -> None:
    class Full(Ledger):
        def record(self, call: Call) -> None:
            raise StorageError("the disk is full")

    async def work(model: Model) -> list[object]:
        asking = (model.ask(QUESTION, number) for _ in range(3))
        return list(await asyncio.gather(*asking, return_exceptions=True))

    results, server = with_model(says(Said("5", delay=0.05)), work, cache=Full())
    assert [type(result) for result in results] == [StorageError] * 3
    assert len(server.asked) == 1


def test_a_readers_own_mistake_is_not_taken_for_a_wrong_answer() -> None:
    def broken(text: str) -> int:
        raise KeyError(text)

    with pytest.raises(KeyError):
        with_model(says("5"), lambda model: model.ask(QUESTION, broken))


class Somewhere:
    """A client's names alone, for keys."""

    backend, model, concurrency = "openai", "tiny", 1

    def __init__(self, **identity: object) -> None:
        self.identity: Mapping[str, object] = {"base_url": "http://a/v1", **identity}


def test_everything_that_determines_an_answer_is_in_its_key() -> None:
    def key(client: Any = None, **changed: Any) -> str:
        fields = {"step": "rank", "messages": QUESTION.messages, "seed": 3, **changed}
        return request_key(client or Somewhere(), Request(**fields))

    other = Somewhere()
    other.model = "small"
    keys = [
        key(),
        key(messages=QUESTION.messages[1:]),
        key(messages=(Message("user", "Numbers only."), Message("user", "How many?"))),
        key(messages=QUESTION.messages[::-1]),
        key(seed=4),
        key(seed=None),
        key(max_tokens=401),
        key(temperature=0.5),
        key(schema={"type": "object"}),
        key(other),
        key(Somewhere(base_url="http://b/v1")),
    ]
    assert len(set(keys)) == len(keys)
    assert key(step="edit") == key()
    assert key(schema={"a": 1, "b": 2}) == key(schema={"b": 2, "a": 1})
    assert key(messages=(Message("user", "\ud800"),)) != key(messages=(Message("user", "?"),))


def limits(server: ScriptedServer) -> list[int]:
    return [asked.body["max_tokens"] for asked in server.asked]


def test_a_reply_that_was_cut_off_is_asked_for_with_larger_limits_and_then_anew() -> None:
    answer, server = ask(
        says(Said("one two three", finish_reason="length")), how=CallSettings(largest_limit=3000)
    )
    assert (answer.value, answer.reason, answer.attempts) == (None, "cut off", 3)
    assert limits(server) == [400, 1600, 3000, 400, 400]
    assert [len(asked.body["messages"]) for asked in server.asked] == [2, 2, 2, 4, 4]


def test_a_larger_limit_counts_the_room_for_thinking() -> None:
    how = CallSettings(largest_limit=3000, reasoning_budget=1000)
    _, server = ask(says(Said("one", finish_reason="length")), how=how, attempts=1)
    assert limits(server) == [1400, 2600, 3000]


def test_a_larger_limit_that_was_enough_is_no_further_attempt_and_is_kept_for_the_next() -> None:
    said = [Said("1 2", finish_reason="length"), Said("no"), Said("5")]
    answer, server = ask(says(*said))
    assert (answer.value, answer.attempts) == (5, 2)
    assert limits(server) == [400, 1600, 1600]


def test_a_reply_that_loops_gets_no_larger_limit() -> None:
    answer, server = ask(says(Said("It is the case. " * 30, finish_reason="length")))
    assert answer.reason == "cut off"
    assert limits(server) == [400, 400, 400]


def test_a_larger_limit_for_which_there_is_no_room_leaves_the_first_reply() -> None:
    too_long = error(400, "This model's maximum context length is 1024 tokens.")
    answer, server = ask(says(Said("one", finish_reason="length"), too_long), attempts=1)
    assert answer.reason == "cut off"
    assert limits(server) == [400, 1600]


def test_the_settings_of_every_call_reach_the_server() -> None:
    how = CallSettings(temperature=0.7, max_tokens=64)
    _, server = ask(says(Said("5")), how=how)
    assert (server.asked[0].body["temperature"], limits(server)) == (0.7, [64])


def test_what_could_not_be_used_is_noted_under_the_key_of_its_reply() -> None:
    ledger = Ledger()
    ask(says(Said("five"), Said("5")), cache=ledger)
    assert ledger.rejected == [(ledger.calls[0].key, "rank", "'five' is no number.")]
