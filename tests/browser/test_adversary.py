"""A real browser in the wrong hands: second tabs, other people's links, Back after the end, frames, tokens in sight."""

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.pages.admin_session import sign_in
from helpers.processes.app_server import AppServer, on_pair, on_screen, open_page, settled, through_onboarding
from helpers.texts.factories import StudyAtHand, dataset, study_in, vote
from playwright.sync_api import Page, expect
from wire import Wire

from core.store import Store
from core.store.answers import answers_of, guesses_of, history_of
from core.study.raters import Link, links

NewPage = Callable[[], Page]


@pytest.fixture
def at_hand(app_store: Store) -> StudyAtHand:
    data = dataset(2, ("A0", "A1"))
    return study_in(app_store, data, raters=["ann", "ben"], repeat_share=0, blinding_pairs=1)


def link_of(at_hand: StudyAtHand, rater: str) -> Link:
    return next(link for link in links(at_hand.store, at_hand.study) if link.rater_id == rater)


def choices(at_hand: StudyAtHand, rater: str) -> list[str | None]:
    return [answer.choice for answer in answers_of(at_hand.store, at_hand.study_id, rater)]


@pytest.mark.slow
def test_the_token_is_nowhere_in_sight(app: AppServer, at_hand: StudyAtHand, new_page: NewPage) -> None:
    """Not in the address bar, the history, a referrer, a script's reach, nor on the websocket."""
    link = link_of(at_hand, "ann")
    page = new_page()
    wire = Wire().watch(page)
    sent_from: list[str] = []
    page.on("request", lambda request: sent_from.append(request.headers.get("referer", "")))
    through_onboarding(page, link.url(app.url))
    on_pair(page, 1)
    page.keyboard.press("1")
    on_pair(page, 2)
    token = link.token
    assert token not in page.url
    assert page.evaluate("document.cookie").count("assay_") == 0
    assert token not in page.evaluate(
        "document.cookie + document.referrer + document.documentElement.outerHTML"
    )
    assert token not in page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, history.state])"
    )
    assert token not in page.evaluate("JSON.stringify(performance.getEntries().map(entry => entry.name))")
    assert not [address for address in sent_from if token in address]
    frames = b"".join([*wire.received, *wire.sent])
    assert b"text of q" in frames
    assert token.encode() not in frames
    cookies = {cookie["name"]: cookie for cookie in page.context.cookies() if "assay" in cookie["name"]}
    assert [(c["httpOnly"], c["sameSite"]) for c in cookies.values()] == [(True, "Strict")]
    entries = page.evaluate("history.length")
    for _ in range(entries - 1):
        page.go_back(wait_until="commit")
        assert token not in page.url


@pytest.mark.slow  # tests/door says it of the websocket at every run
def test_a_second_link_in_the_same_browser(app: AppServer, at_hand: StudyAtHand, new_page: NewPage) -> None:
    """Ben's link is opened in a second tab while Ann's pair is on the screen in the first."""
    first = new_page()
    through_onboarding(first, link_of(at_hand, "ann").url(app.url))
    on_pair(first, 1)
    on_screen(first).get_by_text("Comment, or report a broken pair").click()
    first.get_by_label("Comment (optional)").fill("typed by Ann")
    second = first.context.new_page()
    through_onboarding(second, link_of(at_hand, "ben").url(app.url))
    on_pair(second, 1)
    first.bring_to_front()
    first.locator(".st-key-choices").get_by_role("button", name="Left").click()
    settled(first)
    assert choices(at_hand, "ben") == []
    app.kill()  # now the first tab connects anew, with the cookie of the second link
    app.start()
    first.wait_for_timeout(3000)
    for key in "234":
        first.bring_to_front()
        if on_screen(first).get_by_text("Pair ").count():
            first.locator("body").press(key)
        settled(first)
        first.wait_for_timeout(500)
    said = [answer.comment for answer in answers_of(at_hand.store, at_hand.study_id, "ben")]
    assert "typed by Ann" not in said
    assert "left" not in choices(at_hand, "ben")
    assert set(choices(at_hand, "ann")) <= {"left", None}


@pytest.mark.slow  # tests/door says it of the websocket at every run
def test_two_tabs_of_one_rater_and_back_after_locking(
    app: AppServer, at_hand: StudyAtHand, new_page: NewPage
) -> None:
    page = new_page()
    through_onboarding(page, link_of(at_hand, "ann").url(app.url))
    for number in range(1, 5):
        on_pair(page, number)
        page.keyboard.press("1")
    expect(page.get_by_role("button", name="Lock my answers")).to_be_visible()
    stale = page.context.new_page()
    stale.goto(f"{app.url}/?at=2")
    on_pair(stale, 2)
    page.bring_to_front()
    settled(page)
    page.get_by_role("button", name="Lock my answers").click()
    expect(page.get_by_role("heading", name="One last question")).to_be_visible()
    settled(page)
    before = history_of(at_hand.store, at_hand.study_id)

    stale.bring_to_front()
    stale.keyboard.press("2")
    expect(stale.get_by_role("heading", name="One last question")).to_be_visible()
    _no_way_back(page)
    page.goto(f"{app.url}/?at=again-1")
    expect(page.get_by_role("heading", name="One last question")).to_be_visible(timeout=20_000)
    settled(page)
    page.wait_for_timeout(400)
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    settled(page)
    guesses = guesses_of(at_hand.store, at_hand.study_id, "ann")
    assert len(guesses) == 1
    _no_way_back(page)
    page.goto(f"{app.url}/?at=again-1")
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible(timeout=20_000)
    page.keyboard.press("2")
    settled(page)
    assert guesses_of(at_hand.store, at_hand.study_id, "ann") == guesses
    assert history_of(at_hand.store, at_hand.study_id) == before
    assert choices(at_hand, "ann") == ["left"] * 4


