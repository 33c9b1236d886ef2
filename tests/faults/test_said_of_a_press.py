"""What a rater is told of a press that the server could not take, or took for the second half of a double one."""

import time

import pytest
from helpers.processes.app_server import AppServer
from helpers.processes.raw_rater import DOUBLE_PRESS_SECONDS, RawRater
from helpers.texts.factories import StudyAtHand, dataset, new_name, study_in
from helpers.texts.rating_studies import rating_study

from core.store import open_store
from core.store.raters import update_rater
from core.study.lifecycle import move
from core.study.raters import revoke_link


def pairs_to_rate(server: AppServer) -> tuple[StudyAtHand, RawRater]:
    with open_store(server.database) as store:
        at_hand = study_in(store, dataset(4), raters=("R1",), name=new_name(), repeat_share=0)
        update_rater(store, at_hand.study_id, "R1", onboarding=9)
        return at_hand, RawRater.of_link(f"{server.url}/r/{at_hand.tokens['R1']}")


def close(server: AppServer, at_hand: StudyAtHand) -> None:
    with open_store(server.database) as store:
        move(store, StudyAtHand(store, at_hand.study_id).study, "closed")


@pytest.mark.usefixtures("each_pair_task")
@pytest.mark.parametrize(
    ("before", "saved"), [(2, "Saved: pairs 1 to 2 (2 of 20)."), (0, "You have not saved any pair.")]
)
def test_a_study_that_closed_says_which_answers_are_saved_and_which_is_not(
    server: AppServer, before: int, saved: str
) -> None:
    at_hand, rater = pairs_to_rate(server)
    with rater:
        assert all(rater.choose(0) for _ in range(before))
        close(server, at_hand)
        assert not rater.choose(2)
        said = rater.on_screen()
    assert f"Pair {before + 1} was not saved. This study is closed." in said
    assert saved in said


def test_a_text_of_a_study_that_closed(server: AppServer) -> None:
    with open_store(server.database) as store:
        at_hand = rating_study(store, name=new_name())
        update_rater(store, at_hand.study_id, "R1", onboarding=1)
        rater = RawRater.of_link(f"{server.url}/r/{at_hand.tokens['R1']}")
        with rater:
            move(store, at_hand.study, "closed")
            time.sleep(DOUBLE_PRESS_SECONDS)
            rater.press("Save and go on")
            said = rater.on_screen()
    assert "Text 1 was not saved. This study is closed." in said
    assert "You have not saved any text." in said


def test_a_comment_on_a_pair_of_a_study_that_closed(server: AppServer) -> None:
    at_hand, rater = pairs_to_rate(server)
    with rater:
        close(server, at_hand)
        rater.send(rater.change([rater.comment("too late")]))
        rater.until_drawn()
        said = rater.on_screen()
    assert "The comment or report on pair 1 was not saved." in said


def test_a_link_that_was_withdrawn(server: AppServer) -> None:
    at_hand, rater = pairs_to_rate(server)
    with rater:
        assert rater.choose(0)
        with open_store(server.database) as store:
            revoke_link(store, StudyAtHand(store, at_hand.study_id).study, "R1")
        rater.choose(1)
        said = rater.on_screen()
    assert "Pair 2 was not saved." in said


def test_a_double_press_leaves_what_was_saved_said(server: AppServer) -> None:
    _, rater = pairs_to_rate(server)
    with rater:
        assert rater.choose(0)
        rater.press(rater.choices()[0])  # at once: the second half of a double press
        assert rater.number() == 2
        assert "Pair 1 saved: Left" in rater.on_screen()
