"""What every page is made of: a part with its sentence and where it is explained, a table, a chart, numbers as words, style, links to other pages."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from textwrap import wrap

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from core.results.cells import decimal
from pages.widgets.messages import mistakes_shown, plain, with_code

UNDEFINED = "undefined"


def number(value: float | None, decimals: int = 3) -> str:
    """`undefined`, or the number; never a minus before a zero."""
    return UNDEFINED if value is None else decimal(value, decimals)


def counted_as(count: int, noun: str) -> str:
    """`1 text`, `2 texts`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """0.9 as `90 %`."""
    return f"{100 * share:g} %"


HELP = "methods"
"""The page that shows docs/statistics.md; every section there has an anchor that a part names."""
_CONFIG = {"displaylogo": False, "modeBarButtons": [["toImage"]]}


def part(title: str, sentence: str, anchor: str | None = None) -> None:
    """A heading, what the part shows, and where it is explained."""
    st.subheader(title, anchor=False)
    explained(sentence, anchor)


def explained(sentence: str, anchor: str | None = None) -> None:
    """A sentence on what is shown, and where it is explained."""
    st.markdown(f"{sentence} {_where(anchor)}" if anchor else sentence)


def tabs(bodies: Mapping[str, Callable[[], object]], key: str) -> None:
    """Tabs by name; only the open one is drawn: the parts of a large run take their time."""
    for body, tab in zip(bodies.values(), st.tabs(list(bodies), key=key, on_change="rerun"), strict=True):
        if tab.open:
            with tab, mistakes_shown():
                body()


def places(columns: int = 2) -> Iterator[DeltaGenerator]:
    """Places for widgets, a row of columns after another: on a narrow screen they stand in the same order."""
    while True:
        yield from st.columns(columns, vertical_alignment="bottom")


def _where(anchor: str) -> str:
    return f":small[[How it is computed]({HELP}#{anchor})]"


def nothing(reason: str) -> None:
    """In place of a part without data."""
    st.markdown(f"Nothing to show: {reason}.")


def constants(sentences: Iterable[str]) -> None:
    """Which judges say nearly the same of everything, and what else makes their scores doubtful, above any number of theirs."""
    for sentence in sentences:
        st.warning(with_code(sentence))


def table(frame: pd.DataFrame) -> None:
    """A table of results; every text in it is shown as it is, and reasons stay wide enough to read on a phone."""
    shown = frame.astype(str)
    for name in shown.columns.intersection(["Note", "Left out"]):
        shown[name] = [_wide(text) for text in shown[name]]
    if "Note" in shown and not shown["Note"].any():
        shown = shown.drop(columns="Note")
    st.table(shown.rename(columns=plain).map(plain), hide_index=True, border="horizontal", width="content")


def _wide(note: str) -> str:
    return " ".join(line.replace(" ", "\u00a0") for line in wrap(note, 48, break_on_hyphens=False))


def chart(figure: go.Figure, alt: str, key: str, file_name: str = "assay-figure") -> None:
    """A plotly figure in the visitor's theme, with a description for those who cannot see it.

    Streamlit's own grey for axes has too little contrast for small letters. The ground is left to its theme, which
    takes the page's: a picture that is saved from a dark page would have light letters on none.
    """
    figure.update_layout(paper_bgcolor=None, plot_bgcolor=None)
    font = {"color": "#f4f4f5" if st.context.theme.type == "dark" else "#3a3a3a"}
    figure.update_layout(font=font)
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(tickfont=font, title_font=font)
    image = {"toImageButtonOptions": {"filename": file_name, "scale": 2}}
    st.plotly_chart(figure, config=_CONFIG | image, alt=alt, key=key)


def metrics() -> StreamlitPage:
    """The page Metrics."""
    return st.Page(_nothing, title="Metrics", url_path="metrics")


def results() -> StreamlitPage:
    """The page Results."""
    return st.Page(_nothing, title="Results", url_path="results")


def studies() -> StreamlitPage:
    """The page Studies, which the address without a name opens."""
    return st.Page(_nothing, title="Studies", default=True)


def _nothing() -> None:
    """Stands in for the page's own render."""


_STYLE = (
    "<style>"
    # On the dark ground the theme's colour, which buttons need that dark, is fainter than plain letters.
    '[data-testid="stTab"][aria-selected="true"], [data-testid="stTab"][aria-selected="true"] p,'
    ' [data-testid="stBaseButton-segmented_controlActive"] p'
    " { color: inherit; font-weight: 600; }"
    '[data-testid="stTable"] * { overflow-wrap: normal; word-break: normal; }'
    "@media (max-width: 640px) {"
    ' [data-testid="stTable"] th, [data-testid="stTable"] td'
    " { padding: .3rem .2rem !important; font-size: .72rem !important; white-space: normal; } }"
    "</style>"
)


def style() -> None:
    """The style sheet of the page."""
    st.html(_STYLE)
