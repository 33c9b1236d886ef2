"""One blind pair on the screen: question, reference, level, two texts, four buttons; and presses, one after the other, however long the server was busy."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import ParamSpec, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.diff import Segment, diff_against, diff_pair
from core.schema.study import FIRST_LEVEL, Choice, GuessedSide
from core.study.guidelines import BOX_KEYS, CHOICE_KEYS, LEVEL, LEVEL_MEANINGS
from pages.widgets.messages import plain

_Given = ParamSpec("_Given")
_WAITING, _REFUSED = "presses_waiting", "presses_refused"


def in_turn(call: Callable[_Given, None]) -> Callable[_Given, None]:
    """A callback for a widget: `call` begins with the run that the press causes, after the calls of older presses."""
    return partial(_wait, call)


def take_turns() -> None:
    """Call what waits, the oldest press first; before anything is drawn."""
    waiting: list[Callable[[], None]] = st.session_state.get(_WAITING, [])
    while waiting:
        waiting.pop()()


def refuse(sentence: str) -> None:
    """Keep what became of a press that was not saved, for whatever screen follows it."""
    refused: list[str] = st.session_state.setdefault(_REFUSED, [])
    if sentence not in refused:
        refused.append(sentence)


def show_refused(place: DeltaGenerator) -> None:
    """Say once what was not saved, where the rater looks."""
    for sentence in st.session_state.pop(_REFUSED, []):
        place.error(sentence)


def _wait(call: Callable[_Given, None], *args: _Given.args, **named: _Given.kwargs) -> None:
    st.session_state.setdefault(_WAITING, []).append(partial(call, *args, **named))


_Press = TypeVar("_Press", Choice, GuessedSide)

OWN_BASE, LEFT_RIGHT, NO_DIFF = DIFF_MODES = ("own_a0", "left_right", "none")

_MARK = {"same": "span", "added": "ins", "removed": "del"}
_STYLE = """<style>
.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; max-width: 78rem; }
.assay-text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; line-height: 1.6;
  font-size: 1.05rem; text-align: start; }
.assay-card { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .5rem;
  padding: .75rem 1rem; }
.assay-pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; align-items: start; }
.assay-pair > * { min-width: 0; }
.assay-side { font-weight: 600; margin-bottom: .35rem; }
.assay-question { font-size: 1.2rem; font-weight: 600; margin-top: .6rem; max-height: 8em; overflow-y: auto; }
.assay-reference { border-inline-start: .25rem solid color-mix(in srgb, currentColor 30%, transparent);
  padding-inline-start: .75rem; max-height: 14em; overflow-y: auto; }
.assay-quiet { opacity: .8; font-size: .9rem; }
.assay-level { display: inline-block; border-radius: .4rem; padding: .1rem .55rem; font-weight: 600;
  background: color-mix(in srgb, currentColor 12%, transparent); }
