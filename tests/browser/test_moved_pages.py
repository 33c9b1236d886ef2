"""Old addresses in a real browser: each leads to a study or to the list, and Back leads out again."""

from urllib.parse import parse_qs, urlsplit

import pytest
from helpers.pages.admin_session import sign_in
from helpers.pages.old_addresses import LEADS, scored_study
from helpers.processes.app_server import AppServer, settled
from playwright.sync_api import Page, expect

from core.store import Store

SOON = 20_000


@pytest.mark.slow
def test_each_leads_on(app: AppServer, app_store: Store, new_page: object) -> None:
    scored_study(app_store)
    page: Page = new_page()  # type: ignore[operator]
    sign_in(page, app_store, app.url)
    page.goto(f"{app.url}/start")
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible(timeout=SOON)
    expect(page.get_by_role("dialog")).to_have_count(0)
    for old, params in LEADS.items():
        page.goto(f"{app.url}/{old}")
        expect(page.get_by_role("heading", name="june" if params else "Studies", exact=True)).to_be_visible(
            timeout=SOON
        )
        settled(page)
        expect(page.get_by_role("dialog")).to_have_count(0)
        at = urlsplit(page.url)
        assert (at.path, {name: value[-1] for name, value in parse_qs(at.query).items()}) == (
            "/studies",
            params,
        ), old
    assert page.get_by_role("link", name="Results", exact=True).count() == 0
