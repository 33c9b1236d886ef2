"""Database connections: opening, transactions, copies, pooled connections, and Assay's wording of SQLite errors."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, TypeAlias

from sqlite_utils import Database
from sqlite_utils.db import Table

from core.disk import is_full, is_read_only
from core.errors import StorageError
from core.installation import COMMAND, CONVERT, default_database
from core.scratch import scratch_folder
from core.store.leftovers import clear_leftovers
from core.store.migrations import STEPS_TABLE, apply_steps, differences, is_ours, newer_step, pending_steps
from core.store.places import folders_of, key_path

BUSY_TIMEOUT_SECONDS = 30


def database_path(database: str | os.PathLike[str] | None = None) -> Path:
    """Path of the database: `database` (the `--db` option), or ASSAY_DB, or the default of where Assay is installed."""
    path = Path(database or os.environ.get("ASSAY_DB") or default_database())
    return (
        path.resolve() if path.is_symlink() else path
    )  # its key and the folders of its runs lie beside the file itself


def make_private(database: Path) -> None:
    """Create the file and its folder if missing, and make its files, copies and the folder of its runs readable only by their owner.

    SQLite gives its side files the mode of the database. An existing folder is left as it is.
    """
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not database.exists():
        os.close(os.open(database, os.O_RDONLY | os.O_CREAT, 0o600))
    for ending in ("", "-wal", "-shm", "-journal", ".key", ".d", ".before-*"):
        for file in database.parent.glob(escape(database.name) + ending):
            with suppress(OSError):  # it was just deleted, or has another owner
                if file.stat().st_mode & 0o077:
                    file.chmod(file.stat().st_mode & 0o700)


Row = dict[str, Any]
_good: set[tuple[object, ...]] = set()
"""Databases that this process has checked; they are not checked again unless they change."""


class Store:
    """One connection. Open one per command, or borrow one per rerun; threads never share one."""

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self._database = database

    def table(self, name: str) -> Table:
        """The sqlite-utils table with this name, for inserts and updates inside `writing()`."""
        return self._database.table(name)

    def rows(self, sql: str, parameters: dict[str, Any] | None = None) -> list[Row]:
        """All rows of a SELECT, as dictionaries."""
        with translating_errors(
            self.path
        ):  # direct, because sqlite-utils' query() sends three statements for one
            cursor = self._database.conn.execute(sql, parameters or {})
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def row(self, sql: str, parameters: dict[str, Any] | None = None) -> Row | None:
        """The first row of a SELECT, or None."""
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def change(self, sql: str, parameters: dict[str, Any]) -> None:
        """Run an UPDATE or DELETE that sqlite-utils does not offer, inside `writing()`."""
        self._database.conn.execute(sql, parameters)

    def change_all(self, sql: str, rows: Iterable[Row | Sequence[Any]]) -> None:
        """Run one statement for each row, inside `writing()`. Rows are dictionaries or, twice as fast, sequences."""
        self._database.conn.executemany(sql, rows)

    def expect_much(self) -> None:
        """Enlarge cache (64 MB) and write-ahead log (32 MB) for a run, which rewrites the same pages often."""
        with translating_errors(self.path):
            for setting in ("cache_size=-65536", "wal_autocheckpoint=8000"):
                self._database.conn.execute(f"PRAGMA {setting}").fetchall()

    def forget(self) -> None:
        """Empty the write-ahead log, so that deleted content is in none of the database's files.

        In the database itself, deleted content is overwritten (secure_delete). Active readers may keep the log a little
        longer; the next call, or closing the last connection, empties it. What killed processes left beside it goes, too.
        """
        clear_leftovers(self.path)
        with translating_errors(self.path):
            self._database.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def writing(self) -> Iterator["Store"]:
        """Run a short transaction: when the block ends, all of it is on disk or none of it.

        BEGIN IMMEDIATE takes the write lock before anything is read, so that two saves of the same answer queue instead
        of failing half-way. Raises StorageError if the database cannot be written.
        """
        if self._database.conn.in_transaction:  # part of a caller's transaction
            yield self
        else:
            with translating_errors(self.path), _immediate(self._database):
                yield self

    @property
    def at_rest(self) -> bool:
        """Whether no transaction is open."""
        return not self._database.conn.in_transaction

    def is_current(self) -> bool:
        """Whether the database at the path is still the one that this connection checked."""
        try:
            return _fingerprint(self._database.conn, self.path) in _good
        except (sqlite3.Error, OSError):
            return False

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(path: Path, *, any_thread: bool = False) -> Store:
    """Open the database at `path`; create and migrate it if needed. `any_thread`: other threads may use it, one at a time.

    Uses a write-ahead log with synchronous=NORMAL, so an acknowledged answer survives a crash of the process. Before a
    migration, a copy of the database is kept next to it.
    On a disk that is read-only, what is there can be read.
    Raises StorageError, naming the file, if it cannot be opened, read or migrated, belongs to another program, or was
    written by another version of Assay; the database then stays unchanged.
    """
    with translating_errors(path):
        if is_read_only(path):
            return _reading_store(path, any_thread=any_thread)
        if not path.exists():
            make_private(path)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=not any_thread)
        try:
            database = Database(connection, execute_plugins=False)
            if _fingerprint(connection, path) not in _good:
                clear_leftovers(path)
                check_schema(database, path.name)  # before anything is changed
                make_private(path)
                switch_to_wal(database)
            for setting in ("synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
                connection.execute(f"PRAGMA {setting}").fetchall()
            if _fingerprint(connection, path) not in _good:
                if pending_steps(database):
                    _migrate(database, path)
                _good.add(_fingerprint(connection, path))
        except BaseException:
            connection.close()
            raise
    return Store(path, database)


def _reading_store(path: Path, *, any_thread: bool) -> Store:
    """A database on a disk that is read-only, to read alone. An older schema stays as it is, so it is refused."""
    connection = _connected(path, "ro", any_thread=any_thread)
    try:
        database = Database(connection, execute_plugins=False)
        check_schema(database, path.name)
        if pending_steps(database):
            raise StorageError(
                f"The database {path.name} has an older schema, and its disk is read-only, so it cannot be updated. Copy it to another "
                "disk and open the copy (ASSAY_DB)."
            )
    except BaseException:
        connection.close()
        raise
    return Store(path, database)


def _fingerprint(connection: sqlite3.Connection, path: Path) -> tuple[object, ...]:
    """A value that changes as soon as the file, its schema or its list of steps changes."""
    file = path.stat()
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    steps = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = ?", [STEPS_TABLE]).fetchone()[
        0
    ]
    if steps:
        (steps,) = connection.execute(f"SELECT group_concat(name) FROM {STEPS_TABLE}").fetchone()
    return file.st_dev, file.st_ino, version, steps


def insert_sql(table: str, columns: Sequence[str]) -> str:
    """SQL to insert a row by column names; faster than sqlite-utils, which reads the schema before each insert."""
    names, values = ", ".join(f'"{name}"' for name in columns), ", ".join(f":{name}" for name in columns)
    return f'insert into "{table}" ({names}) values ({values})'


def upsert_sql(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """SQL to insert a row, or to update it if a row with the same `key` exists."""
    changed = ", ".join(f'"{name}" = excluded."{name}"' for name in columns if name not in key)
    names = ", ".join(f'"{name}"' for name in key)
    return f"{insert_sql(table, columns)} on conflict ({names}) do update set {changed}"


def check_schema(database: Database, name: str) -> None:
    """Raise StorageError unless `database` is empty or has the schema that its recorded steps make."""
    if not check_owner(database, name):
        return
    if step := newer_step(database):
        raise StorageError(
            f"The database {name} was written by a newer Assay: this one does not know its step {step}. "
            "Nothing was changed. Update Assay, or open another database (ASSAY_DB)."
        )
    # Owners look at their data with other programs, which leave views, indexes and triggers there.
    if differences(database, users=("view", "index", "trigger")):
        raise StorageError(
            f"The database {name} has the schema of another version from before the first release, so nothing was changed: "
            f"convert it with {CONVERT}."
        )


def check_owner(database: Database, name: str) -> bool:
    """Whether this is an Assay database; False if it is empty. Raises StorageError for another program's database."""
    tables = database.table_names()
    if tables and not is_ours(database):
        listed = ", ".join(tables[:3]) + (" ..." if len(tables) > 3 else "")
        raise StorageError(
            f"{name} is a database of another program (tables: {listed}). Nothing was changed. Choose another file "
            "(ASSAY_DB)."
        )
    return bool(tables)


