"""Names that are addresses, on the pages of the app in a real browser: they are text, and lead nowhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, settled, through_onboarding
from helpers.texts.factories import dataset, prefers, study_in, unblind, vote
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts
from helpers.texts.rating_studies import unblind as unblind_ratings
from open_everything import open_everything, pages_offered
from playwright.sync_api import Page, expect
from text_visit import on_text
from wire import Wire

from core.store import Store
from core.store.kept import keep_file
from core.study.raters import links

NewPage = Callable[[], Page]
HOST = "outside.invalid"
ONE, TWO, RATER, MAIL = f"https://{HOST}/one", f"www.{HOST}/two", f"http://{HOST}", f"somebody@{HOST}"
STUDY, RATED, FILE = f"HTTPS://{HOST}/study", f"[g](https://{HOST}/g)", f"https://{HOST}/file.csv"
HTML = f"<a href='https://{HOST}/h'>h</a>"
NAMES = (ONE, TWO, RATER, MAIL, STUDY, RATED, HTML)
COMMENT = f"See https://{HOST}/c, www.{HOST}, mailto:{MAIL} and {HTML}."
LINKS = """host => [...document.querySelectorAll('*')].filter(one => ['href', 'xlink:href', 'src', 'action', 'data'].some(
    name => (one.getAttribute(name) || '').toLowerCase().includes(host))).map(one => one.outerHTML.slice(0, 300))"""


@contextmanager
def nothing_asked_of(page: Page) -> Iterator[list[str]]:
    """Requests to the host while pages are open."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if HOST in request.url.lower() else None)
    yield asked
    assert asked == []


def fill(store: Store) -> list[str]:
    """Two studies with results, and scores; the addresses of their pages."""
    pairs = study_in(
        store,
        dataset(4, ("A0", "A1"), sources=(ONE, TWO), file_name=FILE),
        raters=[RATER, MAIL, HTML],
        name=STUDY,
        repeat_share=0,
    )
    for at, token in enumerate(pairs.tokens.values()):
        desk = vote(store, token, prefers(at % 2))
        desk.save_note(1, comment=COMMENT)
    unblind(pairs)
    rated = rating_study(store, rating_texts(3, (ONE, HTML)), name=RATED)
    rate_all(rated.desk("R1"))
    rate_all(rated.desk("R2"))
    unblind_ratings(rated)
    scores = "".join(
        f'"q{n}",{system},{n + at},{3 - n}\n' for n in range(4) for at, system in enumerate((ONE, TWO))
    )
    keep_file(store, "scores", FILE, f'item_id,system,"{ONE}-m","{MAIL}"\n{scores}'.encode())
    open_still = study_in(store, dataset(2, sources=(TWO, ONE)), raters=[MAIL], name=f"{HTML} {MAIL}")
    draft = study_in(store, dataset(2, sources=(TWO, ONE)), raters=[], name=f"See www.{HOST}", state="draft")
    return [f"studies?study={one.study_id}" for one in (pairs, rated, open_still, draft)]


@pytest.mark.slow
def test_names_lead_nowhere_on_the_admins_pages(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    studies = fill(app_store)
    page = new_page()
    wire = Wire().watch(page)
    sign_in(page, app_store, app.url)
    page.goto(app.url)
    expect(page.get_by_test_id("stTopNav").first).to_be_visible(timeout=20_000)
    settled(page)
    found: dict[str, set[str]] = {}
    shown = set[str]()

    def look(place: tuple[str, ...] = ()) -> None:
        text = page.locator("body").inner_text()
        shown.update(name for name in NAMES if name in text.replace("\u2060", ""))
        for link in page.evaluate(LINKS, HOST):
            found.setdefault(link, set()).add(f"{page.url.rpartition('/')[2]} {' / '.join(place)}")

    with nothing_asked_of(page):
        for path in [
            *studies,
            *(
                one
                for one in pages_offered(wire.received)
                if one not in ("methods", "generate", "specialist")
            ),
        ]:
            page.goto(f"{app.url}/{path}")
            expect(page.get_by_role("heading", level=1).first).to_be_visible(timeout=20_000)
            settled(page)
            open_everything(page, look, most_options=1)
    assert not found
    assert shown == {*NAMES}


@pytest.mark.slow
def test_texts_lead_nowhere_on_a_raters_pages(app: AppServer, app_store: Store, new_page: NewPage) -> None:
    data = dataset(2, sources=(ONE, TWO), file_name=FILE)
    texts = {one.text: f"{one.text} {COMMENT}" for one in data.outputs}
    data = replace(
        data,
        outputs=tuple(replace(one, text=texts[one.text]) for one in data.outputs),
        items=tuple(
            replace(one, question=f"{one.question} {COMMENT}", reference=COMMENT) for one in data.items
        ),
    )
    study = study_in(app_store, data, raters=[MAIL], name=STUDY, repeat_share=0)
    rated = rating_texts(2, (ONE, TWO))
    rated = replace(rated, outputs=tuple(replace(one, text=f"{one.text} {COMMENT}") for one in rated.outputs))
    ratings = rating_study(app_store, rated, name=RATED)
    seen = ""
    for at_hand in (study, ratings):
        page = new_page()
        link = links(at_hand.store, at_hand.study)[0].url(app.url)
        with nothing_asked_of(page):
            if at_hand is study:
                through_onboarding(page, link)
            else:
                page.goto(link)
                page.get_by_role("button", name="Start").click()
                on_text(page, 1)
            settled(page)
            assert page.evaluate(LINKS, HOST) == []
            seen += page.locator("body").inner_text()
    assert seen.count(f"https://{HOST}/c") >= 3
