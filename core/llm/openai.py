"""The client for servers with OpenAI's chat API: vLLM, llama.cpp, Ollama, hosted services."""

import asyncio
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx2
import openai

from core.errors import InputError
from core.llm import exchange
from core.llm.call_settings import AS_USUAL, CallSettings
from core.llm.client import Message, Reply, Request
from core.llm.exchange import body_of, parts_missing, refused_parts
from core.llm.guarded import Connection, TooMuch, connect
from core.llm.pacing import LONGEST_WAIT, Pace
from core.llm.reaching import normal_url
from core.llm.thinking import Room

DEFAULT_CONCURRENCY = 32
DEFAULT_TIMEOUT = 120.0
DEFAULT_RETRIES = 4
LIST_TIMEOUT = 15.0
"""Time limit for the list of models, in seconds."""
FIRST_PAUSE = 0.5
"""Seconds before the first retry; each later pause is twice as long."""
LONGEST_PAUSE = 8.0
PROBE_TOKENS = 64
"""Tokens of the answer to the test question."""
_BYTES_PER_TOKEN = 4
"""Approximate characters per token of a prompt, accurate enough for token limits."""
_UNUSABLE = frozenset({"not allowed", "unreachable", "server error", "rejected"})
"""Reasons why a chat is unusable; others, such as `busy`, may pass or concern only the question."""
_SILENT = "it accepts connections but does not answer; it may still be loading the model, so try again later"
_NOBODY = "no server answers there; start the server, or correct the base URL"
_FULL = 429
_DOWN_OR_FULL = frozenset({503, 529})
_VERSION = re.compile(r"/v\d\w*(/|$)")
MOST_NAMED = 20
"""Most models that an error names."""


