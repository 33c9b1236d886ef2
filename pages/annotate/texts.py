"""Rate single texts: every score and mark is saved first; the next text follows when one is complete."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape

import streamlit as st

from core.errors import AssayError, InputError, NotAllowed, StillMissing
from core.schema.study import UNDETERMINED
from core.study.blinding import BlindText, RatingDesk
from pages.annotate import around, keys
from pages.annotate.around import Go, OnScreen
from pages.widgets import blind_pair, own, rating_scales, said, visitor
from pages.widgets import blind_pair as presses
from pages.widgets.own import Marked, OfPress
from pages.widgets.rating_scales import Written


@dataclass
class _Tab:
    """What this browser tab knows about the text on its screen."""

    key: str
    shown_at: float
    note: tuple[str, bool]
    scores: dict[str, float | None]
    earlier: float = 0.0
    """Seconds that the text was on the screen earlier."""
    before: int | None = None
    """The text saved just before this one; named while this one is on the screen."""
    taken: int = 0
    """The marker's last change that was processed."""
    own: set[str] = field(default_factory=set)
    """Revisions of the error lists saved from this tab."""
    problem: str | None = None
    replaced: bool = False


def _same_text(desk: RatingDesk, screen: OnScreen, mark: str) -> BlindText:
    """The text that was on the screen. Raises NotAllowed if another text now has its number."""
    text = desk.text(screen.number)
    if mark != text.mark or screen.mark != text.mark:
        raise NotAllowed("Your list of texts was drawn again. This text replaced the one you answered.")
    return text


def _marks_source(desk: RatingDesk) -> bool:
    """Whether errors can be marked in the source too."""
    return desk.task.spans is not None and desk.task.spans.source_side


def _text_with_errors(desk: RatingDesk, text: BlindText, screen: OnScreen, tab: _Tab) -> None:
    """The text, with the marker if the task marks errors."""
    spans, headings = desk.task.spans, desk.task.labels.headings
    if spans is None:
        st.html(
            blind_pair.card(escape(headings.text), blind_pair.text_html(text.text, desk.shown), text.language)
        )
        return
    shown = [(headings.text, text.text, text.language, False)]
    if spans.source_side and text.source_text:
        shown.insert(0, (headings.source, text.source_text, UNDETERMINED, True))
    late = own.marker(
        [dict(zip(("label", "text", "language", "in_source"), part, strict=True)) for part in shown],
        text.spans,
        text.no_errors,
        severities=spans.severities,
        categories=spans.categories,
        mark=text.mark,
        taken=tab.taken,
        problem=tab.problem,
        replaced=tab.replaced,
        key=f"e{screen.key}",
        on_change=blind_pair.call_in_turn(partial(_marked, screen, tab)),
    )
    if late is not None and late.number > tab.taken:
        # Sent to a server that has started again since, or in a run that a newer one overtook.
        _keep_marked(desk, late, screen, tab)
        st.rerun()


def _marked(screen: OnScreen, tab: _Tab) -> None:
    """Save a changed list of errors before anything is drawn."""
    late = _late_marks(screen, tab)
    if late is None:
        return
    try:
        with visitor.rating_desk(screen.token) as desk:
            _keep_marked(desk, late, screen, tab)
    except AssayError as error:
        _refuse(screen, late, tab, error)


def _keep_marked(desk: RatingDesk, late: Marked, screen: OnScreen, tab: _Tab) -> None:
    """Save a list of errors, unless another window has saved a different one since it was begun."""
    tab.problem, tab.replaced = None, False
    try:
        text = _same_text(desk, screen, late.mark)
        stored = own.revision(text.spans, text.no_errors)
        new = own.revision(late.spans, late.no_errors)
        if new != stored and stored != late.base and stored not in tab.own:
            tab.problem = "These marks were changed in another window. You see the latest version."
            tab.replaced = True
        elif new != stored:
            desk.save_spans(screen.number, late.spans, late.no_errors)
            tab.own.add(new)
    except AssayError as error:
        _refuse(screen, late, tab, error)
    tab.taken = late.number


