"""Decide who is visiting (rater, admin, nobody) and which pages they get."""

import gc
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from html import escape

import streamlit as st
from starlette.middleware import Middleware
from streamlit.navigation.page import StreamlitPage

from core.installation import START
from core.store import close_stores, database_path, open_store
from pages import (
    annotate,
    calibration,
    check,
    generate,
    judges,
    methods,
    metrics,
    operation,
    specialist,
    start,
    studies,
)
from pages.door.guard import Guard, believe_no_header_unasked, forget_unusable
from pages.door.origin import NamedProxies
from pages.door.routes import routes
from pages.tabs import moved
from pages.widgets import parts, visitor
from pages.widgets.gone import forget_gone_widgets


def nobody() -> None:
    """What a visitor without a link sees."""
    parts.page("Assay")
    if (link := visitor.sign_in_link()) != visitor.SIGN_IN:
        st.write("This page is for the people who run the study. Sign in to see it.")
        st.html(f'<a href="{escape(link)}" target="_self">Sign in</a>')
        return
    st.write(
        f"Open the personal link you were sent. If you run this study, [sign in]({link}). At the first "
        f"start, `{START}` prints a one-time link for choosing a passphrase."
    )


def main() -> None:
    """Build the visitor's pages and run the requested one."""
    st.set_page_config(page_title="Assay", layout="wide")
    _chosen().run()
    forget_gone_widgets()


def _chosen() -> StreamlitPage:
    """Build the visitor's pages and return the requested one."""
    who = visitor.who()
    explained = st.Page(methods.render, title="Methods", url_path="methods")
    if who == "rater":
        raters = [st.Page(annotate.render, title="Rate", url_path="annotate", default=True)]
        return st.navigation(raters, position="hidden")
    parts.style()
    if who == "nobody":
        welcome = st.Page(nobody, title="Assay", url_path="welcome", default=True)
        # A link to a view leads through the sign-in back to it.
        linked = [st.Page(nobody, title="Assay", url_path=path) for path in visitor.LINKED]
        return st.navigation([welcome, explained, *linked], position="hidden")
    groups = {
        "": [st.Page(start.render, title="Start", url_path="start", default=True)],
        "Blind studies": [
            st.Page(studies.render, title="Studies", url_path="studies"),
            # Old addresses lead somewhere, and stand in no menu.
            st.Page(moved.results, title="Studies", url_path="results", visibility="hidden"),
        ],
        "Test data": [st.Page(generate.render, title="Generate", url_path="generate")],
        "Metrics and judges": [
            st.Page(check.render, title="Check", url_path="check"),
            st.Page(metrics.render, title="Metrics", url_path="metrics"),
            st.Page(judges.render, title="Judges", url_path="judges"),
            st.Page(specialist.render, title="Specialist", url_path="specialist"),
            st.Page(calibration.render, title="Calibration", url_path="calibration"),
        ],
        "Help and backup": [explained, st.Page(operation.render, title="Operation", url_path="operation")],
    }
    return st.navigation(groups, position="top")


@contextmanager
def _without_warnings() -> Iterator[None]:
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@asynccontextmanager
async def _before_the_first_visitor(_app: st.App) -> AsyncIterator[None]:
    """Prepare the server before any browser connects, including one that was open during a restart."""
    # Until navigation is declared once, Streamlit runs the files in pages/ without this module and lists their
    # names to every visitor.
    with _without_warnings():  # Streamlit warns that there is no visitor yet
        st.navigation([st.Page(nobody)])
    # Garbage collection need not visit what was imported by now.
    gc.collect()
    gc.freeze()
    # One connection stays open for the migration and after it: closing the last one costs a checkpoint each time.
    with open_store(database_path()):
        try:
            yield
        finally:
            close_stores()


if __name__ == "__main__":  # a visitor's run
    main()
else:  # the server's start
    believe_no_header_unasked()
    app = st.App(
        "app.py",
        lifespan=_before_the_first_visitor,
        routes=routes(),
        middleware=[Middleware(NamedProxies), Middleware(Guard)],
        on_script_error=forget_unusable,
    )
