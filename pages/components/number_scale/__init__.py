"""A slider with its number: the browser's part as files, the server's part here.

Both are one control, which holds one number or none: two widgets would each send what the other held before.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages.components.own_component import own_component, sent

NOT_RATED = "not rated yet"
"""What a slider says that holds no number."""
_EVENT = "given"


@dataclass(frozen=True)
class Given:
    """What a rater last gave in this browser."""

    number: int
    """Counts the browser's changes."""
    value: float | None
    """None: the number was taken back."""


def number_scale(
    label: str,
    places: Sequence[float],
    ends: tuple[str, str],
    value: float | None,
    *,
    key: str,
    on_change: Callable[[], None],
) -> Given | None:
    """Draw slider and box with a number of the scale, or with none; what was given by now, None where nothing was.

    places: where the slider can stand, in order; the box takes any number between the first and the last. ends: what
    these two are called. value: what is saved; what was given in this browser goes before it.
    """
    given = in_browser(key)
    data = {
        "label": label,
        "ends": list(ends),
        "lowest": places[0],
        "highest": places[-1],
        "places": list(places),
        "unrated": NOT_RATED,
        "value": value if given is None else given.value,
        "number": 0 if given is None else given.number,
    }
    own_component(Path(__file__).parent)(key=key, data=data, on_given_change=on_change)
    return in_browser(key)  # a session that has just begun knows the key only once it is drawn


def in_browser(key: str) -> Given | None:
    """What a scale last sent; None before it sent anything, or where it is not what a scale sends."""
    state = sent(key, _EVENT)
    value = None if state is None else state.get("value")
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if state is None or not (number or value is None):
        return None
    return Given(state["number"], None if value is None else float(value))
