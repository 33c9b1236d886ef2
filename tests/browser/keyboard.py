"""A rater who has a keyboard and nothing else: Tab, Enter, keys, and what the focus is on."""

from helpers.processes.app_server import settled
from playwright.sync_api import Page

_FOCUS = """() => {
    const one = document.activeElement;
    const read = (shown) => {  // without icons, whose names are letters
        const copy = shown.cloneNode(true);
        copy.querySelectorAll('[aria-hidden=true]').forEach(icon => icon.remove());
        return copy.textContent;
    };
    const words = (one.labels?.[0] && read(one.labels[0])) || one.getAttribute('aria-label') || read(one);
    return [one.tagName, words.replace(/\\s+/g, ' ').trim()];
}"""
_HIDDEN = """() => {
    // A tick is drawn by its label; a control of no size at all is drawn by what is around it.
    const focus = document.activeElement;
    const one = focus.labels?.[0] ?? focus;
    const box = one.getBoundingClientRect();
    const [x, y] = [(box.left + box.right) / 2, (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2];
    const top = document.elementFromPoint(x, y);
    return !top || !(one.contains(top) || top.contains(one));
}"""
_UNMARKED = """() => {
    const focus = document.activeElement;
    const drawn = [focus, ...(focus.labels?.[0]?.querySelectorAll('*') ?? [])];
    return !drawn.some(one => {
        const style = getComputedStyle(one);
        return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
    });
}"""


def focus(page: Page) -> tuple[str, str]:
    """Tag and words of what has the focus."""
    tag, words = page.evaluate(_FOCUS)
    return tag, words


def arrived(page: Page, title: str) -> None:
    """A new screen is there, and its title has the focus."""
    page.wait_for_function(
        "title => document.activeElement.matches('h1') && document.activeElement.innerText.startsWith(title)",
        arg=title,
    )
    settled(page)
    page.wait_for_timeout(400)  # a press this soon after a pair appears is taken for a double press


def tab_to(page: Page, words: str, key: str = "Tab") -> None:
    """Move the focus on until it is on the control of these words; on its way it is always in sight and marked."""
    passed = []
    for _ in range(60):
        page.keyboard.press(key)
        passed.append(focus(page))
        if passed[-1][0] == "BODY":
            continue
        assert not page.evaluate(_HIDDEN), f"hidden: {passed[-1]}"
        assert not page.evaluate(_UNMARKED), f"not marked: {passed[-1]}"
        if passed[-1][1].startswith(words):
            return
    raise AssertionError(f"{words!r} is not reached: {passed}")


def press_button(page: Page, words: str, key: str = "Enter") -> None:
    """Move to a button and press it."""
    tab_to(page, words)
    page.keyboard.press(key)
    settled(page)
