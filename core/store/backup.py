"""Backups: the whole database and its key file in one zip, with the folders of its runs if wanted, and restoring them, even
over a database in use.
"""

import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import time
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sqlite_utils import Database

from core import __version__
from core.budget import Drawing, open_zip
from core.disk import is_disk_problem, is_read_only, why_not_written
from core.errors import InputError, StorageError
from core.installation import COMMAND, CONVERT
from core.scratch import scratch_folder
from core.store.beside import (
    FILE_NAME,
    LEFT_OUT,
    files_in,
    files_left_out,
    left_out,
    number_of_folder,
    numbers_of_folders,
    run_folder,
    size_of,
    why_unreadable,
)
from core.store.connection import (
    BUSY_TIMEOUT_SECONDS,
    Store,
    check_owner,
    copy_database,
    free_name,
    make_private,
    open_store,
    switch_to_wal,
    translating_errors,
)
from core.store.leftovers import RESTORED_BY, PendingRestore, clear_leftovers
from core.store.migrations import STEPS, applied_steps, differences, is_ours, newer_step
from core.store.places import folders_of, key_path
from core.store.raters import count_event, link_token
from core.store.studies import list_studies, now_utc, write_setting
from core.store.upkeep import byte_size

FORMAT = "assay-backup"
FORMAT_VERSION = 1
"""The only version of backups and bundles."""
LARGEST_BYTES = 2 * 1024**3
"""Largest unpacked size without folders of runs; larger files are refused before reading. Both need the disk alone."""
_LARGEST_MANIFEST = 32 * 2**20
_LARGEST_KEY = 1_000

