"""A specialist in a real browser: rated texts become a Parrot's examples, five items first, then who marked what."""

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, choose_file, on_screen, open_tab, settled, violations
from helpers.texts.slips import rated_texts
from playwright.sync_api import Page, expect

from core.store import Store

NewPage = Callable[[], Page]
SOON = 60_000
"""Milliseconds: the tests that use both cores for a model run beside this one."""
TABS = (
    "Progress",
    "Scores",
    "Spans",
    "Agreement",
    "Raters",
    "Copying",
    "Examples",
    "Accuracy",
    "Cost",
    "Files",
)
PHONE = 390


@pytest.mark.slow
def test_from_ratings_to_marked_errors_side_by_side(
    app: AppServer, app_store: Store, new_page: NewPage, tmp_path: Path
) -> None:
    path = tmp_path / "rated.jsonl"
    path.write_bytes(rated_texts(6))
    page = new_page()
    sign_in(page, app_store, app.url)
    page.goto(f"{app.url}/specialist")
    expect(page.get_by_role("heading", name="Specialist", exact=True)).to_be_visible(timeout=SOON)
    settled(page)
    choose_file(page, "Texts", path)
    expect(page.get_by_role("button", name=f"Remove {path.name}")).to_be_visible(timeout=SOON)
    expect(
        on_screen(page).get_by_text("24 texts on 6 items by 4 systems; 24 of them rated by 3 raters.")
    ).to_be_visible(timeout=SOON)
    settled(page)
    assert violations(page) == []
    page.get_by_role("button", name="Preview five items").click()
    everything = page.get_by_role("button", name="Run all 6 items")
    expect(everything).to_be_visible(timeout=SOON)
    settled(page)
    everything.click()
    expect(on_screen(page).get_by_text("6 of 6 items")).to_be_visible(timeout=SOON)
    expect(on_screen(page).get_by_text("is done")).to_be_visible(timeout=SOON)
    settled(page)
    found: dict[str, list[str]] = {}
    for tab in TABS:
        open_tab(page, tab)
        settled(page)
        found[tab] = violations(page)
    assert {tab: problems for tab, problems in found.items() if problems} == {}
    open_tab(page, "Spans")
    expect(on_screen(page).get_by_text("People: all raters together")).to_be_visible(timeout=SOON)
    on_screen(page).get_by_text("Examples used: 3").click()
    expect(on_screen(page).get_by_text("None is by the judged system.")).to_be_visible(timeout=SOON)
    page.set_viewport_size({"width": PHONE, "height": 844})
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
