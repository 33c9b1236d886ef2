"""The owner's way in a real browser: import, design, raters, votes, results, downloads."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import (
    AppServer,
    choose_file,
    on_pair,
    on_screen,
    open_page,
    settled,
    through_onboarding,
)
from helpers.texts.factories import dataset, paper_json, study_in
from playwright.sync_api import Page, expect

from core.schema.study import Design
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import raters_of
from core.store.studies import find_study, list_studies, read_log
from core.study.lifecycle import import_study, move
from core.study.raters import add_raters, links

NewPage = Callable[[], Page]


def admin_page(app: AppServer, store: Store, new_page: NewPage, path: str = "studies") -> Page:
    page = new_page()
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=20_000)
    settled(page)
    return page


def upload(page: Page, name: str, data: bytes) -> None:
    choose_file(page, "File", {"name": name, "mimeType": "application/octet-stream", "buffer": data})


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    settled(page)


@pytest.mark.slow
def test_from_a_file_to_a_csv(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    page = admin_page(app, app_store, new_page)
    page.get_by_role("button", name="New study").click()
    settled(page)
    data = dataset(3, sources=("ai", "human"))
    upload(page, "answers.json", paper_json(data))
    expect(on_screen(page).get_by_text("3 questions at levels A0, A1, A2, A3, A4")).to_be_visible()
    settled(page)
    page.get_by_label("Name of the study").fill("pilot")
    page.get_by_role("button", name="Create the draft").click()
    expect(on_screen(page).get_by_text("is a draft now")).to_be_visible()
    settled(page)
    assert page.get_by_role("tab", name="Raters").get_attribute("aria-selected") == "true"
    tab(page, "Design")
    page.get_by_role("textbox", name="Seed").fill("42")
    page.get_by_role("button", name="Save this design").click()
    expect(on_screen(page).get_by_text("The design is saved.")).to_be_visible()
    settled(page)
    assert find_study(app_store, "pilot").design.seed == 42
    expect(page.get_by_role("textbox", name="Seed")).to_be_visible()  # the tab stays open over a message
    page.get_by_role("textbox", name="Seed").fill("abc")
    page.get_by_role("button", name="Save this design").click()
    expect(on_screen(page).get_by_text("is not a whole number between 0 and")).to_be_visible()

    tab(page, "Raters")
    page.get_by_role("textbox", name="New raters").fill("ann, ben")
    page.get_by_role("button", name="Add raters").click()
    expect(on_screen(page).get_by_text("Added ann, ben.")).to_be_visible()
    tab(page, "Result")
    expect(on_screen(page).get_by_text("Only previews are possible.")).to_be_visible()
    page.get_by_role("button", name="Open the study").click()
    expect(on_screen(page).get_by_text("The study is open.")).to_be_visible()
    settled(page)

    tab(page, "Raters")
    page.get_by_role("button", name="Preview as a rater").click()
    link = page.get_by_test_id("stCode").get_by_text(re.compile("^http.*/r/")).first.inner_text()
    assert link.startswith(f"{app.url}/r/"), "the link must be the app's own address"
    rater = new_page()
    through_onboarding(rater, link)
    expect(on_screen(rater).get_by_text("Preview: your answers are marked as a dry run")).to_be_visible()
    on_pair(rater, 1)
    rater.keyboard.press("1")
    on_pair(rater, 2)
    study = find_study(app_store, "pilot")
    assert study.first_vote_utc is None, "a dry run freezes nothing"
    assert [r.dry_run for r in raters_of(app_store, study.study_id)] == [False, False, True]

    tab(page, "Raters")
    on_screen(page).get_by_text("Import votes that were collected elsewhere").click()
    votes = {item.item_id: dict.fromkeys(data.levels, "AI") for item in data.items}
    given = json.dumps(votes).encode()
    choose_file(page, "Votes", {"name": "votes.json", "mimeType": "application/json", "buffer": given})
    expect(page.get_by_role("button", name="Remove votes.json")).to_be_visible()
    page.get_by_label("Pseudonym of the person who voted").fill("elsewhere")
    page.get_by_label("Pseudonym of the person who voted").blur()
    page.wait_for_timeout(500)  # a form takes no press while its file is on the way
    settled(page)
    page.get_by_role("button", name="Import votes").click()
    expect(on_screen(page).get_by_text("15 votes of elsewhere imported.")).to_be_visible(timeout=15_000)
    settled(page)
    tab(page, "Design")
    expect(on_screen(page).get_by_text("Frozen since the first vote")).to_be_visible()
    assert [e.action for e in read_log(app_store, study.study_id)][-1] == "votes imported"

    tab(page, "Export")
    expect(page.get_by_role("button", name="CSV (")).to_have_count(0)
    tab(page, "Result")
    expect(on_screen(page).get_by_text("Results stay hidden until you unblind the study.")).to_be_visible()
    page.get_by_role("button", name="Close the study").click()
    expect(on_screen(page).get_by_text("The study is closed.")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Unblind the study").click()
    expect(on_screen(page).get_by_text("Give a reason for unblinding")).to_be_visible()
    settled(page)
    page.get_by_label("Reason (required to unblind, saved in the log)").fill("all are done")
    page.get_by_role("button", name="Unblind the study").click()
    expect(on_screen(page).get_by_text("The study is unblinded.")).to_be_visible()
    results = admin_page(app, app_store, new_page, f"studies?study={study.study_id}&tab=export")
    asked = results.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [url for url in asked if not url.startswith((app.url, "data:", "blob:"))] == [], (
        "asks another host"
    )
    with results.expect_download() as csv_download:
        results.get_by_role("button", name="CSV (").click()
    rows = list(csv.DictReader(io.StringIO(Path(csv_download.value.path()).read_text("utf-8"))))
    assert len(rows) == len([a for a in answers_of(app_store, study.study_id) if a.answered]) == 16
    assert {row["dry_run"] for row in rows} == {"true", "false"}
    log = [(e.action, e.detail) for e in read_log(app_store, study.study_id)]
    assert log[-1] == ("exported", "CSV")
    assert ("unblinded", "all are done") in log


@pytest.mark.slow
def test_from_nothing_to_a_first_vote(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    """The owner's first minutes: the template, a draft, a rater, the link; and the rater's first vote."""
    page = new_page()
    sign_in(page, app_store, app.url)
    page.goto(app.url)
    page.get_by_role("button", name="New study").first.click(timeout=20_000)
    expect(on_screen(page).get_by_text("What do you ask raters?")).to_be_visible(timeout=20_000)
    settled(page)
    with page.expect_download() as template:
        page.get_by_role("button", name="Download a template (CSV)").click()
    upload(page, "replies.csv", Path(template.value.path()).read_bytes())
    expect(on_screen(page).get_by_text("What this design means")).to_be_visible(timeout=20_000)
    settled(page)
    page.get_by_role("button", name="Create the draft").click()
    expect(on_screen(page).get_by_text("is a draft now")).to_be_visible(timeout=20_000)
    tab(page, "Raters")
    page.get_by_role("textbox", name="New raters").fill("ann")
    page.get_by_role("button", name="Add raters").click()
    expect(on_screen(page).get_by_text("Added ann.")).to_be_visible()
    tab(page, "Result")
    page.get_by_role("button", name="Open the study").click()
    expect(on_screen(page).get_by_text("The study is open.")).to_be_visible()
    (study,) = list_studies(app_store)
    assert (study.asks, study.state, study.design.margin) == ("preference", "open", None)
    (link,) = links(app_store, study)
    rater = new_page()
    through_onboarding(rater, link.url(app.url))
    on_pair(rater, 1)
    expect(on_screen(rater).get_by_text("Which answer is better?")).to_be_visible()
    rater.keyboard.press("1")
    on_pair(rater, 2)
    (answer,) = answers_of(app_store, study.study_id)
    assert (answer.level, answer.choice) == ("", "left")


def test_a_bad_file_names_every_problem_and_imports_nothing(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    page = admin_page(app, app_store, new_page, "studies?study=new")
    whole = json.loads(paper_json(dataset(3, sources=("ai", "human"))))
    whole["questions"][0]["answers"]["A2"]["ai"] = 5
    del whole["questions"][1]["answers"]["A0"]
    whole["questions"][2]["ground_truth"] = None
    upload(page, "broken.json", json.dumps(whole).encode())
    problems = page.get_by_test_id("stCode").inner_text()
    for place in ("question q00, level A2, system ai", "question q01, level A0", "question q02"):
        assert place in problems
    expect(page.get_by_role("button", name="Create the draft")).to_have_count(0)
    assert list_studies(app_store) == []


@pytest.mark.slow
def test_the_admin_stays_signed_in_over_pages_and_reloads(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    page = admin_page(app, app_store, new_page)
    open_page(page, "Metrics")
    expect(page.get_by_role("heading", name="Metrics", level=1)).to_be_visible()
    settled(page)
    page.reload()
    expect(page.get_by_role("heading", name="Metrics", level=1)).to_be_visible(timeout=20_000)
    stranger = new_page()
    stranger.goto(f"{app.url}/studies?study=1")
    expect(on_screen(stranger).get_by_text("This page is for the people who run the study.")).to_be_visible(
        timeout=20_000
    )


@pytest.mark.slow
def test_results_show_the_study_that_was_chosen_and_link_to_the_methods(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    for name in ("older", "newer"):
        study_in(app_store, name=name, state="unblinded")
    page = admin_page(app, app_store, new_page)
    page.get_by_role("link", name="older").click()
    expect(page.get_by_role("heading", name="older", level=1)).to_be_visible()
    settled(page)
    assert page.url.endswith("/studies?study=1")
    address = page.get_by_role("link", name="How it is computed").first.get_attribute("href")
    reader = new_page()  # the methods need no sign-in: they hold nothing of a study
    reader.goto(f"{app.url}/{address}")
    expect(reader.get_by_role("heading", name="The answer", exact=True)).to_be_visible(timeout=20_000)


@pytest.mark.slow
def test_guidelines_edited_by_the_owner_are_what_a_rater_reads(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study = import_study(app_store, "words", dataset(2), Design(candidate="ai", comparator="human"))
    (link,) = add_raters(app_store, study, ["ann"])
    move(app_store, study, "open")
    place = f"studies?study={study.study_id}&tab=design&part=what-raters-read"
    page = admin_page(app, app_store, new_page, place)
    words = page.get_by_label("Guidelines (Markdown)")
    words.fill("Written by a human, so look out.")
    page.get_by_role("button", name="Save guidelines").click()
    expect(on_screen(page).get_by_text("the text names the system 'human'")).to_be_visible()
    settled(page)
    words.fill("Read slowly, then choose.")
    page.get_by_role("button", name="Save guidelines").click()
    expect(on_screen(page).get_by_text("The guidelines in en are saved.")).to_be_visible()
    rater = new_page()
    rater.goto(link.url(app.url))
    expect(on_screen(rater).get_by_text("Read slowly, then choose.")).to_be_visible(timeout=20_000)
    asked = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [url for url in asked if not url.startswith((app.url, "data:", "blob:"))] == [], (
        "asks another host"
    )


def test_the_address_of_the_start_page_opens_it(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    page = new_page()
    sign_in(page, app_store, app.url)
    for path in ("start", ""):
        page.goto(f"{app.url}/{path}")
        expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible(timeout=20_000)
        settled(page)
        expect(page.get_by_role("dialog")).to_have_count(0)
