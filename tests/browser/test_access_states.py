"""What a rater may need and do to a page: 400 % zoom, a system's own colours, wider spacing of texts, no motion; in each way to show texts."""

from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.processes.app_server import AppServer, on_pair, settled
from helpers.texts.factories import dataset
from playwright.sync_api import Browser, Page, expect
from rating_visit import open_study

from core.schema.rendering import Rendering
from core.schema.study import Design
from core.store import Store
from core.store.raters import update_rater
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters

ZOOMED = (320, 256)
"""A window of 1280 by 1024 at 400 %."""
_TEXTS = {
    "plain": "One line.\nAnother line with 12 numbers.",
    "markdown": "## A heading\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | a rather long cell that needs its room |\n\n`code`",
    "code": "def total(numbers):\n    return sum(number for number in numbers if number > 100)  # a comment that is long",
    "latex": "The sum is $\\frac{a+b}{2}$ and\n\n$$x^2 + y^2 = z^2$$",
}
_SPACED = """* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; }
p { margin-bottom: 2em !important; }"""
"""WCAG 2.2, success criterion 1.4.12."""
_CUT = """() => [...document.querySelectorAll('[data-testid=stMain] :is(button, summary, label, .assay-head, .assay-status, p)')]
    .filter(one => one.checkVisibility() && !one.closest('.assay-unseen, [inert]'))
    .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible' && one.clientWidth > 1)
    .map(one => one.outerHTML.slice(0, 120))"""
_SMALL = """() => [...document.querySelectorAll('[data-testid=stMain] :is(a[href], button, summary, select, textarea, label:has(input))')]
    .filter(one => one.checkVisibility() && !one.closest('[inert]'))
    .map(one => [one.getBoundingClientRect(), one.outerHTML.slice(0, 120)])
    .filter(([box]) => box.width < 24 || box.height < 24).map(([box, html]) => `${box.width} x ${box.height}: ${html}`)"""
_MOVING = "() => document.getAnimations().filter(one => one.effect.getComputedTiming().duration > 50).length"


def problems(page: Page) -> list[str]:
    """What axe finds, what is too small to be hit, and how far the page is wider than its window."""
    settled(page)
    page.wait_for_timeout(300)
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = Axe().run(page, options={"runOnly": tags}).response["violations"]
    wide = page.evaluate(
        "document.querySelector('[data-testid=stMain]').scrollWidth - document.documentElement.clientWidth"
    )
    return [
        *(f"{one['id']}: {[node['html'][:160] for node in one['nodes']]}" for one in found),
        *page.evaluate(_SMALL),
        *([f"{wide} pixels too wide"] if wide > 0 else []),
    ]


def open_all(page: Page) -> None:
    folded = page.locator("details:not([open]) > summary")
    while folded.count():
        folded.first.click()
        settled(page)


@pytest.mark.slow
@pytest.mark.parametrize("rendering", list(_TEXTS))
def test_a_pair_in_each_way_to_show_it(
    app: AppServer, app_store: Store, browser: Browser, rendering: Rendering
) -> None:
    data = dataset(1)
    outputs = [replace(one, text=f"{_TEXTS[rendering]}\n\n{one.text}") for one in data.outputs]
    data = replace(data, outputs=tuple(outputs))
    design = Design(
        candidate=data.sources[0], comparator=data.sources[1], repeat_share=0, rendering=rendering
    )
    study = import_study(app_store, "access", data, design)
    (link,) = add_raters(app_store, study, ["ann"])
    move(app_store, study, "open")
    update_rater(app_store, study.study_id, "ann", onboarding=9, diff_mode="left_right")
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    try:
        page.goto(link.url(app.url))
        on_pair(page, 1)
        found = {"wide": problems(page)}
        page.keyboard.press("2")
        on_pair(page, 2)
        page.get_by_role("button", name="Back").click()
        on_pair(page, 1)
        open_all(page)
        page.set_viewport_size({"width": ZOOMED[0], "height": ZOOMED[1]})
        found["zoomed, answered, all open"] = problems(page)
        assert (
            page.evaluate(
                "getComputedStyle(document.querySelector('.st-key-choices').parentElement).position"
            )
            == "static"
        )
        assert page.evaluate(_MOVING) == 0
        page.add_style_tag(content=_SPACED)
        found["spaced"] = [*problems(page), *page.evaluate(_CUT)]
        page.emulate_media(color_scheme="dark")
        found["dark"] = problems(page)
        assert {state: list_ for state, list_ in found.items() if list_} == {}
    finally:
        page.context.close()


_LINES = """one => { const drawn = getComputedStyle(one);
    return `${drawn.borderTopStyle} ${drawn.borderTopWidth} ${drawn.outlineStyle} ${drawn.outlineWidth}`; }"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_colours_say_is_said_without_them(
    app: AppServer, app_store: Store, browser: Browser, scheme: str
) -> None:
    study_id, link = open_study(app_store, app.url)
    update_rater(app_store, study_id, "ann", onboarding=9)
    page = browser.new_page(
        viewport={"width": 1280, "height": 900}, forced_colors="active", color_scheme=scheme
    )  # type: ignore[arg-type]
    try:
        page.goto(link)
        on_pair(page, 1)
        page.keyboard.press("2")
        on_pair(page, 2)
        page.get_by_role("button", name="Back").click()
        on_pair(page, 1)
        expect(page.locator(".assay-status").first).to_contain_text("Your answer here: Right")
        buttons = page.locator(".st-key-choices button")
        looks = [button.evaluate(_LINES) for button in buttons.all()]
        assert [looks.count(look) for look in looks] == [3, 1, 3, 3], "the chosen one looks different"
        modes = [one.evaluate(_LINES) for one in page.get_by_role("radio").all() if one.is_visible()]
        assert sorted(modes.count(mode) for mode in modes)[0] == 1
        assert "none" not in page.locator(".assay-level").evaluate(_LINES).split()[0]
        open_all(page)
        assert problems(page) == []
    finally:
        page.context.close()
