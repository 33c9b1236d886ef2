"""The client of every exchange with a server, for chats and for batch services.

It follows no redirect, limits the time and size of every exchange, uses proxies only for servers elsewhere, and sends
nothing that the openai package reads from the environment.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import BinaryIO

import httpx2
import openai

from core.llm.call_settings import FROM_ENVIRONMENT, CallSettings
from core.llm.exchange import MOST_BYTES
from core.llm.reaching import Key, is_local

SLOWEST = 50_000
"""Bytes per second below which a file is too slow; a trickle would hold a run for ever."""
STALL = 120.0
"""Seconds that a file may take in addition to its bytes at the slowest rate."""


class Bounded(httpx2.AsyncClient):
    """An HTTP client with a time limit per exchange; httpx limits only single reads, so a slow server could trickle
    forever.

    It does not follow redirects: prompts and key are sent only to the given address. The limit is the request's timeout.
    """

    def __init__(self, seconds: float, connections: int, local: bool) -> None:
        # One extra connection, for the list of models.
        limits = httpx2.Limits(max_connections=connections + 1, max_keepalive_connections=connections + 1)
        # A proxy from the environment cannot reach servers on this machine.
        super().__init__(timeout=seconds, limits=limits, follow_redirects=False, trust_env=not local)

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **settings: object
    ) -> httpx2.Response:
        """Send a request and read the whole answer within the limits.

        stream: do not read the body of a success, which `save_answer` reads within limits of its own.
        """
        how = {**settings, "stream": True, "follow_redirects": False}
        try:
            async with asyncio.timeout(request.extensions["timeout"]["read"]):
                response = await super().send(request, **how)  # type: ignore[arg-type]  # its keyword arguments
                if stream and response.is_success:
                    return response
                try:
                    return await _whole(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise httpx2.ReadTimeout("the exchange took too long", request=request) from None


class TooMuch(openai.OpenAIError):
    """An answer above its limit. A subclass of the package's errors, so that the package does not retry."""


async def _pieces(response: httpx2.Response, most: int) -> AsyncIterator[bytes]:
    """The body, unpacked. Raises TooMuch once it is larger than `most` bytes."""
    n = 0
    async for piece in response.aiter_bytes():
        n += len(piece)
        if n > most:
            raise TooMuch(f"The server's answer has more than {most / 1_000_000:,.0f} MB.")
        yield piece


async def _whole(response: httpx2.Response) -> httpx2.Response:
    """The response with its whole body, unpacked. Raises TooMuch if it is larger than MOST_BYTES."""
    data = bytearray()
    async for piece in _pieces(response, MOST_BYTES):
        data += piece
    packed = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in packed]
    return httpx2.Response(
        response.status_code, headers=headers, content=bytes(data), request=response.request
    )


async def save_answer(response: httpx2.Response, to: BinaryIO, most: int) -> None:
    """Write the body of a streamed response to a file. Raises TooMuch above `most` bytes, APITimeoutError if it trickles."""
    now, n = asyncio.get_running_loop().time, 0
    began = now()
    try:
        async with asyncio.timeout(STALL) as limit:
            async for piece in _pieces(response, most):
                to.write(piece)
                n += len(piece)
                limit.reschedule(began + transfer_seconds(n))
    except (TimeoutError, httpx2.TimeoutException):
        raise openai.APITimeoutError(response.request) from None
    except httpx2.RequestError:
        raise openai.APIConnectionError(request=response.request) from None


def transfer_seconds(n_bytes: int) -> float:
    """Longest time for a file of so many bytes, in seconds."""
    return STALL + n_bytes / SLOWEST


@dataclass(frozen=True)
class Connection:
    """A server's API, and the secrets that are sent to it."""

    base_url: str
    api: openai.AsyncOpenAI
    key: Key
    others: tuple[Key, ...]
    """Secrets in headers."""

    def hide(self, text: str) -> str:
        """See Key."""
        for key in (self.key, *self.others):
            text = key.hide(text)
        return text

    def hide_whole(self, text: str | None) -> str | None:
        """See Key; None stays None."""
        for key in (self.key, *self.others):
            text = None if text is None else key.hide_whole(text)
        return text

    def redirected(self, status: int) -> str | None:
        """The sentence about a redirect; None: the status is not one."""
        if not 300 <= status < 400:
            return None
        return f"The server at {self.base_url} redirects ({status}); use the address it redirects to."


def connect(
    base_url: str, key_variable: str | None, how: CallSettings, *, seconds: float, connections: int = 1
) -> Connection:
    """A connection for the running event loop. Raises InputError if a key cannot be read.

    how: its headers and API version are sent with every request. seconds: longest time of an exchange, unless a request
    has a timeout of its own. Nothing is repeated.
    """
    key = Key(key_variable)
    headers = {name.lower(): value for name, value in how.headers.items()}
    secrets = {
        name: Key(value.removeprefix(FROM_ENVIRONMENT), name)
        for name, value in headers.items()
        if value.startswith(FROM_ENVIRONMENT)
    }
    version = how.api_version
    sent = {
        "authorization": f"Bearer {key.reveal()}",
        **({"api-key": key.reveal()} if version and key.variable else {}),
        **headers,
        **{name: one.reveal() for name, one in secrets.items()},
    }
    api = openai.AsyncOpenAI(
        api_key=key.reveal(),
        base_url=base_url,
        timeout=seconds,
        max_retries=0,
        http_client=Bounded(seconds, connections, is_local(base_url)),
        default_query={"api-version": version} if version else None,
        default_headers=sent,
    )
    # The package reads these from the environment and would send them to the wrong servers.
    api.organization = api.project = api.admin_api_key = api.webhook_secret = None
    # The package adds those in OPENAI_CUSTOM_HEADERS.
    api._custom_headers = sent
    _quiet()
    return Connection(base_url, api, key, tuple(secrets.values()))


def _quiet() -> None:
    """Silence loggers that write a line per request and, at debug level, repeat what servers send."""
    for name in ("openai", "httpx2", "httpcore2", "httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
