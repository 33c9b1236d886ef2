"""The results of a study in a real browser: its first screen, its length, one popover, and presses that lead to its pairs."""

import re
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, settled
from helpers.texts.factories import dataset, ended, prefers, study_in, vote
from playwright.sync_api import Browser, Page, expect

from core.store import Store

_HIGH, _LONGEST = 900, 2_700
"""Pixels of a screen, and of a whole tab."""
_BOTTOM = "(selector) => Math.max(...[...document.querySelectorAll(selector)].map(e => e.getBoundingClientRect().bottom))"
_LENGTH = "document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight"
_WIDE = "Math.max(document.documentElement.scrollWidth, document.querySelector('[data-testid=stMain]').scrollWidth)"


def unblinded(store: Store) -> int:
    """A study of 16 questions; its two raters want different systems."""
    study = study_in(store, dataset(16), repeat_share=0.0)
    for number, token in enumerate(study.tokens.values()):
        vote(store, token, prefers(number))
    ended(store, study.study_id)
    return study.study_id


def opened(page: Page, app: AppServer, store: Store, address: str) -> None:
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/studies?{address}")
    expect(page.get_by_role("tab", name="Export")).to_be_visible(timeout=20_000)
    settled(page)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_verdict_its_numbers_and_its_figure_are_the_first_screen(
    app: AppServer, app_store: Store, browser: Browser, scheme: str
) -> None:
    number = unblinded(app_store)
    context = browser.new_context(viewport={"width": 1280, "height": _HIGH}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    try:
        for part in ("by-level", "robustness", "raters-as-a-sample"):
            opened(page, app, app_store, f"study={number}&part={part}")
            expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=20_000)
            expect(page.locator(".assay-number")).to_have_count(4)
            for shown in (".assay-verdict", ".assay-numbers"):
                assert page.evaluate(_BOTTOM, shown) < _HIGH
            expect(page.locator(".js-plotly-plot").first).to_be_in_viewport(ratio=1)
            assert page.evaluate(_LENGTH) < _LONGEST, part
            expect(page.get_by_test_id("stPopover")).to_have_count(1)
        page.set_viewport_size({"width": 390, "height": 844})
        settled(page)
        assert page.evaluate(_WIDE) <= 390
    finally:
        context.close()


def test_a_press_on_a_cell_leads_to_its_pairs(app: AppServer, app_store: Store, browser: Browser) -> None:
    number = unblinded(app_store)
    context = browser.new_context(viewport={"width": 1280, "height": 2_000})
    page = context.new_page()
    try:
        opened(page, app, app_store, f"study={number}&tab=raters")
        cells = page.locator(".js-plotly-plot").nth(1)
        cells.locator("text", has_text=re.compile(r"^64$")).click(force=True)
        expect(page.get_by_role("tab", name="Pairs", selected=True)).to_be_visible(timeout=20_000)
        settled(page)
        assert "R1" not in page.url.partition("?")[2]
        page.go_back()
        settled(page)
        page.goto(f"{app.url}/studies?study={number}")
        settled(page)
        page.locator(".js-plotly-plot .bars .point path").first.click(force=True)
        expect(page.get_by_role("tab", name="Pairs", selected=True)).to_be_visible(timeout=20_000)
    finally:
        context.close()


def test_a_file_of_a_table_comes_from_the_popover(app: AppServer, app_store: Store, browser: Browser) -> None:
    number = unblinded(app_store)
    context = browser.new_context(viewport={"width": 1280, "height": 2_000})
    page = context.new_page()
    try:
        opened(page, app, app_store, f"study={number}&part=robustness")
        page.get_by_test_id("stPopover").get_by_role("button").click()
        with page.expect_download() as file:
            page.get_by_role("button", name="CSV").first.click()
        assert file.value.suggested_filename == "assay-sensitivity.csv"
        assert "as declared" in Path(file.value.path()).read_text("utf-8")
    finally:
        context.close()
