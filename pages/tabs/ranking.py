"""Which metric is better than which, and which two say the same."""

from collections.abc import Iterable
from typing import Literal, get_args

import streamlit as st

from core.plots import metrics as plots
from core.results.choices import LOWER
from core.results.correlations.ranking import rank_metrics
from core.results.correlations.ranking import redundancy as redundancy_of
from core.schema.scores import METHODS, Direction, Method, ScoreTable
from pages.widgets import chosen_scores, results_shown
from pages.widgets.against import Target
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, part

Test = Literal["permutation", "williams"]


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
    results_shown.show(
        plots.metric_ranking(report, found),
        f"{len(found.order)} metrics from {', '.join(found.order[:3])} down, with intervals",
        "ranking",
        results_shown.ranking(found),
    )
    st.markdown(
        f":small[The number before a name is its cluster; grey bands tell clusters apart. Lines: intervals over items. "
        f"All comparisons at p below {found.alpha:g}, on the n = {found.n:,} rows that every metric scored, of "
        f"{found.n_rows:,} that could count; the CSV has them.{_sign(found.directions.values())}]"
    )
    chosen_scores.read_notes(found.notes)
    for name, reason in found.dropped.items():
        st.markdown(f"Not ranked: {plain(name)}: {plain(reason)}.")


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
    results_shown.show(
        plots.redundancy(found),
        f"Heat map of {len(found.metrics)} by {len(found.metrics)} correlations between metrics",
        name,
        results_shown.redundancy(found),
        least_width=results_shown.width_for(len(found.metrics)),
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
