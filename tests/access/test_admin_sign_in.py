"""One-time link, passphrase, sessions and their limits, without a server."""

import hashlib
import threading
from contextlib import nullcontext
from datetime import datetime

import pytest

from core import access
from core.access import MOST, NO_ENTRY, UNKNOWN_TOKEN, knocked
from core.errors import InputError, NotAllowed
from core.store import Store, open_store
from core.store import raters as trail
from core.store import studies as clock
from core.store.raters import count_event, count_since, events
from core.store.studies import read_setting

PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def quick_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A passphrase is hashed in no time, for tests that are about counts and sessions."""
    monkeypatch.setattr(access, "_SCRYPT", {"n": 2, "r": 8, "p": 1})


@pytest.fixture
def signed_up(store: Store) -> Store:
    access.choose_passphrase(store, access.make_link(store), PASSPHRASE, PASSPHRASE)
    return store


@pytest.fixture
def clock_at(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds by which Assay's clock is ahead; a test changes the number."""
    ahead = [0.0]
    real = clock.now_utc

    class Shifted(datetime):
        @classmethod
        def now(cls, tz=None):  # type: ignore[no-untyped-def, override]
            from datetime import timedelta

            return datetime.now(tz) + timedelta(seconds=ahead[0])

    monkeypatch.setattr(clock, "datetime", Shifted)
    assert real() > "2026"
    return ahead


@pytest.mark.usefixtures("quick_hash")
def test_a_link_works_once(store: Store) -> None:
    link = access.make_link(store)
    assert access.link_is_open(store, link)
    assert not access.has_passphrase(store)
    session = access.choose_passphrase(store, link, PASSPHRASE, PASSPHRASE)
    assert access.is_admin(store, session)
    assert access.has_passphrase(store)
    assert not access.link_is_open(store, link)
    with pytest.raises(NotAllowed, match="has been used or has expired"):
        access.choose_passphrase(store, link, "another one, long enough", "another one, long enough")
    assert access.is_admin(store, access.sign_in(store, PASSPHRASE, ""))


def test_a_newer_link_makes_the_older_void_and_a_day_ends_it(store: Store, clock_at: list[float]) -> None:
    old, new = access.make_link(store), access.make_link(store)
    assert (access.link_is_open(store, old), access.link_is_open(store, new)) == (False, True)
    clock_at[0] = access.LINK_HOURS * 3600 - 60
    assert access.link_is_open(store, new)
    clock_at[0] = access.LINK_HOURS * 3600 + 60
    assert not access.link_is_open(store, new)


@pytest.mark.parametrize(
    ("passphrase", "again", "said"),
    [
        ("short", "short", "fewer than 12 characters"),
        ("ﬀﬀﬀﬀﬀﬀ"[:3], "ﬀﬀﬀﬀﬀﬀ"[:3], "fewer than 12"),
        ("x" * 1001, "x" * 1001, "more than 1000"),
        (PASSPHRASE, PASSPHRASE + " ", "the two entries differ"),
        ("a", "b", "the two entries differ"),
        ("", "", "fewer than 12"),
    ],
)
def test_a_passphrase_that_cannot_be_used_leaves_the_link_open(
    store: Store, passphrase: str, again: str, said: str
) -> None:
    link = access.make_link(store)
    with pytest.raises(InputError, match=said):
        access.choose_passphrase(store, link, passphrase, again)
    assert access.link_is_open(store, link)
    assert not access.has_passphrase(store)


def test_the_hash_is_scrypt_of_the_salted_passphrase(signed_up: Store) -> None:
    """By hand, from what the database keeps; RFC 7914's function is hashlib's."""
    kept = read_setting(signed_up, "admin_passphrase")
    assert kept is not None
    name, n, r, p, salt, digest = kept.split("$")
    assert (name, n, r, p) == ("scrypt", "32768", "8", "3")
    by_hand = hashlib.scrypt(
        PASSPHRASE.encode(), salt=bytes.fromhex(salt), n=2**15, r=8, p=3, maxmem=2**26, dklen=32
    )
    assert by_hand.hex() == digest
    assert len(bytes.fromhex(salt)) == 16


def test_nothing_secret_is_in_the_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    store = open_store(tmp_path / "assay.db")
    link = access.make_link(store)
    session = access.choose_passphrase(store, link, PASSPHRASE, PASSPHRASE)
    store.close()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (link, session, PASSPHRASE):
        assert secret.encode() not in content


@pytest.mark.usefixtures("quick_hash")
def test_the_same_letters_typed_in_another_way_are_the_same(store: Store) -> None:
    composed, decomposed = "ä" * 12, "a\u0308" * 12
    access.choose_passphrase(store, access.make_link(store), composed, composed)
    assert access.is_admin(store, access.sign_in(store, decomposed, ""))


@pytest.mark.usefixtures("quick_hash")
def test_too_many_wrong_ones_from_one_address(signed_up: Store, clock_at: list[float]) -> None:
    for _ in range(access.MOST_FAILURES):
        with pytest.raises(NotAllowed, match="Wrong passphrase"):
            access.sign_in(signed_up, "wrong", "1.2.3.4")
    with pytest.raises(NotAllowed, match=r"Wait 15 minutes, or create a one-time link"):
        access.sign_in(signed_up, PASSPHRASE, "1.2.3.4")
    assert access.sign_in(signed_up, PASSPHRASE, "5.6.7.8"), "another address is not held up"
    with open_store(signed_up.path) as restarted, pytest.raises(NotAllowed, match="Wait"):
        access.sign_in(restarted, PASSPHRASE, "1.2.3.4")
    clock_at[0] = access.TRIES_WINDOW_SECONDS + 60
    assert access.sign_in(signed_up, PASSPHRASE, "1.2.3.4")


