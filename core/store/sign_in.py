"""What the database keeps of signing in: sessions of the admin, and how often something failed from where."""

from dataclasses import dataclass

from core.store.connection import Store
from core.store.raters import token_sha256
from core.store.studies import now_utc

MOST_EVENTS = 10_000
"""Lines kept of a kind; its oldest go first, so that nobody fills the disk by knocking, or drives another kind out."""
LONGEST_ADDRESS = 45
"""Characters of the longest IP address."""


@dataclass(frozen=True)
class Event:
    """Something that happened at the door, counted over a few minutes."""

    kind: str
    address: str
    """Where it came from; empty for what was done by command."""
    n: int
    first_utc: str
    last_utc: str


def count_event(store: Store, kind: str, address: str, *, window_seconds: float = 900) -> None:
    """Count an event; the same kind from the same address within the window is one line with a number."""
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
            entry = {"kind": kind, "address": address, "n": 1, "first_utc": now, "last_utc": now}
            store.table("event").insert(entry)
            store.change(
                "delete from event where kind = :kind and id <= "
                "(select id from event where kind = :kind order by id desc limit 1 offset :most)",
                {"kind": kind, "most": MOST_EVENTS},
            )


def events(store: Store, newest: int = 200) -> list[Event]:
    """The newest events, newest first."""
    rows = store.rows(
        "select kind, address, n, first_utc, last_utc from event order by last_utc desc, id desc limit :most",
        {"most": newest},
    )
    return [Event(**row) for row in rows]


def count_since(store: Store, kind: str, seconds: float, address: str | None = None) -> int:
    """How often something happened in the last so many seconds, from one address or from all.

    A line whose time lies ahead (the clock was set back) does not count: nobody is locked out by a clock.
    """
    only = "" if address is None else " and address = :address"
    row = store.row(
        "select coalesce(sum(n), 0) as n from event where kind = :kind "
        f"and last_utc between :since and :now{only}",
        {"kind": kind, "since": now_utc(-seconds), "now": now_utc(), "address": address},
    )
    return int(row["n"]) if row else 0


def insert_session(store: Store, token: str, seconds: float) -> None:
    """Let a session token in for so many seconds; sessions that are over are dropped."""
    with store.writing():
        store.table("admin_session").delete_where("expires_utc < ?", [now_utc()])
        row = {"created_utc": now_utc(), "expires_utc": now_utc(seconds)}
        store.table("admin_session").insert({"token_sha256": token_sha256(token), **row})


def session_is_open(store: Store, token: str) -> bool:
    """Whether a session token is known and not over."""
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
