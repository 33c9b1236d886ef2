"""The admin's way in, from the first start on, in a real browser."""

from collections.abc import Callable

import pytest
from helpers.processes.app_server import AppServer, on_screen, open_page, settled
from playwright.sync_api import Page, expect

from core.access import is_admin, make_link
from core.store import Store
from core.store.raters import events

PASSPHRASE = "correct horse battery staple"


def kinds(store: Store) -> list[str]:
    return [event.kind for event in events(store)]


@pytest.mark.slow
def test_from_the_one_time_link_to_a_passphrase_and_back(
    app: AppServer, app_store: Store, new_page: Callable[[], Page]
) -> None:
    link = f"{app.url}/admin/{make_link(app_store)}"
    page = new_page()
    page.goto(link)
    page.goto(link)  # reading it changes nothing: a mail program may have opened it before
    page.get_by_label("Passphrase", exact=True).fill("short")
    page.get_by_label("Repeat the passphrase").fill("shorter")
    page.get_by_role("button", name="Save and sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("fewer than 12 characters")
    expect(page.get_by_role("alert")).to_contain_text("the two entries differ")
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_label("Repeat the passphrase").fill(PASSPHRASE)
    page.get_by_role("button", name="Save and sign in").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible(timeout=20_000)
    assert page.url == f"{app.url}/"
    assert page.evaluate("document.cookie").count("assay") == 0
    (cookie,) = [c for c in page.context.cookies() if c["name"].startswith("assay_admin")]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert is_admin(app_store, cookie["value"])

    settled(page)
    open_page(page, "Studies")
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    settled(page)
    page.reload()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible(timeout=20_000)
    app.stop()
    app.start()
    page.goto(f"{app.url}/operation")  # the session outlives a restart
    page.get_by_role("tab", name="Sign-ins").click(timeout=20_000)
    expect(on_screen(page).get_by_text("passphrase chosen")).to_be_visible(timeout=20_000)

    again = new_page()
    again.goto(link)
    expect(again.get_by_role("heading", name="This link no longer works")).to_be_visible()

    page.goto(f"{app.url}/sign-out")
    page.get_by_role("button", name="Sign out").click()
    expect(on_screen(page).get_by_text("Open the personal link you were sent.")).to_be_visible(timeout=20_000)
    assert not is_admin(app_store, cookie["value"])
    page.goto(f"{app.url}/sign-in")
    page.get_by_label("Passphrase", exact=True).fill("not the passphrase")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("Wrong passphrase.")
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible(timeout=20_000)
    assert {"admin signed in", "wrong passphrase", "passphrase chosen", "unknown admin link"} <= set(
        kinds(app_store)
    )


@pytest.mark.slow
def test_a_link_to_a_view_of_a_study_leads_through_the_sign_in_back_to_it(
    app: AppServer, app_store: Store, new_page: Callable[[], Page]
) -> None:
    from helpers.pages.old_addresses import scored_study

    from core.access import choose_passphrase

    scored_study(app_store)
    choose_passphrase(app_store, make_link(app_store), PASSPHRASE, PASSPHRASE)
    view = f"{app.url}/studies?study=1&tab=judges&judges=trust&judge=file-1&use=monitor"
    page = new_page()
    page.goto(view)
    way = page.get_by_role("link", name="Sign in").get_attribute("href", timeout=20_000)
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert len(page.context.pages) == 1, "the link stays in this tab"
    page.goto(f"{app.url}/{way}")
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="june")).to_be_visible(timeout=20_000)
    settled(page)
    assert page.url == view
    expect(page.get_by_role("tab", name="Judges")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("radio", name="Monitor a mean")).to_be_checked()
    page.reload()
    expect(page.get_by_role("radio", name="Monitor a mean")).to_be_checked(timeout=20_000)
    settled(page)
    assert page.url == view


@pytest.mark.slow
def test_a_backup_by_button_restores(app: AppServer, app_store: Store, new_page: Callable[[], Page]) -> None:
    from pathlib import Path

    from helpers.pages.admin_session import sign_in
    from helpers.texts.factories import study_in

    from core.store import open_store
    from core.store.backup import restore_backup
    from core.store.studies import list_studies

    study_in(app_store, name="kept")
    page = new_page()
    sign_in(page, app_store, app.url)
    page.goto(f"{app.url}/operation")
    page.get_by_role("tab", name="Backup").click(timeout=20_000)
    with page.expect_download(timeout=30_000) as download:
        page.get_by_role("button", name="Backup", exact=True).click(timeout=20_000)
    other = app_store.path.with_name("restored.db")
    restore_backup(Path(download.value.path()).read_bytes(), other)
    with open_store(other) as restored:
        assert [study.name for study in list_studies(restored)] == ["kept"]
    assert "backup made" in kinds(app_store)
