"""The page before a file is given: what it needs, and two examples that a press of a button checks."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.installation import HOUSE
from core.schema.uses import Use
from pages.check import columns
from pages.check.columns import Columns
from pages.widgets.parts import table

_REAL, _MADE_UP = "data/summeval/coherence.csv", "data/demo/labels.csv"
"""Below Assay's own folder: the command on the page runs there."""
_ROWS = {
    "id": ["q1", "q2", "q3", "q4"],
    "rater_1": ["pass", "fail", "pass", "pass"],
    "rater_2": ["pass", "fail", "fail", "pass"],
    "judge": ["pass", "fail", "pass", "fail"],
    "system": ["A", "A", "B", "B"],
}


def render(take: Callable[[bytes, str, Use | None], None]) -> None:
    """Show what a file needs, and check an example at the press of a button.

    take: called with the file, its name, and the use to begin with.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Try real ratings", type="primary", key="check_example", icon=":material/play_arrow:"):
            _check(take, _REAL, Columns(human=("expert_1", "expert_2"), judges=("expert_0",)), "replace")
        if st.button("Try made-up labels", type="tertiary", key="check_made_up"):
            _check(take, _MADE_UP, Columns(item="question"))
    st.markdown(
        ":small[**Real:** the experts of SummEval rated the coherence of 1,600 summaries. One of them is checked as a judge, "
        "the two others are the people. **Made up:** three raters and a judge on 14 questions, too few for a verdict.]"
    )
    st.markdown(
        "**Your file** has one row for each answer, with labels by **people**, 30 rows or more, and a **judge's** scores. CSV, "
        "TSV, JSONL, Parquet, or the log of an evaluation tool. The columns are found by their names, and you can change them."
    )
    table(pd.DataFrame(_ROWS))
    st.markdown(
        ":small[A row for each rating, with a column that names the rater, works too. System and language are optional. "
        "The file stays in this session and is not stored.]"
    )


def _check(
    take: Callable[[bytes, str, Use | None], None], example: str, start: Columns, use: Use | None = None
) -> None:
    data = (HOUSE / example).read_bytes()
    columns.begin_with(data, start)
    take(data, example, use)
