"""A rater's screen of texts: what was just written is kept whatever is pressed next."""

import json
import time
from typing import Any

import pytest
import streamlit as st
from helpers.texts.rating_studies import HARM, rating_study
from streamlit.testing.v1 import AppTest

from core.formats.tasks import find_task
from core.schema.study import Dimension, RatingTask
from core.store import Store
from core.store.answers import ratings_of
from pages.annotate.around import DOUBLE_PRESS_SECONDS
from pages.widgets import own
from pages.widgets.own import NOT_RATED, Given
from pages.widgets.visitor import cookie_name

GivenByPlace = dict[tuple[int, int], Given]
"""(number of the text, of the dimension) -> what was given on that slider."""
STEPS = Dimension("steps", "Steps", "How many?", 0, 10)
BOXED = RatingTask("boxed", "Boxed", "none", "none", "made for a test", (STEPS, HARM))


def annotate() -> None:
    from pages import annotate as page

    page.render()


def on_first_text(store: Store, cookies: dict[str, str], task: RatingTask) -> tuple[AppTest, int]:
    at_hand = rating_study(store, task=task)
    cookies.clear()
    cookies[cookie_name(store, "rater")] = at_hand.tokens["R1"]
    at_hand.desk("R1").finish_step(1)
    at = AppTest.from_function(annotate, default_timeout=30).run()
    assert not at.exception
    return at, at_hand.study_id


def pressed(at: AppTest, start: str) -> AppTest:
    next(button for button in at.button if str(button.label).startswith(start)).click()
    return at.run()


