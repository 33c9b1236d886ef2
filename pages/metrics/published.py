"""Tab Published: tables as papers printed them, and Table 1 of Meta-Judge as its other tables give it."""

from collections.abc import Mapping

import streamlit as st

from core.formats.correlations import Cell, PublishedTable, read_table, table_keys
from core.papers.published import (
    RECOMPUTED_TABLE,
    RecomputedCell,
    largest_difference,
    published_table,
    recompute_table_1,
    recomputed_table,
)
from core.plots import metrics as plots
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import result_table
from pages.widgets.messages import plain
from pages.widgets.parts import part

_ENDS = ("_low", "_high", "_sd")


def render() -> None:
    """Choose a published table and show it."""
    part(
        "Published tables",
        "Published numbers of Meta-Judge, Factual and CEF, to compare with your own. The correlations in Meta-Judge's Tables 4 to 7 can be either "
        "side of a meta-correlation.",
        "meta-correlation",
    )
    tables = {key: read_table(key) for key in table_keys()}
    chosen = st.selectbox(
        "Table",
        list(tables),
        format_func=lambda key: f"{tables[key].paper}, Table {tables[key].number}: {tables[key].title}",
        key="metrics_published_table",
        persist_state="session",
    )
    table = tables[chosen]
    st.markdown(f":small[Source: {plain(table.source)}. {plain(table.notes)}]")
    for error in table.errors:
        st.warning(f"Error in the published table: {plain(error)}.")
    _show_published(table, _part_of(table))
    if chosen == RECOMPUTED_TABLE:
        _recomputed()


def _part_of(table: PublishedTable) -> list[Mapping[str, Cell]]:
    """The rows of the chosen data set, if the table has several data sets."""
    if "dataset" not in table.columns:
        return list(table.rows)
    names = list(dict.fromkeys(str(row["dataset"]) for row in table.rows))
    chosen = st.selectbox("Data set", names, key=f"metrics_published_{table.number}", persist_state="session")
    return [row for row in table.rows if row["dataset"] == chosen]


def _show_published(table: PublishedTable, rows: list[Mapping[str, Cell]]) -> None:
    found = published_table(table, rows)
    cells = [one.name for one in found.columns if one.heat and not one.name.endswith(_ENDS)]
    if not cells:  # Counts and percentages have no colours: the scale runs from -1 to 1.
        result_table.show(found)
        return
    named_by = [one.name for one in found.columns if one.names_row and one.name != "dataset"]
    result_table.show(
        found,
        figure=plots.published_heat(rows, named_by, cells),
        alt=f"Heat map of {len(rows)} rows and {len(cells)} columns of {table.title}; the table below has the numbers",
        least_width=result_table.width_for(len(cells)),
        folded=AS_A_TABLE,
    )


def _recomputed() -> None:
    part(
        "Table 1 recomputed",
        "From the correlations in Tables 4 to 7: Spearman between a data set's human column and a generator's column. "
        "The published numbers are rounded, so small differences (up to about .02) are expected.",
        "meta-correlation",
    )
    cells = _recomputed_cells()
    made = sum(cell.recomputed is not None for cell in cells)
    st.markdown(
        f"{made} of {len(cells)} cells recomputed; the largest difference is "
        f"{largest_difference(cells):.3f}, n is {min(cell.n for cell in cells)} to {max(cell.n for cell in cells)} metrics."
    )
    result_table.show(recomputed_table(cells))


@st.cache_resource(show_spinner=False)
def _recomputed_cells() -> tuple[RecomputedCell, ...]:
    return recompute_table_1()
