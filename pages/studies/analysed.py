"""What the tabs of an unblinded study share: its record, its results, computed once, and what a download writes to the log."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

import streamlit as st

from core.errors import NotAllowed
from core.results.study.counted import Filters
from core.results.study.results import StudyResults, study_results
from core.results.study.tables import RatingMeans
from core.schema.study import Study, StudyRecord
from core.store import Store, database_path
from core.store.raters import raters_of
from core.store.studies import get_study, read_log, write_log
from core.study.analysis_set import check_released, released_record
from pages.widgets import visitor

_EXPORTED = "exported"
"""The log's word for a download."""
NO_PAIR = "no pair has enough votes yet"
AS_TABLE = "The same as a table"


class _Cache(Protocol):
    def clear(self) -> None: ...


Cache = TypeVar("Cache", bound=_Cache)
_OF_PEOPLE: list[_Cache] = []


def holds_people(cache: Cache) -> Cache:
    """Mark a cache that holds names or comments of raters, which `forget` empties."""
    _OF_PEOPLE.append(cache)
    return cache


def forget() -> None:
    """Empty the caches that hold names or comments of raters: one of them withdrew."""
    for cache in _OF_PEOPLE:
        cache.clear()


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


def released(study: Study) -> Callable[[str, Callable[[StudyRecord], bytes]], bytes]:
    """Return what makes a download: it checks the role again, reads the study as it is by then, and writes the log.

    A file made from what the page was drawn with would hold the comments of a rater who has withdrawn since.
    """
    again = visitor.admin_again()

    def made(name: str, make: Callable[[StudyRecord], bytes]) -> bytes:
        with again() as store:
            file = make(released_record(store, study))
            write_log(store, study.study_id, _EXPORTED, name)
            return file

    return made


def identity(store: Store, study: Study) -> Hashable:
    """Identify what a page reads of an unblinded study, without its answers: they have not changed since it was closed.

    The owner's acts change raters or the log: an exclusion, a withdrawal, an import of votes. An export changes nothing.
    """
    study = get_study(store, study.study_id)
    check_released(study)
    log = tuple(entry for entry in read_log(store, study.study_id) if entry.action != _EXPORTED)
    return str(database_path()), study, raters_of(store, study.study_id), log


@contextmanager
def files_of_now(store: Store, study: Study) -> Iterator[None]:
    """Refuse the downloads of this block once the study has changed: their tables hold what the page was drawn with."""
    if study.state != "unblinded":
        yield
        return
    drawn = hash(identity(store, study))

    def check(store: Store) -> None:
        if hash(identity(store, study)) != drawn:
            raise NotAllowed("The study has changed since this page was drawn. Load the page again.")

    with visitor.checking_files(check):
        yield


@holds_people
@st.cache_data(show_spinner=False, max_entries=64)
def _analysed(fingerprint: int, _record: StudyRecord, filters: Filters) -> StudyResults:
    return study_results(_record, filters)


@holds_people
@st.cache_data(show_spinner=False, max_entries=16)
def _means(fingerprint: int, _record: StudyRecord) -> RatingMeans:
    return RatingMeans.of(_record)
