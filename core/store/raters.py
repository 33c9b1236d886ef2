"""Access: raters and their links, admin sessions, and counts of sign-in events by address."""

import base64
import contextlib
import hashlib
import hmac
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import NotFound, StorageError
from core.schema.study import Rater
from core.store.connection import Row, Store
from core.store.places import key_path
from core.store.studies import now_utc

_TOKEN_BYTES = 16
_KEY_BYTES = 32


def token_sha256(token: str) -> str:
    """SHA-256 of a token; the database stores only this."""
    return hashlib.sha256(token.encode()).hexdigest()


def link_token(store: Store, *parts: str | int) -> str:
    """URL-safe token made from the key file and `parts` (study, rater, number of the link)."""
    return _tag(_access_key(store.path), _database_id(store), *parts)


def tab_handle(store: Store, study_id: int, rater_id: str) -> str:
    """URL-safe text that tells the tabs of different raters apart; it opens nothing, and a new link does not change it.

    Its key is the secret id of the database and not the key file, so that raters can go on when that file is lost.
    """
    return _tag(_database_id(store).encode(), "tab", study_id, rater_id)


def _tag(key: bytes, *parts: str | int) -> str:
    """URL-safe HMAC of the parts."""
    message = "\x1f".join(map(str, parts)).encode()
    mac = hmac.new(key, message, hashlib.sha256).digest()[:_TOKEN_BYTES]
    return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


def _database_id(store: Store) -> str:
    """Random id of the database, so that an old key file opens nothing in a new database."""
    row = store.row("select value from setting where key = 'database_id'")
    if row is None:
        raise StorageError(f"The database {store.path.name} has lost its id. Restore it from your backup.")
    return str(row["value"])


def cookie_suffix(store: Store) -> str:
    """Suffix that separates this database's cookies from those of other apps on the host; not a secret."""
    return token_sha256(_database_id(store))[:8]


def _access_key(database: Path) -> bytes:
    path = key_path(database)
    try:
        if not path.exists():
            _create_key(path)
        key = bytes.fromhex(path.read_text("ascii"))
        if len(key) != _KEY_BYTES:
            raise ValueError(f"it has {len(key)} bytes instead of {_KEY_BYTES}")
        return key
    except (OSError, ValueError) as problem:
        raise StorageError(
            f"The key file {path.name}, which personal links need, could not be used ({problem}). "
            "Restore it from your backup, or delete it and issue all links again."
        ) from problem


def _create_key(path: Path) -> None:
    """Create the key file atomically, so that two processes that start together get the same key."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(_KEY_BYTES))
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


_RATER_FIELDS = tuple(Rater.__dataclass_fields__)
_NAMED = ("rater", "assignment", "rating_assignment", "log")
_WRITTEN = ("answer", "answer_history", "guess", "rating_answer", "rating_history")
"""Tables with a pseudonym, and tables that also have a comment."""


def insert_rater(store: Store, study_id: int, rater: Rater) -> None:
    """Add a rater, without a link."""
    with store.writing():
        store.table("rater").insert({"study_id": study_id, **asdict(rater)})


def raters_of(store: Store, study_id: int) -> tuple[Rater, ...]:
    """The study's raters, in the order in which they were added."""
    rows = store.rows("select * from rater where study_id = :id order by rowid", {"id": study_id})
    return tuple(_rater(row) for row in rows)


def rater_named(store: Store, study_id: int, rater_id: str) -> Rater | None:
    """The rater with this pseudonym, or None."""
    row = store.row(
        "select * from rater where study_id = :id and rater_id = :rater", {"id": study_id, "rater": rater_id}
    )
    return None if row is None else _rater(row)


def find_rater(store: Store, study_id: int, rater_id: str) -> Rater:
    """The rater with this pseudonym. Raises NotFound, naming all raters."""
    found = rater_named(store, study_id, rater_id)
    if found is None:
        names = ", ".join(rater.rater_id for rater in raters_of(store, study_id))
        raise NotFound(f"There is no rater {rater_id!r} in this study. Raters: {names or 'none yet'}.")
    return found


def update_rater(store: Store, study_id: int, rater_id: str, **changes: object) -> None:
    """Set columns of a rater's row."""
    with store.writing():
        store.table("rater").update((study_id, rater_id), changes)


def issue_link(store: Store, study_id: int, rater_id: str) -> str:
    """Give the rater a new token and invalidate the previous one; return the token."""
    with store.writing():
        number = find_rater(store, study_id, rater_id).link_number + 1
        token = link_token(store, study_id, rater_id, number)
        update_rater(
            store, study_id, rater_id, link_number=number, token_sha256=token_sha256(token), revoked=0
        )
    return token


def current_token(store: Store, study_id: int, rater: Rater) -> str | None:
    """The token of the rater's link; None for a rater without a link (imported, revoked)."""
    if rater.link_number == 0 or rater.revoked:
        return None
    return link_token(store, study_id, rater.rater_id, rater.link_number)


