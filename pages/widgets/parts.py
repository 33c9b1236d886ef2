"""What pages are made of: a title, parts with a sentence and a link to the method, tables, charts, numbers as words, style, links to other pages."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from textwrap import wrap
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from core.results.cells import decimal
from pages.widgets.messages import code_markdown, mistakes_shown, plain

UNDEFINED = "undefined"


def waiting(moving: bool, words: str = "Computing ...") -> AbstractContextManager[None]:
    """Say what is being waited for; nothing in a refresh that follows a run, where a line would push the page down."""
    return nullcontext() if moving else st.spinner(words)


def number(value: float | None, decimals: int = 3) -> str:
    """`undefined`, or the number; never a minus before a zero."""
    return UNDEFINED if value is None else decimal(value, decimals)


def percent(share: float) -> str:
    """0.9 as `90 %`."""
    return f"{100 * share:g} %"


HELP = "methods"
"""The page that shows the documents; every section there has an anchor that a part names."""
Press = Callable[[Mapping[str, Any]], None]
"""Takes a point of a figure as the browser sends it: `customdata`, `curve_number`, `point_index`."""
CHART_CONFIG = {"displaylogo": False, "modeBarButtons": [["toImage"]]}


_COMPUTED = "How it is computed"


def page(title: str, sentence: str = "", anchor: str | None = None, label: str = _COMPUTED) -> None:
    """Begin a page: its title, one sentence on what it is for, and a link to the method, with its label."""
    st.title(title, anchor=False)
    if sentence:
        explained(sentence, anchor, label)


def part(title: str, sentence: str, anchor: str | None = None) -> None:
    """A heading, what the part shows, and where it is explained."""
    st.header(title, anchor=False)
    if sentence or anchor:
        explained(sentence, anchor)


def explained(sentence: str, anchor: str | None = None, label: str = _COMPUTED) -> None:
    """A sentence on what is shown, and a link to where it is explained, with its label."""
    st.markdown(f"{sentence} {_where(anchor, label)}" if anchor else sentence)


def tabs(bodies: Mapping[str, Callable[[], object]], key: str) -> None:
    """Tabs by name; only the open one is drawn: the parts of a large run take their time."""
    for body, tab in zip(bodies.values(), st.tabs(list(bodies), key=key, on_change="rerun"), strict=True):
        if tab.open:
            with tab, mistakes_shown():
                body()


def places(columns: int = 2, alignment: Literal["top", "bottom"] = "bottom") -> Iterator[DeltaGenerator]:
    """Yield places for widgets, row by row; a narrow screen shows them in the same order."""
    while True:
        yield from st.columns(columns, vertical_alignment=alignment)


def _where(anchor: str, label: str) -> str:
    """A link to a section of the methods. anchor: `SECTION`, or `DOCUMENT#SECTION` where it is not in the first one shown."""
    document, _, section = anchor.rpartition("#")
    return f":small[[{label}]({HELP}{f'?document={document}' if document else ''}#{section})]"


def nothing(reason: str, label: str = "", to: StreamlitPage | None = None) -> None:
    """Say why a part is empty, and link the next step where another page has it. label: of the link, a verb first."""
    st.markdown(f"Nothing to show: {reason}.")
    if to is not None:
        st.page_link(to, label=label, icon=":material/arrow_forward:")


def constants(sentences: Iterable[str]) -> None:
    """Warn above any number about scores that are nearly constant or doubtful for another reason."""
    for sentence in sentences:
        st.warning(code_markdown(sentence))


def table(frame: pd.DataFrame, marked: Collection[int] = ()) -> None:
    """Show a table of results. Texts are shown as they are; reasons stay wide enough to read on a phone. marked: rows in bold."""
    shown = frame.astype(str)
    for name in shown.columns.intersection(["Note", "Left out", "Why not", "Other warnings"]):
        shown[name] = [_wide(text) for text in shown[name]]
    if "Note" in shown and not shown["Note"].any():
        shown = shown.drop(columns="Note")
    shown = shown.rename(columns=plain).map(plain)
    for at in marked:
        shown.iloc[at] = [f"**{text}**" if text else text for text in shown.iloc[at]]
    st.table(shown, hide_index=True, border="horizontal", width="content")


def _wide(note: str) -> str:
    return " ".join(line.replace(" ", "\u00a0") for line in wrap(note, 48, break_on_hyphens=False))


def told_apart(names: Iterable[str]) -> list[str]:
    """Return names of which no two are equal: the second `x` becomes `x (2)`."""
    taken: dict[str, None] = {}
    for name in names:
        again, number = name, 1
        while again in taken:
            number += 1
            again = f"{name} ({number})"
        taken[again] = None
    return list(taken)


def chart(
    figure: go.Figure, alt: str, key: str, file_name: str = "assay-figure", press: Press | None = None
) -> None:
    """Show a plotly figure in the visitor's theme. alt: describes it for people who cannot see it.

    press: called with the point that was pressed, before the page is drawn again.

    Streamlit's grey for axes has too little contrast for small letters. The background comes from the theme, so that a
    picture saved from a dark page has light letters on a dark ground.
    """
    themed(figure)
    image = {"toImageButtonOptions": {"filename": file_name, "scale": 2}}
    pressed: dict[str, Any] = {}
    if press is not None:
        pressed = {"on_select": partial(_pressed, key, press), "selection_mode": "points"}
    st.plotly_chart(figure, config=CHART_CONFIG | image, alt=alt, key=key, **pressed)


def themed(figure: go.Figure) -> None:
    """Give a figure the letters of the visitor's theme, and no ground of its own."""
    figure.update_layout(paper_bgcolor=None, plot_bgcolor=None)
    font = {"color": "#f4f4f5" if st.context.theme.type == "dark" else "#3a3a3a"}
    figure.update_layout(font=font)
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(tickfont=font, title_font=font)


