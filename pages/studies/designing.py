"""The design of a study: declared before the first vote, then frozen; and the steps of its life."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.schema.study import Design, FlaggedPairs, LevelOrder, Role, Score, State, Study
from core.store import Store
from core.store.studies import items_of, outputs_of
from core.study import lifecycle
from core.study.analysis_set import MOST_VOTES, describe_analysis_set, main_levels, margin_note
from core.study.design import LARGEST_COUNT, LARGEST_GUESSES, describe_shortage
from core.study.raters import study_workload
from pages.widgets import parts as other_pages
from pages.widgets import rating_scales
from pages.widgets.messages import capital, mistakes_shown, moment, plain, tell
from pages.widgets.parts import counted_as

_STEPS: dict[State, list[tuple[State, str]]] = {
    "draft": [("open", "Open: let raters answer")],
    "open": [("closed", "Close: take no more answers")],
    "closed": [("open", "Open again"), ("unblinded", "Unblind and end the study")],
    "unblinded": [],
}
_MEANING: dict[State, str] = {
    "draft": "nobody but a preview can answer yet.",
    "open": "raters answer; results stay shut until it is unblinded.",
    "closed": "no more answers are taken; you can open it again, or unblind it for good and see its results.",
    "unblinded": "it has ended.",
}
_ORDERS = {"fixed": "best to worst, as in the paper", "shuffled": "shuffled for each rater and question"}


_SCORES: dict[Score, str] = {
    "composite": "Composite: sign of the sum of its votes",
    "net_preference": "Net preference: mean of its votes",
}
_FLAGGED: dict[FlaggedPairs, str] = {"keep": "Keep their votes", "leave_out": "Leave the pairs out"}


def analysis_fields(design: Design, levels: Sequence[str], *, disabled: bool = False) -> dict[str, Any]:
    """Widgets of the analysis set inside a form; returns fields of Design, as chosen."""
    st.markdown("**Main analysis**: what the verdict counts. It is frozen with the margin at the first vote.")
    left, right = st.columns(2)
    chosen = left.multiselect(
        "Levels",
        levels,
        list(main_levels(design, levels)),
        format_func=plain,
        disabled=disabled,
        help="The first level is usually as good as the reference, so it says little about damage. Factual leaves it out.",
    )
    needed = right.number_input(
        "Votes a pair needs (0: 2, or as many as it can get)",
        0,
        MOST_VOTES,
        design.votes_needed or 0,
        disabled=disabled,
        help="Only votes of raters who are not excluded count. A rater who joins late never removes a pair.",
    )
    scores, flagged = list(get_args(Score)), list(get_args(FlaggedPairs))
    score = left.selectbox(
        "Score of a pair",
        scores,
        scores.index(design.score),
        format_func=_SCORES.__getitem__,
        disabled=disabled,
        help="A vote is +1 for the candidate, -1 for the comparator, else 0. Factual uses the composite.",
    )
    keep = right.selectbox(
        "Pairs that a rater flags as invalid",
        flagged,
        flagged.index(design.flagged),
        format_func=_FLAGGED.__getitem__,
        disabled=disabled,
        help="Raters flag broken answers more often. Leaving such pairs out can hide a candidate's losses.",
    )
    named = tuple(level for level in levels if level in chosen)
    return {
        # The default stays a default, so that it reads as one in the log.
        "main_levels": design.main_levels if named == main_levels(design, levels) else named,
        "votes_needed": needed or None,
        "score": score,
        "flagged": keep,
    }


def state_buttons(store: Store, study: Study) -> None:
    """What can be done with the study next."""
    st.write(f"This study is **{study.state}**: {_MEANING[study.state]}")
    if study.state == "unblinded":
        st.page_link(other_pages.results(), label="Its results are open")
    if study.state in ("draft", "open") and (shortage := describe_shortage(study_workload(store, study))):
        st.warning(shortage)
    steps = _STEPS[study.state]
    reason = ""
    if any(state == "unblinded" for state, _ in steps):
        if study.kind == "pairs":
            st.markdown(f":small[{plain(capital(describe_analysis_set(study.design, study.levels)))}.]")
        reason = st.text_input("Reason (needed for unblinding, kept in the log)", key="state_reason")
    with st.container(horizontal=True), mistakes_shown():
        for state, label in steps:
            if st.button(label, key=f"state_{state}"):
                lifecycle.move(store, study, state, reason)
                tell(f"The study is {state}.")


def form(store: Store, study: Study) -> None:
    """Roles, margin, confidence level and draws: a form before the first vote, a declaration after it."""
    design = study.design
    frozen = _is_frozen(study, "vote")
    sources = sorted({design.candidate, design.comparator})
    with st.form("design"):
        candidate = st.radio(
            "Candidate (the other source is the comparator)",
            sources,
            index=sources.index(design.candidate),
            format_func=plain,
            horizontal=True,
            disabled=frozen,
        )
        left, middle, right = st.columns(3)
        margin = margin_fields(left, middle, design, "Margin", disabled=frozen)
        seed = right.text_input("Seed", str(design.seed), disabled=frozen)
        st.markdown(f":small[{margin_note(design.margin)}]")
        analysis = analysis_fields(design, study.levels, disabled=frozen)
        st.markdown("**What raters are given**")
        left, middle, right = st.columns(3)
        orders = list(get_args(LevelOrder))
        order = left.selectbox(
            "Levels within a question",
            orders,
            orders.index(design.level_order),
            format_func=_ORDERS.__getitem__,
            disabled=frozen,
        )
        repeats = repeats_field(middle, design, disabled=frozen)
        votes = right.number_input(
            "Votes per pair (0: all raters)", 0, 1000, design.votes_per_pair or 0, disabled=frozen
        )
        cap = right.number_input(
            "Most questions per rater (0: no cap)", 0, 100000, design.max_questions or 0, disabled=frozen
        )
        guesses = left.number_input(
            "Pairs to guess at the end (0: none)",
            0,
            LARGEST_GUESSES,
            design.blinding_pairs,
            disabled=frozen,
            help="After a rater's answers are locked, so many of them come back with the question which of the two "
            "a person wrote: it shows whether raters could tell.",
        )
        roles = list(get_args(Role))
        person = middle.selectbox(
            "A person wrote the answers of the", roles, roles.index(design.person), disabled=frozen
        )
        submitted = st.form_submit_button("Declare this design", disabled=frozen)
    if submitted:
        changed = replace(
            design,
            candidate=candidate,
            comparator=next(source for source in sources if source != candidate),
            level_order=order,
            repeat_share=repeats,
            votes_per_pair=votes or None,
            max_questions=cap or None,
            blinding_pairs=guesses,
            person=person,
            **margin,
            **analysis,
        )
        _declare(store, study, changed, seed)
    n_items = len(items_of(store, study.study_id))
    _workload(
        store,
        study,
        f"{n_items} questions, {n_items * len(study.levels)} pairs.",
        "Every side, order and repeat follows from the seed: docs/design.md.",
        ("Questions", "Pairs"),
    )


def ratings_form(store: Store, study: Study) -> None:
    """Raters per source, hidden repeats and seed: a form before the first rating, a declaration after it."""
    design = study.design
    frozen = _is_frozen(study, "rating")
    with st.form(f"design_ratings_{study.study_id}"):
        left, middle, right = st.columns(3)
        raters = left.number_input(
            "Raters per source (0: all)", 0, LARGEST_COUNT, design.votes_per_pair or 0, disabled=frozen
        )
        repeats = repeats_field(middle, design, disabled=frozen)
        seed = right.text_input("Seed", str(design.seed), disabled=frozen)
        submitted = st.form_submit_button("Declare this design", disabled=frozen)
    if submitted:
        _declare(store, study, replace(design, votes_per_pair=raters or None, repeat_share=repeats), seed)
    n_items = counted_as(len(items_of(store, study.study_id)), "source")
    _workload(
        store,
        study,
        f"{n_items}, {counted_as(len(outputs_of(store, study.study_id)), 'text')}.",
        "Who rates what, in which order, follows from the seed: docs/design.md. A rater is shown neither system nor level, "
        "and rates all texts of a source together.",
        ("Sources", "Texts"),
    )
    if study.task is not None:
        with st.expander(f"What is asked: {plain(study.task.title)}"):
            rating_scales.explained(study.task)


def margin_fields(
    left: DeltaGenerator,
    right: DeltaGenerator,
    design: Design,
    label: str,
    *,
    help_text: str | None = None,
    disabled: bool = False,
) -> dict[str, Any]:
    """Margin and confidence level, as fields of Design."""
    margin = left.number_input(label, 0.01, 1.99, design.margin, 0.01, disabled=disabled, help=help_text)
    confidence = right.number_input(
        "Confidence level (one-sided)", 0.51, 0.99, design.confidence_level, 0.01, disabled=disabled
    )
    return {"margin": round(margin, 4), "confidence_level": round(confidence, 4)}


def repeats_field(place: DeltaGenerator, design: Design, *, disabled: bool = False) -> float:
    """Which share of a rater's list comes twice."""
    share = place.number_input(
        "Hidden repeats (share)", 0.0, 0.5, design.repeat_share, 0.01, disabled=disabled
    )
    return round(share, 4)


