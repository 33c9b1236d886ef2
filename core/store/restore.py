"""Putting a backup back: into a new place, or over a database that is in use."""

import os
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from core.errors import InputError
from core.store.backup import Backup, read_backup
from core.store.connection import check_owner, in_our_words, switch_to_wal
from core.store.copies import BUSY_TIMEOUT_SECONDS, copy_database, free_name, key_path
from core.store.location import make_private
from core.store.studies import now_utc


@dataclass(frozen=True)
class Restored:
    """What a restore did."""

    created_utc: str
    """When the backup was made."""
    app_version: str
    """Of the Assay that made it."""
    studies: tuple[str, ...]
    """Names, newest first."""
    kept: Path | None
    """The database that was there before, with its key file beside it; None: there was none."""


def restore_backup(
    data: bytes, path: Path, *, file_name: str = "The backup", replace: bool = False
) -> Restored:
    """Put a backup in the place of the database at `path`, whole or not at all.

    Works while others use that database: they see the one or the other, never a mixture, and what they
    saved before is in the copy that is kept. Links open what the backup's key file says. Whoever is signed in
    as the admin has to sign in again.
    Raises InputError, naming every problem, for a backup that cannot be used, and where there is a database
    already unless `replace` says that it may go; StorageError when something cannot be written.
    """
    with in_our_words(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".assay-") as folder:
            backup = read_backup(data, file_name, Path(folder))
            exchange = _Exchange(backup, path, replace=replace)
            exchange.run()
    return Restored(backup.created_utc, backup.app_version, backup.studies, exchange.kept)


class _Exchange:
    """One exchange of database and key file.

    All pages but the last are written into the database in one transaction, which holds the write lock. Then
    the old database (others still read it) and its key are kept, the new key is put in place, and the last
    page and the commit follow: nothing can be saved in between, and database and key change together but for
    an instant. Should the process be killed in that instant, the same restore once more sets it right.
    """

    def __init__(self, backup: Backup, path: Path, *, replace: bool) -> None:
        self._backup, self._path, self._replace = backup, path, replace
        self._key = key_path(path)
        self._new_key = key_path(backup.database)
        self._deadline = 0.0
        self._ready = False
        self._old_key: Path | None = None
        self._key_is_new = False
        self.kept: Path | None = None

    def run(self) -> None:
        """Do it; on any failure everything is as it was."""
        _write_private(self._new_key, self._backup.key)
        make_private(self._path)
        with (
            closing(sqlite3.connect(self._backup.database)) as new,
            closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_SECONDS)) as live,
        ):
            self._check_place(live)
            switch_to_wal(Database(live, execute_plugins=False))
            _fit_pages(new, live)
            pages = int(new.execute("PRAGMA page_count").fetchone()[0])
            self._deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
            try:
                new.backup(live, pages=pages - 1, progress=self._between_pages, sleep=0.05)
            except Exception:  # not an interrupt that comes after the commit
                self._undo()
                raise

    def _check_place(self, live: sqlite3.Connection) -> bool:
        """Whether there is a database that goes. Raises InputError when it may not."""
        there = check_owner(Database(live, execute_plugins=False), self._path.name)
        if there and not self._replace:
            raise InputError(
                f"There is a database {self._path.name} already, so nothing was restored. Restore to another "
                "place (--db PATH), or say that it may go (--replace): a copy of it is kept beside it then."
            )
        return there

    def _between_pages(self, status: int, remaining: int, _total: int) -> None:
        """Called by SQLite after each portion of pages; raising here takes everything back."""
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            if time.monotonic() > self._deadline:  # Python would try for ever
                raise sqlite3.OperationalError("database is locked")
        elif remaining and not self._ready:
            self._ready = True
            try:
                self._keep_old()
                os.replace(self._new_key, self._key)
                self._key_is_new = True
            except BaseException:
                self._undo()
                raise

    def _keep_old(self) -> None:
        stamp = now_utc()[:19].replace("-", "").replace(":", "")
        kept = free_name(self._path.with_name(f"{self._path.name}.before-restore-{stamp}Z"))
        with closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_SECONDS)) as reader:
            there = self._check_place(reader)  # it may have been made since
        if there:
            copy_database(self._path, kept)
            self.kept = kept
        if self._key.exists():
            os.link(self._key, key_path(kept))
            self._old_key = key_path(kept)

    def _undo(self) -> None:
        if self._old_key is not None and self._key_is_new:
            os.replace(self._old_key, self._key)  # by renaming alone: a full disk is no obstacle
        elif self._old_key is not None:
            self._old_key.unlink(missing_ok=True)
        elif self._key_is_new:
            self._key.unlink(missing_ok=True)
        if self.kept is not None:
            self.kept.unlink(missing_ok=True)
        self._old_key, self._key_is_new, self.kept = None, False, None


def _fit_pages(new: sqlite3.Connection, live: sqlite3.Connection) -> None:
    """Give the new database the page size of the one it goes into, which cannot change while it is open."""
    wanted, found = (int(c.execute("PRAGMA page_size").fetchone()[0]) for c in (live, new))
    if wanted != found:
        new.execute("PRAGMA journal_mode=DELETE").fetchall()
        new.execute(f"PRAGMA page_size={wanted}")
        new.execute("VACUUM")


def _write_private(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
