"""What three papers printed: tables with their source and their errors, and one of them computed once more."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.formats.correlations import Cell, PublishedTable, read_table, table_keys
from core.plots import metrics as plots
from core.results.meta_correlation import RECOMPUTED_TABLE, RecomputedCell, recompute_table_1
from pages.widgets import results_shown
from pages.widgets.messages import plain
from pages.widgets.parts import part
from pages.widgets.results_shown import heat_table

_NAMED_BY = {
    "meta-judge-1": ("generator", "shots"),
    "meta-judge-2": ("generator", "shots"),
    "meta-judge-3": ("generator", "shots"),
    "factual-perturbation-1": ("first_evaluator",),
    "factual-perturbation-2": ("method", "model"),
}
"""Table -> the columns that name a row; the other tables have a row a metric."""
_COUNTS = "factual-perturbation-1"
_NO_COEFFICIENTS = "cross-examination"
"""A paper whose figures are counts and percent: no colours, which stand for numbers from -1 to 1."""
_BESIDE = ("_low", "_high", "_sd")


def render() -> None:
    """Choose a table and look at it."""
    part(
        "Published tables",
        "Figures of three papers as they were printed, to look at and to compare your own with. The correlations of "
        "meta-judge, Tables 4 to 7, can stand on either side of a meta-correlation.",
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
        st.warning(f"An error of the paper: {plain(error)}.")
    rows = _part_of(table)
    _show(table, rows)
    if chosen == RECOMPUTED_TABLE:
        _recomputed()


def _part_of(table: PublishedTable) -> list[Mapping[str, Cell]]:
    """The rows of one data set, where the table has several of them."""
    if "dataset" not in table.columns:
        return list(table.rows)
    names = list(dict.fromkeys(str(row["dataset"]) for row in table.rows))
    chosen = st.selectbox("Data set", names, key=f"metrics_published_{table.number}", persist_state="session")
    return [row for row in table.rows if row["dataset"] == chosen]


def _show(table: PublishedTable, rows: list[Mapping[str, Cell]]) -> None:
    named_by = _NAMED_BY.get(table.key, ("metric",))
    name = f"published-{table.key}"
    numbers = [
        column
        for column in table.columns
        if column not in named_by and any(isinstance(row[column], int | float) for row in rows)
    ]
    if table.key == _COUNTS or table.paper == _NO_COEFFICIENTS:
        st.dataframe(
            pd.DataFrame(rows).drop(columns="error", errors="ignore"),
            hide_index=True,
            key="metrics_published_counts",
        )
        results_shown.downloads(name, rows)
        return
    cells = [column for column in numbers if not column.endswith(_BESIDE)]
    results_shown.show(
        plots.published_heat(rows, named_by, cells),
        f"Heat map of {len(rows)} rows and {len(cells)} columns of {table.title}; the table below has the numbers",
        name,
        rows,
        least_width=results_shown.width_for(len(cells)),
    )
    with st.expander("The same as a table"):
        heat_table(pd.DataFrame(rows), numbers, "metrics_published_rows")


def _recomputed() -> None:
    part(
        "Table 1 computed once more",
        "From the correlations that Tables 4 to 7 print: Spearman between a data set's human column and a "
        "generator's column. The printed figures are rounded, so both may differ by up to about .02.",
        "meta-correlation",
    )
    cells = _cells()
    rows = [
        {
            "dataset": cell.dataset,
            "generator": cell.generator,
            "shots": cell.shots,
            "published": cell.published,
            "recomputed": cell.recomputed,
            "difference": None if cell.difference is None else round(cell.difference, 6) + 0.0,
            "n": cell.n,
            "dropped": "; ".join(f"{metric}: {reason}" for metric, reason in cell.dropped.items()),
        }
        for cell in cells
    ]
    differences = [abs(cell.difference) for cell in cells if cell.difference is not None]
    st.markdown(
        f"{len(differences)} of {len(cells)} cells recomputed; the largest difference is "
        f"{max(differences):.3f}, n is {min(cell.n for cell in cells)} to {max(cell.n for cell in cells)} metrics."
    )
    shown = pd.DataFrame(rows).rename(columns={"dataset": "data set"}).rename(columns=str.capitalize)
    shown["Difference"] = [f"{one:.3f}" if one is not None else "" for one in (c.difference for c in cells)]
    heat_table(shown.rename(columns={"N": "n"}), ("Published", "Recomputed"), "metrics_recomputed")
    results_shown.downloads("published-recomputed", rows)


@st.cache_resource(show_spinner=False)
def _cells() -> tuple[RecomputedCell, ...]:
    return recompute_table_1()
