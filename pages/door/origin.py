"""Where a request comes from: the client's address and scheme, which only a named proxy may state, and the page that sent it."""

import hmac
import logging
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from core.access import FRONT_HEADER, FRONT_PROXIES, FRONT_SECRET, known_address
from core.installation import START

_LOG = logging.getLogger(__name__)
_STATED = re.compile(rb"(x[-_])?forwarded([-_].*)?|x[-_](real|assay|streamlit)[-_].*")
"""Names of headers by which proxies state who asks, however they are written. None is left to be believed further on."""
_ORIGIN = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[^\s/?#@:\[\]\\]+)(?::([0-9]{1,5}))?", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_SCHEMES = {"ws": "http", "wss": "https"}
UNNAMED_PROXY = (
    "The page was opened by https, but the app was asked by http. Its operator can name the proxy between them: "
    f"{START} --behind-proxy ADDRESS"
)
Origin = tuple[str, str, int]
"""Scheme, host and port, as browsers compare them (RFC 6454)."""


class NamedProxies:
    """Middleware before all others: settle the address and the scheme of a request, and remove every header that states them.

    A process on its own leaves it to uvicorn, which knows the proxies by their addresses. Behind the proxy of
    `serve --processes`, which any program of this machine could pass by, the proxy is known by its secret.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._secret = os.environ.get(FRONT_SECRET, "")
        named = [proxy for proxy in os.environ.get(FRONT_PROXIES, "").split(",") if proxy]
        # The secret stands for the proxy's address in the chain of addresses: nobody else can write it there.
        self._behind: Any = ProxyHeadersMiddleware(self._settled, [self._secret, *named])  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with what is known about its client."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif self._secret and self._from_front(HTTPConnection(scope)):
            await self._behind({**scope, "client": (self._secret, 0)}, receive, send)
        else:
            await self._settled(scope, receive, send)

    def _from_front(self, request: HTTPConnection) -> bool:
        sent = request.headers.getlist(FRONT_HEADER)
        return len(sent) == 1 and hmac.compare_digest(sent[0].encode(), self._secret.encode())

    async def _settled(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in scope["headers"] if not _STATED.fullmatch(name.lower())]
        client = scope.get("client")
        known = (known_address(client[0]), client[1]) if client else None
        await self._app({**scope, "headers": headers, "client": known}, receive, send)


def address(scope: Mapping[str, Any]) -> str:
    """Return where a request comes from: the peer, or the client that a named proxy states."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def comes_from_own_page(request: HTTPConnection) -> bool:
    """Whether a request comes from a page of this app, or from a program that is not a browser."""
    pages, hosts = request.headers.getlist("origin"), request.headers.getlist("host")
    if not pages:
        return True
    if len(pages) > 1 or len(hosts) != 1:
        return False
    page, own = _origin(pages[0]), _own_origin(request, hosts[0])
    return page is not None and page == own


def proxy_is_unnamed(request: HTTPConnection) -> bool:
    """Whether a request of a page was refused only because nobody whose word counts says that its client uses TLS."""
    page = _origin(request.headers.get("origin", ""))
    own = _own_origin(request, request.headers.get("host", ""))
    return page is not None and own is not None and (page[0], own[0], page[1]) == ("https", "http", own[1])


@cache
def tell_operator() -> None:
    """Say once, in the server's log, why pages do not connect: a browser does not show it."""
    _LOG.warning(UNNAMED_PROXY)


def _own_origin(request: HTTPConnection, host: str) -> Origin | None:
    scheme = request.url.scheme
    return _origin(f"{_SCHEMES.get(scheme, scheme)}://{host}")


def _origin(text: str) -> Origin | None:
    """Return None for what no browser sends as the origin of a page of this app: `null`, a path, a user, another scheme."""
    parts = _ORIGIN.fullmatch(text)
    if parts is None:
        return None
    scheme, port = parts[1].lower(), parts[3]
    return scheme, parts[2].lower(), int(port) if port else _PORTS[scheme]
