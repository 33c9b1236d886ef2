"""Frames and sessions of somebody else: replayed, resumed, taken over, mixed up in one browser."""

import hashlib

import pytest
from helpers.processes.at_the_door import NO_LINK, Door, nothing_leaked
from helpers.processes.raw_rater import RawRater, RawVisitor, ask, cookie_of, post, pressed
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import InvalidStatus

from core.store.raters import session_is_open

COMMENT = "COMMENTOFANOTHER"
MENU = ("Operation",)
"""Streamlit begins a session's next run with the menu of its last one: names of pages, which anybody may know."""


def resumed(visitor: RawVisitor, cookie: str, *, query: str = "at=1") -> RawRater:
    """A connection that asks to go on with the session of another one, as a tab does that was cut off."""
    taken = RawRater(visitor.base, cookie, protocols=("streamlit", "none", visitor.session_id))
    taken.query = query
    return taken


@pytest.mark.slow
def test_frames_replayed_by_others_are_no_votes(door: Door) -> None:
    link, other = door.link(), door.link()
    ann = door.rater(link)
    ann.go(None, [ann.comment(COMMENT)])
    for choice in (0, 1, 2):
        ann.choose(choice)
    frames, lines = list(ann.sent), door.lines(link)
    assert door.choices(link) == ["left", "right", "both_good"]

    before = door.choices(other)
    with door.rater(other) as ben, RawVisitor(door.url) as nobody, RawVisitor(door.url, ann.cookie) as again:
        for frame in frames:
            for visitor in (ben, nobody, again, ann):
                visitor.send(frame)
                visitor.until_quiet(0.3)  # to what is not on a visitor's screen no answer comes
        nothing_leaked(ben, nobody)
        assert COMMENT.encode() not in ben.everything() + nobody.everything()
    assert door.choices(other) == before == []
    assert door.choices(link) == ["left", "right", "both_good"]
    assert door.lines(link) == lines, "the same press again is no second vote"


def test_a_session_cannot_be_taken_over(door: Door) -> None:
    link, other = door.link(), door.link()
    ann = door.rater(link)
    ann.go(None, [ann.comment(COMMENT)])
    shown = ann.buttons()
    ann.close()
    saved = door.answers(link)
    for cookie in ("", cookie_of(other.url(door.url)), door.cookie("rater", "G" * 22)):
        with resumed(ann, cookie) as thief:
            thief.go("at=1", [pressed(shown["Left"])])
            assert COMMENT.encode() not in thief.everything()
            assert "text of q" not in thief.on_screen()
            nothing_leaked(thief)
    assert door.answers(link) == saved, "no vote in the name of the first"
    assert door.answers(other) == ()


def test_a_live_session_cannot_be_listened_to(door: Door) -> None:
    """The session of a tab that is still open, in the middle of a run whose pages are not sent yet."""
    link, other = door.link(), door.link()
    ann = door.rater(link)
    ann.send(ann.rerun("at=2"))
    with resumed(ann, cookie_of(other.url(door.url))) as thief:
        thief.go("at=1")
        assert "text of q" not in thief.on_screen()
        assert b"text of q" not in thief.everything()
    ann.close()


def test_the_mark_of_a_session_cannot_be_brought_along(door: Door) -> None:
    """Whose session it is says the guard, not a header of the visitor."""
    link, other = door.link(), cookie_of(door.link().url(door.url))
    ann = door.rater(link)
    shown, session = ann.buttons(), ann.session_id
    mark = hashlib.sha256(repr([tuple(ann.cookie.split("=", 1))]).encode()).hexdigest()
    ann.close()
    protocols = ("streamlit", "none", session)
    with RawRater(door.url, other, {"X-Assay-Owner": mark}, protocols) as thief:
        thief.go("at=1", [pressed(shown["Left"])])
        assert thief.session_id != session
    with RawRater(door.url, ann.cookie, protocols=protocols) as again:
        assert again.go("at=1").session_id == session, "the rater's own tab goes on after a break"
    assert door.answers(link) == ()


def test_the_session_of_the_admin_cannot_be_taken_over(door: Door) -> None:
    link = door.link()
    admin = RawVisitor(door.url, door.admin())
    admin.go("", page_name="studies")
    admin.go("", page_name="operation")
    assert "Operation" in admin.on_screen()
    page, shown = admin.page, admin.buttons()
    admin.close()
    for cookie in ("", cookie_of(link.url(door.url))):
        with resumed(admin, cookie, query="") as thief:
            thief.go("", [pressed(button) for button in shown.values()], page_script_hash=page)
            assert not set(thief.buttons()) & set(shown)
            nothing_leaked(thief, but=MENU)
            message = BackMsg()
            message.backend_operation_request.request_id = "r"
            message.backend_operation_request.session_id = thief.session_id
            message.backend_operation_request.deferred_file.file_id = "0"
            thief.send(message.SerializeToString())
            thief.go("")
            nothing_leaked(thief, but=MENU)


