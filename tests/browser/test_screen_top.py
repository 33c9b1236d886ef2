"""Each new screen of a rater starts at its top: level and question are in sight before a button can be pressed."""

from dataclasses import replace

import pytest
from helpers.processes.app_server import AppServer, on_pair, settled
from helpers.texts.factories import dataset
from playwright.sync_api import Browser, Page, expect
from rating_visit import KEYS, LABELS, given
from text_visit import on_text, rating_study, texts

from core.schema.study import Dataset, Design
from core.store import Store
from core.store.raters import update_rater
from core.study.guidelines import practice_pairs
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters

PHONE, LAPTOP = (390, 844), (1280, 720)
_WATCH = """(() => {
    window.openings = [];
    let before = '';
    const look = () => {
        const bar = document.querySelector('.st-key-choices');
        const keys = [...(bar?.querySelectorAll('[class*="st-key-"]') ?? [])].map(one => one.className).join();
        if (keys && keys !== before) {
            const [level, question] = ['.assay-level', '.assay-question, .assay-marker-text'].map(
                one => document.querySelector(one)?.getBoundingClientRect());
            if (!question) return requestAnimationFrame(look);  // the first screen of a visit, as it loads
            before = keys;
            window.openings.push({
                level: level && [level.top, level.bottom], question: [question.top, question.bottom],
                buttons: bar.getBoundingClientRect().top,
            });
        }
        requestAnimationFrame(look);
    };
    look();
})()"""
"""Where level, question and buttons stand in the first frame in which the buttons of a screen are drawn."""


def long_texts(n_items: int) -> Dataset:
    """Questions, references and answers that fill more than a screen."""
    data = dataset(n_items)
    items = [
        replace(one, question=f"{one.question} {'Why, how and since when? ' * 20}", reference="Long. " * 300)
        for one in data.items
    ]
    outputs = [replace(one, text=one.text + " And so it goes on." * 150) for one in data.outputs]
    return replace(data, items=tuple(items), outputs=tuple(outputs))


def link_to(app: AppServer, store: Store, *, onboarded: bool) -> tuple[int, str]:
    data = long_texts(4)
    design = Design(candidate=data.sources[0], comparator=data.sources[1], seed=7, repeat_share=0)
    study = import_study(store, "long texts", data, design)
    (link,) = add_raters(store, study, ["ann"])
    move(store, study, "open")
    if onboarded:
        update_rater(store, study.study_id, "ann", onboarding=9)
    return study.study_id, link.url(app.url)


def visit(browser: Browser, size: tuple[int, int], link: str) -> Page:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=True)
    page = context.new_page()
    page.add_init_script(_WATCH)
    page.goto(link)
    return page


def read_to_the_end(page: Page) -> None:
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)")


def opened_at_its_top(page: Page) -> None:
    """The newest screen of pairs or texts, in its first frame."""
    opening = page.evaluate("window.openings.at(-1)")
    for what in ("level", "question") if opening["level"] else ("question",):
        top, bottom = opening[what]
        assert 0 <= top < bottom <= opening["buttons"], (what, opening)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "by"),
    [
        (PHONE, "tap"),
        (LAPTOP, "key"),
    ],
)
def test_twenty_pairs_in_a_row(
    app: AppServer, app_store: Store, browser: Browser, size: tuple[int, int], by: str
) -> None:
    study_id, link = link_to(app, app_store, onboarded=True)
    page = visit(browser, size, link)
    choices = [choice for _ in range(5) for choice in KEYS]
    for number, choice in enumerate(choices, start=1):
        on_pair(page, number)
        opened_at_its_top(page)
        read_to_the_end(page)
        if by == "key":
            page.keyboard.press(KEYS[choice])
        else:
            page.locator(".st-key-choices").get_by_role("button", name=LABELS[choice]).tap()
    expect(page.get_by_role("heading", name="All pairs are answered")).to_be_visible()
    assert given(app_store, study_id) == dict(enumerate(choices, start=1))
    page.context.close()


def test_practice_and_the_ways_back_and_on(app: AppServer, app_store: Store, browser: Browser) -> None:
    _, link = link_to(app, app_store, onboarded=False)
    page = visit(browser, PHONE, link)
    page.get_by_role("button", name="Start with three practice pairs").tap()
    for number in range(1, len(practice_pairs()) + 1):
        expect(page.get_by_role("heading", name=f"Practice {number} of ")).to_be_visible()
        settled(page)
        opened_at_its_top(page)
        page.keyboard.press("3")
        on = page.get_by_role("button", name="Next practice pair").or_(
            page.get_by_role("button", name="Start the study")
        )
        expect(on).to_be_in_viewport(ratio=1)
        settled(page)
        on.tap()
    for name, number in (("Next", 2), ("Next", 3), ("Back", 2), ("Skip, ask me later", 3)):
        read_to_the_end(page)
        page.get_by_role("button", name=name, exact=True).tap()
        on_pair(page, number)
        opened_at_its_top(page)
    assert page.locator(".assay-side").all_inner_texts() == ["Left", "Right"]
    page.context.close()


@pytest.mark.slow
def test_text_after_text(app: AppServer, app_store: Store, browser: Browser) -> None:
    said = {f"Question {n}? {'And why? ' * 20}": ["Because. " * 300] for n in range(3)}
    _, link = rating_study(app_store, app.url, texts(said), "mqm")
    page = visit(browser, PHONE, link)
    for number in (1, 2, 3):
        on_text(page, number)
        opened_at_its_top(page)
        read_to_the_end(page)
        page.get_by_role("button", name="Next", exact=True).tap() if number < 3 else None
    page.get_by_role("button", name="Back", exact=True).tap()
    on_text(page, 2)
    opened_at_its_top(page)
    page.context.close()
