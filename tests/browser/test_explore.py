"""Correlations explored by hand: three clicks from a cell to its texts, a link in another browser, what fits on a screen."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_screen, settled
from playwright.sync_api import Browser, Page, expect
from test_accessibility import FAINT

from core.access import choose_passphrase, make_link
from core.formats.mt_metrics_eval import read_folder
from core.store import Store
from core.store.kept import keep_file
from pages.widgets.chosen_scores import keep

NewPage = Callable[[], Page]
SOON = 30_000
PASSPHRASE = "correct horse battery staple"
_HEAD, _ROW = 36, 35
"""Pixels of a table's head and rows."""
_METRICS = [f"m{number}" for number in range(9)]
LINK = (
    "part=correlations&scores=file-2&ratings=1&group=genre&view=per_item&only-family=other&leave-system=C&lower=m7"
    "&raters=kept&resamples=200&metric=m3&cell=talk&versus=m0&coefficient=kendall"
)


@pytest.fixture
def kept(app_store: Store) -> None:
    """Ratings, and scores of nine metrics with their texts."""
    rows = [
        {
            "item": f"q{n}",
            "system": system,
            "genre": ("news", "talk")[n % 2],
            "source": f"What is {n}?",
            "reference": f"It is the number {n} indeed.",
            "text": f"It is the number {n + rank} indeed.",
            **{name: (n * (at + 1) + rank * (9 - at)) % 23 for at, name in enumerate(_METRICS)},
        }
        for n in range(16)
        for rank, system in enumerate("ABC")
    ]
    people = "item,system,rater,score\n" + "".join(
        f"{row['item']},{row['system']},{rater},{(row['m0'] + rater) % 7}\n"
        for row in rows
        for rater in (1, 2)
    )
    keep_file(app_store, "ratings", "people.csv", people.encode(), {"lower_is_better": False})
    scores = "\n".join(map(json.dumps, rows)).encode()
    keep_file(app_store, "scores", "scores.jsonl", scores)


def opened(app: AppServer, store: Store, page: Page, query: str = "") -> Page:
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/metrics?{query}")
    page.locator("[data-testid=stDataFrame], .js-plotly-plot").first.wait_for(timeout=SOON)
    settled(page)
    return page


def choices(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def press_cell(page: Page, row: int) -> None:
    """Click into the middle of a row of the table of correlations."""
    # The line above the table goes when all intervals are there, and the table moves up.
    expect(on_screen(page).get_by_text("Computing intervals")).to_have_count(0, timeout=SOON)
    settled(page)
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + _HEAD + (row + 0.5) * _ROW)


def press_dot(page: Page, which: str, plot: int = 0) -> list[object]:
    """Click a dot of a scatter plot; returns what it is about. which: JavaScript, from the trace of the dots to an index."""
    figure = page.locator(".js-plotly-plot").nth(plot)
    figure.locator(".points path").first.wait_for(timeout=SOON)
    # The line above the table goes when all intervals are there, and the figure moves up.
    expect(on_screen(page).get_by_text("Computing intervals")).to_have_count(0, timeout=SOON)
    settled(page)
    figure.scroll_into_view_if_needed()
    place = f"""gd => {{
        const dots = gd._fullData[0], at = ({which})(dots);
        const box = gd.getBoundingClientRect(), {{xaxis, yaxis}} = gd._fullLayout;
        return {{
            x: box.x + xaxis._offset + xaxis.d2p(dots.x[at]), y: box.y + yaxis._offset + yaxis.d2p(dots.y[at]),
            about: Array.from(dots.customdata[at]),
        }};
    }}"""
    pointed = "gd => (gd._hoverdata || []).map(dot => Array.from(dot.customdata))"
    # A figure moves while something above it still grows: the press waits until the pointer is on its dot.
    for _ in range(20):
        found = figure.evaluate(place)
        page.mouse.move(found["x"] - 20, found["y"])
        page.mouse.move(found["x"], found["y"], steps=4)
        page.wait_for_timeout(250)
        if found == figure.evaluate(place) and figure.evaluate(pointed) == [found["about"]]:
            break
    else:
        raise AssertionError(f"the pointer never was on the dot of {found['about']}")
    page.mouse.click(found["x"], found["y"])
    about: list[object] = found["about"]
    return about


LOWEST = "dots => Array.from(dots.y).indexOf(Math.min(...dots.y))"


