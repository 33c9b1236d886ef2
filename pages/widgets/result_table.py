"""A result table on a page: cells, notes and downloads, with a figure where there is one; bars for raters' progress."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.plots.dressing import heat_colour, heat_letters, shortened
from core.report import TITLES, WRITERS, decimals_of, headings, lines, notes, number, written
from core.schema.result_table import Cell, Column, Interval, ResultTable
from pages.widgets import visitor
from pages.widgets.downloads import spreadsheet_file
from pages.widgets.messages import plain
from pages.widgets.parts import Press, chart, nothing, table, told_apart

_INK, _GROUND = "#262730", "#ffffff"
_MOST_NOTES = 8
_LONGEST, _LETTER, _BESIDE = 24, 7, 20
"""Letters of a name before it loses its middle; pixels of a letter, and of a cell's edges."""
_ROW, _MOST_ROWS, _NUMBER = 35, 20, 40
"""Pixels of a row; rows after which the table scrolls; pixels of the column with the rows' numbers."""
_LONG, _HEIGHT = 30, 720
"""Rows beyond which a table without colours scrolls, and the pixels that it then takes."""
_BAR = "Progress"
_Offered = tuple[ResultTable, go.Figure | None]
_TOGETHER: ContextVar[list[_Offered] | None] = ContextVar("together", default=None)
"""The tables of a part with one popover for all of them; None outside of such a part."""


@dataclass(frozen=True)
class Selection:
    """Rows of a table that can be chosen by a press on a cell."""

    choose: Callable[[int], None]
    """Called with the number of the row in the result table, before the page is drawn again."""
    row: int | None
    """The row that is marked."""


def show(
    result: ResultTable,
    *,
    figure: go.Figure | None = None,
    alt: str = "",
    least_width: int = 0,
    folded: str = "",
    caption: str = "",
    whole: ResultTable | None = None,
    titled: bool = True,
    table_first: bool = False,
    rows: Selection | None = None,
    beneath: Callable[[], None] | None = None,
    press: Press | None = None,
    files: bool = True,
    narrow: bool = False,
) -> None:
    """Show a figure if there is one, the table, its notes and a download in each format.

    alt: describes the figure for people who cannot see it. least_width: pixels below which the figure scrolls, unless it
    says so itself (`layout.meta`).
    folded: title of a folded part for the table, where the figure shows the same. caption: what the figure draws, right below it. whole: table to download, where the page
    shows only some rows. titled: False where a heading above says the same. table_first: whether the figure stands below
    the table. rows: what a press on a cell does; needs a table with colours. beneath: draws what follows the table or the
    figure at once. press: what a press on a point of the figure does. files: whether it can be downloaded. narrow: whether intervals stand behind
    their numbers, not in columns of their own; for tables of few rows with colours.
    """
    if figure is not None and not table_first:
        _figure(result.name, figure, alt, least_width, press)
        if caption:
            st.markdown(f":small[{caption}]")
    if titled and result.title and figure is None:
        st.markdown(f"**{plain(result.title)}**")
    if not result.rows:
        nothing("the table has no rows")
    elif folded:
        with st.expander(folded):
            _body(result, rows, narrow)
    else:
        _body(result, rows, narrow)
    if beneath is not None:
        beneath()
    if figure is not None and table_first:
        _figure(result.name, figure, alt, least_width, press)
    below = notes(result)
    for note in below[:_MOST_NOTES]:
        st.markdown(f":small[{plain(note)}]")
    if len(below) > _MOST_NOTES:
        st.markdown(f":small[And {len(below) - _MOST_NOTES} more notes, all in the downloads.]")
    if files:
        downloads(whole or result, figure)


@contextmanager
def together(name: str) -> Iterator[None]:
    """Offer all tables that are shown in this block in one popover, at its end; within such a block in that of the outer one.

    name: of the part, unique on the page.
    """
    if _TOGETHER.get() is not None:
        yield
        return
    tables: list[_Offered] = []
    token = _TOGETHER.set(tables)
    try:
        yield
    finally:
        _TOGETHER.reset(token)
    if tables:
        _popover(name, tables)


def downloads(result: ResultTable, figure: go.Figure | None = None) -> None:
    """Offer a table in each format, and its figure; each file is made when its button is pressed."""
    tables = _TOGETHER.get()
    if tables is None:
        _popover(result.name, [(result, figure)])
    else:
        # A table that is shown in two ways, whole and in part, is offered once.
        tables[:] = [one for one in tables if one[0].name != result.name]
        tables.append((result, figure))


