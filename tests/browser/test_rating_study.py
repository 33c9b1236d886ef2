"""A rater's whole way through a rating study in a real browser, and what reaches it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, choose_file, on_screen, open_tab, settled, violations
from playwright.sync_api import Browser, Page, expect
from text_visit import (
    CHANCE,
    ITEM,
    LEVEL,
    SYSTEMS,
    WHY,
    NewPage,
    comes_to_hold,
    given,
    on_text,
    rating_study,
    saved,
    texts,
    the_text,
)
from wire import Wire

from core.formats.tasks import find_task
from core.schema.scores import PROBABILITY
from core.schema.study import Dimension, RatingTask, SpanTask
from core.store import Store
from core.store.raters import rater_of_token
from core.store.studies import inclusion_of, list_studies
from core.study.blinding import open_rating_desk
from core.study.lifecycle import move
from core.study.raters import links
from pages.widgets.own import NOT_RATED

SAID = {
    "First question?": ["One answer here.", "Another answer here."],
    "Second question?": ["A third answer.", "A fourth answer."],
}
BOTH = RatingTask(
    "both",
    "Score and mark",
    "none",
    "none",
    "made for a test",
    dimensions=(
        Dimension("F", "Fluency", "Does it read well?", 0, 2, anchors=((0, "no"), (1, "partly"), (2, "yes"))),
        Dimension("overall", "Overall", "How good is it?", 0, 100, 0),
    ),
    spans=SpanTask(("minor", "major"), ("accuracy/omission", "fluency/grammar")),
)


def past_the_guide(page: Page, link: str, said: str) -> None:
    """To the first text, by the guide that says so much."""
    page.goto(link)
    expect(on_screen(page).get_by_text(said)).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Start").click()
    on_text(page, 1)


def go_on(page: Page) -> None:
    page.get_by_role("button", name="Save and go on").click()


def mark_a_word(page: Page, severity: str, category: str) -> None:
    the_text(page).dblclick(position={"x": 30, "y": 25})
    page.locator(".assay-marker-bar").get_by_role("button", name=severity).click()
    page.get_by_label("Category of the error").select_option(category)
    page.get_by_role("button", name="Mark", exact=True).click()
    saved(page)


def score(page: Page, value: int) -> None:
    page.get_by_role("spinbutton").fill(str(value))


def test_scores_and_marks_are_saved_at_once_and_nothing_is_forgotten(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    """Guidelines to lock; no byte names system, level, item or file."""
    study_id, link = rating_study(app_store, app.url, texts(SAID), BOTH, onboarded=False)
    page = new_page()
    wire = Wire().watch(page)
    past_the_guide(page, link, "Marking errors by keyboard.")
    expect(on_screen(page).get_by_text("Text 1 of 2 for this source")).to_be_visible()
    go_on(page)
    expect(on_screen(page).get_by_text("Still missing")).to_be_visible()
    page.get_by_role("button", name="2: yes").click()
    comes_to_hold(app_store, study_id, 1, {"F": 2})
    page.get_by_label("No errors in this text").check()
    saved(page)
    assert given(app_store, study_id)[1].no_errors
    score(page, 71)
    go_on(page)  # the number arrives with the press
    on_text(page, 2)
    first = given(app_store, study_id)[1]
    assert (first.done, first.scores) == (True, {"F": 2, "overall": 71})

    mark_a_word(page, "minor", "fluency/grammar")
    score(page, 40)
    page.get_by_role("spinbutton").press("Tab")
    settled(page)
    page.reload()
    on_text(page, 2)
    expect(page.get_by_role("spinbutton")).to_have_value("40")
    expect(page.get_by_role("button", name="Show error 1")).to_be_visible()
    page.get_by_role("button", name="1: partly").click()
    settled(page)
    go_on(page)
    on_text(page, 3)
    second = given(app_store, study_id)[2]
    assert second.done
    assert len(second.spans) == 1
    assert second.scores == {"F": 1, "overall": 40}

    on_screen(page).get_by_text("Comment, or report a broken text").click()
    on_screen(page).get_by_text("Report this text as broken").click()
    settled(page)
    go_on(page)  # a broken text needs no scores
    on_text(page, 4)
    assert given(app_store, study_id)[3].invalid
    page.get_by_role("button", name="0: no").click()
    settled(page)
    score(page, 5)
    page.get_by_label("No errors in this text").check()
    saved(page)
    go_on(page)
    expect(page.get_by_role("heading", name="All texts are answered")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Lock my answers").click()
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    wire.add_document(page)
    everything = wire.everything()
    assert b"answer here" in everything
    assert {one.probability for one in inclusion_of(app_store, study_id)} == {float(CHANCE)}
    secrets = (*SYSTEMS, LEVEL, ITEM, CHANCE, PROBABILITY, WHY, "secret-file", "ratings in a browser")
    assert not [secret for secret in secrets if secret.encode() in everything]


@pytest.mark.slow
def test_a_factual_error_is_judged_by_the_reference_and_a_slider_holds_no_answer_at_first(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    """Question, reference and answer stand in this order; what the slider and its box say is one answer."""
    outputs = texts({"Who found Titan?": ["Huygens did, in 1665.", "Cassini did."]})
    told = tuple(replace(one, reference="Huygens, in 1655.") for one in outputs.outputs)
    study_id, link = rating_study(
        app_store, app.url, replace(outputs, outputs=told), "factual-errors", onboarded=False
    )
    page = new_page()
    wire = Wire().watch(page)
    past_the_guide(page, link, "number or date: ")
    expect(on_screen(page).get_by_text("Text 1 of 2 for this question")).to_be_visible()
    headings = ("Question", "Reference (taken as correct)", "Answer")
    tops = [on_screen(page).get_by_text(name, exact=True).bounding_box() for name in headings]
    assert sorted(tops, key=lambda box: box["y"]) == tops  # type: ignore[index]  # each is on the screen
    assert on_screen(page).get_by_text("Source", exact=True).count() == 0
    mark_a_word(page, "major", "number or date")

    slider, number = page.get_by_role("slider"), page.get_by_role("spinbutton")
    expect(slider).to_have_attribute("aria-valuetext", NOT_RATED)
    expect(number).to_have_value("")
    go_on(page)
    expect(on_screen(page).get_by_text("Still missing")).to_be_visible()
    settled(page)
    assert given(app_store, study_id)[1].scores == {}
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(number).to_have_value("0")
    expect(slider).to_be_focused()
    page.keyboard.press("PageUp")
    expect(number).to_have_value("10")
    comes_to_hold(app_store, study_id, 1, {"overall": 10})
    number.fill("33")
    number.press("Tab")
    expect(slider).to_have_attribute("aria-valuetext", "33")
    settled(page)
    # Away from the button that is always in sight.
    slider.evaluate("one => one.scrollIntoView({block: 'center'})")
    track = slider.bounding_box()
    assert track is not None
    middle = track["y"] + track["height"] / 2
    page.mouse.move(track["x"] + track["width"] * 0.33, middle)
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"] * 0.7, middle, steps=10)
    page.mouse.up()
    go_on(page)  # a press right after the slider was let go
    on_text(page, 2)
    first = given(app_store, study_id)[1]
    assert first.done
    assert 60 <= first.scores["overall"] <= 80
    assert [one.category for one in first.spans] == ["number or date"]
    page.get_by_role("button", name="Back").click()
    on_text(page, 1)
    expect(number).to_have_value(f"{first.scores['overall']:g}")
    expect(slider).to_have_attribute("aria-valuetext", f"{first.scores['overall']:g}")
    wire.add_document(page)
    everything = wire.everything()
    assert b"Huygens, in 1655." in everything
    assert not [name for name in (*SYSTEMS, LEVEL, ITEM, "secret-file") if name.encode() in everything]


@pytest.mark.slow
def test_what_a_slider_and_its_box_hold(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    """The lowest answer can be pressed, what is written is saved before the box is left, nonsense is refused there."""
    study_id, link = rating_study(app_store, app.url, texts(SAID), "direct")
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    slider, number = page.get_by_role("slider"), page.get_by_role("spinbutton")
    slider.click(position={"x": 2, "y": 10})
    expect(number).to_have_value("0")
    expect(page.locator(".assay-status", has_text="0 saved")).to_be_visible()
    assert given(app_store, study_id)[1].scores == {"overall": 0}
    number.press_sequentially("7")
    expect(page.locator(".assay-status", has_text="7 saved")).to_be_visible()
    expect(number).to_be_focused()
    number.fill("707")
    number.press("Enter")
    expect(on_screen(page).get_by_text("Not saved. Write a number from 0 to 100.")).to_be_visible()
    settled(page)
    assert given(app_store, study_id)[1].scores == {"overall": 7}
    number.fill("70.5")
    expect(page.locator(".assay-status", has_text="70.5 saved")).to_be_visible()
    page.reload()
    on_text(page, 1)
    expect(number).to_have_value("70.5")
    expect(slider).to_have_attribute("aria-valuetext", "70.5")
    number.fill("")
    expect(slider).to_have_attribute("aria-valuetext", NOT_RATED)
    settled(page)
    assert given(app_store, study_id)[1].scores == {}


@pytest.mark.slow
def test_it_goes_on_elsewhere_and_after_a_restart(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study_id, link = rating_study(app_store, app.url, texts(SAID), "direct")
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    score(page, 12)
    go_on(page)
    on_text(page, 2)
    app.kill()
    app.start()
    page.wait_for_timeout(3000)  # the tab reconnects by itself
    score(page, 34)
    go_on(page)
    on_text(page, 3)
    elsewhere = new_page()
    elsewhere.goto(link)
    on_text(elsewhere, 3)
    elsewhere.get_by_role("button", name="Skip, ask me later").click()
    on_text(elsewhere, 4)
    score(elsewhere, 56)
    go_on(elsewhere)
    on_text(elsewhere, 3)  # the skipped one comes back
    assert {n: dict(a.scores) for n, a in given(app_store, study_id).items() if a.done} == {
        1: {"overall": 12},
        2: {"overall": 34},
        4: {"overall": 56},
    }


@pytest.mark.slow
def test_keys_answer_a_single_dimension_once(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    one = RatingTask(
        "one", "One", "none", "none", "made for a test", dimensions=find_task("multilingual").dimensions[:1]
    )
    study_id, link = rating_study(app_store, app.url, texts(SAID), one)
    page = new_page()
    page.goto(link)
    on_text(page, 1)
    page.keyboard.press("3")
    comes_to_hold(app_store, study_id, 1, {"LA": 2})
    go_on(page)
    page.wait_for_timeout(60)
    page.mouse.down()
    page.mouse.up()  # a double press: the second text is not done, and says nothing of it
    on_text(page, 2)
    assert set(given(app_store, study_id)) == {1}
    expect(on_screen(page).get_by_text("Still missing")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_raters_way_has_no_violation(
    app: AppServer, app_store: Store, browser: Browser, scheme: str, width: int
) -> None:
    """axe-core on every screen; ASSAY_PICTURES names a folder for pictures to look at."""
    _, link = rating_study(app_store, app.url, texts(SAID), BOTH, onboarded=False)
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    found: dict[str, list[str]] = {}

    def check(place: str) -> None:
        settled(page)
        page.wait_for_timeout(300)
        found[place] = violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, place
        if folder := os.environ.get("ASSAY_PICTURES"):
            page.screenshot(path=Path(folder) / f"{scheme}-{width}-{place}.png", full_page=True)

    try:
        page = context.new_page()
        page.goto(link)
        expect(page.get_by_role("button", name="Start")).to_be_visible(timeout=20_000)
        check("guide")
        page.get_by_role("button", name="Start").click()
        on_text(page, 1)
        check("text")
        the_text(page).dblclick(position={"x": 30, "y": 25})
        page.locator(".assay-marker-bar").get_by_role("button", name="major").click()
        check("marking")
        page.get_by_label("Category of the error").select_option("accuracy/omission")
        page.get_by_role("button", name="Mark", exact=True).click()
        saved(page)
        page.get_by_role("button", name="Show error 1").click()
        page.get_by_role("button", name="1: partly").click()
        check("marked")
        page.get_by_role("button", name="Overview and finish").click()
        expect(page.get_by_role("heading", name="Your texts")).to_be_visible()
        check("list")
    finally:
        context.close()
    assert {place: list_ for place, list_ in found.items() if list_} == {}


@pytest.mark.slow
def test_an_owner_makes_a_rating_study_by_page(
    app: AppServer, app_store: Store, new_page: NewPage, tmp_path: Path
) -> None:
    """Import, raters, ratings, unblinding, results and a download."""
    file = tmp_path / "texts.csv"
    file.write_text(
        "item_id,system,source,text\nq1,alpha,Was ist das?,What is that\nq1,beta,Was ist das?,Who is it\n",
        "utf-8",
    )
    page = new_page()
    sign_in(page, app_store, app.url)
    page.goto(f"{app.url}/studies?study=new")
    on_screen(page).get_by_text("How good is each text?").click(timeout=20_000)
    expect(page.get_by_role("combobox", name="Task")).to_be_visible()
    settled(page)
    choose_file(page, "File", file)
    expect(on_screen(page).get_by_text("2 texts of 1 source by 2 systems")).to_be_visible(timeout=20_000)
    settled(page)
    assert violations(page) == []
    page.get_by_role("button", name="Create the draft").click()
    expect(on_screen(page).get_by_text("is a draft now")).to_be_visible()
    (study,) = list_studies(app_store)
    assert study.kind == "ratings"
    open_tab(page, "Design")
    expect(on_screen(page).get_by_text("Raters see neither system nor level")).to_be_visible()
    open_tab(page, "Raters")
    page.get_by_role("textbox", name="New raters, separated by commas").fill("ann")
    page.get_by_role("button", name="Add raters").click()
    expect(on_screen(page).get_by_text("Added ann")).to_be_visible()
    open_tab(page, "Design")
    for part in ("What raters read", "Log"):
        page.get_by_role("radio", name=part).click()
        settled(page)
        assert on_screen(page).get_by_text("Traceback").count() == 0
    open_tab(page, "Result")
    page.get_by_role("button", name="Open the study").click()
    settled(page)
    (link,) = links(app_store, study)
    assert rater_of_token(app_store, link.token) is not None
    desk = open_rating_desk(app_store, link.token)
    assert desk is not None
    for number in (1, 2):
        if desk.task.spans:
            desk.save_spans(number, (), True)
        desk.save_scores(number, {one.name: one.lowest for one in desk.task.dimensions})
        desk.complete(number, seconds=3.0)
    for state in ("closed", "unblinded"):
        move(app_store, list_studies(app_store)[0], state, "the test is over")
    page.goto(f"{app.url}/studies?study={study.study_id}")
    expect(on_screen(page).get_by_text("2 of 2", exact=True)).to_be_visible(timeout=20_000)
    settled(page)
    expect(page.get_by_role("table").first).to_contain_text("beta")
    assert violations(page) == []
    open_tab(page, "Export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Rated texts (assay-rated-texts.jsonl)").click()
    assert '"alpha"' in Path(download.value.path()).read_text("utf-8")