.assay-text ins { text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 3px;
  background: color-mix(in srgb, #f2b600 32%, transparent); border-radius: .15rem; }
.assay-text del { text-decoration: line-through; opacity: .72; unicode-bidi: isolate; }
[data-variant=segmented_control] { color: inherit !important; }
[data-testid=stSliderThumbValue] { color: inherit; font-weight: 600; }
.assay-text del + ins { margin-inline-start: .2em; }
.stExpander details { height: auto !important; overflow: visible !important; }
.stExpander [data-testid=stExpanderDetails][inert] { display: none; }
div:has(> .st-key-choices) { position: sticky; bottom: 0; z-index: 5; }
.st-key-choices { padding: .6rem 0 .8rem; background: Canvas; }
/* Streamlit's own backgrounds, where the browser can tell the theme. */
.st-key-choices { background: light-dark(Canvas, #171614); }
.st-key-choices [data-testid=stHorizontalBlock] > * { min-width: 0; flex: 1 1 0; }
.st-key-moves > * { flex: 1 1 9rem; }
[class*="st-key-answer-"] button { height: auto; }
[class*="st-key-answer-"] button * { white-space: normal; overflow: visible; text-overflow: clip; }
@media (max-width: 640px) {
  .assay-text { font-size: 1rem; }
  .st-key-choices [data-testid=stHorizontalBlock] { flex-wrap: nowrap; gap: .4rem; }
  .assay-pair { grid-template-columns: 1fr; }
  .st-key-choices button { padding-inline: .25rem; height: auto; }
  .st-key-choices button * { white-space: normal; overflow: visible; text-overflow: clip; line-height: 1.2; }
}
</style>"""


def style() -> None:
    """The page's style sheet; call once a page."""
    st.html(_STYLE)


def heading(question: str, reference: str, language: str, level: str, asked: str) -> None:
    """Question, reference where there is one, and what is asked, with the level in place of `{level}`."""
    before, _, after = map(escape, asked.partition(LEVEL))
    shown, meaning = escape(level), LEVEL_MEANINGS.get(level)
    badge = f'<span class="assay-level"><bdi>{shown}</bdi></span>' if level else ""
    what = f' <span class="assay-quiet">{shown}: {escape(meaning)}.</span>' if meaning else ""
    # What is asked comes first: however long the question is, it is on the screen when the buttons are.
    html = f"<div>{before}{badge}{after}{what}</div>" if asked else ""
    html += f'<div class="assay-question assay-text" tabindex="0" {language_of(language)}>{escape(question)}</div>'
    if reference:
        html += (
            '<div class="assay-quiet" style="margin-top:.5rem">Reference (correct and complete)</div>'
            f'<div class="assay-reference assay-text" tabindex="0" {language_of(language)}>{escape(reference)}</div>'
        )
    st.html(html)


def diff_control(base: str, remembered: str) -> str:
    """Which differences to mark; the value is one of DIFF_MODES.

    base: what OWN_BASE compares with in this pair; "none": nothing, so that it is not on offer.
    """
    offered = [mode for mode in DIFF_MODES if base != "none" or mode != OWN_BASE]
    usual = OWN_BASE if base != "none" else NO_DIFF
    labels = {
        OWN_BASE: f"against its own {FIRST_LEVEL}" if base == OWN_BASE else "against the reference",
        LEFT_RIGHT: "left against right",
        NO_DIFF: "off",
    }
    # Not a radio: its focus would swallow the keys 1 to 4.
    return st.segmented_control(
        "Mark changes",
        offered,
        default=remembered if remembered in offered else usual,
        format_func=labels.__getitem__,
        required=True,
        key="d",
        help="Underlined: different. Struck through: taken out. Each answer was made, level by level, from a "
        f"correct answer of its own, its {FIRST_LEVEL}.",
    )


def texts(
    names: tuple[str, str],
    left: str,
    right: str,
    left_base: str,
    right_base: str,
    language: str,
    mode: str,
) -> None:
    """The two answers under their names side by side, with the differences that `mode` asks for."""
    marked: tuple[Sequence[Segment], Sequence[Segment]]
    if mode == LEFT_RIGHT:
        marked = diff_pair(left, right)
    elif mode == OWN_BASE:
        marked = diff_against(left_base, left), diff_against(right_base, right)
    else:
        marked = (Segment(left, "same"),), (Segment(right, "same"),)
    cards = ""
    for name, segments in zip(names, marked, strict=True):
        cards += card(escape(name), marked_html(segments), language)
    st.html(f'<div class="assay-pair">{cards}</div>')  # one message, where columns take five


def choice_place() -> DeltaGenerator:
    """Where the four buttons are: at the lower edge of the window, however long the texts."""
    return st.container(key="choices")


def box_names(words: Mapping[str, str]) -> tuple[str, str]:
    """What the two answers are called, out of all that the study says in the rater's language."""
    left, right = (words[key] for key in BOX_KEYS)
    return left, right


def choice_labels(words: Mapping[str, str]) -> dict[Choice, str]:
    """What the four buttons say, out of all that the study says in the rater's language."""
    return {choice: words[key] for choice, key in CHOICE_KEYS.items()}


def choice_buttons(
    place: DeltaGenerator,
    prefix: str,
    labels: Mapping[_Press, str],
    current: _Press | None,
    on_press: Callable[..., None] | None = None,
    args: tuple[object, ...] = (),
) -> _Press | None:
    """A button a label, with the keys 1, 2 ...; what was pressed in this run.

    `on_press` is called in turn with the choice and `args`, before anything is drawn. `prefix` names the
    pair that is on the screen, so that a press that arrives late is never taken for an answer to the pair
    after it.
    """
    pressed: _Press | None = None
    row = place.container(horizontal=True)
    for number, choice in enumerate(labels, start=1):
        if row.button(
            plain(labels[choice]),
            key=f"{prefix}-{number}",
            shortcut=str(number),
            type="primary" if choice == current else "secondary",
            width="stretch",
            on_click=in_turn(on_press) if on_press else None,
            args=(choice, *args) if on_press else None,
        ):
            pressed = choice
    return pressed


def card(title: str, body: str, language: str, more: str = "") -> str:
    """A text under a title, both HTML. more: a class of the text."""
    return (
        f'<div class="assay-card"><div class="assay-side">{title}</div>'
        f'<div class="assay-text{more}" {language_of(language)}>{body}</div></div>'
    )


def marked_html(segments: Sequence[Segment]) -> str:
    """A text with its differences."""
    return "".join(f"<{_MARK[s.kind]}>{escape(s.text)}</{_MARK[s.kind]}>" for s in segments)


def language_of(tag: str) -> str:
    """Attributes that tell a browser how to set a text of this language."""
    return 'dir="auto"' if tag == "und" else f'dir="auto" lang="{escape(tag, quote=True)}"'
