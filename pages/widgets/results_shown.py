"""Results of scores on a page: rows of tables and CSV files, heat behind numbers, a figure or a table with its downloads."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.stats.degeneracy import Constant
from core.stats.resampling import Estimate, Share
from core.tables.writer import csv_bytes
from pages.widgets import visitor
from pages.widgets.messages import plain
from pages.widgets.parts import chart
from pages.widgets.result_table import page_of

Row = dict[str, Any]


def estimate(name: str, found: Estimate | None) -> Row:
    """An estimate as five cells."""
    return {
        name: None if found is None else found.estimate,
        f"{name}_low": None if found is None else found.low,
        f"{name}_high": None if found is None else found.high,
        f"{name}_n": None if found is None else found.n,
        f"{name}_reason": (found.reason or found.interval_reason or "") if found else "not computed",
    }


def constant(found: Constant | None) -> Row:
    """The score that covers nearly all texts as two cells."""
    return {
        "constant_value": None if found is None else found.value,
        "constant_share": None if found is None else found.share,
    }


def share(name: str, found: Share) -> Row:
    """A share of a count as six cells."""
    return {
        name: found.share,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
        f"{name}_count": found.count,
        f"{name}_n": found.n,
        f"{name}_reason": found.reason or "",
    }


_MOST_REASONS, _MOST_NAMED = 8, 12


def style() -> None:
    """Without the CSV of Streamlit's own table: it shortens names as the table does, and guards no formulas."""
    st.html('<style>button[aria-label="Download as CSV"] { display: none; }</style>')


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


Rows = Sequence[Mapping[str, Any]]
"""What a picture draws, a dictionary a row, all with the same keys."""


def show(figure: go.Figure, alt: str, name: str, rows: Rows, *, least_width: int = 0) -> None:
    """The figure, and below it its files; `name` is unique on the page and names the files.

    least_width: pixels; in a narrower window the figure is scrolled.
    """
    place = f"metrics_wide_{name}"
    if least_width:
        st.html(
            f"<style>.st-key-{place} {{ overflow-x: auto; }}"
            f" .st-key-{place} > div {{ min-width: {least_width}px; }}</style>"
        )
    with st.container(key=place):
        chart(figure, alt, f"metrics_{name}", f"assay-{name}")
    downloads(name, rows, figure)


def downloads(name: str, rows: Rows, figure: go.Figure | None = None) -> None:
    """A button a file, made when it is pressed; the picture itself is the camera's, at its upper right corner."""
    checked = visitor.admin_making()
    files = {f"assay-{name}.csv": ("CSV", "text/csv", partial(_csv, rows))}
    if figure is not None:
        files[f"assay-{name}.html"] = ("HTML", "text/html", partial(page_of, figure))
    with st.container(horizontal=True, vertical_alignment="center"):
        for file_name, (label, kind, make) in files.items():
            st.download_button(
                label,
                partial(checked, make),
                file_name,
                kind,
                key=f"metrics_{name}_{label}",
                on_click="ignore",
                icon=":material/download:",
                help=f"{file_name}, made when you press.",
            )
        if figure is not None:
            st.markdown(":small[PNG: the camera in the figure's corner.]", width="content")


def width_for(n_columns: int) -> int:
    """Pixels in which the numbers of a heat map with so many columns can be read."""
    return 170 + 34 * n_columns


def _csv(rows: Rows) -> bytes:
    return csv_bytes(list(rows[0]) if rows else ["nothing"], rows)
