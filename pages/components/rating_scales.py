"""What a task asks of a text, on the screen: answers in words to press, or a box for a number; and all of it explained.

Words of a task are its author's: they are shown as they are and never become Markdown.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

import streamlit as st

from core.schema.tasks import Dimension, RatingTask
from pages.components.messages import plain

MOST_BUTTONS = 7
"""With more answers on offer than this a dimension has a box for the number."""
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
            on_click=on_press,
            args=(dimension.name, value),
        ):
            pressed = value
    return pressed


def box(
    dimension: Dimension,
    number: int,
    current: float | None,
    key: str,
    on_change: Callable[[], None],
) -> Box:
    """A box for the number of one dimension; empty until the rater writes into it."""
    _question(dimension, current)
    if dimension.anchors:
        st.html(
            '<div class="assay-quiet">'
            + "<br>".join(f"{value:g}: {escape(words)}" for value, words in dimension.anchors)
            + "</div>"
        )
    step = dimension.step if dimension.step > 0 else 1.0
    whole = dimension.step > 0 and all(one.is_integer() for one in map(float, (dimension.lowest, step)))
    where = box_key(number, key)
    value = st.number_input(
        plain(f"{dimension.title}, {dimension.lowest:g} to {dimension.highest:g}"),
        min_value=float(dimension.lowest),
        max_value=float(dimension.highest),
        value=current,
        step=float(step),
        format="%.0f" if whole else "%g",
        placeholder=f"{dimension.lowest:g} to {dimension.highest:g}",
        key=where,
        on_change=on_change,
    )
    return Box(dimension.name, where, value)


def box_key(number: int, key: str) -> str:
    """The key of a dimension's number box, by the dimension's number in the task."""
    return f"b{number}-{key}"


def explained(task: RatingTask) -> None:
    """Dimensions with the meaning of their answers, severities, categories, and the keys."""
    if task.dimensions:
        st.subheader("What you are asked", anchor=False)
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
        + (" Where the error is in the source itself, select it there." if task.spans.source_side else "")
    )
    st.markdown(f"Severities, mildest first: {plain(', '.join(task.spans.severities))}.")
    if task.spans.categories:
        groups: dict[str, list[str]] = {}
        for category in task.spans.categories:
            group, _, name = category.partition("/")
            groups.setdefault(group, []).append(name or group)
        rows = "".join(
            f"<li><b>{escape(group)}</b>{'' if names == [group] else escape(': ' + ', '.join(names))}</li>"
            for group, names in groups.items()
        )
        st.html(f"<p>Categories:</p><ul>{rows}</ul>")
    st.markdown(_KEYS_IN_TEXT)


def changed(boxes: list[Box], known: Mapping[str, float | None]) -> dict[str, float | None]:
    """What was written into number boxes in this tab, and only that: another tab may have said more meanwhile."""
    return {one.dimension: one.value for one in boxes if one.value != known.get(one.dimension)}


def _question(dimension: Dimension, current: float | None) -> None:
    said = "" if current is None else f" · :material/check: {current:g} saved"
    st.markdown(f"**{plain(dimension.title)}**{said}  \n{plain(dimension.description)}")
