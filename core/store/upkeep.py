"""Space: what the database and its files take on the disk, what each run takes, and giving free space back."""

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import NotAllowed
from core.store.beside import size_of
from core.store.connection import Row, Store, translating_errors
from core.store.places import folders_of
from core.store.runs import AMONG, OWN_KEYS, STALE_SECONDS
from core.store.studies import now_utc

LITTLE_BYTES = 2**30
"""Free space below which the disk counts as nearly full."""
QUIET_SECONDS = 600.0
"""Seconds after the last vote from which nobody counts as voting."""
_SAMPLE = 4
"""Rows whose mean length stands for all rows of a run: each reads pages all over the file, which a slow disk notices."""
_ROW_BYTES = 130
"""Bytes of one call beside its texts, with its entries in indexes; measured with dbstat."""


@dataclass(frozen=True)
class Space:
    """Bytes on the disk. Nothing here reads the content of the database."""

    database: int
    unused: int
    """Part of the database that deleted data left behind; new data fill it before the file grows."""
    log: int
    """Write-ahead log and its index."""
    folders: int
    """Folders of runs."""
    copies: tuple[tuple[str, int], ...]
    """Copies made before an update or a restore with their keys and folders: name and bytes."""
    archives: tuple[tuple[str, int], ...]
    """Zip files beside the database, such as backups."""
    uploaded: int
    """Files given to the page Metrics, part of the database."""
    n_uploaded: int
    free: int
    """Free space on the database's disk."""

    @property
    def is_little(self) -> bool:
        """Whether a backup, a copy before an update or a larger run may not fit any more."""
        return self.free < max(LITTLE_BYTES, self.database)


def space_of(store: Store) -> Space:
    """What the database and the files beside it take."""
    path = store.path
    beside = path.resolve().parent
    (uploaded,) = store.rows("select count(*) as n, coalesce(sum(length(data)), 0) as bytes from kept_file")
    return Space(
        database=size_of(path),
        unused=_pragma(store, "freelist_count") * _pragma(store, "page_size"),
        log=sum(size_of(path.with_name(path.name + ending)) for ending in ("-wal", "-shm")),
        folders=size_of(folders_of(path)),
        copies=_named(one for one in beside.iterdir() if one.name.startswith(f"{path.name}.before-")),
        archives=_named(beside.glob("*.zip")),
        uploaded=uploaded["bytes"],
        n_uploaded=uploaded["n"],
        free=shutil.disk_usage(beside).free,
    )


def _named(paths: Iterable[Path]) -> tuple[tuple[str, int], ...]:
    return tuple((path.name, size_of(path)) for path in sorted(paths))


def _pragma(store: Store, name: str) -> int:
    (row,) = store.rows(f"pragma {name}")
    return int(row[name])


@dataclass(frozen=True)
class Rows:
    """What a run has in the database."""

    n_items: int
    n_calls: int
    n_bytes: int
    """Input file, items, calls, and cached replies."""


def estimated_rows(store: Store, run_ids: Sequence[int]) -> dict[int, Rows]:
    """Run -> its rows, with their bytes estimated: the input file exactly, items and calls by the mean of some of them.

    Reads indexes and a few rows of each run, so it is fast with a large database.
    """
    items = _counts(store, "run_item")
    calls = _counts(store, "run_call")
    found = {}
    for number in run_ids:
        row = store.row("select length(data) as n from run_data where run_id = :id", {"id": number})
        known = (row and row["n"]) or 0
        n_items, n_calls = items.get(number, 0), calls.get(number, 0)
        n_bytes = known + n_items * _mean(store, _ITEM, number) + n_calls * _mean(store, _CALL, number)
        found[number] = Rows(n_items, n_calls, round(n_bytes))
    return found


_ITEM_BYTES = "length(cast(result as blob)) + length(failures) + 80"
_ITEM = f"select {_ITEM_BYTES} as n from run_item where run_id = :id limit :n"
_CALL = (
    f"select {_ROW_BYTES} + case when cached then 0 else coalesce(length(cast(reply.text as blob)), 0) + "
    "coalesce(length(cast(reply.thinking as blob)), 0) + coalesce(length(request.asked), 0) end as n "
    "from run_call left join reply on reply.key = run_call.key left join request on request.key = run_call.key "
    "where run_id = :id limit :n"
)


def _counts(store: Store, table: str) -> dict[int, int]:
    rows = store.rows(f"select run_id, count(*) as n from {table} group by run_id")
    return {row["run_id"]: row["n"] for row in rows}


def _mean(store: Store, sql: str, run_id: int) -> float:
    sizes = [row["n"] for row in store.rows(sql, {"id": run_id, "n": _SAMPLE})]
    return sum(sizes) / len(sizes) if sizes else 0.0


@dataclass(frozen=True)
class Going:
    """What the database loses with some runs, counted row by row."""

    n_items: int
    n_calls: int
    n_replies: int
    """Cached replies that no other run uses; they are deleted."""
    n_shared: int
    """Cached replies that other runs use, too; they stay."""
    n_bytes: int


