"""How mistakes and good news appear: one sentence, all problems, never a traceback."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.errors import AssayError, InputError

MOST_PROBLEMS = 100
_NEWS = "messages_news"
_JOINER = "\u2060"  # invisible and without width: keeps ":smile:" and "->" what they are


@contextmanager
def mistakes_shown() -> Iterator[None]:
    """Show a user's mistake in place of the rest of the block."""
    try:
        yield
    except InputError as problem:
        st.error(plain(problem.what))
        if problem.problems:
            listed = list(problem.problems[:MOST_PROBLEMS])
            if len(problem.problems) > MOST_PROBLEMS:
                listed.append(f"... and {len(problem.problems) - MOST_PROBLEMS} more")
            st.code("\n".join(listed), language=None, wrap_lines=True)
    except AssayError as problem:
        st.error(plain(str(problem)))


def plain(text: str) -> str:
    """User text for a label, a table or a sentence: shown as it is, whatever Markdown would make of it."""
    line = re.sub(r"[^\S\u00a0]+", " ", text).strip(" ")
    line = re.sub(r"([\\`*_{}\[\]()<>#~$:|!&])", r"\\\1", line)
    line = re.sub(r"^(\d*)([-+.=])(?=[-=\s]|$)", r"\1\\\2", line)
    return re.sub(r"(?<=:)(?=\w)|(?<=-)(?=-|\\>)|(?<=<)(?=-)", _JOINER, line)


def moment(at_utc: str | None) -> str:
    """A time as a person reads it; Assay writes ISO 8601."""
    return "none" if at_utc is None else f"{at_utc[:10]} {at_utc[11:16]}"


def tell(sentence: str) -> None:
    """Keep a sentence for the next run, which follows a change."""
    st.session_state[_NEWS] = sentence
    st.rerun()


def news() -> None:
    """Show what the run before this one did, in a place that is always there: what follows keeps its own."""
    with st.container():
        if sentence := st.session_state.pop(_NEWS, None):
            st.success(plain(sentence))