@pytest.mark.shared
@pytest.mark.slow
def test_from_a_surprising_cell_to_its_texts_on_wmt23(
    app: AppServer, app_store: Store, new_page: NewPage, shared_data: Path
) -> None:
    """One click on the cell of BLEU, one on the dot of the text that people rated worst: its texts are on the screen."""
    folder = read_folder(shared_data / "wmt23")
    keep(app_store, "wmt23", folder)
    page = opened(app, app_store, new_page())
    bleu = [metric.name for metric in folder.scores.metrics].index("BLEU")
    press_cell(page, bleu)
    expect(page).to_have_url(re.compile("metric=BLEU"), timeout=SOON)
    expect(page.locator(".js-plotly-plot").first).to_be_in_viewport(ratio=0.9, timeout=SOON)
    _, item, system, score, rating, *_ = press_dot(page, LOWEST)
    expect(page).to_have_url(re.compile("text=[0-9a-f]{16}"), timeout=SOON)
    cards = page.locator(".assay-card")
    expect(cards).to_have_count(4, timeout=SOON)
    settled(page)
    text = next(
        one for one in folder.outputs.outputs if (one.item_id, one.system) == (str(item), str(system))
    )
    said = cards.all_inner_texts()
    assert str(text.source)[:60] in said[0]
    assert str(text.reference)[:60] in said[1]
    assert said[2].startswith("Best text of the item: ")
    assert said[3].startswith(f"Text: {system}")
    assert (
        cards.nth(3).locator("ins, del, mark").count() + cards.nth(3).locator("[class*=assay-]").count() > 2
    )
    expect(cards.nth(0)).to_be_in_viewport()
    numbers = page.locator("[data-testid=stTable]").first.inner_text()
    assert "XCOMET-Ensemble" in numbers
    assert f"{score:.3g}" in numbers
    assert f"{rating:.3g}" in page.locator("[data-testid=stTable]").nth(1).inner_text()


def test_a_link_opens_the_same_view_in_another_browser_after_the_sign_in(
    app: AppServer, app_store: Store, new_page: NewPage, kept: None
) -> None:
    page = opened(app, app_store, new_page(), LINK)
    press_dot(page, LOWEST)
    expect(page).to_have_url(re.compile("text=[0-9a-f]{16}"), timeout=SOON)
    settled(page)
    link = page.url
    assert choices(page).items() >= parse_qs(LINK.removeprefix("part=correlations&")).items()
    shown = page.locator(".assay-card").all_inner_texts()
    values = {
        box.get_attribute("aria-label"): box.input_value() for box in page.get_by_role("combobox").all()
    }
    assert len(shown) == 4

    choose_passphrase(app_store, make_link(app_store), PASSPHRASE, PASSPHRASE)
    other = new_page()
    other.goto(link)
    other.get_by_role("link", name="Sign in").click(timeout=SOON)
    other.get_by_label("Passphrase").fill(PASSPHRASE)
    other.get_by_role("button", name="Sign in").click()
    expect(other.locator(".assay-card")).to_have_count(4, timeout=SOON)
    settled(other)
    assert choices(other) == choices(page)
    assert other.locator(".assay-card").all_inner_texts() == shown
    again = {
        box.get_attribute("aria-label"): box.input_value() for box in other.get_by_role("combobox").all()
    }
    assert again == values
    for name in ("Compare with", "Coefficient", "Metric", "Group"):
        assert any(str(label).endswith(name) for label in again)
    assert other.get_by_role("tab", name="Table", exact=True).get_attribute("aria-selected") == "true"


def test_back_and_forward_undo_and_repeat_a_choice(
    app: AppServer, app_store: Store, new_page: NewPage, kept: None
) -> None:
    page = opened(app, app_store, new_page())
    metric = page.get_by_role("combobox", name="Metric", exact=True)
    for row in (2, 4):
        press_cell(page, row)
        expect(metric).to_have_value(f"m{row}", timeout=SOON)
        expect(page).to_have_url(re.compile(f"metric=m{row}"), timeout=SOON)
        settled(page)
        page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, 0)")
    page.go_back()
    expect(metric).to_have_value("m2", timeout=SOON)
    page.go_back()
    expect(metric).to_have_value("", timeout=SOON)
    page.go_forward()
    expect(metric).to_have_value("m2", timeout=SOON)
    page.get_by_role("tab", name="Ranking", exact=True).click()
    expect(page).to_have_url(re.compile("look=ranking"), timeout=SOON)


def test_sorting_opens_nothing_and_a_sorted_row_opens_itself(
    app: AppServer, app_store: Store, new_page: NewPage, kept: None
) -> None:
    page = opened(app, app_store, new_page())
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    for _ in range(2):  # descending
        page.mouse.click(box["x"] + 100, box["y"] + 15)
        page.wait_for_timeout(500)
    settled(page)
    assert "metric" not in choices(page)
    press_cell(page, 1)
    expect(page.get_by_role("combobox", name="Metric", exact=True)).to_have_value("m7", timeout=SOON)


