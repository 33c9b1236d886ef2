"""One blind pair on the screen: question, reference, level, two texts, four buttons; and presses, one after the other, however long the server was busy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import ParamSpec, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.diff import READABLE, Segment, diff_against, diff_pair
from core.diff.names import Unshared, capitals_show_names, unshared
from core.diff.rows import cut_at_rows, facing_rows
from core.errors import counted
from core.rendering import rendered, text_as_read
from core.rendering.tree import compare_blocks, count_differing, marked, read
from core.schema.rendering import AS_WRITTEN, Shown
from core.schema.scores import Turn
from core.schema.study import FIRST_LEVEL, NO_ANSWER, UNDETERMINED, Choice, GuessedSide, KeyScheme
from core.study.guidelines import (
    BOX_KEYS,
    CHOICE_KEYS,
    EARLIER_TURNS,
    LEFT_RIGHT,
    LEVEL,
    NAMES,
    NO_ANSWER_KEY,
    NO_DIFF,
    NUMBER,
    OWN_BASE,
    REFERENCE,
    TURN_KEYS,
    WORDS,
    Aids,
)
from pages.widgets import answer_keys, own
from pages.widgets import rendered as documents
from pages.widgets.messages import plain
from pages.widgets.said import STUDY_WORDS, study_words

_Given = ParamSpec("_Given")
_WAITING, _REFUSED = "presses_waiting", "presses_refused"


def call_in_turn(call: Callable[_Given, None]) -> Callable[_Given, None]:
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

BY_BASE = "own_a0"
"""What is remembered of a rater who chose no mode: numbers and names against the reference, all words against an own A0."""
MODE_NAMES = {
    NAMES: "numbers and names",
    WORDS: "all words",
    LEFT_RIGHT: "left against right",
    NO_DIFF: "off",
}
_MOST_MISSING = 12
"""Numbers and names that are listed below an answer; of more, the number is given."""

_STYLE = """<style>
.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; max-width: 78rem; }
.stMainBlockContainer h1 { font-size: 1.75rem; line-height: 1.25; }
.stMainBlockContainer :is(h2, h3):not(.assay-head, .assay-text *) { font-size: 1.25rem; padding: .5rem 0 .25rem; }
.stMainBlockContainer h1.assay-place { font-size: 1rem; line-height: 1.5; font-weight: 600; padding: 0; margin: 0; }
.assay-where { display: flex; flex-wrap: wrap; column-gap: .75rem; align-items: baseline; }
.assay-where .assay-status { margin-inline-start: auto; }
.assay-framed { padding: .75rem 1rem; border-radius: .5rem; background: color-mix(in srgb, #1c83e1 12%, transparent); }
.assay-text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; line-height: 1.6;
  font-size: 1.05rem; text-align: start; }
.assay-card { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .5rem;
  padding: .75rem 1rem; }
.assay-legend { margin-bottom: .5rem; }
.assay-pair { display: grid; grid-template-columns: 1fr 1fr; column-gap: 1rem; }
.assay-pair > * { min-width: 0; }
/* Rows of both answers are as high as the longer one: sentences that say the same face each other. */
.assay-pair > .assay-card { display: grid; grid-template-rows: subgrid; grid-row: span var(--rows); }
.assay-pair .assay-text { display: grid; grid-template-rows: subgrid; grid-row: 2 / -2; }
.assay-row { unicode-bidi: plaintext; padding-block: .15rem; min-width: 0; }
.assay-missing:not(:empty) { margin-top: .5rem; }
.assay-side { font-weight: 600; }
.assay-head.assay-head { margin: 0; padding: 0; font-size: inherit; line-height: inherit; letter-spacing: inherit; color: inherit; }
.assay-head.assay-quiet { font-size: .9rem; font-weight: inherit; }
.assay-head.assay-apart { margin-top: .5rem; }
/* For who hears the page: what others see by its place. */
.assay-unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.assay-title { margin-bottom: .35rem; display: flex; flex-wrap: wrap; column-gap: .75rem; align-items: baseline; }
.assay-question { font-size: 1.2rem; font-weight: 600; margin-top: .6rem; max-height: 8em; overflow-y: auto; }
.assay-reference { border-inline-start: .25rem solid color-mix(in srgb, currentColor 30%, transparent);
  padding-inline-start: .75rem; max-height: 14em; overflow-y: auto; }
.assay-quiet { opacity: .8; font-size: .9rem; }
.assay-turns { margin-top: .6rem; display: grid; gap: .5rem; }
.assay-turns, .assay-turn { min-width: 0; }
.assay-turn { border-inline-start: .2rem solid color-mix(in srgb, currentColor 20%, transparent); padding-inline-start: .75rem; }
.assay-turns > .assay-turn .assay-text { max-height: 10em; overflow-y: auto; }
.assay-earlier summary { cursor: pointer; width: fit-content; padding-block: .25rem; }
.assay-folded { display: grid; gap: .5rem; margin-top: .4rem; max-height: 60vh; overflow-y: auto; }
.assay-turns + .assay-head.assay-quiet { margin-top: .6rem; }
.assay-turns [tabindex]:focus-visible { outline-offset: -2px; }
.stMainBlockContainer h1:focus-visible { outline-offset: .3rem; border-radius: .1rem; }
/* A part that is cut off fades out below until it is scrolled to its end, where the browser can tell. */
.assay-turns > .assay-turn .assay-text, .assay-folded { animation: assay-cut linear both; animation-timeline: scroll(self); }
@keyframes assay-cut {
  from, 98% { mask-image: linear-gradient(#000 calc(100% - 2.5em), transparent); }
  to { mask-image: none; }
}
.assay-turns + .assay-quiet + .assay-question { margin-top: 0; }
.assay-level { display: inline-block; border-radius: .4rem; padding: .1rem .55rem; font-weight: 600;
  background: color-mix(in srgb, currentColor 12%, transparent); }
.assay-card > .assay-head.assay-side { margin-bottom: .35rem; }
.assay-text ins { text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 3px;
  background: color-mix(in srgb, #f2b600 32%, transparent); border-radius: .15rem; }
.assay-text del { text-decoration: line-through; opacity: .72; unicode-bidi: isolate; }
[data-variant=segmented_control] { color: inherit !important; }
[data-testid=stSliderThumbValue] { color: inherit; font-weight: 600; }
.assay-text del + ins { margin-inline-start: .2em; }
.stExpander details { height: auto !important; overflow: visible !important; }
.stExpander [data-testid=stExpanderDetails][inert] { display: none; }
div:has(> .st-key-choices) { position: sticky; bottom: 0; z-index: 5; }
/* What takes the focus does not hide behind the buttons. */
[data-testid=stMain] { scroll-padding-block: 1rem 6rem; }
:is([data-testid=stMain], .assay-text, .assay-folded, .assay-scroll):focus-visible { outline: 3px solid var(--st-primary-color, #2f6690); outline-offset: -3px; }
[data-testid=stMain]:has(.st-key-choices .assay-framed) { scroll-padding-bottom: 14rem; }
@media (max-height: 400px) {
  /* A window this low, as at 400 % zoom, is for reading: the buttons wait below the texts. */
  div:has(> .st-key-choices) { position: static; }
  [data-testid=stMain]:has(.st-key-choices) { scroll-padding-bottom: 1rem; }
}
.st-key-choices { padding: .6rem 0 .8rem; background: Canvas; }
/* Streamlit's own backgrounds, where the browser can tell the theme. */
.st-key-choices { background: light-dark(Canvas, #171614); }
.st-key-choices [data-testid=stHorizontalBlock] > * { min-width: 0; flex: 1 1 0; }
.st-key-k button { min-height: 2rem; padding-block: 0; }
.st-key-moves > * { flex: 1 1 9rem; }
/* Words wrap, however wide somebody sets them; the key of a button goes below them. */
:is(.st-key-choices, .st-key-moves) button { height: auto; }
:is(.st-key-choices, .st-key-moves) button * { white-space: normal; overflow: visible; text-overflow: clip; }
.st-key-choices [data-has-shortcut=true] { flex-wrap: wrap; justify-content: center; column-gap: .5rem; }
.st-key-choices [data-has-shortcut=true] p { overflow-wrap: normal; word-break: normal; }
/* Targets of 24 px at least. */
:is([data-testid=stRadio], [data-testid=stCheckbox]) label { min-height: 1.75rem; }
[data-testid=stTooltipIcon] button { min-width: 1.5rem; min-height: 1.5rem; justify-content: center; }
[class*="st-key-answer-"] button { height: auto; }
[class*="st-key-answer-"] button * { white-space: normal; overflow: visible; text-overflow: clip; }
@media (max-width: 640px) {
  .assay-text { font-size: 1rem; }
  .assay-turns > .assay-turn .assay-text { max-height: 7em; }
  .st-key-choices [data-testid=stHorizontalBlock] { flex-wrap: nowrap; gap: .4rem; }
  .assay-pair { grid-template-columns: 1fr; row-gap: 1rem; }
  /* One below the other, each answer is running text. */
  .assay-pair > .assay-card, .assay-pair .assay-text { display: block; grid-row: auto; }
  .assay-row { display: inline; unicode-bidi: normal; }
  .st-key-modes [role=radiogroup] button, .st-key-modes [data-testid=stButtonGroup] button { padding-inline: .3rem; }
  .st-key-k { display: none; }
  .st-key-choices button { padding-inline: .25rem; min-height: 2.8rem; }
  .st-key-choices button * { line-height: 1.2; }
  .st-key-choices [data-has-shortcut=true] { flex-direction: column; }
}
@media (max-width: 360px) {
  .st-key-choices [data-testid=stHorizontalBlock] { flex-wrap: wrap; }
  .st-key-choices [data-testid=stHorizontalBlock] > * { flex: 1 1 7rem; }
}
@media (forced-colors: active) {
  /* Grounds are gone: what they said is said by lines. */
  .assay-level { border: 2px solid; }
  .assay-text ins { outline: 1px solid; outline-offset: 1px; }
  .assay-text del { opacity: 1; text-decoration-thickness: 2px; }
  .assay-framed, [data-testid=stAlertContainer] { border: 1px solid; }
  [role=progressbar] { outline: 1px solid; }
  button[kind=primary] { border: 4px double ButtonText; }
  [role=radio][aria-checked=true] { outline: 3px solid Highlight; outline-offset: -3px; }
  :is([data-testid=stRadio], [data-testid=stCheckbox]) label:has(input:checked) > :not(:has(input), [data-testid], p):first-of-type { background: Highlight; forced-color-adjust: none; }
  kbd { opacity: 1; color: CanvasText; }
}
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after { animation-duration: 1ms !important; animation-iteration-count: 1 !important;
    transition-duration: 1ms !important; scroll-behavior: auto !important; }
}
"""


def style() -> None:
    """The page's style sheet; call once a page."""
    st.html(f"{_STYLE}{documents.STYLE}</style>")


def heading(
    question: str,
    reference: str,
    language: str,
    level: str,
    instruction: str,
    aids: Aids,
    words: Mapping[str, str],
    shown: Shown = AS_WRITTEN,
    turns: Sequence[Turn] = (),
    number: int = 0,
    *,
    of_study: bool = True,
) -> None:
    """Question, reference where there is one, and what is asked, with the level in place of `{level}`.

    words: as in texts. shown: how answers are shown, and the reference with them. turns: those before the question. number:
    as in conversation. of_study: whether the instruction is one of the study's words, or the page's own.
    """
    before, _, after = map(escape, instruction.partition(LEVEL))
    named, meaning = escape(level), aids.meanings.get(level)
    badge = f'<span class="assay-level"><bdi>{named}</bdi></span>' if level else ""
    what = f' <bdi class="assay-quiet">{named}: {escape(meaning)}.</bdi>' if meaning else ""
    # What is asked comes first: however long the question is, it is on the screen when the buttons are.
    part = f' class="assay-{STUDY_WORDS}"' if of_study else ""
    html = f"<div><span{part}>{before}{badge}{after}</span>{what}</div>" if instruction else ""
    html += conversation(turns, language, shown.question, words, number)
    html += (
        heading_html(study_words(words[TURN_KEYS["user"]]), "assay-quiet")
        if turns
        else heading_html("Question", "assay-unseen")
    )
    html += f'<div class="assay-question assay-text" tabindex="0" {language_of(language)}>{text_html(question, shown.question)}</div>'
    if reference:
        html += (
            f"{heading_html('Reference (correct and complete)', 'assay-quiet assay-apart')}"
            f'<div class="assay-reference assay-text" tabindex="0" {language_of(language)}>{text_html(reference, shown)}</div>'
        )
    st.html(html)


MOST_TURNS = 3
"""Turns of a conversation that are in sight, the question among them; those before are folded."""


def conversation(
    turns: Sequence[Turn], language: str, shown: Shown, words: Mapping[str, str], number: int = 0
) -> str:
    """The turns before a question as HTML, the early ones folded; empty where there are none.

    number: of what is on the screen. With another number the browser draws the same turns anew, folded as at first.
    """
    if not turns:
        return ""
    cut = max(0, len(turns) + 1 - MOST_TURNS)
    early = "".join(_turn_html(turn, language, shown, words) for turn in turns[:cut])
    if early:
        named = escape(words[EARLIER_TURNS].replace(NUMBER, f"{cut:,}"))
        early = (
            f'<details class="assay-earlier"><summary class="assay-{STUDY_WORDS}">{named}</summary>'
            f'<div class="assay-folded" tabindex="0">{early}</div></details>'
        )
    late = "".join(_turn_html(turn, language, shown, words, " tabindex=0") for turn in turns[cut:])
    return f'<div class="assay-turns" data-number="{number}">{early}{late}</div>'


def _turn_html(
    turn: Turn, language: str, shown: Shown, words: Mapping[str, str], attributes: str = ""
) -> str:
    return (
        f'<div class="assay-turn">{heading_html(study_words(words[TURN_KEYS[turn.role]]), "assay-quiet")}'
        f'<div class="assay-text"{attributes} {language_of(language)}>{text_html(turn.text, shown)}</div></div>'
    )


def heading_html(words: str, classes: str) -> str:
    """Words, which are HTML, as a heading below the page's title, for people who move by headings. classes: of its look."""
    return f'<h2 class="assay-head {classes}">{words}</h2>'


def text_html(text: str, shown: Shown) -> str:
    """A text without marks, as it is shown."""
    return escape(text) if shown.as_written else documents.document_html(rendered(text, shown))


def mode_for(base: str, remembered: str, aids: Aids) -> str:
    """The mode of a pair. base: `own_a0`, `reference` or `none`, as BlindPair has it.

    remembered: a mode, which is taken where the pair offers it, or BY_BASE.
    """
    return remembered if remembered in aids.modes[base] else aids.first[base]


def remembered_mode(mode: str, base: str, remembered: str, aids: Aids) -> str:
    """What to remember of a rater who now sees `mode`: a mode that was chosen, BY_BASE for the mode of the base."""
    if mode == mode_for(base, remembered, aids):
        return remembered
    return BY_BASE if mode == mode_for(base, BY_BASE, aids) else mode


def diff_used(mode: str, base: str) -> str:
    """The differences that were marked, as they are stored with a vote."""
    return {WORDS: base, NAMES: f"{base}_names"}.get(mode, mode)


def diff_control(base: str, remembered: str, aids: Aids, keys: KeyScheme) -> str:
    """Which differences to mark; the value is one of DIFF_MODES. base, remembered: as in mode_for. keys: as in answer_keys."""
    modes = aids.modes[base]
    # A control for each base: a mode chosen at A0 does not move the control of the other levels.
    key = {OWN_BASE: "d", REFERENCE: "a-d"}.get(base, "n-d")
    if st.session_state.get(key) is None:
        st.session_state[key] = mode_for(base, remembered, aids)
    with st.container(key="modes", horizontal=True, vertical_alignment="bottom", gap="small"):
        mode: str | None = st.segmented_control(
            "Mark differences",
            modes,
            format_func=MODE_NAMES.__getitem__,
            required=True,
            key=key,
            wrap=True,
            help=f"Each answer was made, level by level, from a correct answer of its own, its {FIRST_LEVEL}."
            if base == OWN_BASE
            else None,
        )
        st.button(
            "Switch",
            key="k",
            shortcut=answer_keys.mode_key(keys),
            type="tertiary",
            on_click=_next_mode,
            args=(key, modes),
        )
    return mode or mode_for(base, remembered, aids)


def _next_mode(key: str, modes: Sequence[str]) -> None:
    shown = st.session_state.get(key)
    st.session_state[key] = modes[(modes.index(shown) + 1) % len(modes) if shown in modes else 0]


def texts(
    words: Mapping[str, str],
    left: str,
    right: str,
    left_base: str,
    right_base: str,
    language: str,
    mode: str,
    base: str,
    shown: Shown = AS_WRITTEN,
) -> None:
    """The two answers under their names side by side, with the differences that `mode` asks for.

    words: all that the study says in the rater's language; some stand for an empty answer. base: what left_base and right_base
    are, as in mode_for. Where texts are shown as written and something is marked, sentences that say the same face each other.
    shown: how the texts are set; marks are on words as they are read.
    """
    names = box_names(words)
    pairs = ((left_base, left), (right_base, right))
    if not shown.as_written:
        _documents(words, pairs, language, mode, base, shown)
        return
    sides = _sides(pairs, language, mode, base)
    if NO_ANSWER in (left, right):  # nothing to compare with, and nothing to face
        left, right = (text or words[NO_ANSWER_KEY] for text in (left, right))
        sides, mode = [_Side((Segment(text, "same"),), "") for text in (left, right)], NO_DIFF
    rows = (facing_rows(left, right) if mode != NO_DIFF else []) or [(left, right)]
    bodies = [
        "".join(
            f'<div class="assay-row" dir="auto">{marked_html(row)}</div>'
            for row in cut_at_rows(side.segments, column)
        )
        for side, column in zip(sides, zip(*rows, strict=True), strict=True)
    ]
    _cards(names, sides, bodies, language, _legend((left, right), language, mode, base), len(rows))


def _documents(
    words: Mapping[str, str],
    pairs: Sequence[tuple[str, str]],
    language: str,
    mode: str,
    base: str,
    shown: Shown,
) -> None:
    """The two answers as documents. pairs: of each answer what it is compared with, and its text."""
    answers = [text for _, text in pairs]
    if NO_ANSWER in answers:  # nothing to compare with
        mode = NO_DIFF
    shown_as = [AS_WRITTEN if text == NO_ANSWER else shown for text in answers]
    set_texts = [
        rendered(text or words[NO_ANSWER_KEY], how) for text, how in zip(answers, shown_as, strict=True)
    ]
    others = answers[::-1] if mode == LEFT_RIGHT else [old for old, _ in pairs]
    if mode in (WORDS, LEFT_RIGHT):
        set_texts = [
            compare_blocks(document, rendered(other, shown))
            for document, other in zip(set_texts, others, strict=True)
        ]
    as_read = [
        (text_as_read(old, shown), read(document).text)
        for (old, _), document in zip(pairs, set_texts, strict=True)
    ]
    sides = _sides(as_read, language, mode, base)
    for at, document in enumerate(set_texts):
        if blocks := count_differing(document):
            sides[at] = replace(
                sides[at], count=f"{sides[at].count}, {counted(blocks, 'block')} set differently"
            )
    bodies = [
        documents.document_html(marked(document, side.segments))
        for document, side in zip(set_texts, sides, strict=True)
    ]
    legend = _legend((as_read[0][1], as_read[1][1]), language, mode, base)
    if any(count_differing(document) for document in set_texts):
        legend += " Framed: the same words in another kind of block, such as a list or a table."
    _cards(box_names(words), sides, bodies, language, legend, 1)


def _cards(
    names: Sequence[str],
    sides: Sequence["_Side"],
    bodies: Sequence[str],
    language: str,
    legend: str,
    rows: int,
) -> None:
    """Both answers as cards, whose rows face each other. bodies: HTML. rows: of each body."""
    cards = "".join(
        _side_html(study_words(name), side, body, language)
        for name, side, body in zip(names, sides, bodies, strict=True)
    )
    shown = rows + 2  # a title above, what is missing below
    # One message, where columns take five.
    st.html(
        f'<div class="assay-quiet assay-legend">{legend}</div>'
        f'<div class="assay-pair" style="--rows:{shown}">{cards}</div>'
    )


@dataclass(frozen=True)
class _Side:
    segments: Sequence[Segment]
    count: str
    """How many differences are marked, in words; empty: none are looked for."""
    missing: Sequence[str] = ()


def _sides(pairs: Sequence[tuple[str, str]], language: str, mode: str, base: str) -> list[_Side]:
    """pairs: of each answer what it is compared with, and its text."""
    noun = "change" if base == OWN_BASE and mode != LEFT_RIGHT else "difference"
    if mode == NAMES:
        return [_lacking(unshared(old, text, language), noun) for old, text in pairs]
    if mode == NO_DIFF:
        return [_Side((Segment(text, "same"),), "") for _, text in pairs]
    (_, left), (_, right) = pairs
    marked = (
        diff_pair(left, right, islands=READABLE)
        if mode == LEFT_RIGHT
        else [diff_against(old, text, islands=READABLE) for old, text in pairs]
    )
    return [_Side(segments, _count(segments, noun)) for segments in marked]


def _lacking(found: Unshared, noun: str) -> _Side:
    missing = f", {len(found.missing)} missing" if found.missing else ""
    return _Side(found.segments, _count(found.segments, noun) + missing, found.missing)


def _count(segments: Sequence[Segment], noun: str) -> str:
    """How many places are marked; a word that took the place of another is one."""
    kinds = [segment.kind for segment in segments]
    number = sum(
        kind == "added" or (kind == "removed" and kinds[at + 1 : at + 2] != ["added"])
        for at, kind in enumerate(kinds)
    )
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _legend(answers: tuple[str, str], language: str, mode: str, base: str) -> str:
    """What is marked, in a sentence or two."""
    own = base == OWN_BASE
    if mode == NO_DIFF:
        return "Nothing is marked."
    if mode == LEFT_RIGHT:
        return "Underlined: words that the other answer does not have."
    if mode == WORDS and own:
        return f"Underlined: new since the answer’s own {FIRST_LEVEL}. Struck through: removed."
    if mode == WORDS:
        return "Underlined: words that differ from the reference. Struck through: the reference’s words."
    named = capitals_show_names(language, *answers)
    other = f"the answer’s own {FIRST_LEVEL}" if own else "the reference"
    return f"Underlined: numbers{' and names' if named else ''} that {other} does not contain. " + (
        "Names are words with a capital inside a sentence."
        if named
        else "Names are not marked: in this language capitals do not show them."
    )


def _side_html(title: str, side: _Side, body: str, language: str) -> str:
    """An answer with its title, its text, and what it lacks."""
    of_language = language_of(language)
    count = f' <span class="assay-quiet">{side.count}</span>' if side.count else ""
    missing = ""
    if side.missing:
        listed = " · ".join(f"<bdi>{escape(one)}</bdi>" for one in side.missing[:_MOST_MISSING])
        more = len(side.missing) - _MOST_MISSING
        missing = (
            f"Missing here: <span {of_language}>{listed}</span>{f' and {more} more' if more > 0 else ''}"
        )
    return (
        f'<div class="assay-card"><div class="assay-title">{heading_html(title, "assay-side")}{count}</div>'
        f'<div class="assay-text" {of_language}>{body}</div>'
        f'<div class="assay-quiet assay-missing">{missing}</div></div>'
    )


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
    *,
    keys: KeyScheme,
    timed: str | None = None,
) -> _Press | None:
    """A button a label; what was pressed in this run. keys: those that press the buttons.

    `on_press` is called in turn with the choice and `args`, before anything is drawn. `prefix` names the
    pair that is on the screen, so that a press that arrives late is never taken for an answer to the pair
    after it. `timed` goes with `on_press`, which has what the browser says of that entry as `told`, as in timed_turn.
    """
    pressed: _Press | None = None
    if timed is not None:
        time_presses(place, timed, answer_keys.answer_keys(keys, len(labels)))
    row = place.container(key=f"{STUDY_WORDS}-0", horizontal=True)
    for number, choice in enumerate(labels, start=1):
        if row.button(
            plain(labels[choice]),
            key=f"{prefix}-{number}",
            shortcut=answer_keys.answer_key(keys, number),
            type="primary" if choice == current else "secondary",
            width="stretch",
            on_click=timed_turn(on_press, timed) if on_press and timed else None,
            args=(choice, *args) if on_press else None,
        ):
            pressed = choice
    return pressed


def time_presses(place: DeltaGenerator, entry: str, keys: Sequence[str] = ()) -> None:
    """Have the presses of buttons in choice_place, and of their keys, come with the time that `entry` was visible."""
    with place:
        own.visible_time(entry, keys)


def timed_turn(call: Callable[..., None], entry: str) -> Callable[..., None]:
    """As call_in_turn, for a button that time_presses measures: `call` has what came with the press as `told`."""
    return partial(_wait_with_time, call, entry)


def _wait_with_time(call: Callable[..., None], entry: str, *args: object) -> None:
    # Read with the press: once its turn has come, nothing of Streamlit is touched before it is saved.
    _wait(call, *args, told=own.last_press(entry))


def card(title: str, body: str, language: str, more: str = "") -> str:
    """A text under a title, both HTML. more: a class of the text."""
    return (
        f'<div class="assay-card">{heading_html(title, "assay-side")}'
        f'<div class="assay-text{more}" {language_of(language)}>{body}</div></div>'
    )


def marked_html(segments: Sequence[Segment]) -> str:
    """A text with its differences."""
    return "".join(documents.marked_words(segment.text, segment.kind) for segment in segments)


def language_of(tag: str) -> str:
    """Attributes that tell a browser how to set a text of this language, and not to translate it."""
    # An empty language says that it is unknown; without one it would be the page's. Nobody but its author writes a text.
    known = "" if tag == UNDETERMINED else escape(tag, quote=True)
    return f'translate="no" dir="auto" lang="{known}"'
