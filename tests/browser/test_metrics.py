"""Metrics in a real browser: from generated texts to a scatter that grows by itself, and pictures to take away."""

import csv
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import ROOT, AppServer, on_screen, settled
from playwright.sync_api import Download, Page, expect

from core.metrics.kind import ScoringRunning
from core.runs.asked import asked_of
from core.runs.path import create
from core.schema.runs import Run, RunItem
from core.store import Store
from core.store.kept import keep_run_metrics, run_metrics
from core.store.runs import Owner, claim_run, finish_run, get_run, list_runs, run_data, run_items, save_items

NewPage = Callable[[], Page]
SOON = 20_000


@pytest.fixture
def scored(app_store: Store, database: Path) -> Run:
    """The demo's questions damaged by rules and scored: by command, because this process has an event loop already."""
    questions = str(ROOT / "data" / "demo" / "questions.jsonl")
    folder = database.parent / "out"
    core = [sys.executable, "-m", "core"]
    for command in (
        ["generate", "damage", questions, "--out", str(folder)],
        ["score", "run:1", "--synonyms", "none", "--out", str(folder / "scores.csv")],
    ):
        subprocess.run([*core, *command, "--db", str(database)], cwd=ROOT, check=True, capture_output=True)
    return get_run(app_store, 2)


def metrics_page(app: AppServer, store: Store, new_page: NewPage, tab: str) -> Page:
    page = new_page()
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/metrics")
    page.get_by_role("tab", name=tab, exact=True).click(timeout=SOON)
    settled(page)
    return page


def downloaded(page: Page, press: Callable[[], None]) -> Download:
    with page.expect_download(timeout=SOON) as begun:
        press()
    return begun.value


def title_of(page: Page) -> str:
    return page.locator(".gtitle").first.text_content(timeout=SOON) or ""


def half_done(store: Store, model: Run) -> tuple[Run, Owner, Iterator[RunItem]]:
    """Another run of the same texts that this process works on; half of its items are there."""
    data = run_data(store, model.run_id)
    run = create(store, data, model.data_file, asked_of(model), ScoringRunning())[0].run
    keep_run_metrics(store, run.run_id, run_metrics(store, model.run_id))
    owner = claim_run(store, run.run_id, os.getpid())
    items = run_items(store, model.run_id)
    for item in (next(items) for _ in range(model.n_items // 2)):
        save_items(store, run.run_id, [item], owner)
    return run, owner, items


@pytest.mark.slow
def test_the_scatter_names_metrics_grows_by_itself_and_can_be_taken_away(
    app: AppServer, app_store: Store, new_page: NewPage, scored: Run, tmp_path: Path
) -> None:
    run, owner, rest = half_done(app_store, scored)
    page = metrics_page(app, app_store, new_page, "Meta-correlation")
    page.locator("label").filter(has_text=re.compile("^Published$")).first.click(timeout=SOON)
    page.get_by_role("combobox", name="Column").first.click(timeout=SOON)
    page.get_by_role("option", name="published:cus-qa-cs-en", exact=True).click(timeout=SOON)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    half = title_of(page)
    assert "16 metrics" in half
    assert "over items" in half
    for item in rest:  # nobody presses anything
        save_items(app_store, run.run_id, [item], owner)
    finish_run(app_store, run.run_id, "done", owner=owner)
    expect(page.locator(".gtitle").first).not_to_have_text(half, timeout=SOON)
    settled(page)
    expect(page.get_by_role("combobox", name="Scores").first).to_have_value(
        re.compile(rf"Run {run.run_id} \(done\)"), timeout=SOON
    )
    whole = title_of(page)

    page.locator(".js-plotly-plot .point").first.hover(force=True)
    expect(page.locator(".hoverlayer")).to_contain_text("human", timeout=SOON)
    expect(page.locator(".hoverlayer")).to_contain_text("bleu-1")

    page.get_by_test_id("stPopover").first.get_by_role("button").click()
    table = downloaded(page, page.get_by_role("button", name="CSV").first.click)
    rows = list(csv.DictReader(Path(table.path()).read_text("utf-8-sig").splitlines()))
    assert sum(not row["dropped_because"] for row in rows) == 16
    assert {row["metric"] for row in rows if row["dropped_because"]} >= {"comet-wmt22-da"}

    own = downloaded(page, page.get_by_role("button", name="HTML").first.click)
    page.keyboard.press("Escape")
    copy = tmp_path / "figure.html"
    own.save_as(copy)
    other = new_page()
    wanted: list[str] = []
    other.on("request", lambda request: wanted.append(request.url))
    other.goto(copy.as_uri())
    assert title_of(other) == whole
    assert wanted == [copy.as_uri()], "it needs no network"

    page.get_by_role("tab", name="Correlations", exact=True).click()
    expect(page.locator("[data-testid=stDataFrame]").first).to_be_visible(timeout=SOON)
    expect(page.get_by_label("Download as CSV", exact=True)).to_be_hidden()
    page.get_by_role("tab", name="Meta-correlation", exact=True).click()

    page.locator(".js-plotly-plot").first.hover()
    picture = downloaded(page, page.locator(".modebar-btn").first.click)
    assert picture.suggested_filename == "assay-meta-correlation.png"
    assert Path(picture.path()).read_bytes().startswith(b"\x89PNG")
    assert all(url.startswith((app.url, "blob:", "data:")) for url in asked), (
        "nothing is fetched from outside"
    )


@pytest.mark.slow
def test_generated_texts_are_scored_from_the_page_generate(
    app: AppServer, app_store: Store, new_page: NewPage, scored: Run
) -> None:
    page = new_page()
    sign_in(page, app_store, app.url)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{app.url}/generate")
    page.get_by_role("combobox", name="Run", exact=True).click(timeout=SOON)
    page.get_by_role("option", name="Run 1").click()
    page.get_by_role("tab", name="Results").click()
    page.get_by_role("button", name="Score these texts").click(timeout=SOON)
    expect(page.get_by_role("heading", name="Metrics", level=1)).to_be_visible(timeout=SOON)
    expect(on_screen(page).get_by_text("84 texts on 14 items by rules")).to_be_visible(timeout=SOON)
    settled(page)
    page.get_by_role("button", name="Score with 16 metrics").click()
    # A process of its own, and no reload: the panel looks by itself.
    expect(on_screen(page).get_by_text("is done")).to_be_visible(timeout=3 * SOON)
    expect(on_screen(page).get_by_text("14 of 14 items")).to_be_visible()
    settled(page)
    for tab in ("Correlations", "Levels", "Meta-correlation", "Published"):
        page.get_by_role("tab", name=tab, exact=True).click()
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, tab
        expect(page.locator("[data-testid=stException]")).to_have_count(0)
    assert [run.state for run in list_runs(app_store, ("scores",))] == ["done", "done"]
