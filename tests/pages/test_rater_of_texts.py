"""A rater's screen of texts: what was just written is kept whatever is pressed next."""

import pytest
from rating_studies import HARM, rating_study
from streamlit.testing.v1 import AppTest

from core.schema.tasks import Dimension, RatingTask
from core.store import Store
from core.store.ratings import ratings_of
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


pytestmark = pytest.mark.usefixtures("cookies")