def _is_frozen(study: Study, unit: str) -> bool:
    """Whether the design can be changed no more; says so. unit: of which the first one freezes it."""
    if study.first_vote_utc is None:
        st.write(f"Declared before the first {unit}, then frozen; every change is logged.")
        return False
    st.info(f"Frozen since the first {unit} ({moment(study.first_vote_utc)} UTC).")
    return True


def _declare(store: Store, study: Study, changed: Design, seed: str) -> None:
    with mistakes_shown():
        lifecycle.change_design(store, study, replace(changed, seed=lifecycle.parse_seed(seed)))
        tell("The design is declared.")


def _workload(store: Store, study: Study, counts: str, drawn: str, units: tuple[str, str]) -> None:
    """What the study holds, and what the design asks of each rater. units: what goes to a rater whole, and its parts."""
    st.markdown(
        f":small[{counts} Data set {plain(study.dataset_file)}, sha256 {study.dataset_sha256[:16]}. {drawn}]"
    )
    plan = study_workload(store, study)
    if not plan.questions:
        st.markdown(":small[No raters yet: add them under Raters.]")
        return
    st.dataframe(
        {
            "Rater": list(plan.questions),
            units[0]: list(plan.questions.values()),
            f"{units[1]} (with hidden repeats)": list(plan.pairs.values()),
            "About minutes": list(plan.minutes.values()),
        },
        hide_index=True,
    )
    if shortage := describe_shortage(plan):
        st.warning(shortage)
