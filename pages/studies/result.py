"""The tab Result: progress while a study runs, then the verdict and what stands behind it."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.errors import AssayError
from core.results.study.counted import Filters, counts_at_all
from core.results.study.results import StudyResults, study_results
from core.schema.study import Study, StudyRecord
from core.store import Store
from core.store.studies import write_log
from core.study.analysis_set import main_levels, released_record
from pages.studies import designing, result_parts
from pages.widgets import visitor
from pages.widgets.messages import plain, with_code

_LONGEST = 70


def render(store: Store, study: Study) -> None:
    """Show the state with its next step, and once it is unblinded the results, whole or of a part."""
    if study.state != "unblinded":
        designing.state_box(store, study)
        return
    record = released_record(store, study)
    if study.kind == "ratings":
        result_parts.of_ratings(record, fingerprint(record), release(record.study))
        return
    first = st.container()  # the verdict stands above the filters that decide about it
    filters = _filters(record)
    try:
        results = analysed(fingerprint(record), record, filters)
    except AssayError as problem:
        st.error(with_code(str(problem)))
        return
    result_parts.of_pairs(record, results, release(record.study), first)


def release(study: Study) -> Callable[[str], None]:
    """Return what a download does before its file is made: check the role again and write the log."""
    again = visitor.admin_again()

    def release(name: str) -> None:
        with again() as store:
            write_log(store, study.study_id, "exported", name)

    return release


@st.cache_data(show_spinner=False, max_entries=64)
def analysed(fingerprint: int, _record: StudyRecord, filters: Filters) -> StudyResults:
    """Analyse the study, once for the same answers and filters."""
    return study_results(_record, filters)


def fingerprint(record: StudyRecord) -> int:
    """Return a number that changes with anything the analysis reads."""
    read = (record.study, record.items, record.raters, record.assignments, record.answers, record.guesses)
    return hash((read, record.history, record.log, repr(record.rating_answers)))


def _filters(record: StudyRecord) -> Filters:
    """Choose a part of the study. An empty filter means all, including later answers."""
    study, items = record.study, {item.item_id: item for item in record.items}
    languages = list(dict.fromkeys(item.language for item in record.items))
    raters = [rater.rater_id for rater in record.raters if counts_at_all(rater)]
    declared = main_levels(study.design, study.levels)
    place = st.expander("Show a part of the study (the result is then exploratory)")
    levels: Sequence[str] = declared
    if study.named_levels:
        levels = place.pills(
            f"Levels (main analysis: {plain(', '.join(declared))})",
            study.levels,
            selection_mode="multi",
            default=declared,
            format_func=plain,
            key=f"results_levels_{study.study_id}",
        )
    columns = place.columns(3 if len(languages) > 1 else 2)
    asked = [
        columns[0].multiselect("Raters", raters, key=f"results_raters_{study.study_id}", placeholder="All"),
        columns[1].multiselect(
            "Questions",
            items,
            format_func=lambda item: f"{item}: {items[item].question}"[:_LONGEST],
            key=f"results_questions_{study.study_id}",
            placeholder="All",
        ),
        columns[2].multiselect(
            "Languages", languages, key=f"results_languages_{study.study_id}", placeholder="All"
        )
        if len(languages) > 1
        else [],
    ]
    some = tuple(level for level in study.levels if level in levels)
    if not some:
        place.markdown(":small[Without a chosen level, the page shows the levels of the main analysis.]")
    return Filters(
        some if some and some != declared else None,
        *(tuple(values) or None for values in asked),
    )
