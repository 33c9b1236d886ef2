"""What the lists of pairs and of texts share: what identifies them, score tables, and filters that the address holds."""

import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TypeVar

import streamlit as st

from core.schema.result_table import ResultTable
from core.schema.scores import ScoreTable
from core.schema.study import Study, StudyRecord
from core.store import Store, database_path
from core.store.raters import raters_of
from core.store.studies import get_study, read_log
from core.study.analysis_set import check_released
from pages.widgets import result_table
from pages.widgets.messages import plain

_SCORES = "pages.tabs.study_scores"
_MENU, _WIDE_MENU = 158, 200
"""Widths of a menu, in pixels."""
Option = TypeVar("Option")


def scores_of(store: Store, study: Study, record: StudyRecord) -> Sequence[ScoreTable]:
    """Return the score tables of runs and files that scored the study's texts."""
    if find_spec(_SCORES) is None:
        return ()
    tables: Sequence[ScoreTable] = import_module(_SCORES).tables(store, study, record)
    return tables


def identity(store: Store, study: Study) -> Hashable:
    """Identify what the list reads of an unblinded study, without its answers: they have not changed since it was closed.

    The owner's acts change raters or the log: an exclusion, a withdrawal, an import of votes.
    """
    study = get_study(store, study.study_id)
    check_released(study)
    log = read_log(store, study.study_id)
    return str(database_path()), study, raters_of(store, study.study_id), log


def identity_of(scores: ScoreTable) -> Hashable:
    """Identify a table of scores as it is now."""
    return scores.file_name, scores.sha256, scores.metrics, len(scores.rows), hash(scores.values.tobytes())


def place_code(options: Sequence[str], option: str) -> str:
    """Return the number that stands for an option in an address, which must hold no name of a study."""
    return str(options.index(option) + 1)


def judge_code(judge: str) -> str:
    """Return the number that stands for a judge in an address, whatever other judges there are."""
    return str(zlib.crc32(judge.encode("utf-8", "surrogatepass")))


def held(place: str, options: Sequence[Option]) -> list[Option]:
    """Return what the session stores there, as far as it is one of the options."""
    value = st.session_state.get(place)
    values = value if isinstance(value, list) else [value]
    return [option for option in options if option in values]


def several_menu(placeholder: str, label: str, options: Sequence[str], place: str) -> None:
    """Show a menu of which several can be chosen. place: where the session stores them."""
    st.multiselect(
        label,
        options,
        format_func=plain,
        key=place,
        placeholder=placeholder,
        label_visibility="collapsed",
        persist_state="session",
        width=_MENU,
    )


def one_menu(
    placeholder: str, label: str, options: Sequence[str], place: str, name_of: Callable[[str], str]
) -> None:
    """Show a menu of which one can be chosen, or none."""
    st.selectbox(
        label,
        options,
        index=None,
        format_func=name_of,
        key=place,
        placeholder=placeholder,
        label_visibility="collapsed",
        persist_state="session",
        width=_WIDE_MENU,
    )


def count_line(said: str, table: ResultTable) -> None:
    """Show how many rows the filters leave, and beside it the downloads of these rows."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f":small[{said}]", width="content")
        result_table.downloads(table)


def folded(parts: Mapping[str, Callable[[], None]]) -> None:
    """Show parts that can be unfolded, beside each other. parts: title -> what draws it."""
    if parts:
        for column, (title, draw) in zip(st.columns(len(parts)), parts.items(), strict=True):
            with column, st.expander(title):
                draw()