def _refuse(screen: OnScreen, late: Marked, tab: _Tab, error: AssayError) -> None:
    """Report an unsaved list in the marker, and on the screen if the marker may be gone."""
    tab.problem, tab.replaced, tab.taken = visitor.said_to_rater(error), False, late.number
    if isinstance(error, NotAllowed):
        blind_pair.refuse(f"The errors marked in text {screen.number} were not saved. {tab.problem}")


def _late_marks(screen: OnScreen, tab: _Tab) -> Marked | None:
    """The marker's message that is not processed yet; None: there is none."""
    late = own.marks_in_browser(f"e{screen.key}")
    return late if late is not None and late.number > tab.taken else None


def _unsaved(tab: _Tab) -> bool:
    """Whether the browser shows errors that could not be saved."""
    return tab.problem is not None and not tab.replaced


def _unsaved_marks(screen: OnScreen, tab: _Tab) -> Marked | None:
    """The list to save before the text is left: it arrived late or could not be saved. None: there is none."""
    return own.marks_in_browser(f"e{screen.key}") if _unsaved(tab) else _late_marks(screen, tab)


_AT, _SPENT, _SAVED, _HANDLED, _KNOWN = "text_at", "text_spent", "text_saved", "text_handled", "text_known"


def _show(desk: RatingDesk, number: int, go: Go) -> None:
    """One text, from top to bottom. A press is saved before this runs again."""
    text = desk.text(number)
    new_session = around.is_new_session(_KNOWN)
    key = f"{number}-{visitor.key_of(desk.token, text.mark)}"
    tab = _tab(key, text)
    screen = OnScreen(
        desk.token, number, text.mark, key, tab.shown_at, earlier=tab.earlier, unsaved=_unsaved(tab)
    )
    other = _header(desk, text, tab.before)
    _what_was_asked(desk, text)
    _text_with_errors(desk, text, screen, tab)
    if desk.task.spans is not None and desk.task.spans.meanings:
        with st.expander("What the severities and categories mean"):
            rating_scales.meanings(desk.task.spans)
    boxes = _scales(desk, text, screen, new_session)
    written = around.note(desk, key, *tab.note, hint=keys.hint(desk), on_change=partial(_written, screen))
    known = tab.note
    try:
        _keep(desk, number, tab, boxes, written)
    except AssayError as error:
        _refuse_text(number, error)
    else:
        if other is not None:  # only now: what was just written is saved
            go(other)
        around.note_mark(desk, written[1])
    below = blind_pair.choice_place()  # always in sight, so that nobody presses and sees nothing happen
    blind_pair.time_presses(below, key)
    presses.show_refused(below)
    pressed = below.button(
        "Save and go on",
        key=f"n{key}",
        type="primary",
        width="stretch",
        on_click=presses.timed_turn(_done, key),
        args=(screen,),
    )
    if pressed and not st.session_state.pop(_HANDLED, False):
        _done(screen.begun_anew(new_session=new_session), told=own.last_press(key))
        st.rerun()
    st.session_state.pop(_HANDLED, None)
    around.navigation(desk, number, go)
    if (
        tab.note != known
    ):  # sent to a server that has started again since: its box does not know yet that it is saved
        st.rerun()


def _leave() -> None:
    """Something else is on the screen: when the text returns, it is read again and its time continues."""
    tab = st.session_state.pop(_AT, None)
    if isinstance(tab, _Tab):
        st.session_state.setdefault(_SPENT, {})[tab.key] = tab.earlier + time.monotonic() - tab.shown_at


