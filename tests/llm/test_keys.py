"""A key is read from its variable, sent to the server, and stands nowhere else."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from helpers.processes.scripted_server import Said, ScriptedServer, error

from core.errors import InputError
from core.llm.client import Message, Reply, Request, request_key
from core.llm.openai import OpenAIServer
from core.llm.reaching import Key

KEY = "sk-proj-Zq81LmTbW0xRvY47NcUd"
VARIABLE = "ASSAY_TEST_KEY"
PARTS = [KEY[at : at + 6] for at in range(len(KEY) - 5)]
QUESTION = Request("rank", (Message("user", "Who?"),))


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, f"{KEY}\n")
    return KEY


def clean(*things: object) -> bool:
    """Whether none of these shows six letters of the key."""
    return not any(part.lower() in text.lower() for text in map(str, things) for part in PARTS)


def ask(server: ScriptedServer, variable: str | None = VARIABLE) -> tuple[OpenAIServer, Reply]:
    async def whole() -> tuple[OpenAIServer, Reply]:
        client = OpenAIServer(server.url, "tiny", retries=0, key_variable=variable)
        try:
            return client, await client.complete(QUESTION)
        finally:
            await client.close()

    return asyncio.run(whole())


def test_the_key_reaches_the_server_and_nothing_else(key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedServer(lambda body, n: Said("Me.", headers={"X-Seen": KEY}), key=key) as server:
        client, reply = ask(server)
    assert reply.text == "Me."
    assert server.asked[0].headers["authorization"] == f"Bearer {key}"
    assert KEY not in str(server.asked[0].body)
    assert clean(repr(client), client.identity, client.model, request_key(client, QUESTION), reply)
    assert clean(repr(Key(VARIABLE)), str(Key(VARIABLE)))
    assert clean(caplog.text, [record.__dict__ for record in caplog.records])
    assert "chat/completions" not in caplog.text


def test_without_a_variable_no_key_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {KEY}\nX-Team: {KEY}")
    with ScriptedServer(lambda body, n: "Me.") as server:
        _, reply = ask(server, None)
    assert reply.text == "Me."
    assert clean(server.asked[0].headers)


ECHOES: list[Callable[[], Said]] = [
    lambda: error(400, f"you sent {KEY}, sir"),
    lambda: error(400, f'header "Authorization: Bearer {KEY}" is odd'),
    lambda: error(400, f"key={KEY[:12]}... is odd"),
    lambda: error(400, f"the end ...{KEY[-9:]} is odd"),
    lambda: error(400, f"{KEY.upper()}"),
    lambda: error(400, "x" * 290 + KEY),
    lambda: error(429, f"account of {KEY[4:18]} is busy"),
    lambda: error(500, f"trace: {KEY}"),
    lambda: Said(status=500, raw=f"<html>{KEY}</html>".encode(), content_type="text/html"),
    lambda: Said(status=500, raw=KEY.encode(), content_type="text/plain"),
    lambda: Said(raw=KEY.encode(), content_type="text/plain"),
    lambda: Said(body={"error": KEY}),
    lambda: Said(None, refusal=f"no, {KEY}"),
    lambda: Said(f"You said {KEY}."),
    lambda: error(401, f"Incorrect API key provided: {KEY}"),
    lambda: error(403, f"Not for {KEY}"),
]


@pytest.mark.parametrize("said", ECHOES)
def test_a_server_that_repeats_the_key(key: str, said: Callable[[], Said]) -> None:
    with ScriptedServer(lambda body, n: said()) as server:
        client, reply = ask(server)
    assert clean(repr(client), reply), reply
    assert reply.detail or reply.text


@pytest.mark.parametrize(
    "masked", ["sk-pr***********NcUd", "sk-p…UcUd", "sk-...NcUd", "sk-************Ud", "(****NcUd)"]
)
def test_masked_forms_go_too(key: str, masked: str) -> None:
    with ScriptedServer(lambda body, n: error(403, f"Wrong key: {masked} here.")) as server:
        _, reply = ask(server)
    assert masked not in reply.detail
    assert "NcUd" not in reply.detail
    assert reply.detail == "The server answered 403: Wrong key: [key] here."


def test_the_rest_of_the_message_stands(key: str) -> None:
    told = "Model llama-3... wants **less** than 64 tokens, you sent 99 to project."
    with ScriptedServer(lambda body, n: error(400, told)) as server:
        _, reply = ask(server)
    assert reply.detail == f"The server answered 400: {told}"


@pytest.mark.parametrize("short", ["x", "EMPTY", "test"])
def test_a_stand_in_for_a_key_leaves_answers_alone(short: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, short)
    with ScriptedServer(lambda body, n: f"exit the {short}ed {short} here", key=short) as server:
        _, reply = ask(server)
    assert reply.text == f"exit the {short}ed {short} here"
    with ScriptedServer(lambda body, n: error(400, f"key '{short}' refused")) as server:
        assert ask(server)[1].detail == "The server answered 400: key [key] refused"


def test_a_wrong_key_is_named_by_its_variable(key: str) -> None:
    with ScriptedServer(lambda body, n: "Me.", key="sk-other") as server:
        client, reply = ask(server)
        assert (reply.reason, reply.detail) == (
            "not allowed",
            f"The server refused the key in {VARIABLE} (401).",
        )
        with pytest.raises(InputError, match=f"refused the key in {VARIABLE}") as raised:
            asyncio.run(client.start())
    assert clean(raised.value, raised.value.__cause__, repr(raised.value.__context__))


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        (VARIABLE, None, f"{VARIABLE} is not set"),
        (VARIABLE, " \n", f"{VARIABLE} is not set or is empty"),
        (VARIABLE, "sk-a b", "characters that are not allowed in a key"),
        (VARIABLE, "sk-é", "characters that are not allowed in a key"),
        (KEY, None, "never the key itself"),
    ],
)
def test_a_key_that_cannot_be_read(
    variable: str, value: str | None, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(variable, value)
    with ScriptedServer(lambda body, n: "Me.") as server:
        client, reply = ask(server, variable)
        assert reply.reason == "not allowed"
        assert problem in reply.detail
        with pytest.raises(InputError, match=problem) as raised:
            asyncio.run(client.start())
    assert server.paths == []
    assert clean(raised.value, reply)
    assert (value or "").strip() not in str(raised.value) or not (value or "").strip()


def test_no_part_of_a_reply_is_kept_by_the_client(key: str) -> None:
    """What a debugger or a crash report shows of the client's own fields."""
    fields: dict[str, Any] = vars(OpenAIServer("http://127.0.0.1:1/v1", "tiny", key_variable=VARIABLE))
    assert clean(fields)
