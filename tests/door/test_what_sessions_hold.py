"""A session that goes on holds no more after many votes or views than after some, whatever it is that would hold it."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from helpers.pages.admin_session import admin_cookie
from helpers.processes.at_the_door import PAST_PRACTICE
from helpers.processes.counted_app import CountedApp, counted_running
from helpers.processes.raw_rater import RawRater, RawVisitor, pressed
from helpers.processes.voters import Voter, until_more
from helpers.texts.factories import StudyAtHand, dataset, study_in
from helpers.texts.rating_studies import rating_study, rating_texts

from core.store import Store, open_store
from core.store.answers import answers_of
from core.store.raters import update_rater

pytestmark = pytest.mark.slow
N_RATERS, WARM, MORE = 4, 120, 200
"""Raters, votes of all before the first count, and between the counts."""
LOOKS = (
    ("start", ""),
    ("studies", ""),
    *(("studies", f"study=1&tab={tab}") for tab in ("result", "pairs", "raters", "judges", "design", "export")),
    ("studies", "study=new"),
    ("generate", ""),
    ("check", ""),
    ("metrics", ""),
    ("judges", ""),
    ("specialist", ""),
    ("calibration", ""),
    ("operation", ""),
)
"""Page and query of what an owner looks at, in turn."""
MOST_BLOCKS = 5
"""Pieces of memory that a vote may leave, and a view; without forgetting, a vote leaves more than a hundred."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "assay.db") as opened:
        yield opened


@pytest.fixture
def pairs(store: Store) -> StudyAtHand:
    at_hand = study_in(store, dataset(24), raters=[f"R{number}" for number in range(N_RATERS)], repeat_share=0)
    for rater in at_hand.tokens:
        update_rater(store, at_hand.study_id, rater, onboarding=PAST_PRACTICE)
    return at_hand


def arrived(app: CountedApp, at_hand: StudyAtHand, rater: str) -> RawRater:
    return RawRater.of_link(f"{app.url}/r/{at_hand.tokens[rater]}", keep=False)


def test_votes(store: Store, pairs: StudyAtHand) -> None:
    enough = threading.Event()
    with counted_running(store.path) as app:
        voters = [Voter(rater, arrived(app, pairs, rater), enough) for rater in pairs.tokens]
        threads = [threading.Thread(target=voter.work, daemon=True) for voter in voters]
        for thread in threads:
            thread.start()
        until_more(voters, threads, WARM)
        before = app.held()
        until_more(voters, threads, MORE)
        after = app.held()
        enough.set()
        for thread in threads:
            thread.join()
    assert [voter.problem for voter in voters] == [None] * N_RATERS
    assert after.blocks - before.blocks < MOST_BLOCKS * MORE, after.since(before)
