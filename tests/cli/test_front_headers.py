"""What the proxy of `serve --processes` tells the app processes of a client, for every header that the client could invent."""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from helpers.processes.several_apps import free_ports, needs

from core.access import FRONT_HEADER
from core.cli.serve import _program
from core.cli.serve.proxies import PROXY_NAMES, Door, configuration, start_command

ECHO = """
import http.server, json, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        told = json.dumps(self.headers.items()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
"""An app process as the proxy sees it: it answers with the headers that reached it."""
SECRET = "7" * 64
NAMED, STRANGER, OWN = "127.0.8.1", "127.0.8.2", "127.0.0.1"
"""A proxy before, named by the owner, and two clients of this machine."""
FORGED = "198.51.100.1"
SENT: dict[str, list[tuple[str, str]]] = {
    "nothing": [],
    "one": [("X-Forwarded-For", FORGED)],
    "several": [("X-Forwarded-For", f"{FORGED}, {NAMED}")],
    "several lines": [("X-Forwarded-For", FORGED), ("X-Forwarded-For", NAMED)],
    "mixed case": [("x-FORWARDED-for", FORGED)],
    "underscores": [("X_Forwarded_For", FORGED)],
    "Forwarded": [("Forwarded", f"for={FORGED};proto=https")],
    "X-Real-IP": [("X-Real-IP", FORGED)],
    "X-Forwarded-Proto": [("X-Forwarded-Proto", "https")],
    "X-Forwarded-Host": [("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Port", "443")],
    "secret": [(FRONT_HEADER, "8" * 64), ("X-Forwarded-For", FORGED)],
}


@pytest.fixture(scope="module", params=PROXY_NAMES)
def front(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    needs(request.param)
    port = free_ports(2)
    file = tmp_path_factory.mktemp(request.param) / "front.conf"
    door = Door("127.0.0.1", port, [port + 1], [NAMED, "2001:db8::/32"], SECRET)
    file.write_text(configuration(request.param, door), "utf-8")
    with ExitStack() as open_:
        for command in (
            [sys.executable, "-c", ECHO, str(port + 1)],
            start_command(request.param, _program(request.param), file),
        ):
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            open_.callback(process.wait)
            open_.callback(process.terminate)
        url = f"http://127.0.0.1:{port}"
        _wait_for(url)
        yield url


def _wait_for(url: str) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            told(url, [], OWN)
            return
        except (OSError, ValueError, http.client.HTTPException):
            time.sleep(0.05)
    raise AssertionError(f"nothing answers at {url}")


def told(url: str, headers: list[tuple[str, str]], address: str) -> dict[str, list[str]]:
    """The headers that reach an app process, by their names in lower case."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20, source_address=(address, 0))
    connection.putrequest("GET", "/")
    for line in headers:
        connection.putheader(*line)
    connection.endheaders()
    reached: dict[str, list[str]] = {}
    for name, value in json.loads(connection.getresponse().read()):
        reached.setdefault(name.lower(), []).append(value)
    connection.close()
    return reached


@pytest.mark.parametrize("address", [STRANGER, OWN])
@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_a_client_says_nothing_about_itself(front: str, sent: list[tuple[str, str]], address: str) -> None:
    reached = told(front, sent, address)
    assert reached["x-forwarded-for"] == [address]
    assert reached["x-forwarded-proto"] == ["http"]
    assert reached[FRONT_HEADER.lower()] == [SECRET]
    assert not {"forwarded", "x-real-ip", "x_forwarded_for", "x-forwarded-host", "x-forwarded-port"} & {
        *reached
    }
    assert FORGED not in json.dumps(reached)


def test_a_named_proxy_says_whose_client_it_is(front: str) -> None:
    sent = [
        ("X-Forwarded-For", f"{FORGED}, 203.0.113.7"),
        ("X-Forwarded-Proto", "https"),
        ("X-Real-IP", FORGED),
    ]
    reached = told(front, sent, NAMED)
    assert reached["x-forwarded-for"] == [f"{FORGED}, 203.0.113.7, {NAMED}"]
    assert reached["x-forwarded-proto"] == ["https"]
    assert "x-real-ip" not in reached


def test_a_configuration_for_elsewhere_has_no_secret() -> None:
    for proxy in PROXY_NAMES:
        assert FRONT_HEADER not in configuration(proxy, Door("127.0.0.1", 8501, [8502]))


def test_the_secret_is_in_no_command(tmp_path: Path) -> None:
    """What every user of the machine reads in the list of processes."""
    for proxy in PROXY_NAMES:
        assert SECRET not in " ".join(start_command(proxy, proxy, tmp_path / "front.conf"))
