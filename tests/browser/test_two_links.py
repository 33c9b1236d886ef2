"""Two links of two studies in one browser: each vote lies under the rater whose pair was shown, or nowhere."""

from collections.abc import Callable, Iterator

import pytest
from helpers.processes.app_server import AppServer, on_pair, on_screen, settled
from helpers.processes.at_the_door import PAST_PRACTICE
from helpers.processes.cut_proxy import CutProxy
from helpers.texts.factories import StudyAtHand, dataset, study_in
from playwright.sync_api import Page, expect

from core.store import Store
from core.store.answers import answers_of
from core.store.raters import update_rater
from core.study.lifecycle import set_wording
from core.study.raters import links
from pages.widgets.visitor import ANOTHER_RATER

pytestmark = pytest.mark.slow
NewPage = Callable[[], Page]
CUTS = (3, 30)
"""Seconds without a network."""
CONNECTED = "() => document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState === 'CONNECTED'"
TITLE = "Answers about rivers"


@pytest.fixture
def studies(app_store: Store) -> dict[str, StudyAtHand]:
    """Rater -> a study of their own: same texts, other lists."""
    made = {
        rater: study_in(app_store, dataset(8), raters=[rater], name=f"STUDYOF{rater}", repeat_share=0, seed=n)
        for n, rater in enumerate(("ann", "ben"))
    }
    set_wording(app_store, made["ann"].study, "en", {"title": TITLE})
    for rater, study in made.items():
        update_rater(app_store, study.study_id, rater, onboarding=PAST_PRACTICE)
    return made


@pytest.fixture
def proxy(app: AppServer) -> Iterator[CutProxy]:
    with CutProxy(app.port) as running:
        yield running


def link(studies: dict[str, StudyAtHand], rater: str, base: str) -> str:
    (found,) = links(studies[rater].store, studies[rater].study)
    return found.url(base)


def votes(studies: dict[str, StudyAtHand]) -> dict[str, list[str | None]]:
    """Rater -> choices, of both studies; nobody else has any."""
    found = {rater: answers_of(one.store, one.study_id) for rater, one in studies.items()}
    assert all(answer.rater_id == rater for rater, answers in found.items() for answer in answers)
    return {rater: [answer.choice for answer in answers] for rater, answers in found.items()}


def both_open(studies: dict[str, StudyAtHand], base: str, new_page: NewPage) -> tuple[Page, Page]:
    """Ann's tab at her first pair, and Ben's beside it in the same browser."""
    ann = new_page()
    ann.goto(link(studies, "ann", base))
    on_pair(ann, 1)
    ben = ann.context.new_page()
    ben.goto(link(studies, "ben", base))
    on_pair(ben, 1)
    return ann, ben


def pressed_wildly(page: Page) -> None:
    """Every key that may be a vote, whatever is on the screen."""
    page.bring_to_front()
    for key in "1234":
        page.locator("body").press(key)
        page.wait_for_timeout(500)


def connected(page: Page) -> None:
    """Wait until a tab has found the server again; what it shows is still its own."""
    page.bring_to_front()
    page.wait_for_function(CONNECTED, timeout=90_000)
    settled(page)


def is_turned_away(page: Page) -> None:
    expect(on_screen(page).get_by_text(ANOTHER_RATER)).to_be_visible(timeout=40_000)
    expect(page.get_by_role("button", name="Left", exact=True)).to_have_count(0)
    assert "text of q" not in page.content()


def test_a_reload_and_the_way_back(
    app: AppServer, studies: dict[str, StudyAtHand], new_page: NewPage
) -> None:
    ann, ben = both_open(studies, app.url, new_page)
    expect(on_screen(ann).get_by_text("You rate as ann")).to_be_visible()
    expect(on_screen(ann).get_by_text(TITLE)).to_be_visible()
    expect(on_screen(ben).get_by_text("You rate as ben")).to_be_visible()
    expect(on_screen(ben).get_by_text(TITLE)).to_have_count(0)
    assert "STUDYOF" not in ann.content() + ben.content()
    ann.bring_to_front()
    ann.keyboard.press("1")  # its connection is still Ann's
    on_pair(ann, 2)
    ann.reload()
    is_turned_away(ann)
    pressed_wildly(ann)
    twin = ben.context.new_page()
    twin.goto(ben.url)
    on_pair(twin, 1)
    twin.keyboard.press("2")
    on_pair(twin, 2)
    assert votes(studies) == {"ann": ["left"], "ben": ["right"]}
    ann.goto(link(studies, "ann", app.url))
    on_pair(ann, 2)
    ann.keyboard.press("3")
    on_pair(ann, 3)
    assert votes(studies) == {"ann": ["left", "both_good"], "ben": ["right"]}


@pytest.mark.parametrize("seconds", CUTS)
def test_a_connection_that_was_cut(
    proxy: CutProxy, studies: dict[str, StudyAtHand], new_page: NewPage, seconds: int
) -> None:
    ann, ben = both_open(studies, proxy.url, new_page)
    proxy.cut()
    pressed_wildly(ann)
    ben.wait_for_timeout(seconds * 1000)
    proxy.mend()
    connected(ann)
    pressed_wildly(ann)  # on Ann's pair, which may still be on the screen
    is_turned_away(ann)
    pressed_wildly(ann)
    connected(ben)
    on_pair(ben, 1)
    ben.keyboard.press("2")
    on_pair(ben, 2)
    settled(ben)
    found = votes(studies)
    assert found["ben"] == ["right"]
    assert set(found["ann"]) <= {"left", "right", "both_good", "both_bad"}
    assert len(found["ann"]) <= 1, "at most the press on the pair that Ann saw"


def test_a_server_that_was_killed(app: AppServer, studies: dict[str, StudyAtHand], new_page: NewPage) -> None:
    ann, ben = both_open(studies, app.url, new_page)
    app.kill()
    pressed_wildly(ann)
    app.start()
    connected(ann)
    pressed_wildly(ann)  # on Ann's pair, which may still be on the screen
    is_turned_away(ann)
    pressed_wildly(ann)
    assert votes(studies) == {"ann": [], "ben": []}
    connected(ben)
    on_pair(ben, 1)
    ben.keyboard.press("4")
    on_pair(ben, 2)
    assert votes(studies) == {"ann": [], "ben": ["both_bad"]}
    ann.goto(link(studies, "ann", app.url))
    on_pair(ann, 1)
    ann.keyboard.press("1")
    on_pair(ann, 2)
    assert votes(studies) == {"ann": ["left"], "ben": ["both_bad"]}
