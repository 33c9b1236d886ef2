"""How mistakes and good news appear: one sentence, all problems, never a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import regex
import streamlit as st

from core.errors import AssayError, InputError

MOST_PROBLEMS = 100
_NEWS = "messages_news"


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
    """User text fit for a label: Markdown and colour directives lose their meaning."""
    return str(regex.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$:])", r"\\\1", text))


def tell(sentence: str) -> None:
    """Keep a sentence for the next run, which follows a change."""
    st.session_state[_NEWS] = sentence
    st.rerun()


def news() -> None:
    """Show what the run before this one did."""
    if sentence := st.session_state.pop(_NEWS, None):
        st.success(plain(sentence))
