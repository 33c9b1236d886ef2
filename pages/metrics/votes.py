"""Tab Votes: do metrics put the two answers of a pair in the order in which blind raters put them?"""

import streamlit as st

from core.plots import metrics as plots
from core.results.correlations.votes import metrics_against_votes, vote_table
from core.store import Store
from core.study.analysis_set import released_record
from pages.widgets import chosen_scores, menus, result_table
from pages.widgets.chosen_scores import Scores
from pages.widgets.parts import nothing, part


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
    result_table.show(
        vote_table(found),
        figure=plots.metric_votes(found) if defined else None,
        alt=f"Share of pairs that each of {len(defined)} metrics orders as the raters did, with intervals",
    )
    st.markdown(
        ":small[In order: share of pairs with a winner that the metric orders as the raters did, a tie of the metric "
        "counting half; 0.5 is chance. Kendall: of the difference of scores and the composite vote, over all pairs. "
        "Intervals resample questions. Left out counts pairs.]"
    )
