"""Plan the size of a study: questions, raters and votes for a wanted power or half-width."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import streamlit as st

from core.plots import planning as plots
from core.results.study.planning import (
    ASSUMPTIONS,
    USUAL_HALF_WIDTH,
    USUAL_POWER,
    Basis,
    PlanOptions,
    of_pilot,
    plan_said,
    plan_study,
    plan_table,
    reached_in_short,
    reached_said,
    reached_so_far,
    stated,
    study_options,
)
from core.schema.result_table import ResultTable
from core.schema.study import Score, Study
from core.stats.planning import SCOPES, THESE
from core.store import Store
from core.store.studies import get_study, list_studies
from core.study.analysis_set import SCORE_NAMES, released_record
from pages.widgets import result_table
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import explained, places

_ASSUMED = 0
"""The menu entry for assumed components, among the numbers of studies."""
_HALF_WIDTH = "half-width"
_MOST_RATERS = 50
_SCOPE_NAMES = {scope: ("These raters" if scope == THESE else "Raters as a sample") for scope in SCOPES}


def render(store: Store, study: Study | None = None) -> None:
    """The plan for a study, or for one that is still to be created."""
    explained(
        "How many questions, raters and votes does the study need?",
        "planner",
    )
    key = f"plan_{study.study_id if study else 'new'}"
    with mistakes_shown():
        basis = _basis(store, key)
        chosen = study_options(store, study) if study is not None else PlanOptions(levels=basis.levels or 1)
        wanted = _wanted(chosen, key)
        plan = plan_study(basis, replace(chosen, **wanted))
        first, second, *rest = plan_said(plan)
        st.markdown(f"**{plain(first)}**  \n{plain(second)}")
        for line in rest:
            st.markdown(f":small[{plain(line)}]")
        scope = st.radio(
            "Valid for", SCOPES, format_func=_SCOPE_NAMES.get, horizontal=True, key=f"{key}_scope"
        )
        whole = plan_table(plan)
        result_table.show(
            _of_scope(whole, scope),
            figure=plots.power(plan, scope),
            alt="Power against questions, one line for each number of raters.",
            whole=whole,
        )
        if study is not None:
            reached(store, study, basis, wanted)


def _of_scope(found: ResultTable, scope: str) -> ResultTable:
    """The plans of one scope, without columns that the page shows elsewhere: a narrow window has no room for them."""
    rows = tuple(row for row in found.rows if row[0] == scope)
    elsewhere = ("scope", "levels", *(() if any(row[-1] for row in rows) else ("reason",)))
    columns = tuple(replace(one, shown=False) if one.name in elsewhere else one for one in found.columns)
    return replace(found, columns=columns, rows=rows)


def reached(
    store: Store, study: Study, basis: Basis | None = None, wanted: Mapping[str, Any] | None = None
) -> None:
    """What a running study has reached, from counts and assumed components. wanted: fields of PlanOptions to plan with."""
    found = reached_so_far(store, study, basis, wanted)
    st.markdown("**This study.** " + "  \n".join(map(plain, reached_said(found))))


def reached_in_brief(store: Store, study: Study) -> None:
    """The same in a sentence, with the rest folded."""
    found = reached_so_far(store, study)
    if said := reached_in_short(found):
        st.markdown(plain(said))
    with st.expander("What this study reaches"):
        st.markdown("  \n".join(map(plain, reached_said(found))))


def _basis(store: Store, key: str) -> Basis:
    """Components of a vote: assumed, or of an unblinded study."""
    pilots = [one for one in list_studies(store) if one.kind == "pairs" and one.state == "unblinded"]
    chosen = _ASSUMED
    if pilots:
        chosen = st.selectbox(
            "Components of a vote",
            [_ASSUMED, *(one.study_id for one in pilots)],
            format_func=lambda number: (
                "Assumed"
                if number == _ASSUMED
                else f"Pilot: {next(o.name for o in pilots if o.study_id == number)}"
            ),
            key=f"{key}_pilot",
            help="How much votes differ between raters, questions, pairs, and by chance.",
        )
    if chosen != _ASSUMED:
        return of_pilot(released_record(store, get_study(store, chosen)))
    with st.expander("Assumptions"):
        given = {
            one.name: place.number_input(
                one.label,
                0.0,
                1.0,
                one.default,
                0.05,
                key=f"{key}_{one.name}",
                help=one.help.capitalize() + ".",
            )
            for one, place in zip(ASSUMPTIONS, places(3), strict=False)
        }
    return stated(**given)


def _wanted(chosen: PlanOptions, key: str) -> dict[str, Any]:
    """Fields of PlanOptions."""
    room = places(3)
    aims = ["power", _HALF_WIDTH]
    aim = next(room).radio(
        "Plan for", aims, index=int(chosen.margin is None), horizontal=True, key=f"{key}_aim"
    )
    value = next(room).number_input(
        "Wanted power" if aim == "power" else "Wanted half-width",
        0.01,
        0.99,
        USUAL_POWER if aim == "power" else chosen.margin or USUAL_HALF_WIDTH,
        0.05,
        key=f"{key}_{aim}",
        help="Power: probability that the lower bound is above the margin if both systems are equally good. Half-width: "
        "distance of the mean from its lower bound.",
    )
    margin = chosen.margin
    if margin is not None or aim == "power":
        margin = next(room).number_input(
            "Margin", 0.01, 1.99, margin or PlanOptions.margin, 0.01, key=f"{key}_margin"
        )
    levels = next(room).number_input("Levels of a question", 1, 100, chosen.levels, key=f"{key}_levels")
    stated = chosen.votes if chosen.votes is not None and chosen.votes < max(chosen.raters) else 0
    votes = next(room).number_input(
        "Votes per pair (0: all raters)", 0, _MOST_RATERS, min(stated, _MOST_RATERS), key=f"{key}_votes"
    )
    raters = st.multiselect(
        "Numbers of raters to compare",
        sorted({*range(1, _MOST_RATERS + 1), *chosen.raters}),
        chosen.raters,
        key=f"{key}_raters",
    )
    scores = list(get_args(Score))
    score = next(room).selectbox(
        "Score of a pair",
        scores,
        scores.index(chosen.score),
        format_func=lambda one: SCORE_NAMES[one],
        key=f"{key}_score",
    )
    return {
        "power" if aim == "power" else "half_width": value,
        "margin": margin,
        "levels": levels,
        "raters": tuple(sorted(raters)),
        "votes": votes or None,
        "score": score,
    }
