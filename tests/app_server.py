"""The real app as a child process, and a browser to look at it, for tests and for the screenshots."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = os.environ.get("ASSAY_CHROMIUM", "/usr/bin/chromium")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class AppServer:
    """`streamlit run app.py` on a database of its own."""

    def __init__(self, database: Path, port: int | None = None) -> None:
        self.database, self.port = database, port or free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "AppServer":
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        log = self.database.with_suffix(".log").open("ab")
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "ASSAY_DB": str(self.database)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        log.close()
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError(f"the app did not start: {self.log()[-2000:]}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            self._process = None

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(20)
        self._process = None

    def memory_mib(self) -> float:
        """Resident memory of the process, where the system tells (Linux)."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """The process is stopped, not dead: nothing is answered until the block ends."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def log(self) -> str:
        return self.database.with_suffix(".log").read_text("utf-8", errors="replace")


@contextmanager
def running(database: Path, port: int | None = None) -> Iterator[AppServer]:
    server = AppServer(database, port).start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def on_pair(page: Page, number: int) -> None:
    """Wait until the pair of that number is on the screen and may be answered."""
    expect(page.get_by_text(f"Pair {number} of ")).to_be_visible(timeout=20_000)
    settled(page)
    page.wait_for_timeout(400)  # a press this soon after a pair appears is taken for a double press


def settled(page: Page) -> None:
    """Wait until what was last pressed has been answered by the server and drawn."""
    page.wait_for_timeout(150)
    page.wait_for_function(
        """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
              && !document.querySelector('[data-stale=true]')"""
    )


def fill(page: Page, label: str, value: str) -> None:
    """Write into a box, and wait for what follows from it."""
    box = page.get_by_role("textbox", name=label, exact=True)
    box.fill(value)
    box.press("Enter")
    settled(page)


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    settled(page)


def violations(page: Page) -> list[str]:
    """What axe finds in the page's own part, but for the order of headings and the uploader, which are Streamlit's."""
    off = ("heading-order", "presentation-role-conflict")
    found = Axe().run(
        page,
        context={"include": [["[data-testid=stMainBlockContainer]"]]},
        options={"rules": {rule: {"enabled": False} for rule in off}},
    )
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:120] for node in one['nodes']][:3]}"
        for one in found.response["violations"]
    ]


def through_onboarding(page: Page, link: str) -> None:
    """Guidelines and the three practice pairs."""
    page.goto(link)
    page.get_by_role("button", name="Start with three practice pairs").click(timeout=20_000)
    for number in (1, 2, 3):
        expect(page.get_by_text(f"Practice {number} of 3")).to_be_visible()
        settled(page)
        page.keyboard.press("3")
        page.get_by_role("button", name="Start the study" if number == 3 else "Next practice pair").click()
