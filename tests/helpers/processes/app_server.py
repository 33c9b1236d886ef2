"""The real app as a child process, and a browser to look at it, for tests and for the screenshots."""

import gc
import multiprocessing
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from helpers.processes.ports import free_port
from playwright.sync_api import Browser, BrowserContext, FilePayload, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[3]
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
_LISTEN = """(() => {
    const at = {told: 0, heard: 0};
    window.lastOnTheWire = at;
    window.WebSocket = class extends window.WebSocket {
        constructor(...given) {
            super(...given);
            this.addEventListener('message', () => { at.heard = performance.now(); });
        }
        send(data) {
            at.told = performance.now();
            super.send(data);
        }
    };
})()"""
SERVERS = multiprocessing.get_context("forkserver")
SERVERS.set_forkserver_preload(
    [
        "streamlit.web.cli",
        "starlette.applications",
        "starlette.middleware.sessions",
        "uvicorn.lifespan.on",
        "uvicorn.protocols.http.h11_impl",
        "plotly.express",
        "statsmodels.api",
        "sqlite_utils",
        "core.runs.kinds",
        "core.plots",
        "pages.door.guard",
        "pages.door.routes",
        *(f"pages.{page.parent.name}" for page in (ROOT / "pages").glob("*/__init__.py")),
    ]
)
"""A server is a child of a process that has the libraries and the app's pages in memory: reading them takes longer than
many a test. A test that needs a server without them starts the app itself."""


def run_streamlit(database: Path, port: int, environment: dict[str, str]) -> None:
    """`streamlit run app.py` in this process, until it is stopped."""
    from streamlit.web.cli import main

    gc.freeze()  # the app collects garbage when it starts, and need not look at what was read before the fork
    log = os.open(database.with_suffix(".log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment, ASSAY_DB=str(database), FORWARDED_ALLOW_IPS="")
    main(["run", "app.py", "--server.port", str(port)])


class AppServer:
    """`streamlit run app.py` on a database of its own."""

    def __init__(self, database: Path, port: int | None = None) -> None:
        self.database, self.port = database, port or free_port()
        self._process: BaseProcess | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "AppServer":
        self._process = self.spawned()
        self._process.start()
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError(f"the app did not start: {self.log()[-2000:]}")

    def spawned(self) -> BaseProcess:
        """The process, not yet begun."""
        return SERVERS.Process(target=run_streamlit, args=(self.database, self.port, dict(os.environ)))

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._end()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._end()

    def _end(self) -> None:
        assert self._process is not None
        self._process.join(20)
        assert not self._process.is_alive()
        self._process = None

    def memory_mib(self) -> float:
        """Resident memory of the process, where the system tells (Linux)."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def processor_seconds(self) -> float:
        """User and system time that the process has taken so far (Linux)."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """The process is stopped, not dead: nothing is answered until the block ends."""
        assert self._process is not None
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)

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
        plain = browser.new_context

        def listening(**settings: Any) -> BrowserContext:
            context = plain(**settings)
            context.add_init_script(_LISTEN)
            return context

        browser.new_context = listening  # type: ignore[method-assign]
        try:
            yield browser
        finally:
            browser.close()


def on_pair(page: Page, number: int) -> None:
    """Wait until the pair of that number is on the screen and may be answered."""
    expect(page.get_by_role("heading", name=f"Pair {number} of ")).to_be_visible(timeout=20_000)
    settled(page)
    page.wait_for_timeout(400)  # a press this soon after a pair appears is taken for a double press


def on_screen(page: Page) -> Locator:
    """What can be seen: all but the region that says a moment later, to who listens, what the rater's page shows."""
    return page.locator("body > :not(#assay-live)")


def settled(page: Page) -> None:
    """Wait until what was last pressed has been answered by the server and drawn.

    The state of the app alone does not tell: it is `notRunning` until a press has reached a busy server, and once more
    between a run that was under way and the run for the press. So the server must have spoken after the last event
    that was sent, and be silent now. An element whose script is still being loaded shows a skeleton until then.
    """
    page.wait_for_timeout(100)
    page.wait_for_function(
        """() => {
            const {told, heard} = window.lastOnTheWire ?? {told: 0, heard: 0};
            return document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
                && !document.querySelector('[data-stale=true], [data-testid=stSkeleton]')
                && heard >= told && performance.now() - heard > 80;
        }"""
    )


def fill(page: Page, label: str, value: str) -> None:
    """Write into a box, and wait for what follows from it."""
    box = page.get_by_role("textbox", name=label, exact=True)
    box.fill(value)
    box.press("Enter")
    settled(page)


def choose_file(page: Page, label: str, file: Path | FilePayload) -> None:
    """Give a file to the upload with this label. Uploads are drawn in any order, so none is always the first."""
    page.get_by_role("region", name=label, exact=True).locator("input[type=file]").set_input_files(file)


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    settled(page)


def open_page(page: Page, name: str) -> None:
    """Go to a page of the admin through the group of the navigation that has it."""
    groups = page.get_by_test_id("stTopNavSection")
    groups.first.wait_for(timeout=20_000)
    for group in groups.all():
        group.click()
        page.get_by_role("menu").wait_for()
        item = page.get_by_role("menuitem", name=name, exact=True)
        if item.count():
            item.click()
            settled(page)
            return
        page.keyboard.press("Escape")
        page.get_by_role("menu").wait_for(state="detached")
    raise AssertionError(f"no group has the page {name}")


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
        expect(page.get_by_role("heading", name=f"Practice {number} of 3")).to_be_visible()
        settled(page)
        page.keyboard.press("3")
        settled(page)  # the button stands there before the run that draws it has ended
        page.get_by_role("button", name="Start the study" if number == 3 else "Next practice pair").click()
