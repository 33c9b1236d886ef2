"""The page Check in a real browser: upload, verdict in the first screen, another use, another column."""

import re

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_screen, settled
from playwright.sync_api import Browser, Page, expect

from core.store import Store

ROWS = [
    (
        f"q{n}",
        *("pass" if good else "fail" for good in (n % 2, n % 2, (n % 9 != 0) == n % 2, n % 2)),
        f"m{n % 3}",
    )
    for n in range(60)
]
FILE = "\n".join(["id,rater_1,rater_2,rater_3,judge,variant", *map(",".join, ROWS)]).encode()


def upload(page: Page, app: AppServer, store: Store) -> None:
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/check")
    expect(page.get_by_role("heading", name="Can this judge be trusted?")).to_be_visible(timeout=20_000)
    settled(page)
    given = {"name": "labels.csv", "mimeType": "text/csv", "buffer": FILE}
    page.locator("input[type=file]").first.set_input_files(given)  # type: ignore[arg-type]
    expect(page.locator(".assay-verdict")).to_be_visible(timeout=20_000)
    settled(page)


@pytest.mark.parametrize(
    ("size", "scheme"), [((1280, 720), "light"), pytest.param((390, 844), "dark", marks=pytest.mark.slow)]
)
def test_the_verdict_is_in_the_first_screen(
    app: AppServer, app_store: Store, browser: Browser, size: tuple[int, int], scheme: str
) -> None:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    try:
        upload(page, app, app_store)
        expect(page.locator(".assay-verdict")).to_be_in_viewport(ratio=1)
        expect(page.locator(".assay-number").first).to_be_in_viewport(ratio=1)
        expect(page.locator(".assay-word")).to_have_text(re.compile(r"TRUSTED|INCONCLUSIVE"))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("radio", name="Monitor a mean").click()
        settled(page)
        expect(page).to_have_url(re.compile("use=monitor"))
        expect(page.locator(".assay-numbers")).to_contain_text("Bias")
        on_screen(page).get_by_text("Columns: raters").click()
        settled(page)
        page.wait_for_timeout(500)  # the part unfolds
        page.get_by_role("combobox", name="System").click()
        page.get_by_role("option", name="variant").click()
        settled(page)
        expect(
            on_screen(page).get_by_text("check labels.csv --columns system=variant --use monitor")
        ).to_have_count(1)
        expect(page.locator(".assay-verdict")).to_have_count(1)
        address = page.get_by_role("link", name="How it is computed").first.get_attribute("href")
        page.goto(f"{app.url}/{address}")
        expect(page.get_by_role("heading", name="Five uses")).to_be_visible(timeout=20_000)
    finally:
        context.close()
