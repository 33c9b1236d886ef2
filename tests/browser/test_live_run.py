"""A page that follows a run: new scores move what is on the screen, and nothing blinks, jumps or is lost."""

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_screen, open_tab, settled
from helpers.texts.growing_run import N_LEVELS, GrowingRun
from playwright.sync_api import Locator, Page, expect
from watching import PLOT, REFRESHES, SOON, TABLE, NewPage, different, stood_still, watched

from core.store import Store

ITEMS, FIRST, EACH = 400, 60, 20
"""Items of the run, those that are scored at first, and those that come before each refresh."""
_CELLS = """() => [...document.querySelectorAll('[data-testid=stDataFrame] canvas tr')].map(
    row => [...row.children].map(cell => cell.textContent))"""


def followed_so_far(page: Page) -> Locator:
    """What the page says after the last refresh."""
    return on_screen(page).get_by_text(f"{(FIRST + REFRESHES * EACH) * N_LEVELS:,} texts so far")


def followed(app: AppServer, store: Store, new_page: NewPage, *tabs: str) -> tuple[Page, GrowingRun]:
    """A page scrolled down a little, on which those tabs were pressed, after its first refresh."""
    run = GrowingRun(store, ITEMS)
    run.grow(FIRST)
    page = new_page()
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/metrics")
    expect(page.get_by_role("tab", name=tabs[0], exact=True)).to_be_visible(timeout=SOON)
    for tab in tabs:
        open_tab(page, tab)
    expect(page.locator(f"{PLOT}, {TABLE}").first).to_be_visible(timeout=SOON)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 60)")
    told = page.evaluate("window.lastOnTheWire.told")
    page.wait_for_function("told => window.lastOnTheWire.told > told", arg=told, timeout=SOON)
    settled(page)
    return page, run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tabs", "least_dots"),
    [(("Correlations", "Ranking"), 16), (("Levels",), 4 * N_LEVELS), (("Correlations", "Redundancy"), 0)],
)
def test_dots_move_and_all_else_stands_still(
    app: AppServer, app_store: Store, new_page: NewPage, tabs: tuple[str, ...], least_dots: int
) -> None:
    page, run = followed(app, app_store, new_page, *tabs)
    frames = watched(page, run, PLOT, EACH, followed_so_far(page))
    stood_still(frames)
    assert min(len(frame["dots"]) for frame in frames) >= least_dots, "a plot is on the screen in every frame"
    if least_dots:
        assert len(different(frames, "dots")) > REFRESHES, "the dots follow the run"


@pytest.mark.slow
def test_the_table_changes_its_numbers_and_keeps_its_order(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    page, run = followed(app, app_store, new_page, "Correlations", "Table")
    box = page.locator(TABLE).first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 160, box["y"] + 15)  # sorted by name, twice: the last one first
    page.wait_for_timeout(500)
    page.mouse.click(box["x"] + 160, box["y"] + 15)
    page.wait_for_timeout(500)
    (head, first, *_) = page.evaluate(_CELLS)
    assert "↓" in head[1]
    assert first[1].startswith("rouge")
    frames = watched(page, run, TABLE, EACH, followed_so_far(page))
    stood_still(frames)
    assert all(frame["same"] for frame in frames)
    (later_head, later, *_) = page.evaluate(_CELLS)
    assert (later_head, later[1]) == (head, first[1])
    n, pearson = head.index("n"), head.index("Pearson")
    assert later[n] == str(run.n_done * N_LEVELS) != first[n]
    assert later[pearson] != first[pearson]
    run.finish()
    expect(on_screen(page).get_by_text("texts so far")).to_have_count(0, timeout=SOON)
    expect(on_screen(page).get_by_text("Follow the run")).to_have_count(0)