def rater_of_token(store: Store, token: str) -> tuple[int, Rater] | None:
    """(study number, rater) of a token; None for unknown, replaced and revoked tokens alike."""
    row = store.row(
        "select * from rater where token_sha256 = :hash and not revoked", {"hash": token_sha256(token)}
    )
    return None if row is None else (row["study_id"], _rater(row))


def rename_rater(store: Store, study_id: int, old: str, new: str) -> None:
    """Rename a rater everywhere and delete their comments; the votes stay as they are."""
    with store.writing():
        for name in (*_NAMED, *_WRITTEN):
            written = ", comment = ''" if name in _WRITTEN else ""
            store.change(
                f"update {name} set rater_id = :new{written} where study_id = :id and rater_id = :old",
                {"new": new, "id": study_id, "old": old},
            )


def _rater(row: Row) -> Rater:
    values = {name: row[name] for name in _RATER_FIELDS}
    for flag in ("dry_run", "imported", "revoked", "withdrawn"):
        values[flag] = bool(values[flag])
    return Rater(**values)


MOST_EVENTS = 10_000
"""Most lines kept per kind; the oldest are deleted first, so that failed attempts cannot fill the disk."""
LONGEST_ADDRESS = 45
"""Length of the longest IP address, in characters."""


@dataclass(frozen=True)
class Event:
    """A sign-in event, counted over a few minutes."""

    kind: str
    address: str
    """IP address; empty for events caused by a command."""
    n: int
    first_utc: str
    last_utc: str


def count_event(store: Store, kind: str, address: str, *, window_seconds: float = 900) -> None:
    """Count an event; events of one kind from one address within the window share a line."""
    address = address[:LONGEST_ADDRESS]
    with store.writing():
        now = now_utc()
        row = store.row(
            "select id, n from event where kind = :kind and address = :address "
            "and first_utc between :since and :now order by id desc limit 1",
            {"kind": kind, "address": address, "since": now_utc(-window_seconds), "now": now},
        )
        if row is not None:
            store.table("event").update(row["id"], {"n": row["n"] + 1, "last_utc": now})
        else:
            begin_event(store, kind, address)
            store.change(
                "delete from event where kind = :kind and id <= "
                "(select id from event where kind = :kind order by id desc limit 1 offset :most)",
                {"kind": kind, "most": MOST_EVENTS},
            )


def begin_event(store: Store, kind: str, address: str) -> int:
    """Write a line of its own for an event, and return its number, so that the line can be taken back."""
    with store.writing():
        now = now_utc()
        entry = {
            "kind": kind,
            "address": address[:LONGEST_ADDRESS],
            "n": 1,
            "first_utc": now,
            "last_utc": now,
        }
        return store.table("event").insert(entry).last_rowid or 0


def take_back_event(store: Store, number: int) -> None:
    """Delete the line that begin_event wrote."""
    with store.writing():
        store.table("event").delete(number)


def events(store: Store, newest: int = 200) -> list[Event]:
    """The newest events, newest first."""
    rows = store.rows(
        "select kind, address, n, first_utc, last_utc from event order by last_utc desc, id desc limit :most",
        {"most": newest},
    )
    return [Event(**row) for row in rows]


def count_since(store: Store, kind: str, seconds: float, address: str | None = None) -> int:
    """Number of events of a kind in the last `seconds`, from one address or from all.

    Lines with a future time do not count, so that a clock set back locks nobody out.
    """
    only = "" if address is None else " and address = :address"
    row = store.row(
        "select coalesce(sum(n), 0) as n from event where kind = :kind "
        f"and last_utc between :since and :now{only}",
        {"kind": kind, "since": now_utc(-seconds), "now": now_utc(), "address": address},
    )
    return int(row["n"]) if row else 0


def insert_session(store: Store, token: str, seconds: float) -> None:
    """Accept a session token for this many seconds; expired sessions are deleted."""
    with store.writing():
        store.table("admin_session").delete_where("expires_utc < ?", [now_utc()])
        row = {"created_utc": now_utc(), "expires_utc": now_utc(seconds)}
        store.table("admin_session").insert({"token_sha256": token_sha256(token), **row})


def session_is_open(store: Store, token: str) -> bool:
    """Whether a session token is known and has not expired."""
    row = store.row(
        "select 1 as found from admin_session where token_sha256 = :hash and expires_utc >= :now",
        {"hash": token_sha256(token), "now": now_utc()},
    )
    return row is not None


def delete_session(store: Store, token: str | None = None) -> None:
    """End one session, or all of them."""
    with store.writing():
        if token is None:
            store.table("admin_session").delete_where()
        else:
            store.table("admin_session").delete_where("token_sha256 = ?", [token_sha256(token)])
