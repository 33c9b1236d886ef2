"""Tab Levels: scores by damage level, and where a metric prefers the damaged text."""

import pandas as pd
import streamlit as st

from core import plots
from core.results.correlations.levels import ALL_LEVELS, MetricByLevel, by_level
from core.stats.degeneracy import constants_said
from core.store import Store
from pages.components import metrics_choice, metrics_computed, metrics_figure, metrics_tables, metrics_worst
from pages.components.judges_numbers import with_ends
from pages.components.metrics_against import has_levels
from pages.components.metrics_scores import Scores
from pages.components.numbers import left_out
from pages.components.parts import constants, nothing, part, table

NO_LEVELS = "these scores name no levels"
_SHOWN_FIRST = 4
"""Metrics that are drawn before anybody chooses: the first of each family, then others."""


def render(store: Store, scores: Scores, *, warned: bool = False) -> None:
    """Lines by level, shares, and the texts behind the worst cases; warned: constant metrics are named above."""
    part(
        "Levels",
        "A metric that follows quality falls from each level to the next. Texts of one item are compared with each "
        "other, never with those of another.",
        "levels",
    )
    if not scores.table.rows:
        nothing("nothing is scored yet")
        return
    if not has_levels(scores.table):
        nothing(NO_LEVELS)
        return
    scores = metrics_choice.choose(scores, "main")
    with st.spinner("Computing ..."):
        found = metrics_computed.once(("levelled", scores.key), lambda: by_level(scores.table))
    if not warned:
        constants(constants_said((one.metric, one.constant) for one in found))
    chosen = _choose(found)
    if chosen:
        metrics_figure.show(
            plots.scores_by_level(chosen),
            "Mean score by level, with intervals: " + ", ".join(one.metric for one in chosen),
            "levels",
            metrics_tables.level_means(chosen),
        )
        st.markdown(":small[Dots: means over items; lines: 95 % intervals, resampling items.]")
    _shares(found)
    metrics_worst.render(store, scores, found)


def _choose(found: tuple[MetricByLevel, ...]) -> list[MetricByLevel]:
    by_name = {one.metric: one for one in found}
    of_families = {one.family: one.metric for one in reversed(found)}.values()
    first = sorted(by_name, key=lambda name: name not in of_families and not _sums_up(name))[:_SHOWN_FIRST]
    names = st.multiselect("Metrics", list(by_name), default=first, key="metrics_levels_shown")
    return [by_name[name] for name in names]


def _sums_up(name: str) -> bool:
    """Whether it is the mean of its family's other components, as of a cross-examination."""
    return name.removesuffix(" (%)").endswith("-overall")


def _shares(found: tuple[MetricByLevel, ...]) -> None:
    part(
        "Order of the levels",
        "Monotonic: share of items whose scores never rise from a level to the next worse one; strictly: they fall "
        "at every step. Prefers damaged: share of damaged texts that score above the undamaged text of their item. "
        "An item whose scores are all equal counts in neither Monotonic nor Prefers damaged.",
        "levels",
    )
    table(
        pd.DataFrame(
            {
                "Metric": [one.metric for one in found],
                "Items": [one.monotonic.n for one in found],
                "Left out": [left_out(one.left_out) for one in found],
                "Monotonic": [with_ends(one.monotonic) for one in found],
                "Strictly": [with_ends(one.strictly_monotonic) for one in found],
                "Prefers damaged": [with_ends(one.prefers_damaged[ALL_LEVELS]) for one in found],
            }
        )
    )
    st.markdown(
        ":small[Items, Left out: of Monotonic. Strictly counts every item with a score at each level.]"
    )
    metrics_figure.downloads("monotonic", metrics_tables.order_of_levels(found))
