"""A finger stays on the mouse for a tenth of a second: whatever the page does meanwhile, what was pressed is pressed."""

import pytest
from helpers.processes.app_server import AppServer, on_screen, settled
from playwright.sync_api import Locator, Page, expect
from rating_visit import at_the_first_pair
from text_visit import NewPage, given, on_text, rating_study, texts

from core.store import Store
from core.store.answers import answers_of

HELD_MS = 150
"""Longer than the server takes to save what was typed before and to draw the page anew."""
OPENED = """async () => {
  const details = document.querySelector('details');
  const heights = [];
  for (let times = 0; times < 2; times += 1) {
    details.querySelector('summary').click();
    for (let frame = 0; frame < 4; frame += 1) await new Promise(requestAnimationFrame);
    heights.push(details.getBoundingClientRect().height);
    await new Promise(resolve => setTimeout(resolve, 1000));
    heights.push(details.getBoundingClientRect().height);
  }
  return heights;
}"""
"""Heights of the note: as it opens, open, as it closes, closed."""


def press_and_hold(page: Page, what: Locator) -> None:
    """As a hand does, without a look at what the page does meanwhile."""
    what.scroll_into_view_if_needed()
    box = what.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.wait_for_timeout(HELD_MS)
    page.mouse.up()


@pytest.mark.slow
def test_a_note_opens_and_closes_at_once(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    """What moves while it is pressed is not pressed."""
    _, link = rating_study(app_store, app.url, texts({"Why?": ["Because."]}))
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    opening, opened, closing, closed = page.evaluate(OPENED)
    assert opening == opened
    assert closing == closed
    assert opened > closed + 100


def test_a_button_pressed_right_after_a_comment_and_a_flag(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    """They are saved and said to be saved while the button is down."""
    study_id, link = rating_study(app_store, app.url, texts({"Why?": ["Because.", "So."]}))
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    on_screen(page).get_by_text("Comment, or report a broken text").click()
    page.get_by_label("Comment (optional)").fill("words")
    press_and_hold(page, page.get_by_role("button", name="Save and go on"))
    expect(on_screen(page).get_by_text("Still missing")).to_be_visible()
    on_screen(page).get_by_text("Report this text as broken").click()
    press_and_hold(page, page.get_by_role("button", name="Save and go on"))
    on_text(page, 2)
    first = given(app_store, study_id)[1]
    assert (first.comment, first.invalid, first.done) == ("words", True, True)


@pytest.mark.slow
def test_a_way_on_pressed_right_after_a_comment_on_a_pair(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    page.get_by_label("Comment (optional)").fill("words")
    press_and_hold(page, page.get_by_role("button", name="Next"))
    expect(page.get_by_role("heading", name="Pair 2 of ")).to_be_visible()
    settled(page)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.comment, answer.choice) == ("words", None)
