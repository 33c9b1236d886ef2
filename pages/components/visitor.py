"""Who is at the door. Every page asks here again: a page must never trust that app.py asked before it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import streamlit as st

from core.errors import AssayError, NotAllowed, StorageError
from core.store import Store, database_path, open_store
from core.store.access import is_admin_token
from core.study.blinding import RaterDesk, open_desk

Who = Literal["rater", "admin", "nobody"]
_ADMIN_KEY = "visitor_admin"


def who() -> Who:
    """What the address says: a rater's link, the admin's link, or neither. Not yet proven."""
    if "t" in st.query_params:
        return "rater"
    if "admin" in st.query_params or _ADMIN_KEY in st.session_state:
        return "admin" if _admin_proven() else "nobody"
    return "nobody"


def said_to_rater(problem: AssayError) -> str:
    """What a rater reads of a problem: nothing of the database, whose name is the owner's."""
    if isinstance(problem, StorageError):
        return (
            "The study's data cannot be reached at the moment. What was marked as saved is safe. "
            "Try again shortly; if it stays like this, tell the person who sent you the link."
        )
    return str(problem)


@contextmanager
def rater_desk(token: str) -> Iterator[RaterDesk]:
    """The desk that a link's token opens. Raises NotAllowed when it opens none. Touches nothing of Streamlit."""
    with open_store(database_path()) as store:
        desk = open_desk(store, token)
        if desk is None:
            raise NotAllowed(
                "This link does not open anything. It may be incomplete, replaced or withdrawn. "
                "Ask the person who sent it for a new one."
            )
        yield desk


@contextmanager
def admin_store() -> Iterator[Store]:
    """The store, for the admin only. Stops the page for everybody else."""
    if not _admin_proven():
        st.title("This page is for the admin")
        st.write("Open the admin link that `./run` prints.")
        st.stop()
    # Streamlit drops the query when the page changes; with it in the address a reload stays signed in.
    st.query_params["admin"] = st.session_state[_ADMIN_KEY]
    with open_store(database_path()) as store:
        yield store


def _admin_proven() -> bool:
    token = st.query_params.get("admin") or st.session_state.get(_ADMIN_KEY)
    if not token:
        return False
    with open_store(database_path()) as store:
        if not is_admin_token(store, token):
            st.session_state.pop(_ADMIN_KEY, None)
            return False
    st.session_state[_ADMIN_KEY] = token
    return True