def _popover(name: str, tables: Sequence[_Offered]) -> None:
    with st.popover("Download", icon=":material/download:", key=f"downloads_{name}"):
        for found, figure in tables:
            if len(tables) > 1:
                st.markdown(f"**{plain(found.title or found.name)}**")
            _buttons(found, figure)
        if any(figure is not None for _, figure in tables):
            st.markdown(":small[PNG: use the camera in the figure's corner.]")


def _buttons(result: ResultTable, figure: go.Figure | None) -> None:
    checked = visitor.admin_making()
    files: dict[str, tuple[str, str, Callable[[], bytes]]] = {
        ending: (TITLES[ending], kind, spreadsheet_file(f".{ending}", partial(write, result)))
        for ending, (kind, write) in WRITERS.items()
    }
    if figure is not None:
        files["html"] = ("HTML", "text/html", partial(page_of, figure))
    with st.container(horizontal=True, vertical_alignment="center"):
        for ending, (title, kind, make) in files.items():
            st.download_button(
                title,
                partial(checked, make),
                f"assay-{result.name}.{ending}",
                kind,
                key=f"table_{result.name}_{ending}",
                on_click="ignore",
                help=f"Downloads assay-{result.name}.{ending}.",
            )


def rater_bars(done: Sequence[int], totals: Sequence[int]) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return two columns for a data frame with a row a rater, a bar and `3 of 74`, and the frame's `column_config`."""
    columns: dict[str, list[Any]] = {
        _BAR: [n / total if total else 0.0 for n, total in zip(done, totals, strict=True)],
        "Done": [f"{n:,} of {total:,}" for n, total in zip(done, totals, strict=True)],
    }
    bar = st.column_config.ProgressColumn(
        _BAR, format="percent", min_value=0.0, max_value=1.0, width="medium"
    )
    return columns, {_BAR: bar}


def width_for(n_columns: int) -> int:
    """Return the width in pixels at which the numbers of a heat map with so many columns are readable."""
    return 170 + 34 * n_columns


def page_of(figure: go.Figure) -> bytes:
    """Return a web page with the figure and plotly itself (about 4 MB), which needs no network.

    It has dark letters on white, whatever the app's theme.
    """
    own = go.Figure(figure)
    own.update_layout(font={"color": _INK}, paper_bgcolor=_GROUND, plot_bgcolor=_GROUND)
    for update in (own.update_xaxes, own.update_yaxes):
        update(tickfont={"color": _INK}, title_font={"color": _INK})
    text: str = own.to_html(include_plotlyjs=True, full_html=True, config={"displaylogo": False})
    return text.encode()


def style() -> None:
    """Hide the CSV button of Streamlit's own table: that file has shortened names and unguarded formulas."""
    st.html('<style>button[aria-label="Download as CSV"] { display: none; }</style>')


def _figure(name: str, figure: go.Figure, alt: str, least_width: int, press: Press | None) -> None:
    place = f"table_wide_{name}"
    least_width = least_width or (figure.layout.meta or {}).get("least_width", 0)
    if least_width:
        st.html(
            f"<style>.st-key-{place} {{ overflow-x: auto; }}"
            f" .st-key-{place} > div {{ min-width: {least_width}px; }}</style>"
        )
    with st.container(key=place):
        chart(figure, alt, f"figure_{name}", f"assay-{name}", press)


def _body(result: ResultTable, rows: Selection | None, narrow: bool) -> None:
    if rows is not None or any(column.heat for column in result.columns):
        _heat(result, rows, narrow)
    else:
        frame = pd.DataFrame(lines(result), columns=told_apart(headings(result)))
        # A narrow cell breaks at any other blank. An interval in percent breaks between its numbers only.
        told = frame.replace({r"^< ": "<\u00a0", r"(\d) %(?=,|\]| \[)": "\\1\u00a0%"}, regex=True)
        long = len(result.rows) > _LONG
        with st.container(height=_HEIGHT, key=f"long_table_{result.name}") if long else nullcontext():
            table(told, result.marked)
        if result.marked:
            st.markdown(f":small[In bold: {plain(result.mark)}.]")


