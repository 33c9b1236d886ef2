"""The card of a verdict: its sign, word and sentences on a ground that says how it turned out, and the numbers beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import streamlit as st

from core.plots.dressing import shortened
from pages.widgets.messages import showable

Tone = Literal["good", "bad", "open"]
"""How a verdict turned out: as hoped, against it, or without an answer."""
_SIGNS: Mapping[Tone, str] = {"good": "✓", "bad": "✕", "open": "?"}
_COLOURS: Mapping[Tone, tuple[tuple[str, str, str], tuple[str, str, str]]] = {
    "good": (("#e3f1ec", "#0d4f3c", "#1f7a5f"), ("#12312a", "#a9e2cd", "#4fae90")),
    "bad": (("#f7e8e1", "#7a2a10", "#b5532f"), ("#3a2019", "#f3bfa8", "#d9805c")),
    "open": (("#e9edf2", "#2f3c4c", "#66788c"), ("#232a33", "#cdd8e4", "#8fa3b8")),
}
"""Ground, letters and edge, on a light page and on a dark one."""


@dataclass(frozen=True)
class Number:
    """A number beside the card. All texts are plain: they are escaped here."""

    title: str
    value: str
    beside: tuple[str, ...] = ()
    """Lines below it, such as its interval."""
    help: str = ""


_NAME = 24
"""Letters of a system's name on a card, in a list, or beside a number."""


def name(system: str) -> str:
    """The name of a system where room is short."""
    return shortened(system, _NAME)


def style() -> None:
    """Add the style sheet of the card and its numbers."""
    dark = st.context.theme.type == "dark"
    rules = [
        f".assay-verdict.assay-{tone} {{ background: {ground}; color: {letters}; border-color: {edge}; }}"
        for tone, looks in _COLOURS.items()
        for ground, letters, edge in [looks[dark]]
    ]
    quiet = "#c4c9d0" if dark else "#4b5360"
    st.html(
        "<style>"
        ".assay-verdict { border-inline-start: .4rem solid; border-radius: .5rem; padding: .8rem 1rem; }"
        ".assay-verdict p { margin: 0; line-height: 1.45; overflow-wrap: anywhere; }"
        ".assay-verdict .assay-word { font-size: 1.7rem; font-weight: 700; letter-spacing: .02em; line-height: 1.2; }"
        ".assay-verdict .assay-word span { font-weight: 400; font-size: 1rem; letter-spacing: 0; }"
        ".assay-verdict .assay-why { margin-top: .35rem; }"
        ".assay-numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.2rem, 1fr)); gap: .3rem 1rem;"
        " margin: .2rem 0; }"
        ".assay-numbers > div { display: grid; grid-row: span 3; grid-template-rows: subgrid; row-gap: 0; }"
        ".assay-numbers p { margin: 0; line-height: 1.3; font-size: .85rem; font-variant-numeric: tabular-nums; }"
        ".assay-numbers p.assay-number { font-size: 1.35rem; font-weight: 600; }"
        f".assay-numbers p.assay-beside {{ color: {quiet}; }}"
        f"{' '.join(rules)}</style>"
    )


def card(
    tone: Tone, word: str, sentences: Sequence[str] = (), *, whose: str = "", signed: bool = True
) -> None:
    """Show a verdict. word: the verdict itself. whose: stands small behind it. All texts are plain.

    signed: False where nothing was decided, so that a question mark would be out of place.
    """
    sign = f"{_SIGNS[tone]} " if signed else ""
    behind = f" <span>{_said(whose)}</span>" if whose else ""
    why = "".join(f'<p class="assay-why">{_said(sentence)}</p>' for sentence in sentences if sentence)
    st.html(
        f'<div class="assay-verdict assay-{tone}">'
        f'<p class="assay-word">{sign}{_said(word)}{behind}</p>{why}</div>'
    )


def numbers(shown: Sequence[Number]) -> None:
    """Show numbers side by side; a narrow window breaks the line."""
    st.html(f'<div class="assay-numbers">{"".join(map(_cell, shown))}</div>')


def _cell(one: Number) -> str:
    title = f' title="{_said(one.help)}"' if one.help else ""
    below = "".join(f'<p class="assay-beside">{_said(line)}</p>' for line in one.beside if line)
    return f'<div{title}><p>{_said(one.title)}</p><p class="assay-number">{_said(one.value)}</p><div>{below}</div></div>'


def _said(text: str) -> str:
    return escape(showable(text))
