"""Two app processes behind a proxy, as `serve --processes 2` starts them: one is killed, and nobody loses anything."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import (
    CHROMIUM,
    choose_file,
    chromium,
    on_pair,
    on_screen,
    settled,
    through_onboarding,
)
from helpers.processes.at_the_door import FILE, ONE, STUDY, TWO, nothing_leaked
from helpers.processes.raw_rater import RawRater, ask, post
from helpers.processes.several_apps import SeveralApps, needs, several_running
from helpers.processes.voters import Voter, check, until_more
from helpers.texts.factories import StudyAtHand, dataset, paper_json, study_in
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from core import access
from core.cli.serve.proxies import COOKIE
from core.store import open_store
from core.store.answers import answers_of, assignments_of, history_of
from core.study.raters import links

pytestmark = pytest.mark.slow

PASSPHRASE = "correct horse battery staple"
CONNECTED = "() => document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState === 'CONNECTED'"


@pytest.fixture
def at_hand(tmp_path: Path) -> Iterator[StudyAtHand]:
    with open_store(tmp_path / "assay.db") as store:
        data = dataset(8, sources=(ONE, TWO), file_name=FILE)
        yield study_in(store, data, raters=[f"r{n}" for n in range(6)], name=STUDY, repeat_share=0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"needs Chromium at {CHROMIUM} (Debian: apt install chromium; or set ASSAY_CHROMIUM)")
    with chromium() as launched:
        yield launched


def test_six_raters_and_one_killed_process(at_hand: StudyAtHand) -> None:
    needs("haproxy")
    enough = threading.Event()
    with several_running(at_hand.store.path, 2) as apps:
        sticky_and_blind(apps, at_hand)
        one_limit_for_all_and_one_sign_in(apps, at_hand)
        voters = [
            Voter(link.rater_id, RawRater.of_link(link.url(apps.url)).through_onboarding(), enough)
            for link in links(at_hand.store, at_hand.study)
        ]
        threads = [threading.Thread(target=voter.work) for voter in voters]
        try:
            for thread in threads:
                thread.start()
            until_more(voters, threads, 24)
            apps.kill(1)
            until_more(voters, threads, 48)
        finally:
            enough.set()
            for thread in threads:
                thread.join()
            for voter in voters:
                voter.rater.close()
    assert not [voter.problem for voter in voters if voter.problem]
    check(at_hand, voters)
    # The fewest connections: half of the raters were with each process.
    assert sum(voter.returns > 0 for voter in voters) == 3
    nothing_leaked(*(voter.rater for voter in voters))


def sticky_and_blind(apps: SeveralApps, at_hand: StudyAtHand) -> None:
    """A proxy adds one cookie with the name of a process, and no header."""
    path = links(at_hand.store, at_hand.study)[0].url("")
    direct, proxied = ask(apps.url_of(1), path), ask(apps.url, path)
    assert proxied.headers.keys() == direct.headers.keys()
    (added,) = {cookie.split(";")[0] for cookie in proxied.cookies} - {
        cookie.split(";")[0] for cookie in direct.cookies
    }
    assert added in (f"{COOKIE}=p1", f"{COOKIE}=p2")


def one_limit_for_all_and_one_sign_in(apps: SeveralApps, at_hand: StudyAtHand) -> None:
    """Wrong passphrases count together, and a sign-in at one process holds at the other."""
    store = at_hand.store
    access.choose_passphrase(store, access.make_link(store), PASSPHRASE, PASSPHRASE)
    for n in range(access.MOST_FAILURES):
        assert b"Wrong" in post(apps.url_of(1 + n % 2), "/sign-in", "127.0.5.1", passphrase="wrong").body
    for number in (1, 2):
        refused = post(apps.url_of(number), "/sign-in", "127.0.5.1", passphrase=PASSPHRASE)
        assert b"Too many" in refused.body
    signed_in = post(apps.url_of(1), "/sign-in", "127.0.5.2", passphrase=PASSPHRASE)
    cookie = {"Cookie": signed_in.cookies[0].split(";")[0]}
    media = f"/media/{'0' * 56}.csv"
    assert [ask(apps.url_of(n), media, headers=cookie).status for n in (1, 2)] == [404, 404]
    assert [ask(apps.url_of(n), media).status for n in (1, 2)] == [403, 403]


def test_a_browser_goes_on_when_its_process_dies(at_hand: StudyAtHand, browser: Browser) -> None:
    needs("haproxy")
    link = links(at_hand.store, at_hand.study)[0]
    with several_running(at_hand.store.path, 2) as apps:
        rater = browser.new_context().new_page()
        through_onboarding(rater, link.url(apps.url))
        presses = {1: vote(rater, 1)}
        serving = process_of(rater)
        presses[2] = vote(rater, 2, lambda: apps.kill(serving))
        presses[3] = vote(rater, 3)
        assert process_of(rater) == 3 - serving
        admin = browser.new_context().new_page()
        sign_in(admin, at_hand.store, apps.url)
        up_and_down(admin, apps)
    assert_kept(at_hand, link.rater_id, presses)


def test_a_session_through_nginx(at_hand: StudyAtHand, browser: Browser) -> None:
    needs("nginx")
    link = links(at_hand.store, at_hand.study)[0]
    with several_running(at_hand.store.path, 2, "nginx") as apps:
        rater, admin = browser.new_context().new_page(), browser.new_context().new_page()
        through_onboarding(rater, link.url(apps.url))
        presses = {number: vote(rater, number) for number in (1, 2)}
        assert presses == {1: 1, 2: 1}
        sign_in(admin, at_hand.store, apps.url)
        up_and_down(admin, apps)
    assert_kept(at_hand, link.rater_id, presses)


def process_of(page: Page) -> int:
    (cookie,) = [one for one in page.context.cookies() if one["name"] == COOKIE]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    return int(cookie["value"].removeprefix("p"))


def assert_kept(at_hand: StudyAtHand, rater_id: str, presses: dict[int, int]) -> None:
    """Each pair has one answer, and no line of history beyond what was pressed."""
    numbers = {a.key: a.position for a in assignments_of(at_hand.store, at_hand.study_id, rater_id)}
    answers = answers_of(at_hand.store, at_hand.study_id, rater_id)
    assert {numbers[a.key]: a.choice for a in answers} == dict.fromkeys(presses, "left")
    lines = [numbers[entry.answer.key] for entry in history_of(at_hand.store, at_hand.study_id)]
    assert all(lines.count(number) <= pressed for number, pressed in presses.items())


def vote(page: Page, number: int, while_it_is_sent: Callable[[], None] = lambda: None) -> int:
    """Press until the next pair is there; return the number of presses. The page is not reloaded."""
    on_pair(page, number)
    for presses in range(20):
        page.wait_for_function(CONNECTED, timeout=90_000)
        settled(page)
        if page.get_by_role("heading", name=f"Pair {number + 1} of ").is_visible():
            return presses
        page.keyboard.press("1")
        if presses == 0:
            while_it_is_sent()
        with suppress(NotInTime):  # pressed while nobody was there: press again
            page.get_by_role("heading", name=f"Pair {number + 1} of ").wait_for(timeout=10_000)
    raise AssertionError(f"the page stays at pair {number}")


def up_and_down(page: Page, apps: SeveralApps) -> None:
    """An upload and a download: both are in the memory of the process that drew the page."""
    page.goto(f"{apps.url}/studies?study=new")
    expect(page.get_by_role("heading", name="New study")).to_be_visible(timeout=60_000)
    settled(page)
    data = {"name": "a.json", "mimeType": "application/json", "buffer": paper_json(dataset(3))}
    choose_file(page, "File", data)
    expect(on_screen(page).get_by_text("3 questions at levels A0, A1, A2, A3, A4")).to_be_visible(
        timeout=60_000
    )
    page.goto(f"{apps.url}/operation")
    page.get_by_role("tab", name="Backup").click(timeout=60_000)
    settled(page)
    with page.expect_download() as backup:
        page.get_by_role("button", name="Backup", exact=True).click(timeout=60_000)
    assert Path(backup.value.path()).read_bytes()[:2] == b"PK"
