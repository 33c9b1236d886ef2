"""What a task asks of a text, on the screen: answers in words to press, or a slider with its number; and all explained.

Words of a task are its author's: they are shown as they are and never become Markdown.
"""

import math
from collections.abc import Callable
from html import escape

import streamlit as st

from core.schema.study import Dimension, KeyScheme, RatingTask, SpanTask
from pages.widgets import own
from pages.widgets.answer_keys import answer_key
from pages.widgets.blind_pair import call_in_turn, heading_html
from pages.widgets.messages import plain

MOST_BUTTONS = 7
"""With more answers on offer than this a dimension has a slider, and a box for its number."""
_FEWEST_PLACES = 20
"""On a slider whose dimension offers any number; a number between two places is written into the box."""
_KEYS_IN_TEXT = (
    "**Marking errors by keyboard.** Move to the text with Tab. The arrow keys move the cursor, and with Shift they select. Ctrl moves "
    "word by word. Then press the number of a severity, choose a category, and press Enter. Inside a marked error "
    "Enter opens it, the numbers change its severity, Delete removes it. Escape cancels a selection or closes an error."
)


Written = dict[str, float | None]
"""Dimension -> what a rater gave on its slider, or in the box beside it; None: the answer was taken back."""


def has_buttons(dimension: Dimension) -> bool:
    """Whether the answers are few enough to be pressed."""
    return 0 < len(dimension.classes) <= MOST_BUTTONS


def number_keyed(task: RatingTask) -> int:
    """The number of answers with a key: those of the only dimension, where no severities of errors have the keys."""
    if len(task.dimensions) != 1 or task.spans is not None or not has_buttons(task.dimensions[0]):
        return 0
    return len(task.dimensions[0].classes)


def buttons(
    dimension: Dimension,
    number: int,
    current: float | None,
    key: str,
    *,
    keys: KeyScheme,
    on_press: Callable[[str, float], None],
) -> float | None:
    """The answers of one dimension side by side; what was pressed in this run.

    number: of the dimension in the task, which its keys carry in place of its name. keys: those that stand for answers.
    """
    _question(dimension, current)
    anchors = dict(dimension.anchors)
    pressed = None
    columns = st.columns(len(dimension.classes))
    for place, (column, value) in enumerate(zip(columns, dimension.classes, strict=True), start=1):
        words = f": {anchors[value]}" if value in anchors else ""
        if column.button(
            plain(f"{value:g}{words}"),
            key=f"answer-{number}-{place}-{key}",
            shortcut=answer_key(keys, place),
            type="primary" if value == current else "secondary",
            width="stretch",
            on_click=call_in_turn(on_press),
            args=(dimension.name, value),
        ):
            pressed = value
    return pressed


def slider(
    dimension: Dimension,
    number: int,
    current: float | None,
    key: str,
    on_change: Callable[[], None],
) -> Written:
    """A slider and a box for the number of one dimension; what this browser gave by now, nothing before it gave anything.

    They hold no number until the rater gives one; emptying the box takes the answer back.
    """
    _question(dimension, current)
    anchors = dict(dimension.anchors)
    if anchors:
        st.html(
            '<div class="assay-quiet">'
            + "<br>".join(f"{value:g}: {escape(words)}" for value, words in dimension.anchors)
            + "</div>"
        )
    low, high = (
        f"{end:g}{f' = {anchors[end]}' if end in anchors else ''}"
        for end in (dimension.lowest, dimension.highest)
    )
    given = own.number_scale(
        dimension.title,
        _places(dimension),
        (low, high),
        current,
        key=f"b{number}-{key}",
        on_change=call_in_turn(on_change),
    )
    return {} if given is None else {dimension.name: given.value}


def browser_values(task: RatingTask, key: str) -> Written:
    """What sliders and their boxes gave by now, for a callback that comes before they are drawn."""
    found = {
        one.name: own.scale_in_browser(f"b{number}-{key}")
        for number, one in enumerate(task.dimensions, start=1)
    }
    return {name: given.value for name, given in found.items() if given is not None}


def _places(dimension: Dimension) -> tuple[float, ...]:
    """Where a slider can stand: the answers on offer, or of any number a round step apart, both ends among them."""
    if dimension.classes:
        return tuple(map(float, dimension.classes))
    low, high = float(dimension.lowest), float(dimension.highest)
    step = 10.0 ** math.floor(math.log10((high - low) / _FEWEST_PLACES))
    n = math.ceil((high - low) / step - 1e-9)
    return (*(round(low + k * step, 12) for k in range(n)), high)


def explained(task: RatingTask) -> None:
    """What is shown, dimensions with the meaning of their answers, severities and categories with theirs, the keys."""
    labels = task.labels
    if task.dimensions or task.show_reference:
        st.header("What you are asked", anchor=False)
    if task.show_reference:
        st.markdown(
            f"You see the {plain(labels.source)}, the {plain(labels.reference)} and the {plain(labels.text)}."
        )
    for dimension in task.dimensions:
        rows = "".join(f"<li>{value:g}: {escape(words)}</li>" for value, words in dimension.anchors)
        more = (
            f"<p style='white-space:pre-wrap'>{escape(dimension.detailed)}</p>" if dimension.detailed else ""
        )
        st.html(
            f"<h3>{escape(dimension.title)} ({dimension.lowest:g} to {dimension.highest:g})</h3>"
            f"<p>{escape(dimension.description)}</p>{more}<ul>{rows}</ul>"
        )
    if task.spans is None:
        return
    st.header("Marking errors", anchor=False)
    st.markdown(
        "Select the words that are wrong, choose how severe the error is and what kind of error it is. Errors may "
        "overlap. Words that are missing cannot be selected: select those next to the gap. Where there is nothing to "
        "mark, tick *No errors in this text*."
        + (
            f" Where the error is in the {plain(labels.source)} itself, select it there."
            if task.spans.source_side
            else ""
        )
    )
    if task.spans.meanings:
        meanings(task.spans)
    else:
        _names(task.spans)
    st.markdown(_KEYS_IN_TEXT)


def meanings(spans: SpanTask) -> None:
    """Severities and categories, each with its meaning."""
    for heading, names in (
        ("Severities, mildest first", spans.severities),
        ("Categories", spans.categories),
    ):
        rows = "".join(f"<li>{escape(spans.in_words(name))}</li>" for name in names)
        st.html(f"<p>{heading}:</p><ul>{rows}</ul>")


def _names(spans: SpanTask) -> None:
    """Severities and categories that their names explain: in one line a group."""
    st.markdown(f"Severities, mildest first: {plain(', '.join(spans.severities))}.")
    if spans.categories:
        groups: dict[str, list[str]] = {}
        for category in spans.categories:
            group, _, name = category.partition("/")
            groups.setdefault(group, []).append(name or group)
        rows = "".join(
            f"<li><b>{escape(group)}</b>{'' if names == [group] else escape(': ' + ', '.join(names))}</li>"
            for group, names in groups.items()
        )
        st.html(f"<p>Categories:</p><ul>{rows}</ul>")


def _question(dimension: Dimension, current: float | None) -> None:
    # The status names its dimension to people who hear it alone.
    named = f'<span class="assay-unseen">{escape(dimension.title)}: </span>'
    saved = "" if current is None else f'{named}<span aria-hidden="true">✓ </span>{current:g} saved'
    st.html(
        f'<div class="assay-title">{heading_html(escape(dimension.title), "assay-side")}<span class="assay-status">{saved}</span></div>'
        f"<div>{escape(dimension.description)}</div>"
    )
