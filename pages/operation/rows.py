"""Some rows of a long list at a time."""

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

Row = TypeVar("Row")
_ROWS = 20


def some_rows(rows: Sequence[Row], key: str) -> Sequence[Row]:
    """Return the rows that the visitor chose to see: the first 20 until then. key: of the menu, shown with more rows."""
    if len(rows) <= _ROWS:
        return rows
    begins = list(range(0, len(rows), _ROWS))
    begin: int = st.selectbox(
        "Rows",
        begins,
        format_func=lambda at: f"{at + 1:,} to {min(at + _ROWS, len(rows)):,} of {len(rows):,}",
        key=f"{key}_{len(rows)}",
        width=260,
    )
    return rows[begin : begin + _ROWS]
