"""Plan the size of a study: questions, raters and votes for a wanted power or half-width."""

import streamlit as st

from core.analyses.plan import ANALYSIS, reached_by, reached_in_short, reached_said
from core.results.study.planning import pilot_basis
from core.schema.study import Study
from core.sources.studies import standing_of
from core.store import Store
from core.store.studies import get_study, list_studies
from core.study.analysis_set import released_record
from pages.studies.analysed import fingerprint
from pages.widgets import analysis
from pages.widgets.messages import mistakes_shown, plain

_ASSUMED = 0
"""The menu entry for assumed components, among the numbers of studies."""


def render(store: Store, study: Study | None = None) -> None:
    """The plan for a study, or for one that is still to be created."""
    with mistakes_shown():
        analysis.render(ANALYSIS, lambda: [_pilot(store, study), _standing(store, study)])


def _pilot(store: Store, study: Study | None) -> analysis.Data:
    """Components of an unblinded study, or none."""
    pilots = {
        one.study_id: one.name
        for one in list_studies(store)
        if one.kind == "pairs" and one.state == "unblinded"
    }
    number = _ASSUMED
    if pilots:
        number = st.selectbox(
            "Components of a vote",
            [_ASSUMED, *pilots],
            format_func=lambda one: "Assumed" if one == _ASSUMED else f"Pilot: {pilots[one]}",
            key=f"plan_pilot_{study.study_id if study else 'new'}",
            help="How much votes differ between raters, questions, pairs, and by chance.",
        )
    if number == _ASSUMED:
        return analysis.Data((), lambda: None)
    record = released_record(store, get_study(store, number))
    return analysis.Data((number, fingerprint(record)), lambda: pilot_basis(record))


def _standing(store: Store, study: Study | None) -> analysis.Data:
    """How far the study has come, or nothing where there is none yet."""
    if study is None:
        return analysis.Data((), lambda: None)
    standing = standing_of(store, study)
    return analysis.Data((repr(standing),), lambda: standing)


def reached_in_brief(store: Store, study: Study) -> None:
    """What a running study reaches in a sentence, with the rest folded."""
    found = reached_by(standing_of(store, study))
    if said := reached_in_short(found):
        st.markdown(plain(said))
    with st.expander("What this study reaches"):
        st.markdown("  \n".join(map(plain, reached_said(found))))