def _tab(key: str, text: BlindText) -> _Tab:
    tab = st.session_state.get(_AT)
    if not isinstance(tab, _Tab) or tab.key != key:
        _leave()
        earlier = st.session_state.get(_SPENT, {}).get(key, 0.0)
        before = st.session_state.pop(_SAVED, None)
        tab = _Tab(key, time.monotonic(), (text.comment, text.invalid), dict(text.scores), earlier, before)
        st.session_state[_AT] = tab
    return tab


def _header(desk: RatingDesk, text: BlindText, before: int | None) -> int | None:
    """Position, what is saved, and buttons to the other texts of the same source; returns the one pressed."""
    marks = [f"Text {before} saved"] if before else []
    marks += ["This text is done. Changes are saved"] if text.done else []
    around.header(desk, text.number, marks, "Not done yet")
    place, of = text.place_in_source
    if of == 1:
        return None
    pressed = None
    together = text.same_source
    statuses = {status.number: status for status in desk.statuses(min(together), max(together))}
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        said.line(f"Text {place} of {of} for this {desk.task.labels.source}", narrow=True)
        for step, other in enumerate(text.same_source, start=1):
            mark = " :material/check:" if statuses[other].answered else ""
            if st.button(f"{step}{mark}", key=f"s{step}", disabled=other == text.number):
                pressed = other
    return pressed


def _what_was_asked(desk: RatingDesk, text: BlindText) -> None:
    """The turns before the source, the source, and the reference."""
    headings, shown = desk.task.labels.headings, desk.shown
    unknown = blind_pair.language_of(UNDETERMINED)
    turns = blind_pair.conversation(text.turns, text.language, shown.question, desk.wording(), text.number)
    if turns:
        st.html(turns)
    source = [] if _marks_source(desk) else [(headings.source, text.source_text, shown.question, unknown)]
    reference = (headings.reference, text.reference, shown, blind_pair.language_of(text.language))
    for heading, words, how, language in [*source, reference]:
        if words:
            st.html(
                f"{blind_pair.heading_html(escape(heading), 'assay-quiet')}"
                f'<div class="assay-reference assay-text" {language}>{blind_pair.text_html(words, how)}</div>'
            )


def _scales(desk: RatingDesk, text: BlindText, screen: OnScreen, new_session: bool) -> Written:
    """The task's dimensions; returns the number boxes as they are in the browser."""
    boxes: Written = {}
    for number, dimension in enumerate(desk.task.dimensions, start=1):
        current = text.scores.get(dimension.name)
        if not rating_scales.has_buttons(dimension):
            boxes |= rating_scales.slider(dimension, number, current, screen.key, partial(_written, screen))
            continue
        pressed = rating_scales.buttons(
            dimension,
            number,
            current,
            screen.key,
            keys=desk.key_scheme if rating_scales.number_keyed(desk.task) else "off",
            on_press=partial(_score, screen),
        )
        if pressed is not None and not st.session_state.get(_HANDLED):
            _score(screen.begun_anew(new_session=new_session), dimension.name, pressed)
            st.rerun()
    return boxes


def _score(screen: OnScreen, dimension: str, value: float) -> None:
    """Save a pressed answer. A double press, or one for a text that is gone, changes nothing."""
    problem: AssayError | None = None
    if screen.seconds() is not None:
        try:
            with visitor.rating_desk(screen.token) as desk:
                _same_text(desk, screen, screen.mark)
                desk.save_scores(screen.number, {dimension: value})
        except AssayError as error:
            problem = error
    _handled(screen, problem)


def _written(screen: OnScreen) -> None:
    """Save a number or note before anything is drawn, even if its text is no longer on the screen."""
    tab = st.session_state.get(_AT)
    if not isinstance(tab, _Tab) or tab.key != screen.key:
        return
    try:
        with visitor.rating_desk(screen.token) as desk:
            _same_text(desk, screen, screen.mark)
            _keep_written(desk, screen, tab)
    except AssayError as error:
        _refuse_text(screen.number, error)


