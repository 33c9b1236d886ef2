"""Judges in a real browser: five items, what all will cost, all of them, and what was said of a text."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import (
    AppServer,
    choose_file,
    fill,
    on_screen,
    open_tab,
    settled,
    violations,
)
from helpers.processes.scripted_server import Body, ScriptedServer
from playwright.sync_api import Page, expect

from core.store import Store

NewPage = Callable[[], Page]
SOON = 20_000
HOSTILE = (
    '<img src="http://outside.invalid/x.png" onerror="alert(1)"> **bold** ![i](http://outside.invalid/y.png)'
)
TABS = ("Progress", "Scores", "Texts", "Judges", "Reliability", "Cost", "Files")


def texts(folder: Path, n_items: int = 7) -> Path:
    """Texts at three levels: as the reference, with one other sentence, with another text."""
    rows = [
        {
            "item": f"q{n}",
            "system": "s",
            "level": str(level),
            "text": text,
            "reference": whole,
            "source": "What?",
        }
        for n in range(n_items)
        for whole in [f"The tower has {n + 3} floors. It is old."]
        for level, text in enumerate(
            [whole, f"The tower has {n + 3} floors. Nobody knows.", "Elsewhere it rains."]
        )
    ]
    path = folder / "texts.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def judges_page(app: AppServer, store: Store, new_page: NewPage) -> Page:
    page = new_page()
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/judges")
    expect(page.get_by_role("heading", name="Judges", exact=True)).to_be_visible(timeout=SOON)
    settled(page)
    return page


def give_texts(page: Page, path: Path) -> None:
    on_screen(page).get_by_text("A file of mine").click()
    settled(page)
    choose_file(page, "File", path)
    expect(on_screen(page).get_by_text("21 texts on 7 items by s, levels 0, 1, 2.")).to_be_visible(
        timeout=SOON
    )
    settled(page)


def hostile(body: Body, n: int) -> str:
    """As the well-behaved model, with feedback that wants to be more than text."""
    said = answer(body, n)
    return json.dumps({**json.loads(said), "feedback": HOSTILE}) if '"feedback"' in said else said


@pytest.mark.slow
def test_five_items_then_all_of_them_and_what_was_said(
    app: AppServer, app_store: Store, new_page: NewPage, tmp_path: Path
) -> None:
    said: list[str] = []
    with ScriptedServer(hostile) as server:
        page = judges_page(app, app_store, new_page)
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        give_texts(page, texts(tmp_path))
        fill(page, "Address", server.url)
        fill(page, "Model", "tiny")
        page.get_by_role("button", name="Preview five items").click()
        everything = page.get_by_role("button", name="Run all 7 items")
        expect(everything).to_be_visible(timeout=SOON)
        expect(on_screen(page).get_by_text("Estimate for all 7 items from the 5 above")).to_be_visible()
        settled(page)
        assert len(server.bodies) == 15
        everything.click()
        expect(on_screen(page).get_by_text("7 of 7 items")).to_be_visible(timeout=SOON)
        expect(on_screen(page).get_by_text("is done")).to_be_visible(timeout=SOON)
        settled(page)
        assert len(server.bodies) == 21, "nothing is asked, and paid for, twice"
    open_tab(page, "Texts")
    expect(on_screen(page).get_by_text(HOSTILE)).to_be_visible()
    expect(on_screen(page).get_by_text("verdict 1")).to_be_visible()
    requested = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [url for url in requested if not url.startswith((app.url, "data:", "blob:"))] == []
    assert said == []


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_part_fits_the_window_and_can_be_read(
    app: AppServer, app_store: Store, new_page: NewPage, tmp_path: Path, scheme: str, width: int
) -> None:
    page = judges_page(app, app_store, new_page)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 844})
    settled(page)
    give_texts(page, texts(tmp_path))
    on_screen(page).get_by_text("Claims", exact=True).click()
    settled(page)
    on_screen(page).get_by_text("Rules: no model, no cost").last.click()  # the first is of the form for twins
    settled(page)
    found = {"form": violations(page)}
    on_screen(page).get_by_text("make edited twins of these texts").click()
    expect(page.get_by_role("button", name="Padding")).to_be_visible()
    settled(page)
    page.wait_for_timeout(500)  # the part unfolds
    found["twins"] = violations(page)
    page.get_by_role("button", name="Judge all 7 items").click()
    expect(on_screen(page).get_by_text("is done")).to_be_visible(timeout=SOON)
    for tab in TABS:
        open_tab(page, tab)
        page.wait_for_timeout(500)
        settled(page)
        found[tab] = violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (
            f"{tab} is wider than the window"
        )
    assert {place: one for place, one in found.items() if one} == {}
    open_tab(page, "Scores")
    page.get_by_role("button", name="Correlate on the page Metrics").click()
    expect(page.get_by_role("heading", name="Metrics", exact=True)).to_be_visible(timeout=SOON)
    expect(on_screen(page).get_by_text("Correlated with minus the damage level")).to_be_visible(timeout=SOON)
