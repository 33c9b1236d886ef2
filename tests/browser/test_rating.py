"""A rater's whole way in a real browser: the database ends with exactly the answers that were given."""

from dataclasses import replace

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled, through_onboarding
from playwright.sync_api import expect
from rating_visit import NewPage, at_the_first_pair, click, given, open_study, press

from core.analyses.study_results.pair_rows import answer_of
from core.results.study.results import study_results
from core.store import Store, open_store
from core.store.answers import answers_of, assignments_of, history_of, load_record
from core.store.studies import get_study
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import change_design, restore_study
from pages.annotate.around import DOUBLE_PRESS_SECONDS


@pytest.mark.slow
def test_twenty_pairs_by_keyboard_and_mouse(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    study_id, link = open_study(app_store, app.url)
    choices = ["left", "right", "both_good", "both_bad"]
    plan = {number: choices[number * number % 4 if number % 3 else number % 4] for number in range(1, 21)}
    page = new_page()
    through_onboarding(page, link)
    for number in range(1, 8):
        press(page, number, plan[number])
    on_pair(page, 8)
    assert given(app_store, study_id) == {n: plan[n] for n in range(1, 8)}

    page.get_by_role("button", name="Back", exact=True).click()  # back and change
    click(page, 7, "both_bad")
    on_pair(page, 8)
    plan[7] = "both_bad"

    page.get_by_role("button", name="Skip, ask me later").click()
    press(page, 9, plan[9])
    on_pair(page, 10)
    page.reload()
    click(page, 10, plan[10])
    on_pair(page, 11)

    elsewhere = new_page()  # another computer, the bare link: resumes at the same pair
    elsewhere.goto(link)
    for number in range(11, 14):
        click(elsewhere, number, plan[number])
    on_pair(elsewhere, 14)
    page.close()

    app.stop()
    app.start()
    restarted = new_page()
    restarted.goto(link)
    for number in range(14, 21):
        (press if number % 2 else click)(restarted, number, plan[number])
    on_pair(restarted, 8)  # the skipped pair comes back
    restarted.get_by_role("button", name="Overview and finish").click()
    expect(on_screen(restarted).get_by_text("Still open: 8.")).to_be_visible()
    restarted.get_by_role("button", name="Go to the next open pair").click()
    press(restarted, 8, plan[8])
    expect(restarted.get_by_role("heading", name="All pairs are answered")).to_be_visible()

    assert given(app_store, study_id) == plan
    assert len(history_of(app_store, study_id)) == 22  # 20 answers, one change, one skip
    assert get_study(app_store, study_id).first_vote_utc is not None
    assert_the_bundle_says_the_same(app_store, study_id)


def assert_the_bundle_says_the_same(store: Store, study_id: int) -> None:
    """Votes through the page -> bundle -> import: identical numbers, all of them."""
    record = load_record(store, get_study(store, study_id))
    bundle = read_bundle(write_bundle(record), "study.zip")
    with open_store(store.path.with_name("other.db")) as other:
        restored = load_record(other, restore_study(other, bundle))
    wanted = answer_of(study_results(record, n_resamples=500)).json
    assert wanted["n_pairs"] == 16
    assert answer_of(study_results(bundle, n_resamples=500)).json == wanted
    assert answer_of(study_results(restored, n_resamples=500)).json == wanted


@pytest.mark.slow
def test_a_press_on_a_list_that_was_drawn_again_is_no_answer(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    """The owner changes the seed while a pair is on the screen: the press means nothing any more."""
    study_id, page = at_the_first_pair(app, app_store, new_page)
    shown = page.locator(".assay-question").inner_text()
    study = get_study(app_store, study_id)
    for seed in range(100, 120):
        study = change_design(app_store, study, replace(study.design, seed=seed))
        item = assignments_of(app_store, study_id, "ann")[0].item_id
        if f"Question {item}?" != shown:
            break
    page.keyboard.press("1")
    expect(on_screen(page).get_by_text(f"Question {item}?")).to_be_visible()
    settled(page)
    assert answers_of(app_store, study_id) == ()
    press(page, 1, "right")
    on_pair(page, 2)
    assert given(app_store, study_id) == {1: "right"}


@pytest.mark.slow
def test_double_press_answers_one_pair(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    """The gaps are those of the browser; on a busy machine a press may reach the server after the guarded time.

    The server's own seconds tell: a second answer has to have come later than that, and most must not come at all.
    """
    study_id, page = at_the_first_pair(app, app_store, new_page)
    number, guarded = 1, 0
    for gap in (20, 60, 120, 200, 300):
        on_pair(page, number)
        page.keyboard.press("1")
        page.wait_for_timeout(gap)
        page.keyboard.press("1")
        settled(page)
        page.wait_for_timeout(500)
        answered = given(app_store, study_id)
        if late := set(answered) - set(range(1, number + 1)):
            newest = max(answers_of(app_store, study_id), key=lambda answer: answer.answered_utc or "")
            assert late == {number + 1}, f"{gap} ms apart"
            assert newest.seconds is not None
            assert newest.seconds >= DOUBLE_PRESS_SECONDS, f"{gap} ms apart"
        guarded += not late
        number += 1 + len(late)
        assert answered == dict.fromkeys(range(1, number), "left"), f"{gap} ms apart"
    assert guarded >= 3


@pytest.mark.usefixtures("each_pair_task_by_browser")
@pytest.mark.slow
def test_two_tabs_give_one_answer_each_to_the_pair_on_its_screen(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, link = open_study(app_store, app.url)
    first = new_page()
    through_onboarding(first, link)
    on_pair(first, 1)
    second = first.context.new_page()
    second.goto(link)
    on_pair(second, 1)
    first.bring_to_front()
    press(first, 1, "left")
    press(first, 2, "both_good")
    on_pair(first, 3)
    second.bring_to_front()
    press(second, 1, "right")  # the stale tab still shows pair 1
    on_pair(second, 2)
    assert given(app_store, study_id) == {1: "right", 2: "both_good"}
    kept = [e.answer.choice for e in history_of(app_store, study_id)]
    assert kept == ["left", "both_good", "right"]


@pytest.mark.slow
def test_browser_back_shows_the_pair_before(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    press(page, 1, "left")
    press(page, 2, "right")
    on_pair(page, 3)
    page.go_back()
    on_pair(page, 2)
    expect(page.locator(".assay-status", has_text="Your answer here: Right")).to_be_visible()
    press(page, 2, "both_bad")
    on_pair(page, 3)
    assert given(app_store, study_id) == {1: "left", 2: "both_bad"}


@pytest.mark.slow
def test_a_press_after_a_server_restart_counts(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    """The tab stays open while the server goes away and comes back: no press is swallowed."""
    study_id, page = at_the_first_pair(app, app_store, new_page)
    press(page, 1, "left")
    on_pair(page, 2)
    app.kill()
    app.start()
    page.wait_for_timeout(3000)  # the tab reconnects by itself
    page.keyboard.press("4")
    on_pair(page, 3)
    assert given(app_store, study_id) == {1: "left", 2: "both_bad"}


_TOPS = "card => [...card.querySelectorAll('.assay-row')].map(row => row.getBoundingClientRect().top)"


def test_a_key_switches_the_marked_differences_and_the_vote_tells_which(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    page.get_by_label("Comment (optional)").press_sequentially("mm")
    expect(page.locator(".assay-box-state")).to_have_text("Saved")
    page.locator(".assay-question").click()
    page.keyboard.press("m")
    expect(page.get_by_role("radio", name="all words")).to_be_checked()
    settled(page)
    press(page, 1, "left")
    on_pair(page, 2)
    left, right = (card.evaluate(_TOPS) for card in page.locator(".assay-card").all())
    assert left == right, "sentences face each other"
    page.keyboard.press("m")
    expect(page.get_by_role("radio", name="left against right")).to_be_checked()
    settled(page)
    press(page, 2, "left")
    on_pair(page, 3)
    used = {answer.level: answer.diff_used for answer in answers_of(app_store, study_id)}
    assert used == {"A0": "reference", "A1": "left_right"}
