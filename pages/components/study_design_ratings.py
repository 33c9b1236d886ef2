"""The design of a rating study: what is asked, how the work is shared, and from which seed lists are drawn."""

from dataclasses import replace

import streamlit as st

from core.schema.study import Study
from core.store import Store
from core.store.studies import items_of, outputs_of
from core.study import lifecycle
from core.study.design import LARGEST_COUNT
from pages.components import rating_scales, study_design
from pages.components.messages import mistakes_shown, moment, plain, tell
from pages.components.numbers import counted_as


def form(store: Store, study: Study) -> None:
    """Raters per source, hidden repeats and seed: a form before the first rating, a declaration after it."""
    design = study.design
    frozen = study.first_vote_utc is not None
    if frozen:
        st.info(f"Frozen since the first rating ({moment(study.first_vote_utc)} UTC).")
    else:
        st.write("Declared before the first rating, then frozen; every change is logged.")
    with st.form(f"design_ratings_{study.study_id}"):
        left, middle, right = st.columns(3)
        raters = left.number_input(
            "Raters per source (0: all)", 0, LARGEST_COUNT, design.votes_per_pair or 0, disabled=frozen
        )
        repeats = middle.number_input(
            "Hidden repeats (share)", 0.0, 0.5, design.repeat_share, 0.01, disabled=frozen
        )
        seed = right.text_input("Seed", str(design.seed), disabled=frozen)
        submitted = st.form_submit_button("Declare this design", disabled=frozen)
    if submitted:
        with mistakes_shown():
            changed = replace(
                design,
                votes_per_pair=raters or None,
                repeat_share=round(repeats, 4),
                seed=lifecycle.parse_seed(seed),
            )
            lifecycle.change_design(store, study, changed)
            tell("The design is declared.")
    _workload(store, study)
    if study.task is not None:
        with st.expander(f"What is asked: {plain(study.task.title)}"):
            rating_scales.explained(study.task)


def _workload(store: Store, study: Study) -> None:
    n_items = len(items_of(store, study.study_id))
    n_texts = len(outputs_of(store, study.study_id))
    st.markdown(
        f":small[{counted_as(n_items, 'source')}, {counted_as(n_texts, 'text')}. Data set {plain(study.dataset_file)}, "
        f"sha256 {study.dataset_sha256[:16]}. Who rates what, in which order, follows from the seed: docs/design.md. "
        "A rater is shown neither system nor level, and rates all texts of a source together.]"
    )
    study_design.workload_table(store, study, "Sources", "Texts")
