"""A server that stands still while a rater presses on: every press is heard, in the order in which it was made."""

import json
import time

import pytest
from helpers.processes.app_server import AppServer
from helpers.processes.raw_rater import DOUBLE_PRESS_SECONDS, RawRater, pressed, told
from helpers.texts import rating_studies
from helpers.texts.factories import StudyAtHand, dataset, new_name, study_in
from helpers.texts.rating_studies import HARM, RatingStudyAtHand, rating_study
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core.schema.study import Dimension, RatingAnswer, RatingTask
from core.store import open_store
from core.store.answers import answers_of, assignments_of, rating_assignments_of, ratings_of
from core.store.raters import update_rater
from core.study.blinding import open_desk

GRAMMAR = Dimension(
    "grammar", "Grammar", "Is it right?", 0, 2, anchors=((0, "wrong"), (1, "half"), (2, "right"))
)
TASK = RatingTask("quick", "Quick", "none", "none", "made for a test", (HARM, GRAMMAR))
GAPS = (0.0, 0.0, 0.02, 0.1, 0.5)
"""Seconds between two presses; the server runs in between from the third on."""


def press_on(server: AppServer, rater: RawRater, gap: float, *presses: list[WidgetState]) -> None:
    """Press one thing after the other without waiting for an answer; a press carries what was ticked before it."""
    time.sleep(DOUBLE_PRESS_SECONDS)
    frames = [rater.change(one) for one in presses]
    with server.standing_still():
        rater.send(frames.pop(0))
        if not gap:
            for frame in frames:
                rater.send(frame)
    for frame in frames if gap else ():
        time.sleep(gap)
        rater.send(frame)
    rater.until_quiet()


def button(rater: RawRater, start: str) -> WidgetState:
    return pressed(next(id_ for label, id_ in rater.buttons().items() if label.startswith(start)))


def answer(rater: RawRater, dimension: int, place: int) -> WidgetState:
    """The button of an answer, by the numbers of its dimension and of its place among the answers."""
    return pressed(next(id_ for id_ in rater.buttons().values() if f"-answer-{dimension}-{place}-" in id_))


def texts_to_rate(server: AppServer, task: RatingTask = TASK) -> tuple[RatingStudyAtHand, RawRater]:
    with open_store(server.database) as store:
        at_hand = rating_study(store, task=task, name=new_name())
        update_rater(store, at_hand.study_id, "R1", onboarding=1)
        return at_hand, RawRater.of_link(f"{server.url}/r/{at_hand.tokens['R1']}")


def pairs_to_rate(server: AppServer) -> tuple[StudyAtHand, RawRater]:
    with open_store(server.database) as store:
        at_hand = study_in(store, dataset(4), raters=("R1",), name=new_name(), repeat_share=0)
        update_rater(store, at_hand.study_id, "R1", onboarding=9)
        return at_hand, RawRater.of_link(f"{server.url}/r/{at_hand.tokens['R1']}")


def rated(server: AppServer, at_hand: RatingStudyAtHand) -> dict[int, RatingAnswer]:
    with open_store(server.database) as store:
        numbers = {a.key: a.position for a in rating_assignments_of(store, at_hand.study_id, "R1")}
        return {numbers[a.key]: a for a in ratings_of(store, at_hand.study_id, "R1")}


def chosen(server: AppServer, at_hand: StudyAtHand) -> dict[int, str | None]:
    with open_store(server.database) as store:
        numbers = {(a.item_id, a.level): a.position for a in assignments_of(store, at_hand.study_id, "R1")}
        return {numbers[a.item_id, a.level]: a.choice for a in answers_of(store, at_hand.study_id)}


@pytest.mark.slow
def test_answers_of_a_text_and_the_press_that_ends_it(server: AppServer) -> None:
    """One answer is corrected on the way: the later one counts."""
    at_hand, rater = texts_to_rate(server)
    with rater:
        for number, gap in enumerate(GAPS, start=1):
            rater.go(f"at={number}")
            given = answer(rater, 1, 2), answer(rater, 2, 1), answer(rater, 2, 3)
            press_on(server, rater, gap, *([one] for one in given), [button(rater, "Save and go on")])
    found = rated(server, at_hand)
    assert {n: (dict(a.scores), a.done) for n, a in found.items()} == {
        number: ({"H": 1, "grammar": 2}, True) for number in range(1, len(GAPS) + 1)
    }


@pytest.mark.slow
def test_a_flag_and_the_press_that_ends_its_text(server: AppServer) -> None:
    at_hand, rater = texts_to_rate(server)
    with rater:
        for number, gap in enumerate(GAPS, start=1):
            rater.go(f"at={number}")
            flag = WidgetState(id=rater.widget("checkbox"), bool_value=True)
            press_on(server, rater, gap, [flag], [flag, button(rater, "Save and go on")])
    assert {n: (a.invalid, a.done) for n, a in rated(server, at_hand).items()} == dict.fromkeys(
        range(1, len(GAPS) + 1), (True, True)
    )


