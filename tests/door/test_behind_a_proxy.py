"""Whose address counts: the connection's own, or, behind a proxy that an option names, the one the proxy forwards."""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.processes.app_server import ROOT
from helpers.processes.ports import free_port
from helpers.processes.raw_rater import RawVisitor, ask, post

from core import access
from core.access import NO_ENTRY, UNKNOWN_TOKEN
from core.store import Store, open_store
from core.store.raters import events
from pages.widgets.visitor import cookie_name

PASSPHRASE = "correct horse battery staple"
HOST = "study.example.org"
UNTOLD = {name: value for name, value in os.environ.items() if name != "FORWARDED_ALLOW_IPS"}
"""An environment that names no proxy."""
CLIENT, FORGED = "203.0.113.7", "198.51.100.1"


@dataclass(frozen=True)
class Served:
    """The app as `serve` starts it."""

    url: str
    store: Store

    def counted(self, kind: str, address: str) -> int:
        return sum(e.n for e in events(self.store) if (e.kind, e.address) == (kind, address))


@contextmanager
def served(folder: Path, *options: str, command: tuple[str, ...] = ("core", "serve")) -> Iterator[Served]:
    """The app started with these options, and a passphrase that nobody guesses."""
    port = free_port()
    url, database = f"http://127.0.0.1:{port}", folder / "assay.db"
    start = [
        sys.executable,
        "-m",
        *command,
        "--server.port",
        str(port),
        "--server.headless",
        "true",
        *options,
    ]
    environment = {**UNTOLD, "ASSAY_DB": str(database)}
    with (folder / "log").open("wb") as log, open_store(database) as store:
        access.choose_passphrase(store, access.make_link(store), PASSPHRASE, PASSPHRASE)
        server = subprocess.Popen(start, cwd=ROOT, stdout=log, stderr=log, env=environment)
        try:
            _wait_for(url, server)
            yield Served(url, store)
        finally:
            server.terminate()
            server.wait(20)


def _wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        assert server.poll() is None, "the app did not start"
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("the app did not start")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("alone")) as app:
        yield app


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("behind"), "--behind-proxy", "127.0.0.1", "--host", HOST) as app:
        yield app


def through_the_recipe(client: str, sent: dict[str, str], upgrade: bool = False) -> dict[str, str]:
    """What reaches the app when a client's headers pass the nginx of docs/operation.md."""
    recipe = (ROOT / "docs" / "operation.md").read_text("utf-8")
    set_there = dict(re.findall(r"^\s*proxy_set_header\s+(\S+)\s+(\S+);", recipe, re.M))
    assert set_there.keys() == {"Host", "X-Forwarded-For", "X-Forwarded-Proto", "Upgrade", "Connection"}
    before = sent.get("X-Forwarded-For")
    values = {
        "$http_host": HOST,
        "$remote_addr": client,
        "$proxy_add_x_forwarded_for": f"{before}, {client}" if before else client,
        "$scheme": "https",
        "$http_upgrade": "websocket" if upgrade else "",
        "$connection_upgrade": "upgrade" if upgrade else "close",
    }
    made = {name: values[value] for name, value in set_there.items()}
    return {**sent, **{name: value for name, value in made.items() if value}}


def sign_in(app: Served, passphrase: str, headers: dict[str, str], address: str = "127.0.0.1") -> int:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    body = f"passphrase={passphrase}".encode()
    return ask(
        app.url, "/sign-in", method="POST", body=body, headers={**form, **headers}, address=address
    ).status


def test_forged_addresses_do_not_hide_who_guesses(alone: Served) -> None:
    """Thirty passphrases, each with an address of its own: none after the fifth is looked at."""
    said = [
        b"Wrong passphrase" in wrong.body
        for wrong in (
            ask(
                alone.url,
                "/sign-in",
                method="POST",
                body=b"passphrase=wrong",
                headers={
                    "Content-Type": "application/x-www-form-urlencoded",
                    "X-Forwarded-For": f"198.51.100.{n}",
                },
            )
            for n in range(30)
        )
    ]
    assert said == [True] * access.MOST_FAILURES + [False] * (30 - access.MOST_FAILURES)
    assert alone.counted(access.WRONG_PASSPHRASE, "127.0.0.1") == access.MOST_FAILURES
    assert post(alone.url, "/sign-in", "127.0.4.1", passphrase=PASSPHRASE).status == 303