def _done(screen: OnScreen, *, told: OfPress) -> None:
    """Handle *Save and go on*: first save what only the browser has. told: by the browser."""
    seconds = screen.seconds()
    place: str | None = None
    problem: AssayError | None = None
    if seconds is not None:
        taken = around.known_seconds(seconds + screen.earlier)
        try:
            with visitor.rating_desk(screen.token) as desk:
                place = _completed(desk, screen, (taken, told), lambda: _left_in_browser(desk, screen))
        except AssayError as error:
            problem = error
    if place:
        st.session_state[_SAVED] = screen.number
        _leave()
        around.move(place)
    _handled(screen, problem)


def _completed(
    desk: RatingDesk,
    screen: OnScreen,
    times: tuple[float | None, OfPress],
    keep_rest: Callable[[], None],
) -> str:
    """Complete the text and return the next place. Raises NotAllowed, naming what is missing.

    times: seconds on the screen, and what the browser told of the press.
    """
    seconds, told = times
    number = screen.number
    before = _same_text(desk, screen, screen.mark)
    # Nothing of Streamlit is touched until the press is on disk, unless something is missing there: each of its
    # calls may end this run when a newer event waits.
    early = not screen.unsaved and not desk.missing(number)
    if early:
        desk.complete(
            number, seconds=seconds, seconds_visible=told.seconds_visible, translated=told.translated
        )
    keep_rest()
    if not early:
        desk.complete(
            number, seconds=seconds, seconds_visible=told.seconds_visible, translated=told.translated
        )
    if not before.done:
        return str(desk.next_open(after=number) or "finish")
    return str(number + 1) if number < desk.total else "list"


def _left_in_browser(desk: RatingDesk, screen: OnScreen) -> None:
    """Save a number, comment or mark that arrives with the next press."""
    tab = st.session_state.get(_AT)
    if not isinstance(tab, _Tab) or tab.key != screen.key:
        return
    if late := _unsaved_marks(screen, tab):
        _keep_marked(desk, late, screen, tab)
        if tab.problem:
            raise NotAllowed(tab.problem)
    _keep_written(desk, screen, tab)


def _keep_written(desk: RatingDesk, screen: OnScreen, tab: _Tab) -> None:
    written = around.note_in_browser(screen.key, tab.note) or tab.note
    _keep(desk, screen.number, tab, rating_scales.browser_values(desk.task, screen.key), written)


def _keep(desk: RatingDesk, number: int, tab: _Tab, boxes: Written, written: tuple[str, bool]) -> None:
    """Save only the note and numbers that changed in this tab. One that fails does not stop the others."""
    around.save_note(desk, number, tab.note, written)
    tab.note = written
    problems: list[AssayError] = []
    for name, score in boxes.items():
        if score == tab.scores.get(name):
            continue
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
        _refuse_text(screen.number, problem)


def _refuse_text(number: int, problem: AssayError) -> None:
    """Answers are saved even if something else is still missing."""
    said = visitor.said_to_rater(problem)
    presses.refuse(said if isinstance(problem, StillMissing) else f"Text {number} was not saved. {said}")


def show_study(desk: RatingDesk, go: Go) -> None:
    """Show the place in the address if this rater may open it, else where they left off."""

    def early(asked: str) -> str | None:
        return "guide" if asked == "guide" or desk.onboarding == 0 else None

    place = around.place_of(desk, early, lambda: "end")
    if not place.isdecimal():
        _leave()
    if place == "guide":
        _guide(desk, go)
    elif not around.show_place(place, desk, go):
        _show(desk, int(place), go)


def _guide(desk: RatingDesk, go: Go) -> None:
    """The guidelines and the task."""
    said.guidelines(desk.guidelines())
    rating_scales.explained(desk.task)
    said.line(
        f"You have {desk.total} text{'' if desk.total == 1 else 's'}. You can stop at any time: the same link brings you back to where you were."
    )
    if st.button("Start" if desk.onboarding == 0 else "Continue", type="primary", key="start"):
        desk.finish_step(1)
        go("start")
