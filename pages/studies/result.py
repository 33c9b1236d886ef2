"""The tab Result: progress while a study runs, then the verdict, and behind it what it rests on."""

from functools import partial

import streamlit as st

from core.errors import AssayError
from core.schema.study import Study
from core.store import Store
from core.study.analysis_set import released_record
from core.study.raters import list_progress
from pages.studies import behind, designing, filters, planning, rated, texts, verdict
from pages.studies.analysed import results_of
from pages.widgets import address, open_study, parts, verdict_card
from pages.widgets.messages import code_markdown


def render(store: Store, study: Study) -> None:
    """Show the state with its next step, and once it is unblinded the results, whole or of a part."""
    if study.state != "unblinded":
        _running(store, study)
        return
    verdict_card.style()
    record = released_record(store, study)
    if study.kind == "ratings":
        rated.result(record)
        return
    first = st.container()  # the verdict stands above the filters that decide about it
    place = st.expander("Show a part of the study (the result is then exploratory)")
    try:
        asked = filters.chosen(record, place)
        results = results_of(record, asked)
    except AssayError as problem:
        st.error(code_markdown(str(problem)))
        return
    with first:
        verdict.render(results)
        _leak(store, study)
    filters.file_of_part(results, asked, place, study)
    bodies = behind.bodies(study.study_id, results)
    names = list(bodies)
    parts.tabs(bodies, address.one("part", f"result_part_{study.study_id}", names, names[0], address.slug))


def _leak(store: Store, study: Study) -> None:
    """That the texts may show their system, where the leakage audit warns: its own text asks to report it with the result."""
    if study.asks != "levels" or texts.audited(store, study).severity != "warning":
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            ":small[The leakage audit warns: features of the texts separate the two systems.]",
            width="content",
        )
        st.button(
            "See the audit",
            key=f"result_leak_{study.study_id}",
            type="tertiary",
            on_click=partial(open_study.show_tab, study.study_id, open_study.DESIGN),
        )


def _running(store: Store, study: Study) -> None:
    """The state with its next step, and in short how far the raters are."""
    designing.state_box(store, study)
    people = [line for line in list_progress(store, study) if line.kind != "dry run"]
    if people:
        done, total = sum(line.done for line in people), sum(line.total for line in people)
        unit = "votes" if study.kind == "pairs" else "texts"
        complete = sum(line.done == line.total for line in people)
        st.progress(
            done / total if total else 0.0,
            f"{done:,} of {total:,} {unit} done. {complete} of {len(people)} raters have done all of theirs.",
        )
    if people and study.kind == "pairs" and study.state != "draft":
        planning.reached_in_brief(store, study)
    st.button(
        "Progress of each rater" if people else "Add raters",
        key=f"result_raters_{study.study_id}",
        icon=":material/group:",
        type="secondary" if people else "primary",
        on_click=partial(open_study.show_tab, study.study_id, open_study.RATERS),
    )
