"""Every page of the admin is opened while two studies are blind: no byte of it names a system or shows an answer.

Frames are searched in both directions, as are documents, addresses and headers. Tables travel as Arrow and figures as JSON, both with
their texts as they are: once a study is unblinded, the same search finds the names.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, settled
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.blind_judging import MODEL, ONE, TWO, ended, marked_study, prefers_alpha, started
from helpers.texts.factories import StudyAtHand, StudyInStore, prefers, unblind, vote
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts
from open_everything import open_everything, pages_offered
from playwright.sync_api import Page, expect
from wire import Wire

from core.store import Store
from core.store.runs import list_runs

NewPage = Callable[[], Page]
RATED = ("MARKEROFTHREE", "MARKEROFFOUR")
NAMES = (ONE, TWO, *RATED)
ANSWERS = ("Alpha text of", "Beta text of", "RATEDMARKER")
"""How every answer of the studies begins."""

DECLARED = ("studies", "Design", "Design")
"""The only page, tab and part that may name the systems of a blinded study: the owner declares there which one is the candidate."""
MASKED = {"judges", "metrics"}
"""Pages that may show answers, of the runs on masked texts: an owner reads there what a judge says about answer 1 and answer 2. Which
system wrote them is what the masks hide."""


def blinded_workspace(store: Store) -> tuple[StudyAtHand, StudyInStore]:
    """An open study of pairs and an open rating study with votes."""
    pairs = marked_study(store, 2, ("A0", "A1", "A2"), early_looks=True)
    for at, token in enumerate(pairs.tokens.values()):
        vote(store, token, prefers(at))
    texts = rating_texts(2, RATED)
    marked = tuple(replace(one, text=f"RATEDMARKER {one.text}") for one in texts.outputs)
    rated = rating_study(store, replace(texts, outputs=marked), name="RATINGS")
    rate_all(rated.desk("R1"))
    return pairs, rated


def scored(page: Page, app: AppServer, store: Store, pairs: StudyAtHand) -> None:
    """Metrics score the masked texts by a press on the study's page, and a judge compares them."""
    page.goto(f"{app.url}/studies?study={pairs.study_id}&tab=judges")
    page.get_by_role("button", name="Score the texts with").click(timeout=20_000)
    expect(page.get_by_role("tab").first).to_be_visible()
    for _ in range(400):
        if [run.state for run in list_runs(store)] == ["done"]:
            break
        page.wait_for_timeout(100)
    else:
        raise AssertionError(f"the metrics did not score the masked texts: {list_runs(store)}")
    settled(page)
    with ScriptedServer(prefers_alpha, models=(MODEL,)) as server:
        ended(store, started(store, app.database, pairs, server.url))


class Search:
    """Looks for names and answers in everything that has come and gone since it last looked."""

    def __init__(self, page: Page, wire: Wire) -> None:
        self._page, self._wire = page, wire
        self.page, self.leaks, self.n_bytes = "", set[str](), 0
        self._before: tuple[str, ...] = ()

    def look(self, place: tuple[str, ...] = ()) -> None:
        """Search what is new. place: the tabs and segments that are open."""
        self._wire.add_document(self._page)
        everything = self._wire.everything() + self._page.url.encode()
        self.n_bytes += len(everything)
        for kept in (self._wire.received, self._wire.sent, self._wire.urls, self._wire.headers):
            kept.clear()
        self._wire.heads.clear()
        self._wire.documents.clear()
        # The press that leaves the form sends what it holds, so a look is about the place before it too.
        declared = DECLARED in ((self.page, *place[-2:]), (self.page, *self._before[-2:]))
        self._before = place
        secrets = [*(() if declared else NAMES), *(() if self.page in MASKED else ANSWERS)]
        for secret in secrets:
            if secret.lower().encode() in everything.lower():
                self.leaks.add(f"{secret} on {self.page} {' / '.join(place)}")


@pytest.mark.slow
def test_no_page_names_a_system_of_a_blinded_study(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    pairs, rated = blinded_workspace(app_store)
    page = new_page()
    wire = Wire().watch(page)
    sign_in(page, app_store, app.url)
    page.goto(app.url)
    expect(page.get_by_test_id("stTopNav").first).to_be_visible(timeout=20_000)
    settled(page)
    offered = pages_offered(wire.received)
    assert {"studies", "metrics", "judges", "check", "operation"} <= {*offered}
    search = Search(page, wire)
    studies = [f"studies?study={one.study_id}" for one in (pairs, rated)]
    scored(page, app, app_store, pairs)
    n_steps = 0
    for path in [*offered, "studies?study=new", *studies]:
        search.page = path.partition("?")[0]
        page.goto(f"{app.url}/{path}")
        expect(page.get_by_role("heading", level=1).first).to_be_visible(timeout=20_000)
        settled(page)
        n_steps += open_everything(page, search.look)
    assert n_steps > 50
    assert search.n_bytes > 1_000_000
    assert not search.leaks, sorted(search.leaks)


@pytest.mark.slow
def test_the_search_finds_the_names_once_a_study_is_unblinded(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    study = marked_study(app_store, 2, ("A0", "A1"))
    for at, token in enumerate(study.tokens.values()):
        vote(app_store, token, prefers(at))
    unblind(study)
    page = new_page()
    wire = Wire().watch(page)
    sign_in(page, app_store, app.url)
    search = Search(page, wire)
    search.page = "studies"
    page.goto(f"{app.url}/studies?study={study.study_id}")
    expect(page.get_by_role("tablist").first).to_be_visible(timeout=20_000)
    settled(page)
    search.look()
    assert {leak.split()[0] for leak in search.leaks} >= {ONE, TWO}
