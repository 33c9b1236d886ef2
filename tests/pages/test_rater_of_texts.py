"""A rater's screen of texts: what was just written is kept whatever is pressed next."""

import time

import pytest
from rating_studies import HARM, rating_study
from streamlit.testing.v1 import AppTest

from core.datasets.task_files import find_task
from core.schema.tasks import Dimension, RatingTask
from core.store import Store
from core.store.ratings import ratings_of
from pages.components import rating_scales
from pages.components.rating import DOUBLE_PRESS_SECONDS
from pages.components.rating_scales import NOT_RATED
from pages.door.cookies import cookie_name

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
    store: Store, cookies: dict[str, str]
) -> None:
    at, study_id = on_first_text(store, cookies, BOXED)
    at.text_area[0].set_value("Two words are missing.")
    at.checkbox[0].set_value(True)
    pressed(at, "2")
    (kept,) = ratings_of(store, study_id)
    assert (kept.comment, kept.invalid) == ("Two words are missing.", True)
    assert "Text 2 of" in "".join(str(one.value) for one in at.markdown)


def test_one_number_that_is_not_on_offer_keeps_nothing_else_back(
    store: Store, cookies: dict[str, str]
) -> None:
    at, study_id = on_first_text(store, cookies, BOXED)
    at.number_input[0].set_value(7.5)
    at.text_area[0].set_value("Half a step.")
    at.run()
    (kept,) = ratings_of(store, study_id)
    assert kept.comment == "Half a step."
    assert kept.scores == {}
    assert any("7.5 is not on offer" in str(one.value) for one in at.error)


ANY = Dimension("any", "Any", "How good?", 0, 100, 0, ((0, "Useless."), (100, "Flawless.")))
SLID = RatingTask("slid", "Slid", "none", "none", "made for a test", (ANY, STEPS))


def scores_of(store: Store, study_id: int) -> dict[str, float]:
    (kept,) = ratings_of(store, study_id)
    return dict(kept.scores)


def test_a_slider_that_nobody_moved_is_no_answer(store: Store, cookies: dict[str, str]) -> None:
    at, study_id = on_first_text(store, cookies, SLID)
    first, second = at.select_slider
    assert (first.value, second.value) == (None, None)
    assert first.options[:3] == [NOT_RATED, "0", "1"]
    assert first.options[-1] == "100"
    assert "0 = Useless." in first.label
    assert "100 = Flawless." in first.label
    time.sleep(DOUBLE_PRESS_SECONDS)
    pressed(at, "Save and go on")
    assert ratings_of(store, study_id) == ()
    assert any("a score for Any; a score for Steps" in str(one.value) for one in at.error)


def test_slider_and_box_say_the_same_and_either_saves_at_once(store: Store, cookies: dict[str, str]) -> None:
    at, study_id = on_first_text(store, cookies, SLID)
    at.select_slider[0].set_value(0.0).run()
    assert scores_of(store, study_id) == {"any": 0}
    assert at.number_input[0].value == 0
    assert NOT_RATED not in at.select_slider[0].options, "an end of the slider is an end of the scale"
    at.number_input[0].set_value(72.5).run()
    assert scores_of(store, study_id) == {"any": 72.5}
    assert at.select_slider[0].value == 72.5
    at.select_slider[1].set_value(7.0).run()
    at.select_slider[0].set_value(41.0).run()
    assert scores_of(store, study_id) == {"any": 41, "steps": 7}
    assert [box.value for box in at.number_input] == [41, 7]
    pressed(at, "2")
    assert [box.value for box in at.number_input] == [None, None]
    assert [one.value for one in at.select_slider] == [None, None]
    pressed(at, "1")
    assert [box.value for box in at.number_input] == [41, 7]
    assert [one.value for one in at.select_slider] == [41, 7]
    at.number_input[0].set_value(None).run()
    assert scores_of(store, study_id) == {"steps": 7}
    assert at.select_slider[0].value is None
    assert not at.exception
    assert not at.warning


def test_what_a_slider_was_moved_to_counts_although_the_press_that_follows_arrives_with_it(
    store: Store, cookies: dict[str, str]
) -> None:
    at, study_id = on_first_text(store, cookies, SLID)
    at.select_slider[0].set_value(10.0).run()
    at.select_slider[1].set_value(3.0).run()
    time.sleep(DOUBLE_PRESS_SECONDS)
    at.number_input[0].set_value(33.0)
    at.select_slider[0].set_value(70.0)
    pressed(at, "Save and go on")
    (kept,) = ratings_of(store, study_id)
    assert (kept.done, dict(kept.scores)) == (True, {"any": 70, "steps": 3})


@pytest.mark.parametrize(("echo_seconds", "kept"), [(3.0, [70, 33]), (0.0, [10, 70])])
def test_what_a_browser_has_not_heard_of_yet_is_no_answer(
    store: Store,
    cookies: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    echo_seconds: float,
    kept: list[float],
) -> None:
    """A press that follows at once brings the other control as it was before; later the same is an answer."""
    monkeypatch.setattr(rating_scales, "_ECHO_SECONDS", echo_seconds)
    at, study_id = on_first_text(store, cookies, SLID)
    said = []
    at.select_slider[0].set_value(10.0).run()
    at.select_slider[0].set_value(70.0).run()
    at.number_input[0].set_value(10.0).run()
    said.append(scores_of(store, study_id)["any"])
    at.select_slider[0].set_value(70.0).run()
    at.number_input[0].set_value(33.0).run()
    at.select_slider[0].set_value(70.0).run()
    said.append(scores_of(store, study_id)["any"])
    assert said == kept
    assert at.select_slider[0].value == at.number_input[0].value == kept[-1]


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
    (slider,) = at.select_slider
    assert len(slider.options) == places + 1
    assert [float(slider.options[1]), float(slider.options[-1])] == [lowest, highest]


def test_question_reference_and_answer_are_named_as_the_task_names_them(
    store: Store, cookies: dict[str, str]
) -> None:
    at, _ = on_first_text(store, cookies, find_task("factual-errors"))
    shown = "".join(str(one.proto.body) for one in at.get("html"))
    places = [shown.index(f">{one}<") for one in ("Question", "Reference (taken as correct)")]
    assert places == sorted(places)
    assert ">Source<" not in shown
    assert any("for this question" in str(one.value) for one in at.markdown)


pytestmark = pytest.mark.usefixtures("cookies")
