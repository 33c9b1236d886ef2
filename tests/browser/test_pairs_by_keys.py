"""The tab Pairs in a browser: j and k, a press on a row, a reload that shows the same, a phone, and texts that stay text."""

from collections.abc import Callable

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_screen, settled
from helpers.texts.factories import StudyAtHand, dataset, study_in
from playwright.sync_api import Page, expect

from core.results.study.pair_list import PairFilter, pair_list, pairs_shown
from core.schema.study import PREFERENCES
from core.store import Store
from core.study.raters import import_votes

HOSTILE = "<img src=http://outside.invalid/a.png> ![i](http://outside.invalid/b.png) $x^2$ **bold**"
LAPTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def voted(store: Store) -> StudyAtHand:
    data = dataset(4)
    study = study_in(store, data, raters=())
    pairs = [(item.item_id, level) for item in data.items for level in data.levels]
    for shift, rater in enumerate((HOSTILE[:60], "R2")):
        votes = {pair: PREFERENCES[(n * (shift + 1) + shift) % 4] for n, pair in enumerate(pairs)}
        import_votes(store, study.study, rater, votes)
    return study


def opened(app: AppServer, store: Store, page: Page, rest: str = "") -> Page:
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/studies?study=1&tab=pairs{rest}")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible(timeout=30_000)
    settled(page)
    return page


def pair_of(page: Page) -> str:
    settled(page)
    return page.url.partition("pair=")[2].partition("&")[0]


@pytest.fixture
def places(app_store: Store) -> list[str]:
    """The numbers of the pairs on which raters disagree."""
    found = pair_list(voted(app_store).record)
    return [str(at + 1) for at in pairs_shown(found, PairFilter(disagree=True)).tolist()]


def test_keys_rows_and_a_reload(
    app: AppServer, app_store: Store, new_page: Callable[[], Page], places: list[str]
) -> None:
    outside: list[str] = []
    page = new_page()
    page.on("request", lambda request: outside.append(request.url) if "outside" in request.url else None)
    opened(app, app_store, page)
    page.get_by_role("button", name="raters disagree").click()
    expect(on_screen(page).get_by_text(f"1 of {len(places)}", exact=True)).to_be_visible()
    assert pair_of(page) == places[0]
    for key, at in (("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        expect(on_screen(page).get_by_text(f"{at + 1} of {len(places)}", exact=True)).to_be_visible()
        assert pair_of(page) == places[at]
    box = page.get_by_test_id("stDataFrame").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 200, box["y"] + 35 * 4 + 15)
    expect(on_screen(page).get_by_text(f"4 of {len(places)}", exact=True)).to_be_visible()
    page.keyboard.press("j")
    expect(on_screen(page).get_by_text(f"5 of {len(places)}", exact=True)).to_be_visible()
    cards = page.locator(".assay-pair").inner_text()
    link = page.url
    page.reload()
    expect(on_screen(page).get_by_text(f"5 of {len(places)}", exact=True)).to_be_visible()
    assert page.locator(".assay-pair").inner_text() == cards
    other = new_page()
    sign_in(other, app_store, app.url)
    other.goto(link)
    expect(on_screen(other).get_by_text(f"5 of {len(places)}", exact=True)).to_be_visible()
    assert not outside


def test_a_phone_shows_one_text_below_the_other(
    app: AppServer, app_store: Store, new_page: Callable[[], Page], places: list[str]
) -> None:
    page = new_page()
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    opened(app, app_store, page, f"&show=disagree&pair={places[1]}")
    left, right = (card.bounding_box() for card in page.locator(".assay-pair > .assay-card").all())
    assert left is not None
    assert right is not None
    assert right["y"] >= left["y"] + left["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size(LAPTOP)  # type: ignore[arg-type]
    page.wait_for_function(
        "() => new Set([...document.querySelectorAll('.assay-pair > .assay-card')]"
        ".map(one => one.getBoundingClientRect().top)).size === 1"
    )
