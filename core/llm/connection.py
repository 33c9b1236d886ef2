"""Where a server is, and an HTTP client whose exchanges with it end: in time and in size."""

import asyncio
import re
from urllib.parse import urlsplit

import httpx2
import openai

from core.errors import InputError

MOST_BYTES = 16_000_000
"""Of an answer's body, unpacked; longer than any model writes."""


def normal_url(base_url: str) -> str:
    """The base URL in one form, so that one server has one name; raises InputError where it is none.

    Refuses what belongs elsewhere: a user and password, a query (both may hold secrets), a fragment.
    """
    what = "The server's base URL cannot be used"
    hint = "expected something like http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InputError(what, [f"it is no URL; {hint}"]) from None
    problems = []
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", base_url.strip()):
        problems.append(f"it is no http or https URL; {hint}")
    if "@" in parts.netloc:
        problems.append("it holds a user or password; name the key's environment variable instead")
    if "?" in base_url or "#" in base_url:
        problems.append("it holds a query or fragment; give the part before it")
    path = parts.path.rstrip("/")
    if path.endswith(("/chat/completions", "/completions", "/models")):
        problems.append("it names one function of the server; leave out what follows /v1")
    if problems or host is None:
        raise InputError(what, problems)
    shown = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{shown}{f':{port}' if port not in (None, usual) else ''}{path}"


def is_local(base_url: str) -> bool:
    """Whether the server is on this machine."""
    host = urlsplit(base_url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


class Bounded(httpx2.AsyncClient):
    """An HTTP client whose exchanges end: its own timeouts are per read, and a server can trickle for ever.

    It follows no redirects: prompts and key go to the address that was given, nowhere else.
    """

    def __init__(self, seconds: float, connections: int, local: bool) -> None:
        # One more than the slots: the list of models may be asked for beside them.
        limits = httpx2.Limits(max_connections=connections + 1, max_keepalive_connections=connections + 1)
        # A proxy from the environment cannot reach this machine's own servers.
        super().__init__(timeout=seconds, limits=limits, follow_redirects=False, trust_env=not local)
        self._seconds = seconds

    async def send(self, request: httpx2.Request, **settings: object) -> httpx2.Response:
        """Send and read the whole answer, within the bounds."""
        try:
            async with asyncio.timeout(self._seconds):
                response = await super().send(request, **{**settings, "stream": True})  # type: ignore[arg-type]  # its own settings, by name
                try:
                    return await _whole(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise httpx2.ReadTimeout("the exchange took too long", request=request) from None


class TooMuch(openai.OpenAIError):
    """An answer beyond MOST_BYTES; the package does not repeat exchanges that raise its own errors."""


async def _whole(response: httpx2.Response) -> httpx2.Response:
    """The response with all that it holds, unpacked; raises TooMuch where that never ends."""
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) > MOST_BYTES:
            raise TooMuch(f"The server's answer has more than {MOST_BYTES // 1_000_000} MB.")
    packed = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in packed]
    return httpx2.Response(
        response.status_code, headers=headers, content=bytes(data), request=response.request
    )
