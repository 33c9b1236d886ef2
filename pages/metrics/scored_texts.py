"""The texts of a run over a big table with their scores, a page at a time, and one text whole."""

from dataclasses import replace
from functools import partial

import streamlit as st

from core.errors import counted
from core.installation import COMMAND
from core.report import csv_of
from core.results.big_tables.scored import (
    BigTable,
    ScoredText,
    TextQuery,
    texts_page,
    texts_table,
    values_of,
)
from core.runs.jobs import RunAtHand
from pages.metrics.big_table import FIRST_METRICS, opened
from pages.tabs import levels
from pages.tabs.phrases import NOT_SCORED
from pages.widgets import address, chosen_scores, result_table, visitor
from pages.widgets.chosen_scores import Key
from pages.widgets.downloads import spreadsheet_file
from pages.widgets.messages import code_markdown, plain
from pages.widgets.parts import explained, nothing, number
from pages.widgets.result_table import Selection

PER_PAGE = 50
"""Texts on a page."""
MOST_DOWNLOADED = 10_000
"""Most texts of a download, which is made in memory."""
_MOST_VALUES = 200
"""Values of a column in a menu."""
_TEXT, _PAGE = "big_table_text", "big_table_page"
_ANY, _FILE_ORDER = "any", "the file"


def render(run: RunAtHand) -> None:
    """Show the texts with their scores, a page at a time, and one text whole."""
    explained(f"Texts with their scores, {PER_PAGE} a page. Press a row to read the text.")
    key, table = opened(run)
    if not table.parts:
        nothing(NOT_SCORED)
        return
    for note in table.notes:
        st.markdown(code_markdown(note))
    names = [metric.name for metric in table.metrics]
    query = _query(key, table, names)
    chosen = st.multiselect(
        "Scores to show",
        names,
        default=names[:FIRST_METRICS],
        key="big_table_scores_shown",
        placeholder="None",
    )
    shown = list(dict.fromkeys([*([query.sort] if query.sort else []), *chosen]))
    with st.spinner("Reading the page ..."):
        found, total = chosen_scores.once((*key, "page", str(query)), lambda: texts_page(table, query))
    if not found:
        nothing("no text matches; change the filters")
        return
    pages = -(-total // PER_PAGE)
    st.number_input(
        f"Page of {pages:,} ({counted(total, 'text')})",
        1,
        pages,
        key=_PAGE,
        width=240,
        persist_state="session",
    )
    _page(table, found, total, query, shown)
    _downloads(run, table, total, query)


def _downloads(run: RunAtHand, table: BigTable, total: int, query: TextQuery) -> None:
    """Offer all texts that fit the filters, as long as a browser can take them, and say how to get the others."""
    if PER_PAGE < total <= MOST_DOWNLOADED:
        whole = replace(query, offset=0, limit=total)
        st.download_button(
            f"All {total:,} texts, all metrics (CSV)",
            partial(visitor.admin_making(), spreadsheet_file(".csv", partial(_csv, table, whole))),
            f"assay-run-{run.run.run_id}-texts.csv",
            "text/csv",
            key="big_table_download",
            on_click="ignore",
            icon=":material/download:",
        )
    number = run.run.run_id
    said = f"All scores as files: `{COMMAND} runs write {number} --out DIR`."
    if total > MOST_DOWNLOADED:
        said = (
            f"The buttons above have this page; {total:,} texts are too many for a browser. Narrow the filters to at most "
            f"{MOST_DOWNLOADED:,}, or write texts with `{COMMAND} runs texts {number} --limit 20000 --out texts.csv`. {said}"
        )
    st.markdown(code_markdown(said))


def _csv(table: BigTable, query: TextQuery) -> bytes:
    found, total = texts_page(table, query)
    return csv_of(texts_table(found, table.metrics, total, query))


def _query(key: Key, table: BigTable, names: list[str]) -> TextQuery:
    """The filters and the order; other filters begin at the first page."""
    where: dict[str, str] = {}
    row = st.container(horizontal=True, vertical_alignment="bottom")
    item = row.text_input("Item", key="big_table_item", placeholder="any", persist_state="session").strip()
    if item:
        where["item"] = item
    for column in ("level", "system"):
        values = [_ANY, *_values(key, table, column)]
        value = row.selectbox(
            column.capitalize(),
            values,
            key=address.one(column, f"big_table_{column}", values, _ANY),
            persist_state="session",
        )
        if value != _ANY:
            where[column] = value
    sort = row.selectbox(
        "Order by",
        [_FILE_ORDER, *names],
        key=address.one("order", "big_table_sort", [_FILE_ORDER, *names], _FILE_ORDER),
    )
    highest = row.checkbox(
        "Highest first", key=address.switch("highest", "big_table_descending"), disabled=sort == _FILE_ORDER
    )
    asked = (*where.items(), sort, highest)
    if st.session_state.get(f"{_PAGE}_of") != asked:
        st.session_state[f"{_PAGE}_of"] = asked
        st.session_state[_PAGE] = 1
    page = int(st.session_state.get(_PAGE, 1))
    return TextQuery(
        where,
        None if sort == _FILE_ORDER else sort,
        highest and sort != _FILE_ORDER,
        (page - 1) * PER_PAGE,
        PER_PAGE,
    )


def _values(key: Key, table: BigTable, column: str) -> tuple[str, ...]:
    return chosen_scores.once((*key, "values", column), lambda: values_of(table, column, _MOST_VALUES))


def _page(
    table: BigTable, found: tuple[ScoredText, ...], total: int, query: TextQuery, shown: list[str]
) -> None:
    by_row = {one.row: at for at, one in enumerate(found)}
    at = by_row.get(st.session_state.get(_TEXT, -1))

    def choose(row: int) -> None:
        st.session_state[_TEXT] = found[row].row

    listed = texts_table(found, table.metric_named(shown) if shown else (), total, query)
    result_table.show(listed, rows=Selection(choose, at))
    if at is None:
        return
    one = found[at]
    level = "" if one.level is None else f", level {one.level}"
    scores = [f"{name} {number(value)}" for name, value in one.scores.items()]
    st.markdown(f":small[{plain(', '.join(scores))}]")
    levels.cards(
        (f"{one.item}: {one.system}{level}", one.text), None, one.reference, one.language, one.source
    )