_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other methods may need gigabytes to unpack a few bytes, or raise other errors."""
_BUNDLE_FORMAT = "assay-study"
_MANIFEST = "manifest.json"
_DATABASE = "assay.db"
_KEY = "assay.db.key"
_KEY_BYTES = 32
_FOLDERS = folders_of(Path(_DATABASE)).name
_IN_FOLDER = re.compile(rf"{re.escape(_FOLDERS)}/run-[1-9]\d{{0,17}}(?:/{FILE_NAME.pattern})+", re.ASCII)
_PIECE = 2**20
"""Bytes of a file that are read at a time."""


def another_version(file_name: str, what: str, version: object) -> InputError:
    """The refusal of a backup or bundle (`what`) whose version is not the one that this code writes."""
    return InputError(
        f"{file_name} was written by another version of Assay ({what} version {version!r}, not {FORMAT_VERSION}). Update Assay, "
        f"or convert a file from before the first release with {CONVERT}."
    )


@dataclass(frozen=True)
class Backup:
    """A checked backup, ready to restore."""

    database: Path
    """The unpacked database, with the current schema. The folders of its runs, if there are any, lie beside it."""
    key: str
    """Content of the key file."""
    created_utc: str
    app_version: str
    studies: tuple[str, ...]
    """Names, newest first."""
    left_out: tuple[int, ...]
    """Runs whose folders it does not contain."""
    files_left_out: dict[str, str]
    """Files that it lacks although it has tables, with the reasons."""


def tables_of(store: Store) -> dict[int, int]:
    """Run -> bytes of its folder, for runs that have one: what a backup contains only if it is made with tables."""
    runs = {row["id"] for row in store.rows("select id from run")}
    return {
        number: sum(map(size_of, files_in(run_folder(store, number))))
        for number in numbers_of_folders(store.path)
        if number in runs
    }


def write_backup(store: Store, *, with_tables: bool = False) -> bytes:
    """Write a zip with a consistent copy of the database, its key file and a manifest, in memory.

    with_tables: with the folders of the runs; see write_backup_file, which needs little memory. Others may read and write meanwhile. The backup opens every link, so protect it like the database.
    """
    buffer = io.BytesIO()
    _write(store, buffer, with_tables=with_tables)
    return buffer.getvalue()


def write_backup_file(store: Store, target: Path, *, with_tables: bool) -> dict[str, str]:
    """Write a backup to a file that only its owner may read, completely or not at all. Needs little memory.

    with_tables: with the folders of the runs. Others may read and write meanwhile: a table that a run has finished is complete,
    and a run that is deleted meanwhile may lack its folder. Returns the files of runs that it leaves out, such as links, with
    the reasons. Raises InputError if it does not fit on the disk, and StorageError if it cannot be written.
    """
    try:
        needed = sum(tables_of(store).values()) if with_tables else 0
        if (free := shutil.disk_usage(target.parent).free) < needed:
            raise InputError(
                f"{target} needs {byte_size(needed)} for the tables of the runs, but its disk has {byte_size(free)} left."
            )
        with scratch_folder(target.parent) as folder:
            draft = folder / target.name
            handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w+b") as file:
                lacking = _write(store, file, with_tables=with_tables)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, target)
    except OSError as problem:
        raise StorageError(f"{target} cannot be written: {why_not_written(problem, target)}.") from problem
    return lacking


def _write(store: Store, file: IO[bytes], *, with_tables: bool) -> dict[str, str]:
    """Write the zip; returns the files that it leaves out although it has tables, with the reasons."""
    with ExitStack() as stack:
        with translating_errors(store.path):
            place = None if is_read_only(store.path) else store.path.parent
            folder = stack.enter_context(scratch_folder(place))
            copy = folder / _DATABASE
            copy_database(store.path, copy)
            link_token(store, "key")  # creates the key file if it does not exist yet
            with closing(sqlite3.connect(copy)) as connection:
                steps = applied_steps(Database(connection, execute_plugins=False))
                runs = {number for (number,) in connection.execute("SELECT id FROM run")}
            # After the copy: every table that the copy mentions is finished by now.
            tables = {number: size for number, size in tables_of(store).items() if number in runs}
        archive = stack.enter_context(zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED))
        hashes = {_DATABASE: _packed(archive, _DATABASE, copy)}
        hashes[_KEY] = _packed(archive, _KEY, key_path(store.path))
        lacking: dict[str, str] = {}
        for number in tables if with_tables else ():
            whole = run_folder(store, number)
            lacking |= _named_in(whole, files_left_out(whole))
            for path in files_in(whole):
                name = f"{_FOLDERS}/{whole.name}/{path.relative_to(whole).as_posix()}"
                try:
                    hashes[name] = _packed(archive, name, path)
                except FileNotFoundError:  # the run is being deleted
                    continue
                except PermissionError as problem:
                    lacking |= _named_in(whole, {path: why_unreadable(problem)})
        manifest = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "app_version": __version__,
            "created_utc": now_utc(),
            "migrations": steps,
            "sha256": hashes,
            "tables": {
                "included": with_tables or not tables,
                "runs": {str(number): size for number, size in tables.items()},
                "left_out": lacking,
            },
        }
        archive.writestr(_MANIFEST, json.dumps(manifest, indent=2).encode())
    return lacking


def _named_in(folder: Path, left_out: Mapping[Path, str]) -> dict[str, str]:
    """The same files, named as `run-3/texts.parquet`."""
    return {path.relative_to(folder.parent).as_posix(): why for path, why in left_out.items()}


def tables_without(store: Store) -> dict[str, str]:
    """What a backup with tables would leave out of the folders of runs, such as `run-3/texts.parquet`, with the reasons."""
    folders = [run_folder(store, number) for number in tables_of(store)]
    return {
        name: why for folder in folders for name, why in _named_in(folder, files_left_out(folder)).items()
    }


def left_out_notes(left_out: Mapping[str, str]) -> list[str]:
    """One sentence for each file that a backup does not contain although it has tables."""
    return [f"{name} is not in the backup: it is {why}." for name, why in left_out.items()]


def _packed(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    """Add a file piece by piece; returns the SHA-256 of what was added."""
    digest = hashlib.sha256()
    info = zipfile.ZipInfo(name, time.localtime()[:6])
    info.external_attr = 0o600 << 16
    # Parquet is compressed already.
    info.compress_type = zipfile.ZIP_STORED if path.suffix == ".parquet" else zipfile.ZIP_DEFLATED
    with path.open("rb") as content, archive.open(info, "w", force_zip64=True) as member:
        while piece := content.read(_PIECE):
            digest.update(piece)
            member.write(piece)
    return digest.hexdigest()


def read_backup(data: bytes | Path, file_name: str, folder: Path) -> Backup:
    """Unpack a backup, its bytes or its file, into an empty folder and migrate it to the current schema.

    Raises InputError with every problem found: a damaged or different zip, members that do not match the manifest, a
    database that is damaged, altered or from another version of Assay, an invalid key, or too little space.
    """
    manifest, key, problems = _members(data, file_name, folder)
    database = folder / _DATABASE
    if database.exists():
        problems += _database_problems(database, manifest["migrations"])
    if key is not None:
        problems += _key_problems(key)
    if key is not None and not problems:
        with open_store(database) as store:  # migrates
            _shut_doors(store)
            studies = tuple(study.name for study in list_studies(store))
            missing = _note_left_out(store, manifest)
    else:
        raise InputError(f"{file_name} cannot be restored:", problems)
    lacking = manifest["tables"].get("left_out", {})
    return Backup(
        database,
        key.decode("ascii"),
        manifest["created_utc"],
        manifest["app_version"],
        studies,
        missing,
        lacking,
    )


def _note_left_out(store: Store, manifest: dict[str, Any]) -> tuple[int, ...]:
    """The runs of an unpacked database that lack their folders.

    The database lists all runs that had one, because a restore may be killed before the folders are in place: `left_out`
    names those without a folder.
    """
    had = {int(number) for number in manifest["tables"]["runs"]}
    missing = {number for number in had if not run_folder(store, number).is_dir()} | set(left_out(store))
    write_setting(store, LEFT_OUT, json.dumps(sorted(had | missing)))
    return tuple(sorted(missing))


def _shut_doors(store: Store) -> None:
    """End all sessions and delete one-time links, so that none becomes valid again."""
    with store.writing():
        store.table("admin_session").delete_where()
        store.table("setting").delete_where("key like 'admin!_link!_%' escape '!'")
        count_event(store, "backup restored", "")


def _members(
    data: bytes | Path, file_name: str, folder: Path
) -> tuple[dict[str, Any], bytes | None, list[str]]:
    """(manifest, key if it exists, problems). The database and the folders of runs are unpacked into `folder`."""
    drawing = Drawing(file_name, "restored")
    try:
        with open_zip(data, drawing) as archive:
            if any(info.compress_type not in _PACKED for info in archive.infolist()):
                raise InputError(
                    f"{file_name} uses a zip compression that Assay does not use (only stored and deflated)."
                )
            tables = {
                info.filename: info for info in archive.infolist() if info.filename.startswith(_FOLDERS)
            }
            others = [info for info in archive.infolist() if info.filename not in tables]
            if sum(info.file_size for info in others) > LARGEST_BYTES:
                raise InputError(f"{file_name} unpacks to more than {LARGEST_BYTES // 2**20} MiB.")
            present = set(archive.namelist())
            if _MANIFEST not in present:
                raise InputError(f"{file_name} is not a backup: the zip has no {_MANIFEST}.")
            for name, most in ((_MANIFEST, _LARGEST_MANIFEST), (_KEY, _LARGEST_KEY)):
                if name in present and archive.getinfo(name).file_size > most:
                    raise InputError(f"{file_name} is damaged: its {name} has more than {most:,} bytes.")
            content = archive.read(_MANIFEST)
            drawing.draw_json(content)
            manifest = json.loads(content)
            _check_manifest(manifest, file_name)
            hashes = manifest["sha256"]
            problems = [f"{name} is missing" for name in (_DATABASE, _KEY) if name not in present]
            key = archive.read(_KEY) if _KEY in present else None
            if _DATABASE in present:
                problems += _unpack(archive, archive.getinfo(_DATABASE), hashes, folder)
            if key is not None and hashlib.sha256(key).hexdigest() != hashes.get(_KEY):
                problems.append(_differs(_KEY))
            problems += _unpack_tables(archive, tables, hashes, folder)
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
        *(ValueError, NotImplementedError, RuntimeError),
    ) as problem:
        if isinstance(problem, OSError) and is_disk_problem(problem):
            raise StorageError(
                f"{file_name} cannot be unpacked: {why_not_written(problem, folder / _DATABASE)}."
            ) from problem
        raise InputError(
            f"{file_name} is damaged or not a backup: it cannot be read ({problem})."
        ) from problem
    return manifest, key, problems


def _unpack_tables(
    archive: zipfile.ZipFile, tables: dict[str, zipfile.ZipInfo], hashes: dict[str, str], folder: Path
) -> list[str]:
    """Unpack the folders of runs piece by piece; returns the problems with them."""
    named = {name for name in hashes if name.startswith(_FOLDERS)}
    problems = [f"{name} is missing" for name in sorted(named - tables.keys())]
    problems += [
        f"{name} is not a file of a run" for name in sorted(tables) if not _IN_FOLDER.fullmatch(name)
    ]
    problems += [f"{name} is not in the manifest" for name in sorted(tables.keys() - named)]
    needed, free = sum(info.file_size for info in tables.values()), shutil.disk_usage(folder).free
    if needed > free:
        problems.append(f"its tables need {byte_size(needed)}, but the disk has {byte_size(free)} left")
    if problems:
        return problems
    for info in tables.values():
        problems += _unpack(archive, info, hashes, folder)
    return problems


def _unpack(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, hashes: dict[str, str], folder: Path
) -> list[str]:
    """Unpack a member piece by piece; returns the problem with it."""
    name = info.filename
    digest, left = hashlib.sha256(), info.file_size
    for parent in reversed(Path(name).parents[:-1]):
        (folder / parent).mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with archive.open(info) as content, os.fdopen(handle, "wb") as file:
        while piece := content.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                break
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return [_differs(name)] if left < 0 or digest.hexdigest() != hashes.get(name) else []


def _differs(name: str) -> str:
    return f"{name} does not match the manifest (its sha256 differs)"


def _check_manifest(manifest: Any, file_name: str) -> None:
    kind = manifest.get("format") if isinstance(manifest, dict) else None
    if kind == _BUNDLE_FORMAT:
        raise InputError(
            f"{file_name} is a study bundle, not a backup of a database. Use `{COMMAND} study import FILE`."
        )
    if kind != FORMAT:
        raise InputError(f"{file_name} is a zip file, but not an Assay backup.")
    version = manifest.get("version")
    if version != FORMAT_VERSION:
        raise another_version(file_name, "backup", version)
    texts = (manifest.get("created_utc"), manifest.get("app_version"))
    tables = manifest.get("tables")
    listed = tables.get("runs") if isinstance(tables, dict) else None
    lacking = tables.get("left_out", {}) if isinstance(tables, dict) else None
    if (
        not isinstance(lacking, dict)
        or not all(isinstance(text, str) for named in lacking.items() for text in named)
        or not isinstance(listed, dict)
        or not all(number_of_folder(f"run-{number}") for number in listed)
        or not isinstance(manifest.get("sha256"), dict)
        or not isinstance(manifest.get("migrations"), list)
        or not all(isinstance(text, str) for text in texts)
    ):
        raise InputError(f"{file_name} is damaged: its manifest is incomplete.")


def _database_problems(path: Path, steps: list[Any]) -> list[str]:
    """Problems with the database of a backup that can be found before opening it with Assay."""
    problems: list[str] = []
    try:
        with closing(sqlite3.connect(path)) as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            if found != ["ok"]:
                problems.append(f"{_DATABASE} is damaged: {'; '.join(str(line) for line in found)}")
            n_astray, first = 0, ""
            for table, *_ in connection.execute("PRAGMA foreign_key_check"):
                n_astray, first = n_astray + 1, first or table
            if n_astray:
                problems.append(
                    f"{_DATABASE}: {n_astray} rows refer to missing rows, the first in table {first}"
                )
            database = Database(connection, execute_plugins=False)
            if step := newer_step(database):
                problems.append(f"{_DATABASE} was written by a newer Assay (step {step}); update Assay first")
            elif not is_ours(database):
                problems.append(f"{_DATABASE} is not an Assay database")
            elif applied_steps(database) != steps:
                problems.append(f"{_DATABASE} has a different schema from the manifest")
            elif not set(steps) <= STEPS.keys():
                problems.append(
                    f"{_DATABASE} is of a version from before the first release; convert the backup with {CONVERT}"
                )
            elif differing := differences(database):
                problems.append(
                    f"if a version from before the first release made it, convert it with {CONVERT}"
                )
                problems += [f"{_DATABASE} {difference}" for difference in differing]
    except (sqlite3.Error, UnicodeDecodeError) as problem:  # names in a damaged database may be no text
        problems.append(f"{_DATABASE} cannot be read ({problem})")
    return problems


def _key_problems(content: bytes) -> list[str]:
    try:
        length = len(bytes.fromhex(content.decode("ascii")))
    except ValueError:
        return [f"{_KEY} is not a valid key"]
    return [] if length == _KEY_BYTES else [f"{_KEY} has {length} bytes instead of {_KEY_BYTES}"]


@dataclass(frozen=True)
class Restored:
    """Result of a restore."""

    created_utc: str
    """Time of the backup."""
    app_version: str
    """Version of the Assay that made the backup."""
    studies: tuple[str, ...]
    """Names, newest first."""
    kept: Path | None
    """Copy of the previous database, with its key file and the folder of its runs next to it; None if there was none."""
    folders_kept: Path | None
    """Where the previous folder of runs went; None if there was none."""
    left_out: tuple[int, ...]
    """Runs whose tables are not in the backup."""
    files_left_out: dict[str, str]
    """Files that the backup lacks although it has tables, with the reasons."""


def restore_backup(
    data: bytes | Path, path: Path, *, file_name: str = "The backup", replace: bool = False
) -> Restored:
    """Replace the database at `path` with a backup, completely or not at all.

    Works while others use the database: they see the old or the new one, never a mixture, and a copy keeps what they
    saved before. Personal links are those of the backup. The admin has to sign in again. A folder of runs beside the
    database moves to the copy, so that no run of the backup gets the tables of another run with its number.
    data: the bytes of the backup, or its file.
    Raises InputError with every problem for an invalid backup, or if there is a database and `replace` is False, and
    StorageError if something cannot be written.
    """
    with translating_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        clear_leftovers(path)
        with scratch_folder(path.parent) as folder:
            backup = read_backup(data, file_name, folder)
            exchange = _Exchange(backup, path, replace=replace)
            exchange.run()
            exchange.bring_folders()
    return Restored(
        backup.created_utc,
        backup.app_version,
        backup.studies,
        exchange.kept,
        exchange.folders_kept,
        backup.left_out,
        backup.files_left_out,
    )


class _Exchange:
    """One exchange of database and key file.

    All pages but the last are written into the database in one transaction, which holds the write lock. Then the old
    database (others still read it) and its key are copied, the new key is put in place, and the last page and the
    commit follow. Nothing can be saved in between, and database and key change almost at the same instant.
    The old folder of runs moves away before the commit and the new one comes after it. If the process is killed, whoever opens the
    database next ends the exchange or undoes it, see PendingRestore.
    """

    def __init__(self, backup: Backup, path: Path, *, replace: bool) -> None:
        self._backup, self._path, self._replace = backup, path, replace
        self._folder = backup.database.parent
        self._new_key = key_path(backup.database)
        self._deadline = 0.0
        self._ready = False
        self._pending: PendingRestore | None = None
        self.kept: Path | None = None
        self.folders_kept: Path | None = None

    def run(self) -> None:
        """Run the exchange; after any failure everything is as before."""
        _write_private(self._new_key, self._backup.key)
        make_private(self._path)
        with (
            closing(sqlite3.connect(self._backup.database)) as new,
            closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_SECONDS)) as live,
        ):
            self._check_place(live)
            switch_to_wal(Database(live, execute_plugins=False))
            _fit_pages(new, live)
            with new:
                new.execute(
                    "INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)",
                    [RESTORED_BY, self._folder.name],
                )
            pages = int(new.execute("PRAGMA page_count").fetchone()[0])
            self._deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
            try:
                new.backup(live, pages=pages - 1, progress=self._between_pages, sleep=0.05)
            except Exception:  # an interrupt may come after the commit
                self._undo()
                raise

    def bring_folders(self) -> None:
        """Put the folders of the backup's runs in place, after `run`."""
        if self._pending is not None:
            self._pending.end(self._folder)

    def _check_place(self, live: sqlite3.Connection) -> bool:
        """Whether there is a database to replace. Raises InputError if it must not be replaced."""
        there = check_owner(Database(live, execute_plugins=False), self._path.name)
        if there and not self._replace:
            raise InputError(
                f"The database {self._path.name} already exists, so nothing was restored. Restore to another path "
                f"(ASSAY_DB), or replace it (`{COMMAND} study restore FILE --replace`). A copy is kept next to it."
            )
        return there

    def _between_pages(self, status: int, remaining: int, _total: int) -> None:
        """Called by SQLite after each batch of pages; an exception here undoes everything."""
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            if time.monotonic() > self._deadline:  # otherwise Python would retry forever
                raise sqlite3.OperationalError("database is locked")
        elif remaining and not self._ready:
            self._ready = True
            try:
                self._keep_old()
                os.replace(self._new_key, key_path(self._path))
            except BaseException:
                self._undo()
                raise

    def _keep_old(self) -> None:
        stamp = now_utc()[:19].replace("-", "").replace(":", "")
        kept = free_name(self._path.with_name(f"{self._path.name}.before-restore-{stamp}Z"))
        with closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_SECONDS)) as reader:
            there = self._check_place(reader)  # it may have been created in the meantime
        pending = PendingRestore(
            self._path.name,
            self._backup.database.name,
            kept.name,
            self._new_key.stat().st_ino,
            self._path.stat().st_ino,
        )
        pending.note(self._folder)
        self._pending = pending
        if there:
            copy_database(self._path, kept)
            self.kept = kept
        if key_path(self._path).exists():
            os.link(key_path(self._path), key_path(kept))
        if folders_of(self._path).is_dir():
            os.rename(folders_of(self._path), folders_of(kept))
            self.folders_kept = folders_of(kept)

    def _undo(self) -> None:
        if self._pending is not None:
            self._pending.undo(self._folder)
        self._pending, self.kept, self.folders_kept = None, None, None


def _fit_pages(new: sqlite3.Connection, live: sqlite3.Connection) -> None:
    """Give the new database the page size of the old one, which cannot change while it is open."""
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