def switch_to_wal(database: Database) -> None:
    """Switch to a write-ahead log, so that readers and a writer can work at the same time."""
    last_try = time.monotonic() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            return database.enable_wal()
        except sqlite3.OperationalError as problem:  # SQLite does not wait if two processes switch at once
            if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > last_try:
                raise
            time.sleep(0.05)


def _migrate(database: Database, path: Path) -> None:
    """Migrate the schema completely or not at all, and only once even if the app and a command start together."""
    copy: Path | None = None
    try:
        with _immediate(database):
            check_schema(database, path.name)  # another process may have been first
            if pending_steps(database):
                copy = _keep_copy(database, path)
                apply_steps(database)
    except StorageError:
        raise
    except Exception as problem:
        if copy is not None:  # the database itself is unchanged
            copy.unlink(missing_ok=True)
        raise StorageError(
            f"The database {path.name} could not be updated to the current schema ({problem}). It is unchanged. Check "
            "the free disk space, and report this error if there is enough."
        ) from problem


def _keep_copy(database: Database, path: Path) -> Path | None:
    """Copy the database before a migration; None for a new database.

    Nobody can write in between: the caller holds the write lock, and another connection reads the copy.
    """
    if not is_ours(database):
        return None
    copy = free_name(path.with_name(f"{path.name}.before-{pending_steps(database)[0]}"))
    try:
        copy_database(path, copy)
    except (sqlite3.Error, OSError) as problem:
        raise StorageError(
            f"The database {path.name} could not be copied before its update ({problem}), so nothing was changed. Free "
            "disk space, and check that Assay may write to its folder."
        ) from problem
    return copy


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
def translating_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the disk into a StorageError that names the database and what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        raise StorageError(
            f"The database {path.name} could not be used ({'the disk is full' if is_full(problem, path) else problem}). "
            f"This step saved nothing. {_what_to_do(problem, path)}"
        ) from problem


