"""The keys of a rater's page work from every control that takes no text, and never while somebody writes.

The controls are found by walking the page: what can have the focus is tried, whatever it is.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled
from helpers.texts.factories import always, dataset, study_in, vote
from playwright.sync_api import Page, expect
from rating_visit import KEYS, NewPage, at_the_first_pair, press
from rating_visit import given as choices_of
from text_visit import given as ratings_of
from text_visit import on_text, rating_study, texts, the_text

from core.formats.tasks import find_task
from core.schema.study import Dimension
from core.store import Store
from core.store.answers import guesses_of
from core.store.raters import update_rater

Read = Callable[[], object]

_FOCUS_ON_UNTRIED = """tried => {
    const MAY = 'a[href], button, input, select, summary, textarea, [tabindex], [contenteditable=true]';
    const TAKES = 'select, textarea, input[type=text], input[type=number], [contenteditable=true]';
    for (const one of document.querySelectorAll(MAY)) {
        if (one.disabled || !one.checkVisibility()) continue;
        const words = one.getAttribute('aria-label') ?? one.closest('label')?.innerText ?? one.innerText ?? '';
        const name = [one.tagName, one.type, one.getAttribute('role'), words.slice(0, 40).replace(/[0-9]/g, '')].join(' ');
        if (tried.includes(name)) continue;
        one.focus();
        one.focus(); // a group of buttons hands a focus from elsewhere to its first one
        if (document.activeElement === one) return [name, one.matches(TAKES)];
    }
}"""
"""Puts the focus on the first control whose name is not among those tried: its name, and whether it takes what is typed."""


def walk(page: Page, ready: Callable[[], object], keys: Callable[[], Mapping[str, Read]]) -> dict[str, bool]:
    """Try keys from every control; returns the controls, and whether each takes what is typed.

    keys: the keys to try, each with what it changes, read before and after it.
    """
    tried: dict[str, bool] = {}
    wrong: list[tuple[str, str]] = []
    while True:
        ready()
        if (found := page.evaluate(_FOCUS_ON_UNTRIED, list(tried))) is None:
            assert wrong == []
            return tried
        name, takes = found
        for key, read in keys().items():
            assert page.evaluate(_FOCUS_ON_UNTRIED, list(tried)) == [name, takes]
            before = read()
            page.keyboard.press(key)
            if takes:
                page.wait_for_timeout(300)
            if takes == changes(page, before, read, seconds=0 if takes else 4):
                wrong.append((name, key))
            settled(page)
        tried[name] = takes


def changes(page: Page, before: object, read: Read, *, seconds: float) -> bool:
    """Whether what is read changes within this time."""
    until = time.monotonic() + seconds
    while read() == before:
        if time.monotonic() > until:
            return False
        page.wait_for_timeout(50)
    return True


def open_all(page: Page) -> None:
    """Open what is folded."""
    folded = page.locator("details:not([open]) > summary")
    while folded.count():
        folded.first.click()
        settled(page)


def mode(page: Page) -> str:
    return page.locator(".st-key-modes").get_by_role("radio", checked=True).inner_text()


def pressed_button(page: Page, among: str) -> int:
    """The number of the answer that is marked as given; 0 for none."""
    kinds = page.locator(f"{among} button").evaluate_all("all => all.map(one => one.dataset.testid)")
    return next((n for n, kind in enumerate(kinds, start=1) if kind.startswith("stBaseButton-primary")), 0)


def assert_among(tried: Mapping[str, bool], *parts: str) -> None:
    """The walk has met these: tags and roles, each with a space behind it."""
    for part in parts:
        assert any(part in f"{name} " for name in tried), (part, list(tried))


def test_keys_work_after_the_tick_and_the_mode(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    open_all(page)
    on_screen(page).get_by_text("Report this pair as broken").click()
    settled(page)
    press(page, 1, "both_bad")
    on_pair(page, 2)
    on_screen(page).get_by_text("left against right", exact=True).click()
    settled(page)
    press(page, 2, "right")
    on_pair(page, 3)
    assert choices_of(app_store, study_id) == {1: "both_bad", 2: "right"}


@pytest.mark.slow
def test_every_control_of_a_pair(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    at_hand = study_in(app_store, dataset(8), raters=("ann",), repeat_share=0)
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9)
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    wanted: dict[int, str] = {}

    def given() -> dict[int, str]:
        answers = choices_of(app_store, at_hand.study_id)
        return {
            number: choice for number, choice in answers.items() if choice
        }  # not those with a comment only

    def ready() -> None:
        on_pair(page, len(given()) + 1)
        open_all(page)

    def keys() -> dict[str, Read]:
        number = len(given()) + 1
        wanted[number] = list(KEYS)[number % 4]
        return {"m": lambda: mode(page), KEYS[wanted[number]]: given}

    tried = walk(page, ready, keys)
    assert_among(tried, "INPUT checkbox", " radio ", "SUMMARY ", "TEXTAREA ", "Back", "Left")
    assert given() == {number: wanted[number] for number in given()}
    assert list(tried.values()).count(True) == 1


@pytest.mark.slow
def test_every_control_of_practice(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    at_hand = study_in(app_store, dataset(3), raters=("ann",))
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")
    page.get_by_role("button", name="Start with three practice pairs").click(timeout=20_000)
    expect(page.get_by_role("heading", name="Practice 1 of 3")).to_be_visible()

    def given() -> int:
        return pressed_button(page, ".st-key-choices")

    def keys() -> dict[str, Read]:
        return {"m": lambda: mode(page), str(given() % 4 + 1 if given() < 5 else 1): given}

    tried = walk(page, lambda: settled(page), keys)
    assert_among(tried, " radio ", "Next practice pair", "Left")
    assert not any(tried.values())


@pytest.mark.slow
def test_every_control_of_a_guess(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    at_hand = study_in(app_store, dataset(20), raters=("ann",), repeat_share=0, blinding_pairs=40)
    update_rater(app_store, at_hand.study_id, "ann", onboarding=9)
    vote(app_store, at_hand.tokens["ann"], always("right")).finish()
    page = new_page()
    page.goto(f"{app.url}/r/{at_hand.tokens['ann']}")

    def given() -> int:
        return len(guesses_of(app_store, at_hand.study_id, "ann"))

    def ready() -> None:
        expect(page.locator(".assay-status", has_text=f"{given() + 1} of ")).to_be_visible(timeout=20_000)
        settled(page)
        page.wait_for_timeout(400)  # sooner it would be taken for a double press

    tried = walk(page, ready, lambda: {"m": lambda: mode(page), str(given() % 3 + 1): given})
    assert_among(tried, " radio ", "TEXTAREA ")
    assert list(tried.values()).count(True) == 1


@pytest.mark.slow
def test_every_control_of_a_text_with_buttons(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    few = Dimension(
        "F", "Fluency", "Does it read well?", 0, 2, anchors=((0, "no"), (1, "partly"), (2, "yes"))
    )
    task = replace(find_task("direct"), dimensions=(few,))
    said = {"First question?": ["An answer.", "Another one."]}
    study_id, link = rating_study(app_store, app.url, texts(said), task)
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    open_all(page)

    def given() -> float | None:
        answer = ratings_of(app_store, study_id).get(1)
        return answer.scores.get("F") if answer else None

    def keys() -> dict[str, Read]:
        return {str(int((given() or 0) + 1) % 3 + 1): given}

    tried = walk(page, lambda: on_text(page, 1), keys)
    assert_among(tried, "INPUT checkbox", "SUMMARY ", "TEXTAREA ", "Save and go on")
    assert list(tried.values()).count(True) == 1


_LISTEN = """() => {
    window.heard = 0;
    const takes = 'input, select, textarea, [contenteditable=true]';
    document.addEventListener('keydown', event => { if (!event.target.closest(takes)) window.heard += 1; });
}"""
"""A key of the page, listened for as Streamlit does; a task with a slider or marked errors has none of its own yet."""


@pytest.mark.slow
def test_every_control_of_a_text_with_slider_and_marker(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    said = {"First question?": ["An answer.", "Another one."]}
    _, link = rating_study(app_store, app.url, texts(said), "mqm-and-direct")
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    open_all(page)
    page.evaluate(_LISTEN)
    tried = walk(page, lambda: settled(page), lambda: {"1": lambda: page.evaluate("window.heard")})
    assert_among(tried, "INPUT range", "INPUT checkbox", "INPUT number", "DIV ", "TEXTAREA ")
    assert list(tried.values()).count(True) == 4  # the source, the text, the number and the comment

    # What is selected is the marker's: its own keys go before those of the page, from all its controls.
    heard = page.evaluate("window.heard")
    the_text(page).press("Home")
    page.keyboard.press("Control+Shift+ArrowRight")
    tools = page.locator(".assay-marker-bar")
    expect(tools.get_by_role("button", name="major")).to_be_enabled()
    tools.get_by_role("checkbox").focus()
    page.keyboard.press("2")
    expect(tools.get_by_role("button", name="major")).to_have_attribute("aria-pressed", "true")
    tools.get_by_role("combobox").select_option("other")
    tools.get_by_role("combobox").focus()
    page.keyboard.press("1")
    expect(tools.get_by_role("button", name="minor")).to_have_attribute("aria-pressed", "true")
    tools.get_by_role("button", name="Mark", exact=True).focus()
    page.keyboard.press("3")
    expect(tools.get_by_role("button", name="critical")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("window.heard") == heard
