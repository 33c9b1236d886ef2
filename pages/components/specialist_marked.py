"""Errors marked in a text, as HTML: underlined by severity, numbered, and listed below with what the other side says.

Texts and categories are untrusted: everything goes through html.escape and nothing into a label.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import streamlit as st

from core.judges.automqm.errors import Located
from pages.components.generated_level_diff import language_of

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
_KEY = (
    "Underline: dotted minor, solid major, double critical, dashed any other. Blue ground: the other side marked "
    "something there too; orange: it did not."
)


@dataclass(frozen=True)
class Marked:
    """One error on one side."""

    quote: str
    """The words, as they were named or as they stand in the text."""
    severity: str
    category: str
    start: int | None
    """In code points of the text; None: it stands nowhere there."""
    end: int | None
    """Exclusive."""
    met: str = ""
    """What the other side says of these characters, in words; empty: there is no other side."""
    where: str = ""
    """Why it is not underlined, or how it was located; empty: exactly."""
    by: str = ""
    """Who marked it, where there are several."""

    @property
    def placed(self) -> bool:
        """Whether it marks characters of the text."""
        return self.start is not None and self.end is not None and self.start < self.end


@dataclass(frozen=True)
class Overlap:
    """In the words of the page, what the other side says of an error."""

    hit: str = "hit"
    other_severity: str = "hit, other severity"
    missed: str = "missed"


OF_PERSON, OF_JUDGE = Overlap(missed="missed by the judge"), Overlap(missed="marked by nobody")
LOCATED: dict[Located, str] = {
    "exact": "",
    "nearest": "nearest words",
    "not found": "not found in the text",
    "nothing quoted": "quotes nothing",
}


def style() -> None:
    """The style sheet of marked texts; blind_pair's has to be there too."""
    st.html(_STYLE)


def explain() -> None:
    """What underlines and grounds mean."""
    st.markdown(f":small[{_KEY}]")


def met(error: Marked, others: Sequence[Marked], words: Overlap) -> str:
    """What the other side says of an error: a character of it counts as soon as one of theirs holds it too."""
    if not error.placed:
        return ""
    touching = [one for one in others if one.placed and one.start < error.end and error.start < one.end]  # type: ignore[operator]  # placed: none of them is None
    if not touching:
        return words.missed
    same = any(one.severity.lower() == error.severity.lower() for one in touching)
    return words.hit if same else words.other_severity


def card(
    title: str, text: str, errors: Sequence[Marked], language: str, empty: str = "No error is marked."
) -> None:
    """A text with its errors, and the list of them."""
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
    """The text with every error underlined; where several overlap, the last that begins decides the line.

    Errors that stand nowhere in the text, or beyond its end, are in the list alone.
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
    hit = error.met in (Overlap.hit, Overlap.other_severity)
    return f"assay-error assay-error-{line}{' assay-error-met' if hit else ''}"
