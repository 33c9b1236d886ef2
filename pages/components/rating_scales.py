"""What a task asks of a text, on the screen: answers in words to press, or a slider with its number; and all explained.

Words of a task are its author's: they are shown as they are and never become Markdown.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

import streamlit as st

from core.schema.tasks import Dimension, RatingTask, SpanTask
from pages.components.messages import plain
from pages.components.presses import in_turn

MOST_BUTTONS = 7
"""With more answers on offer than this a dimension has a slider, and a box for its number."""
NOT_RATED = "not rated yet"
"""Where a slider begins: its own place beside the scale, so that no answer is there before the rater gives it."""
_FEWEST_PLACES = 20
"""On a slider whose dimension offers any number; a number between two places is written into the box."""
_ECHO_SECONDS, _MOST_ECHOES = 3.0, 100
"""How long a browser may still send what a slider or its box held before, and how many such numbers are known."""
_KEYS_IN_TEXT = (
    "**Marking errors by keyboard.** Move to the text with Tab. Arrow keys move, with Shift they select; Ctrl goes "
    "word by word. Then press the number of a severity, choose a category, and press Enter. Inside a marked error "
    "Enter opens it, the numbers change its severity, Delete removes it. Escape lets go."
)


@dataclass(frozen=True)
class Box:
    """A number box on the screen: what it holds now."""

    dimension: str
    key: str
    value: float | None


def has_buttons(dimension: Dimension) -> bool:
    """Whether the answers are few enough to be pressed."""
    return 0 < len(dimension.classes) <= MOST_BUTTONS


def one_keyed(task: RatingTask) -> bool:
    """Whether the keys 1, 2 ... may stand for answers: one dimension, and no errors whose severities have them."""
    return len(task.dimensions) == 1 and task.spans is None


def buttons(
    dimension: Dimension,
    number: int,
    current: float | None,
    key: str,
    *,
    keyed: bool,
    on_press: Callable[[str, float], None],
) -> float | None:
    """The answers of one dimension side by side; what was pressed in this run.

    number: of the dimension in the task, which its keys carry in place of its name.
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
            shortcut=str(place) if keyed else None,
            type="primary" if value == current else "secondary",
            width="stretch",
            on_click=in_turn(on_press),
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
) -> Box:
    """A slider and a box for the number of one dimension; neither holds one until the rater gives it.

    They hold the same number: each follows the other. Once there is one the slider's ends are the scale's; emptying the
    box takes the answer back.
    """
    _question(dimension, current)
    if dimension.anchors:
        st.html(
            '<div class="assay-quiet">'
            + "<br>".join(f"{value:g}: {escape(words)}" for value, words in dimension.anchors)
            + "</div>"
        )
    where, moving = _keys(number, key)
    # No widget has a default, to which a box that is emptied would return.
    held = _told(number, key, time.monotonic()) or _Held(current)
    for one in (where, moving):
        if st.session_state.get(one) != held.value:
            st.session_state[one] = held.value
    st.session_state[_held(moving)] = held
    wide, narrow = st.columns([4, 1], vertical_alignment="center")
    with wide:
        late = _slide(dimension, held.value, moving, on_change)
    if late != held.value:  # moved while the server was away
        st.session_state[where] = late
    places = _places(dimension)
    whole = all(one.is_integer() for one in places)
    value = narrow.number_input(
        plain(f"{dimension.title}, {dimension.lowest:g} to {dimension.highest:g}"),
        min_value=float(dimension.lowest),
        max_value=float(dimension.highest),
        value=None,
        step=places[1] - places[0],
        format="%.0f" if whole and dimension.step > 0 else "%g",
        placeholder=f"{dimension.lowest:g} to {dimension.highest:g}",
        label_visibility="collapsed",
        key=where,
        on_change=in_turn(on_change),
    )
    return Box(dimension.name, where, value)


def in_browser(dimension: Dimension, number: int, key: str) -> Box | None:
    """What slider and box hold by now, for a callback that comes before they are drawn; None where they never were."""
    held = _told(number, key, time.monotonic())
    return None if held is None else Box(dimension.name, _keys(number, key)[0], held.value)


@dataclass(frozen=True)
class _Held:
    """The number of a slider and its box as they were drawn."""

    value: float | None
    by: str = ""
    """The key of the one that the rater used."""
    past: tuple[tuple[float | None, float], ...] = ()
    """(number, monotonic time when another took its place), the newest last."""


def _told(number: int, key: str, now: float) -> _Held | None:
    """The number that the browser tells; None where slider and box were never drawn.

    A browser sends both whenever it sends anything. Until it has heard that one was used, it sends the other as it was
    before: that is an echo, no answer. Of two new numbers the slider's holds: what was written reached the server first.
    """
    where, moving = _keys(number, key)
    state = st.session_state
    if where not in state:
        return None
    held: _Held = state.get(_held(moving), _Held(state[where]))
    echoes = [value for value, then in held.past if now - then < _ECHO_SECONDS]
    for one in (moving, where):
        value = None if state.get(one) is None else float(state[one])
        if one in state and value != held.value and (one == held.by or value not in echoes):
            return _Held(value, one, (*held.past[-_MOST_ECHOES:], (held.value, now)))
    return held


def _slide(
    dimension: Dimension, held: float | None, moving: str, on_change: Callable[[], None]
) -> float | None:
    """The slider alone; where it stands."""
    places: list[float | None] = [*sorted({*_places(dimension), *([] if held is None else [held])})]
    anchors = dict(dimension.anchors)
    ends = [
        f"{end:g}{f' = {anchors[end]}' if end in anchors else ''}"
        for end in (dimension.lowest, dimension.highest)
    ]
    return st.select_slider(
        plain(f"{dimension.title}, from {ends[0]} to {ends[1]}"),
        places if held is not None else [None, *places],
        format_func=lambda one: NOT_RATED if one is None else f"{one:.10g}",
        label_visibility="collapsed",
        key=moving,
        on_change=in_turn(on_change),
    )


def _keys(number: int, key: str) -> tuple[str, str]:
    """Of a dimension's box and slider, by the dimension's number in the task."""
    return f"b{number}-{key}", f"r{number}-{key}"


def _held(moving: str) -> str:
    """Where it is kept what a slider and its box were last drawn with."""
    return f"{moving}-held"


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
        st.subheader("What you are asked", anchor=False)
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
            f"<h4>{escape(dimension.title)} ({dimension.lowest:g} to {dimension.highest:g})</h4>"
            f"<p>{escape(dimension.description)}</p>{more}<ul>{rows}</ul>"
        )
    if task.spans is None:
        return
    st.subheader("Marking errors", anchor=False)
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


def changed(boxes: list[Box], known: Mapping[str, float | None]) -> dict[str, float | None]:
    """What was written into number boxes in this tab, and only that: another tab may have said more meanwhile."""
    return {one.dimension: one.value for one in boxes if one.value != known.get(one.dimension)}


def _question(dimension: Dimension, current: float | None) -> None:
    said = "" if current is None else f" · :material/check: {current:g} saved"
    st.markdown(f"**{plain(dimension.title)}**{said}  \n{plain(dimension.description)}")
