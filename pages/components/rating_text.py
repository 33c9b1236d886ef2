"""Rating one text: draw it, save every score and mark before anything else happens, move on when all is said."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from core.errors import AssayError, InputError, NotAllowed, StillMissing
from core.schema.tasks import TaskLabels
from core.study.rated.desk import BlindText, RatingDesk
from pages.components import blind_pair, pair_list, presses, rating_marks, rating_scales, visitor
from pages.components.messages import plain
from pages.components.pair_list import Go
from pages.components.rating import DOUBLE_PRESS_SECONDS
from pages.components.rating_scales import Box
from pages.components.rating_tab import OnScreen, Tab, same_text

_AT, _SPENT, _SAVED, _HANDLED, _KNOWN = "text_at", "text_spent", "text_saved", "text_handled", "text_known"


def show(desk: RatingDesk, number: int, go: Go) -> None:
    """One text from top to bottom; a press is saved before this runs again."""
    text = desk.text(number)
    new_session = not st.session_state.get(_KNOWN)
    st.session_state[_KNOWN] = True
    key = f"{number}-{visitor.key_of(desk.token, text.mark)}"
    tab = _tab(key, text)
    screen = OnScreen(
        desk.token, number, text.mark, key, tab.shown_at, tab.earlier, rating_marks.unsaved(tab)
    )
    other = _header(desk, text, tab.before)
    _what_was_asked(text, desk.task.labels.headings, in_marker=rating_marks.marks_source(desk))
    rating_marks.text_with_errors(desk, text, screen, tab)
    if desk.task.spans is not None and desk.task.spans.meanings:
        with st.expander("What severities and categories mean"):
            rating_scales.meanings(desk.task.spans)
    boxes = _scales(desk, text, screen, new_session)
    written = pair_list.note(key, *tab.note, "text", on_change=partial(_written, screen))
    known = tab.note
    try:
        _keep(desk, number, tab, boxes, written)
    except AssayError as error:
        _refuse(number, error)
    else:
        if other is not None:  # only now: what was just written is saved
            go(other)
        pair_list.note_mark(written[1], "text")
    below = blind_pair.choice_place()  # always in sight, so that nobody presses and sees nothing happen
    presses.show_refused(below)
    pressed = below.button(
        "Save and go on",
        key=f"n{key}",
        type="primary",
        width="stretch",
        on_click=presses.in_turn(_done),
        args=(screen,),
    )
    if pressed and not st.session_state.pop(_HANDLED, False):
        # A press without its callback: the server was restarted while the text was on the screen.
        _done(replace(screen, shown_at=-math.inf) if new_session else screen)
        st.rerun()
    st.session_state.pop(_HANDLED, None)
    pair_list.navigation(desk, number, go)
    if (
        tab.note != known
    ):  # sent to a server that has started again since: its box does not know yet that it is saved
        st.rerun()


def leave() -> None:
    """Another thing than this text is on the screen: when it comes back it is read anew, and its time goes on."""
    tab = st.session_state.pop(_AT, None)
    if isinstance(tab, Tab):
        st.session_state.setdefault(_SPENT, {})[tab.key] = tab.earlier + time.monotonic() - tab.shown_at


def _tab(key: str, text: BlindText) -> Tab:
    tab = st.session_state.get(_AT)
    if not isinstance(tab, Tab) or tab.key != key:
        leave()
        earlier = st.session_state.get(_SPENT, {}).get(key, 0.0)
        before = st.session_state.pop(_SAVED, None)
        tab = Tab(key, time.monotonic(), (text.comment, text.invalid), dict(text.scores), earlier, before)
        st.session_state[_AT] = tab
    return tab


def _header(desk: RatingDesk, text: BlindText, before: int | None) -> int | None:
    """Where the rater is, what is saved, and the way to the other texts of the same source: which of them was pressed."""
    done = desk.done
    where, saved = st.columns([2, 3], vertical_alignment="bottom")
    where.markdown(f"**Text {text.number} of {text.total}** · {done} done")
    marks = [f":material/check: Text {before} saved"] if before else []
    marks += [":material/check: This text is done; what you change is saved"] if text.done else []
    saved.markdown(" · ".join(marks) or "Not done yet")
    st.progress(done / text.total)
    place, of = text.place_in_source
    if of == 1:
        return None
    pressed = None
    together = text.same_source
    statuses = {status.number: status for status in desk.statuses(min(together), max(together))}
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f"Text {place} of {of} for this {plain(desk.task.labels.source)}", width="content")
        for step, other in enumerate(text.same_source, start=1):
            mark = " :material/check:" if statuses[other].answered else ""
            if st.button(f"{step}{mark}", key=f"s{step}", disabled=other == text.number):
                pressed = other
    return pressed


def _what_was_asked(text: BlindText, headings: TaskLabels, *, in_marker: bool) -> None:
    shown = [] if in_marker else [(headings.source, text.source_text)]
    for heading, words in [*shown, (headings.reference, text.reference)]:
        if words:
            st.html(
                f'<div class="assay-quiet">{escape(heading)}</div>'
                f'<div class="assay-reference assay-text" dir="auto">{escape(words)}</div>'
            )


def _scales(desk: RatingDesk, text: BlindText, screen: OnScreen, new_session: bool) -> list[Box]:
    """The task's dimensions; the number boxes among them, as they are in the browser."""
    boxes = []
    for number, dimension in enumerate(desk.task.dimensions, start=1):
        current = text.scores.get(dimension.name)
        if not rating_scales.has_buttons(dimension):
            box = rating_scales.slider(dimension, number, current, screen.key, partial(_written, screen))
            boxes += [] if box is None else [box]
            continue
        pressed = rating_scales.buttons(
            dimension,
            number,
            current,
            screen.key,
            keyed=rating_scales.one_keyed(desk.task),
            on_press=partial(_score, screen),
        )
        if pressed is not None and not st.session_state.get(_HANDLED):
            _score(replace(screen, shown_at=-math.inf) if new_session else screen, dimension.name, pressed)
            st.rerun()
    return boxes


