"""Tab Votes: do metrics put the two answers of a pair in the order in which blind raters put them?"""

import pandas as pd
import streamlit as st

from core.plots import metrics as plots
from core.results.correlations.votes import MetricVotes, metrics_against_votes
from core.store import Store
from core.study.release import released_record
from pages.widgets import chosen_scores, menus, results_shown
from pages.widgets.chosen_scores import Scores
from pages.widgets.parts import interval, left_out, nothing, part
from pages.widgets.results_shown import heat_table, reasons_below


def render(store: Store, scores: Scores) -> None:
    """Choose an unblinded study whose texts were scored."""
    part(
        "Votes",
        "For each pair of answers with a winner: does the metric score the preferred answer higher?",
        "metrics-against-votes",
    )
    study = menus.unblinded(store, "metrics_votes_study", "pairs")
    if study is None:
        nothing("no study is unblinded yet; votes stay hidden until then")
        return
    record = released_record(store, study)
    key = (*scores.key, study.study_id, hash((record.answers, record.raters, record.study)))
    with st.spinner("Computing ..."):
        found = chosen_scores.once(("votes", key), lambda: metrics_against_votes(record, scores.table))
    defined = [one for one in found if one.agreement.estimate is not None]
    if defined:
        results_shown.show(
            plots.metric_votes(found),
            f"Share of pairs that each of {len(defined)} metrics orders as the raters did, with intervals",
            "votes",
            results_shown.votes(found),
        )
    else:
        results_shown.downloads("votes", results_shown.votes(found))
    _table(found)


def _table(found: tuple[MetricVotes, ...]) -> None:
    levels = list(dict.fromkeys(level for one in found for level in one.by_level))
    lines = []
    reasons: dict[str, list[str]] = {}
    for one in found:
        agreement, tau = one.agreement, one.tau
        line = {
            "Metric": one.metric,
            "Pairs": agreement.n,
            "Left out": sum(one.left_out.values()),
            "In order": agreement.estimate,
            "In order, interval": interval(agreement.low, agreement.high),
            "Kendall": tau.estimate,
            "Kendall, interval": interval(tau.low, tau.high),
        }
        line |= {
            f"In order, {level}": one.by_level[level].estimate for level in levels if level in one.by_level
        }
        lines.append(line | {"Family": one.family})
        said = [f"Undefined: {reason}" for reason in (agreement.reason, tau.reason) if reason]
        said += [f"Left out: {left_out(one.left_out)}"] if one.left_out else []
        for reason in dict.fromkeys(said):
            reasons.setdefault(reason, []).append(one.metric)
    shares = ["In order", *(f"In order, {level}" for level in levels)]
    heat_table(pd.DataFrame(lines), ["Kendall"], "metrics_votes_table", pinned="Metric", shares=shares)
    reasons_below(reasons, len(lines))
    st.markdown(
        ":small[In order: share of pairs with a winner that the metric orders as the raters did, a tie of the metric "
        "counting half; 0.5 is chance. Kendall: of the difference of scores and the composite vote, over all pairs. "
        "Intervals resample questions. Left out counts pairs.]"
    )