def _what_to_do(problem: Exception, path: Path) -> str:
    kind = getattr(problem, "sqlite_errorname", "")
    if kind == "SQLITE_NOTADB":
        return "It is not an SQLite database. Choose another file (ASSAY_DB)."
    if kind.startswith("SQLITE_CORRUPT"):
        return f"It is damaged. Move it away and restore your backup (`{COMMAND} study restore FILE`)."
    if is_full(problem, path):
        return f"Make room on the disk of {path.absolute().parent}, then try again."
    if is_read_only(path):
        return f"The disk of {path.absolute().parent} is read-only. Make it writable, then try again."
    return "Check free disk space and the file's permissions, then try again."


def free_name(wanted: Path) -> Path:
    """`wanted`, or the first free name with -2, -3 ... appended, so that earlier copies with their keys and folders are kept."""
    name, number = wanted, 1
    while any(path.exists() for path in (name, key_path(name), folders_of(name))):
        number += 1
        name = wanted.with_name(f"{wanted.name}-{number}")
    return name


def copy_database(source: Path, target: Path) -> None:
    """Make a consistent copy of the database at `source` while others read and write it.

    The copy is one file without a write-ahead log, readable only by its owner, and on disk when this returns.
    Raises FileExistsError if `target` exists, and sqlite3.Error or OSError if no copy can be made. Nothing is left
    behind in that case.
    """
    with scratch_folder(target.parent) as folder:
        draft = folder / target.name
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(_connected(source, "ro")) as old, closing(_connected(draft, "rw")) as new:
            old.backup(new)  # all pages in one read transaction, so that no writer waits
            new.execute("PRAGMA journal_mode=DELETE")
        _put_at_free_name(draft, target)


def _put_at_free_name(draft: Path, target: Path) -> None:
    """Give a finished file its name once its content is on disk. Raises FileExistsError if the name is taken."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    os.link(draft, target)  # unlike a rename, never over another file


def _connected(path: Path, mode: str, *, any_thread: bool = False) -> sqlite3.Connection:
    """A connection that never creates a file."""
    log = path.with_name(f"{path.name}-wal")
    if is_read_only(path) and not (log.exists() and log.stat().st_size):
        mode = f"{mode}&immutable=1"  # SQLite would otherwise have to create the log's index
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=not any_thread,
    )


MOST_AT_REST = 8
"""Most idle connections that are kept open."""

_File: TypeAlias = tuple[int, int]
"""Device and number of a file."""
_lock = threading.Lock()
_at_rest: list[tuple[_File, Store]] = []
"""Idle connections with their open files; the last used one is at the end."""


@contextmanager
def borrowed_store(path: Path) -> Iterator[Store]:
    """Borrow a connection to the database at `path` for the block; a new one is opened if none is idle.

    If the file was replaced or its schema changed, the idle connection is closed and a new one opened.
    """
    file: _File | None
    file, store = _taken(path) or _opened(path)
    try:
        yield store
    finally:
        _give_back(file, store)


def close_stores() -> None:
    """Close all idle connections when the app stops."""
    with _lock:
        stores = [store for _, store in _at_rest]
        _at_rest.clear()
    for store in stores:
        store.close()


def _taken(path: Path) -> tuple[_File, Store] | None:
    while True:
        with _lock:
            found = next((one for one in reversed(_at_rest) if one[1].path == path), None)
            if found is None:
                return None
            _at_rest.remove(found)
        # No new file can get the inode of a file that is still open, so the same inode means the same file.
        if _file_at(path) == found[0] and found[1].is_current():
            return found
        found[1].close()


def _opened(path: Path) -> tuple[_File | None, Store]:
    before = _file_at(path)
    store = open_store(path, any_thread=True)
    return (before if before == _file_at(path) else None), store


def _give_back(file: _File | None, store: Store) -> None:
    if file is None or not store.at_rest:
        store.close()
        return
    with _lock:
        _at_rest.append((file, store))
        too_many = [_at_rest.pop(0)] if len(_at_rest) > MOST_AT_REST else []
    for _, oldest in too_many:
        oldest.close()


def _file_at(path: Path) -> _File | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