def going(store: Store, run_ids: Sequence[int]) -> Going:
    """What `delete_runs` would delete. Reads all of it, and the keys of all other calls once."""
    named = {"ids": json.dumps(list(run_ids))}
    (own,) = store.rows(
        f"""
        with own as materialized ({OWN_KEYS})
        select count(reply.key) as n, coalesce(sum(length(cast(reply.text as blob))), 0) as answers,
               coalesce(sum(length(cast(reply.thinking as blob))), 0) as thoughts,
               coalesce(sum(length(request.asked)), 0) as asked
        from own left join reply on reply.key = own.key left join request on request.key = own.key
        """,
        named,
    )
    (replies,) = store.rows(
        f"select count(*) as n from reply where key in (select key from run_call where {AMONG})", named
    )
    items, calls, data = (
        store.rows(
            f"select count(*) as n, coalesce(sum({size}), 0) as bytes from {table} where {AMONG}", named
        )[0]
        for table, size in (
            ("run_item", _ITEM_BYTES),
            ("run_call", str(_ROW_BYTES)),
            ("run_data", "length(data)"),
        )
    )
    in_all = sum(row["bytes"] for row in (items, calls, data)) + sum(
        own[name] for name in ("answers", "thoughts", "asked")
    )
    return Going(items["n"], calls["n"], own["n"], replies["n"] - own["n"], in_all)


def studies_with_votes(store: Store, seconds: float = QUIET_SECONDS) -> list[str]:
    """Names of the studies with the last votes, if they are newer than this.

    A vote from further in the future was saved before the clock was set back, and counts as old.
    """
    rows: list[Row] = []
    for history in ("answer_history", "rating_history"):
        rows += store.rows(
            f"select name from {history} join study on study.id = study_id where {history}.id = "
            f"(select max(id) from {history}) and saved_utc between :since and :until",
            {"since": now_utc(-seconds), "until": now_utc(seconds)},
        )
    return [row["name"] for row in rows]


def why_not_compact(store: Store) -> str | None:
    """Why the database must not be compacted now, and what to do; None: it may be."""
    if voting := studies_with_votes(store):
        return (
            f"Raters are voting in {', '.join(voting)}, and nobody can save a vote while the database is compacted. Try again "
            f"{QUIET_SECONDS / 60:.0f} minutes after the last vote, or close the study first."
        )
    working = store.rows(
        "select id from run where state = 'running' and beat_utc between :since and :until order by id",
        {"since": now_utc(-STALE_SECONDS), "until": now_utc(STALE_SECONDS)},
    )
    if working:
        numbers = ", ".join(str(row["id"]) for row in working)
        return (
            f"Processes work on run {numbers}, and none can save a result while the database is compacted. Wait for their end, or "
            "cancel them first."
        )
    return _room_missing(store)


def compact(store: Store) -> int:
    """Rewrite the database without its unused space; returns the bytes given back to the disk.

    Nobody can save anything meanwhile, so it is refused within ten minutes after a vote, and while a run is processed. Needs free space for two more
    copies of what is in use: a temporary file, and the write-ahead log. Raises NotAllowed with the reason if it must not
    run, and StorageError if the database cannot be written.
    """
    if why := why_not_compact(store):
        raise NotAllowed(why)
    store.forget()
    before = size_of(store.path)
    with translating_errors(store.path):
        store.change("vacuum", {})
    store.forget()
    return before - size_of(store.path)


def _room_missing(store: Store) -> str | None:
    """Why there is no room to compact the database; None: there is."""
    pages = _pragma(store, "page_count") - _pragma(store, "freelist_count")
    needed = pages * _pragma(store, "page_size")
    here, aside = store.path.resolve().parent, _temporary_folder()
    places = {here: needed}
    if here.stat().st_dev == aside.stat().st_dev:
        places[here] += needed
    else:
        places[aside] = needed
    for place, wanted in places.items():
        free = shutil.disk_usage(place).free
        if free < wanted:
            return (
                f"Compacting needs {byte_size(wanted)} of free space in {place}, which has {byte_size(free)}. Delete more runs, "
                "old copies or backups first. The database uses its free pages for new data even if it is not compacted."
            )
    return None


def _temporary_folder() -> Path:
    """Where SQLite puts temporary files on this system."""
    for name in (os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp"):
        if name and os.path.isdir(name) and os.access(name, os.W_OK | os.X_OK):
            return Path(name)
    return Path()


MB = 1e6
"""Bytes of a megabyte in tables."""


def byte_size(n: float) -> str:
    """A size in words, such as `1.2 MB`; 1 kB is 1,000 bytes."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if abs(n) < 999.5 or unit == "GB":
            break
        n /= 1000
    return f"{n:,.0f} {unit}" if unit == "bytes" or n >= 99.95 else f"{n:,.1f} {unit}"
