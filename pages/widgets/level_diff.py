"""Generated texts as HTML: A0 with its facts marked by group, and a level with what it changed.

Texts of a data set or a model are untrusted: everything goes through html.escape and nothing into a label.
A group is told by its name as well as its colour, so that nobody has to tell colours apart.
"""

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from core.diff import READABLE, Segment, diff_against
from core.generation.parse import Span
from core.schema.rendering import Shown
from core.schema.study import Item
from core.study.guidelines import FALLBACK_LANGUAGE, wording
from pages.widgets.blind_pair import card, conversation, marked_html, text_html

LEVEL_BEFORE, FIRST, REFERENCE, OFF = BASES = ("before", "first", "reference", "off")
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c6bb1", "#999999")
"""Okabe and Ito's colours, chosen to be told apart by everybody; laid thinly over either ground."""
_STYLE = (
    "<style>"
    ".assay-fact { border-radius: .2rem; padding: 0 .12em; border-bottom: 2px solid; }"
    ".assay-fact sup { font-size: .68em; font-weight: 600; margin-inline-start: .15em; opacity: .95; line-height: 0;"
    " direction: ltr; unicode-bidi: isolate; }"
    ".assay-held { border-bottom: 2px dashed color-mix(in srgb, currentColor 55%, transparent); }"
    + "".join(
        f".assay-g{number} {{ background: color-mix(in srgb, {color} 28%, transparent); border-color: {color}; }}"
        for number, color in enumerate(_COLORS, start=1)
    )
    + ".assay-tall { max-height: 24em; overflow-y: auto; }"
    "</style>"
)


def style() -> None:
    """The style sheet of these texts; blind_pair's has to be there too."""
    st.html(_STYLE)


def base_control(first: str) -> str:
    """What a level's changes are marked against; one of BASES."""
    labels = {LEVEL_BEFORE: "the level before", FIRST: first, REFERENCE: "the reference", OFF: "off"}
    return st.segmented_control(
        "Mark changes against",
        BASES,
        default=LEVEL_BEFORE,
        format_func=labels.__getitem__,
        required=True,
        key="generated_base",
        persist_state="session",
        help="Underlined: new. Struck through: taken out.",
    )


def plain_card(title: str, text: str, language: str) -> None:
    """A text as it is, under a title of ours."""
    _card(escape(title), escape(text), language)


def shown_card(title: str, text: str, language: str, shown: Shown) -> None:
    """A text as raters see it, under a title of ours."""
    _card(escape(title), text_html(text, shown), language)


def item_turns(item: Item, shown: Shown, number: int = 0) -> None:
    """The turns before an item's question, as raters see them; nothing where there are none.

    shown: how answers are shown. number: as in blind_pair.conversation.
    """
    html = conversation(
        item.turns[:-1], item.language, shown.question, wording({}, FALLBACK_LANGUAGE), number
    )
    if html:
        st.html(html)


def level_card(name: str, text: str, item: Item, against: str, *, before: str, first: str) -> None:
    """A level with its changes. against: one of BASES; before, first: of the first level itself, the reference."""
    base = {LEVEL_BEFORE: before, FIRST: first, REFERENCE: item.reference}.get(against)
    of_reference = ", marked against the reference" if base is item.reference else ""
    marked_card(f"{name}{of_reference}", base, text, item.language)


def marked_card(title: str, base: str | None, text: str, language: str) -> None:
    """A text with what it changed against `base`; None: as it is."""
    if base is None:
        plain_card(title, text, language)
        return
    _card(escape(title), marked_html(diff_against(base, text, islands=READABLE)), language)


def segments_card(title: str, segments: Sequence[Segment], language: str) -> None:
    """A text with its differences as they are known."""
    _card(escape(title), marked_html(segments), language)


def facts_card(
    title: str, text: str, spans: Sequence[Span], group_of: Mapping[int, int], language: str
) -> None:
    """A0 with each fact in brackets, its number, and the level at which it is changed; facts without a group are held.

    Spans that do not fit the text (of a record that somebody changed) are left unmarked.
    """
    pieces, at = [], 0
    for number, span in sorted(enumerate(spans), key=lambda pair: pair[1].start):
        if not at <= span.start < span.end <= len(text):
            continue
        pieces.append(escape(text[at : span.start]))
        inside = escape(text[span.start : span.end])
        group = group_of.get(number)
        if group is None:
            pieces.append(f'<span class="assay-fact assay-held">[{inside}]<sup>{number}</sup></span>')
        else:
            color = (group - 1) % len(_COLORS) + 1
            pieces.append(
                f'<span class="assay-fact assay-g{color}">[{inside}]<sup>{number}·A{group}</sup></span>'
            )
        at = span.end
    _card(escape(title), "".join([*pieces, escape(text[at:])]), language)


def _card(title: str, body: str, language: str) -> None:
    st.html(card(title, body, language, " assay-tall"))
