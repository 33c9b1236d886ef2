"""A real HTTP server on this machine that speaks the chat API and says what a test tells it to.

    with ScriptedServer(lambda body, n: "Paris.") as server:
        ...  # server.url is the base URL, as a user would give it
    server.asked[0].body["messages"], server.most_open

The script gets the request's JSON and its number (0 for the first) and returns a text or a Said: status,
headers, delay, raw bytes, or ways to misbehave. It runs in the server's thread, one call at a time, so it
must not block: time passes by Said(delay=...). Connections are kept alive, and one event loop in a thread of
its own serves them all; a reply without a delay costs about 0.1 ms, so a fixed latency measures the caller.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

Body = dict[str, Any]
Then = Literal["answer", "hang", "close", "trickle", "half"]


@dataclass(frozen=True)
class Said:
    """One reply, or what the server does in its place."""

    text: str | None = ""
    finish_reason: str | None = "stop"
    refusal: str | None = None
    usage: tuple[int, int] | None | Literal["counted"] = "counted"
    """Tokens in and out; `counted`: the words; None: the reply does not say."""
    beside: Mapping[str, object] = field(default_factory=dict)
    """Further fields of the message, such as reasoning_content."""
    reasoning_tokens: int | None = None
    """Those among the tokens out, where the reply says."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    """Sent as JSON instead of a completion."""
    raw: bytes | None = None
    """Sent as it is instead of JSON, as `content_type`."""
    content_type: str = "application/json"
    delay: float = 0.0
    """Seconds before anything is sent."""
    then: Then = "answer"
    """`hang`: nothing is ever sent; `close`: the connection is cut at once; `trickle`: a blank every 20 ms
    for ever after the headers; `half`: cut in the middle of the body."""


@dataclass
class Asked:
    """One chat request as it came in; times are of time.monotonic()."""

    n: int
    body: Body
    headers: dict[str, str]
    """Names in lower case."""
    query: str
    """Of the address, after the question mark."""
    began: float
    peer: int
    """Port of the asking process."""
    ended: float | None = None
    """When the last byte went out or the connection was gone; None: still open."""


Script = Callable[[Body, int], Said | str]


def error(
    status: int,
    message: str,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Said:
    """An error as such servers write it."""
    told = {"message": message, "type": "error", "code": code, "param": param}
    return Said(status=status, body={"error": told}, headers=headers or {})


class ScriptedServer:
    """The server; a context manager. After it everything stays readable that was recorded."""

    def __init__(
        self,
        script: Script,
        models: Sequence[str] | Said | None = ("tiny",),
        key: str | None = None,
        gate: Callable[[str, Mapping[str, str]], Said | None] = lambda query, headers: None,
    ) -> None:
        """models: what /models lists, a reply to it, or None for a server without it; other names get 404.

        key: requests without this bearer key get 401, which names the key they had, as some servers do.
        gate: gets a request's query and headers, and returns what is said in the place of everything else, if anything.
        """
        self.script, self.models, self.key, self.gate = script, models, key, gate
        self.asked: list[Asked] = []
        self.open = 0
        """Chat requests that have no whole answer yet."""
        self.most_open = 0
        self.connections = 0
        """Made so far."""
        self.paths: list[str] = []
        """Method and path of every request."""
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._links: set[_Link] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="scripted server", daemon=True)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def bodies(self) -> list[Body]:
        """Every chat request's JSON, in the order they came."""
        return [asked.body for asked in self.asked]

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the scripted server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = self._loop.run_until_complete(
            self._loop.create_server(lambda: _Link(self), "127.0.0.1", 0, backlog=512)
        )
        self.port = listening.sockets[0].getsockname()[1]
        self._loop.call_soon(self._ready.set)
        self._loop.run_forever()
        listening.close()
        for link in tuple(self._links):
            link.abort()
        # One more round, so that connections are told that they are gone.
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    def reply_to(
        self, method: str, path: str, headers: dict[str, str], raw: bytes, peer: int
    ) -> tuple[Said, Asked | None]:
        """What to send, and the record of it where it was a chat request."""
        self.paths.append(f"{method} {path}")
        path, _, query = path.partition("?")
        if (stopped := self.gate(query, headers)) is not None:
            return stopped, None
        given = headers.get("authorization", "").removeprefix("Bearer ")
        refused = self.key is not None and given != self.key
        if path == "/v1/models":
            return (self._wrong_key(given) if refused else self._list()), None
        if path != "/v1/chat/completions" or method != "POST":
            return error(404, f"no {path} here"), None
        asked = Asked(len(self.asked), json.loads(raw), headers, query, time.monotonic(), peer)
        self.asked.append(asked)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        if refused:
            return self._wrong_key(given), asked
        model = asked.body.get("model")
        if isinstance(self.models, Sequence) and model not in self.models:
            return error(404, f"The model `{model}` does not exist.", "model_not_found", "model"), asked
        said = self.script(asked.body, asked.n)
        return (said if isinstance(said, Said) else Said(said)), asked

    def finished(self, asked: Asked) -> None:
        """The request is no longer open."""
        if asked.ended is None:
            asked.ended = time.monotonic()
            self.open -= 1

    def _wrong_key(self, given: str) -> Said:
        masked = f"{given[:5]}{'*' * 8}{given[-4:]}"
        return error(401, f"Incorrect API key provided: {masked} ({given}).", "invalid_api_key")

    def _list(self) -> Said:
        if isinstance(self.models, Said):
            return self.models
        if self.models is None:
            return error(404, "no such page")
        return Said(
            body={"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
        )


class _Link(asyncio.Protocol):
    """One connection: reads requests one after the other, sends what the server says."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        self._asked: Asked | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.server.connections += 1
        self.server._links.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server._links.discard(self)
        if self._task is not None:
            self._task.cancel()
        if self._asked is not None:
            self.server.finished(self._asked)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        method, path, _ = first.split(" ")
        peer = self._transport.get_extra_info("peername")[1] if self._transport else 0
        said, self._asked = self.server.reply_to(method, path, headers, rest[:length], peer)
        if said.delay or said.then in ("hang", "trickle"):
            self._task = asyncio.get_running_loop().create_task(self._later(said))
        else:
            self._send(said)

    async def _later(self, said: Said) -> None:
        assert self._transport is not None
        await asyncio.sleep(said.delay)
        if said.then == "hang":
            await asyncio.Event().wait()
        elif said.then == "trickle":
            self._transport.write(_head(said, 1_000_000))
            while True:
                self._transport.write(b" ")
                await asyncio.sleep(0.02)
        else:
            self._send(said)

    def _send(self, said: Said) -> None:
        assert self._transport is not None
        # Counted as answered before the bytes go out: the caller may ask again the moment that it has them.
        if self._asked is not None:
            self.server.finished(self._asked)
        if said.then == "close":
            self._transport.abort()
            return
        payload = said.raw if said.raw is not None else json.dumps(self._json(said)).encode()
        if said.then == "half":
            self._transport.write(_head(said, len(payload)) + payload[: len(payload) // 2])
            self._transport.close()
            return
        self._transport.write(_head(said, len(payload)) + payload)

    def _json(self, said: Said) -> object:
        if said.body is not None or self._asked is None:
            return said.body
        return completion(said, self._asked.body)


def completion(said: Said, body: Body) -> Body:
    """The body of a successful reply to a request."""
    message = {"role": "assistant", "content": said.text, **said.beside}
    if said.refusal is not None:
        message["refusal"] = said.refusal
    whole: Body = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": said.finish_reason}],
    }
    if said.usage is not None:
        prompt = sum(len(str(turn["content"]).split()) for turn in body["messages"])
        counted = (prompt, len((said.text or "").split())) if said.usage == "counted" else said.usage
        whole["usage"] = {
            "prompt_tokens": counted[0],
            "completion_tokens": counted[1],
            "total_tokens": sum(counted),
        }
        if said.reasoning_tokens is not None:
            whole["usage"]["completion_tokens_details"] = {"reasoning_tokens": said.reasoning_tokens}
    return whole


def _head(said: Said, length: int) -> bytes:
    lines = [
        f"HTTP/1.1 {said.status} Said",
        f"Content-Type: {said.content_type}",
        f"Content-Length: {length}",
    ]
    lines += [f"{name}: {value}" for name, value in said.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@dataclass
class Limited:
    """A script that lets so many requests in a window of time and refuses the others with 429.

    told: `headers`: every reply says how many are left and until when; `retry-after`: only a refusal says when to come
    back; `nothing`: a refusal names no moment. sliding: the last so many seconds count, else windows that begin with the first request in them.
    """

    script: Script
    limit: int
    seconds: float
    told: Literal["headers", "retry-after", "nothing"]
    sliding: bool = False
    refused: list[float] = field(default_factory=list)
    """When, in seconds since the first request."""
    _taken: list[float] = field(default_factory=list)
    """When those came in that count now."""
    _first: float | None = None

    def __call__(self, body: Body, n: int) -> Said:
        now = time.monotonic()
        self._first = now if self._first is None else self._first
        if self._taken and self.sliding:
            self._taken = [at for at in self._taken if now - at < self.seconds]
        elif self._taken and now - self._taken[0] >= self.seconds:
            self._taken = []
        if fits := len(self._taken) < self.limit:
            self._taken.append(now)
        headers = {"Retry-After-Ms": f"{(self._taken[0] + self.seconds - now) * 1000:.3f}"}
        if self.told == "headers":
            wait = (
                self._taken[-1 if self.sliding else 0] + self.seconds - now
            )  # until the whole limit is there again
            headers = {
                "X-RateLimit-Limit-Requests": f"{self.limit}",
                "X-RateLimit-Remaining-Requests": f"{self.limit - len(self._taken)}",
                "X-RateLimit-Reset-Requests": f"{wait * 1000:.3f}ms",
            }
        if self.told == "nothing":
            headers = {}
        if not fits:
            self.refused.append(now - self._first)
            return error(429, "Rate limit reached.", "rate_limit_exceeded", headers=headers)
        said = self.script(body, n)
        return replace(said if isinstance(said, Said) else Said(said), headers=headers)