def test_figures_open_metrics_and_pairs(
    app: AppServer, app_store: Store, new_page: NewPage, kept: None
) -> None:
    page = opened(app, app_store, new_page(), "look=ranking&resamples=200")
    metric, versus = (page.get_by_role("combobox", name=name) for name in ("Metric", "Compare with"))
    page.locator(".js-plotly-plot .points path").first.wait_for(timeout=SOON)
    settled(page)
    first = page.locator(".js-plotly-plot").first
    places = first.evaluate(
        """gd => {
            const box = gd.getBoundingClientRect(), {xaxis, yaxis} = gd._fullLayout;
            return gd._fullData.flatMap(trace => Array.from(trace.x).map((x, at) => [
                box.x + xaxis._offset + xaxis.d2p(x), box.y + yaxis._offset + yaxis.d2p(trace.y[at])]));
        }"""
    )
    page.mouse.move(*places[0], steps=4)
    page.mouse.click(*places[0])
    expect(metric).not_to_have_value("", timeout=SOON)
    settled(page)
    page.goto(f"{app.url}/metrics?look=redundancy")
    page.locator(".js-plotly-plot .heatmaplayer image").first.wait_for(timeout=SOON)
    settled(page)
    x, y = page.locator(".js-plotly-plot").first.evaluate(
        """gd => {
            const box = gd.getBoundingClientRect(), {xaxis, yaxis} = gd._fullLayout;
            return [box.x + xaxis._offset + xaxis.d2p(5), box.y + yaxis._offset + yaxis.d2p(1)];
        }"""
    )
    page.mouse.move(x - 5, y)
    page.mouse.move(x, y, steps=4)
    page.mouse.click(x, y)
    expect(metric).to_have_value("m1", timeout=SOON)
    expect(versus).to_have_value("m5", timeout=SOON)
    expect(
        on_screen(page).get_by_text(re.compile("follows the ratings more closely|No difference between"))
    ).to_be_visible(timeout=SOON)


def test_a_cell_of_the_heat_map_opens_its_group(
    app: AppServer, app_store: Store, new_page: NewPage, kept: None
) -> None:
    page = opened(app, app_store, new_page(), "look=by-group&group=genre&resamples=200")
    page.locator(".js-plotly-plot .heatmaplayer image").first.wait_for(timeout=SOON)
    settled(page)
    x, y = page.locator(".js-plotly-plot").first.evaluate(
        """gd => {
            const box = gd.getBoundingClientRect(), {xaxis, yaxis} = gd._fullLayout;
            return [box.x + xaxis._offset + xaxis.d2p(1), box.y + yaxis._offset + yaxis.d2p(6)];
        }"""
    )
    page.mouse.move(x - 5, y)
    page.mouse.move(x, y, steps=4)
    page.mouse.click(x, y)
    expect(page.get_by_role("combobox", name="Metric", exact=True)).to_have_value("m6", timeout=SOON)
    expect(page.get_by_role("combobox", name="Group", exact=True)).to_have_value("talk", timeout=SOON)
    expect(page.locator(".js-plotly-plot")).to_have_count(2, timeout=SOON)


def test_the_table_is_in_the_first_screen(
    app: AppServer, app_store: Store, new_page: NewPage, kept: None
) -> None:
    page = opened(app, app_store, new_page())
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    assert box["height"] >= _HEAD + 8 * _ROW
    assert box["y"] + _HEAD + 8 * _ROW <= 900
    for name in ("Scores", "Human ratings", "Group by", "Show"):
        control = page.get_by_role("combobox", name=name).first.bounding_box()
        assert control is not None
        assert control["y"] < box["y"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast_and_nothing_scrolls_sideways_on_a_phone(
    app: AppServer, app_store: Store, browser: Browser, kept: None, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page = opened(app, app_store, context.new_page(), f"{LINK}&resamples=200")
        press_dot(page, LOWEST, plot=1)
        expect(page.locator(".assay-card")).to_have_count(4, timeout=SOON)
        for look in ("Table", "By group", "Ranking", "Redundancy"):
            page.get_by_role("tab", name=look, exact=True).click()
            settled(page)
            page.wait_for_timeout(300)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, look
            assert page.locator("[data-testid=stMain]").evaluate("main => main.scrollWidth") <= 390, look
            expect(page.locator("[data-testid=stException]")).to_have_count(0)
            ran = Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
            assert not [node["html"][:120] for rule in ran for node in rule["nodes"]], look
            assert not page.evaluate(FAINT), look
    finally:
        context.close()
