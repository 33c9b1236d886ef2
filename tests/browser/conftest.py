"""Browser tests: one Chromium a module (its driver holds the event loop while it lives), one app a test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.processes.app_server import CHROMIUM, AppServer, chromium
from playwright.sync_api import Browser, BrowserContext, Page

from core.store import Store, open_store


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "browser":
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"needs Chromium at {CHROMIUM} (Debian: apt install chromium; or set ASSAY_CHROMIUM)")
    with chromium() as launched:
        yield launched


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "assay.db"


@pytest.fixture
def app_store(database: Path) -> Iterator[Store]:
    with open_store(database) as store:
        yield store


@pytest.fixture
def app(database: Path, app_store: Store) -> Iterator[AppServer]:
    server = AppServer(database).start()
    yield server
    server.stop()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[[], Page]]:
    """A page in a browser context of its own: another person, or another computer."""
    contexts: list[BrowserContext] = []

    def make() -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        return context.new_page()

    yield make
    for context in contexts:
        context.close()
