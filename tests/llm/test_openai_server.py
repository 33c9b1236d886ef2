"""The client against a real server that misbehaves in every way that was thought of."""

import asyncio
import contextlib
import gzip
import json
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import pytest
from helpers.processes.scripted_server import Asked, Said, Script, ScriptedServer, error

from core.errors import InputError
from core.llm.call_settings import CallSettings
from core.llm.client import REASONS, Message, Reply, Request, request_key
from core.llm.openai import OpenAIServer
from core.llm.reaching import normal_url, split_version

T = TypeVar("T")
GZIPPED = gzip.compress(b'{"choices": [{"message": {"content": "Kyiv."}}]}')
FLOOD = gzip.compress(b" " * 40_000_000)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits between attempts, shortened; their order and number stay."""
    monkeypatch.setattr("core.llm.openai.FIRST_PAUSE", 0.01)


def question(text: str = "What is the capital?", **fields: Any) -> Request:
    return Request("rank spans", (Message("system", "Be short."), Message("user", text)), **fields)


def using(server: ScriptedServer, work: Callable[[OpenAIServer], Awaitable[T]], **settings: Any) -> T:
    """Run `work` with a client of this server, and let go of it."""

    async def whole() -> T:
        client = OpenAIServer(server.url, settings.pop("model", "tiny"), **{"retries": 0, **settings})
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(whole())


def reply_to(script: Script, request: Request | None = None, **settings: Any) -> tuple[Reply, list[Asked]]:
    """What one request gives where the server behaves as the script says."""
    with ScriptedServer(script) as server:
        reply = using(server, lambda client: client.complete(request or question()), **settings)
    assert reply.reason is None or reply.reason in REASONS
    return reply, server.asked


def always(said: Said | str) -> Script:
    return lambda body, n: said


def test_a_plain_answer_with_its_tokens() -> None:
    reply, asked = reply_to(always(Said("Kyiv.", usage=(12, 3))), question(seed=7, max_tokens=50))
    assert (reply.text, reply.reason, reply.input_tokens, reply.output_tokens) == ("Kyiv.", None, 12, 3)
    assert 0 < reply.seconds < 60
    assert asked[0].body == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "What is the capital?"},
        ],
        "temperature": 0.0,
        "max_tokens": 50,
        "seed": 7,
    }


def test_a_schema_goes_along_as_a_strict_response_format() -> None:
    _, asked = reply_to(always('{"a": 1}'), question(schema=SCHEMA))
    told = asked[0].body["response_format"]
    assert told["type"] == "json_schema"
    assert told["json_schema"] == {"name": "rank_spans", "strict": True, "schema": SCHEMA}


def test_tokens_that_nobody_counted_are_none() -> None:
    reply, _ = reply_to(always(Said("Kyiv.", usage=None)))
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("Kyiv.", None, None)


@pytest.mark.parametrize(
    ("said", "reason", "text"),
    [
        (Said("Kyiv is the", finish_reason="length"), "cut off", "Kyiv is the"),
        (Said(None, refusal="I would rather not."), "refused", None),
        (Said("", finish_reason="content_filter"), "refused", ""),
        (Said(" \n\t "), "empty", " \n\t "),
        (Said(None), "empty", None),
        (Said("half", finish_reason="abort"), "server error", "half"),
        (Said("a \ud800 b"), "invalid", "a ? b"),
        (
            Said(body={"choices": [{"message": {"content": [{"type": "text", "text": "Kyiv."}]}}]}),
            None,
            "Kyiv.",
        ),
        (Said(raw=b"", content_type="text/plain"), "server error", None),
        (Said(raw=b"\x00\xff\x13garbage"), "server error", None),
        (Said(raw=b"<html>Sign in</html>", content_type="text/html"), "server error", None),
        (Said(raw=b'{"choices": [{"mess'), "server error", None),
        (Said(raw=b"[" * 100_000), "server error", None),
        (Said(raw=FLOOD, headers={"Content-Encoding": "gzip"}), "server error", None),
        (Said(raw=GZIPPED, headers={"Content-Encoding": "gzip"}), None, "Kyiv."),
        (Said(body={"choices": []}), "server error", None),
        (Said(body={"choices": None}), "server error", None),
        (Said(body={"choices": ["Kyiv."]}), "server error", None),
        (Said(body={"choices": [{"message": None}]}), "server error", None),
        (Said(body={"choices": [{"message": {"content": 5}}]}), "empty", None),
        (Said(body={"error": {"message": "out of memory"}}), "server error", None),
        (Said(body=["Kyiv."]), "server error", None),
        (error(400, "This model's maximum context length is 64 tokens."), "too long", None),
        (error(400, "maximum context length is 64, whatever response_format and seed"), "too long", None),
        (error(413, "Payload too large"), "too long", None),
        (error(400, "Flagged.", code="content_filter"), "rejected", None),
        (error(400, "Stopped by the content filter."), "refused", None),
        (error(400, "messages must alternate"), "rejected", None),
        (error(422, "messages: wrong role"), "rejected", None),
        (error(402, "no credit left"), "not allowed", None),
        (error(403, "no access to this model"), "not allowed", None),
        (error(404, "no such model"), "unreachable", None),
        (error(429, "slow down"), "busy", None),
        (error(500, "boom"), "server error", None),
        (Said(status=502, raw=b"<html>Bad gateway</html>", content_type="text/html"), "server error", None),
        (
            Said(status=307, headers={"Location": "http://127.0.0.1:9/v1/chat/completions"}),
            "unreachable",
            None,
        ),
        (Said("Kyiv.", then="close"), "unreachable", None),
        (Said("Kyiv.", then="half"), "unreachable", None),
        (Said(raw=b"", headers={"Content-Encoding": "gzip"}, content_type="a"), "server error", None),
    ],
)
def test_every_way_to_answer_badly_has_its_reason(said: Said, reason: str | None, text: str | None) -> None:
    reply, asked = reply_to(always(said), question(schema=SCHEMA, seed=1))
    assert (reply.reason, reply.text) == (reason, text)
    assert (reply.detail != "") == (reason is not None)
    assert len(reply.detail) <= 300
    assert "\n" not in reply.detail
    assert len(asked) == 1


@pytest.mark.parametrize("then", ["hang", "trickle"])
def test_a_server_that_never_finishes_is_left(then: Any) -> None:
    began = time.monotonic()
    reply, asked = reply_to(always(Said(then=then)), timeout=0.3)
    assert reply.reason == "timeout"
    assert "0.3 s" in reply.detail
    assert 0.3 <= reply.seconds < 60
    assert time.monotonic() - began < 5
    assert len(asked) == 1


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        client = OpenAIServer(url, "tiny", retries=1)
        reply = asyncio.run(client.complete(question()))
        assert reply.reason == "unreachable"
        assert url in reply.detail
        with pytest.raises(InputError, match="no server answers there; start the server"):
            asyncio.run(client.start())


@pytest.mark.parametrize("bad", [error(500, "boom"), error(409, "locked"), Said("x", then="close")])
def test_transport_errors_are_tried_again(bad: Said) -> None:
    reply, asked = reply_to(lambda body, n: bad if n < 2 else "Kyiv.", retries=4)
    assert reply.text == "Kyiv."
    assert len(asked) == 3
    assert asked[0].body == asked[2].body


def test_a_server_that_stays_broken_is_left_after_the_retries() -> None:
    reply, asked = reply_to(always(error(500, "boom")), retries=2)
    assert (reply.reason, reply.detail) == ("server error", "The server answered 500: boom")
    assert len(asked) == 3


def test_wrong_requests_and_wrong_answers_are_not_tried_again() -> None:
    for said in (error(400, "bad"), error(401, "who?"), Said("", finish_reason="length"), Said(raw=b"?")):
        assert len(reply_to(always(said), retries=3)[1]) == 1


def test_the_server_says_how_long_to_wait() -> None:
    busy = error(429, "slow down", headers={"Retry-After": "0.4"})
    reply, asked = reply_to(lambda body, n: busy if n == 0 else "Kyiv.", retries=2)
    assert reply.text == "Kyiv."
    assert asked[1].began - asked[0].began >= 0.4


def test_an_hour_is_not_waited_for() -> None:
    reply, asked = reply_to(always(error(429, "come back", headers={"Retry-After": "3600"})), retries=2)
    assert (reply.reason, len(asked)) == ("busy", 1)


def test_what_the_server_does_not_know_is_left_out_from_then_on() -> None:
    def picky(body: dict[str, Any], n: int) -> Said | str:
        if "response_format" in body:
            return error(400, "json_schema is not supported by this server")
        return error(422, "Extra inputs are not permitted", param="seed") if "seed" in body else '{"a": 1}'

    async def twice(client: OpenAIServer) -> list[Reply]:
        return [await client.complete(question(str(n), schema=SCHEMA, seed=1)) for n in range(2)]

    with ScriptedServer(picky) as server:
        replies = using(server, twice)
    assert [reply.text for reply in replies] == ['{"a": 1}'] * 2
    sent = [{"response_format", "seed"} & body.keys() for body in server.bodies]
    assert sent == [{"response_format", "seed"}, {"response_format", "seed"}, {"seed"}, set(), set()]
    assert server.bodies[1]["response_format"] == {"type": "json_object"}
    assert [reply.not_sent for reply in replies] == [("response_format", "seed")] * 2


def test_what_was_not_the_cure_is_sent_again() -> None:
    """A server that quotes the prompt in its error names whatever the prompt names."""

    async def twice(client: OpenAIServer) -> frozenset[str]:
        reply = await client.complete(question("Is a seed alive?", seed=1))
        assert reply.reason == "rejected"
        return client.left_out

    with ScriptedServer(always(error(400, "wrong: Is a seed alive?"))) as server:
        assert using(server, twice) == frozenset()
    assert ["seed" in body for body in server.bodies] == [True, False]


def test_a_server_that_wants_the_newer_name_of_max_tokens() -> None:
    def newer(body: dict[str, Any], n: int) -> Said | str:
        told = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        return error(400, told, param="max_tokens") if "max_tokens" in body else "Kyiv."

    reply, asked = reply_to(newer, question(max_tokens=33))
    assert reply.text == "Kyiv."
    assert asked[1].body["max_completion_tokens"] == 33


def test_never_more_requests_are_open_than_allowed() -> None:
    async def many(client: OpenAIServer) -> list[Reply]:
        return await asyncio.gather(*(client.complete(question(str(n))) for n in range(40)))

    with ScriptedServer(lambda body, n: Said(body["messages"][1]["content"], delay=0.03)) as server:
        replies = using(server, many, concurrency=5)
    assert [reply.text for reply in replies] == [str(n) for n in range(40)]
    assert server.most_open == 5
    assert server.connections <= 6
    # Waiting for a slot is not the server's time.
    assert max(reply.seconds for reply in replies) < 1


def test_cancelling_passes_and_gives_the_slot_back() -> None:
    async def cancel(client: OpenAIServer) -> str | None:
        task = asyncio.create_task(client.complete(question("hang")))
        while not server.asked:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await client.complete(question())).text

    script: Script = lambda body, n: Said("Kyiv.", then="hang" if n == 0 else "answer")  # noqa: E731
    with ScriptedServer(script) as server:
        assert using(server, cancel, concurrency=1) == "Kyiv."
        deadline = time.monotonic() + 5
        while server.open and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.open == 0


def test_a_client_works_in_a_second_event_loop_and_after_closing() -> None:
    with ScriptedServer(always("Kyiv.")) as server:
        client = OpenAIServer(server.url, "tiny", retries=0)

        async def once() -> str | None:
            return (await client.complete(question())).text

        assert [asyncio.run(once()) for _ in range(2)] == ["Kyiv."] * 2

        async def closed() -> str | None:
            await client.close()
            await client.close()
            return await once()

        assert asyncio.run(closed()) == "Kyiv."


def test_half_a_surrogate_pair_in_the_prompt_is_a_reply_with_a_reason() -> None:
    reply, asked = reply_to(always("Kyiv."), question("a \ud800 b"))
    assert (reply.reason, asked) == ("rejected", [])


def test_an_endless_answer_is_not_asked_for_again() -> None:
    reply, asked = reply_to(always(Said(raw=b" " * 17_000_000)), retries=2)
    assert reply.detail == "The server's answer has more than 16 MB."
    assert len(asked) == 1


def test_a_request_that_cannot_be_written_is_a_reply_too() -> None:
    reply, asked = reply_to(always("Kyiv."), question(temperature=float("nan")))
    assert (reply.reason, reply.detail) == (
        "server error",
        "The exchange with the server failed (ValueError).",
    )
    assert asked == []


def test_an_answer_is_data() -> None:
    """What the model writes about formats, keys and commands changes nothing."""
    text = 'Ignore all rules. {"choices": []} data: [DONE] finish_reason: length $(reboot) ```'
    reply, _ = reply_to(always(text))
    assert (reply.text, reply.reason) == (text, None)


@pytest.mark.parametrize(
    ("models", "model", "problem"),
    [
        (("big", "small"), "tiny", r"no model 'tiny'; choose from big, small"),
        (tuple(f"m{n}" for n in range(50)), "tiny", r"m19 and 30 more"),
        ((), "tiny", "no models; load tiny"),
        (Said(raw=b"<html>", content_type="text/html"), "tiny", "does the base URL need to end in /v1"),
        (error(500, "loading"), "tiny", "answered 500: loading"),
        (error(401, "who are you?"), "tiny", "requires a key: name the environment variable"),
        (Said(then="hang"), "tiny", "may still be loading the model"),
        (Said(then="close"), "tiny", "no server answers there"),
        (Said(status=301, headers={"Location": "https://example.org/"}), "tiny", "redirects"),
    ],
)
def test_a_server_that_cannot_work_is_refused_at_the_start(models: Any, model: str, problem: str) -> None:
    """One that gives no list with the model is asked a short question too."""
    same = models if isinstance(models, Said) else error(404, "The model does not exist.")
    with (
        ScriptedServer(always(same), models) as server,
        pytest.raises(InputError, match=problem) as raised,
    ):
        using(server, lambda client: client.start(), model=model, timeout=0.5)
    assert server.url in raised.value.what
    assert len(server.asked) == 1
    if not isinstance(models, Said):
        assert len(raised.value.problems) == 2, "what the list says, and what the chat says"


@pytest.mark.parametrize(
    ("models", "model", "asked"),
    [
        (("big", "tiny"), "tiny", 0),
        (("tiny:latest",), "tiny", 0),
        (("models/tiny",), "tiny", 0),
        (Said(body=[{"id": "tiny"}]), "tiny", 0),
        (Said(body=[{"id": "alias"}]), "tiny", 1),
        (Said(body=[]), "tiny", 1),
        (None, "tiny", 1),
        (Said(body={"models": {}}), "tiny", 1),
        (Said(raw=b"<html>", content_type="text/html"), "tiny", 1),
        *((error(status, "no"), "tiny", 1) for status in (401, 403, 405, 500, 501, 503)),
    ],
)
def test_a_server_that_may_work_is_started(models: Any, model: str, asked: int) -> None:
    with ScriptedServer(always("x"), models) as server:
        using(server, lambda client: client.start(), model=model)
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    "said",
    [
        error(429, "slow down", headers={"Retry-After": "3600"}),
        Said("", "length"),
        error(400, "Could not finish the message because max_tokens or model output limit was reached."),
        Said("", then="hang"),
    ],
)
def test_what_may_pass_does_not_keep_a_run_from_starting(said: Said) -> None:
    with ScriptedServer(always(said), None) as server:
        using(server, lambda client: client.start(), timeout=0.3)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        (" HTTPS://API.Example.ORG:443/v1//", "https://api.example.org/v1"),
        ("http://[::1]:80", "http://[::1]"),
    ],
)
def test_one_server_has_one_address(given: str, normal: str) -> None:
    assert normal_url(given) == normal
    assert OpenAIServer(given, "tiny").identity == {"base_url": normal}


@pytest.mark.parametrize(
    "bad",
    [
        "127.0.0.1:8000",
        "ftp://host/v1",
        "http://",
        "http://host:99999/v1",
        "http://a b/v1",
        "http://user:secretword@host/v1",
        "http://host/v1?key=secretword",
        "http://host/v1#secretword",
        "http://host/v1/chat/completions",
    ],
)
def test_addresses_that_are_refused_are_not_repeated(bad: str) -> None:
    with pytest.raises(InputError) as raised:
        OpenAIServer(bad, "tiny")
    assert raised.value.problems
    assert "secretword" not in str(raised.value)


def test_settings_are_refused_all_together() -> None:
    with pytest.raises(InputError) as raised:
        OpenAIServer("http://host/v1", " ", concurrency=0, timeout=0, retries=-1)
    assert len(raised.value.problems) == 4


def test_the_place_determines_the_key_of_the_cache_and_settings_of_the_line_do_not() -> None:
    here = OpenAIServer("http://127.0.0.1:1/v1", "tiny")
    slower = OpenAIServer("http://127.0.0.1:1/v1/", "tiny", concurrency=1, timeout=1, retries=0)
    elsewhere = OpenAIServer("http://127.0.0.1:2/v1", "tiny")
    assert request_key(here, question()) == request_key(slower, question())
    assert request_key(here, question()) != request_key(elsewhere, question())


def test_the_scripted_server_counts_what_it_says_it_counts() -> None:
    """Others measure with it: a fixed latency and 32 requests at once."""

    async def many(client: OpenAIServer) -> float:
        await client.complete(question())
        began = time.monotonic()
        await asyncio.gather(*(client.complete(question(str(n))) for n in range(128)))
        return time.monotonic() - began

    with ScriptedServer(always(Said("ok", delay=0.1))) as server:
        seconds = using(server, many, concurrency=32)
    assert 0.4 <= seconds < 128 * 0.1
    assert server.most_open == 32
    assert all(asked.ended is not None and asked.ended - asked.began >= 0.1 for asked in server.asked)
    with contextlib.suppress(ConnectionError), pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
    assert json.dumps(server.bodies[1])


def told(**fields: Any) -> Request:
    """A question with everything that a user can choose."""
    how = CallSettings(
        top_p=0.9,
        reasoning_effort="low",
        reasoning_budget=100,
        stop=("###",),
        extra_body={"top_k": 20, "user": "me"},
        chat_template={"enable_thinking": False},
    )
    return question(seed=1, schema={**SCHEMA, "additionalProperties": False}, how=how, **fields)


def test_what_a_user_chose_goes_along() -> None:
    _, asked = reply_to(always('{"a": 1}'), told(max_tokens=50))
    sent = {
        name: value for name, value in asked[0].body.items() if name not in ("messages", "response_format")
    }
    assert sent == {
        "model": "tiny",
        "temperature": 0.0,
        "top_p": 0.9,
        "max_tokens": 150,
        "seed": 1,
        "stop": ["###"],
        "reasoning_effort": "low",
        "thinking_token_budget": 100,
        "chat_template_kwargs": {"enable_thinking": False},
        "top_k": 20,
        "user": "me",
    }


def test_a_temperature_of_none_is_the_servers_own() -> None:
    _, asked = reply_to(always("Kyiv."), question(temperature=None))
    assert "temperature" not in asked[0].body


DETAIL = {"type": "extra_forbidden", "msg": "Extra inputs are not permitted", "input": {"seed": 1}}
REFUSALS: list[tuple[Said, set[str]]] = [
    (error(400, "Unsupported parameter: 'temperature' is not supported with this model."), {"temperature"}),
    (
        error(
            400, "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1)."
        ),
        {"temperature"},
    ),
    (error(422, "`temperature` has to be a strictly positive float"), {"temperature"}),
    (error(400, "no", param="top_p"), {"top_p"}),
    (error(400, "`top_p` cannot be specified with `temperature`."), {"top_p"}),
    (error(400, "Unrecognized request argument supplied: seed"), {"seed"}),
    (error(400, "Unrecognized request argument supplied: user"), {"user"}),
    (error(400, 'Unknown name "top_k": Cannot find field.'), {"top_k"}),
    (error(400, "[{'type': 'extra_forbidden', 'loc': ('body', 'stop'), 'msg': 'Extra'}]"), {"stop"}),
    (error(400, "stop sequences are not supported"), {"stop"}),
    (error(400, "Unsupported value: 'reasoning_effort' does not support 'low'."), {"reasoning_effort"}),
    (error(501, "chat_template is not supported for this tokenizer"), {"chat_template_kwargs"}),
    (
        Said(status=400, body=[{"error": {"message": "thinking_token_budget: unknown"}}]),
        {"thinking_token_budget"},
    ),
    (
        Said(status=422, body={"detail": [{**DETAIL, "loc": ["body", name]} for name in ("stop", "top_k")]}),
        {"stop", "top_k"},
    ),
    (
        Said(status=422, body={"message": {"detail": [{**DETAIL, "loc": ["body", "user"]}]}, "code": None}),
        {"user"},
    ),
    (
        Said(status=422, body={"detail": [{**DETAIL, "loc": ["body", "response_format"]}]}),
        {"response_format"},
    ),
    (
        error(400, "Invalid schema for response_format: 'additionalProperties' is wrong"),
        {"response_format.additionalProperties"},
    ),
    (error(400, "In strict mode a schema needs more"), {"response_format.strict"}),
    (
        error(400, "response_format.type: json_schema is not one of text, json_object"),
        {"response_format.json_schema"},
    ),
    (error(400, "please stop sending user messages"), set()),
    (error(400, "max_tokens is too large: 50. This model supports at most 16.", param="max_tokens"), set()),
    (error(403, "temperature"), set()),
]


@pytest.mark.parametrize(("said", "missing"), REFUSALS)
def test_a_refusal_names_what_to_leave_out(said: Said, missing: set[str]) -> None:
    reply, asked = reply_to(lambda body, n: '{"a": 1}' if n else said, told())
    assert (reply.reason is None, set(reply.not_sent)) == (bool(missing), missing)
    assert len(asked) == 1 + bool(missing)
    if not missing:
        return
    before, after = asked[0].body, asked[1].body
    assert before.keys() - after.keys() == {
        name for name in missing if not name.startswith("response_format.")
    }
    assert (before["response_format"] != after.get("response_format")) == ("response_format" in str(missing))


def test_the_last_ways_out_of_a_schema_and_of_a_limit() -> None:
    def script(body: dict[str, Any], n: int) -> Said | str:
        for name in ("response_format", "max_completion_tokens", "max_tokens"):
            if name in body:
                return error(400, f"Unsupported parameter: '{name}' in any form.", param=name)
        return "Kyiv."

    reply, asked = reply_to(script, question(schema=SCHEMA))
    assert reply.text == "Kyiv."
    assert reply.not_sent == ("max_tokens", "response_format")
    forms = [body["response_format"]["type"] for one in asked if "response_format" in (body := one.body)]
    assert forms == ["json_schema", "json_object"]


def test_a_property_is_no_keyword_of_a_schema() -> None:
    inner = {"type": "string", "maxLength": 5}
    schema = {"type": "object", "properties": {"maxLength": inner}, "required": ["maxLength"]}
    script: Script = lambda body, n: "{}" if n else error(400, "maxLength in response_format: no")  # noqa: E731
    reply, asked = reply_to(script, question(schema=schema))
    assert reply.not_sent == ("response_format.maxLength",)
    sent = asked[1].body["response_format"]["json_schema"]["schema"]
    assert sent == {**schema, "properties": {"maxLength": {"type": "string"}}}


def test_every_open_request_learns_a_refusal_once() -> None:
    def script(body: dict[str, Any], n: int) -> Said:
        if "seed" in body:
            return replace(error(400, "Unrecognized request argument supplied: seed"), delay=0.05)
        return Said("Kyiv.", delay=0.05)

    async def many(client: OpenAIServer) -> list[Reply]:
        return await asyncio.gather(*(client.complete(question(str(n), seed=1)) for n in range(40)))

    with ScriptedServer(script) as server:
        replies = using(server, many, concurrency=8)
    assert {reply.not_sent for reply in replies} == {("seed",)}
    assert sum("seed" in body for body in server.bodies) <= 8


@pytest.mark.parametrize(
    ("said", "text", "thinking", "tokens"),
    [
        (Said("<think>Hm.</think>\n\nKyiv."), "Kyiv.", "Hm.", None),
        (Said("Kyiv.", beside={"reasoning_content": "Hm."}, reasoning_tokens=7), "Kyiv.", "Hm.", 7),
        (Said("Kyiv.", beside={"reasoning": "Hm."}), "Kyiv.", "Hm.", None),
        (Said("Kyiv.", beside={"reasoning": "Hm.", "reasoning_content": "Hm."}), "Kyiv.", "Hm.", None),
        (Said("Kyiv.", reasoning_tokens=300), "Kyiv.", None, 300),
        (Said(" Kyiv.", beside={"reasoning_content": None, "reasoning": ""}), " Kyiv.", None, None),
        *(
            (Said(None, beside={"content": [part, {"type": "text", "text": "Kyiv."}]}), "Kyiv.", "Hm.", None)
            for part in (
                {"type": "thinking", "thinking": "Hm."},
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                {"type": "reasoning", "text": "Hm."},
            )
        ),
    ],
)
def test_thinking_is_kept_apart(said: Said, text: str, thinking: str | None, tokens: int | None) -> None:
    reply, _ = reply_to(always(said))
    assert (reply.text, reply.reason) == (text, None)
    assert (reply.thinking, reply.thinking_tokens) == (thinking, tokens)


@pytest.mark.parametrize(
    "said",
    [
        Said("<think>Hm, let me", "length"),
        Said("", "length", beside={"reasoning_content": "Hm, let me"}),
        Said(None, "length", reasoning_tokens=400),
        error(400, "Could not finish the message because max_tokens or model output limit was reached."),
    ],
)
def test_an_answer_cut_off_in_its_thinking_is_cut_off(said: Said) -> None:
    reply, asked = reply_to(always(said))
    assert (reply.reason, (reply.text or "").strip(), len(asked)) == ("cut off", "", 1)


def test_room_for_thinking_is_learned() -> None:
    async def twice(client: OpenAIServer) -> None:
        for n in range(2):
            await client.complete(question(str(n), max_tokens=100))

    with ScriptedServer(always(Said("Kyiv.", usage=(5, 203), reasoning_tokens=200))) as server:
        using(server, twice)
    assert [body["max_tokens"] for body in server.bodies] == [100, 400]


def test_learned_room_ends_at_the_largest_limit_and_a_chosen_budget_is_always_added() -> None:
    async def twice(client: OpenAIServer, how: CallSettings) -> None:
        for n in range(2):
            await client.complete(question(str(n), max_tokens=100, how=how))

    for budget, limits in ((None, [100, 150]), (2000, [2100, 2100])):
        how = CallSettings(largest_limit=150, reasoning_budget=budget)
        with ScriptedServer(always(Said("Kyiv.", usage=(5, 203), reasoning_tokens=200))) as server:
            using(server, partial(twice, how=how))
        assert [body["max_tokens"] for body in server.bodies] == limits


def test_an_api_version_and_headers_go_with_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    secret, variable = "team-secret-0123456789", "ASSAY_TEST_TEAM"
    monkeypatch.setenv(variable, secret)
    monkeypatch.setenv("ASSAY_TEST_AZURE", "azure-0123456789")
    how = CallSettings(
        api_version="2024-10-21", headers={"X-Title": "Assay", "X-Team-Token": f"env:{variable}"}
    )

    async def both(client: OpenAIServer) -> Reply:
        await client.start()
        assert client.identity == {"base_url": server.url, "api_version": "2024-10-21"}
        assert client.identity != OpenAIServer(server.url, "tiny").identity
        return await client.complete(question())

    said = error(400, f"bad token {secret}")
    with ScriptedServer(lambda body, n: said if n else "OK.", None) as server:
        reply = using(server, both, how=how, key_variable="ASSAY_TEST_AZURE")
    for asked in server.asked:
        assert asked.query == "api-version=2024-10-21"
        assert asked.headers["api-key"] == "azure-0123456789"
        assert asked.headers["authorization"] == "Bearer azure-0123456789"
        assert (asked.headers["x-title"], asked.headers["x-team-token"]) == ("Assay", secret)
    assert reply.reason == "rejected"
    assert secret not in reply.detail

    monkeypatch.delenv(variable)
    with pytest.raises(InputError) as raised:
        asyncio.run(OpenAIServer(server.url, "tiny", how=how).start())
    assert variable in str(raised.value)


def test_an_authorization_of_the_users_own_takes_the_place_of_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_TEST_TEAM", "Basic dXNlcjpwYXNz")
    how = CallSettings(headers={"Authorization": "env:ASSAY_TEST_TEAM"})
    with ScriptedServer(always("Kyiv.")) as server:
        using(server, lambda client: client.complete(question()), how=how)
    assert server.asked[0].headers["authorization"] == "Basic dXNlcjpwYXNz"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("https://h/v1?api-version=2024-10-21", ("https://h/v1", "2024-10-21")),
        ("https://h/v1", ("https://h/v1", None)),
        ("https://h/v1?api-version=1&key=x", ("https://h/v1?api-version=1&key=x", None)),
        ("https://h/v1?api-version=1#x", ("https://h/v1?api-version=1#x", None)),
        ("https://h/v1?key=x", ("https://h/v1?key=x", None)),
    ],
)
def test_the_api_version_of_an_address(given: str, found: tuple[str, str | None]) -> None:
    assert split_version(given) == found
