"""Tables of coefficients that can be sorted, with heat colours behind the numbers."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.plots import heat_colour
from core.plots.dressing import shortened
from pages.components.messages import plain
from pages.components.numbers import UNDEFINED, number
from pages.components.parts import nothing

_LONGEST, _LETTER, _BESIDE = 24, 7, 20
"""Letters of a name before it loses its middle; pixels of a letter, and of a cell's edges."""
_MOST_REASONS, _MOST_NAMED = 8, 12
_ROW, _MOST_ROWS = 35, 20
"""Pixels of a row; rows after which the table scrolls."""


def style() -> None:
    """Without the CSV of Streamlit's own table: it shortens names as the table does, and guards no formulas."""
    st.html('<style>button[aria-label="Download as CSV"] { display: none; }</style>')


def heat_table(
    frame: pd.DataFrame,
    heated: Collection[str],
    key: str,
    *,
    pinned: str | None = None,
    shares: Collection[str] = (),
) -> None:
    """The frame as it is, numbers with three decimals; `heated` columns hold numbers from -1 to 1 or None.

    shares: columns from 0 to 1 in which one half is by chance, and white.

    Cells are drawn as text, never as Markdown or HTML. Sorting is by number: a press on a column's head.
    """
    if frame.empty:
        nothing("no row is left by the filters")
        return
    heats: list[Hashable] = [name for name in frame.columns if name in heated]
    halves: list[Hashable] = [name for name in frame.columns if name in shares]
    for name in [*heats, *halves]:
        frame[name] = pd.to_numeric(frame[name])
    written: dict[Any, str | Callable[[object], str] | None] = dict.fromkeys([*heats, *halves], _number)
    if pinned:
        frame[pinned] = frame[pinned].map(lambda name: shortened(str(name), _LONGEST))
    styled = frame.style.format(written).map(_cell, subset=heats).map(_share_cell, subset=halves)
    st.dataframe(
        styled,
        hide_index=True,
        key=key,
        height=min(len(frame), _MOST_ROWS) * _ROW + _ROW + 4,
        column_config=_pinned(frame, pinned) if pinned else None,
        placeholder=UNDEFINED,
    )


def reasons_below(reasons: Mapping[str, Sequence[str]], n_rows: int) -> None:
    """What is undefined or left out, with the rows of which that is true: a narrow window shows this too."""
    for reason, names in list(reasons.items())[:_MOST_REASONS]:
        whose = "; ".join(names[:_MOST_NAMED])
        if len(names) > _MOST_NAMED:
            whose += f" and {len(names) - _MOST_NAMED} more"
        if len(names) == n_rows > 1:
            whose = "every row"
        st.markdown(f":small[{plain(f'{reason} ({whose})')}]")
    if len(reasons) > _MOST_REASONS:
        st.markdown(f":small[And {len(reasons) - _MOST_REASONS} more reasons: the CSV has all.]")


def _pinned(frame: pd.DataFrame, name: str) -> dict[str, Any]:
    longest = max([len(name), *map(len, frame[name])])
    return {name: st.column_config.TextColumn(name, pinned=True, width=_BESIDE + _LETTER * longest)}


def _number(value: Any) -> str:
    return number(None if value != value else float(value))


def _share_cell(value: Any) -> str:
    return _cell(None if value is None or value != value else 2 * value - 1)


def _cell(value: Any) -> str:
    colour = heat_colour(value)
    return "" if colour is None else f"background-color: {colour}; color: #000000"
