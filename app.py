"""Who is visiting (rater link, admin, nobody) and which pages they get; nothing else."""

import gc
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import streamlit as st
from starlette.middleware import Middleware

from core.store import close_stores, database_path, open_store
from pages import (
    annotate,
    calibration,
    generate,
    judges,
    methods,
    metrics,
    operation,
    results,
    specialist,
    studies,
)
from pages.door.guard import Guard, believe_no_header_unasked, forget_unusable
from pages.door.routes import routes
from pages.widgets import visitor


def nobody() -> None:
    """What a visitor without a link sees."""
    st.title("Assay")
    st.write(
        "Open the personal link you were sent. If you run this study, [sign in](sign-in); at the first start "
        "`./run` prints a one-time link with which you choose a passphrase."
    )


def main() -> None:
    """Build the visitor's pages and run the one they asked for."""
    st.set_page_config(page_title="Assay", layout="wide")
    who = visitor.who()
    explained = st.Page(methods.render, title="Methods", url_path="methods")
    if who == "rater":
        pages = [st.Page(annotate.render, title="Rate", url_path="annotate", default=True)]
    elif who == "admin":
        pages = [
            st.Page(studies.render, title="Studies", url_path="studies", default=True),
            st.Page(results.render, title="Results", url_path="results"),
            st.Page(generate.render, title="Generate", url_path="generate"),
            st.Page(metrics.render, title="Metrics", url_path="metrics"),
            st.Page(judges.render, title="Judges", url_path="judges"),
            st.Page(specialist.render, title="Specialist", url_path="specialist"),
            st.Page(calibration.render, title="Calibration", url_path="calibration"),
            st.Page(operation.render, title="Operation", url_path="operation"),
            explained,
        ]
    else:
        pages = [st.Page(nobody, title="Assay", url_path="welcome", default=True), explained]
    # The theme's primary colour carries white text, so on a dark page it is too dark for text itself.
    st.html("<style>[data-testid=stTab] { color: inherit !important }</style>")
    st.navigation(pages, position="top" if who == "admin" else "hidden").run()


@contextmanager
def _without_warnings() -> Iterator[None]:
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@asynccontextmanager
async def _before_the_first_visitor(_app: st.App) -> AsyncIterator[None]:
    """What has to be true before a browser connects, also one that was open while the server restarted."""
    # Until navigation is declared once, Streamlit runs the files in pages/ by itself, past this module,
    # and lists their names to whoever comes.
    with _without_warnings():  # that there is no visitor yet
        st.navigation([st.Page(nobody)])
    # Streamlit collects after every rerun: what was imported by now needs no second look.
    gc.collect()
    gc.freeze()
    # Migrated once, and never without a connection: closing the last one costs a checkpoint each time.
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
        middleware=[Middleware(Guard)],
        on_script_error=forget_unusable,
    )
