"""Access control: the admin's passphrase and sessions, trusted proxies, and a log of refused attempts."""

import hashlib
import hmac
import ipaddress
import secrets
import threading
import unicodedata
from collections.abc import Iterable

from core.errors import InputError, NotAllowed
from core.installation import COMMAND, START
from core.store import Store
from core.store.raters import (
    begin_event,
    count_event,
    count_since,
    delete_session,
    insert_session,
    session_is_open,
    take_back_event,
    token_sha256,
)
from core.store.studies import delete_setting, now_utc, read_setting, write_setting

PROXIES = "FORWARDED_ALLOW_IPS"
"""Environment variable of uvicorn: the proxies whose X-Forwarded-For it trusts. Unset, it trusts this machine."""
FRONT_HEADER = "X-Assay-Front"
FRONT_SECRET, FRONT_PROXIES = "ASSAY_FRONT_SECRET", "ASSAY_FRONT_PROXIES"
"""Environment variables of an app process behind the proxy that `serve --processes` starts: what this proxy alone sends in
FRONT_HEADER, and the named proxies before it."""
UNKNOWN = "unknown"


def check_proxies(named: Iterable[str]) -> None:
    """Raise InputError unless each is an IP address or a network.

    uvicorn ignores any other name, and with `*` it trusts addresses that clients invent.
    """
    problems = []
    for proxy in named:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as problem:
            problems.append(f"`{proxy}`: {problem}")
    if problems:
        raise InputError(
            f"Give the proxy as IP address or network: `{START} --behind-proxy 127.0.0.1`, or {PROXIES}=127.0.0.1.",
            problems,
        )


def known_address(host: str) -> str:
    """Return an IP address in its shortest form, or `unknown`, because a proxy may forward any text of any length."""
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        return UNKNOWN
    if isinstance(parsed, ipaddress.IPv6Address):
        # An address built from its number has no zone, which would be free text.
        parsed = parsed.ipv4_mapped or ipaddress.IPv6Address(int(parsed))
    return str(parsed)


UNKNOWN_TOKEN = "unknown link"
NO_ENTRY = "refused without sign-in"
MOST, WINDOW_SECONDS = 30, 15 * 60
"""Refused attempts from one address within the window; further ones are not stored."""


def knocked(store: Store, kind: str, address: str) -> bool:
    """Record a refused attempt; return whether there were too many from this address.

    A valid link is accepted even then: its 128 bits cannot be guessed, and raters may share an address with the
    attacker.
    """
    if count_since(store, kind, WINDOW_SECONDS, address) >= MOST:
        return True
    count_event(store, kind, address, window_seconds=WINDOW_SECONDS)
    return False


LINK_HOURS = 24
SESSION_DAYS = 7
SHORTEST_PASSPHRASE, LONGEST_PASSPHRASE = 12, 1_000
"""Length in characters."""
MOST_FAILURES, TRIES_WINDOW_SECONDS = 5, 15 * 60
"""Wrong passphrases from one address within the window; further ones are refused unchecked."""
MOST_FAILURES_OF_ALL = 50
"""The same limit for all addresses together."""

_LINK, _LINK_UNTIL, _PASSPHRASE = "admin_link_sha256", "admin_link_until", "admin_passphrase"
_SCRYPT = {"n": 2**15, "r": 8, "p": 3}
"""RFC 7914; the minimum in OWASP's Password Storage Cheat Sheet for 32 MiB."""
_one_at_a_time = threading.Lock()
"""Serialises attempts, so that many at once do not take memory and processor time from raters."""

WRONG_PASSPHRASE, BEING_CHECKED, SIGNED_IN, CHOSEN, LINK_MADE, UNKNOWN_LINK = (
    "wrong passphrase",
    "passphrase being checked",
    "admin signed in",
    "passphrase chosen",
    "one-time link made",
    "unknown admin link",
)


def has_passphrase(store: Store) -> bool:
    """Return whether this database has an admin passphrase."""
    return read_setting(store, _PASSPHRASE) is not None


def make_link(store: Store) -> str:
    """Create a one-time token to choose a passphrase, valid for a day; it replaces the previous one."""
    token = secrets.token_urlsafe(16)
    with store.writing():
        write_setting(store, _LINK, token_sha256(token))
        write_setting(store, _LINK_UNTIL, now_utc(LINK_HOURS * 3600))
        count_event(store, LINK_MADE, "")
    return token