def test_forwarded_addresses_of_any_length_leave_the_connections_own(alone: Served) -> None:
    before = alone.counted(UNKNOWN_TOKEN, "127.0.0.1")
    for header in ("x" * 60_000, "fe80::1%" + "y" * 60_000, "198.51.100.1"):
        ask(alone.url, "/r/" + "A" * 22, headers={"X-Forwarded-For": header})
    assert alone.counted(UNKNOWN_TOKEN, "127.0.0.1") == before + 3


def test_behind_the_proxy_of_the_recipe_the_clients_address_counts(behind: Served) -> None:
    for n in range(access.MOST_FAILURES):
        headers = through_the_recipe(CLIENT, {"X-Forwarded-For": f"{FORGED}{n}", "Origin": f"https://{HOST}"})
        assert sign_in(behind, "wrong", headers) == 403
    assert behind.counted(access.WRONG_PASSPHRASE, CLIENT) == access.MOST_FAILURES
    assert not [event for event in events(behind.store) if event.address.startswith(FORGED)]
    assert sign_in(behind, PASSPHRASE.replace(" ", "+"), through_the_recipe(CLIENT, {})) == 403
    elsewhere = through_the_recipe("203.0.113.8", {"Origin": f"https://{HOST}"})
    assert sign_in(behind, PASSPHRASE.replace(" ", "+"), elsewhere) == 303


def test_a_page_counts_the_clients_address_too(behind: Served) -> None:
    client = "203.0.113.9"
    headers = through_the_recipe(client, {"X-Forwarded-For": FORGED}, upgrade=True)
    passed_on = {name: headers[name] for name in ("X-Forwarded-For", "X-Forwarded-Proto")}
    cookie = f"{cookie_name(behind.store, 'rater')}={'C' * 22}"
    with RawVisitor(behind.url, cookie, headers=passed_on) as visitor:
        visitor.go("at=1", page_name="annotate")
    assert behind.counted(UNKNOWN_TOKEN, client) == 1
    path = "/media/" + "0" * 56 + ".csv"
    assert ask(behind.url, path, headers=through_the_recipe(client, {})).status == 403
    assert behind.counted(NO_ENTRY, client) == 1


@pytest.mark.parametrize(
    ("forwarded", "counted"),
    [
        ("garbage", "unknown"),
        ("x" * 60_000, "unknown"),
        ("203.0.113.20, garbage", "unknown"),
        ("2001:db8::1%" + "z" * 60_000, "2001:db8::1"),
        ("2001:0db8:0000::0002", "2001:db8::2"),
        ("::ffff:203.0.113.21", "203.0.113.21"),
        ("garbage, 203.0.113.22", "203.0.113.22"),
        ("203.0.113.23, 127.0.0.1", "203.0.113.23"),
    ],
    ids=lambda text: text[:24],
)
def test_an_address_is_one_or_is_unknown(behind: Served, forwarded: str, counted: str) -> None:
    before = behind.counted(UNKNOWN_TOKEN, counted)
    ask(behind.url, "/r/" + "A" * 22, headers={"X-Forwarded-For": forwarded})
    assert behind.counted(UNKNOWN_TOKEN, counted) == before + 1


def test_a_neighbour_of_the_proxy_is_not_the_proxy(behind: Served) -> None:
    ask(behind.url, "/r/" + "A" * 22, headers={"X-Forwarded-For": "203.0.113.30"}, address="127.0.4.3")
    assert behind.counted(UNKNOWN_TOKEN, "203.0.113.30") == 0
    assert behind.counted(UNKNOWN_TOKEN, "127.0.4.3") == 1


@pytest.mark.slow
def test_started_past_serve_the_app_believes_no_header_either(tmp_path: Path) -> None:
    """Left to itself, uvicorn takes the address that any program of this machine names."""
    with served(tmp_path, command=("streamlit", "run", "app.py")) as app:
        assert sign_in(app, "wrong", {"X-Forwarded-For": FORGED}) == 403
        assert app.counted(access.WRONG_PASSPHRASE, "127.0.0.1") == 1