def _pressed(key: str, press: Press) -> None:
    for point in st.session_state[key]["selection"]["points"][:1]:
        press(point)


def other_page(url_path: str) -> StreamlitPage:
    """A page by its address, for a link or a switch; an empty address is the start page."""
    return st.Page(_nothing, title=url_path.capitalize() or "Start", url_path=url_path, default=not url_path)


def check() -> StreamlitPage:
    """The page Check."""
    return other_page("check")


def metrics() -> StreamlitPage:
    """The page Metrics."""
    return other_page("metrics")


def studies() -> StreamlitPage:
    """The page Studies."""
    return other_page("studies")


def _nothing() -> None:
    """Stands in for the page's own render."""


_STYLE = (
    "<style>"
    # The bar with the pages is 60 px high: a title begins right below it, on every page at the same height.
    '[data-testid="stMain"] [data-testid="stMainBlockContainer"]'
    " { padding-top: 4rem; padding-bottom: 3rem; max-width: 78rem; }"
    '[data-testid="stMainBlockContainer"] h1 { font-size: 1.75rem; padding: 0 0 .75rem; line-height: 1.25; }'
    '[data-testid="stMainBlockContainer"] h2, [data-testid="stMainBlockContainer"] h3'
    " { font-size: 1.25rem; padding: .5rem 0 .25rem; }"
    # The theme's colour carries white text: on a dark page it is too dark for text itself.
    '[data-testid="stTab"], [data-testid="stButtonGroup"] [aria-checked="true"],'
    ' [data-variant="pills"][aria-pressed="true"] { color: inherit !important; }'
    '[data-testid="stTab"][aria-selected="true"], [data-testid="stTab"][aria-selected="true"] p,'
    ' [data-testid="stButtonGroup"] [aria-checked="true"] p, [data-variant="pills"][aria-pressed="true"] p'
    " { color: inherit; font-weight: 600; }"
    '[data-testid="stTable"] * { overflow-wrap: normal; word-break: normal; }'
    "@media (max-width: 640px) {"
    ' [data-testid="stMain"] [data-testid="stMainBlockContainer"] { padding-left: 1rem; padding-right: 1rem; }'
    ' [data-testid="stTable"] th, [data-testid="stTable"] td'
    " { padding: .3rem .2rem !important; font-size: .72rem !important; white-space: normal; } }"
    "</style>"
)


def style() -> None:
    """Add the style sheet of all pages but the raters'."""
    st.html(_STYLE)
