"""Opens everything that a page of the admin offers in a real browser: tabs, segments, expanders, popovers, some options of menus.

Nothing here names a page or a tab: what is opened is what is on the screen.
"""

from collections.abc import Callable
from typing import Any

from helpers.processes.app_server import settled
from playwright.sync_api import Locator, Page
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_MOST_STEPS = 150
_MAIN = "[data-testid=stMain]"
_OPENS = ", ".join(
    f"{_MAIN} {one}"
    for one in (
        "[role=tab]",
        "[data-testid=stButtonGroup] [role=radio]",
        "[data-testid=stButtonGroup] button",
        "[data-testid=stExpander] summary",
        "[data-testid=stPopover] button",
        "[data-testid=stSelectbox] input",
    )
)
_LISTED = """found => found.map(one => {
    const box = one.getBoundingClientRect();
    const kind = one.role || one.getAttribute('role') || one.tagName.toLowerCase();
    const label = one.tagName === 'INPUT' ? (one.getAttribute('aria-label') || '') : one.innerText;
    const chosen = one.getAttribute('aria-selected') === 'true' || one.getAttribute('aria-checked') === 'true';
    const open = one.tagName === 'SUMMARY' && one.parentElement.open;
    const off = one.disabled || one.getAttribute('aria-disabled') === 'true';
    return {kind, label, chosen, open, off, seen: box.width > 0 && box.height > 0, input: one.tagName === 'INPUT',
            summary: one.tagName === 'SUMMARY'};
})"""

Seen = Callable[[tuple[str, ...]], None]
"""Called with the names of the tabs and segments that are open, after each step."""


def pages_offered(frames: list[bytes]) -> list[str]:
    """The addresses of the pages that app.py registered for this visitor, as the frames of a visit name them."""
    found: dict[str, None] = {}
    for frame in frames:
        message = ForwardMsg.FromString(frame)
        if message.WhichOneof("type") == "navigation":
            found.update({page.url_pathname: None for page in message.navigation.app_pages})
    return list(found)


def open_everything(page: Page, seen: Seen, most_options: int = 2) -> int:
    """Open all that the page on the screen offers, and return the number of steps. Innermost things come first.

    most_options: of one menu that are chosen; further ones are mostly of one kind.
    """
    done: set[tuple[Any, ...]] = set()
    seen(_place(_listed(page)))
    for step in range(_MOST_STEPS):
        listed = _listed(page)
        new = [(at, one) for at, one in enumerate(listed) if _opens(one) and _mark(listed, at) not in done]
        if not new:
            return step
        at, one = new[-1]
        done.add(_mark(listed, at))
        _press(page, page.locator(_OPENS).nth(at), one, most_options)
        seen(_place(_listed(page)))
    raise AssertionError(f"{page.url} still offers something after {_MOST_STEPS} steps")


def _listed(page: Page) -> list[dict[str, Any]]:
    settled(page)
    listed: list[dict[str, Any]] = page.locator(_OPENS).evaluate_all(_LISTED)
    return listed


def _opens(one: dict[str, Any]) -> bool:
    return bool(one["seen"] and not (one["chosen"] or one["open"] or one["off"]))


def _place(listed: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(one["label"] for one in listed if one["chosen"] and one["seen"])


def _mark(listed: list[dict[str, Any]], at: int) -> tuple[Any, ...]:
    """What is opened, and within what: the tabs and segments before it that are open."""
    one = listed[at]
    nth = sum((other["kind"], other["label"]) == (one["kind"], one["label"]) for other in listed[:at])
    return *_place(listed[:at]), one["kind"], one["label"], nth


def _press(page: Page, thing: Locator, one: dict[str, Any], most_options: int) -> None:
    if not one["input"]:
        thing.click()
        settled(page)
        if one["kind"] == "button":
            page.keyboard.press("Escape")
        return
    before = thing.input_value()
    for n in range(most_options):
        if not thing.count():
            return
        options = page.get_by_role("option")
        thing.click()
        page.wait_for_timeout(300)
        if n >= options.count():
            page.keyboard.press("Escape")
            return
        options.nth(n).click()
        settled(page)
    if before and thing.count() and thing.input_value() != before:
        thing.click()
        same = page.get_by_role("option", name=before, exact=True)
        if same.count():
            same.first.click()
        else:
            page.keyboard.press("Escape")
        settled(page)
