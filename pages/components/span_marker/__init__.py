"""Marking errors in a text: the browser's part as files, the server's part here."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.schema.scores import ErrorSpan
from pages.components.own_component import own_component, sent

_EVENT = "marked"
_MOST_SPANS = 1_000


@dataclass(frozen=True)
class Part:
    """A text in which errors may be marked."""

    label: str
    text: str
    language: str
    in_source: bool = False


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
    parts: Sequence[Part],
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
        "parts": [
            {"label": p.label, "text": p.text, "language": p.language, "in_source": p.in_source}
            for p in parts
        ],
    }
    own_component(Path(__file__).parent)(key=key, data=data, on_marked_change=on_change)
    return in_browser(key)


def in_browser(key: str) -> Marked | None:
    """What a marker last sent; None before it sent anything, or where it is not what a marker sends."""
    value = sent(key, _EVENT)
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
    return {
        "start": span.start,
        "end": span.end,
        "severity": span.severity,
        "category": span.category,
        "in_source": span.in_source,
    }
