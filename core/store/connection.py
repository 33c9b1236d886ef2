"""Opening the database, transactions, and SQLite's errors said in Assay's words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlite_utils import Database
from sqlite_utils.db import Table

from core.errors import StorageError
from core.store.migrations import migrations

BUSY_TIMEOUT_SECONDS = 30
Row = dict[str, Any]


class Store:
    """One connection. Open one per rerun or command: SQLite connections do not cross threads."""

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self._database = database

    def table(self, name: str) -> Table:
        """The sqlite-utils table of that name, for inserts and updates inside `writing()`."""
        return self._database.table(name)

    def rows(self, sql: str, parameters: dict[str, Any] | None = None) -> list[Row]:
        """All rows of a SELECT, as dictionaries."""
        with _in_our_words(self.path):
            return list(self._database.query(sql, parameters or {}))

    def row(self, sql: str, parameters: dict[str, Any] | None = None) -> Row | None:
        """The first row of a SELECT, or None."""
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def change(self, sql: str, parameters: dict[str, Any]) -> None:
        """Run an UPDATE or DELETE that sqlite-utils has no verb for, inside `writing()`."""
        self._database.conn.execute(sql, parameters)

    @contextmanager
    def writing(self) -> Iterator["Store"]:
        """One short transaction: all of it is on disk when the block ends, or none of it is.

        BEGIN IMMEDIATE takes the write lock before anything is read, so that two savers of the same
        answer queue instead of failing half-way. Raises StorageError when the database cannot be written.
        """
        if self._database.conn.in_transaction:  # part of a caller's transaction
            yield self
        else:
            with _in_our_words(self.path), _immediate(self._database):
                yield self

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(path: Path) -> Store:
    """Open the database at `path`, made and migrated when needed.

    Write-ahead log with synchronous=NORMAL: an acknowledged answer survives the death of the process.
    Raises StorageError, naming the file, when it cannot be opened, read or migrated.
    """
    with _in_our_words(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS)
        database = Database(connection, execute_plugins=False)
        database.enable_wal()
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        if migrations.pending(database):
            with _immediate(database):  # once, even when the app and a command start together
                migrations.apply(database)
    return Store(path, database)


@contextmanager
def _immediate(database: Database) -> Iterator[None]:
    database.conn.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.conn.execute("COMMIT")
    except BaseException:
        if database.conn.in_transaction:
            database.conn.execute("ROLLBACK")
        raise


@contextmanager
def _in_our_words(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        raise StorageError(
            f"The database {path.name} could not be used ({problem}). Nothing was saved by this step. "
            "Check that the disk has room and that the file may be read and written, then try again."
        ) from problem
