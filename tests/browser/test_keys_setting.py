"""A rater changes the keys that answer, or switches them off; in every tab and on every later visit."""

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled
from playwright.sync_api import Page, expect
from rating_visit import NewPage, given, open_study

from core.schema.study import KeyScheme
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import find_rater, update_rater

_NAMES: dict[KeyScheme, str] = {"letters": "Letters", "alt": "Alt with digits", "off": "No keys"}


def choose(page: Page, scheme: KeyScheme) -> None:
    """Choose keys on the page, which stays where it is."""
    setting = page.locator("details", has_text="Keys that answer")
    if setting.get_attribute("open") is None:
        setting.locator("summary").click()
    setting.get_by_text(_NAMES[scheme]).click()
    settled(page)


def answers_nothing(page: Page, store: Store, study_id: int, *keys: str) -> None:
    before = given(store, study_id)
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_timeout(600)
    settled(page)
    assert given(store, study_id) == before


@pytest.mark.slow
def test_other_keys_and_none(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    study_id, link = open_study(app_store, app.url)
    update_rater(app_store, study_id, "ann", onboarding=9)
    page = new_page()
    page.goto(link)
    on_pair(page, 1)
    choose(page, "letters")
    answers_nothing(page, app_store, study_id, "1", "2", "Alt+1")
    page.keyboard.press("s")
    on_pair(page, 2)
    page.keyboard.press("f")
    on_pair(page, 3)
    assert given(app_store, study_id) == {1: "right", 2: "both_bad"}

    choose(page, "alt")
    answers_nothing(page, app_store, study_id, "1", "a", "m")
    page.keyboard.press("Alt+3")
    on_pair(page, 4)
    shown = page.get_by_role("radio", checked=True).first.inner_text()
    page.keyboard.press("Alt+m")
    settled(page)
    assert page.get_by_role("radio", checked=True).first.inner_text() != shown
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    page.get_by_role("textbox").focus()
    answers_nothing(page, app_store, study_id, "Alt+1")  # Option and a digit write a sign on some keyboards
    expect(on_screen(page).get_by_text("Alt with a digit does not answer")).to_be_visible()

    choose(page, "off")
    page.get_by_role("heading", name="Pair 4").focus()
    answers_nothing(page, app_store, study_id, "1", "a", "Alt+1")
    assert page.locator(".st-key-choices kbd").count() == 0
    assert find_rater(app_store, study_id, "ann").key_scheme == "off"
    again = new_page()
    again.goto(link)
    on_pair(again, 4)
    expect(on_screen(again).get_by_text("Keys: off")).to_be_visible()
    answers_nothing(again, app_store, study_id, "1")
    again.locator(".st-key-choices").get_by_role("button", name="Left").press("Enter")
    on_pair(again, 5)
    assert given(app_store, study_id)[4] == "left"
    assert all(one.seconds_visible for one in answers_of(app_store, study_id)), "known for every key"