def _heat(result: ResultTable, rows: Selection | None, narrow: bool) -> None:
    """Show numbers on colour, sorted by a press on a column's head, with intervals in columns of their own."""
    cells: dict[str, list[Any]] = {}
    behind: dict[str, list[str]] = {}
    heats: dict[str, Column] = {}
    numbers: dict[str, Column] = {}
    counts: set[str] = set()
    names: list[str] = []
    seen = [at for at, column in enumerate(result.columns) if column.shown]
    titles = told_apart(result.columns[at].heading for at in seen)  # a metric may be named as a column is
    for at, heading in zip(seen, titles, strict=True):
        column = replace(result.columns[at], title=heading)
        own = [row[at] for row in result.rows]
        if column.names_row:
            names.append(column.heading)
        if not column.heat:
            if any(cell is not None for cell in own) and not any(map(_is_words, own)):
                numbers[column.heading] = column
                if not any(isinstance(cell, float) for cell in own):
                    counts.add(column.heading)
            cells[column.heading] = [written(cell, column) if _is_words(cell) else cell for cell in own]
            continue
        column = replace(column, places=decimals_of(own, column))
        heats[column.heading] = column
        cells[column.heading] = [cell.value if isinstance(cell, Interval) else cell for cell in own]
        if any(isinstance(cell, Interval) and cell.low is not None for cell in own):
            ends = [_ends(cell, column) for cell in own]
            if narrow:
                behind[column.heading] = ends
            else:
                cells[f"{column.heading}, interval"] = ends
    frame = pd.DataFrame(cells)
    for heading in names:
        frame[heading] = frame[heading].map(lambda name: shortened(str(name), _LONGEST))
    numbers |= heats
    for heading in numbers:
        frame[heading] = pd.to_numeric(frame[heading])
    if rows is not None:
        frame.index += 1
    styled = _styled(frame, numbers, counts, behind, heats)
    if rows is not None and rows.row is not None:
        chosen = pd.IndexSlice[frame.index[rows.row], names]
        styled = styled.map(lambda _: "font-weight: bold", subset=chosen)
    key = f"table_{result.name}"
    pressed: dict[str, Any] = {}
    config = {heading: _column_width(frame, heading) for heading in names}
    if rows is not None:
        # A press on a heading, and the keyboard on its way through, select the first cell. Of this column nothing is told.
        config["_index"] = st.column_config.NumberColumn("", width=_NUMBER, pinned=False)
        _select(key, rows.row, str(frame.columns[0]))
        pressed = {"on_select": partial(_pressed, key, rows.choose), "selection_mode": "single-cell"}
    st.dataframe(
        styled,
        hide_index=rows is None,
        key=key,
        **pressed,
        height=min(len(frame), _MOST_ROWS) * _ROW + _ROW + 4,
        column_config=config,
        placeholder="undefined",
    )


def _styled(
    frame: pd.DataFrame,
    numbers: Mapping[str, Column],
    counts: Collection[str],
    behind: Mapping[str, Sequence[str]],
    heats: Mapping[str, Column],
) -> Any:
    """The cells as text and colour. behind: heading -> the ends of each cell's interval, which stand in the cell."""
    # One call: each further one would give all other columns pandas' own digits again.
    styled = frame.style.format(
        {
            heading: _count if heading in counts else partial(_number, column)
            for heading, column in numbers.items()
        }
    )
    for heading, ends in behind.items():
        for place, said in zip(frame.index, ends, strict=True):
            if said:
                styled = styled.format(
                    partial(_value_and_words, heats[heading], said), subset=pd.IndexSlice[[place], [heading]]
                )
    for heading, column in heats.items():
        styled = styled.map(partial(_colour, column), subset=[heading])
    return styled


def _select(key: str, row: int | None, column: str) -> None:
    """Mark the chosen row where another place of the page chose it."""
    state = st.session_state.get(key)
    marked = [row for row, _ in state["selection"]["cells"]] if state else []
    if marked != ([] if row is None else [row]):
        cells = [] if row is None else [[row, column]]
        st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": cells}}


def _pressed(key: str, choose: Callable[[int], None]) -> None:
    for row, _ in st.session_state[key]["selection"]["cells"]:
        choose(row)


def _is_words(cell: Cell) -> bool:
    return cell is not None and not isinstance(cell, int | float)


def _ends(cell: Cell, column: Column) -> str:
    if not isinstance(cell, Interval) or cell.value is None or cell.low is None:
        return ""
    return written(cell, column).partition(" ")[2].replace(" ", "\u00a0", 1)


def _count(value: Any) -> str:
    return "undefined" if value is None or value != value else f"{int(value):,}"


def _number(column: Column, value: Any) -> str:
    return "undefined" if value is None or value != value else number(float(value), column)


def _value_and_words(column: Column, said: str, value: Any) -> str:
    return f"{_number(column, value)}\u00a0{said}"


def _colour(column: Column, value: Any) -> str:
    if value is None or value != value:
        return ""
    dark = st.context.theme.type == "dark"
    colour = heat_colour(value if column.heat == "coefficient" else 2 * value - 1, dark=dark)
    return f"background-color: {colour}; color: {heat_letters(dark=dark)}"


def _column_width(frame: pd.DataFrame, name: str) -> Any:
    # Not pinned: Streamlit writes pinned cells in a grey with a contrast of 3.6:1.
    longest = max([len(name), *map(len, frame[name])])
    return st.column_config.TextColumn(name, width=_BESIDE + _LETTER * longest)
