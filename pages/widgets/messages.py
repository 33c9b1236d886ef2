"""How mistakes and good news appear: one sentence, all problems, never a traceback."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import streamlit as st

from core.errors import AssayError, InputError

_NEWS = "messages_news"
_JOINER = "\u2060"  # invisible and without width: keeps ":smile:", "->" and "www." what they are
# What Streamlit's Markdown rewrites after parsing, when no backslash is left: emoji and icons, arrows and
# signs, addresses.
_REWRITTEN = re.compile(
    r"(?<=:)(?=[\w+/-])|(?<=-)(?=-|\\>)|(?<=<)(?=-)|(?<=[<>~])(?==)|(?<=[wW]{3})(?=\.)|(?<=@)(?=[\w-])"
)
# Control characters and halves of surrogate pairs cannot be sent. Of the characters with an effect on direction
# none is left, rather than isolating the text: an isolate ends at a PDI inside it, and is copied with a name.
# So by UAX #9 no rule on explicit directions (X1 to X8) finds anything to do, and marks are strong no more.
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@contextmanager
def mistakes_shown() -> Iterator[None]:
    """Show a user's mistake in place of the rest of the block."""
    try:
        yield
    except InputError as problem:
        show_mistake(problem.what, [*problem.problems, problem.more])
    except AssayError as problem:
        st.error(with_code(str(problem)))


def file_read(what: str, remarks: bool) -> None:
    """Say what a file holds, and that nothing is wrong with it unless remarks follow. what: Markdown, no full stop."""
    st.success(
        f"{what}. Please read the remarks below." if remarks else f"{what}: no problem found in the file."
    )


def with_code(sentence: str) -> str:
    """A sentence of core: what stands between backticks is code, the rest is shown as it is (`plain`).

    A name out of a data set may hold backticks too. What they enclose becomes code, never any other Markdown.
    """
    pieces = re.split(r"`([^`]*[^`\s][^`]*)`", sentence)
    return "".join(
        f"`{_showable(piece)}`" if at % 2 else f"{_edge(piece[:1])}{plain(piece)}{_edge(piece[-1:])}"
        for at, piece in enumerate(pieces)
    ).strip(" ")


def _edge(character: str) -> str:
    return " " if character.isspace() else ""


def show_mistake(what: str, problems: Sequence[str]) -> None:
    """Show a sentence, and below it a problem a line."""
    st.error(with_code(what))
    if listed := "\n".join(filter(None, problems)):
        st.code(listed, language=None, wrap_lines=True)


def plain(text: str) -> str:
    """User text for a label, a table or a sentence: shown as it is, whatever Markdown would make of it.

    What cannot be shown, and what would turn the text after it round, becomes U+FFFD.
    """
    line = re.sub(r"([\\`*_{}\[\]()<>#~$:|!&])", r"\\\1", _showable(text))
    line = re.sub(r"^(\d*)([-+.=])(?=[-=\s]|$)", r"\1\\\2", line)
    return _REWRITTEN.sub(_JOINER, line)


def _showable(text: str) -> str:
    """On one line, with U+FFFD for what cannot be shown."""
    return _UNSHOWABLE.sub("\ufffd", re.sub(r"[^\S\u00a0]+", " ", text).strip(" "))


def capital(text: str) -> str:
    """A summary or help of core as the beginning of a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


def one_line(text: str, longest: int = 70) -> str:
    """The beginning of a text, for a menu."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def moment(at_utc: str | None) -> str:
    """A time as a person reads it; Assay writes ISO 8601."""
    return "none" if at_utc is None else f"{at_utc[:10]} {at_utc[11:16]}"


def app_address() -> str:
    """The app's own address, for links to send; without the page that is open."""
    url = st.context.url
    if not isinstance(url, str):
        return ""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def keep(sentence: str) -> None:
    """Keep a sentence for the next run."""
    st.session_state[_NEWS] = sentence


def tell(sentence: str) -> None:
    """Say a sentence in the next run, which follows a change and starts now."""
    keep(sentence)
    st.rerun()


def news() -> None:
    """Show what the run before this one did, in a place that is always there: what follows keeps its own."""
    with st.container():
        if sentence := st.session_state.pop(_NEWS, None):
            st.success(with_code(sentence))