def _no_way_back(page: Page) -> None:
    """Back to every place of the history: no pair to answer, whatever is pressed there."""
    for _ in range(4):
        page.go_back(wait_until="commit")
        settled(page)
        page.wait_for_timeout(400)
        assert on_screen(page).get_by_text("press again to change").count() == 0
        assert page.get_by_role("heading", name="Pair 1 of").count() == 0
    for _ in range(4):
        page.go_forward(wait_until="commit")
        settled(page)


@pytest.mark.slow
def test_a_signed_out_tab_shows_and_downloads_nothing(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    at_hand = study_in(app_store, dataset(2), raters=["ann"], name="STUDYMARKER", state="draft")
    page = new_page()
    sign_in(page, app_store, app.url)
    page.goto(f"{app.url}/operation")
    expect(page.get_by_role("heading", name="Operation")).to_be_visible(timeout=20_000)
    page.get_by_role("tab", name="Backup").click()
    settled(page)
    with page.expect_download() as backup:
        page.get_by_role("button", name="Backup", exact=True).click()
    assert Path(backup.value.path()).read_bytes()[:2] == b"PK"

    other = page.context.new_page()
    other.goto(f"{app.url}/sign-out")
    other.get_by_role("button", name="Sign out").click()
    expect(on_screen(other).get_by_text("Open the personal link you were sent.")).to_be_visible(
        timeout=20_000
    )
    downloads: list[object] = []
    page.on("download", lambda download: downloads.append(download))
    wire = Wire().watch(page)
    page.bring_to_front()
    page.get_by_role("button", name="Backup", exact=True).click()
    page.wait_for_timeout(1500)
    assert downloads == []
    open_page(page, "Studies")
    expect(on_screen(page).get_by_text("Open the personal link you were sent.")).to_be_visible()
    settled(page)
    assert on_screen(page).get_by_text(at_hand.study.name).count() == 0
    page.reload()
    expect(on_screen(page).get_by_text("Open the personal link you were sent.")).to_be_visible(timeout=20_000)
    assert b"STUDYMARKER" not in wire.everything()


@pytest.fixture
def another_site(app: AppServer) -> Iterator[str]:
    """A page on another origin that frames the app, posts its forms and opens its websocket."""
    page = f"""<!doctype html><iframe src="{app.url}/" width=800 height=500></iframe>
      <iframe src="{app.url}/sign-in" width=800 height=500></iframe>
      <form id=out method=post action="{app.url}/sign-out"></form>
      <script>window.said = [];
      const socket = new WebSocket("{app.url.replace("http", "ws")}/_stcore/stream", ["streamlit"]);
      socket.onopen = () => said.push("open"); socket.onerror = () => said.push("refused");</script>""".encode()

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("host", [pytest.param("localhost", marks=pytest.mark.slow), "127.0.0.1"])
def test_another_site_cannot_frame_post_or_connect(
    app: AppServer, at_hand: StudyAtHand, new_page: NewPage, another_site: str, host: str
) -> None:
    """From another host, and from another port of the same one, where browsers do send the cookie."""
    page = new_page()
    page.goto(link_of(at_hand, "ann").url(app.url))
    expect(page.get_by_role("button", name="Start with three practice pairs")).to_be_visible(timeout=20_000)
    sign_in(page, at_hand.store, app.url)
    before = page.context.cookies()
    evil = page.context.new_page()
    evil.goto(another_site.replace("localhost", host))
    evil.wait_for_function("said.length > 0")
    assert evil.evaluate("said") == ["refused"]
    evil.wait_for_timeout(500)
    for frame in evil.frames[1:]:
        assert frame.url.startswith("chrome-error:") or frame.locator("body").inner_text() == ""
        assert frame.locator("input, button, #root").count() == 0
    evil.evaluate("document.getElementById('out').submit()")
    expect(
        on_screen(evil).get_by_text("Open this page in your browser and send the form from there.")
    ).to_be_visible()
    assert page.context.cookies() == before
    page.reload()
    expect(page.get_by_role("button", name="Start with three practice pairs")).to_be_visible(timeout=20_000)


@pytest.mark.slow
def test_names_of_the_study_and_of_others_never_reach_a_rater(
    app: AppServer, app_store: Store, new_page: NewPage
) -> None:
    """Ben has rated and commented, the study is under way; Ann's browser gets none of it."""
    data = dataset(2, ("A0",), ("MARKEROFONE", "MARKEROFTWO"))
    at_hand = study_in(app_store, data, raters=["ann", "PSEUDONYMOFBEN"], name="STUDYMARKER", repeat_share=0)
    vote(app_store, at_hand.tokens["PSEUDONYMOFBEN"], lambda _: "left").save_note(1, comment="COMMENTOFBEN")
    page = new_page()
    wire = Wire().watch(page)
    through_onboarding(page, link_of(at_hand, "ann").url(app.url))
    for number in (1, 2):
        on_pair(page, number)
        wire.add_document(page)
        page.keyboard.press("2")
    settled(page)
    wire.add_document(page)
    haystack = wire.everything()
    assert b"Alpha text of" in haystack
    for secret in (
        "MARKEROF",
        "PSEUDONYMOFBEN",
        "COMMENTOFBEN",
        "STUDYMARKER",
        "New study",
        "Operation",
    ):
        assert secret.encode() not in haystack, secret
