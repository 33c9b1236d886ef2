"""What the tabs of an unblinded study share: its record, its results, computed once, and what a download writes to the log."""

from collections.abc import Callable

import streamlit as st

from core.results.study.counted import Filters
from core.results.study.results import StudyResults, study_results
from core.results.study.tables import RatingMeans
from core.schema.study import Study, StudyRecord
from core.store.studies import write_log
from pages.widgets import visitor

NO_PAIR = "no pair has enough votes yet"
AS_TABLE = "The same as a table"


def results_of(record: StudyRecord, filters: Filters | None = None) -> StudyResults:
    """Analyse a study of pairs, once for the same answers and filters. Raises InputError for an unknown filter."""
    return _analysed(fingerprint(record), record, filters or Filters())


def means_of(record: StudyRecord) -> RatingMeans:
    """Compute the means of a rating study, once for the same answers."""
    return _means(fingerprint(record), record)


def fingerprint(record: StudyRecord) -> int:
    """Return a number that changes with anything the analysis reads."""
    read = (record.study, record.items, record.raters, record.assignments, record.answers, record.guesses)
    return hash((read, record.history, record.log, repr(record.rating_answers)))


def release(study: Study) -> Callable[[str], None]:
    """Return what a download does before its file is made: check the role again and write the log."""
    again = visitor.admin_again()

    def release(name: str) -> None:
        with again() as store:
            write_log(store, study.study_id, "exported", name)

    return release


@st.cache_data(show_spinner=False, max_entries=64)
def _analysed(fingerprint: int, _record: StudyRecord, filters: Filters) -> StudyResults:
    return study_results(_record, filters)


@st.cache_data(show_spinner=False, max_entries=16)
def _means(fingerprint: int, _record: StudyRecord) -> RatingMeans:
    return RatingMeans.of(_record)
