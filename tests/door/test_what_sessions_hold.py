"""A session that goes on holds no more after many votes or views than after some, whatever it is that would hold it."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from helpers.pages.admin_session import admin_cookie
from helpers.processes.app_server import AppServer, running
from helpers.processes.at_the_door import PAST_PRACTICE
from helpers.processes.counted_app import CountedApp, Held, counted_running
from helpers.processes.raw_rater import RawRater, RawVisitor, pressed
from helpers.processes.voters import Voter, until_more
from helpers.texts.factories import StudyAtHand, StudyInStore, always, dataset, study_in, vote
from helpers.texts.rating_studies import rating_study, rating_texts

from core.store import Store, open_store
from core.store.answers import answers_of, assignments_of
from core.store.raters import update_rater

pytestmark = pytest.mark.slow
N_RATERS, WARM, MORE = 4, 140, 120
"""Raters, votes of all before the first count, and between the counts."""
LOOKS = (
    ("start", ""),
    ("studies", ""),
    *(
        ("studies", f"study=1&tab={tab}")
        for tab in ("result", "pairs", "raters", "judges", "design", "export")
    ),
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
ROUNDS, MORE_ROUNDS = 3, 6
"""Times that an owner looks at all of them before the first count, and between the counts."""
MOST_OBJECTS, MOST_BLOCKS = 10, 12
"""What a vote and a view may leave, as in Held. Without forgetting, a vote leaves 50 and 90."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "assay.db") as opened:
        yield opened


@pytest.fixture
def pairs(store: Store) -> StudyAtHand:
    at_hand = study_in(
        store, dataset(24), raters=[f"R{number}" for number in range(N_RATERS)], repeat_share=0
    )
    for rater in at_hand.tokens:
        update_rater(store, at_hand.study_id, rater, onboarding=PAST_PRACTICE)
    return at_hand


def arrived(app: AppServer, at_hand: StudyInStore, rater: str) -> RawRater:
    return RawRater.of_link(f"{app.url}/r/{at_hand.tokens[rater]}", keep=False)


def after_votes(app: CountedApp, raters: list[tuple[str, RawRater]], votes: int) -> Held:
    """What the app holds when so many more votes are given, and nothing is under way."""
    enough = threading.Event()
    voters = [Voter(rater_id, rater, enough) for rater_id, rater in raters]
    threads = [threading.Thread(target=voter.work, daemon=True) for voter in voters]
    for thread in threads:
        thread.start()
    until_more(voters, threads, votes)
    enough.set()
    for thread in threads:
        thread.join()
    assert [voter.problem for voter in voters] == [None] * len(voters)
    return app.held()


def test_votes(store: Store, pairs: StudyAtHand) -> None:
    with counted_running(store.path) as app, ExitStack() as closing_all:
        raters = [(rater, closing_all.enter_context(arrived(app, pairs, rater))) for rater in pairs.tokens]
        before = after_votes(app, raters, WARM)
        after = after_votes(app, raters, MORE)
    nothing_left(before, after, MORE)


def nothing_left(before: Held, after: Held, steps: int) -> None:
    assert after.n_objects - before.n_objects < MOST_OBJECTS * steps, after.since(before)
    assert after.blocks - before.blocks < MOST_BLOCKS * steps, after.since(before)


def test_views_of_an_owner(store: Store, pairs: StudyAtHand) -> None:
    vote(store, pairs.tokens["R0"], always("left"))
    cookie = "; ".join(f"{name}={value}" for name, value in admin_cookie(store).items())
    with counted_running(store.path) as app, RawVisitor(app.url, cookie, keep=False) as owner:
        counts = []
        for rounds in (ROUNDS, MORE_ROUNDS):
            for page, query in rounds * LOOKS:
                owner.go(query, page_name=page)
            counts.append(app.held())
    nothing_left(*counts, MORE_ROUNDS * len(LOOKS))


def test_texts_of_a_rating_study(store: Store) -> None:
    texts = rating_study(store, rating_texts(60), raters=["R1"])
    update_rater(store, texts.study_id, "R1", onboarding=PAST_PRACTICE)
    with counted_running(store.path) as app, arrived(app, texts, "R1") as rater:
        counts = []
        for numbers in (range(1, 41), range(41, 121)):
            for number in numbers:
                rater.go(f"at={number}")
                assert f">Text {number} of " in rater.on_screen()
            counts.append(app.held())
    nothing_left(*counts, 80)


def test_a_press_that_arrives_late_means_the_pair_it_was_on_or_nothing(
    store: Store, pairs: StudyAtHand
) -> None:
    with running(store.path) as app, arrived(app, pairs, "R0") as rater:
        rater.go("at=1")
        first = rater.buttons()["Left"]
        rater.go("at=2")
        second = rater.buttons()["Right"]
        for number in range(3, 20):
            rater.go(f"at={number}")
        rater.go("at=19", [pressed(second)])
        answers = answers_of(store, pairs.study_id, "R0")
        numbers = {one.key: one.position for one in assignments_of(store, pairs.study_id, "R0")}
        assert [(numbers[one.key], one.choice) for one in answers] == [(2, "right")]
        for number in range(20, 60):
            rater.go(f"at={number}")
        rater.go("at=59", [pressed(first)])
        assert rater.number() == 59
        assert answers_of(store, pairs.study_id, "R0") == answers
        rater.go("at=1")
        assert rater.choose(1), "a pair that is shown again answers again"
        assert rater.number() == 3
    assert {numbers[one.key]: one.choice for one in answers_of(store, pairs.study_id, "R0")} == {
        1: "right",
        2: "right",
    }
