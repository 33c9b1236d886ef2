"""The whole loop in one app: a person marks errors in a browser, and they become the examples of a judge.

By page and by command: both judges are shown the same examples and mark the same errors.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import ROOT, AppServer, choose_file, on_screen, open_tab, settled
from playwright.sync_api import Page, expect
from text_visit import on_text, saved, the_text

from core.judges.automqm import AutoMqmRecord
from core.runs.judging import judge_output
from core.runs.path import saved_run
from core.runs.records import read_judge_folder
from core.schema.scores import ErrorSpan, JudgedText
from core.store import Store
from core.store.runs import list_runs
from core.store.studies import find_study
from core.study.analysis_set import released_record
from core.study.raters import links
from core.study.ratings import rated_texts_of

NewPage = Callable[[], Page]
SOON = 20_000
NAME = "whole loop"
TEXTS = {
    ("q1", "alpha"): "Wrong rivers run wrong ways.",
    ("q1", "beta"): "Blue rivers run wrong ways.",
    ("q2", "alpha"): "Wrong towns lie here.",
    ("q2", "beta"): "Small towns lie here.",
}
"""The rater marks a word in each, but in the last, by mouse or by keyboard."""
MARKED = {
    ("q1", "alpha"): (ErrorSpan(0, 5, "major", "accuracy/omission", 5.0),),
    ("q1", "beta"): (ErrorSpan(16, 21, "minor", "fluency/grammar", 1.0),),
    ("q2", "alpha"): (ErrorSpan(0, 5, "minor", "fluency/grammar", 1.0),),
    ("q2", "beta"): (),
}
PARROT = {
    ("q1", "alpha"): [(17, 22, "minor")],
    ("q1", "beta"): [],  # "Wrong" stands nowhere in it, "wrong" does
    ("q2", "alpha"): [],
    ("q2", "beta"): [],
}
"""What copying the other system's errors letter by letter marks: "wrong" of beta's text in alpha's, and no more."""


def imported(page: Page, app: AppServer, file: Path) -> None:
    """The admin makes the study, adds a rater, opens it."""
    rows = "".join(
        f"{item},{system},What is said of {item}?,{text}\n" for (item, system), text in TEXTS.items()
    )
    file.write_text(f"item_id,system,source,text\n{rows}", "utf-8")
    page.goto(f"{app.url}/studies?study=new")
    on_screen(page).get_by_text("How good is each text?").click(timeout=SOON)
    settled(page)
    choose_file(page, "File", file)
    expect(on_screen(page).get_by_text("4 texts of 2 sources by 2 systems")).to_be_visible(timeout=SOON)
    settled(page)
    page.get_by_role("combobox", name="Task").click()
    page.get_by_role("option", name="(mqm)").click()
    settled(page)
    page.get_by_role("textbox", name="Name of the study").fill(NAME)
    page.get_by_role("button", name="Create the draft").click()
    expect(on_screen(page).get_by_text("is a draft now")).to_be_visible(timeout=SOON)
    open_tab(page, "Raters")
    page.get_by_role("textbox", name="New raters, separated by commas").fill("ann")
    page.get_by_role("button", name="Add raters").click()
    expect(on_screen(page).get_by_text("Added ann")).to_be_visible()
    open_tab(page, "Result")
    page.get_by_role("button", name="Open the study").click()
    settled(page)


def marked(page: Page) -> None:
    """Mark what is to be marked in the text on the screen: the first word by mouse, another by keyboard."""
    text = the_text(page).inner_text()
    ((place, spans),) = [(place, spans) for place, spans in MARKED.items() if TEXTS[place] == text]
    if not spans:
        page.get_by_label("No errors in this text").check()
        return
    (span,) = spans
    if place == ("q2", "alpha") or span.start:
        the_text(page).focus()
        page.keyboard.press("Home")
        for _ in range(span.start):
            page.keyboard.press("ArrowRight")
        for _ in range(span.end - span.start):
            page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("1")
        page.keyboard.type("gramm")
        page.keyboard.press("Enter")
    else:
        the_text(page).dblclick(position={"x": 15, "y": 25})
        page.locator(".assay-marker-bar").get_by_role("button", name=span.severity).click()
        page.get_by_label("Category of the error").select_option(span.category)
        page.get_by_role("button", name="Mark", exact=True).click()


