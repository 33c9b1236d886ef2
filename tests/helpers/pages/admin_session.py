"""A browser that is signed in as the admin, without the form (tests/browser/test_sign_in.py goes through that)."""

import secrets

from playwright.sync_api import Page

from core.store import Store
from core.store.raters import insert_session
from pages.widgets.visitor import cookie_name


def admin_cookie(store: Store) -> dict[str, str]:
    """Name -> value of a cookie that the app takes for the admin's."""
    token = secrets.token_urlsafe(32)
    insert_session(store, token, 3600)
    return {cookie_name(store, "admin"): token}


def sign_in(page: Page, store: Store, url: str) -> None:
    """Give the page's browser the admin's cookie."""
    page.context.add_cookies(
        [{"name": name, "value": value, "url": url} for name, value in admin_cookie(store).items()]
    )