def test_a_comment_is_kept_when_another_text_of_the_source_is_pressed(
    store: Store, cookies: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at, study_id = on_first_text(store, cookies, BOXED)
    monkeypatch.setattr(own, "box_in_browser", lambda key: {"1": "Two words are missing."}.get(key[1]))
    at.checkbox[0].set_value(True)
    pressed(at, "2")
    (kept,) = ratings_of(store, study_id)
    assert (kept.comment, kept.invalid) == ("Two words are missing.", True)
    assert "Text 2 of" in "".join(str(one.value) for one in at.get("html"))


def test_one_number_that_is_not_on_offer_keeps_nothing_else_back(
    store: Store, cookies: dict[str, str], given: GivenByPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, study_id = on_first_text(store, cookies, BOXED)
    given[1, 1] = Given(1, 7.5)
    monkeypatch.setattr(own, "box_in_browser", lambda key: {"1": "Half a step."}.get(key[1]))
    at.run()
    (kept,) = ratings_of(store, study_id)
    assert kept.comment == "Half a step."
    assert kept.scores == {}
    assert any("7.5 is not a possible score" in str(one.value) for one in at.error)


ANY = Dimension("any", "Any", "How good?", 0, 100, 0, ((0, "Useless."), (100, "Flawless.")))
SLID = RatingTask("slid", "Slid", "none", "none", "made for a test", (ANY, STEPS))


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> GivenByPlace:
    """What a browser gave: AppTest has none to press a slider in."""
    told: GivenByPlace = {}

    def in_browser(key: str) -> Given | None:
        dimension, text, _ = key[1:].split("-", 2)
        return told.get((int(text), int(dimension)))

    monkeypatch.setattr(own, "scale_in_browser", in_browser)
    return told


def scales(at: AppTest) -> list[dict[str, Any]]:
    """What each slider on the screen is handed."""
    drawn = [one.proto for one in at.get("bidi_component")]
    return [json.loads(one.json) for one in drawn if one.component_name.endswith("number_scale")]


def scores_of(store: Store, study_id: int) -> dict[str, float]:
    (kept,) = ratings_of(store, study_id)
    return dict(kept.scores)


def test_a_slider_that_nobody_moved_is_no_answer(store: Store, cookies: dict[str, str]) -> None:
    at, study_id = on_first_text(store, cookies, SLID)
    first, second = scales(at)
    assert (first["value"], second["value"]) == (None, None)
    assert (first["lowest"], first["highest"], first["unrated"]) == (0, 100, NOT_RATED)
    assert first["ends"] == ["0 = Useless.", "100 = Flawless."]
    time.sleep(DOUBLE_PRESS_SECONDS)
    pressed(at, "Save and go on")
    assert ratings_of(store, study_id) == ()
    assert any("a score for Any; a score for Steps" in str(one.value) for one in at.error)


def test_what_a_slider_gives_is_saved_shown_again_and_taken_back(
    store: Store, cookies: dict[str, str], given: GivenByPlace
) -> None:
    at, study_id = on_first_text(store, cookies, SLID)
    given[1, 1] = Given(1, 0.0)
    at.run()
    assert scores_of(store, study_id) == {"any": 0}
    given[1, 1], given[1, 2] = Given(2, 72.5), Given(1, 7.0)
    at.run()
    assert scores_of(store, study_id) == {"any": 72.5, "steps": 7}
    assert [(one["value"], one["number"]) for one in scales(at)] == [(72.5, 2), (7, 1)]
    given.clear()  # a browser forgets what it no longer shows
    pressed(at, "2")
    assert [one["value"] for one in scales(at)] == [None, None]
    pressed(at, "1")
    assert [one["value"] for one in scales(at)] == [72.5, 7]
    given[1, 1] = Given(1, None)
    at.run()
    assert scores_of(store, study_id) == {"steps": 7}
    assert not at.exception
    assert not at.warning


def test_a_number_that_arrives_with_the_press_after_it_counts(
    store: Store, cookies: dict[str, str], given: GivenByPlace
) -> None:
    at, study_id = on_first_text(store, cookies, SLID)
    time.sleep(DOUBLE_PRESS_SECONDS)
    given[1, 1], given[1, 2] = Given(2, 70.0), Given(1, 3.0)
    pressed(at, "Save and go on")
    (kept,) = ratings_of(store, study_id)
    assert (kept.done, dict(kept.scores)) == (True, {"any": 70, "steps": 3})


def test_what_a_slider_sends_is_read_only_where_it_is_what_a_slider_sends() -> None:
    """A browser can send anything: nothing of it may raise, and what is no number is nothing."""
    assert _read_as_sent({"number": 2, "value": 7}) == Given(2, 7.0)
    assert _read_as_sent({"number": 3, "value": None}) == Given(3, None)
    hostile: list[object] = [
        5,
        [],
        {},
        {"value": 7},
        {"number": True, "value": 7},
        {"number": float("inf"), "value": 7},
        {"number": 1, "value": "7"},
        {"number": 1, "value": float("nan")},
        {"number": 1, "value": False},
        {"number": 1, "value": [7]},
    ]
    assert [_read_as_sent(value) for value in hostile] == [None] * len(hostile)


def _read_as_sent(value: object) -> Given | None:
    st.session_state["slider"] = {"given": value}
    return own.scale_in_browser("slider")


@pytest.mark.parametrize(
    ("lowest", "highest", "step", "places"),
    [(0, 100, 0, 101), (0, 1, 0, 101), (1, 5, 0, 41), (-25, 0, 0, 26), (0, 33.3, 0, 35), (0, 10, 0.5, 21)],
)
def test_a_slider_has_round_places_and_both_ends(
    store: Store, cookies: dict[str, str], lowest: float, highest: float, step: float, places: int
) -> None:
    dimension = Dimension("any", "Any", "How good?", lowest, highest, step)
    at, _ = on_first_text(
        store, cookies, RatingTask("slid", "Slid", "none", "none", "made for a test", (dimension,))
    )
    (slider,) = scales(at)
    assert len(slider["places"]) == places
    assert [slider["places"][0], slider["places"][-1]] == [lowest, highest]


def test_question_reference_and_answer_are_named_as_the_task_names_them(
    store: Store, cookies: dict[str, str]
) -> None:
    at, _ = on_first_text(store, cookies, find_task("factual-errors"))
    shown = "".join(str(one.proto.body) for one in at.get("html"))
    places = [shown.index(f">{one}<") for one in ("Question", "Reference (taken as correct)")]
    assert places == sorted(places)
    assert ">Source<" not in shown
    assert any("for this question" in str(one.value) for one in at.get("html"))


pytestmark = pytest.mark.usefixtures("cookies")
