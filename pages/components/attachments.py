"""The file that a judge's settings refer to, such as a rubric or a task: one that is shipped, or the user's own."""

from typing import Any

import streamlit as st

from core.judges.kind import JudgeKind
from core.schema.kinds import Attachment, Kind
from core.tables.reading import decode
from pages.components.generate_state import given
from pages.components.messages import capital, mistakes_shown, plain, with_code

_KEPT = " kept"
"""Stands for a file that an earlier run or a study brought along; no shipped file is called so."""


def choose(prefix: str, kind: Kind) -> str:
    """The whole text of the file; empty where the kind has none, or where the user's own cannot be used."""
    one = kind.attachment
    if one is None:
        return ""
    for line in one.unusable():
        st.warning(with_code(line))
    texts = {found.name: (found.title, one.dump(found)) for found in _shipped(kind, one)}
    kept: str | None = st.session_state.get(_kept_key(prefix, one))
    if kept is not None:
        texts[_KEPT] = (one.read(kept, f"{one.option}.yaml").title, kept)
    key = _key(prefix, one)
    if st.session_state.get(key) not in texts:
        st.session_state.pop(key, None)
    left, right = st.columns(2)
    name = left.selectbox(
        one.label,
        list(texts),
        format_func=lambda name: f"{texts[name][0]} ({'yours' if name == _KEPT else name})",
        key=given(key, one.usual if one.usual in texts else next(iter(texts))),
        persist_state="session",
    )
    upload = right.file_uploader(
        f"Or your own {one.label.lower()} (YAML)", type=["yaml", "yml"], key=f"{key}_file"
    )
    title, text = texts[name]
    if upload is not None:
        title = text = ""
        with mistakes_shown():  # beside the file; the rest of the form stays
            own = one.read(decode(upload.getvalue(), upload.name), upload.name)
            title, text = own.title, one.dump(own)
    if text:
        with st.expander(f"{capital(one.help)}: {plain(title)}"):
            st.code(text, language=None, wrap_lines=True, height=260)
    return text


def put(prefix: str, kind: Kind, text: str) -> None:
    """Choose this file: by its name if it is shipped, else it is offered as the user's own."""
    one = kind.attachment
    if one is not None:
        shipped = next((found.name for found in _shipped(kind, one) if one.dump(found) == text), None)
        st.session_state[_key(prefix, one)] = shipped or _KEPT
        st.session_state[_kept_key(prefix, one)] = None if shipped else text


def _shipped(kind: Kind, one: Attachment) -> list[Any]:
    """Those that can be asked of the kind."""
    return [found for found in one.shipped() if not isinstance(kind, JudgeKind) or kind.suits(found, {})]


def _key(prefix: str, one: Attachment) -> str:
    return f"{prefix}_{one.name}"


def _kept_key(prefix: str, one: Attachment) -> str:
    return f"{_key(prefix, one)}_kept"
