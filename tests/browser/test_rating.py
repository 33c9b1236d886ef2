"""A rater's whole way in a real browser: the database ends with exactly the answers that were given."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app_server import AppServer, on_pair, settled, through_onboarding
from factories import dataset
from playwright.sync_api import Page, expect

from core.analysis.study_results import study_results
from core.schema import Design
from core.store import Store, open_store
from core.store.answers import answers_of, history_of
from core.store.raters import assignments_of
from core.store.record import load_record
from core.store.studies import get_study
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import change_design, import_study, move, restore_study
from core.study.raters import add_raters

KEYS = {"left": "1", "right": "2", "both_good": "3", "both_bad": "4"}
LABELS = {"left": "Left", "right": "Right", "both_good": "Both good", "both_bad": "Both bad"}
NewPage = Callable[[], Page]


def open_study(store: Store, app_url: str, *, n_items: int = 4) -> tuple[int, str]:
    """A study of n_items x 5 pairs without repeats, open, with one rater: (study number, link)."""
    data = dataset(n_items)
    design = Design(candidate=data.sources[0], comparator=data.sources[1], seed=7, repeat_share=0)
    study = import_study(store, "browser", data, design)
    (link,) = add_raters(store, study, ["ann"])
    move(store, study, "open")
    return study.study_id, link.url(app_url)


def at_the_first_pair(app: AppServer, store: Store, new_page: NewPage) -> tuple[int, Page]:
    """A rater who is through with guidelines and practice: (study number, page)."""
    study_id, link = open_study(store, app.url)
    page = new_page()
    through_onboarding(page, link)
    on_pair(page, 1)
    return study_id, page


def given(store: Store, study_id: int) -> dict[int, str | None]:
    """Number on the rater's list -> choice in the database."""
    numbers = {(a.item_id, a.level): a.position for a in assignments_of(store, study_id, "ann")}
    return {numbers[a.item_id, a.level]: a.choice for a in answers_of(store, study_id)}


def press(page: Page, number: int, choice: str) -> None:
    on_pair(page, number)
    page.keyboard.press(KEYS[choice])


def click(page: Page, number: int, choice: str) -> None:
    on_pair(page, number)
    page.locator(".st-key-choices").get_by_role("button", name=LABELS[choice]).click()


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
    expect(restarted.get_by_text("Still open: 8.")).to_be_visible()
    restarted.get_by_role("button", name="Go to the next open pair").click()
    press(restarted, 8, plan[8])
    expect(restarted.get_by_text("All pairs are answered")).to_be_visible()

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
    wanted = study_results(record, n_resamples=500).to_json()
    assert wanted["n_pairs"] == 20
    assert study_results(bundle, n_resamples=500).to_json() == wanted
    assert study_results(restored, n_resamples=500).to_json() == wanted


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
    expect(page.get_by_text(f"Question {item}?")).to_be_visible()
    settled(page)
    assert answers_of(app_store, study_id) == ()
    press(page, 1, "right")
    on_pair(page, 2)
    assert given(app_store, study_id) == {1: "right"}


