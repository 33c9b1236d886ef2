"""The text that is rated, with its errors: every change of them is saved before anything else happens."""

from functools import partial
from html import escape

import streamlit as st

from core.errors import AssayError, NotAllowed
from core.study.rated.desk import BlindText, RatingDesk
from pages.components import presses, span_marker, visitor
from pages.components.rating_tab import OnScreen, Tab, same_text
from pages.components.span_marker import Marked


def marks_source(desk: RatingDesk) -> bool:
    """Whether errors are marked in the source too, which the marker then shows."""
    return desk.task.spans is not None and desk.task.spans.source_side


def text_with_errors(desk: RatingDesk, text: BlindText, screen: OnScreen, tab: Tab) -> None:
    """The text itself, with the marker where errors are asked for."""
    spans, headings = desk.task.spans, desk.task.labels.headings
    if spans is None:
        language = "" if text.language == "und" else f' lang="{escape(text.language, quote=True)}"'
        st.html(
            f'<div class="assay-card"><div class="assay-side">{escape(headings.text)}</div>'
            f'<div class="assay-text" dir="auto"{language}>{escape(text.text)}</div></div>'
        )
        return
    parts = [span_marker.Part(headings.text, text.text, text.language)]
    if spans.source_side and text.source_text:
        parts.insert(0, span_marker.Part(headings.source, text.source_text, "und", in_source=True))
    late = span_marker.marker(
        parts,
        text.spans,
        text.no_errors,
        severities=spans.severities,
        categories=spans.categories,
        mark=text.mark,
        taken=tab.taken,
        problem=tab.problem,
        replaced=tab.replaced,
        key=f"e{screen.key}",
        on_change=presses.in_turn(partial(_marked, screen, tab)),
    )
    if late is not None and late.number > tab.taken:
        # Sent to a server that has started again since, or in a run that a newer one overtook.
        keep_marked(desk, late, screen, tab)
        st.rerun()


def _marked(screen: OnScreen, tab: Tab) -> None:
    """Errors were marked, changed or deleted: save the list before anything is drawn."""
    late = late_marks(screen, tab)
    if late is None:
        return
    try:
        with visitor.rating_desk(screen.token) as desk:
            keep_marked(desk, late, screen, tab)
    except AssayError as error:
        _refuse(screen, late, tab, error)


def keep_marked(desk: RatingDesk, late: Marked, screen: OnScreen, tab: Tab) -> None:
    """Save a list of errors, unless another window has saved a different one since it was begun."""
    tab.problem, tab.replaced = None, False
    try:
        text = same_text(desk, screen, late.mark)
        stored = span_marker.revision(text.spans, text.no_errors)
        new = span_marker.revision(late.spans, late.no_errors)
        if new != stored and stored != late.base and stored not in tab.own:
            tab.problem = "These marks were changed in another window: what is there now is shown."
            tab.replaced = True
        elif new != stored:
            desk.save_spans(screen.number, late.spans, late.no_errors)
            tab.own.add(new)
    except AssayError as error:
        _refuse(screen, late, tab, error)
    tab.taken = late.number


def _refuse(screen: OnScreen, late: Marked, tab: Tab, error: AssayError) -> None:
    """Say it in the marker, which holds what was not saved, and where the marker may be gone, on the screen too."""
    tab.problem, tab.replaced, tab.taken = visitor.said_to_rater(error), False, late.number
    if isinstance(error, NotAllowed):
        presses.refuse(f"The errors marked in text {screen.number} were not saved. {tab.problem}")


def late_marks(screen: OnScreen, tab: Tab) -> Marked | None:
    """What the marker sent that is not dealt with yet; None: nothing."""
    late = span_marker.in_browser(f"e{screen.key}")
    return late if late is not None and late.number > tab.taken else None


def unsaved(tab: Tab) -> bool:
    """Whether the browser shows errors that are not on disk, because saving them failed."""
    return tab.problem is not None and not tab.replaced


def unsaved_marks(screen: OnScreen, tab: Tab) -> Marked | None:
    """The list that is to be saved before its text is left: what came late, or what could not be saved; None: nothing."""
    return span_marker.in_browser(f"e{screen.key}") if unsaved(tab) else late_marks(screen, tab)
