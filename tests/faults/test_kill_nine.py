"""The server is killed while raters vote: what was said to be saved is there, and nothing that nobody pressed."""

import threading

import pytest
from helpers.processes.app_server import AppServer
from helpers.processes.raw_rater import RawRater
from helpers.processes.voters import Voter, check, until_more
from helpers.texts.factories import StudyAtHand, dataset, plain_pairs, study_in
from helpers.texts.set_texts import design_of, written_so

from core.schema.rendering import Rendering
from core.store import Store
from core.study.raters import links


def study_of(store: Store, raters: int, rendering: Rendering = "plain") -> StudyAtHand:
    people = [f"r{n:02d}" for n in range(raters)]
    data = written_so(dataset(8), rendering)
    return study_in(store, data, raters=people, repeat_share=0, **design_of(rendering))


def vote_through_kills(at_hand: StudyAtHand, kills: int, votes_between: int) -> list[Voter]:
    """Raters vote; each time another `votes_between` are acknowledged, the server is killed and started."""
    app = AppServer(at_hand.store.path).start()
    enough = threading.Event()
    voters = [
        Voter(link.rater_id, RawRater.of_link(link.url(app.url), keep=False).through_onboarding(), enough)
        for link in links(at_hand.store, at_hand.study)
    ]
    threads = [threading.Thread(target=voter.work) for voter in voters]
    try:
        for thread in threads:
            thread.start()
        for _ in range(kills):
            until_more(voters, threads, votes_between)
            app.kill()
            app.start()
        until_more(voters, threads, votes_between)
    finally:
        enough.set()
        for thread in threads:
            thread.join()
        for voter in voters:
            voter.rater.close()
        app.stop()
    assert not [voter.problem for voter in voters if voter.problem]
    return voters


@pytest.mark.slow
@pytest.mark.parametrize("rendering", ["plain", "latex"])
def test_three_raters_of_plain_pairs_and_one_kill(store: Store, rendering: Rendering) -> None:
    with plain_pairs():
        at_hand = study_of(store, 3, rendering)
    voters = vote_through_kills(at_hand, kills=1, votes_between=9)
    check(at_hand, voters)
    assert all(voter.returns for voter in voters)
    assert sum(len(voter.acknowledged) for voter in voters) >= 18


@pytest.mark.slow
def test_twenty_raters_and_three_kills(store: Store) -> None:
    at_hand = study_of(store, 20)
    voters = vote_through_kills(at_hand, kills=3, votes_between=80)
    check(at_hand, voters)
    assert sum(voter.returns for voter in voters) >= 20
    assert sum(len(voter.acknowledged) for voter in voters) >= 320


@pytest.mark.slow
def test_six_raters_and_thirty_kills(store: Store) -> None:
    """With the two above: 34 kills while people vote."""
    at_hand = study_in(store, dataset(24), raters=[f"r{n:02d}" for n in range(6)], repeat_share=0)
    voters = vote_through_kills(at_hand, kills=30, votes_between=6)
    check(at_hand, voters)
    assert sum(voter.returns for voter in voters) >= 60
    assert sum(len(voter.acknowledged) for voter in voters) >= 186
