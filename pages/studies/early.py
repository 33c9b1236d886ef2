"""Early looks at a running study, if its design declares them: one bound that holds at every look."""

import pandas as pd
import streamlit as st

from core.analyses.look import ANALYSIS
from core.results.study.early import look
from core.schema.study import Study
from core.store import Store
from core.store.studies import read_log
from core.study.analysis_set import LOOKED
from pages.widgets import analysis
from pages.widgets.messages import mistakes_shown, moment
from pages.widgets.parts import explained, table


def render(store: Store, study: Study) -> None:
    """Look at the bound, and the looks so far."""
    if study.state != "unblinded":
        explained(
            "See one lower bound of the mean score while the study runs. It is valid at every look, so you may stop as soon as it "
            "is above the margin. Every look is logged. Raters never see it. Once you have looked, this bound decides, and the "
            "verdict on all votes is shown for comparison only.",
            "looking-early",
        )
    if study.state == "draft":
        st.markdown(":small[Open the study first.]")
    elif study.state == "unblinded":
        st.markdown(":small[The study has ended. Its results show the bound.]")
    elif st.button("Look now", key=f"early_look_{study.study_id}", icon=":material/visibility:"):
        with mistakes_shown():
            analysis.show_answer(ANALYSIS.answer(ANALYSIS.Options(), look(store, study, by="page")))
    looks = [one for one in read_log(store, study.study_id) if one.action == LOOKED]
    if looks:
        st.markdown("**Looks so far**")
        table(
            pd.DataFrame(
                [(moment(one.at_utc), one.detail) for one in looks], columns=["Time (UTC)", "What it showed"]
            )
        )
