"""One piece of logic for every copy of a database: consistent, whole or not at all, never over another file."""

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

BUSY_TIMEOUT_SECONDS = 30


def key_path(database: Path) -> Path:
    """The file beside a database from which its personal links are made."""
    return database.with_name(database.name + ".key")


def free_name(wanted: Path) -> Path:
    """`wanted`, or with -2, -3 ... behind it where there is such a file: earlier copies are kept."""
    name, number = wanted, 1
    while name.exists():
        number += 1
        name = wanted.with_name(f"{wanted.name}-{number}")
    return name


def copy_database(source: Path, target: Path) -> None:
    """Copy the database at `source` as it stands between two transactions, while others read and write it.

    The copy is one file without a write-ahead log, may be read by its owner alone, and is on disk when this
    returns. Raises FileExistsError where there is a `target`, sqlite3.Error or OSError where no copy can
    be made; nothing is left behind then.
    """
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(_opened(source, "ro")) as old, closing(_opened(draft, "rw")) as new:
            old.backup(new)  # all pages in one step: one read transaction, and no writer waits for it
            new.execute("PRAGMA journal_mode=DELETE")
        put_in_place(draft, target)
    finally:
        for left in (draft, draft.with_name(f"{draft.name}-journal")):
            left.unlink(missing_ok=True)


def put_in_place(draft: Path, target: Path) -> None:
    """Give a finished file its name, after its content is on disk. Raises FileExistsError where there is one."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    os.link(draft, target)  # unlike a rename, never over another file


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    """A connection that makes no new file."""
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None
    )