@pytest.mark.usefixtures("quick_hash")
def test_too_many_wrong_ones_from_many_addresses(signed_up: Store) -> None:
    for number in range(access.MOST_FAILURES_OF_ALL):
        count_event(signed_up, access.WRONG_PASSPHRASE, f"10.0.0.{number}")
    with pytest.raises(NotAllowed, match="Too many"):
        access.sign_in(signed_up, PASSPHRASE, "1.1.1.1")
    link = access.make_link(signed_up)  # whoever runs the app is never locked out
    assert access.choose_passphrase(signed_up, link, "quite another passphrase", "quite another passphrase")


@pytest.mark.parametrize("processes", ["one", "several"])
def test_attempts_at_the_same_time_do_not_slip_through(
    signed_up: Store, processes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several app processes share the database, and not the lock."""
    if processes == "several":
        monkeypatch.setattr(access, "_one_at_a_time", nullcontext())
    said: list[str] = []

    def attempt() -> None:
        with open_store(signed_up.path) as own:
            try:
                access.sign_in(own, "wrong", "9.9.9.9")
            except NotAllowed as refused:
                said.append(str(refused))

    threads = [threading.Thread(target=attempt) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("Wrong passphrase" in sentence for sentence in said) == access.MOST_FAILURES
    assert not count_since(signed_up, access.BEING_CHECKED, access.TRIES_WINDOW_SECONDS)


def test_an_attempt_whose_process_died_counts(signed_up: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: str) -> bool:
        raise SystemExit

    monkeypatch.setattr(access, "_matches", die)
    for _ in range(access.MOST_FAILURES):
        with pytest.raises(SystemExit):
            access.sign_in(signed_up, "wrong", "9.9.9.9")
    with pytest.raises(NotAllowed, match="Wait"):
        access.sign_in(signed_up, PASSPHRASE, "9.9.9.9")


@pytest.mark.slow
def test_a_clock_set_back_locks_nobody_out(signed_up: Store, clock_at: list[float]) -> None:
    clock_at[0] = 86_400
    for _ in range(access.MOST_FAILURES):
        with pytest.raises(NotAllowed):
            access.sign_in(signed_up, "wrong", "1.2.3.4")
    clock_at[0] = 0
    assert access.sign_in(signed_up, PASSPHRASE, "1.2.3.4")


@pytest.mark.usefixtures("quick_hash")
def test_sessions_end(signed_up: Store, clock_at: list[float]) -> None:
    first, second = (access.sign_in(signed_up, PASSPHRASE, "") for _ in range(2))
    access.sign_out(signed_up, first)
    assert (access.is_admin(signed_up, first), access.is_admin(signed_up, second)) == (False, True)
    clock_at[0] = access.SESSION_DAYS * 86_400 + 60
    assert not access.is_admin(signed_up, second)
    clock_at[0] = 0
    third = access.sign_in(signed_up, PASSPHRASE, "")
    access.choose_passphrase(signed_up, access.make_link(signed_up), PASSPHRASE + "!", PASSPHRASE + "!")
    assert not access.is_admin(signed_up, third), "a new passphrase ends every session"
    with pytest.raises(NotAllowed):
        access.sign_in(signed_up, PASSPHRASE, "")
    for wrong in ("", "x", "None", third[:-1]):
        assert not access.is_admin(signed_up, wrong)


def test_knocking_is_counted_in_one_line_and_no_further_than_its_limit(store: Store) -> None:
    answers = [knocked(store, UNKNOWN_TOKEN, "1.2.3.4") for _ in range(MOST + 5)]
    assert answers == [False] * MOST + [True] * 5
    assert not knocked(store, UNKNOWN_TOKEN, "5.6.7.8")
    assert [(e.kind, e.address, e.n) for e in events(store)] == [
        (UNKNOWN_TOKEN, "5.6.7.8", 1),
        (UNKNOWN_TOKEN, "1.2.3.4", MOST),
    ]


@pytest.mark.usefixtures("quick_hash")
def test_knocks_drive_out_the_oldest_of_their_kind_alone(
    signed_up: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the count of wrong passphrases nor what the admin did is lost to whoever knocks often enough."""
    monkeypatch.setattr(trail, "MOST_EVENTS", 20)
    for _ in range(access.MOST_FAILURES):
        with pytest.raises(NotAllowed):
            access.sign_in(signed_up, "wrong", "1.2.3.4")
    for number in range(50):
        knocked(signed_up, UNKNOWN_TOKEN, f"10.0.0.{number}")
        knocked(signed_up, NO_ENTRY, f"10.0.0.{number}")
    with pytest.raises(NotAllowed, match="Too many"):
        access.sign_in(signed_up, PASSPHRASE, "1.2.3.4")
    kept = events(signed_up, 1_000)
    for kind in (UNKNOWN_TOKEN, NO_ENTRY):
        assert [e.address for e in kept if e.kind == kind] == [f"10.0.0.{n}" for n in range(49, 29, -1)]
    assert {access.LINK_MADE, access.CHOSEN, access.WRONG_PASSPHRASE} <= {e.kind for e in kept}


def test_a_line_of_the_trail_is_short(store: Store) -> None:
    for _ in range(2):
        count_event(store, UNKNOWN_TOKEN, "x" * 60_000)
    assert [(len(event.address), event.n) for event in events(store)] == [(45, 2)]
