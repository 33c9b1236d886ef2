"""A page that follows a run: new scores move what is on the screen, and nothing blinks, jumps or is lost."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, open_tab, settled
from helpers.texts.growing_run import N_LEVELS, GrowingRun
from playwright.sync_api import Page, expect

from core.store import Store

NewPage = Callable[[], Page]
Frame = dict[str, Any]
SOON = 20_000
ITEMS, FIRST, EACH = 400, 60, 20
"""Items of the run, those that are scored at first, and those that come before each refresh."""
REFRESHES = 4
PLOT, TABLE = ".js-plotly-plot", "[data-testid=stDataFrame]"
_WATCH = """(shown) => {
    const first = document.querySelector(shown), frames = [];
    const place = one => {
        const box = one?.getBoundingClientRect();
        return box ? [box.left, box.top, box.width, box.height].map(Math.round).join(' ') : 'gone';
    };
    const faint = one => one.checkVisibility() && Number(getComputedStyle(one).opacity) < 0.9;
    let going = true;
    const look = () => {
        const all = name => [...document.querySelectorAll(name)];
        frames.push({
            same: document.querySelector(shown) === first,
            place: place(document.querySelector(shown)),
            tabs: place(document.querySelector('[data-testid=stTabs]')),
            scrolled: document.querySelector('[data-testid=stMain]').scrollTop,
            faint: all('[data-stale=true]').filter(faint).length,
            waiting: all('[data-testid=stSkeleton], [data-testid=stSpinner]').length,
            dots: all(shown + ' .point').map(one => one.getAttribute('transform')),
        });
        if (going) requestAnimationFrame(look);
    };
    look();
    window.watched = () => {
        going = false;
        return frames;
    };
}"""
"""Looks in every frame that is drawn at where things are."""
_CELLS = """() => [...document.querySelectorAll('[data-testid=stDataFrame] canvas tr')].map(
    row => [...row.children].map(cell => cell.textContent))"""


def watched(page: Page, run: GrowingRun, shown: str) -> list[Frame]:
    """What was seen of the element `shown` while the run grew and the page refreshed itself."""
    page.evaluate(_WATCH, shown)
    for _ in range(REFRESHES):
        told = page.evaluate("window.lastOnTheWire.told")
        run.grow(EACH)
        page.wait_for_function("told => window.lastOnTheWire.told > told", arg=told, timeout=SOON)
        settled(page)
    expect(page.get_by_text(f"{run.n_done * N_LEVELS:,} texts so far")).to_be_attached(timeout=SOON)
    page.wait_for_timeout(300)
    frames: list[Frame] = page.evaluate("window.watched()")
    return frames


def different(frames: Sequence[Frame], what: str) -> set[Any]:
    return {str(frame[what]) for frame in frames}


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


def stood_still(frames: Sequence[Frame]) -> None:
    """Nothing moved, paled or waited in any frame."""
    assert len(frames) > 100
    (place,) = different(frames, "place")
    assert int(place.split()[-1]) > 100
    assert len(different(frames, "tabs")) == 1
    assert different(frames, "scrolled") == {"60"}
    assert different(frames, "faint") == different(frames, "waiting") == {"0"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tabs", "least_dots"),
    [(("Correlations", "Ranking"), 16), (("Levels",), 4 * N_LEVELS), (("Correlations", "Redundancy"), 0)],
)
def test_dots_move_and_all_else_stands_still(
    app: AppServer, app_store: Store, new_page: NewPage, tabs: tuple[str, ...], least_dots: int
) -> None:
    page, run = followed(app, app_store, new_page, *tabs)
    frames = watched(page, run, PLOT)
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
    page.mouse.click(box["x"] + 60, box["y"] + 15)  # sorted by name, twice: the last one first
    page.wait_for_timeout(500)
    page.mouse.click(box["x"] + 60, box["y"] + 15)
    page.wait_for_timeout(500)
    (head, first, *_) = page.evaluate(_CELLS)
    assert "↓" in head[0]
    assert first[0].startswith("rouge")
    frames = watched(page, run, TABLE)
    stood_still(frames)
    assert all(frame["same"] for frame in frames)
    (later_head, later, *_) = page.evaluate(_CELLS)
    assert (later_head, later[0]) == (head, first[0])
    n, pearson = head.index("n"), head.index("Pearson")
    assert later[n] == str(run.n_done * N_LEVELS) != first[n]
    assert later[pearson] != first[pearson]
    run.finish()
    expect(page.get_by_text("texts so far")).to_have_count(0, timeout=SOON)
    expect(page.get_by_text("Follow the run")).to_have_count(0)
