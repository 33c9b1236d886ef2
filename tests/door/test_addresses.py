"""What every address answers, asked directly: closed paths, headers, cookies, forms from elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.processes.app_server import AppServer, running
from helpers.processes.at_the_door import NO_LINK, Door, nothing_leaked
from helpers.processes.raw_rater import RawVisitor, ask, cookie_of

from core import access
from core.store import open_store
from core.store.raters import session_is_open

PAGES = (
    "start",
    "studies",
    "results",
    "operation",
    "annotate",
    "welcome",
    "methods",
    "generate",
    "metrics",
    "judges",
    "app",
    "pages/studies/__init__.py",
    "door",
)
CLOSED = (
    "/_stcore/metrics",
    "/_stcore/agent/",
    "/_stcore/agent/run",
    "/_stcore/agent/../metrics",
    "/_stcore/script-health-check",
    "/app/static/x.txt",
    "/_stcore/Metrics",
    "//_stcore/metrics",
    "/x/../_stcore/metrics",
    "/%5fstcore/metrics",
    "/st-metrics",
    "/metrics",
)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[AppServer]:
    """A server nobody has visited: the first visitor must not find more than later ones."""
    with open_store(tmp_path / "assay.db"), running(tmp_path / "assay.db") as app:
        yield app


@pytest.mark.parametrize("page", ["", "start", "studies", "operation", "pages/start/__init__.py"])
def test_the_first_visitor_of_a_fresh_server_finds_no_page_of_the_admin(fresh: AppServer, page: str) -> None:
    assert b"New study" not in ask(fresh.url, f"/{page}").body
    with RawVisitor(fresh.url) as visitor:
        visitor.go("", page_name=page)
        assert NO_LINK in visitor.on_screen()
        nothing_leaked(visitor)


def test_the_start_page_answers_to_its_name(door: Door) -> None:
    """Streamlit gives its first page no name. Everybody is led to their own first page."""
    rater = cookie_of(door.link().url(door.url))
    for cookie in ("", rater, door.admin()):
        for path, where in (("/start", "./"), ("/start?at=2", "./?at=2")):
            reply = ask(door.url, path, headers={"Cookie": cookie})
            assert (reply.status, reply.headers["location"]) == (303, where)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asked_for_by_its_hash_or_name_stays_shut(door: Door, page: str) -> None:
    with RawVisitor(door.url, door.admin()) as owner:
        page_hash = owner.go("", page_name=page).page
    rater = cookie_of(door.link().url(door.url))
    for cookie in ("", rater):
        for asked in ({"page_name": page}, {"page_script_hash": page_hash}):
            with RawVisitor(door.url, cookie) as visitor:
                visitor.go("", **asked)
                assert set(visitor.buttons()) <= {"Start with three practice pairs"}
                explained = ("candidate", "comparator", "New study") if page == "methods" else ()
                nothing_leaked(visitor, but=explained)


@pytest.mark.parametrize("path", CLOSED)
def test_paths_for_developers_are_shut(door: Door, path: str) -> None:
    for cookie in ("", door.admin()):
        reply = ask(door.url, path, headers={"Cookie": cookie})
        assert reply.status in (400, 403, 404) or b'<div id="root">' in reply.body
        for word in (b"session_events", b"cache_memory", b"# HELP", b"# TYPE"):
            assert word not in reply.body


def test_media_and_uploads_are_for_the_admin(door: Door) -> None:
    rater = cookie_of(door.link().url(door.url))
    for cookie in ("", rater, rater.replace("_rater_", "_admin_")):
        for method in ("GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"):
            for path in ("/media/" + "0" * 56 + ".csv", "/_stcore/upload_file/session/file"):
                headers = {"Cookie": cookie} if cookie else {}
                reply = ask(door.url, path, method=method, headers=headers, body=b"x")
                assert reply.status in (403, 405), f"{method} {path}"


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/", "GET"),
        ("/studies", "GET"),
        ("/index.html", "GET"),
        ("/favicon.png", "GET"),
        ("/_stcore/health", "GET"),
        ("/_stcore/host-config", "GET"),
        ("/_stcore/metrics", "GET"),
        ("/media/x", "GET"),
        ("/no-such-page", "GET"),
        ("/static/no-such-file.js", "GET"),
        ("/r/unknown", "GET"),
        ("/r/", "GET"),
        ("/admin/unknown", "GET"),
        ("/sign-in", "GET"),
        ("/sign-out", "GET"),
        ("/sign-in", "POST"),
        ("/sign-in", "DELETE"),
        ("/%00", "GET"),
        ("/" + "x" * 9_000, "GET"),
    ],
    ids=lambda value: value[:20],
)
def test_every_answer_carries_the_headers(door: Door, path: str, method: str) -> None:
    reply = ask(door.url, path, method=method)
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
    assert "default-src 'none'" in reply.headers["content-security-policy"] or (
        "script-src 'self';" in reply.headers["content-security-policy"]
    )
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["x-frame-options"] == "DENY"
    assert reply.headers["referrer-policy"] in ("no-referrer", "same-origin")
    assert reply.headers.get("access-control-allow-origin", "") in ("", door.url)


def test_the_scripts_of_the_page_carry_them_too(door: Door) -> None:
    body = ask(door.url, "/").body.decode()
    script = next(part.split('"')[0] for part in body.split('src="')[1:] if ".js" in part.split('"')[0])
    reply = ask(door.url, "/" + script.lstrip("./"))
    assert (reply.status, reply.headers["x-content-type-options"]) == (200, "nosniff")


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(door: Door) -> None:
    link = door.link()
    for headers in ({}, {"X-Forwarded-Proto": "https"}):  # of a proxy that nobody named
        (line,) = ask(door.url, f"/r/{link.token}", headers=headers).cookies
        flags = {flag.strip().lower() for flag in line.split(";")[1:]}
        assert {"httponly", "samesite=strict", "path=/"} <= flags
        assert "secure" not in flags
        assert not any(flag.startswith("domain") for flag in flags)
    for line in ask(door.url, "/sign-out", method="POST", headers={"Cookie": door.admin()}).cookies:
        assert "httponly" in line.lower()
        assert "samesite=strict" in line.lower()


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", "", "https://"])
def test_forms_of_other_sites_are_not_accepted(door: Door, origin: str) -> None:
    passphrase = "correct horse battery staple"
    access.choose_passphrase(door.store, access.make_link(door.store), passphrase, passphrase)
    link = access.make_link(door.store)
    session = "a-session-that-stays"
    cookie = door.admin(session)
    headers = {"Origin": origin, "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    fields = f"passphrase={passphrase.replace(' ', '+')}&again={passphrase.replace(' ', '+')}".encode()
    for path in ("/sign-in", "/sign-out", f"/admin/{link}"):
        reply = ask(door.url, path, method="POST", body=fields, headers=headers)
        assert (reply.status, reply.cookies) == (400, ()), path
    assert session_is_open(door.store, session)
    assert access.link_is_open(door.store, link)


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"a" * 40_000, b"&".join(b"a=1" for _ in range(50)), b"passphrase=%ff%00", b""]
)
def test_a_broken_form_signs_nobody_in(door: Door, body: bytes) -> None:
    reply = ask(door.url, "/sign-in", method="POST", body=body, headers={"Origin": door.url})
    assert reply.status in (200, 400, 403)
    assert not reply.cookies
    assert b"Traceback" not in reply.body


def test_reading_an_address_changes_nothing(door: Door) -> None:
    """Mail programs open every link: nobody is signed out, and no link is used up."""
    session, link = "a-session-and-a-mail-program", access.make_link(door.store)
    cookie = door.admin(session)
    for path in ("/sign-out", f"/admin/{link}", "/sign-in"):
        for method in ("GET", "HEAD"):
            assert ask(door.url, path, method=method, headers={"Cookie": cookie}).status == 200
    assert session_is_open(door.store, session)
    assert access.link_is_open(door.store, link)


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "streamlit",
}


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", ""],
)
def test_a_name_that_is_not_the_apps_is_refused(door: Door, host: str) -> None:
    """A foreign name that its owner points at this machine: the browser takes the app for that owner's site."""
    cookie = door.admin()
    headers = {"Host": host, "Cookie": cookie, "Origin": f"http://{host}"}
    for path in ("/", "/sign-in", "/_stcore/health", "/media/" + "0" * 56 + ".csv", "/no-such-page"):
        reply = ask(door.url, path, headers=headers)
        assert (reply.status, reply.cookies) == (400, ()), path
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert ask(door.url, "/sign-out", method="POST", headers=headers).status == 400
    assert session_is_open(door.store, cookie.split("=", 1)[1])
    assert ask(door.url, "/_stcore/stream", headers={**UPGRADE, **headers}).status == 400


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8501"])
def test_names_of_this_machine_are_the_apps(door: Door, host: str) -> None:
    assert ask(door.url, "/sign-in", headers={"Host": host}).status == 200
    assert ask(door.url, "/_stcore/stream", headers={**UPGRADE, "Host": host}).status == 101