class OpenAIServer:
    """A model behind an OpenAI-compatible server.

    timeout: seconds for one whole exchange, from connecting to the last byte. retries: repetitions after a transport
    error; refusals with a time to retry do not count. key_variable: the environment variable with the key; None: no key
    is needed. how: its headers and API version are sent with every request.
    """

    backend = "openai"

    def __init__(
        self,
        base_url: str,
        model: str,
        concurrency: int = DEFAULT_CONCURRENCY,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
        key_variable: str | None = None,
        how: CallSettings = AS_USUAL,
    ) -> None:
        problems = [] if model.strip() else ["model: is empty; choose one"]
        problems += [] if concurrency >= 1 else [f"concurrency is {concurrency}, expected 1 or more"]
        problems += (
            [] if 0 < timeout < float("inf") else [f"timeout is {timeout} seconds, expected more than 0"]
        )
        problems += [] if retries >= 0 else [f"retries is {retries}, expected 0 or more"]
        if problems:
            raise InputError("Invalid settings of the server", problems)
        self.base_url = normal_url(base_url)
        self.model = model.strip()
        self.concurrency = concurrency
        self.left_out: frozenset[str] = frozenset()
        """Parts of requests that the server has refused (see exchange) and that are no longer sent."""
        self._room = Room()
        self._timeout, self._retries, self._key_variable, self._how = timeout, retries, key_variable, how
        self._line: _Line | None = None

    @property
    def identity(self) -> Mapping[str, object]:
        """The address, because a model of the same name can differ elsewhere or in another API version."""
        version = {"api_version": self._how.api_version} if self._how.api_version else {}
        return {"base_url": self.base_url, **version}

    def body(self, request: Request, dropped: frozenset[str] = frozenset()) -> dict[str, object]:
        """The body that is sent for a request, without `dropped` and the parts that the server has refused."""
        return body_of(self.model, request, self._room.limit_of(request), self.left_out | dropped)

    def hear(self, reply: Reply) -> None:
        """Learn from a reply how much room thinking needs."""
        self._room.learn(reply)

    async def start(self) -> None:
        """Check that the server answers, accepts the key and has the model. Raises InputError if not.

        Many servers have no list of models, or hide it from some keys. If the list does not name the model, one short
        test question checks whether the chat works.
        """
        line = self._connected()
        problem = await self._list_problem(line)
        if problem is None:
            return
        reply = await self._short_answer(line)
        silent = reply.reason == "timeout" and problem == _SILENT
        if not silent and reply.reason not in _UNUSABLE:
            return
        await self.close()
        nobody = reply.detail == self._no_connection(0) and problem == _NOBODY
        problems = [problem] if silent or nobody else [problem, reply.detail]
        # Both checks often fail for the same reason, such as the key.
        shown = list(dict.fromkeys(line.server.hide(one) for one in problems))
        raise InputError(f"The model server at {self.base_url} cannot be used", shown)

    async def _list_problem(self, line: "_Line") -> str | None:
        """Why the list of models does not confirm the model; None: it does."""
        try:
            async with asyncio.timeout(min(LIST_TIMEOUT, self._timeout)):
                response = await line.server.api.get("/models", cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return self._failure(line, error.response).detail
        except (openai.APITimeoutError, TimeoutError):
            return _SILENT
        except openai.APIConnectionError:
            return _NOBODY
        except TooMuch as error:
            return str(error)
        try:
            names = exchange.models_of(response.content)
        except ValueError:
            return "it does not offer the chat API; does the base URL need to end in /v1?"
        # Ollama adds its default tag and Gemini a folder to every name; both accept the short name.
        if {self.model, f"{self.model}:latest", f"models/{self.model}"} & set(names or ()):
            return None
        if names is None:
            return "it has no list of models"
        if not names:
            return f"it has no models; load {self.model} and start again"
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        listed = ", ".join(exchange.short(name, 80) for name in names[:MOST_NAMED])
        return f"it has no model {exchange.short(self.model, 80)!r}; choose from {listed}{more}"

    async def _short_answer(self, line: "_Line") -> Reply:
        """The reply to a test question."""
        question = Request("start", (Message("user", "Say OK."),), PROBE_TOKENS, None, how=self._how)
        try:
            async with asyncio.timeout(min(LIST_TIMEOUT, self._timeout)):
                return await self._exchange(line, question, retries=0)
        except TimeoutError:
            return Reply(None, "timeout")

    async def complete(self, request: Request) -> Reply:
        """Answer one request. A failure is a reply with a reason; only cancellation raises."""
        began = time.monotonic()
        try:
            line = self._connected()
            async with line.slots:
                began = time.monotonic()
                reply = await self._exchange(line, request, self._retries)
            return replace(
                reply,
                text=line.server.hide_whole(reply.text),
                thinking=line.server.hide_whole(reply.thinking),
                detail=exchange.short(line.server.hide(reply.detail)),
            )
        except InputError as error:
            reply = Reply(None, "not allowed", " ".join([error.what, *error.problems]))
        except Exception as error:
            # Only the type, because a library's message may quote headers.
            reply = Reply(
                None, "server error", f"The exchange with the server failed ({type(error).__name__})."
            )
        return replace(reply, seconds=time.monotonic() - began)

    async def _exchange(self, line: "_Line", request: Request, retries: int) -> Reply:
        """Send the request until it is answered or has failed for good; see Reply for the meaning of its seconds."""
        dropped: frozenset[str] = frozenset()
        tries, waited, seconds = 0, 0.0, 0.0
        while True:
            left_out = self.left_out | dropped
            body = self.body(request, dropped)
            async with line.pace.turn(_tokens_of(request)) as turn:
                began = time.monotonic()
                response, failed = await self._send(line, body, tries)
                seconds += time.monotonic() - began
                refusal = None
                if response is not None:
                    line.pace.answered(turn, response.headers)
                if failed is None:
                    line.pace.taken(turn)
                elif response is not None and failed.reason != "not allowed" and _is_full(response):
                    said = exchange.message_of(response.content)
                    refusal = line.pace.refused(turn, response.headers, said, _pause)
            if failed is None:
                assert response is not None
                reply = exchange.read_completion(response.content)
                # Only now is it clear that leaving these parts out helped.
                self.left_out |= dropped
                self.hear(reply)
                return replace(reply, seconds=seconds, not_sent=parts_missing(request, left_out))
            if response is not None:
                refused = refused_parts(response.status_code, response.content, body)
                if refused:
                    dropped |= refused
                    continue
            if refusal is not None and (refusal.named or (line.pace.lets_in and _may_pass(response, failed))):
                waited += refusal.seconds
                if waited <= LONGEST_WAIT:
                    continue
            if refusal is not None and refusal.named:
                told = f"The server accepts requests again in {refusal.seconds:,.0f} s, which is too long to wait. "
                failed = replace(failed, detail=told + failed.detail)
            elif tries < retries and _may_pass(response, failed):
                if refusal is None:  # otherwise the pace makes all requests wait
                    await asyncio.sleep(_pause(tries))
                tries += 1
                continue
            return replace(failed, seconds=seconds)

    async def _send(
        self, line: "_Line", body: dict[str, object], tries: int
    ) -> tuple[httpx2.Response | None, Reply | None]:
        """The server's response, if any, and the failure, if any."""
        try:
            response = await line.server.api.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            return error.response, self._failure(line, error.response)
        except UnicodeEncodeError:
            said = "The prompt contains half a surrogate pair, which cannot be sent."
            return None, Reply(None, "rejected", said)
        except TooMuch as error:
            return None, Reply(None, "server error", str(error))
        except openai.APITimeoutError:
            said = f"No complete answer within {self._timeout:g} s{_times(tries)}."
            return None, Reply(None, "timeout", said)
        except openai.APIConnectionError:
            return None, Reply(None, "unreachable", self._no_connection(tries))
        return response, None

    def _no_connection(self, tries: int) -> str:
        return f"The connection to {self.base_url} failed{_times(tries)}."

    def _failure(self, line: "_Line", response: httpx2.Response) -> Reply:
        """The failure for an error status, with the server's message; never quotes a refused key."""
        status, key = response.status_code, line.server.key
        failed = exchange.read_failure(status, response.content, line.server.hide)
        if status == 401:
            wanted = "requires a key: name the environment variable that contains it"
            refused = f"refused the key in {key.variable}"
            detail = f"The server {wanted if key.variable is None else refused} (401)."
        elif redirected := line.server.redirected(status):
            detail = redirected
        elif status == 404:
            hint = "" if _VERSION.search(self.base_url) else "; base URLs usually end in /v1"
            # The hint precedes the server's message, which may be long enough to be shortened.
            detail = failed.detail.replace(
                exchange.ANSWERED.format(404),
                f"The server at {self.base_url} has no model {self.model!r} or no chat API (404{hint})",
                1,
            )
        else:
            return failed
        return replace(failed, detail=exchange.short(detail))

    def _connected(self) -> "_Line":
        """The connection of the running event loop. Raises InputError if the key cannot be read."""
        loop = asyncio.get_running_loop()
        if self._line is None or self._line.loop is not loop:
            server = connect(
                self.base_url,
                self._key_variable,
                self._how,
                seconds=self._timeout,
                connections=self.concurrency,
            )
            slots = asyncio.Semaphore(self.concurrency)
            self._line = _Line(server, slots, Pace(), loop)
        return self._line

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        line, self._line = self._line, None
        if line is not None and line.loop is asyncio.get_running_loop():
            await line.server.api.close()


@dataclass(frozen=True)
class _Line:
    """The connection of one event loop."""

    server: Connection
    slots: asyncio.Semaphore
    pace: Pace
    loop: asyncio.AbstractEventLoop


def _pause(n: int) -> float:
    """Seconds to wait after n pauses: exponential, with jitter."""
    return min(FIRST_PAUSE * 2.0 ** min(n, 16), LONGEST_PAUSE) * random.uniform(0.75, 1.0)


def _is_full(response: httpx2.Response) -> bool:
    """Whether the server is busy. A server that is down sends the same status, but no time to retry."""
    status = response.status_code
    return status == _FULL or (status in _DOWN_OR_FULL and "retry-after" in response.headers)


def _tokens_of(request: Request) -> float:
    """Approximate tokens that count against a server's limit: the prompt and the longest answer."""
    written = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    return written / _BYTES_PER_TOKEN + request.max_tokens


def _may_pass(response: httpx2.Response | None, failed: Reply) -> bool:
    """Whether the same request may succeed a moment later."""
    if response is None:
        return failed.reason in ("timeout", "unreachable")
    status, said = response.status_code, response.headers.get("x-should-retry")
    return failed.reason != "not allowed" and said != "false" and (status in (408, 409, 429) or status >= 500)


def _times(tries: int) -> str:
    return f", {tries + 1} times" if tries else ""
