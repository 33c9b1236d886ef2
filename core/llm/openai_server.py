"""The client for every server that speaks OpenAI's chat API: vLLM, llama.cpp, Ollama, hosted ones.

The openai package carries the requests and waits between the attempts; it repeats transport errors alone
(no connection, timeout, 408, 409, 429, 5xx). What comes back is understood here, never by the package's types:
a server may leave out or misspell what they promise.
"""

import asyncio
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx2
import openai

from core.errors import InputError
from core.llm import openai_replies as replies
from core.llm.addresses import is_local, normal_url
from core.llm.client import Reply, Request
from core.llm.connection import Bounded, TooMuch
from core.llm.keys import Key

DEFAULT_CONCURRENCY = 32
DEFAULT_TIMEOUT = 120.0
DEFAULT_RETRIES = 4
LIST_TIMEOUT = 15.0
"""Seconds in which the list of models has to be there."""
_VERSION = re.compile(r"/v\d\w*(/|$)")
MOST_NAMED = 20
"""Models that an error names."""


class OpenAIServer:
    """A model behind an OpenAI-compatible server.

    timeout: seconds for one whole exchange, from connecting to the last byte; retries: further exchanges after
    a transport error. key_variable: the environment variable that holds the key; None: the server wants none.
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
    ) -> None:
        problems = [] if model.strip() else ["model: name one"]
        problems += [] if concurrency >= 1 else [f"concurrency is {concurrency}, expected 1 or more"]
        problems += (
            [] if 0 < timeout < float("inf") else [f"timeout is {timeout} seconds, expected more than 0"]
        )
        problems += [] if retries >= 0 else [f"retries is {retries}, expected 0 or more"]
        if problems:
            raise InputError("The server's settings cannot be used", problems)
        self.base_url = normal_url(base_url)
        self.model = model.strip()
        self.concurrency = concurrency
        self.left_out: frozenset[str] = frozenset()
        """Parameters that the server turned out not to know; they are no longer sent."""
        self._timeout, self._retries, self._key_variable = timeout, retries, key_variable
        self._line: _Line | None = None

    @property
    def identity(self) -> Mapping[str, object]:
        """The address: the same model may be another one elsewhere."""
        return {"base_url": self.base_url}

    async def start(self) -> None:
        """See that the server is there, lets us in and has the model; raises InputError where not.

        A server that keeps no list of models is taken at its word.
        """
        line = self._connected()
        try:
            async with asyncio.timeout(min(LIST_TIMEOUT, self._timeout)):
                response = await line.api.get("/models", cast_to=httpx2.Response, options={"max_retries": 0})
            problem = self._list_problem(response.content)
        except openai.APIStatusError as error:
            if error.status_code in (404, 405, 501):
                return
            problem = self._failure(line.key, error).detail
        except (openai.APITimeoutError, TimeoutError):
            problem = (
                "it takes connections but does not answer; is it still loading the model? Try again later"
            )
        except openai.APIConnectionError:
            problem = "nobody answers there; start the server, or correct the base URL"
        except TooMuch as error:
            problem = str(error)
        if problem:
            await self.close()
            raise InputError(f"The model server at {self.base_url} cannot be used", [line.key.hide(problem)])

    def _list_problem(self, data: bytes) -> str | None:
        """Why the model cannot be asked, from the list of models; None: it can."""
        try:
            names = replies.models_of(data)
        except ValueError:
            return "it does not speak the chat API; does the base URL have to end in /v1?"
        # Ollama lists its default tag, Gemini puts a folder before every name; both answer to the short one.
        if names is None or {self.model, f"{self.model}:latest", f"models/{self.model}"} & set(names):
            return None
        if not names:
            return f"it has no model at all; load {self.model} and start again"
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        listed = ", ".join(replies.short(name, 80) for name in names[:MOST_NAMED])
        return f"it has no model {replies.short(self.model, 80)!r}; choose one of: {listed}{more}"

    async def complete(self, request: Request) -> Reply:
        """Answer one request; a failure is a reply with a reason, and nothing but cancelling raises."""
        began = time.monotonic()
        try:
            line = self._connected()
            async with line.slots:
                began = time.monotonic()
                reply = await self._exchange(line, request)
            text = None if reply.text is None else line.key.hide_whole(reply.text)
            reply = replace(reply, text=text, detail=replies.short(line.key.hide(reply.detail)))
        except InputError as error:
            reply = Reply(None, "not allowed", " ".join([error.what, *error.problems]))
        except Exception as error:
            # The type alone: a message of a library may quote headers.
            reply = Reply(
                None, "server error", f"The exchange with the server failed ({type(error).__name__})."
            )
        return replace(reply, seconds=time.monotonic() - began)

    async def _exchange(self, line: "_Line", request: Request) -> Reply:
        """Send the request; where the server does not know a part of it that can be missed, once more without."""
        dropped: frozenset[str] = frozenset()
        while True:
            body = _body(self.model, request, self.left_out | dropped)
            try:
                response = await line.api.post("/chat/completions", cast_to=httpx2.Response, body=body)
            except openai.APIStatusError as error:
                name = replies.refused_parameter(error.status_code, error.response.content, body)
                if name is None:
                    return self._failure(line.key, error)
                dropped |= {name}
                continue
            except UnicodeEncodeError:
                return Reply(
                    None, "rejected", "The prompt holds half a surrogate pair, which cannot be sent."
                )
            except TooMuch as error:
                return Reply(None, "server error", str(error))
            except openai.APITimeoutError:
                return Reply(
                    None, "timeout", f"No whole answer came within {self._timeout:g} s{self._tried()}."
                )
            except openai.APIConnectionError:
                return Reply(None, "unreachable", f"No connection to {self.base_url} lasted{self._tried()}.")
            # Only now is it known that leaving it out was the cure.
            self.left_out |= dropped
            return replies.read_completion(response.content)

    def _tried(self) -> str:
        return f", {self._retries + 1} times" if self._retries else ""

    def _failure(self, key: Key, error: openai.APIStatusError) -> Reply:
        """An error's status as a reason, with what the server said; a refused key is never quoted."""
        status, said = error.status_code, replies.message_of(error.response.content)
        reason = replies.reason_of(status, said)
        said = replies.short(key.hide(said))
        said = f": {said}" if said else ""
        if status == 401:
            wanted = "wants a key: name the environment variable that holds it"
            refused = f"refused the key in {key.variable}"
            detail = f"The server {wanted if key.variable is None else refused} (401)."
        elif 300 <= status < 400:
            detail = f"The server at {self.base_url} redirects ({status}); give the address it redirects to."
        elif status == 404:
            hint = "" if _VERSION.search(self.base_url) else "; base URLs usually end in /v1"
            # The hint goes before what the server said, which may be long enough for it to be cut.
            detail = (
                f"The server at {self.base_url} has no model {self.model!r} or no chat API (404{hint}){said}"
            )
        else:
            detail = f"The server answered {status}{said}"
        return Reply(None, reason, replies.short(detail))

    def _connected(self) -> "_Line":
        """The connection of the running event loop; raises InputError where the key cannot be read."""
        loop = asyncio.get_running_loop()
        if self._line is None or self._line.loop is not loop:
            key = Key(self._key_variable)
            http = Bounded(self._timeout, self.concurrency, is_local(self.base_url))
            api = openai.AsyncOpenAI(
                api_key=key.reveal(),
                base_url=self.base_url,
                max_retries=self._retries,
                http_client=http,
                # Said outright: another one in OPENAI_CUSTOM_HEADERS would go before.
                default_headers={"Authorization": f"Bearer {key.reveal()}"},
            )
            # The package takes these from the environment: they would go to servers they were not meant for.
            api.organization = api.project = api.admin_api_key = api.webhook_secret = None
            _quiet()
            self._line = _Line(api, asyncio.Semaphore(self.concurrency), key, loop)
        return self._line

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        line, self._line = self._line, None
        if line is not None and line.loop is asyncio.get_running_loop():
            await line.api.close()


@dataclass(frozen=True)
class _Line:
    """What belongs to one event loop."""

    api: openai.AsyncOpenAI
    slots: asyncio.Semaphore
    key: Key
    loop: asyncio.AbstractEventLoop


def _body(model: str, request: Request, left_out: frozenset[str]) -> dict[str, object]:
    """The request as JSON, without the parts that the server does not know."""
    body: dict[str, object] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": request.temperature,
        # The newer name is understood by the servers that refuse the older one, and by few others.
        "max_completion_tokens" if "max_tokens" in left_out else "max_tokens": request.max_tokens,
    }
    if request.seed is not None and "seed" not in left_out:
        body["seed"] = request.seed
    if request.schema is not None and "response_format" not in left_out:
        name = re.sub(r"[^A-Za-z0-9_-]", "_", request.step)[:64] or "answer"
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": name, "strict": True, "schema": dict(request.schema)},
        }
    return body


def _quiet() -> None:
    """A line per request is noise, and at the level of debugging these loggers repeat what servers send."""
    for name in ("openai", "httpx2", "httpcore2", "httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
