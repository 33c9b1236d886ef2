"""Components with their own script in the browser: slider with number, marked errors, comment box, keys, time in a visible tab,
scroll to the top or here.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.components.v2.types import ComponentRenderer

from core.schema.scores import ErrorSpan
from core.schema.study import UNDETERMINED

_PACKAGE = "assay"


def own_component(name: str) -> ComponentRenderer:
    """Return the component whose script and style sheet are in scripts/NAME/files."""
    return _registered(get_bidi_component_manager(), Path(__file__).parent / "scripts" / name)


def sent(key: str, event: str) -> Mapping[str, Any] | None:
    """Return what a component last sent under a name; None before that, or for a value of a wrong type.

    A component that counts its changes sends the count as `number`.
    """
    state = st.session_state.get(key)
    value = state.get(event) if isinstance(state, Mapping) else None
    if not isinstance(value, Mapping):
        return None
    number = value.get("number")
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        return None
    return {**value, "number": int(number)} if number == int(number) else None


@lru_cache(maxsize=8)
def _registered(manager: BidiComponentManager, folder: Path) -> ComponentRenderer:
    """Register a component once per server, with its files."""
    name = folder.name
    config = ComponentConfig(name=name, asset_dir="files")
    manager.register_from_manifest(ComponentManifest(name=_PACKAGE, version="1", components=[config]), folder)
    return st.components.v2.component(
        f"{_PACKAGE}.{name}", js=f"{name}.js", css=f"{name}.css", isolate_styles=False
    )


NOT_RATED = "not rated yet"
"""Shown by a slider without a number."""
_MOVED = "given"


@dataclass(frozen=True)
class Given:
    """The last number that a rater chose in this browser."""

    number: int
    """Counts the browser's changes."""
    value: float | None
    """None: the number was removed."""


def number_scale(
    label: str,
    places: Sequence[float],
    ends: tuple[str, str],
    value: float | None,
    *,
    key: str,
    on_change: Callable[[], None],
) -> Given | None:
    """Draw a slider and a box for a number, and return what the rater chose so far; None for nothing.

    places: positions of the slider in order; the box accepts any number between the first and the last. ends: labels of
    these two. value: the saved number, replaced by a number chosen in this browser.
    """
    given = scale_in_browser(key)
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
    own_component("number_scale")(key=key, data=data, on_given_change=on_change)
    return scale_in_browser(key)  # a session that has just begun knows the key only once it is drawn


def scale_in_browser(key: str) -> Given | None:
    """Return what a scale last sent; None before that, or for a value of a wrong type."""
    state = sent(key, _MOVED)
    value = None if state is None else state.get("value")
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if state is None or not (number or value is None):
        return None
    return Given(state["number"], None if value is None else float(value))


def page_keys() -> None:
    """Let the page's keys work from every control that takes no text; call it once a page."""
    with st.container(key="page-keys"):
        own_component("page_keys")(key="keys")


def screen_top(screen: str) -> None:
    """Scroll to the top when `screen` changes; call it before the screen is drawn.

    The name reaches the browser, but the rater's address shows it anyway.
    """
    with st.container(key=f"screen-{screen}"):
        own_component("screen_top")(key="top")


def page_language(
    language: str, parts: Mapping[str, str], warning: Sequence[str], warning_language: str
) -> None:
    """Say in the browser in which language the page is and which way it is read, and warn a rater whose browser translates it.

    language: a BCP 47 tag. parts: name of a part -> its language; the part is what has the class `assay-NAME`, and containers whose
    key begins with NAME; all else is the page's own, English. warning: lines in `warning_language`. Other pages stay English. Call
    it once a page.
    """
    data = {
        "language": _html_language(language),
        "direction": reading_direction(language),
        "parts": {name: _html_language(one) for name, one in parts.items()},
        "warning": list(warning),
        "warning_language": _html_language(warning_language),
    }
    with st.container(key="page-language"):
        own_component("page_language")(key="language", data=data)