def _score(screen: OnScreen, dimension: str, value: float) -> None:
    """An answer was pressed: save it; a double press, and one meant for a text that is gone, change nothing."""
    problem: AssayError | None = None
    if time.monotonic() - screen.shown_at >= DOUBLE_PRESS_SECONDS:
        try:
            with visitor.rating_desk(screen.token) as desk:
                same_text(desk, screen, screen.mark)
                desk.save_scores(screen.number, {dimension: value})
        except AssayError as error:
            problem = error
    _handled(screen, problem)


def _written(screen: OnScreen) -> None:
    """A number or a note was written: save it before anything is drawn, also when its text is drawn no more."""
    tab = st.session_state.get(_AT)
    if not isinstance(tab, Tab) or tab.key != screen.key:
        return
    try:
        with visitor.rating_desk(screen.token) as desk:
            same_text(desk, screen, screen.mark)
            _keep_written(desk, screen, tab)
    except AssayError as error:
        _refuse(screen.number, error)


def _boxes_in_browser(desk: RatingDesk, screen: OnScreen) -> list[Box]:
    numbered = enumerate(desk.task.dimensions, start=1)
    found = [rating_scales.in_browser(dimension, number, screen.key) for number, dimension in numbered]
    return [one for one in found if one is not None]


def _done(screen: OnScreen) -> None:
    """Save and go on was pressed. What is still in the browser alone is saved first, where it is needed."""
    seconds = time.monotonic() - screen.shown_at
    place: str | None = None
    problem: AssayError | None = None
    if seconds >= DOUBLE_PRESS_SECONDS:
        taken = seconds + screen.earlier if math.isfinite(seconds) else None
        try:
            with visitor.rating_desk(screen.token) as desk:
                place = _completed(desk, screen, taken, lambda: _left_in_browser(desk, screen))
        except AssayError as error:
            problem = error
    if place:
        st.session_state[_SAVED] = screen.number
        leave()
        pair_list.move(place)
    _handled(screen, problem)


def _completed(
    desk: RatingDesk, screen: OnScreen, seconds: float | None, keep_rest: Callable[[], None]
) -> str:
    """Complete the text; where to go next. Raises NotAllowed that names what is missing."""
    number = screen.number
    before = same_text(desk, screen, screen.mark)
    # Nothing of Streamlit is touched until the press is on disk, unless something is missing there: each of its
    # calls may end this run when a newer event waits.
    early = not screen.unsaved and not desk.missing(number)
    if early:
        desk.complete(number, seconds=seconds)
    keep_rest()
    if not early:
        desk.complete(number, seconds=seconds)
    if not before.done:
        return str(desk.next_open(after=number) or "finish")
    return str(number + 1) if number < desk.total else "list"


def _left_in_browser(desk: RatingDesk, screen: OnScreen) -> None:
    """A number, a comment or a mark may arrive with the press that follows it."""
    tab = st.session_state.get(_AT)
    if not isinstance(tab, Tab) or tab.key != screen.key:
        return
    if late := rating_marks.unsaved_marks(screen, tab):
        rating_marks.keep_marked(desk, late, screen, tab)
        if tab.problem:
            raise NotAllowed(tab.problem)
    _keep_written(desk, screen, tab)


def _keep_written(desk: RatingDesk, screen: OnScreen, tab: Tab) -> None:
    written = pair_list.note_in_browser(screen.key, tab.note) or tab.note
    _keep(desk, screen.number, tab, _boxes_in_browser(desk, screen), written)


def _keep(desk: RatingDesk, number: int, tab: Tab, boxes: list[Box], written: tuple[str, bool]) -> None:
    """Save the note and the numbers that were changed in this tab, and only these; one that cannot be keeps none back."""
    comment, invalid = tab.note
    if written[0] != comment:
        desk.save_note(number, comment=written[0])
    if written[1] != invalid:
        desk.save_note(number, invalid=written[1])
    tab.note = written
    problems: list[AssayError] = []
    for name, score in rating_scales.changed(boxes, tab.scores).items():
        try:
            desk.save_scores(number, {name: score})
            tab.scores[name] = score
        except InputError as problem:
            problems.append(problem)
    if problems:
        raise problems[0]


def _handled(screen: OnScreen, problem: AssayError | None) -> None:
    st.session_state[_HANDLED] = True
    if problem:
        _refuse(screen.number, problem)


def _refuse(number: int, problem: AssayError) -> None:
    """What was said is kept all the same where something else is still missing."""
    said = visitor.said_to_rater(problem)
    presses.refuse(said if isinstance(problem, StillMissing) else f"Text {number} was not saved. {said}")
