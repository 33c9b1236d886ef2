"""Parts of a page that need a script of their own in the browser: a slider with its number, errors marked in a text, a box for a comment, the top of a screen."""

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

_PACKAGE = "assay"


def own_component(name: str) -> ComponentRenderer:
    """The component whose script and style sheet, both of its name, lie in scripts/NAME/files."""
    return _registered(get_bidi_component_manager(), Path(__file__).parent / "scripts" / name)


def sent(key: str, event: str) -> Mapping[str, Any] | None:
    """What the component of that key last sent under a name; None before it did, or where it is no such thing.

    Whatever counts its changes sends its `number`, a whole one, with them.
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
    """Once on each server, which is told which files belong to it."""
    name = folder.name
    config = ComponentConfig(name=name, asset_dir="files")
    manager.register_from_manifest(ComponentManifest(name=_PACKAGE, version="1", components=[config]), folder)
    return st.components.v2.component(
        f"{_PACKAGE}.{name}", js=f"{name}.js", css=f"{name}.css", isolate_styles=False
    )


NOT_RATED = "not rated yet"
"""What a slider says that holds no number."""
_MOVED = "given"


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
    """What a scale last sent; None before it sent anything, or where it is not what a scale sends."""
    state = sent(key, _MOVED)
    value = None if state is None else state.get("value")
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if state is None or not (number or value is None):
        return None
    return Given(state["number"], None if value is None else float(value))


def screen_top(screen: str) -> None:
    """Scroll to the top when `screen` names another screen than before; call it before the screen is drawn.

    The name reaches the browser: it is the place that the rater's address shows anyway.
    """
    with st.container(key=f"screen-{screen}"):
        own_component("screen_top")(key="top")


_MARKED = "marked"
_MOST_SPANS = 1_000


@dataclass(frozen=True)
class Marked:
    """The whole list of errors as a browser last had it."""

    mark: str
    """Of the text it was made on."""
    number: int
    """Counts the browser's changes."""
    base: str
    """The revision() of the list that it was changed from."""
    spans: tuple[ErrorSpan, ...]
    no_errors: bool


def revision(spans: Sequence[ErrorSpan], no_errors: bool) -> str:
    """Tells one list of errors from another."""
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
    """Draw texts with their errors; what the browser holds by now, or None where nothing was changed in it.

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
    """What a marker last sent; None before it sent anything, or where it is not what a marker sends."""
    value = sent(key, _MARKED)
    try:
        return None if value is None else _read(value)
    except (KeyError, OverflowError, TypeError, ValueError):
        return None


def _read(value: Mapping[str, Any]) -> Marked:
    """Checked as far as types go; whether the spans fit text and task is for the desk to say."""
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
    """Numbers arrive as JSON has them."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError("not a whole number")
    return int(value)


def _sent(span: ErrorSpan) -> dict[str, str | int | bool]:
    return {name: getattr(span, name) for name in ("start", "end", "severity", "category", "in_source")}


LONGEST = 5_000
"""Characters."""
_TYPED = "typed"


def text_box(
    label: str, saved: str | None, *, key: str, on_change: Callable[[], None] = lambda: None
) -> str | None:
    """Draw the box; what was typed in this browser by now, None where nothing was.

    saved: the text on disk, with which the box begins, and which it compares itself with to say "Saved"; None where
    the text is saved together with something else, so that the box begins empty and says nothing.
    """
    state, typed = sent(key, _TYPED), box_in_browser(key)
    data = {
        "label": label,
        "longest": LONGEST,
        "draft": key,
        "text": typed or "" if state else saved or "",
        "number": state["number"] if state else 0,
        "saved": saved,
    }
    own_component("text_box")(key=key, data=data, on_typed_change=on_change)
    return box_in_browser(key)  # a session that has just begun knows the key only once it is drawn


def box_in_browser(key: str) -> str | None:
    """What a box last sent; None before it sent anything, or where it is not what a box sends."""
    state = sent(key, _TYPED)
    text = None if state is None else state.get("text")
    return text if isinstance(text, str) and len(text) <= LONGEST else None
