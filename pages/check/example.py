"""The page before a file is given: what it needs, an example, and a button that checks it."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import streamlit as st

from core.schema.unit import ROW
from pages.check import columns
from pages.widgets.parts import table

_EXAMPLE = Path(__file__).resolve().parents[2] / "data" / "demo" / "labels.csv"
_ROWS = {
    "id": ["q1", "q2", "q3", "q4"],
    "rater_1": ["pass", "fail", "pass", "pass"],
    "rater_2": ["pass", "fail", "fail", "pass"],
    "judge": ["pass", "fail", "pass", "fail"],
    "system": ["A", "A", "B", "B"],
}


def render(take: Callable[[bytes, str], None]) -> None:
    """Show what a file needs, and check the example at the press of a button. take: called with file and name."""
    if st.button("Try it on an example", type="primary", key="check_example", icon=":material/play_arrow:"):
        data = _EXAMPLE.read_bytes()
        columns.choose_item(data, ROW)  # its labels are made up one by one, although questions repeat
        take(data, _EXAMPLE.name)
    st.markdown(
        "One row for each answer, with labels by **people**, 30 rows or more, and a **judge's** scores. CSV, TSV, JSONL, "
        "Parquet, or the log of an evaluation tool. The columns are found by their names, and you can change them."
    )
    table(pd.DataFrame(_ROWS))
    st.markdown(
        ":small[A row for each rating, with a column that names the rater, works too. System and language are optional. "
        "The file stays in this session and is not stored.]"
    )
