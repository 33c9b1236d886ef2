"""A figure or a table of the page Metrics with its downloads: PNG, HTML that needs no network, and the data as CSV."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.tables.writer import csv_bytes
from pages.components import visitor
from pages.components.parts import chart

Rows = Sequence[Mapping[str, Any]]
"""What a picture draws, a dictionary a row, all with the same keys."""
_INK, _GROUND = "#262730", "#ffffff"


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


def page_of(figure: go.Figure) -> bytes:
    """A web page of its own that holds the figure and plotly itself (some 4 MB): it needs no network.

    On white with dark letters, whatever the app's ground was.
    """
    own = go.Figure(figure)
    own.update_layout(font={"color": _INK}, paper_bgcolor=_GROUND, plot_bgcolor=_GROUND)
    for update in (own.update_xaxes, own.update_yaxes):
        update(tickfont={"color": _INK}, title_font={"color": _INK})
    text: str = own.to_html(include_plotlyjs=True, full_html=True, config={"displaylogo": False})
    return text.encode()


def _csv(rows: Rows) -> bytes:
    return csv_bytes(list(rows[0]) if rows else ["nothing"], rows)