def link_is_open(store: Store, token: str) -> bool:
    """Return whether the one-time link with this token is still valid."""
    known, until = read_setting(store, _LINK), read_setting(store, _LINK_UNTIL)
    if known is None or until is None or now_utc() > until:
        return False
    return hmac.compare_digest(known, token_sha256(token))


def choose_passphrase(store: Store, link: str, passphrase: str, again: str) -> str:
    """Set the passphrase with a one-time link; return a session token. All older sessions end.

    Raises InputError for a passphrase that is too short or differs from its repetition, and NotAllowed for a link that
    was used, replaced or has expired. Only a saved passphrase uses up the link.
    """
    problems = []
    if len(_normal(passphrase)) < SHORTEST_PASSPHRASE:
        problems.append(
            f"it has fewer than {SHORTEST_PASSPHRASE} characters; a few words are easy to remember"
        )
    if len(passphrase) > LONGEST_PASSPHRASE:
        problems.append(f"it has more than {LONGEST_PASSPHRASE} characters")
    if passphrase != again:
        problems.append("the two entries differ")
    if problems:
        raise InputError("Invalid passphrase", problems)
    hashed = _hash(passphrase, secrets.token_bytes(16))
    with store.writing():
        if not link_is_open(store, link):
            raise NotAllowed(
                f"This link has been used or has expired. Create a new one: {COMMAND} admin link"
            )
        delete_setting(store, _LINK)
        delete_setting(store, _LINK_UNTIL)
        write_setting(store, _PASSPHRASE, hashed)
        delete_session(store)
        count_event(store, CHOSEN, "")
        return _new_session(store)


def sign_in(store: Store, passphrase: str, address: str) -> str:
    """Return a session token for the correct passphrase. Raises NotAllowed for a wrong one, or after too many."""
    with _one_at_a_time:
        with store.writing():
            if _too_many(store, address):
                raise NotAllowed(
                    f"Too many wrong passphrases. Wait {TRIES_WINDOW_SECONDS // 60} minutes, or create a one-time link "
                    f"on the app's machine: {COMMAND} admin link"
                )
            # Counted before it is checked: another process may be checking one now. It counts on if this process dies.
            attempt = begin_event(store, BEING_CHECKED, address)
        known = read_setting(store, _PASSPHRASE)
        right = known is not None and _matches(passphrase, known)
        with store.writing():
            take_back_event(store, attempt)
            if not right:
                count_event(store, WRONG_PASSPHRASE, address, window_seconds=TRIES_WINDOW_SECONDS)
    if not right:
        raise NotAllowed("Wrong passphrase.")
    with store.writing():
        count_event(store, SIGNED_IN, address)
        return _new_session(store)


def is_admin(store: Store, session: str) -> bool:
    """Return whether the token belongs to an open session of the admin."""
    return session_is_open(store, session)


def sign_out(store: Store, session: str | None = None) -> None:
    """End one session, or all sessions with None."""
    delete_session(store, session)


def _new_session(store: Store) -> str:
    token = secrets.token_urlsafe(32)
    insert_session(store, token, SESSION_DAYS * 86_400)
    return token


def _too_many(store: Store, address: str) -> bool:
    def tried(at: str | None) -> int:
        kinds = (WRONG_PASSPHRASE, BEING_CHECKED)
        return sum(count_since(store, kind, TRIES_WINDOW_SECONDS, at) for kind in kinds)

    return tried(address) >= MOST_FAILURES or tried(None) >= MOST_FAILURES_OF_ALL


def _normal(passphrase: str) -> str:
    """Normalise a passphrase, so that composed and decomposed letters from any keyboard are equal."""
    return unicodedata.normalize("NFKC", passphrase)


def _hash(passphrase: str, salt: bytes) -> str:
    given = _normal(passphrase).encode("utf-8", "surrogatepass")
    digest = hashlib.scrypt(given, salt=salt, maxmem=2**26, dklen=32, **_SCRYPT)
    return "$".join(("scrypt", *(str(value) for value in _SCRYPT.values()), salt.hex(), digest.hex()))


def _matches(passphrase: str, known: str) -> bool:
    salt = bytes.fromhex(known.split("$")[4])
    # A longer passphrase was never accepted, so do not hash it.
    return len(passphrase) <= LONGEST_PASSPHRASE and hmac.compare_digest(known, _hash(passphrase, salt))
