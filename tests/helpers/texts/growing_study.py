"""An unblinded study of pairs with votes, and a run of 16 metrics that scores its texts when a test or a benchmark says."""

from dataclasses import replace

import numpy as np
from helpers.texts.factories import LEVELS, StudyAtHand, dataset, ended, record_of
from helpers.texts.growing_run import GrowingRun, ScoredTexts

from core.schema.study import Preference, StudyRecord
from core.sources.texts import texts_of_study
from core.store import Store
from core.store.answers import insert_record

N_RATERS = 2
_VOTES: tuple[Preference, ...] = ("candidate", "comparator", "both_good", "both_bad")


def voted_record(n_items: int, seed: int = 1) -> StudyRecord:
    """A study whose raters vote at random, a little for the candidate."""
    data = dataset(n_items, LEVELS)
    rng = np.random.default_rng(seed)
    pairs = [(item.item_id, level) for item in data.items for level in LEVELS]
    votes = {
        f"R{rater}": dict(
            zip(
                pairs,
                (_VOTES[one] for one in rng.choice(4, len(pairs), p=(0.35, 0.3, 0.2, 0.15))),
                strict=True,
            )
        )
        for rater in range(N_RATERS)
    }
    record = record_of(votes, data)
    return replace(
        record, study=replace(record.study, name="growing", first_vote_utc="2026-01-02T00:00:00+00:00")
    )


def growing_study(store: Store, n_items: int) -> tuple[StudyAtHand, GrowingRun]:
    """The study in a database, and its run, which has scored nothing yet."""
    record = voted_record(n_items)
    study = insert_record(store, record)
    ended(store, study.study_id)
    at_hand = StudyAtHand(store, study.study_id)
    data, name = texts_of_study(store, at_hand.study)
    places = [(source, level, step) for step, level in enumerate(LEVELS) for source in ("ai", "human")]
    items = [item.item_id for item in record.items]
    return at_hand, GrowingRun(store, n_items, scored=ScoredTexts(data, name, items, places, "en"))
