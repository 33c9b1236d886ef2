"""The page Results: what an unblinded study found, with the data behind every number."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.errors import AssayError, NotAllowed
from core.results.study.counted import Filters, counts_at_all
from core.results.study.results import StudyResults, study_results
from core.schema.runs import Run
from core.schema.study import Study, StudyRecord
from core.store import Store
from core.store.studies import list_studies, write_log
from core.study.analysis_set import main_levels, released_record
from pages.results import parts
from pages.widgets import chosen_judge, chosen_scores, menus, visitor
from pages.widgets.messages import plain, with_code
from pages.widgets.parts import nothing, page, studies

_LONGEST = 70


def render() -> None:
    """Show the results of the chosen study, or of a part of it."""
    with visitor.admin_store() as store:
        page("Results", "Is one system at least as good as the other, and do the raters agree?")
        study = _study(store)
        if study is None:
            nothing("there is no study yet", "Make a study", studies())
            return
        try:
            record = released_record(store, study)
        except NotAllowed as shut:
            st.info(with_code(str(shut)))
            st.page_link(studies(), label="Go to the study", icon=":material/arrow_forward:")
            return
        judge = _judge_of_pairs(store, record)
    if judge is not None:
        _to_pairs(judge)
    if study.kind == "ratings":
        parts.of_ratings(record, _fingerprint(record), _release(record.study))
        return
    first = st.container()  # the verdict stands above the filters that decide about it
    filters = _filters(record)
    try:
        results = _analysed(_fingerprint(record), record, filters)
    except AssayError as problem:
        st.error(with_code(str(problem)))
        return
    parts.of_pairs(record, results, _release(record.study), first)


def _judge_of_pairs(store: Store, record: StudyRecord) -> Run | None:
    """Return the newest run of a judge that compared the study's pairs; None without one."""
    if record.study.kind != "pairs":
        return None
    runs = chosen_judge.with_results(store, *chosen_judge.judges_of("pairs"))
    found = chosen_scores.newest_on(
        store, [(chosen_scores.RUN, number) for number in runs], {item.item_id for item in record.items}
    )
    return None if found is None else runs[found[1]]


def _to_pairs(judge: Run) -> None:
    """Show a button that opens the comparison of a judge of these pairs with the raters."""
    if st.button(
        f"Compare {plain(chosen_judge.short_name(judge))} with the raters",
        key="results_pairs",
        icon=":material/balance:",
        help="A judge compared these pairs. See its agreement with the raters, beside that of two raters.",
    ):
        st.switch_page(chosen_judge.pairs_page_of(judge))


def _release(study: Study) -> Callable[[str], None]:
    """Return what a download does before its file is made: check the role again and write the log."""
    again = visitor.admin_again()

    def release(name: str) -> None:
        with again() as store:
            write_log(store, study.study_id, "exported", name)

    return release


@st.cache_data(show_spinner=False, max_entries=64)
def _analysed(fingerprint: int, _record: StudyRecord, filters: Filters) -> StudyResults:
    """Analyse the study, once for the same answers and filters."""
    return study_results(_record, filters)


def _fingerprint(record: StudyRecord) -> int:
    """Return a number that changes with anything the analysis reads."""
    parts = (record.study, record.items, record.raters, record.assignments, record.answers, record.guesses)
    return hash((parts, record.history, record.log, repr(record.rating_answers)))


def _study(store: Store) -> Study | None:
    """Return the study chosen on any page, else the first one whose results are open."""
    known = sorted(list_studies(store), key=lambda study: study.state != "unblinded")
    chosen = menus.choose_study(known)
    return next((study for study in known if study.study_id == chosen), None)


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
