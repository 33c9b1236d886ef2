"""Who is visiting (rater link, admin, nobody) and which pages they get; nothing else."""

import gc
from pathlib import Path

import streamlit as st

from core.store import database_path, open_store
from pages import annotate, results, studies
from pages.components import visitor


@st.cache_resource(show_spinner=False)
def boot() -> Path:
    """Once a process: migrate the database, and keep Streamlit's collection after every rerun short."""
    path = database_path()
    open_store(path).close()
    gc.collect()
    gc.freeze()
    return path


def nobody() -> None:
    """What a visitor without a link sees."""
    st.title("Assay")
    st.write(
        "Open the personal link you were sent. "
        "If you run this study, start the app with `./run` and open the admin link it prints."
    )


def main() -> None:
    """Build the visitor's pages and run the one they asked for."""
    st.set_page_config(page_title="Assay", layout="wide")
    boot()
    who = visitor.who()
    if who == "rater":
        pages = [st.Page(annotate.render, title="Rate", url_path="annotate", default=True)]
    elif who == "admin":
        pages = [
            st.Page(studies.render, title="Studies", url_path="studies", default=True),
            st.Page(results.render, title="Results", url_path="results"),
        ]
    else:
        pages = [st.Page(nobody, title="Assay", url_path="welcome", default=True)]
    st.navigation(pages, position="top" if who == "admin" else "hidden").run()


main()
