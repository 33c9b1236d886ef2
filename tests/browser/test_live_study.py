"""The judges of a study while a run scores its texts: table and scatter follow on the same elements, and a choice stays."""

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_screen, settled
from helpers.texts.growing_run import GrowingRun
from helpers.texts.growing_study import growing_study
from playwright.sync_api import Page, expect
from watching import PLOT, REFRESHES, SOON, TABLE, NewPage, different, stood_still, watched

from core.store import Store

N_ITEMS, FIRST, EACH = 60, 15, 6
_DOTS = f"{PLOT} .scatterlayer .point"


def opened(app: AppServer, store: Store, new_page: NewPage) -> tuple[Page, GrowingRun]:
    study, run = growing_study(store, N_ITEMS)
    run.grow(FIRST)
    page = new_page()
    sign_in(page, store, app.url)
    page.goto(f"{app.url}/studies?study={study.study_id}&tab=judges")
    expect(page.locator(_DOTS)).to_have_count(16, timeout=SOON)
    return page, run


@pytest.mark.slow
def test_table_and_scatter_follow_the_run_and_keep_what_was_chosen(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    page, run = opened(app, app_store, new_page)
    box = page.locator(TABLE).first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 100, box["y"] + 35 * 3 + 15)  # the third judge
    expect(page.get_by_role("button", name="Show these pairs")).to_be_visible(timeout=SOON)
    expect(page.locator(_DOTS)).to_have_count(17, timeout=SOON)  # its ring
    judge = page.evaluate("new URLSearchParams(location.search).get('judge')")
    assert judge
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 60)")
    settled(page)
    page.evaluate(f"window.table = document.querySelector('{TABLE}')")
    frames = watched(
        page, run, PLOT, EACH, on_screen(page).get_by_text(f"{FIRST + REFRESHES * EACH} of {N_ITEMS}")
    )
    stood_still(frames)
    assert all(frame["same"] for frame in frames), "one plot element throughout"
    assert page.evaluate(f"window.table === document.querySelector('{TABLE}')")
    assert len(different(frames, "dots")) > REFRESHES, "the dots follow the run"
    assert page.evaluate("new URLSearchParams(location.search).get('judge')") == judge
    expect(page.get_by_role("button", name="Show these pairs")).to_be_visible()
    expect(page.locator(_DOTS)).to_have_count(17)
    run.grow(N_ITEMS)
    run.finish()
    expect(on_screen(page).get_by_text(f"of {N_ITEMS} questions")).to_have_count(0, timeout=SOON)
    expect(page.locator(f"{PLOT} .errorbars path, {PLOT} .errorbar path").first).to_be_attached(timeout=SOON)
    expect(page.locator(_DOTS)).to_have_count(17)


@pytest.mark.slow
def test_table_and_scatter_are_in_the_first_screen(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    page, run = opened(app, app_store, new_page)
    run.grow(N_ITEMS)
    run.finish()
    settled(page)
    for shown in (TABLE, PLOT):
        box = page.locator(shown).first.bounding_box()
        assert box is not None
        assert box["y"] < 420
    plot = page.locator(PLOT).first.bounding_box()
    assert plot is not None
    assert plot["y"] + plot["height"] <= 900
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    table, plot = (page.locator(shown).first.bounding_box() for shown in (TABLE, PLOT))
    assert table is not None
    assert plot is not None
    assert plot["y"] >= table["y"] + table["height"], "one below the other"
    assert plot["x"] + plot["width"] <= 390