_RIGHT_TO_LEFT = frozenset(
    ["ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "nqo", "pnb", "ps", "sd", "syr", "ug", "ur", "yi"]
)
_SCRIPTS = frozenset(["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"])
"""Scripts that are written from right to left, as BCP 47 has them."""


def reading_direction(tag: str) -> str:
    """`rtl` or `ltr`: how a language is read, by its script where the tag names one."""
    language, *others = tag.casefold().replace("_", "-").split("-")
    script = next((part for part in others if len(part) == 4 and part.isalpha()), None)
    backwards = script in _SCRIPTS if script else language in _RIGHT_TO_LEFT
    return "rtl" if backwards else "ltr"


def _html_language(tag: str) -> str:
    """A language as HTML has it: empty where it is unknown."""
    return "" if tag == UNDETERMINED else tag


_VISIBLE_KEY, _VISIBLE = "visible", "visible"
_MOST_VISIBLE = 24 * 3600.0
"""Seconds; nobody looks at one pair or text for longer."""


def visible_time(entry: str, keys: Sequence[str]) -> None:
    """Measure how long `entry` is on the screen in a visible tab.

    entry: an opaque name of the pair or text. The time stays in the browser until a button of blind_pair.choice_place is pressed, and
    comes with the press, and so does whether the page is translated. keys: those of the buttons, as Streamlit names them.
    """
    own_component("visible_time")(key=_VISIBLE_KEY, data={"entry": entry, "keys": list(keys)})


@dataclass(frozen=True)
class OfPress:
    """What a browser says with a press; None: it did not say."""

    seconds_visible: float | None = None
    translated: bool | None = None
    """Whether it had translated the page, as far as a page can tell."""


def last_press(entry: str) -> OfPress:
    """Return what came with the last press on `entry`."""
    state = st.session_state.get(_VISIBLE_KEY)
    value = state.get(_VISIBLE) if isinstance(state, Mapping) else None
    if not isinstance(value, Mapping) or value.get("entry") != entry:
        return OfPress()
    seconds, translated = value.get("seconds"), value.get("translated")
    return OfPress(_seconds(seconds), translated if isinstance(translated, bool) else None)


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST_VISIBLE else None


def shown(press: int) -> None:
    """Scroll here when `press` changes: the number of presses that opened what follows, 0 before the first."""
    with st.container(key=f"shown-{press}" if press else None):
        if press:
            own_component("shown")(key="shown")


_MARKED = "marked"
_MOST_SPANS = 1_000


@dataclass(frozen=True)
class Marked:
    """The whole list of errors as last changed in a browser."""

    mark: str
    """Mark of the text it belongs to."""
    number: int
    """Counts the browser's changes."""
    base: str
    """The revision() of the list before the change."""
    spans: tuple[ErrorSpan, ...]
    no_errors: bool


def revision(spans: Sequence[ErrorSpan], no_errors: bool) -> str:
    """Return a hash of a list of errors."""
    listed = [sorted(_sent(span).items()) for span in spans]
    return hashlib.sha256(json.dumps([listed, no_errors]).encode()).hexdigest()[:16]


def marker(
    parts: Sequence[Mapping[str, str | bool]],
    spans: Sequence[ErrorSpan],
    no_errors: bool,
    *,
    severities: Sequence[str],
    categories: Sequence[str],
    mark: str,
    taken: int,
    problem: str | None,
    replaced: bool,
    key: str,
    on_change: Callable[[], None],
) -> Marked | None:
    """Draw texts with their errors; return the list in the browser, or None where nothing was changed.

    parts: the texts in which errors may be marked, each with `label`, `text`, `language`, and whether it is `in_source`.
    taken: the number of the last Marked that was dealt with. problem: why it was not kept. replaced: whether the
    browser is to show the given spans all the same, and not what it failed to save.
    """
    data = {
        "mark": mark,
        "revision": revision(spans, no_errors),
        "taken": taken,
        "problem": problem,
        "replaced": replaced,
        "none": no_errors,
        "spans": [_sent(span) for span in spans],
        "severities": list(severities),
        "categories": list(categories),
        "parts": parts,
    }
    own_component("span_marker")(key=key, data=data, on_marked_change=on_change)
    return marks_in_browser(key)


def marks_in_browser(key: str) -> Marked | None:
    """Return what a marker last sent; None before that, or for a value of a wrong type."""
    value = sent(key, _MARKED)
    try:
        return None if value is None else _read(value)
    except (KeyError, OverflowError, TypeError, ValueError):
        return None


def _read(value: Mapping[str, Any]) -> Marked:
    """Check the types of a sent list; the desk checks whether spans fit text and task."""
    if len(value["spans"]) > _MOST_SPANS:
        raise ValueError("too many errors for one text")
    spans = tuple(
        ErrorSpan(
            _whole(one["start"]),
            _whole(one["end"]),
            str(one["severity"]),
            str(one["category"]),
            in_source=bool(one["in_source"]),
        )
        for one in value["spans"]
    )
    return Marked(str(value["mark"]), _whole(value["number"]), str(value["base"]), spans, bool(value["none"]))


def _whole(value: object) -> int:
    """Read a whole number from JSON."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError("not a whole number")
    return int(value)


def _sent(span: ErrorSpan) -> dict[str, str | int | bool]:
    return {name: getattr(span, name) for name in ("start", "end", "severity", "category", "in_source")}


LONGEST = 5_000
"""Characters."""
_TYPED = "typed"


def text_box(
    label: str, saved: str | None, *, key: str, on_change: Callable[[], None] = lambda: None, hint: str = ""
) -> str | None:
    """Draw the box and return the text typed in this browser, None for nothing.

    saved: the stored text, with which the box begins and with which it compares to show "Saved"; None where the text is
    stored together with something else, so that the box begins empty and shows no state. hint: shown while it has the focus.
    """
    state, typed = sent(key, _TYPED), box_in_browser(key)
    data = {
        "label": label,
        "longest": LONGEST,
        "draft": key,
        "text": typed or "" if state else saved or "",
        "number": state["number"] if state else 0,
        "saved": saved,
        "hint": hint,
    }
    own_component("text_box")(key=key, data=data, on_typed_change=on_change)
    return box_in_browser(key)  # a session that has just begun knows the key only once it is drawn


def box_in_browser(key: str) -> str | None:
    """Return what a box last sent; None before that, or for a value of a wrong type."""
    state = sent(key, _TYPED)
    text = None if state is None else state.get("text")
    return text if isinstance(text, str) and len(text) <= LONGEST else None
