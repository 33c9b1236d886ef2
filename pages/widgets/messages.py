"""Show mistakes and news: one sentence, all problems, never a traceback; escape texts for Markdown."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import streamlit as st

from core.errors import AssayError, InputError
from core.tables.reading import JOINER, unlinked

_NEWS = "messages_news"
# What Streamlit's Markdown rewrites after parsing, when no backslash is left, beside addresses: emoji and icons,
# arrows and signs.
_REWRITTEN = re.compile(r"(?<=:)(?=[\w+/-])|(?<=-)(?=-|\\>)|(?<=<)(?=-)|(?<=[<>~])(?==)")
# Control characters and halves of surrogate pairs cannot be sent. Of the characters with an effect on direction
# none is left, rather than isolating the text: an isolate ends at a PDI inside it, and is copied with a name.
# So by UAX #9 no rule on explicit directions (X1 to X8) finds anything to do, and marks are strong no more.
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@contextmanager
def mistakes_shown() -> Iterator[None]:
    """Show a user's mistake instead of the rest of the block."""
    try:
        yield
    except InputError as problem:
        show_mistake(problem.what, [*problem.problems, problem.more])
    except AssayError as problem:
        st.error(code_markdown(str(problem)))


def file_read(what: str, remarks: bool) -> None:
    """Say what a file contains, and whether remarks follow. what: Markdown, without a full stop."""
    st.success(
        f"{what}. Please read the remarks below." if remarks else f"{what}: no problem found in the file."
    )


def code_markdown(sentence: str) -> str:
    """Return a sentence of core as Markdown: text between backticks is code, the rest is escaped (`plain`).

    A name from a data set may contain backticks too. What they enclose becomes code, never any other Markdown.
    """
    pieces = re.split(r"`([^`]*[^`\s][^`]*)`", sentence)
    return "".join(
        f"`{showable(piece)}`" if at % 2 else f"{_edge(piece[:1])}{plain(piece)}{_edge(piece[-1:])}"
        for at, piece in enumerate(pieces)
    ).strip(" ")


def _edge(character: str) -> str:
    return " " if character.isspace() else ""


def show_mistake(what: str, problems: Sequence[str]) -> None:
    """Show a sentence, and below it one problem per line."""
    st.error(code_markdown(what))
    if listed := "\n".join(filter(None, problems)):
        st.code(listed, language=None, wrap_lines=True)


def plain(text: str) -> str:
    """Escape user text for a label, a table or a sentence, so that Markdown leaves it unchanged.

    Characters that cannot be shown, or that reverse the direction of later text, become U+FFFD.
    """
    line = re.sub(r"([\\`*_{}\[\]()<>#~$:|!&])", r"\\\1", unlinked(showable(text)))
    line = re.sub(r"^(\d*)([-+.=])(?=[-=\s]|$)", r"\1\\\2", line)
    return _REWRITTEN.sub(JOINER, line)


def showable(text: str) -> str:
    """Return the text on one line, with U+FFFD for characters that cannot be shown."""
    return _UNSHOWABLE.sub("\ufffd", re.sub(r"[^\S\u00a0]+", " ", text).strip(" "))


def capital(text: str) -> str:
    """Capitalise a summary or help text of core."""
    return f"{text[:1].upper()}{text[1:]}"


def one_line(text: str, longest: int = 70) -> str:
    """Return the beginning of a text, for a menu."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def moment(at_utc: str | None) -> str:
    """Write an ISO 8601 time for people: date and minute."""
    return "none" if at_utc is None else f"{at_utc[:10]} {at_utc[11:16]}"


def app_address() -> str:
    """Return the app's own address without the open page, for links to send."""
    url = st.context.url
    if not isinstance(url, str):
        return ""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def keep(sentence: str, *remarks: str) -> None:
    """Store a sentence for the next run of the page. remarks: to read before going on; no part of the success."""
    st.session_state[_NEWS] = (sentence, remarks)


def tell(sentence: str) -> None:
    """Rerun the page now and show a sentence there."""
    keep(sentence)
    st.rerun()


def news() -> None:
    """Show the stored sentence, in a container that always exists so that later elements keep their place."""
    with st.container():
        if stored := st.session_state.pop(_NEWS, None):
            sentence, remarks = stored
            st.success(code_markdown(sentence))
            if remarks:
                st.info("\n".join(f"- {code_markdown(remark)}" for remark in remarks))
