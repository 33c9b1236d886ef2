"""Tabs Ranking and Redundancy: which metric is better, and which two measure the same."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses.rank import ANALYSIS as RANK
from core.analyses.rank import ranking_of
from core.analyses.redundancy import ANALYSIS as REDUNDANCY
from core.joining.choices import LOWER
from core.plots import metrics as plots
from core.results.correlations.ranking import rank_metrics
from core.schema.analysis import Answer
from core.schema.scores import METHODS, Direction, Method, ScoreTable
from pages.widgets import address, chosen_scores, result_table
from pages.widgets.against import Target
from pages.widgets.analysis import Data, Drawn, answer_of, form, show_tables
from pages.widgets.chosen_scores import Scores
from pages.widgets.parts import explained, nothing, waiting
from pages.widgets.result_table import Selection
from pages.widgets.settings_form import Link


def coefficient(
    controls: DeltaGenerator | ModuleType, key: str, offered: Sequence[Method] = METHODS
) -> Method:
    """Choose which coefficient is seen. controls: where the menu is drawn."""
    chosen: Method = controls.selectbox(
        "Coefficient",
        offered,
        format_func=str.capitalize,
        key=address.one("coefficient", key, offered, offered[0]),
        persist_state="session",
    )
    return chosen


Choose = Callable[[str, str | None], None]
"""Takes the metric, or the two metrics, that were pressed."""
_LINKS: Mapping[str, Link] = {"method": Link("coefficient"), "test": Link("test")}


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
    shared = target.options
    at = {"method": controls, "test": controls}
    options = form(RANK, settled=shared.resampling, at=at, links=_LINKS)
    if len(scores.table.metrics) < 2:
        nothing("a ranking needs two metrics; score these texts with another one")
        return
    key, tested = (*scores.key, *target.key), not scores.moving
    # No test is affordable while a run is at work, nor coefficients that are not drawn.
    if not tested or options.method not in shared.methods:
        shared = shared.model_copy(update={"methods": (options.method,)})
    with waiting(scores.moving, "Comparing every two metrics ..."):
        report = chosen_scores.correlated(key, scores.table, target.ratings, shared, target.use)
        found = chosen_scores.once(
            ("ranked", key, target.use.model_dump_json(), options.model_dump_json(), tested),
            lambda: rank_metrics(scores.table, target.ratings, options, use=target.use, tested=tested),
        )
    answer = Answer(RANK, options, ranking_of(found))
    drawn = Drawn(
        plots.metric_ranking(report, found),
        f"{len(found.order)} metrics from {', '.join(found.order[:3])} down, with intervals",
        instead=True,
        press=choose and (lambda point: choose(found.order[int(point["customdata"])], None)),
        beneath=beneath and partial(beneath, found.method),
    )
    show_tables(answer, ["ranking"], {"ranking": drawn})
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
        pressed = choose and Selection(lambda row: choose(*pairs[row]), None)
        show_tables(answer, ["comparisons"], {"comparisons": Drawn(rows=pressed)})


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
    options = form(REDUNDANCY, at={"method": controls}, links={"method": Link("coefficient")})
    method: Method = options.method
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
    """The heat map of a table with at least two metrics; `name` is unique on the page and names its downloads.

    choose, beneath: as for `ranking`. grows: see `chosen_scores.now_and_then`.
    """

    def press(point: Mapping[str, Any]) -> None:
        row, column = point["customdata"]
        if choose is not None:
            choose(found.metrics[row], found.metrics[column])

    answer = answer_of(REDUNDANCY, REDUNDANCY.Options(method=method), Data(key, lambda: scores, grows=grows))
    found = answer.result
    numbers = [one for line in found.n for one in line]
    drawn = Drawn(
        plots.redundancy(found.metrics, found.values, found.n, found.directions),
        f"Heat map of {len(found.metrics)} by {len(found.metrics)} correlations between metrics",
        instead=True,
        least_width=result_table.width_for(len(found.metrics)),
        press=None if choose is None else press,
        beneath=beneath and partial(beneath, method),
    )
    show_tables(answer, ["redundancy"], {"redundancy": drawn}, called=name)
    if numbers:
        st.markdown(
            f":small[n = {_range(numbers)} texts that both metrics scored. A dash is an undefined value.{_sign(found.directions)}]"
        )


def _sign(directions: Iterable[Direction]) -> str:
    return f" {LOWER}: lower is better, so the sign is reversed." if "lower" in directions else ""


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
