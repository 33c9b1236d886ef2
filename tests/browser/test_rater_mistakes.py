"""What a hurried rater gets wrong: half a mark, a press far below, long answers, another study's guidelines."""

import re

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_screen, settled, violations
from playwright.sync_api import Page, expect
from rating_visit import open_study
from text_visit import NewPage, given, on_text, rating_study, saved, texts, the_text

from core.formats.tasks import find_task
from core.store import Store

pytestmark = pytest.mark.slow
LONG = " ".join(f"Sentence {n} of a text that goes on and on." for n in range(90))


def select_first_word(page: Page) -> None:
    the_text(page).click(position={"x": 60, "y": 20})
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+Control+ArrowRight")


def go_on(page: Page) -> None:
    page.get_by_role("button", name="Save and go on").click()


def test_half_a_mark_is_not_lost_without_a_word(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    study_id, link = rating_study(app_store, app.url, texts({"Why?": [LONG, "Short."]}))
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    while "Sentence" not in the_text(page).inner_text():
        page.get_by_role("button", name="Next").click()
        on_text(page, 2)
    number = 1 if on_screen(page).get_by_text("Text 1 of 2 for this source").count() else 2
    select_first_word(page)
    for button in ("major", "Mark"):
        expect(
            page.get_by_role("button", name=button)
        ).to_be_in_viewport()  # the text is longer than the window
    page.keyboard.press("2")
    go_on(page)
    expect(page.locator(".assay-marker-what")).to_contain_text(
        "Not marked yet. Choose a category for: Sentence"
    )
    expect(page.get_by_role("combobox", name="Category of the error")).to_be_focused()
    expect(page.get_by_role("combobox", name="Category of the error")).to_be_in_viewport()
    assert not violations(page)
    page.get_by_role("combobox", name="Category of the error").select_option("accuracy/omission")
    page.keyboard.press("Enter")
    saved(page)
    assert [(one.start, one.end, one.severity) for one in given(app_store, study_id)[number].spans] == [
        (0, 8, "major")
    ]
    select_first_word(page)
    page.keyboard.press("1")
    go_on(page)
    expect(page.locator(".assay-marker-what")).to_contain_text("Not marked yet.")
    go_on(page)  # pressed once more: it is meant
    on_text(page, 3 - number)


def test_what_is_missing_is_said_where_the_press_was(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    task = find_task("multilingual")
    _, link = rating_study(app_store, app.url, texts({"Why?": ["Because.", "So."]}), task)
    page = new_page()
    page.set_viewport_size({"width": 390, "height": 700})
    page.goto(link)
    on_text(page, 1)
    for dimension in task.dimensions:
        for _, words in dimension.anchors:
            label = page.get_by_role("button", name=words).locator("p")
            cut = label.evaluate(
                "one => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1"
            )
            assert not cut, f"{words} is cut off"
    page.get_by_role("button", name=task.dimensions[0].anchors[0][1]).click()
    settled(page)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    go_on(page)
    told = page.get_by_role("alert")
    expect(told).to_be_in_viewport()
    expect(told).to_contain_text("Still missing")
    expect(told).not_to_contain_text("Not saved")  # what was said is kept
    assert not violations(page)


def test_guidelines_on_the_screen_are_those_of_the_study(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    rating_study(app_store, app.url, texts({"Why?": ["Because.", "So."]}))
    open_study(app_store, app.url)
    page = new_page()
    sign_in(page, app_store, app.url)
    for study, heading in ((2, "# How to compare two answers"), (1, "# How to rate a text")):
        page.goto(f"{app.url}/studies?study={study}&tab=design&part=what-raters-read")
        box = page.locator("textarea[aria-label^='Guidelines (Markdown)']")
        expect(box).to_have_value(re.compile(f"^{heading}"), timeout=20_000)
