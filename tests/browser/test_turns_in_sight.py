"""A conversation before a question in a real browser: three turns in sight, the early ones folded, pair by pair."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled, violations
from helpers.texts.conversations import conversations
from helpers.texts.factories import StudyAtHand, dataset, study_in
from helpers.texts.rating_studies import SPANS, TASK, rating_study, rating_texts
from playwright.sync_api import Page, expect

from core.schema.scores import Turn
from core.schema.study import NO_LEVEL, Dataset
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import update_rater

NewPage = Callable[[], Page]
SUMMARY = "Earlier turns: 4"


def same_conversation(n_items: int) -> Dataset:
    """Plain pairs that differ only in their answers, as an arena has them."""
    data = conversations(dataset(n_items, (NO_LEVEL,)))
    first = data.items[0]
    return replace(data, items=tuple(replace(first, item_id=item.item_id) for item in data.items))


def on_first_pair(app: AppServer, store: Store, page: Page, data: Dataset) -> StudyAtHand:
    at_hand = study_in(store, data, raters=("ann",), repeat_share=0, blinding_pairs=2)
    update_rater(store, at_hand.study_id, "ann", onboarding=9)
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    on_pair(page, 1)
    return at_hand


def turns_in_sight(page: Page) -> list[str]:
    turns = page.locator(".assay-turn .assay-text").all()
    return [turn.inner_text() for turn in turns if turn.is_visible()]


def unfold(page: Page) -> None:
    """By keyboard, as a rater does who uses nothing else."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            page.keyboard.press("Enter")
            return
    raise AssertionError("the early turns cannot be reached by keyboard")


def test_early_turns_open_by_keyboard_and_are_folded_on_the_next_pair(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    page = new_page()
    at_hand = on_first_pair(app, app_store, page, same_conversation(4))
    late = ["Turn 5 of question q00.", "Turn 6 of question q00."]
    early = [f"Turn {number} of question q00." for number in range(1, 5)]
    expect(on_screen(page).get_by_text("Question q00?")).to_be_visible()
    expect(on_screen(page).get_by_text(SUMMARY)).to_be_visible()
    assert turns_in_sight(page) == late
    unfold(page)
    assert turns_in_sight(page) == [*early, *late]
    assert violations(page) == []
    page.keyboard.press("m")  # what is read again is the same pair: it stays as the rater has it
    settled(page)
    assert turns_in_sight(page) == [*early, *late]
    page.wait_for_timeout(400)
    page.keyboard.press("2")  # while the line that unfolds has the focus
    on_pair(page, 2)
    expect(on_screen(page).get_by_text(SUMMARY)).to_be_visible()
    assert turns_in_sight(page) == late, "the same conversation, but another pair"
    on_screen(page).get_by_text(SUMMARY).click()
    page.wait_for_timeout(400)
    page.keyboard.press("1")
    on_pair(page, 3)
    assert turns_in_sight(page) == late
    answers = answers_of(app_store, at_hand.study_id)
    assert {answer.choice for answer in answers} == {"left", "right"}
    for answer in answers:
        assert answer.seconds is not None
        assert answer.seconds_visible is not None, "a press after reading the early turns has its time too"
        assert 0 < answer.seconds_visible <= answer.seconds + 2


@pytest.mark.slow
def test_turns_of_a_guess(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    page = new_page()
    on_first_pair(app, app_store, page, same_conversation(2))
    for number in (1, 2):
        on_pair(page, number)
        page.keyboard.press("1")
    page.get_by_role("button", name="Lock my answers").click()
    expect(on_screen(page).get_by_text("1 of 2: ")).to_be_visible()
    settled(page)
    on_screen(page).get_by_text(SUMMARY).click()
    assert len(turns_in_sight(page)) == 6
    page.wait_for_timeout(400)
    page.keyboard.press("3")
    expect(on_screen(page).get_by_text("2 of 2: ")).to_be_visible()
    settled(page)
    assert len(turns_in_sight(page)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("spans", [None, SPANS], ids=["scales", "marked errors"])
def test_turns_of_a_rated_text(app: AppServer, app_store: Store, new_page: NewPage, spans: object) -> None:
    page = new_page()
    item = conversations(dataset(1)).items[0]
    turns = (*item.turns[:-1], Turn("user", "Source 0."))
    at_hand = rating_study(
        app_store, rating_texts(1, turns=turns), replace(TASK, spans=spans), raters=("ann",)
    )
    at_hand.desk("ann").finish_step(1)
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    expect(on_screen(page).get_by_text(SUMMARY)).to_be_visible(timeout=20_000)
    settled(page)
    unfold(page)
    assert len(turns_in_sight(page)) == 6
    page.get_by_role("button", name="2", exact=True).first.click()  # the next text of the same source
    expect(on_screen(page).get_by_text("Text 2 of 3", exact=True)).to_be_visible()
    settled(page)
    assert len(turns_in_sight(page)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_a_conversation_never_widens_the_screen(
    app: AppServer, app_store: Store, new_page: NewPage, width: int
) -> None:
    data = conversations(dataset(2, (NO_LEVEL,)), 500)
    long = (Turn("system", "x" * 3_000), Turn("tool", "| a | b |\n|---|---|\n" * 200))
    data = replace(data, items=tuple(replace(one, turns=(*long, *one.turns)) for one in data.items))
    page = new_page()
    page.set_viewport_size({"width": width, "height": 844})
    on_first_pair(app, app_store, page, data)
    on_screen(page).get_by_text("Earlier turns: 499").click()
    expect(on_screen(page).get_by_text("Instruction to the assistant")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert violations(page) == []
