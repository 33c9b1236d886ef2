"""A whole study without a mouse: only Tab, Enter, the space bar, arrows and the page's keys."""

import pytest
from helpers.processes.app_server import AppServer, on_screen, settled
from helpers.texts.factories import dataset, study_in
from keyboard import arrived, focus, press_button, tab_to
from playwright.sync_api import Page, expect
from rating_visit import NewPage, given
from text_visit import given as ratings_of
from text_visit import rating_study, texts

from core.store import Store
from core.store.answers import answers_of, guesses_of
from core.study.lifecycle import set_wording


def checked(page: Page) -> str:
    return page.get_by_role("radiogroup").first.get_by_role("radio", checked=True).inner_text()


@pytest.mark.slow
def test_pairs(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    at_hand = study_in(app_store, dataset(2), raters=("ann",), repeat_share=0, blinding_pairs=4)
    set_wording(app_store, at_hand.study, "en", {"consent": "Your answers are kept."})
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    expect(page.get_by_role("button", name="I agree")).to_be_visible(timeout=20_000)
    settled(page)
    assert focus(page)[0] == "BODY", "a page that has just been opened starts at its beginning"
    press_button(page, "I agree")
    arrived(page, "How to compare")
    press_button(page, "Start with three practice pairs", "Space")
    for number in (1, 2, 3):
        arrived(page, f"Practice {number} of 3")
        page.keyboard.press("3")
        press_button(page, "Start the study" if number == 3 else "Next practice pair")

    # A mode by its key and by arrows, a comment with digits in it, a tick, and a key from the tick.
    arrived(page, "Pair 1 of 10")
    before = checked(page)
    page.keyboard.press("m")
    settled(page)
    assert checked(page) != before
    tab_to(page, "numbers and names")
    while focus(page)[1] != "left against right":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    settled(page)
    press_button(page, "Comment, or report")
    tab_to(page, "Comment (optional)")
    expect(on_screen(page).get_by_text("single keys do not answer")).to_be_visible()
    page.keyboard.type("2 of 3 are wrong")
    tab_to(page, "Report this pair")
    page.keyboard.press("Space")
    settled(page)
    assert given(app_store, at_hand.study_id).get(1) is None, "what is written answers nothing"
    page.keyboard.press("2")

    arrived(page, "Pair 2 of 10")
    assert checked(page) == "left against right"
    press_button(page, "Left")
    arrived(page, "Pair 3 of 10")
    press_button(page, "Skip, ask me later")
    arrived(page, "Pair 4 of 10")

    # Back through the overview, to change an answer.
    press_button(page, "Overview and finish")
    arrived(page, "Your pairs")
    press_button(page, "1")
    arrived(page, "Pair 1 of 10")
    expect(page.locator(".assay-status").first).to_contain_text("Your answer here: Right")
    page.keyboard.press("4")
    arrived(page, "Pair 2 of 10")
    press_button(page, "Overview and finish")
    arrived(page, "Your pairs")
    press_button(page, "Go to the next open pair")
    for number in (*range(4, 11), 3):
        arrived(page, f"Pair {number} of 10")
        page.keyboard.press("3")
    arrived(page, "All pairs are answered")
    press_button(page, "Lock my answers")
    for number in range(1, 5):
        arrived(page, "One last question")
        expect(page.locator(".assay-status", has_text=f"{number} of 4: ")).to_be_visible()
        page.keyboard.press("3")
    arrived(page, "Done. Thank you!")

    both_good = dict.fromkeys(range(3, 11), "both_good")
    assert given(app_store, at_hand.study_id) == {1: "both_bad", 2: "left", **both_good}
    noted = [(one.comment, one.invalid) for one in answers_of(app_store, at_hand.study_id) if one.comment]
    assert noted == [("2 of 3 are wrong", True)]
    assert [one.guess for one in guesses_of(app_store, at_hand.study_id, "ann")] == ["unsure"] * 4


@pytest.mark.slow
def test_texts_with_marks_and_a_slider(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    said = {"First question?": ["A wrong answer.", "Another one."]}
    study_id, link = rating_study(app_store, app.url, texts(said), "mqm-and-direct", onboarded=False)
    page = new_page()
    page.goto(link)
    expect(page.get_by_role("button", name="Start")).to_be_visible(timeout=20_000)
    settled(page)
    press_button(page, "Start")
    for number in (1, 2):
        arrived(page, f"Text {number} of 2")
        if number == 1:
            tab_to(page, "Text: select words")
            page.keyboard.press("Home")
            page.keyboard.press("Control+Shift+ArrowRight")
            page.keyboard.press("2")
            page.keyboard.type("oth")
            page.keyboard.press("Enter")
            settled(page)
        else:
            tab_to(page, "No errors")
            page.keyboard.press("Space")
            settled(page)
        tab_to(page, "", "Tab")
        while page.evaluate("document.activeElement.type") != "range":
            tab_to(page, "")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        settled(page)
        press_button(page, "Save and go on")
    arrived(page, "All texts are answered")
    answers = ratings_of(app_store, study_id)
    assert [len(answers[number].spans) for number in (1, 2)] == [1, 0]
    assert all(answers[number].scores for number in (1, 2))
