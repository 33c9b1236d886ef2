"""Links and passphrases that somebody guesses, finds or kept: nothing opens, and each attempt is counted."""

import threading
from itertools import count

import pytest
from helpers.processes.at_the_door import NO_LINK, Door, nothing_leaked
from helpers.processes.raw_rater import RawVisitor, ask, cookie_of, post

from core import access
from core.access import MOST, NO_ENTRY, UNKNOWN_TOKEN
from core.store.raters import count_event, insert_session, session_is_open
from core.study.raters import reissue_link, revoke_link

PASSPHRASE = "correct horse battery staple"
_hosts = count(10)


@pytest.fixture
def address() -> str:
    """Somebody who has not been here before: attempts are counted by address."""
    return f"127.0.1.{next(_hosts)}"


def stranger(door: Door, cookie: str, address: str) -> RawVisitor:
    """Connect and ask for a rater's place, an admin's page and the front page; nothing must come of it."""
    visitor = RawVisitor(door.url, cookie, address=address)
    for query, page in (("at=1", "annotate"), ("", ""), ("", "studies"), ("at=list", "operation")):
        visitor.go(query, page_name=page)
        said = visitor.on_screen()
        assert "link does not work" in said or NO_LINK in said
        assert not visitor.buttons()
        assert "text of" not in said
        assert "Question q" not in said
    visitor.close()
    nothing_leaked(visitor)
    return visitor


def test_a_link_that_opens_nothing_is_counted_and_answered_alike(door: Door, address: str) -> None:
    good = door.link()
    revoked, replaced = door.link(), door.link()
    revoke_link(door.store, door.at_hand.study, revoked.rater_id)
    reissue_link(door.store, door.at_hand.study, replaced.rater_id)
    guesses = [
        revoked.token,
        replaced.token,
        good.token[:-1],
        good.token + "A",
        good.token.swapcase(),
        "A" * 22,
        "x" * 5_000,
        "%00",
        "%ff%fe",
        "..%2f..%2fvar",
    ]
    pages = set()
    for guess in guesses:
        reply = ask(door.url, f"/r/{guess}", address=address)
        assert (reply.status, reply.cookies) in ((404, ()), (400, ())), guess
        if b"link does not work" in reply.body:
            pages.add(reply.body)
    assert len(pages) == 1, "revoked, replaced and unknown links must look the same"
    assert door.counted(UNKNOWN_TOKEN, address) >= 7  # the last three are no addresses of links at all
    for _ in range(MOST):
        last = ask(door.url, f"/r/{'B' * 22}", address=address)
    assert (last.status, b"Too many" in last.body) == (429, True)
    assert door.counted(UNKNOWN_TOKEN, address) == MOST, "after that nothing more is written"
    assert cookie_of(good.url(door.url), address).endswith(good.token), "a rater may share the address"


@pytest.mark.parametrize("kind", ["guessed", "truncated", "revoked", "replaced", "of the other kind", "long"])
def test_a_forged_cookie_of_a_rater_opens_nothing(door: Door, address: str, kind: str) -> None:
    link = door.link()
    token = {"guessed": "C" * 22, "truncated": link.token[:-1], "long": "D" * 6_000}.get(kind, link.token)
    if kind == "of the other kind":
        door.admin(token := "session-of-the-admin-in-a-raters-cookie")
    if kind == "revoked":
        revoke_link(door.store, door.at_hand.study, link.rater_id)
    if kind == "replaced":
        reissue_link(door.store, door.at_hand.study, link.rater_id)
    stranger(door, door.cookie("rater", token), address)
    if kind != "long":  # longer than any token: no cookie of ours
        assert door.counted(UNKNOWN_TOKEN, address) == 1, "one line a visit"


def test_a_session_that_ended_or_was_never_one_opens_nothing(door: Door, address: str) -> None:
    link = door.link()
    over, signed_out = "a session whose time is over".replace(" ", "-"), "a-session-that-was-signed-out"
    insert_session(door.store, over, -1)
    cookie = door.admin(signed_out)
    assert b"303" in str(post(door.url, "/sign-out", address, cookie).status).encode()
    assert not session_is_open(door.store, signed_out)
    for token in (over, signed_out, link.token, "E" * 43):
        stranger(door, door.cookie("admin", token), address)


def test_addresses_of_the_old_kind_open_nothing(door: Door, address: str) -> None:
    link = door.link()
    session = door.admin().split("=", 1)[1]
    for query in (f"t={link.token}", f"admin={session}", f"t={link.token}&at=1", f"admin={session}&at=list"):
        assert not ask(door.url, f"/?{query}", address=address).cookies
        visitor = RawVisitor(door.url, address=address).go(query)
        assert not visitor.buttons()
        visitor.close()
        nothing_leaked(visitor)


