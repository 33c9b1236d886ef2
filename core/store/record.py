"""A study whole: out of the database for analysis and export, back in from a bundle."""

from dataclasses import replace

from core.schema.study import Study, StudyRecord
from core.store.answers import PAIRS, RATINGS, guesses_of, restore_guesses
from core.store.connection import Store
from core.store.raters import insert_rater, raters_of
from core.store.studies import (
    insert_study,
    items_of,
    outputs_of,
    read_guidelines,
    read_log,
    read_wording,
    write_guideline,
    write_log,
    write_wording,
)


def load_record(store: Store, study: Study) -> StudyRecord:
    """Everything about `study`."""
    number = study.study_id
    return StudyRecord(
        study=study,
        items=items_of(store, number),
        outputs=outputs_of(store, number),
        raters=raters_of(store, number),
        assignments=PAIRS.lists_of(store, number),
        answers=PAIRS.answers_of(store, number),
        history=PAIRS.history_of(store, number),
        guidelines=read_guidelines(store, number),
        log=read_log(store, number),
        guesses=guesses_of(store, number),
        wording=read_wording(store, number),
        rating_assignments=RATINGS.lists_of(store, number),
        rating_answers=RATINGS.answers_of(store, number),
        rating_history=RATINGS.history_of(store, number),
    )


def insert_record(store: Store, record: StudyRecord) -> Study:
    """Write a study as a bundle holds it, all of it or nothing. Raters need new links: tokens do not travel."""
    with store.writing():
        study = insert_study(store, record.study, record.items, record.outputs)
        for rater in record.raters:
            insert_rater(store, study.study_id, replace(rater, link_number=0))
            own = [a for a in record.assignments if a.rater_id == rater.rater_id]
            PAIRS.replace_list(store, study.study_id, rater.rater_id, own)
            rated = [a for a in record.rating_assignments if a.rater_id == rater.rater_id]
            RATINGS.replace_list(store, study.study_id, rater.rater_id, rated)
        PAIRS.restore(store, study.study_id, record.answers, record.history)
        RATINGS.restore(store, study.study_id, record.rating_answers, record.rating_history)
        restore_guesses(store, study.study_id, record.guesses)
        for language, text in record.guidelines.items():
            write_guideline(store, study.study_id, language, text)
        for language, texts in record.wording.items():
            write_wording(store, study.study_id, language, texts)
        for entry in record.log:
            write_log(
                store,
                study.study_id,
                entry.action,
                entry.detail,
                rater_id=entry.rater_id,
                at_utc=entry.at_utc,
            )
    return study
