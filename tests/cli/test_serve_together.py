"""`serve --processes`: what it refuses, the proxies' configurations with the real proxies, and who starts and ends what."""

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from helpers.processes.app_server import ROOT
from helpers.processes.raw_rater import Reply, ask
from helpers.processes.several_apps import free_ports, needs

from core.cli import main
from core.cli.serve import _program, together
from core.cli.serve.proxies import COOKIE, PROXY_NAMES, Door, configuration, start_command
from core.cli.serve.together import Part
from core.store import open_store
from core.store.studies import read_setting

STUB = """
import http.server, os, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        said = f"{sys.argv[1]} {os.getpid()} {self.headers['X-Forwarded-For']} {self.headers['Host']} {self.headers['Cookie']}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said.encode())
    do_POST = do_GET
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
"""An app process as the proxies see it: it says its port, its process id, and what reached it."""
SUPERVISOR = """
import sys
from core.cli.serve import together
from core.cli.serve.together import Part, keep_running
from core.errors import InputError
stub, *ports = sys.argv[1:]
apps = [Part(f"app on {port}", [sys.executable, "-c", stub, port], int(port)) for port in ports]
proxy = Part("proxy", [sys.executable, "-c", "import time; time.sleep(600)"], 0)
say = lambda line: print(line, flush=True)
together._PAUSE_SECONDS, together._LOOK_SECONDS = 0.3, 0.05
try:
    keep_running(apps, proxy, say, lambda: say("ready"))
except InputError as problem:
    sys.exit(f"refused: {problem}")
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASSAY_DB", "FORWARDED_ALLOW_IPS"):
        monkeypatch.setenv(name, "")  # serve sets them; pytest puts them back
    for name in ("PORT", "ADDRESS", "ALLOWED_HOSTS", "COOKIE_SECRET"):
        monkeypatch.delenv(f"STREAMLIT_SERVER_{name}", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--processes", "0"], ["--processes is 0"]),
        (["--processes", "-1", "--server.port", "x"], ["--processes is -1"]),
        (["--processes", "3", "--server.port", "65533"], ["--server.port is 65533"]),
        (["--processes", "2", "--server.port", "x"], ["--server.port is x"]),
        (
            ["--proxy", "nginx", "--server.port", "0", "--server.sslCertFile=a"],
            ["--server.port", "--server.sslCertFile"],
        ),
    ],
)
def test_all_that_cannot_be_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], named: list[str]
) -> None:
    assert main(["serve", "--db", str(tmp_path / "assay.db"), *options]) == 2
    said = capsys.readouterr().err
    assert all(name in said for name in named)
    assert not (tmp_path / "assay.db").exists()


def test_ports_that_are_taken_are_all_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.cli.serve._program", lambda proxy: proxy)
    port = free_ports(3)
    with ExitStack() as open_:
        for taken in (port, port + 2):
            open_.enter_context(_stub(taken))
        arguments = ["serve", "--db", str(tmp_path / "assay.db"), "--processes", "2"]
        assert main([*arguments, "--server.port", str(port)]) == 2
    said = capsys.readouterr().err
    assert [f":{number}:" in said for number in (port, port + 1, port + 2)] == [True, False, True]
    assert not (tmp_path / "assay.db").exists()


def test_a_proxy_that_is_not_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.cli.serve.shutil.which", lambda *_, **__: None)
    assert main(["serve", "--db", str(tmp_path / "assay.db"), "--processes", "2"]) == 2
    assert "serve --print-proxy haproxy" in capsys.readouterr().err


