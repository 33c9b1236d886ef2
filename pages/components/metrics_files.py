"""The scores themselves, to take away."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.formats.scores import write_scores_csv, write_scores_parquet
from core.schema.scores import ScoreTable
from core.store import Store
from core.store.kept_files import get_file
from pages.components import metrics_kept, visitor
from pages.components.metrics_scores import FILE, Scores
from pages.components.parts import nothing, part


def render(store: Store, scores: Scores) -> None:
    """How many scores there are, and a button a file, which is made when it is pressed."""
    table = scores.table
    part(
        "Scores",
        "One row per text and metric, with the metric's signature. Undefined scores come with their reason.",
    )
    if not table.rows:
        nothing("nothing is scored yet")
        return
    undefined = int((table.values != table.values).sum())
    metrics = "1 metric" if len(table.metrics) == 1 else f"{len(table.metrics):,} metrics"
    st.markdown(
        f"{len(table.rows):,} texts, {metrics}, {undefined:,} of {table.values.size:,} scores undefined."
    )
    metrics_kept.read_notes(table.notes)
    checked = visitor.admin_making()
    writers: dict[str, tuple[str, Callable[[ScoreTable], bytes]]] = {
        "scores.csv": ("text/csv", lambda one: write_scores_csv(one, "long")),
        "scores-wide.csv": ("text/csv", lambda one: write_scores_csv(one, "wide")),
        "scores.parquet": ("application/vnd.apache.parquet", lambda one: write_scores_parquet(one, "long")),
    }
    with st.container(horizontal=True):
        for name, (kind, write) in writers.items():
            st.download_button(
                name,
                partial(checked, partial(write, table)),
                f"assay-{name}",
                kind,
                key=f"metrics_file_{name}",
                on_click="ignore",
                icon=":material/download:",
            )
    if scores.chosen[0] == FILE:
        metrics_kept.forget_button(store, get_file(store, scores.chosen[1]), "scores")
