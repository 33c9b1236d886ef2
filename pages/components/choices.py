"""A menu of texts whose names hold scores: the name and the text shown below it are always of one row."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

Row = TypeVar("Row")


def one_of(
    place: "st.delta_generator.DeltaGenerator | None",
    label: str,
    rows: Sequence[Row],
    name_of: Callable[[Row], str],
    key: str,
) -> Row:
    """The row chosen of at least one, the first until somebody chooses.

    The options are the names themselves, never places in a list: a browser goes on showing the name that stood at a
    place when other rows come to stand there. key: names the scores too, so that other scores begin at their first row.
    """
    named: dict[str, Row] = {}
    for row in rows:
        name = again = name_of(row)
        number = 1
        while again in named:
            number += 1
            again = f"{name} ({number})"
        named[again] = row
    chosen: str = (st if place is None else place).selectbox(label, list(named), key=key)
    return named.get(chosen, rows[0])