@pytest.mark.parametrize("proxy", PROXY_NAMES)
def test_a_configuration_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str], proxy: str) -> None:
    needs(proxy)
    assert main(["serve", "--processes", "3", "--server.port", "8600", "--print-proxy", proxy]) == 0
    printed = capsys.readouterr().out
    assert [f"127.0.0.1:{port}" in printed for port in range(8600, 8605)] == [True] * 4 + [False]
    file = tmp_path / f"{proxy}.conf"
    file.write_text(printed, "utf-8")
    check = (
        ["-c", "-f", str(file)]
        if proxy == "haproxy"
        else ["-t", "-p", f"{tmp_path}/", "-c", str(file), "-e", "stderr"]
    )
    done = subprocess.run([_program(proxy), *check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower()


def test_what_the_processes_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[list[Part], Part | None]] = []
    monkeypatch.setattr(together, "keep_running", lambda apps, proxy, *_: begun.append((list(apps), proxy)))
    monkeypatch.setattr(together, "check_free", lambda *_: None)
    monkeypatch.setattr("core.cli.serve._program", lambda proxy: f"/sbin/{proxy}")
    options = [
        "--processes",
        "2",
        "--behind-proxy",
        "10.0.0.0/8",
        "--server.port",
        "8600",
        "--host",
        "a.example",
    ]
    assert main(["serve", "--db", "own.db", *options, "--server.address", "0.0.0.0"]) == 0
    apps, proxy = begun[0]
    assert [app.port for app in apps] == [8601, 8602]
    assert proxy is not None
    assert (proxy.command[0], proxy.port) == ("/sbin/haproxy", 8600)
    for app in apps:
        # Streamlit takes the last of an option that is given twice.
        assert app.command[-2:] == ["--server.address=127.0.0.1", f"--server.port={app.port}"]
        assert "--server.allowedHosts=a.example" in app.command
    assert apps[0].environment == apps[1].environment
    assert apps[0].environment is not None
    assert len(apps[0].environment["STREAMLIT_SERVER_COOKIE_SECRET"]) == 64
    assert apps[0].environment["FORWARDED_ALLOW_IPS"] == ""
    assert apps[0].environment["ASSAY_FRONT_PROXIES"] == "10.0.0.0/8"
    assert len(apps[0].environment["ASSAY_FRONT_SECRET"]) == 64
    assert apps[0].environment["ASSAY_DB"] == str(tmp_path / "own.db")
    with open_store(tmp_path / "own.db") as store:
        assert read_setting(store, "address") == "http://127.0.0.1:8600"


@contextmanager
def _stub(port: int) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen([sys.executable, "-c", STUB, str(port)]) as stub:
        try:
            _wait_for(port)
            yield stub
        finally:
            stub.kill()


def _wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            ask(f"http://127.0.0.1:{port}", "/")
            return
        except (OSError, http.client.HTTPException):
            time.sleep(0.02)
    raise AssertionError(f"nothing answers at {port}")


@pytest.mark.parametrize("proxy", PROXY_NAMES)
def test_one_browser_stays_with_one_process_until_it_dies(tmp_path: Path, proxy: str) -> None:
    needs(proxy)
    door = free_ports(3)
    url, ports = f"http://127.0.0.1:{door}", (door + 1, door + 2)
    file = tmp_path / f"{proxy}.conf"
    file.write_text(configuration(proxy, Door("127.0.0.1", door, ports)), "utf-8")
    with ExitStack() as open_:
        stubs = {port: open_.enter_context(_stub(port)) for port in ports}
        process = subprocess.Popen(start_command(proxy, _program(proxy), file), stderr=subprocess.DEVNULL)
        open_.callback(process.wait)
        open_.callback(process.terminate)
        _wait_for(door)
        chosen = {}
        for _ in range(24):
            first = ask(url, "/r/x", headers={"Host": "study.example"})
            cookie = first.cookies[-1].split(";")[0]
            assert cookie.startswith(f"{COOKIE}=")
            assert "httponly" in first.cookies[-1].lower()
            assert "samesite=lax" in first.cookies[-1].lower()
            again = [
                ask(url, path, method=method, headers={"Cookie": f"{cookie}; assay_rater_1=x"})
                for path, method in (("/", "GET"), ("/media/x", "GET"), ("/_stcore/upload_file/x", "POST"))
            ]
            assert {_port(reply) for reply in again} == {_port(first)}
            assert not any(reply.cookies for reply in again)
            chosen[cookie] = _port(first)
        assert set(chosen.values()) == set(ports)
        # What reaches the app: the host as it was sent, and the client's address without any that it invented.
        told = (
            ask(url, "/", headers={"Host": "study.example", "X-Forwarded-For": "198.51.100.1"})
            .body.decode()
            .split()
        )
        assert told[2:4] == ["127.0.0.1", "study.example"]
        assert ask(url, "/").body.split()[2] == b"127.0.0.1"
        dead, alive = ports
        stubs[dead].kill()
        stubs[dead].wait()
        for cookie in chosen:
            moved = ask(url, "/", headers={"Cookie": cookie})
            assert (moved.status, _port(moved)) == (200, alive)


def _port(reply: Reply) -> int:
    return int(reply.body.split()[0])


@contextmanager
def _supervised(stub: str, *ports: int) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", SUPERVISOR, stub, *map(str, ports)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as supervisor:
        try:
            yield supervisor
        finally:
            supervisor.kill()


def _line(supervisor: "subprocess.Popen[str]") -> str:
    assert supervisor.stdout is not None
    return supervisor.stdout.readline().strip()


def _gone(pid: int) -> bool:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def _pid(port: int) -> int:
    return int(ask(f"http://127.0.0.1:{port}", "/").body.split()[1])


@pytest.mark.parametrize(
    ("how", "status"),
    [
        (signal.SIGTERM, 0),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, 0, marks=pytest.mark.slow),
    ],
)
def test_what_dies_is_started_again_and_all_end_together(how: signal.Signals, status: int) -> None:
    one, two = free_ports(1), free_ports(1)
    with _supervised(STUB, one, two) as supervisor:
        assert _line(supervisor) == "ready"
        before = {port: _pid(port) for port in (one, two)}
        os.kill(before[one], signal.SIGKILL)
        assert _line(supervisor) == f"The app on {one} ended by signal 9. It is started again in 0 s."
        _wait_for(one)
        after = {port: _pid(port) for port in (one, two)}
        assert after[one] != before[one]
        assert after[two] == before[two]
        supervisor.send_signal(how)
        assert supervisor.wait(60) == status
        assert all(_gone(pid) for pid in after.values())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent died")
def test_a_killed_supervisor_leaves_no_process_behind() -> None:
    port = free_ports(1)
    with _supervised(STUB, port) as supervisor:
        assert _line(supervisor) == "ready"
        child = _pid(port)
        supervisor.kill()
        assert _gone(child)


def test_an_app_that_cannot_start_ends_the_command_and_the_others() -> None:
    port = free_ports(1)
    broken = f"import sys\nif sys.argv[1] == '{port}': sys.exit(3)\nimport time; time.sleep(600)"
    with _supervised(broken, port, port + 1) as supervisor:
        said, problem = supervisor.communicate(timeout=120)
        assert supervisor.returncode == 1
    assert said.count("ended with status 3") == together._MOST_FAILURES - 1
    assert problem.startswith(f"refused: The app on {port} ended with status 3 at each start.")
