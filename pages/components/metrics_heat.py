"""Tables of coefficients that can be sorted, with heat colours behind the numbers."""

from collections.abc import Callable, Collection, Hashable
from typing import Any

import pandas as pd
import streamlit as st

from core.plots import heat_colour
from pages.components.results_tables import number

_ROW, _MOST_ROWS = 35, 20
"""Pixels of a row; rows after which the table scrolls."""


def heat_table(frame: pd.DataFrame, heated: Collection[str], key: str, *, pinned: str | None = None) -> None:
    """The frame as it is, numbers with three decimals; `heated` columns hold numbers from -1 to 1 or None.

    Cells are drawn as text, never as Markdown or HTML. Sorting is by number: a press on a column's head.
    """
    heats: list[Hashable] = [name for name in frame.columns if name in heated]
    for name in heats:
        frame[name] = pd.to_numeric(frame[name])
    written: dict[Any, str | Callable[[object], str] | None] = dict.fromkeys(heats, _number)
    styled = frame.style.format(written).map(_cell, subset=heats)
    st.dataframe(
        styled,
        hide_index=True,
        key=key,
        height=min(len(frame), _MOST_ROWS) * _ROW + _ROW + 4,
        column_config={pinned: st.column_config.TextColumn(pinned, pinned=True)} if pinned else None,
    )


def _number(value: Any) -> str:
    return number(None if value != value else float(value))


def _cell(value: Any) -> str:
    colour = heat_colour(value)
    return "" if colour is None else f"background-color: {colour}; color: #000000"
