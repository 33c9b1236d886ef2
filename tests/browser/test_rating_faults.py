"""Notes, hostile text, slow and full servers on the rater's page: nothing is lost, and what fails says so."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled, through_onboarding
from helpers.texts.factories import dataset
from playwright.sync_api import expect
from rating_visit import NewPage, at_the_first_pair, click, given, press

from core.schema.rendering import Rendering
from core.schema.study import Design
from core.store import Store
from core.store.answers import answers_of, history_of
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters


@pytest.mark.slow
def test_comment_and_flag_are_kept_and_digits_in_a_comment_choose_nothing(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    page.get_by_label("Comment (optional)").press_sequentially("12 of 34 =SUM(1)")
    on_screen(page).get_by_text("Report this pair as broken").click()
    expect(page.get_by_role("heading", name="Pair 1 of ")).to_be_visible()
    settled(page)
    click(page, 1, "both_good")
    on_pair(page, 2)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.comment, answer.invalid, answer.choice) == ("12 of 34 =SUM(1)", True, "both_good")
    assert answer.seconds is not None
    assert answer.seconds > 0
    click(page, 2, "left")
    on_pair(page, 3)
    used = {answer.level: answer.diff_used for answer in answers_of(app_store, study_id)}
    assert used == {"A0": "reference_names", "A1": "own_a0"}, "what the rater was shown"


@pytest.mark.usefixtures("each_pair_task_by_browser")
def test_a_comment_is_saved_while_it_is_typed_and_survives_reload_and_back(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    box = page.get_by_label("Comment (optional)")
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    box.press_sequentially("It says Paris")
    expect(page.locator(".assay-box-state")).to_have_text("Saved")
    (answer,) = answers_of(app_store, study_id)
    assert (answer.comment, answer.choice) == ("It says Paris", None)

    box.press_sequentially(", twice")
    page.reload()  # before the pause after which it would have been sent
    expect(box).to_have_value("It says Paris, twice", timeout=20_000)
    expect(page.locator(".assay-box-state")).to_have_text("Saved")
    assert answers_of(app_store, study_id)[0].comment == "It says Paris, twice"

    page.get_by_role("button", name="Next", exact=True).click()
    on_pair(page, 2)
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    box.press_sequentially("Of the second")
    page.go_back()
    on_pair(page, 1)
    expect(box).to_have_value("It says Paris, twice")
    page.go_forward()
    on_pair(page, 2)
    expect(box).to_have_value("Of the second")
    expect(page.locator(".assay-box-state")).to_have_text("Saved")
    assert {answer.comment for answer in answers_of(app_store, study_id)} == {
        "It says Paris, twice",
        "Of the second",
    }


@pytest.mark.slow
def test_a_comment_that_no_server_answers_comes_back_after_a_reload(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    app.kill()
    page.get_by_label("Comment (optional)").press_sequentially("typed into the void")
    page.wait_for_timeout(1_000)
    app.start()
    page.reload()
    expect(page.locator(".assay-box-state")).to_have_text("Saved", timeout=20_000)
    assert [answer.comment for answer in answers_of(app_store, study_id)] == ["typed into the void"]


@pytest.mark.slow
def test_a_comment_left_unblurred_is_saved_with_the_choice(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    page.get_by_label("Comment (optional)").fill("typed, then straight to the button")
    click(page, 1, "left")
    on_pair(page, 2)
    page.wait_for_timeout(300)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.comment, answer.choice) == ("typed, then straight to the button", "left")


@pytest.mark.parametrize("rendering", ["plain", pytest.param("latex", marks=pytest.mark.slow)])
def test_when_the_database_cannot_be_written_the_pair_stays(
    app: AppServer, app_store: Store, database: Path, new_page: NewPage, rendering: Rendering
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page, rendering)
    with sqlite3.connect(database) as other:
        other.execute(
            "create trigger no_room before insert on answer begin select raise(abort, 'disk is full'); end"
        )
    page.keyboard.press("1")
    expect(page.get_by_role("alert").filter(has_text="Pair 1 was not saved.")).to_be_visible()
    assert "assay.db" not in page.content(), "the owner's file names are nobody's business"
    expect(page.get_by_role("heading", name="Pair 1 of ")).to_be_visible()
    with sqlite3.connect(database) as other:
        other.execute("drop trigger no_room")
    page.wait_for_timeout(500)
    page.keyboard.press("1")
    on_pair(page, 2)
    assert given(app_store, study_id) == {1: "left"}


@pytest.mark.slow
def test_a_tab_that_is_behind_takes_no_comment_back(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, first = at_the_first_pair(app, app_store, new_page)
    second = first.context.new_page()
    second.goto(first.url)
    on_pair(second, 1)
    on_screen(second).get_by_text("Comment, or report a broken pair").click()
    second.get_by_label("Comment (optional)").fill("from the second tab")
    on_screen(second).get_by_text("Report this pair as broken").click()
    settled(second)
    first.bring_to_front()
    press(first, 1, "left")
    on_pair(first, 2)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.choice, answer.comment, answer.invalid) == ("left", "from the second tab", True)


@pytest.mark.slow
def test_a_press_that_another_event_follows_is_saved(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
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
    assert given(app_store, study_id) == dict.fromkeys(range(1, 7), "left")


@pytest.mark.slow
@pytest.mark.parametrize("rendering", ["plain", "markdown"])
def test_a_slow_server_gives_exactly_one_answer(
    app: AppServer, app_store: Store, new_page: NewPage, rendering: Rendering
) -> None:
    """The server stands still while the rater presses again and again: all presses mean the pair they saw."""
    study_id, page = at_the_first_pair(app, app_store, new_page, rendering)
    with app.standing_still():
        for _ in range(3):
            page.keyboard.press("2")
            page.wait_for_timeout(400)
    on_pair(page, 2)
    assert given(app_store, study_id) == {1: "right"}
    assert len(history_of(app_store, study_id)) == 1


@pytest.mark.slow  # test_rater_texts says it at every run
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
    for number, mode in ((1, "all words"), (2, "left against right"), (3, "off")):
        on_pair(page, number)
        on_screen(page).get_by_text(mode, exact=True).click()
        settled(page)
        shown = page.locator(".assay-question, .assay-reference, .assay-card .assay-text").all()
        assert len(shown) == 4
        for text in shown:
            kept = text.evaluate(
                "e => { e = e.cloneNode(true); e.querySelectorAll('del').forEach(n => n.remove()); return e.textContent; }"
            )
            assert kept.startswith(hostile)
        page.keyboard.press("3")
    assert [url for url in asked if not url.startswith((app.url, "data:", "blob:"))] == []


@pytest.mark.slow
def test_a_note_that_cannot_be_saved_says_so(
    app: AppServer, app_store: Store, database: Path, new_page: NewPage
) -> None:
    study_id, page = at_the_first_pair(app, app_store, new_page)
    with sqlite3.connect(database) as other:
        other.execute(
            "create trigger no_room before insert on answer begin select raise(abort, 'disk is full'); end"
        )
    on_screen(page).get_by_text("Comment, or report a broken pair").click()
    settled(page)
    on_screen(page).get_by_text("Report this pair as broken").click()
    expect(on_screen(page).get_by_text("The comment or report on pair 1 was not saved.")).to_be_visible()
    expect(on_screen(page).get_by_text("This pair is reported as broken")).to_have_count(0)
    with sqlite3.connect(database) as other:
        other.execute("drop trigger no_room")
    click(page, 1, "left")  # the next event saves the note as well
    on_pair(page, 2)
    (answer,) = answers_of(app_store, study_id)
    assert (answer.choice, answer.invalid) == ("left", True)
