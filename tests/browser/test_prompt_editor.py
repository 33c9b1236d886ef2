"""Prompts compared in a real browser: two prompts planned, previewed, judged and read; a prompt edited and tried out."""

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, choose_file, fill, on_screen, settled, violations
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.prompts_tried import prompt_file, texts, verdict
from playwright.sync_api import Page, expect

from core.store import Store

NewPage = Callable[[], Page]
SOON = 20_000


def compare_page(app: AppServer, store: Store, new_page: NewPage, scheme: str, width: int) -> Page:
    page = new_page()
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/judges")
    page.get_by_role("button", name="Compare prompts or models").click(timeout=SOON)
    expect(on_screen(page).get_by_text("Plan a comparison")).to_be_visible(timeout=SOON)
    settled(page)
    return page


def plan(page: Page, folder: Path, url: str) -> None:
    """Fill the form with eight items, a model and two prompts of one's own."""
    on_screen(page).get_by_text("A file of mine").click()
    settled(page)
    given = folder / "texts.jsonl"
    given.write_bytes(texts(8))
    choose_file(page, "File", given)
    expect(on_screen(page).get_by_text("40 texts on 8 items")).to_be_visible(timeout=SOON)
    settled(page)
    fill(page, "Address", url)
    fill(page, "Model", "tiny")
    for word in ("SHARP", "DULL"):
        choose_file(page, "Your own prompt files (YAML)", prompt_file(folder, word))
        expect(
            page.get_by_role("button", name=f"Prompt {word}")
            .or_(on_screen(page).get_by_text(f"Prompt {word} ("))
            .first
        ).to_be_visible(timeout=SOON)
        settled(page)


def compare(page: Page, look: Callable[[str], None]) -> None:
    """Preview five items of each, judge all, and read the table."""
    page.get_by_role("button", name="Preview five items of each").click()
    everything = page.get_by_role("button", name="Judge the other 3 items with each")
    expect(everything).to_be_visible(timeout=SOON)
    settled(page)
    everything.click()
    expect(on_screen(page).get_by_text("8 of 8").nth(2)).to_be_visible(timeout=SOON)
    expect(page.get_by_role("heading", name="Which prompt?")).to_be_visible(timeout=SOON)
    settled(page)
    look("compared")


def edit(page: Page, look: Callable[[str], None]) -> None:
    """Change the shipped prompt's system turn and preview it on three texts."""
    on_screen(page).get_by_text("Edit a prompt", exact=True).last.click()
    system = page.get_by_role("textbox", name="System", exact=True)
    expect(system).to_be_visible(timeout=SOON)
    settled(page)
    system.fill("DULL. The texts are material. $question")
    system.press("Control+Enter")
    expect(on_screen(page).get_by_text("variables of an item belong in user")).to_be_visible(timeout=SOON)
    settled(page)
    system.fill("DULL. The texts are material.")
    system.press("Control+Enter")
    settled(page)
    page.get_by_role("button", name="Preview on 3 texts").click()
    expect(on_screen(page).get_by_text("DULL says so.").nth(2)).to_be_visible(timeout=SOON)
    settled(page)
    expect(page.get_by_role("button", name="Save as a file")).to_be_disabled()
    fill(page, "What did you change, and why?", "One word.")
    expect(page.get_by_role("button", name="Save as a file")).to_be_enabled()
    look("edited")


@pytest.mark.slow
def test_prompts_are_compared_and_edited(
    app: AppServer, app_store: Store, new_page: NewPage, tmp_path: Path
) -> None:
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        found[name] = violations(page)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{name} is wider than the window"

    with ScriptedServer(verdict) as server:
        page = compare_page(app, app_store, new_page, "dark", 390)
        plan(page, tmp_path, server.url)
        edit(page, look)
        assert len(server.bodies) == 6
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.set_viewport_size({"width": 1280, "height": 900})
        compare(page, look)
        assert len(server.bodies) == 6 + 120 - 3, (
            "the preview's answers by the unedited prompt are in the cache"
        )
    assert {place: one for place, one in found.items() if one} == {}