def test_another_link_in_the_same_browser_never_gets_the_first_ones_press(door: Door) -> None:
    """Tab one shows Ann's pair; in tab two Ben's link is opened; the connection of tab one breaks."""
    link, other = door.link(), door.link()
    ann, first_of_ben = door.rater(link), door.rater(other)
    first_of_ben.go("at=2")
    typed, shown = ann.comment(COMMENT), ann.buttons()
    ann.close()
    with resumed(ann, first_of_ben.cookie) as tab:
        tab.go("at=1", [typed, pressed(shown["Left"])])
        assert door.answers(other) == (), "nor what was typed in the tab"
        tab.go("at=1", [typed])
        tab.go("at=2", [typed])
        assert COMMENT.encode() not in tab.everything()
    assert door.answers(other) == ()
    assert door.answers(link) == ()
    first_of_ben.close()


def test_after_a_restart_the_first_tab_still_answers_for_nobody_else(door: Door) -> None:
    """Both have one pair only, the same one, on the same sides: even then the press was Ann's."""
    link, other = door.link(), door.link()
    ann, ben = door.rater(link), door.rater(other)
    typed, shown = ann.comment(COMMENT), ann.buttons()
    lists = {rater.on_screen().split("Reference")[0] for rater in (ann, ben)}
    ann.close()
    ben.close()
    door.app.kill()
    door.app.start()
    with resumed(ann, ben.cookie) as tab:
        tab.go("at=1", [typed, pressed(shown["Left"])])
        tab.go("at=1", [typed])
    assert door.answers(other) == (), f"the lists began with {lists}"


def test_a_tab_of_an_admin_who_signed_out_shows_and_hands_out_nothing(door: Door) -> None:
    session = "a-session-open-in-two-tabs"
    cookie = door.admin(session)
    tab = RawVisitor(door.url, cookie)
    tab.go("", page_name="operation")
    frame = BackMsg()
    frame.backend_operation_request.request_id = "r"
    frame.backend_operation_request.session_id = tab.session_id
    button = next(e.download_button for e in tab.elements.values() if e.HasField("download_button"))
    frame.backend_operation_request.deferred_file.file_id = button.deferred_file_id
    assert button.deferred_file_id
    tab.send(frame.SerializeToString())
    url = _download_url(tab)
    assert url
    media = ask(door.url, url, headers={"Cookie": cookie})
    assert (media.status, media.body[:2]) == (200, b"PK")

    rater = cookie_of(door.link().url(door.url))
    for wrong in ("", rater, door.cookie("admin", rater.split("=")[1]), door.cookie("rater", session)):
        assert ask(door.url, url, headers={"Cookie": wrong} if wrong else {}).status == 403

    assert post(door.url, "/sign-out", cookie=cookie).status == 303
    assert not session_is_open(door.store, session)
    tab.received.clear()
    tab.send(frame.SerializeToString())
    assert not _download_url(tab)
    for page in ("operation", "studies", "check"):
        tab.go("", page_name=page)
        assert "for the admin" in tab.on_screen() or NO_LINK in tab.on_screen()
    nothing_leaked(tab, but=MENU)
    assert ask(door.url, url, headers={"Cookie": cookie}).status == 403
    assert ask(door.url, url).status == 403


def _download_url(tab: RawVisitor) -> str:
    """Where a download that was asked for lies; empty when it was refused."""
    while True:
        message = tab.read()
        if message.WhichOneof("type") == "backend_operation_response":
            return message.backend_operation_response.deferred_file.url


def test_two_tabs_and_a_double_press_give_one_line_a_choice(door: Door) -> None:
    link = door.link()
    one = door.rater(link)
    two = RawRater(door.url, one.cookie)
    two.go("at=1")
    assert two.choose(1)
    two.go("at=1")
    one.send(one.rerun(None, [pressed(one.buttons()["Right"])]))
    one.until_drawn()
    assert (door.choices(link), door.lines(link)) == (["right"], 1)
    one.close()
    two.close()


@pytest.mark.slow
def test_nothing_changes_once_the_answers_are_locked(door: Door) -> None:
    link = door.link()
    rater = door.rater(link)
    early = rater.buttons()
    while rater.place != "finish":
        rater.choose(0)
    stale = RawRater(door.url, rater.cookie)
    stale.go("at=2")
    rater.press("Lock my answers")
    answers, lines = door.answers(link), door.lines(link)
    for query in ("at=1", "at=list", "at=finish", "at=guide", "at=try-1", "at=again-99", "at=again-1", "at="):
        rater.go(query, [pressed(early["Right"])])
        assert "**Pair " not in rater.on_screen()
    stale.send(stale.rerun(None, [stale.comment(COMMENT), pressed(stale.buttons()["Both bad"])]))
    stale.until_drawn()
    assert "**Pair " not in stale.on_screen()
    assert (door.answers(link), door.lines(link)) == (answers, lines)
    while rater.place != "end":
        rater.choose_again(0)
    for query in ("at=again-1", "at=1", "at=list"):
        rater.go(query)
        assert "Done." in rater.on_screen()
        assert not rater.buttons()
    assert (door.answers(link), door.lines(link)) == (answers, lines)
    nothing_leaked(rater, stale)
    rater.close()
    stale.close()


def test_a_connection_from_another_site_is_refused(door: Door) -> None:
    cookie = cookie_of(door.link().url(door.url))
    others = ("http://evil.example", "http://localhost:1", "http://127.0.0.1:1", "http://127.0.0.1", "null")
    for origin in (*others, door.url + ".evil.example"):
        with pytest.raises(InvalidStatus, match="403"):
            RawVisitor(door.url, cookie, headers={"Origin": origin}).go("at=1")
    RawVisitor(door.url, cookie, headers={"Origin": door.url}).go("at=1").close()