def test_an_admin_page_is_counted_when_a_stranger_knocks(door: Door, address: str) -> None:
    assert ask(door.url, "/media/" + "a" * 56 + ".csv", address=address).status == 403
    assert ask(door.url, "/_stcore/upload_file/x/y", method="PUT", body=b"x", address=address).status == 403
    assert door.counted(NO_ENTRY, address) == 2


def test_the_one_time_link_works_once(door: Door, address: str) -> None:
    void, token = access.make_link(door.store), access.make_link(door.store)
    fields = {"passphrase": PASSPHRASE, "again": PASSPHRASE}
    for guess in (void, "F" * 22, token[:-1], "x" * 3_000):
        assert ask(door.url, f"/admin/{guess}", address=address).status == 404
        assert post(door.url, f"/admin/{guess}", address, **fields).status == 404
    assert door.counted(access.UNKNOWN_LINK, address) == 8
    assert ask(door.url, f"/admin/{token}").status == 200, (
        "a mail program looks at a link before a person does"
    )
    short = post(door.url, f"/admin/{token}", address, passphrase="short", again="short")
    assert (short.status, short.cookies) == (422, ())
    chosen = post(door.url, f"/admin/{token}", address, **fields)
    assert (chosen.status, len(chosen.cookies)) == (303, 1)
    again = post(door.url, f"/admin/{token}", address, **fields)
    assert (again.status, again.cookies) == (404, ())


def test_a_one_time_link_is_over_after_a_day(
    door: Door, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "LINK_HOURS", -1)
    token = access.make_link(door.store)
    assert ask(door.url, f"/admin/{token}", address=address).status == 404


def test_two_at_once_with_one_link_set_one_passphrase(door: Door, address: str) -> None:
    token = access.make_link(door.store)
    replies = []

    def choose(words: str) -> None:
        replies.append(post(door.url, f"/admin/{token}", address, passphrase=words, again=words))

    together = [threading.Thread(target=choose, args=(f"{PASSPHRASE} {n}",)) for n in range(4)]
    for one in together:
        one.start()
    for one in together:
        one.join()
    assert sorted(reply.status for reply in replies) == [303, 404, 404, 404]


def test_guessed_passphrases_are_refused_and_then_even_the_right_one(door: Door, address: str) -> None:
    _passphrase_is_set(door)
    tries = (
        "password1234",
        "",
        "x" * 2_000,
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        "0",
    )
    for wrong in tries[: access.MOST_FAILURES]:
        reply = post(door.url, "/sign-in", address, passphrase=wrong)
        assert (reply.status, reply.cookies) == (403, ())
        assert b"Wrong passphrase" in reply.body
    assert door.counted(access.WRONG_PASSPHRASE, address) == access.MOST_FAILURES
    right = post(door.url, "/sign-in", address, passphrase=PASSPHRASE)
    assert (right.status, right.cookies, b"Too many" in right.body) == (403, (), True)
    elsewhere = post(door.url, "/sign-in", "127.0.2.1", passphrase=PASSPHRASE)
    assert elsewhere.status == 303, "one address does not lock out the others"
    way_in = access.make_link(door.store)
    chosen = post(door.url, f"/admin/{way_in}", address, passphrase=PASSPHRASE, again=PASSPHRASE)
    assert chosen.status == 303


def test_guesses_from_many_addresses_are_refused_together(door: Door, address: str) -> None:
    _passphrase_is_set(door)
    for host in range(access.MOST_FAILURES_OF_ALL):
        count_event(door.store, access.WRONG_PASSPHRASE, f"192.0.2.{host}")
    try:
        right = post(door.url, "/sign-in", address, passphrase=PASSPHRASE)
        assert (right.status, right.cookies) == (403, ())
    finally:
        with door.store.writing():
            door.store.change("delete from event where address like :net", {"net": "192.0.2.%"})
    assert post(door.url, "/sign-in", address, passphrase=PASSPHRASE).status == 303


@pytest.mark.slow
def test_raters_come_and_answer_while_passphrases_are_guessed(door: Door) -> None:
    """Each guess costs the server a tenth of a second, one after the other; raters do not queue behind them."""
    _passphrase_is_set(door)
    link = door.link()
    enough = threading.Event()

    def guess(host: int) -> None:
        while not enough.is_set():
            post(door.url, "/sign-in", f"127.0.3.{host}", passphrase="not the one you want")

    guessers = [threading.Thread(target=guess, args=(host,)) for host in range(1, 25)]
    try:
        for guesser in guessers:
            guesser.start()
        with door.rater(link) as rater:
            assert [rater.choose(n) for n in range(3)] == [True] * 3
    finally:
        enough.set()
        for guesser in guessers:
            guesser.join()
        with door.store.writing():
            door.store.change("delete from event where address like :net", {"net": "127.0.3.%"})
    assert door.choices(link) == ["left", "right", "both_good"]


def _passphrase_is_set(door: Door) -> None:
    access.choose_passphrase(door.store, access.make_link(door.store), PASSPHRASE, PASSPHRASE)
