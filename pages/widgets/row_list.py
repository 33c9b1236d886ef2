"""A long table whose rows open: a press on a row, or j and k, open what stands below it, and the address holds which."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.schema.result_table import ResultTable
from pages.widgets import address
from pages.widgets.messages import one_line
from pages.widgets.parts import told_apart

_ROW, _MOST_ROWS = 35, 6
"""Pixels of a row; rows after which the table scrolls, so that what is open stays on the screen."""
_LONGEST = 120
"""Letters of a text in a cell."""
NEXT, PREVIOUS = "j", "k"
"""The keys."""


def frame_of(table: ResultTable) -> pd.DataFrame:
    """The table as a page shows it: columns that readers see, long texts shortened; numbers stay numbers."""
    seen = [at for at, column in enumerate(table.columns) if column.shown]
    # Names of raters and judges are names of columns here, of which no two may be equal.
    headings = told_apart(table.columns[at].heading for at in seen)
    return pd.DataFrame(
        {heading: [_cell(row[at]) for row in table.rows] for heading, at in zip(headings, seen, strict=True)}
    )


def _cell(cell: Any) -> Any:
    return one_line(cell, _LONGEST) if isinstance(cell, str) else cell


def opened(place: str, name: str, shown: Sequence[int], n_all: int) -> int:
    """Return which row is open, one of `shown`: the first until another is chosen.

    place: where the session stores it. name: of the address's parameter, which holds its number among all rows. shown: places
    of the rows of the table, at least one. n_all: number of all rows.
    """
    address.one(name, place, range(n_all), None, lambda at: str(at + 1))
    if st.session_state.get(place) not in set(shown):
        st.session_state[place] = shown[0]
    at: int = st.session_state[place]
    return at


def show(frame: pd.DataFrame, place: str, shown: Sequence[int], config: Mapping[str, Any]) -> None:
    """Show the table with the open row marked.

    shown: the place of each row of the frame. config: of columns, by heading. Call `opened` first.
    """
    key, at = f"{place}_table", shown.index(st.session_state[place])
    wanted = {"selection": {"rows": [at], "columns": [], "cells": []}}
    if st.session_state.get(key) != wanted:
        st.session_state[key] = wanted
    st.dataframe(
        frame,
        hide_index=True,
        key=key,
        on_select=partial(_pressed, key, place, shown),
        selection_mode=["single-row", "single-cell"],
        height=min(len(frame), _MOST_ROWS) * _ROW + _ROW + 4,
        column_config=dict(config),
        placeholder="",
    )


def moves(place: str, shown: Sequence[int], beside: Callable[[], None]) -> None:
    """Show what leads to the next and the previous row. beside: draws what stands on the same line."""
    at = shown.index(st.session_state[place])
    with st.container(horizontal=True, vertical_alignment="center", key=f"{place}_moves"):
        for name, key, to in (("Previous", PREVIOUS, at - 1), ("Next", NEXT, at + 1)):
            there = 0 <= to < len(shown)
            st.button(
                name,
                key=f"{place}_{key}",
                shortcut=key,
                disabled=not there,
                on_click=partial(_open, place, shown[to]) if there else None,
            )
        st.markdown(f":small[{at + 1:,} of {len(shown):,}]", width="content")
        beside()


def _open(place: str, at: int) -> None:
    st.session_state[place] = at


def _pressed(key: str, place: str, shown: Sequence[int]) -> None:
    """Open the row that was pressed; a press that takes the mark away changes nothing."""
    selection = st.session_state[key]["selection"]
    before = shown.index(st.session_state[place]) if st.session_state.get(place) in shown else None
    rows = [*(row for row, _ in selection["cells"]), *(row for row in selection["rows"] if row != before)]
    for row in rows[:1]:
        st.session_state[place] = shown[row]
