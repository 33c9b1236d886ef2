"""An HTTP client whose exchanges with a server end: in time and in size."""

import asyncio

import httpx2
import openai

MOST_BYTES = 16_000_000
"""Of an answer's body, unpacked; longer than any model writes."""


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
