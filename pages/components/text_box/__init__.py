"""A box for a comment that is sent while it is typed; st.text_area sends nothing before the box is left.

What is typed and not on disk yet also stays in the browser tab, so that a reload brings it back.
"""

from collections.abc import Callable
from pathlib import Path

from pages.components.own_component import own_component, sent

LONGEST = 5_000
"""Characters."""
_EVENT = "typed"


def text_box(
    label: str, saved: str | None, *, key: str, on_change: Callable[[], None] = lambda: None
) -> str | None:
    """Draw the box; what was typed in this browser by now, None where nothing was.

    saved: the text on disk, with which the box begins, and which it compares itself with to say "Saved"; None where
    the text is saved together with something else, so that the box begins empty and says nothing.
    """
    state, typed = sent(key, _EVENT), in_browser(key)
    data = {
        "label": label,
        "longest": LONGEST,
        "draft": key,
        "text": typed or "" if state else saved or "",
        "number": state["number"] if state else 0,
        "saved": saved,
    }
    own_component(Path(__file__).parent)(key=key, data=data, on_typed_change=on_change)
    return in_browser(key)  # a session that has just begun knows the key only once it is drawn


def in_browser(key: str) -> str | None:
    """What a box last sent; None before it sent anything, or where it is not what a box sends."""
    state = sent(key, _EVENT)
    text = None if state is None else state.get("text")
    return text if isinstance(text, str) and len(text) <= LONGEST else None
