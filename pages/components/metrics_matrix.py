"""Many meta-correlations at once: by data set, generator and shots, with mean and spread over prompt variants."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core import plots
from core.formats.correlations import PREFIX, published_names, published_side
from core.results.meta_correlation import LiveSide, Matrix, Side, meta_matrix
from core.schema.scores import Method
from pages.components import metrics_computed, metrics_figure, metrics_kept, metrics_tables
from pages.components.messages import plain
from pages.components.metrics_correlations import columns_of
from pages.components.metrics_sides import OpenSide
from pages.components.numbers import number
from pages.components.parts import part, table

_RESAMPLES = 1_000


def render(human: OpenSide, synthetic: OpenSide, method: Method, first: Method) -> None:
    """Choose the columns, and see a cell for each combination of their values."""
    if not isinstance(synthetic.side, LiveSide):
        return
    scores = synthetic.side.table
    columns = columns_of(scores)
    if not columns:
        return
    part(
        "By data set, generator and prompt",
        "One meta-correlation for each combination of the values of some columns of the scores.",
        "meta-correlation",
    )
    left, right = st.columns(2)
    by = left.multiselect("A cell for each", columns, key="metrics_matrix_by")
    over = right.selectbox(
        "Mean and SD over",
        [name for name in columns if name not in by],
        index=None,
        placeholder="nothing",
        key="metrics_matrix_over",
        help="A column whose values are variants, such as prompts.",
    )
    by = [name for name in by if name in columns]
    if not by and over is None:
        st.markdown("Choose at least one column.")
        return
    humans, key = _humans(human, synthetic.side)
    with st.spinner("Computing ..."):
        found = metrics_computed.once(
            ("matrix", key, synthetic.key, tuple(by), over, method, first),
            lambda: meta_matrix(
                humans,
                scores,
                by=tuple(by),
                over=over,
                method=method,
                first_order=first,
                n_resamples=_RESAMPLES,
            ),
        )
    _show(found)


def _humans(human: OpenSide, synthetic: LiveSide) -> tuple[Mapping[str, Side], object]:
    """The human side for every data set: what a paper printed of each, or the one chosen above for all."""
    names = {row.labels.get("dataset", "") for row in synthetic.table.rows}
    printed = set(published_names())
    if human.published and names and all(PREFIX + name in printed for name in names):
        st.markdown(":small[Each data set meets its own published human column.]")
        return {name: published_side(PREFIX + name) for name in sorted(names)}, tuple(sorted(names))
    return {"": human.side}, human.key


def _show(found: Matrix) -> None:
    if found.caution is not None:
        st.warning(found.caution)
    metrics_figure.show(
        plots.meta_matrix(found),
        f"Heat map of {len(found.cells)} meta-correlations",
        "meta-matrix",
        metrics_tables.matrix(found),
    )
    st.markdown(":small[On hover: the interval over metrics and n. A dash is undefined.]")
    for cell in found.cells:
        if cell.result is None or cell.reason:
            st.markdown(
                f"Undefined: {plain(', '.join(cell.by.values()))}: {plain(cell.reason or 'no reason given')}."
            )
    metrics_kept.read_notes(found.notes)
    if not found.summaries:
        return
    names = list(found.summaries[0].by)
    table(
        pd.DataFrame(
            {name: [one.by[name] for one in found.summaries] for name in names}
            | {
                "Mean": [number(one.mean) for one in found.summaries],
                "SD": [number(one.sd) for one in found.summaries],
                "Variants": [one.n for one in found.summaries],
                "Left out": [one.left_out for one in found.summaries],
            }
        )
    )
    metrics_figure.downloads("meta-summaries", metrics_tables.summaries(found))
