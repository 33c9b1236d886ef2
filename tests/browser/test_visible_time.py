"""The time for which a pair or text was visible comes with the press that answers it: no message and no run of its own."""

import json
from collections.abc import Callable

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled
from helpers.processes.raw_rater import RawRater, told
from playwright.sync_api import Page
from rating_visit import at_the_first_pair, open_study
from streamlit.proto.BackMsg_pb2 import BackMsg
from text_visit import given as ratings_given
from text_visit import on_text, rating_study, texts
from wire import Wire

from core.schema.study import Answer
from core.store import Store
from core.store.answers import answers_of, guesses_of, history_of
from core.store.raters import update_rater

NewPage = Callable[[], Page]
SLACK = 1.0
"""Seconds that drawing and settling may add."""
_SWITCH = """(() => {
    let state = 'visible';
    Object.defineProperty(document, 'visibilityState', {get: () => state});
    Object.defineProperty(document, 'hidden', {get: () => state === 'hidden'});
    window.turn = (next) => {
        state = next;
        document.dispatchEvent(new Event('visibilitychange'));
    };
})()"""
"""A headless browser has no background: the test says when the tab is in it."""


def hide(page: Page, milliseconds: int) -> None:
    page.evaluate("turn('hidden')")
    page.wait_for_timeout(milliseconds)
    page.evaluate("turn('visible')")


def the_answer(store: Store, study_id: int) -> Answer:
    (answer,) = answers_of(store, study_id)
    return answer


def test_a_background_tab_takes_no_time_and_a_correction_changes_nothing(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    page = new_page()
    page.add_init_script(_SWITCH)
    study_id, page = at_the_first_pair(app, app_store, lambda: page)
    hide(page, 3000)
    page.keyboard.press("1")
    on_pair(page, 2)
    first = the_answer(app_store, study_id)
    assert first.seconds is not None
    assert first.seconds_visible is not None
    assert first.seconds >= 3.4
    assert 0.3 < first.seconds_visible <= first.seconds - 2.9
    page.get_by_role("button", name="Back").click()
    on_pair(page, 1)
    page.wait_for_timeout(1500)
    page.keyboard.press("2")
    on_pair(page, 2)
    again = the_answer(app_store, study_id)
    assert again.choice == "right"
    assert again.seconds_visible == first.seconds_visible
    assert [entry.answer.seconds_visible for entry in history_of(app_store, study_id)] == [
        first.seconds_visible
    ] * 2


def test_appearances_in_a_tab_are_added_up_across_the_overview_and_a_reload(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="Overview and finish").click()
    on_screen(page).get_by_text("Still open").wait_for()
    page.wait_for_timeout(2000)
    page.get_by_role("button", name="Go to the next open pair").click()
    on_pair(page, 1)
    page.wait_for_timeout(1000)
    page.reload()
    on_pair(page, 1)
    page.locator(".st-key-choices").get_by_role("button", name="Both bad").click()
    on_pair(page, 2)
    answer = the_answer(app_store, study_id)
    assert answer.seconds is not None
    assert answer.seconds_visible is not None
    assert answer.seconds < answer.seconds_visible
    assert answer.seconds_visible > 3.0


def test_a_press_is_one_message_and_one_run(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    wire, page = Wire(), new_page()
    wire.watch(page)
    _, page = at_the_first_pair(app, app_store, lambda: page)
    page.mouse.click(5, 5)
    sent, runs = len(wire.sent), wire.runs
    wire.after(page, lambda: page.keyboard.press("1"))
    on_pair(page, 2)
    assert (len(wire.sent), wire.runs) == (sent + 1, runs + 1)
    states = BackMsg.FromString(wire.sent[-1]).rerun_script.widget_states.widgets
    (value,) = [json.loads(one.json_value) for one in states if one.id.endswith("-visible")]
    assert value["visible"]["seconds"] > 0
    assert [one.id for one in states if one.trigger_value]


@pytest.mark.parametrize(
    "seconds", ["NaN", "-1", '"3"', "1e300", "1" * 400, "true", "null", "[]", "86401", "Infinity"]
)
def test_a_forged_time_and_mark_are_ignored(app: AppServer, app_store: Store, seconds: str) -> None:
    study_id, link = open_study(app_store, app.url)
    with app_store.writing():
        update_rater(app_store, study_id, "ann", onboarding=4)
    with RawRater.of_link(link) as rater:
        component = rater.component("visible_time")
        entry = json.loads(component.json)["entry"]
        state = told(component)
        state.json_value = (
            f'{{"visible": {{"entry": {json.dumps(entry)}, "seconds": {seconds}, "translated": 1}}}}'
        )
        press_raw(rater, [state])
        assert "Pair 1 saved" in rater.on_screen()
    answer = the_answer(app_store, study_id)
    assert (answer.seconds_visible, answer.translated) == (None, None)
    assert "Traceback" not in app.log()


@pytest.mark.parametrize(("of", "kept"), [("its own", 7.5), ("another", None), ("no", None)])
def test_a_time_and_a_mark_of_translation_count_for_their_own_pair_alone(
    app: AppServer, app_store: Store, of: str, kept: float | None
) -> None:
    study_id, link = open_study(app_store, app.url)
    with app_store.writing():
        update_rater(app_store, study_id, "ann", onboarding=4)
    with RawRater.of_link(link) as rater:
        component = rater.component("visible_time")
        entry = json.loads(component.json)["entry"] if of == "its own" else "2-other"
        state = told(component, visible={"entry": entry, "seconds": 7.5, "translated": True})
        press_raw(rater, [] if of == "no" else [state])
    answer = the_answer(app_store, study_id)
    assert (answer.seconds_visible, answer.translated) == (kept, True if kept else None)


def press_raw(rater: RawRater, widgets: list) -> None:  # type: ignore[type-arg]
    rater.until_quiet(0.5)
    rater.press(rater.choices()[0], widgets)


def test_the_time_of_a_text_is_that_until_it_was_first_done(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, link = rating_study(app_store, app.url, texts({"Why?": ["Because.", "So."]}))
    page = new_page()
    page.add_init_script(_SWITCH)
    page.goto(link)
    on_text(page, 1)
    hide(page, 2000)
    on_screen(page).get_by_text("No errors in this text").click()
    settled(page)
    page.get_by_role("button", name="Save and go on").click()
    on_text(page, 2)
    first = ratings_given(app_store, study_id)[1]
    assert first.done
    assert first.seconds is not None
    assert first.seconds_visible is not None
    assert 0.3 < first.seconds_visible <= first.seconds - 1.9


def test_guesses_have_their_time_too(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    study_id, link = open_study(app_store, app.url, n_items=1)
    with app_store.writing():
        update_rater(app_store, study_id, "ann", onboarding=4)
    page = new_page()
    page.goto(link)
    for number in range(1, 6):
        on_pair(page, number)
        page.keyboard.press("3")
    page.get_by_role("button", name="Lock my answers").click()
    on_screen(page).get_by_text("1 of 4").wait_for()
    settled(page)
    page.wait_for_timeout(500)
    page.keyboard.press("1")
    on_screen(page).get_by_text("2 of 4").wait_for()
    settled(page)
    (guess,) = guesses_of(app_store, study_id)
    assert guess.seconds is not None
    assert guess.seconds_visible is not None
    assert 0.3 < guess.seconds_visible <= guess.seconds + SLACK
