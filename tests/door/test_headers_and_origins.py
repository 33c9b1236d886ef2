"""Every header by which a client could say who it is, and every origin: at an app process, with and without the proxy's secret."""

import http.client
from collections.abc import Iterator, Sequence
from itertools import count
from urllib.parse import urlsplit

import pytest
from helpers.processes.at_the_door import Door, open_door
from helpers.processes.raw_rater import ask

from core.access import FRONT_HEADER, FRONT_PROXIES, FRONT_SECRET, NO_ENTRY, UNKNOWN_TOKEN
from core.store.raters import events

SECRET, NAMED = "5" * 64, "192.0.2.0/24"
FRONT = (FRONT_HEADER, SECRET)
FORGED, CLIENT, BEFORE = "198.51.100.1", "203.0.113.7", "192.0.2.9"
Headers = Sequence[tuple[str, str]]
_peers = (f"127.0.{9 + n // 200}.{1 + n % 200}" for n in count())

HEADERS: dict[str, Headers] = {
    "one": [("X-Forwarded-For", FORGED)],
    "several": [("X-Forwarded-For", f"{FORGED}, 198.51.100.2")],
    "ends with this machine": [("X-Forwarded-For", f"{FORGED}, 127.0.0.1")],
    "ends with a named proxy": [("X-Forwarded-For", f"{FORGED}, {BEFORE}")],
    "several lines": [("X-Forwarded-For", FORGED), ("X-Forwarded-For", "198.51.100.2")],
    "lower case": [("x-forwarded-for", FORGED)],
    "mixed case": [("X-fOrWaRdEd-FoR", FORGED)],
    "underscores": [("X_Forwarded_For", FORGED)],
    "Forwarded": [("Forwarded", f"for={FORGED};proto=https;host=evil.example")],
    "X-Real-IP": [("X-Real-IP", FORGED)],
    "X-Client-IP": [("X-Client-IP", FORGED), ("True-Client-IP", FORGED), ("CF-Connecting-IP", FORGED)],
    "X-Forwarded-Proto": [("X-Forwarded-Proto", "https")],
    "X-Forwarded-Proto, both": [("X-Forwarded-Proto", "http"), ("X-Forwarded-Proto", "https")],
    "X-Forwarded-Ssl": [("X-Forwarded-Ssl", "on"), ("Front-End-Https", "on"), ("X-Forwarded-Port", "443")],
    "X-Forwarded-Host": [("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Prefix", "/x")],
    "X-Streamlit-User": [("X-Streamlit-User", "eyJlbWFpbCI6ICJhQGIuYyJ9"), ("X-Assay-Owner", "0" * 64)],
    "wrong secret": [(FRONT_HEADER, "6" * 64), ("X-Forwarded-For", FORGED)],
    "empty secret": [(FRONT_HEADER, ""), ("X-Forwarded-For", FORGED)],
    "part of the secret": [(FRONT_HEADER, SECRET[:-1]), ("X-Forwarded-For", FORGED)],
    "secret with underscores": [("X_Assay_Front", SECRET), ("X-Forwarded-For", FORGED)],
    "secret in the chain": [("X-Forwarded-For", f"{FORGED}, {SECRET}")],
    "secret that is no ASCII": [(FRONT_HEADER, "\xe9" * 64), ("X-Forwarded-For", FORGED)],
}
"""What any program of this machine can send past the proxy: none of it counts."""
FORWARDED: dict[str, tuple[str, str]] = {
    # header as the proxy sends it: whose address counts
    "the client": (CLIENT, CLIENT),
    "a client of this machine": ("127.0.0.1", "127.0.0.1"),
    "a named proxy before": (f"{CLIENT}, {BEFORE}", CLIENT),
    "two named proxies before": (f"{CLIENT}, 192.0.2.8, {BEFORE}", CLIENT),
    "forged, behind a named proxy": (f"{FORGED}, {CLIENT}, {BEFORE}", CLIENT),
    "another proxy before": (f"{FORGED}, {CLIENT}", CLIENT),
    "nothing that is an address": ("garbage", "unknown"),
    "with a port": (f"{CLIENT}:4711", CLIENT),
    "IPv6": ("[2001:db8::2]:4711", "2001:db8::2"),
}
HOST = "127.0.0.1:8501"
"""As a browser names the app."""
ORIGINS: dict[str, tuple[str, str, str, bool]] = {
    # scheme by which the client asks, its Host, its Origin, whether the page is the app's own
    "own": ("http", HOST, "http://127.0.0.1:8501", True),
    "own, upper case": ("http", "LOCALHOST:8501", "HTTP://localhost:8501", True),
    "own, default port": ("http", "localhost", "http://localhost:80", True),
    "own, default port named": ("http", "localhost:80", "http://localhost", True),
    "own, IPv6": ("http", "[::1]:8501", "http://[::1]:8501", True),
    "own, TLS": ("https", "localhost", "https://localhost", True),
    "own, TLS and port": ("https", HOST, "https://127.0.0.1:8501", True),
    "own, TLS, default port": ("https", "localhost", "https://localhost:443", True),
    "https, asked by http": ("http", HOST, "https://127.0.0.1:8501", False),
    "http, asked by TLS": ("https", HOST, "http://127.0.0.1:8501", False),
    "port of the other scheme": ("http", "localhost", "http://localhost:443", False),
    "http on 443, asked by TLS": ("https", "localhost", "http://localhost:443", False),
    "another port": ("http", HOST, "http://127.0.0.1:1", False),
    "no port": ("http", HOST, "http://127.0.0.1", False),
    "another host of this machine": ("http", HOST, "http://localhost:8501", False),
    "another address of this machine": ("http", HOST, "http://127.0.0.2:8501", False),
    "another host": ("http", HOST, "http://evil.example", False),
    "subdomain": ("http", "localhost:8501", "http://a.localhost:8501", False),
    "begins with ours": ("http", "localhost:8501", "http://localhost.evil.example:8501", False),
    "begins with ours, port": ("http", HOST, "http://127.0.0.1:85012", False),
    "ends with ours": ("http", "localhost:8501", "http://evillocalhost:8501", False),
    "ours as user": ("http", HOST, "http://127.0.0.1:8501@evil.example", False),
    "user at ours": ("http", HOST, "http://evil@127.0.0.1:8501", False),
    "trailing dot": ("http", "localhost:8501", "http://localhost.:8501", False),
    "trailing dot in both": ("http", "localhost.:8501", "http://localhost.:8501", True),
    "null": ("http", HOST, "null", False),
    "empty": ("http", HOST, "", False),
    "scheme alone": ("http", HOST, "http://", False),
    "no scheme": ("http", HOST, "127.0.0.1:8501", False),
    "scheme-relative": ("http", HOST, "//127.0.0.1:8501", False),
    "ws": ("http", HOST, "ws://127.0.0.1:8501", False),
    "file": ("http", HOST, "file://127.0.0.1:8501", False),
    "extension": ("http", HOST, "chrome-extension://127.0.0.1:8501", False),
    "path": ("http", HOST, "http://127.0.0.1:8501/", False),
    "query": ("http", HOST, "http://127.0.0.1:8501?", False),
    "fragment": ("http", HOST, "http://127.0.0.1:8501#", False),
    "backslash": ("http", HOST, "http://evil.example\\@127.0.0.1:8501", False),
    "two in one": ("http", HOST, "http://127.0.0.1:8501 http://evil.example", False),
    "port without end": ("http", HOST, "http://127.0.0.1:" + "8" * 5_000, False),
    "port that is none": ("http", HOST, "http://127.0.0.1:x", False),
    "empty port": ("http", HOST, "http://127.0.0.1:", False),
    "IPv6, another": ("http", "[::1]:8501", "http://[::2]:8501", False),
    "IPv6 as no browser writes it": ("http", "[::1]:8501", "http://[0:0:0:0:0:0:0:1]:8501", False),
    "IPv6 that is none": ("http", "[::1]:8501", "http://[::1::]:8501", False),
    "address as a number": ("http", HOST, "http://2130706433:8501", False),
    "mapped address": ("http", HOST, "http://[::ffff:127.0.0.1]:8501", False),
    "full-width": ("http", HOST, "http://１２７.0.0.1:8501".encode().decode("latin-1"), False),
}
UPGRADE = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ("Sec-WebSocket-Protocol", "streamlit"),
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """An app process as it runs behind the proxy of `serve --processes`, with another proxy named before it."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(FRONT_SECRET, SECRET)
        environment.setenv(FRONT_PROXIES, NAMED)
        with open_door(tmp_path_factory.mktemp("front") / "assay.db") as opened:
            yield opened


def send(
    app: Door, path: str, headers: Headers, method: str = "GET", peer: str = "127.0.0.1", host: str = HOST
) -> http.client.HTTPResponse:
    """One request with exactly these header lines."""
    connection = http.client.HTTPConnection(urlsplit(app.url).netloc, timeout=20, source_address=(peer, 0))
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in (("Host", host), ("Content-Length", "0"), *headers):
        connection.putheader(name, value.encode("latin-1"))
    connection.endheaders()
    response = connection.getresponse()
    if response.status != 101:
        response.read()
    connection.close()
    return response


def flags(response: http.client.HTTPResponse) -> set[str]:
    return {flag.strip().lower() for flag in (response.headers["Set-Cookie"] or "").split(";")}


def counted(app: Door, address: str) -> int:
    found = (event for event in events(app.store) if event.kind in (UNKNOWN_TOKEN, NO_ENTRY))
    return sum(event.n for event in found if event.address == address)


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_past_the_proxy_no_header_counts(app: Door, headers: Headers) -> None:
    peer, path = next(_peers), "/r/" + "A" * 22
    others = {event.address for event in events(app.store)} | {peer}
    assert send(app, path, headers, peer=peer).status == 404
    assert counted(app, peer) == 1
    assert send(app, f"/media/{'0' * 56}.csv", headers, peer=peer).status == 403
    assert counted(app, peer) == 2
    assert {event.address for event in events(app.store)} == others
    opened = send(app, f"/r/{app.link().token}", headers, peer=peer)
    assert (opened.status, "secure" in flags(opened)) == (303, False)
    assert opened.headers["Location"].startswith("../?")


@pytest.mark.parametrize(("forwarded", "address"), FORWARDED.values(), ids=FORWARDED)
def test_what_the_proxy_says_counts(app: Door, forwarded: str, address: str) -> None:
    before, peer = counted(app, address), next(_peers)
    send(app, "/r/" + "A" * 22, [FRONT, ("X-Forwarded-For", forwarded)], peer=peer)
    assert (counted(app, address), counted(app, peer)) == (before + 1, 0)


@pytest.mark.parametrize(
    ("scheme", "secure"), [("https", True), ("http", False), ("https, http", False), ("", False)]
)
def test_cookies_are_for_tls_where_the_proxy_says_so(app: Door, scheme: str, secure: bool) -> None:
    said = [FRONT, ("X-Forwarded-For", CLIENT), ("X-Forwarded-Proto", scheme)]
    assert ("secure" in flags(send(app, f"/r/{app.link().token}", said))) is secure


@pytest.mark.parametrize(("scheme", "host", "origin", "own"), ORIGINS.values(), ids=ORIGINS)
def test_only_the_apps_own_pages_connect_and_send_forms(
    app: Door, scheme: str, host: str, origin: str, own: bool
) -> None:
    said = [FRONT, ("X-Forwarded-For", CLIENT), ("X-Forwarded-Proto", scheme), ("Origin", origin)]
    assert send(app, "/_stcore/stream", [*UPGRADE, *said], host=host).status == (101 if own else 403)
    assert send(app, "/sign-out", said, "POST", host=host).status == (303 if own else 400)
    admin = ("Cookie", app.admin())
    media = send(app, f"/media/{'0' * 56}.csv", [*said, admin], host=host)
    assert media.status == (404 if own else 403)


def test_two_origins_or_two_hosts_are_none(app: Door) -> None:
    own = [("Origin", f"http://{HOST}")]
    assert send(app, "/_stcore/stream", [*UPGRADE, *own]).status == 101
    assert send(app, "/_stcore/stream", [*UPGRADE, *own, ("Origin", "http://evil.example")]).status in (
        400,
        403,
    )
    assert send(app, "/_stcore/stream", [*UPGRADE, *own, ("Host", "evil.example")]).status in (400, 403)


def test_a_proxy_that_nobody_named_is_reported(app: Door) -> None:
    said = {"Origin": f"https://{HOST}", "Host": HOST, "X-Forwarded-Proto": "https"}
    assert b"--behind-proxy" in ask(app.url, "/sign-out", method="POST", headers=said).body
    for _ in range(2):
        assert ask(app.url, "/_stcore/stream", headers={**dict(UPGRADE), **said}).status == 403
    assert app.app.log().count("--behind-proxy") == 1
