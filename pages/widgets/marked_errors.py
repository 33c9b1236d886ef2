"""A text with the errors that somebody marked in it: underlined by severity, and listed below."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import streamlit as st

from core.schema.scores import ErrorSpan
from pages.widgets.blind_pair import language_of

_LINES = {"neutral": "dotted", "minor": "dotted", "major": "solid", "critical": "double"}
"""Severity -> its underline; any other is dashed."""
_STYLE = """<style>
.assay-error { color: inherit; background: color-mix(in srgb, #d55e00 16%, transparent); border-radius: .15rem;
  text-decoration: underline #d55e00 2px dashed; text-underline-offset: 4px; }
.assay-error-dotted { text-decoration-style: dotted; }
.assay-error-solid { text-decoration-style: solid; }
.assay-error-double { text-decoration-style: double; }
.assay-error-met { background: color-mix(in srgb, #0072b2 22%, transparent); }
.assay-number { font-size: .68em; font-weight: 600; line-height: 0; margin-inline: .1em; direction: ltr;
  unicode-bidi: isolate; }
.assay-card ul.assay-errors { margin: .6rem 0 0; padding: 0; list-style: none; font-size: .92rem; }
.assay-card ul.assay-errors li { margin: .3rem 0; padding: 0; overflow-wrap: anywhere; }
.assay-errors bdi { font-weight: 600; }
.assay-tall { max-height: 24em; overflow-y: auto; }
</style>"""
LINES_SAID = "Underline: dotted minor, solid major, double critical, dashed any other severity."
"""What the lines mean."""
HIT, OTHER_SEVERITY = "hit", "hit, other severity"
"""How the other side marked an error."""


def style() -> None:
    """Add the style sheet of these texts; blind_pair's has to be there too."""
    st.html(_STYLE)


@dataclass(frozen=True)
class Marked:
    """One error on one side."""

    quote: str
    """The marked words, as quoted or as in the text."""
    severity: str
    category: str
    start: int | None
    """In code points of the text; None if the quote is not in the text."""
    end: int | None
    """Exclusive."""
    met: str = ""
    """How the other side marked these characters, in words; empty if there is no other side."""
    where: str = ""
    """Why it is not underlined, or how it was located; empty: exactly."""
    by: str = ""
    """Who marked it, if several people did."""

    @property
    def placed(self) -> bool:
        """Whether it marks characters of the text."""
        return self.start is not None and self.end is not None and self.start < self.end


def marked_by(text: str, spans: Sequence[ErrorSpan], by: str = "") -> list[Marked]:
    """Return a rater's errors in a text, in the order of the text; those in the source last. by: the rater, if there are several."""
    found = [
        Marked(
            quote="" if span.in_source else text[span.start : span.end],
            severity=span.severity,
            category=span.category,
            start=None if span.in_source else span.start,
            end=None if span.in_source else span.end,
            where="in the source" if span.in_source else "",
            by=by,
        )
        for span in spans
    ]
    return sort_by_place(found)


def sort_by_place(errors: Sequence[Marked]) -> list[Marked]:
    """Return errors in the order of the text; those without a place last."""
    return sorted(errors, key=lambda one: (one.start is None, one.start or 0, one.end or 0))


def met(error: Marked, others: Sequence[Marked], missed: str) -> str:
    """How the other side marked an error: one shared character is enough."""
    if not error.placed:
        return ""
    touching = [one for one in others if one.placed and one.start < error.end and error.start < one.end]  # type: ignore[operator]  # placed: none of them is None
    if not touching:
        return missed
    same = any(one.severity.lower() == error.severity.lower() for one in touching)
    return HIT if same else OTHER_SEVERITY


def card(
    title: str, text: str, errors: Sequence[Marked], language: str, empty: str = "No error is marked."
) -> None:
    """Show a text with its errors underlined, and a list of them."""
    listed = "".join(f"<li>{_listed(number, one)}</li>" for number, one in enumerate(errors, start=1))
    below = (
        f'<ul class="assay-errors">{listed}</ul>'
        if errors
        else f'<div class="assay-quiet">{escape(empty)}</div>'
    )
    st.html(
        f'<div class="assay-card"><div class="assay-side">{escape(title)}</div>'
        f'<div class="assay-text assay-tall" {language_of(language)}>{marked_html(text, errors)}</div>{below}</div>'
    )


def _listed(number: int, error: Marked) -> str:
    about = [error.severity, error.category, error.by, error.where, error.met]
    words = ", ".join(escape(one) for one in about if one)
    quote = f"<bdi>{escape(error.quote)}</bdi>" if error.quote else "no words"
    return f"{number}. {quote}: {words}"


def marked_html(text: str, errors: Sequence[Marked]) -> str:
    """The text with every error underlined; of overlapping errors the last to begin decides the line.

    Errors outside the text are in the list only.
    """
    placed = [
        (number, one, one.start or 0, min(one.end or 0, len(text)))
        for number, one in enumerate(errors, start=1)
        if one.placed and (one.start or 0) < len(text)
    ]
    ends = {0, len(text)} | {at for _, _, start, end in placed for at in (start, end)}
    borders = sorted(ends)
    pieces = []
    for start, end in pairwise(borders):
        inside = [
            (begin, number, one) for number, one, begin, stop in placed if begin <= start and end <= stop
        ]
        body = escape(text[start:end])
        if inside:
            _, _, top = max(inside, key=lambda found: found[:2])
            body = f'<mark class="{_classes(top)}">{body}</mark>'
        numbers = [number for number, _, _, stop in placed if stop == end]
        pieces.append(body + "".join(f'<sup class="assay-number">{number}</sup>' for number in numbers))
    return "".join(pieces)


def _classes(error: Marked) -> str:
    line = _LINES.get(error.severity.lower(), "dashed")
    hit = error.met in (HIT, OTHER_SEVERITY)
    return f"assay-error assay-error-{line}{' assay-error-met' if hit else ''}"