def rated(page: Page, link: str) -> None:
    """A rater's whole way: guidelines, four texts, the lock."""
    page.goto(link)
    page.get_by_role("button", name="Start").click(timeout=SOON)
    for number in range(1, len(TEXTS) + 1):
        on_text(page, number)
        marked(page)
        saved(page)
        page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", name="All texts are answered")).to_be_visible(timeout=SOON)
    settled(page)
    page.get_by_role("button", name="Lock my answers").click()
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible(timeout=SOON)


def unblinded(page: Page, app: AppServer) -> None:
    """The admin ends the study, by page."""
    page.goto(f"{app.url}/studies?study=1")
    page.get_by_role("button", name="Close the study").click(timeout=SOON)
    settled(page)
    page.get_by_label("Reason (required to unblind, saved in the log)").fill("all are done")
    page.get_by_role("button", name="Unblind the study").click()
    expect(on_screen(page).get_by_text("The study is unblinded.", exact=True)).to_be_visible(timeout=SOON)
    settled(page)


def parrot_asked(page: Page, app: AppServer) -> None:
    """The study's ratings become a Parrot's examples, by page."""
    page.goto(f"{app.url}/specialist")
    on_screen(page).get_by_text("An unblinded rating study").click(timeout=SOON)
    expect(
        on_screen(page).get_by_text("4 texts on 2 items by 2 systems; 4 of them rated by 1 rater.")
    ).to_be_visible(timeout=SOON)
    settled(page)
    page.get_by_role("button", name="Judge all 2 items").click()
    expect(on_screen(page).get_by_text("is done")).to_be_visible(timeout=SOON)
    settled(page)


def found(texts: tuple[JudgedText, ...]) -> dict[tuple[str, str], list[tuple[int | None, int | None, str]]]:
    return {
        (one.row.item_id, one.row.system): [
            (error.start, error.end, error.severity) for error in one.record.trials[0].errors or ()
        ]
        for one in texts
        if isinstance(one.record, AutoMqmRecord)
    }


@pytest.mark.slow
def test_marks_of_a_rater_become_examples_by_page_and_by_command(
    app: AppServer, app_store: Store, new_page: NewPage, tmp_path: Path, database: Path
) -> None:
    admin = new_page()
    sign_in(admin, app_store, app.url)
    imported(admin, app, tmp_path / "texts.csv")
    (link,) = links(app_store, find_study(app_store, NAME))
    rated(new_page(), link.url(app.url))
    unblinded(admin, app)
    study = find_study(app_store, NAME)
    given = {
        (text.output.item_id, text.output.system): text.ratings[0].spans
        for text in rated_texts_of(released_record(app_store, study))
    }
    assert given == MARKED

    parrot_asked(admin, app)
    open_tab(admin, "Spans")
    admin.get_by_role("combobox", name="System").click()
    admin.get_by_role("option", name="alpha").click()
    settled(admin)
    admin.get_by_role("textbox", name="Search in item, source and text").fill("q1")
    admin.keyboard.press("Enter")
    settled(admin)
    person, judge = admin.locator(".assay-card", has_text="rivers").all()[:2]
    expect(person).to_contain_text("People: ann")
    expect(person).to_contain_text("1. Wrong: major, accuracy/omission, missed by the judge")
    expect(judge).to_contain_text("1. wrong: minor, fluency/grammar, not marked by people")
    on_screen(admin).get_by_text("Examples used: 1").click()
    expect(on_screen(admin).get_by_text("beta, item q1, rated by ann")).to_be_visible()
    assert on_screen(admin).get_by_text("alpha, item").count() == 0

    (run,) = list_runs(app_store, ("automqm",))
    by_page = judge_output(saved_run(app_store, run))
    assert found(by_page.texts) == PARROT
    for text in by_page.texts:
        assert isinstance(text.record, AutoMqmRecord)
        (example,) = text.record.trials[0].examples
        assert (example.item_id, example.rater) == (text.row.item_id, "ann")
        assert {example.system, text.row.system} == {"alpha", "beta"}
    out = tmp_path / "out"
    asked = ["judge", "automqm", f"study:{NAME}", "--backend", "rules", "--out", str(out)]
    command = [sys.executable, "-m", "core", *asked, "--db", str(database)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    by_command = read_judge_folder(out)
    assert [one.record for one in by_command.texts] == [one.record for one in by_page.texts]
    assert [one.row for one in by_command.texts] == [one.row for one in by_page.texts]
