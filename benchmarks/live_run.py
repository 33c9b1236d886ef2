"""CPU time of the server for each refresh of the pages that show a run at work.

The app runs as usual, on a new database with a run of 16 metrics. Most of its texts are scored, and more scores come
every second. A browser has one tab of the page Metrics open, which refreshes by itself; nobody presses anything. CPU is
the user and system time of the server process with all its threads, which includes its idle work. The browser and the
run are other processes. Target: at most 0.3 s a refresh at 10,000 texts; otherwise the exit status is 1.

    .venv/bin/python benchmarks/live_run.py [--texts 10000] [--seconds 30] [--tabs Table Levels]
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, chromium, running, settled
from helpers.texts.growing_run import N_LEVELS, GrowingRun
from playwright.sync_api import Browser, Page
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from core.store import open_store
from pages.widgets.chosen_scores import TICK

TEXTS, MOST_SECONDS = 10_000, 0.3
TABS: dict[str, tuple[str, ...]] = {
    "Table": ("Correlations", "Table"),
    "Scatter plot": ("Correlations", "Table"),
    "Ranking": ("Correlations", "Ranking"),
    "Redundancy": ("Correlations", "Redundancy"),
    "Levels": ("Levels",),
    "Meta-correlation": ("Meta-correlation",),
    "Progress": ("Progress",),
    "Judge's scores": ("Scores",),
    "Two judges": ("Judges",),
}
"""Name of a look -> the tabs to press on the page Metrics, or Judges for the last two."""
ON_JUDGES = ("Judge's scores", "Two judges")
OPENED = {"Scatter plot": "?metric=bleu-1"}
"""What the address opens below the look."""
DONE, SHARE_A_SECOND = 0.85, 1 / 400
"""Shares of the texts: scored at first, and those that come every second."""
PATIENCE = 300_000
"""Milliseconds until a page is drawn."""


@dataclass(frozen=True)
class Cost:
    """What the refreshes of a look cost."""

    refreshes: int
    cpu: float
    """Seconds a refresh."""
    kilobytes: float
    """What each refresh sent to the browser."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each tab; return 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=TEXTS, help="default %(default)s")
    parser.add_argument("--seconds", type=float, default=30, help="of each measurement (default %(default)s)")
    parser.add_argument("--tabs", nargs="+", choices=TABS, default=list(TABS))
    options = parser.parse_args(argv)
    print(f"{options.texts:,} texts, 16 metrics\n\n| tab | refreshes | CPU s a refresh | KB a refresh |")
    print("|---" * 4 + "|")
    missed = False
    with chromium() as browser:
        for tab in options.tabs:
            cost = measured(browser, tab, options.texts, options.seconds)
            missed |= options.texts >= TEXTS and cost.cpu > MOST_SECONDS
            print(f"| {tab} | {cost.refreshes:.1f} | {cost.cpu:.2f} | {cost.kilobytes:,.0f} |", flush=True)
    return int(missed)


def measured(browser: Browser, tab: str, n_texts: int, seconds: float) -> Cost:
    """Measure one tab on a new database and server."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "assay.db") as store:
        run = GrowingRun(store, n_texts // N_LEVELS, judged=tab in ON_JUDGES)
        run.grow(round(run.n_items * DONE))
        with running(store.path) as app:
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.set_default_timeout(PATIENCE)
            try:
                return _watched(page, app, run, tab, seconds)
            finally:
                page.context.close()


def _watched(page: Page, app: AppServer, run: GrowingRun, tab: str, seconds: float) -> Cost:
    heard = listening(page)
    sign_in(page, run.store, app.url)
    page.goto(f"{app.url}/{'judges' if tab in ON_JUDGES else 'metrics'}{OPENED.get(tab, '')}")
    for name in TABS[tab]:
        page.get_by_role("tab", name=name, exact=True).click()
        settled(page)
    with run.growing(max(1, round(run.n_items * SHARE_A_SECOND)), 1.0):
        page.wait_for_timeout(12_000)  # two refreshes, for what is read and built only once
        before, begun, sent = heard(), app.processor_seconds(), _Sent.total
        page.wait_for_timeout(1000 * seconds)
        refreshes = heard() - before
        taken = app.processor_seconds() - begun
    looks = seconds / TICK
    return Cost(refreshes / looks, taken / looks, (_Sent.total - sent) / looks / 1000)


class _Sent:
    total = 0


def sent_bytes() -> int:
    """Bytes that the server has sent to all pages that are listened to."""
    return _Sent.total


def listening(page: Page) -> Callable[[], int]:
    """A function that says how often a script or a part of it has been drawn."""
    finished: list[int] = []

    def frame(data: bytes | str) -> None:
        if isinstance(data, bytes):
            _Sent.total += len(data)
            message = ForwardMsg.FromString(data)
            if message.WhichOneof("type") == "script_finished":
                finished.append(message.script_finished)

    page.on("websocket", lambda socket: socket.on("framereceived", frame))
    return lambda: len(finished)


if __name__ == "__main__":
    sys.exit(main())
