"""Generate in a real browser: a model behind a real server, progress without a reload, cancel, resume, files."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import ROOT, AppServer, fill, on_screen, settled
from helpers.processes.scripted_server import Body, Said, ScriptedServer
from helpers.texts.factories import study_in
from playwright.sync_api import Page, expect

from core.store import Store
from core.store.runs import item_states, list_runs

NewPage = Callable[[], Page]
SOON = 20_000


def generate_page(app: AppServer, store: Store, new_page: NewPage) -> Page:
    page = new_page()
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/generate")
    expect(page.get_by_role("heading", name="Generate")).to_be_visible(timeout=SOON)
    settled(page)
    return page


def by_server(page: Page, server: ScriptedServer) -> None:
    on_screen(page).get_by_text("A server (OpenAI-compatible)").click()
    expect(page.get_by_role("textbox", name="Address")).to_be_visible()
    settled(page)
    fill(page, "Address", server.url)
    fill(page, "Model", "tiny")


@pytest.mark.slow
def test_five_items_then_all_of_them_and_the_files(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    said: list[str] = []
    with ScriptedServer(answer) as server:
        page = generate_page(app, app_store, new_page)
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        by_server(page, server)
        fill(page, "Model", "nope")
        page.get_by_role("button", name="Preview five items").click()
        expect(on_screen(page).get_by_text("did not start")).to_be_visible(timeout=SOON)
        expect(on_screen(page).get_by_text("it has no model 'nope'; choose from tiny")).to_be_visible()
        settled(page)
        page.get_by_role("button", name="Change the settings").click()
        expect(page.get_by_role("textbox", name="Model", exact=True)).to_have_value("nope", timeout=SOON)
        settled(page)
        fill(page, "Model", "tiny")
        page.get_by_role("button", name="Preview five items").click()
        # No reload and no press: the panel looks by itself until the run is done.
        everything = page.get_by_role("button", name="Run all 14 items")
        expect(everything).to_be_visible(timeout=SOON)
        expect(on_screen(page).get_by_text("Estimate for all 14 items from the 5 above")).to_be_visible()
        settled(page)
        asked = len(server.bodies)
        assert asked > 0
        everything.click()
        expect(on_screen(page).get_by_text("14 of 14 items")).to_be_visible(timeout=SOON)
        expect(on_screen(page).get_by_text("is done")).to_be_visible(timeout=SOON)
        settled(page)
        bodies = [json.dumps(body, sort_keys=True) for body in server.bodies]
        assert len(bodies) == len(set(bodies)) > asked, "nothing is asked, and paid for, twice"
    page.get_by_role("tab", name="Items").click()
    expect(page.get_by_role("heading", name="A0 and its facts")).to_be_visible()
    expect(page.locator(".assay-fact.assay-g1")).not_to_have_count(0)
    expect(page.locator(".assay-text ins")).not_to_have_count(0)
    page.get_by_role("tab", name="Results").click()
    expect(page.get_by_role("heading", name="Downloads")).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="All files").click()
    with zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())) as archive:
        rows = json.loads(archive.read("dataset.json"))["questions"]
        assert len(rows) == 14
        assert set(rows[0]["answers"]) == {"A0", "A1", "A2", "A3", "A4"}
    requested = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [url for url in requested if not url.startswith((app.url, "data:", "blob:"))] == []
    assert said == []


@pytest.mark.slow
def test_the_way_from_two_runs_to_the_study_of_them(
    app: AppServer, app_store: Store, database: Path, tmp_path: Path, new_page: NewPage
) -> None:
    questions = ROOT / "data" / "demo" / "questions.jsonl"
    for seed in ("1", "2"):  # by command: this process already has an event loop, the browser's
        options = ["--seed", seed, "--out", str(tmp_path / seed), "--db", str(database)]
        subprocess.run(
            [sys.executable, "-m", "core", "generate", "factual", str(questions), *options],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
    study_in(app_store)  # another one, so that Studies has to be told which
    page = generate_page(app, app_store, new_page)
    page.get_by_role("combobox", name="Run", exact=True).click()
    page.get_by_role("option", name="Run 2").click()
    page.get_by_role("tab", name="Results").click()
    page.get_by_role("combobox", name="Other system").click()
    page.get_by_role("option", name="Run 1").click()
    page.get_by_role("textbox", name="Name of the study").fill("two seeds")
    page.get_by_role("button", name="Make a draft study").click()
    expect(on_screen(page).get_by_text("two seeds is a draft.")).to_be_visible(timeout=SOON)
    settled(page)
    page.get_by_role("button", name="Open the study").click()
    expect(page.get_by_role("heading", name="two seeds", level=1)).to_be_visible(timeout=SOON)
    expect(page.get_by_role("tab", name="Design", exact=True)).to_have_attribute("aria-selected", "true")


@pytest.mark.slow
def test_a_run_is_cancelled_and_resumed_and_a_rater_sees_nothing_of_it(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    def slow(body: Body, n: int) -> Said:
        return Said(answer(body), delay=0.0 if patient else 30.0)

    patient = False
    with ScriptedServer(slow) as server:
        page = generate_page(app, app_store, new_page)
        page.set_viewport_size({"width": 390, "height": 800})
        by_server(page, server)
        page.get_by_role("button", name="Preview five items").click()
        expect(on_screen(page).get_by_text("is running")).to_be_visible(timeout=SOON)
        cancel = page.get_by_role("button", name="Cancel")
        expect(cancel).to_be_enabled(timeout=SOON)
        cancel.click()
        expect(on_screen(page).get_by_text("was cancelled; finished items are saved")).to_be_visible(
            timeout=SOON
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        patient = True
        settled(page)
        page.get_by_role("button", name="Resume").click()
        expect(on_screen(page).get_by_text("is done")).to_be_visible(timeout=SOON)
    (run,) = list_runs(app_store)
    assert sorted(item_states(app_store, run.run_id).values()) == ["done"] * 5
    rater = new_page()
    rater.goto(f"{app.url}/r/{study_in(app_store).tokens['R1']}")
    expect(on_screen(rater).get_by_text("Start with three practice pairs")).to_be_visible(timeout=SOON)
    rater.goto(f"{app.url}/generate")
    expect(rater.get_by_role("heading", name="Generate")).to_have_count(0)
    settled(rater)
    assert "Preview five items" not in rater.content()
    assert "questions.jsonl" not in rater.content()
