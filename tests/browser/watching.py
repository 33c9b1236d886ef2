"""Looks at a page in every frame that is drawn while a run grows: nothing may blink, jump or be lost."""

from collections.abc import Callable, Sequence
from typing import Any

from helpers.processes.app_server import settled
from helpers.texts.growing_run import GrowingRun
from playwright.sync_api import Locator, Page, expect

NewPage = Callable[[], Page]
Frame = dict[str, Any]
SOON = 20_000
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


def watched(page: Page, run: GrowingRun, shown: str, each: int, last: Locator) -> list[Frame]:
    """What was seen of the element `shown` while the run grew and the page refreshed itself.

    each: items that come before each refresh. last: what the page says after the last one.
    """
    page.evaluate(_WATCH, shown)
    for _ in range(REFRESHES):
        told = page.evaluate("window.lastOnTheWire.told")
        run.grow(each)
        page.wait_for_function("told => window.lastOnTheWire.told > told", arg=told, timeout=SOON)
        settled(page)
    expect(last).to_be_attached(timeout=SOON)
    page.wait_for_timeout(300)
    frames: list[Frame] = page.evaluate("window.watched()")
    return frames


def different(frames: Sequence[Frame], what: str) -> set[Any]:
    return {str(frame[what]) for frame in frames}


def stood_still(frames: Sequence[Frame]) -> None:
    """Nothing moved, paled or waited in any frame."""
    assert len(frames) > 100
    (place,) = different(frames, "place")
    assert int(place.split()[-1]) > 100
    assert len(different(frames, "tabs")) == 1
    assert different(frames, "scrolled") == {"60"}
    assert different(frames, "faint") == different(frames, "waiting") == {"0"}