def test_a_slider_marks_an_answer_and_the_press_that_ends_the_text(server: AppServer) -> None:
    at_hand, rater = texts_to_rate(server, rating_studies.TASK)
    with rater:
        for number, gap in enumerate(GAPS, start=1):
            rater.go(f"at={number}")
            slid = told(rater.component("number_scale"), given={"number": 1, "value": 70 + number})
            marker = rater.component("span_marker")
            data = json.loads(marker.json)
            none = {"mark": data["mark"], "number": 1, "base": data["revision"], "spans": [], "none": True}
            marked = told(marker, marked=none)
            ends = answer(rater, 2, 2), button(rater, "Save and go on")
            press_on(server, rater, gap, [slid], [slid, marked], *([slid, marked, one] for one in ends))
    found = rated(server, at_hand)
    assert {n: (dict(a.scores), a.no_errors, a.done) for n, a in found.items()} == {
        n: ({"overall": 70 + n, "H": 1}, True, True) for n in range(1, len(GAPS) + 1)
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "then",
    ["Next", *(pytest.param(one, marks=pytest.mark.slow) for one in ("Skip, ask me later", "Back"))],
)
def test_a_choice_and_a_press_that_leads_elsewhere(server: AppServer, then: str) -> None:
    """The choice is kept; nothing is skipped that was not on the screen."""
    at_hand, rater = pairs_to_rate(server)
    numbers = range(2, 2 + len(GAPS))
    with rater:
        for number, gap in zip(numbers, GAPS, strict=True):
            rater.go(f"at={number}")
            press_on(server, rater, gap, [button(rater, "Right")], [button(rater, then)])
    assert chosen(server, at_hand) == dict.fromkeys(numbers, "right")
    with open_store(server.database) as store:
        desk = open_desk(store, StudyAtHand(store, at_hand.study_id).tokens["R1"])
        assert desk is not None
        assert not [status.number for status in desk.statuses() if status.skipped]


@pytest.mark.usefixtures("each_pair_task_by_browser")
def test_the_last_of_several_choices_counts_and_next_leads_one_pair_on(server: AppServer) -> None:
    at_hand, rater = pairs_to_rate(server)
    with rater:
        press_on(server, rater, 0, *([button(rater, one)] for one in ("Left", "Both bad", "Both good")))
        assert chosen(server, at_hand) == {1: "both_good"}
        rater.go("at=2")
        press_on(server, rater, 0, *([button(rater, "Next")] for _ in range(4)))
        assert rater.number() == 3


def test_a_comment_and_a_flag_on_a_pair_and_what_is_pressed_next(server: AppServer) -> None:
    at_hand, rater = pairs_to_rate(server)
    nexts = ("Right", "Next", "Skip, ask me later", "Overview and finish", "Back")
    with rater:
        for number, (gap, then) in enumerate(zip(GAPS, nexts, strict=True), start=2):
            rater.go(f"at={number}")
            note = rater.comment(f"on {number}")
            flag = WidgetState(id=rater.widget("checkbox"), bool_value=True)
            press_on(server, rater, gap, [note], [note, flag], [note, flag, button(rater, then)])
    with open_store(server.database) as store:
        numbers = {(a.item_id, a.level): a.position for a in assignments_of(store, at_hand.study_id, "R1")}
        found = {numbers[a.item_id, a.level]: a for a in answers_of(store, at_hand.study_id)}
    assert {n: (a.comment, a.invalid) for n, a in found.items()} == {
        n: (f"on {n}", True) for n in range(2, 7)
    }
    assert {n for n, a in found.items() if a.choice == "right"} == {2}
    assert {n for n, a in found.items() if a.skipped} == {4}


@pytest.mark.slow
def test_differences_that_were_chosen_and_the_choice_after_them(server: AppServer) -> None:
    at_hand, rater = pairs_to_rate(server)
    with rater:
        for number, gap in enumerate(GAPS, start=1):
            rater.go(f"at={number}")
            off = WidgetState(id=rater.widget("button_group"))
            off.string_array_value.data.append("left against right" if number % 2 else "off")
            press_on(server, rater, gap, [off], [off, button(rater, "Left")])
    with open_store(server.database) as store:
        numbers = {(a.item_id, a.level): a.position for a in assignments_of(store, at_hand.study_id, "R1")}
        used = {
            numbers[a.item_id, a.level]: (a.choice, a.diff_used) for a in answers_of(store, at_hand.study_id)
        }
    assert used == {n: ("left", "left_right" if n % 2 else "none") for n in range(1, len(GAPS) + 1)}
