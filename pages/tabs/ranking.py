"""Tabs Ranking and Redundancy: which metric is better, and which two measure the same."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses.redundancy import ANALYSIS as REDUNDANCY
from core.joining.choices import LOWER
from core.plots import metrics as plots
from core.results.correlations.ranking import (
    Test,
    comparison_table,
    rank_metrics,
    ranking_table,
)
from core.schema.analysis import Answer
from core.schema.scores import METHODS, Direction, Method, ScoreTable
from pages.tabs.phrases import AS_A_TABLE
from pages.widgets import address, chosen_scores, result_table
from pages.widgets.against import Target
from pages.widgets.chosen_scores import Scores
from pages.widgets.parts import explained, nothing, waiting
from pages.widgets.result_table import Selection


def coefficient(controls: DeltaGenerator | ModuleType, key: str, default: Method = METHODS[0]) -> Method:
    """Choose a coefficient. controls: where the menu is drawn."""
    chosen: Method = controls.selectbox(
        "Coefficient",
        METHODS,
        format_func=str.capitalize,
        key=address.one("coefficient", key, METHODS, default),
        persist_state="session",
    )
    return chosen


Choose = Callable[[str, str | None], None]
"""Takes the metric, or the two metrics, that were pressed."""


def ranking(
    scores: Scores,
    target: Target,
    controls: DeltaGenerator,
    choose: Choose | None = None,
    beneath: Callable[[Method], None] | None = None,
) -> None:
    """Show metrics from best to worst, in clusters that no paired test separates.

    controls: where its menus are drawn. choose: called after a press. beneath: draws what follows the figure, for a
    coefficient.
    """
    explained(
        "Metrics from best to worst. No paired test separates the metrics of one cluster. A new cluster begins with a "
        "metric that is worse than all metrics of the cluster before.",
        "metric-comparison",
    )
    method = coefficient(controls, "metrics_rank_method")
    tests = get_args(Test)
    test: Test = controls.selectbox(
        "Paired test",
        tests,
        format_func={"permutation": "permutation", "williams": "Williams' t (rows independent)"}.__getitem__,
        key=address.one("test", "metrics_rank_test", tests, tests[0]),
        persist_state="session",
    )
    if len(scores.table.metrics) < 2:
        nothing("a ranking needs two metrics; score these texts with another one")
        return
    key, tested = (*scores.key, *target.key), not scores.moving
    # No test is affordable while a run is at work, nor coefficients that are not drawn.
    options = target.options if tested else replace(target.options, methods=(method,))
    with waiting(scores.moving, "Comparing every two metrics ..."):
        report = chosen_scores.correlated(key, scores.table, target.ratings, (), options)
        found = chosen_scores.once(
            ("ranked", key, method, test, options, tested),
            lambda: rank_metrics(
                scores.table, target.ratings, method=method, test=test, options=options, tested=tested
            ),
        )
    result_table.show(
        ranking_table(found),
        figure=plots.metric_ranking(report, found),
        alt=f"{len(found.order)} metrics from {', '.join(found.order[:3])} down, with intervals",
        folded=AS_A_TABLE,
        press=choose and (lambda point: choose(found.order[int(point["customdata"])], None)),
        beneath=beneath and partial(beneath, method),
    )
    clusters = (
        "The number before a name is its cluster; grey bands separate clusters. Lines: intervals over items. "
        f"All {found.n_tests:,} comparisons at Benjamini-Hochberg p below {found.alpha:g}, on the"
        if tested
        else "Clusters and intervals follow when the run has stopped. On the"
    )
    st.markdown(
        f":small[{clusters} n = {found.n:,} rows that every metric scored, of {found.n_rows:,} usable rows."
        f"{_sign(found.directions.values())}]"
    )
    if not tested:
        return
    with st.expander("All comparisons"):
        pairs = [(one.first, one.second) for one in found.comparisons]
        result_table.show(
            comparison_table(found), rows=choose and Selection(lambda row: choose(*pairs[row]), None)
        )


def redundancy(
    scores: Scores,
    controls: DeltaGenerator,
    choose: Choose | None = None,
    beneath: Callable[[Method], None] | None = None,
) -> None:
    """Show how similarly every two metrics score. controls, choose, beneath: as for `ranking`."""
    explained(
        "How similarly two metrics score the same texts, good or bad. Near 1, one of them adds nothing.",
        "redundancy",
    )
    method = coefficient(controls, "metrics_alike_method", "spearman")
    if len(scores.table.metrics) < 2:
        nothing("redundancy needs two metrics; score these texts with another one")
        return
    heat(scores.key, scores.table, method, "redundancy", choose, beneath, grows=scores.grows)


def heat(
    key: chosen_scores.Key,
    scores: ScoreTable,
    method: Method,
    name: str,
    choose: Choose | None = None,
    beneath: Callable[[Method], None] | None = None,
    *,
    grows: chosen_scores.Key | None = None,
) -> None:
    """The heat map of a table with at least two metrics; `name` is unique on the page and names its files.

    choose, beneath: as for `ranking`. grows: see `chosen_scores.now_and_then`.
    """

    def press(point: Mapping[str, Any]) -> None:
        row, column = point["customdata"]
        if choose is not None:
            choose(found.metrics[row], found.metrics[column])

    options = REDUNDANCY.Options(method=method)
    with waiting(grows is not None):
        found = chosen_scores.now_and_then(
            grows,
            ("redundant", key, method),
            ("redundant", method),
            lambda: REDUNDANCY.answer(options, scores).result,
        )
    numbers = [one for line in found.n for one in line]
    result_table.show(
        replace(Answer(REDUNDANCY, options, found).tables["redundancy"], name=name),
        figure=plots.redundancy(found.metrics, found.values, found.n, found.directions),
        alt=f"Heat map of {len(found.metrics)} by {len(found.metrics)} correlations between metrics",
        least_width=result_table.width_for(len(found.metrics)),
        folded=AS_A_TABLE,
        press=None if choose is None else press,
        beneath=beneath and partial(beneath, method),
    )
    if numbers:
        st.markdown(
            f":small[n = {_range(numbers)} texts that both metrics scored. A dash is an undefined value.{_sign(found.directions)}]"
        )


def _sign(directions: Iterable[Direction]) -> str:
    return f" {LOWER}: lower is better, so the sign is reversed." if "lower" in directions else ""


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