def test_double_press_answers_one_pair(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    number = 1
    for gap in (20, 60, 120, 200, 300):
        on_pair(page, number)
        page.keyboard.press("1")
        page.wait_for_timeout(gap)
        page.keyboard.press("1")
        settled(page)
        page.wait_for_timeout(500)
        assert given(app_store, study_id) == dict.fromkeys(range(1, number + 1), "left"), f"{gap} ms apart"
        number += 1


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


def test_browser_back_shows_the_pair_before(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    press(page, 1, "left")
    press(page, 2, "right")
    on_pair(page, 3)
    page.go_back()
    on_pair(page, 2)
    expect(page.get_by_text("Your answer here: Right")).to_be_visible()
    press(page, 2, "both_bad")
    on_pair(page, 3)
    assert given(app_store, study_id) == {1: "left", 2: "both_bad"}


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


def test_comment_and_flag_are_kept_and_digits_in_a_comment_choose_nothing(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    page.get_by_text("Comment, or report a broken pair").click()
    page.get_by_label("Comment (optional)").press_sequentially("12 of 34 =SUM(1)")
    page.get_by_text("This pair is invalid").click()
    expect(page.get_by_text("Pair 1 of ")).to_be_visible()
    settled(page)
    click(page, 1, "both_good")
    on_pair(page, 2)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.comment, answer.invalid, answer.choice) == ("12 of 34 =SUM(1)", True, "both_good")
    assert answer.seconds is not None
    assert answer.seconds > 0
    assert answer.diff_used == "own_a0"


def test_a_comment_left_unblurred_is_saved_with_the_choice(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    page.get_by_text("Comment, or report a broken pair").click()
    page.get_by_label("Comment (optional)").fill("typed, then straight to the button")
    click(page, 1, "left")
    on_pair(page, 2)
    page.wait_for_timeout(300)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.comment, answer.choice) == ("typed, then straight to the button", "left")


def test_when_the_database_cannot_be_written_the_pair_stays(
    app: AppServer, app_store: Store, database: Path, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    with sqlite3.connect(database) as other:
        other.execute(
            "create trigger no_room before insert on answer begin select raise(abort, 'disk is full'); end"
        )
    page.keyboard.press("1")
    expect(page.get_by_text("Not saved.")).to_be_visible()
    assert "assay.db" not in page.content(), "the owner's file names are nobody's business"
    expect(page.get_by_text("Pair 1 of ")).to_be_visible()
    with sqlite3.connect(database) as other:
        other.execute("drop trigger no_room")
    page.wait_for_timeout(500)
    page.keyboard.press("1")
    on_pair(page, 2)
    assert given(app_store, study_id) == {1: "left"}


def test_a_tab_that_is_behind_takes_no_comment_back(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, first = at_the_first_pair(app, app_store, new_page)
    second = first.context.new_page()
    second.goto(first.url)
    on_pair(second, 1)
    second.get_by_text("Comment, or report a broken pair").click()
    second.get_by_label("Comment (optional)").fill("from the second tab")
    second.get_by_text("This pair is invalid").click()
    settled(second)
    first.bring_to_front()
    press(first, 1, "left")
    on_pair(first, 2)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.choice, answer.comment, answer.invalid) == ("left", "from the second tab", True)


def test_a_press_that_another_event_follows_is_saved_or_stays_open(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    """A newer event ends the run of the one before it. Streamlit drops a press whose callback has not begun
    by then (a few milliseconds): such a press is never called saved, and its pair comes back.
    """
    study_id, page = at_the_first_pair(app, app_store, new_page)
    gaps = (0, 5, 30, 60, 100, 150)
    for number, gap in enumerate(gaps, start=1):
        page.goto(page.url.rsplit("at=", 1)[0] + f"at={number}")
        on_pair(page, number)
        page.evaluate(
            """gap => {
                const named = name => [...document.querySelectorAll('button')].find(
                    button => button.innerText.trim().startsWith(name));
                named('Left').click();
                setTimeout(() => named('Next').click(), gap);
            }""",
            gap,
        )
        page.wait_for_timeout(500)
        settled(page)
    saved = given(app_store, study_id)
    assert set(saved.values()) == {"left"}
    assert len([number for number in (3, 4, 5, 6) if number in saved]) >= 3
    page.goto(page.url.rsplit("at=", 1)[0] + "at=list")
    still = page.get_by_text("Still open:").inner_text(timeout=20_000)
    for number in set(range(1, 7)) - set(saved):
        assert str(number) in still


def test_a_slow_server_gives_exactly_one_answer(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    """The server stands still while the rater presses again and again: all presses mean the pair they saw."""
    study_id, page = at_the_first_pair(app, app_store, new_page)
    with app.standing_still():
        for _ in range(3):
            page.keyboard.press("2")
            page.wait_for_timeout(400)
    on_pair(page, 2)
    assert given(app_store, study_id) == {1: "right"}
    assert len(history_of(app_store, study_id)) == 1


def test_hostile_text_is_shown_as_it_is(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    hostile = (
        "# Heading **bold** $\\frac{a}{b}$ <b>tag</b> <script>alert(1)</script> "
        "![x](http://example.org/x.png) <img src=http://example.org/y.png onerror=alert(2)> :red[x] &amp;\n\n- list"
    )
    data = dataset(2)
    data = replace(
        data,
        items=tuple(replace(item, question=hostile, reference=hostile) for item in data.items),
        outputs=tuple(replace(output, text=f"{hostile} {output.text}") for output in data.outputs),
    )
    study = import_study(app_store, "hostile", data, Design(candidate="ai", comparator="human", seed=1))
    (link,) = add_raters(app_store, study, ["ann"])
    move(app_store, study, "open")
    page = new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda _: asked.append("a script ran"))
    through_onboarding(page, link.url(app.url))
    for number, mode in ((1, "against the reference"), (2, "left against right"), (3, "off")):
        on_pair(page, number)
        page.get_by_text(mode, exact=True).click()
        settled(page)
        shown = page.locator(".assay-question, .assay-reference, .assay-card .assay-text").all()
        assert len(shown) == 4
        for text in shown:
            kept = text.evaluate(
                "e => [...e.childNodes].filter(n => n.nodeName !== 'DEL').map(n => n.textContent).join('')"
            )
            assert kept.startswith(hostile)
        page.keyboard.press("3")
    assert [url for url in asked if not url.startswith((app.url, "data:", "blob:"))] == []


def test_a_note_that_cannot_be_saved_says_so(
    app: AppServer, app_store: Store, database: Path, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    with sqlite3.connect(database) as other:
        other.execute(
            "create trigger no_room before insert on answer begin select raise(abort, 'disk is full'); end"
        )
    page.get_by_text("Comment, or report a broken pair").click()
    page.get_by_text("This pair is invalid").click()
    expect(page.get_by_text("Not saved.")).to_be_visible()
    expect(page.get_by_text("Comment and flag saved")).to_have_count(0)
    with sqlite3.connect(database) as other:
        other.execute("drop trigger no_room")
    click(page, 1, "left")  # the next event saves the note as well
    on_pair(page, 2)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.choice, answer.invalid) == ("left", True)
