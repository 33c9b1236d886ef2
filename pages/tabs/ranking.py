"""Which metric is better than which, and which two say the same."""

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import streamlit as st

from core.plots import metrics as plots
from core.results.choices import LOWER
from core.results.correlations.ranking import (
    Test,
    comparison_table,
    rank_metrics,
    ranking_table,
    redundancy_table,
)
from core.results.correlations.ranking import redundancy as redundancy_of
from core.schema.scores import METHODS, Direction, Method, ScoreTable
from pages.widgets import chosen_scores, result_table
from pages.widgets.against import Target
from pages.widgets.chosen_scores import Scores
from pages.widgets.parts import nothing, part


def ranking(scores: Scores, target: Target) -> None:
    """Metrics from best to worst, in clusters that no test tells apart."""
    part(
        "Ranking",
        "Metrics from best to worst. No paired test separates the metrics of one cluster; a new cluster begins with a "
        "metric that is worse than all metrics of the cluster before.",
        "metric-comparison",
    )
    left, right = st.columns(2)
    method: Method = left.selectbox(
        "Coefficient",
        METHODS,
        format_func=str.capitalize,
        key="metrics_rank_method",
        persist_state="session",
    )
    test: Test = right.selectbox(
        "Paired test",
        get_args(Test),
        format_func={"permutation": "permutation", "williams": "Williams' t (rows independent)"}.__getitem__,
        key="metrics_rank_test",
        persist_state="session",
    )
    if len(scores.table.metrics) < 2:
        nothing("a ranking needs two metrics")
        return
    key = (*scores.key, *target.key)
    with st.spinner("Comparing every two metrics ..."):
        report = chosen_scores.correlated(key, scores.table, target.ratings, (), target.options)
        found = chosen_scores.once(
            ("ranked", key, method, test, target.options),
            lambda: rank_metrics(
                scores.table, target.ratings, method=method, test=test, options=target.options
            ),
        )
    result_table.show(
        ranking_table(found),
        figure=plots.metric_ranking(report, found),
        alt=f"{len(found.order)} metrics from {', '.join(found.order[:3])} down, with intervals",
        folded="The same as a table",
    )
    st.markdown(
        f":small[The number before a name is its cluster; grey bands tell clusters apart. Lines: intervals over items. "
        f"All comparisons at p below {found.alpha:g}, on the n = {found.n:,} rows that every metric scored, of "
        f"{found.n_rows:,} that could count.{_sign(found.directions.values())}]"
    )
    with st.expander("All comparisons"):
        result_table.show(comparison_table(found))


def redundancy(scores: Scores) -> None:
    """How alike every two metrics score."""
    part(
        "Redundancy",
        "How alike two metrics score the same texts, whatever the texts are worth: near 1 one of them adds nothing.",
        "redundancy",
    )
    method: Method = st.selectbox(
        "Coefficient",
        METHODS,
        index=1,
        format_func=str.capitalize,
        key="metrics_alike_method",
        persist_state="session",
    )
    if len(scores.table.metrics) < 2:
        nothing("it takes two metrics")
        return
    heat(scores.key, scores.table, method, "redundancy")


def heat(key: chosen_scores.Key, scores: ScoreTable, method: Method, name: str) -> None:
    """The heat map of a table with at least two metrics; `name` is unique on the page and names its files."""
    with st.spinner("Computing ..."):
        found = chosen_scores.once(("redundant", key, method), lambda: redundancy_of(scores, method=method))
    numbers = [one for line in found.n for one in line]
    result_table.show(
        replace(redundancy_table(found), name=name),
        figure=plots.redundancy(found),
        alt=f"Heat map of {len(found.metrics)} by {len(found.metrics)} correlations between metrics",
        least_width=result_table.width_for(len(found.metrics)),
        folded="The same as a table",
    )
    if numbers:
        st.markdown(
            f":small[n = {_range(numbers)} texts that both metrics scored; a dash is undefined.{_sign(found.directions)}]"
        )


def _sign(directions: Iterable[Direction]) -> str:
    return f" {LOWER}: lower is better, so the sign is turned." if "lower" in directions else ""


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
