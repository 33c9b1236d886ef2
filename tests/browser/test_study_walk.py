"""From sign-in to verdict, a disagreed pair, the live scatter and the CSV of Factual's study, on one address."""

import csv
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from helpers.processes.app_server import AppServer, on_screen, open_tab, settled
from playwright.sync_api import Browser, Page, expect

from core.access import make_link
from core.cli import main as assay
from core.store import Store

SOON = 30_000
PASSPHRASE = "correct horse battery staple"
SECRETS = ("paper", "ai", "human", "climate")
"""Name, systems and a text of the study, none of which an address may hold as a value."""
N_PAIRS, N_DISAGREED = 100, 39
WIDTHS = {1280: 900, 390: 844}


@pytest.fixture
def published(app: AppServer, shared_data: Path) -> AppServer:
    """The app with Factual's study, unblinded, with the votes of both raters."""
    db = ["--db", str(app.database)]
    assay(["study", "import", str(shared_data / "assessment-dataset.json"), "--name", "paper", *db])
    for rater in ("1", "2"):
        votes = str(shared_data / f"results-evaluator-{rater}.json")
        assay(["study", "votes", "paper", votes, "--rater", f"e{rater}", *db])
    return app


def signed_in(page: Page, app: AppServer, store: Store) -> None:
    """Choose a passphrase with the one-time link, as at the first start."""
    page.goto(f"{app.url}/admin/{make_link(store)}")
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_label("Repeat the passphrase").fill(PASSPHRASE)
    page.get_by_role("button", name="Save and sign in").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible(timeout=SOON)
    settled(page)


def still_there(page: Page, **asked: str) -> None:
    """The address is that of the study, with these parameters, and no value in it is of its texts or names."""
    settled(page)
    found = urlsplit(page.url)
    said = dict(parse_qsl(found.query))
    assert found.path == "/studies", page.url
    assert said.items() >= {"study": "1", **asked}.items(), page.url
    assert not {*SECRETS} & {*said.values()}, page.url


def files_of(page: Page) -> str:
    """Open the menu of downloads, and return the text of the CSV in it."""
    page.get_by_role("button", name="Download").first.click()
    with page.expect_download() as file:
        page.get_by_role("button", name="CSV", exact=True).first.click()
    page.keyboard.press("Escape")
    settled(page)
    return Path(file.value.path()).read_text("utf-8-sig")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_from_sign_in_to_the_csv_on_one_address(
    published: AppServer, app_store: Store, browser: Browser, width: int, scheme: str
) -> None:
    size = {"width": width, "height": WIDTHS[width]}
    context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        signed_in(page, published, app_store)
        page.goto(f"{published.url}/studies")
        page.get_by_role("link", name="paper").click(timeout=SOON)
        # Result: the verdict is in the first screen.
        verdict = page.locator(".assay-verdict")
        expect(verdict).to_be_visible(timeout=SOON)
        expect(verdict).to_contain_text("no worse")
        expect(verdict).to_be_in_viewport()
        still_there(page)
        # Pairs: those on which raters disagree, and the CSV of them.
        open_tab(page, "Pairs")
        page.get_by_role("button", name=f"raters disagree {N_DISAGREED}").click(timeout=SOON)
        expect(on_screen(page).get_by_text(f"{N_DISAGREED} of {N_PAIRS} pairs")).to_be_visible(timeout=SOON)
        still_there(page, tab="pairs", show="disagree")
        assert len(list(csv.DictReader(files_of(page).splitlines()))) == N_DISAGREED
        page.reload()
        expect(on_screen(page).get_by_text(f"{N_DISAGREED} of {N_PAIRS} pairs")).to_be_visible(timeout=SOON)
        still_there(page, tab="pairs", show="disagree")
        # Judges: one press scores the texts; table and scatter stand side by side and have the same metrics.
        open_tab(page, "Judges")
        page.get_by_role("button", name="Score the texts with").click(timeout=SOON)
        expect(page.locator(".js-plotly-plot .scatterlayer .points path").first).to_be_visible(timeout=60_000)
        expect(on_screen(page).get_by_text("Spearman").first).to_be_visible(timeout=60_000)
        still_there(page, tab="judges")
        # Export: every file, once.
        open_tab(page, "Export")
        still_there(page, tab="export")
        with page.expect_download() as votes:
            page.get_by_role("button", name="CSV (").click(timeout=SOON)
        assert len(list(csv.DictReader(Path(votes.value.path()).read_text("utf-8-sig").splitlines()))) == 200
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        context.close()
