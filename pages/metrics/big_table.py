"""A run over a big table, of which nothing is loaded whole: its estimates, and what pages do not show of it."""

from collections.abc import Mapping

import streamlit as st

from core.analyses.big_table import ANALYSIS
from core.installation import COMMAND
from core.plots import metrics as plots
from core.results.big_tables.estimates import estimates, level_means
from core.results.big_tables.scored import (
    COLUMNS,
    BigTable,
    labels_of,
)
from core.runs.jobs import RunAtHand
from core.runs.path import saved_run
from core.runs.progress import is_worked_on
from core.runs.tables.opened import big_table
from core.store import Store
from core.store.runs import get_run
from pages.tabs.phrases import NOT_SCORED
from pages.widgets import analysis, chosen_scores, menus
from pages.widgets.chosen_scores import RUN, Chosen, Key
from pages.widgets.messages import code_markdown
from pages.widgets.parts import chart, nothing, part

FIRST_METRICS = 4
"""Metrics that are shown at first."""
NOT_HERE: Mapping[str, str] = {
    "Correlations": "human ratings, correlations by group, rankings and redundancy",
    "Levels": "the order of the levels within items, and texts where the damaged one wins",
    "Meta-correlation": "the comparison of two rankings of metrics",
}
"""Tab -> what it does not show for a big table."""


def run_of(store: Store, choice: Chosen) -> RunAtHand | None:
    """The chosen run over a big table; None for any other choice. Raises NotFound for a run that has gone."""
    if choice[0] != RUN:
        return None
    run = saved_run(store, get_run(store, choice[1]))
    return run if run.kind.work == "tables" else None


def not_here(run: RunAtHand, name: str) -> None:
    """Say what a tab does not show for a big table, and what to do."""
    st.markdown(
        code_markdown(
            f"For a big table, this tab does not show {NOT_HERE[name]}: they need all scores in memory. The tab Estimates has means "
            f"and correlations with damage. For the rest, write the scores with `{COMMAND} runs write {run.run.run_id} --out DIR` and "
            "upload a part of at most 100,000 rows, or give the file to a command."
        )
    )


def estimates_of(run: RunAtHand) -> None:
    """Show which metric follows quality, and means by level and by other groups."""
    key, table = opened(run)
    if not table.parts:
        nothing(NOT_SCORED)
        return
    offered = {
        "by": [*(name for name in COLUMNS if name != "item"), *_labels(key, table)],
        "metrics": [metric.name for metric in table.metrics],
    }
    analysis.render(ANALYSIS, lambda: [analysis.Data(key, lambda: table, offered=offered, grows=_grows(run))])
    _show_levels(run, key, table)


def opened(run: RunAtHand) -> tuple[Key, BigTable]:
    """The table as it is now, and what identifies its state."""
    key = ("big table", *menus.key_of(run.store, run.run))
    return key, chosen_scores.once(key, lambda: big_table(run))


def _grows(run: RunAtHand) -> Key | None:
    """What identifies a table that grows: estimates of an earlier look will do for a while."""
    return ("big table", *menus.identity(run.run)) if is_worked_on(run.run) else None


def _show_levels(run: RunAtHand, key: Key, table: BigTable) -> None:
    part("Means by level", "A metric that follows quality falls from each level to the next.", "levels")
    asked = ("means by level",)
    with st.spinner("Reading the table ..."):
        found = chosen_scores.now_and_then(
            _grows(run),
            (*key, *asked),
            asked,
            lambda: level_means(estimates(table, by=("level",), correlated=False)),
        )
    of_families = list({one.family: one.metric for one in reversed(found)}.values())
    by_name = {one.metric: one for one in found}
    first = sorted(by_name, key=lambda name: name not in of_families)[:FIRST_METRICS]
    names = st.multiselect("Metrics", list(by_name), default=first, key="big_table_levels_shown")
    if names:
        chart(
            plots.scores_by_level([by_name[name] for name in names]),
            f"Mean score by level: {', '.join(names)}",
            "big_table_levels_figure",
        )


def _labels(key: Key, table: BigTable) -> tuple[str, ...]:
    return chosen_scores.once((*key, "labels"), lambda: labels_of(table))
