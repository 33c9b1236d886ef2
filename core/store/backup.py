"""A backup: the whole database and the key file of its links in one zip. `restore` puts it back.

A backup opens every personal link of its database, and holds every answer and comment: keep it as safe as
the database. (The bundle of one study, core.study.bundle, is another thing: it opens nothing.)
"""

import hashlib
import io
import json
import sqlite3
import tempfile
import zipfile
import zlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from core import __version__
from core.errors import InputError
from core.store.access import link_token
from core.store.connection import Store, in_our_words, open_store
from core.store.copies import copy_database, key_path
from core.store.migrations import applied_steps, is_ours, unknown_steps
from core.store.sign_in import count_event
from core.store.studies import list_studies, now_utc

FORMAT = "assay-backup"
FORMAT_VERSION = 1
LARGEST_BYTES = 2 * 1024**3
"""Unpacked; more is refused before it is read."""

_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other ways may ask for gigabytes to unpack a few bytes, or raise errors of their own."""
_BUNDLE_FORMAT = "assay-study"
_MANIFEST = "manifest.json"
_DATABASE = "assay.db"
_KEY = "assay.db.key"
_KEY_BYTES = 32
_OF_SQLITE = {("table", f"sqlite_{name}") for name in ("sequence", "stat1", "stat4")}
"""Tables that SQLite keeps for itself, such as those of ANALYZE."""


@dataclass(frozen=True)
class Backup:
    """A backup that may be restored: everything about it was checked."""

    database: Path
    """The database, unpacked and of today's schema."""
    key: str
    """Content of the key file."""
    created_utc: str
    app_version: str
    studies: tuple[str, ...]
    """Names, newest first."""


def write_backup(store: Store) -> bytes:
    """The database as it stands between two transactions, its key file and a manifest, as a zip.

    Others may read and write meanwhile. Whoever has it can open every link: keep it as safe as the database.
    """
    with in_our_words(store.path), _folder_beside(store.path) as folder:
        copy = Path(folder) / _DATABASE
        copy_database(store.path, copy)
        link_token(store, "key")  # makes the key file where nobody has needed it yet
        members = {_DATABASE: copy.read_bytes(), _KEY: key_path(store.path).read_bytes()}
        with closing(sqlite3.connect(copy)) as connection:
            steps = applied_steps(Database(connection, execute_plugins=False))
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "app_version": __version__,
        "created_utc": now_utc(),
        "migrations": steps,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {_MANIFEST: json.dumps(manifest, indent=2).encode(), **members}.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def read_backup(data: bytes, file_name: str, folder: Path) -> Backup:
    """Unpack a backup into an empty folder and bring it to today's schema.

    Raises InputError with every problem found: a zip that is damaged or something else, members that are
    not what the manifest says, a database that is damaged, changed or of a newer Assay, a key that is none.
    """
    manifest, members, problems = _members(data, file_name)
    database = folder / _DATABASE
    if _DATABASE in members:
        database.write_bytes(members[_DATABASE])
        problems += _database_problems(database, manifest["migrations"])
    if _KEY in members:
        problems += _key_problems(members[_KEY])
    if not problems:
        with open_store(database) as store:  # migrates
            problems = _schema_problems(store, folder / "new.db")
            if not problems:
                _shut_doors(store)
                studies = tuple(study.name for study in list_studies(store))
    if problems:
        raise InputError(f"{file_name} cannot be restored:", problems)
    key = members[_KEY].decode("ascii")
    return Backup(database, key, manifest["created_utc"], manifest["app_version"], studies)


def _shut_doors(store: Store) -> None:
    """Nobody is signed in again who has signed out since, and no one-time link works a second time."""
    with store.writing():
        store.table("admin_session").delete_where()
        store.table("setting").delete_where("key like 'admin!_link!_%' escape '!'")
        count_event(store, "backup restored", "")


def _folder_beside(database: Path) -> "tempfile.TemporaryDirectory[str]":
    """On the database's own disk, for its owner's eyes alone."""
    return tempfile.TemporaryDirectory(dir=database.parent, prefix=".assay-")


def _members(data: bytes, file_name: str) -> tuple[dict[str, Any], dict[str, bytes], list[str]]:
    """(manifest, the members that are there, what is wrong with them)."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(info.compress_type not in _PACKED for info in archive.infolist()):
                raise InputError(f"{file_name} is packed in a way that Assay does not write.")
            if sum(info.file_size for info in archive.infolist()) > LARGEST_BYTES:
                raise InputError(f"{file_name} unpacks to more than {LARGEST_BYTES // 2**20} MiB.")
            present = set(archive.namelist())
            if _MANIFEST not in present:
                raise InputError(f"{file_name} is a zip, but no backup: it has no {_MANIFEST}.")
            manifest = json.loads(archive.read(_MANIFEST))
            _check_manifest(manifest, file_name)
            members = {name: archive.read(name) for name in (_DATABASE, _KEY) if name in present}
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
        *(ValueError, NotImplementedError, RuntimeError),
    ) as problem:
        raise InputError(f"{file_name} is no backup, or damaged: it cannot be read ({problem}).") from problem
    problems = [f"{name} is missing" for name in (_DATABASE, _KEY) if name not in members]
    problems += [
        f"{name} is not what the manifest says (its sha256 differs)"
        for name, content in members.items()
        if hashlib.sha256(content).hexdigest() != manifest["sha256"].get(name)
    ]
    return manifest, members, problems


def _check_manifest(manifest: Any, file_name: str) -> None:
    kind = manifest.get("format") if isinstance(manifest, dict) else None
    if kind == _BUNDLE_FORMAT:
        raise InputError(
            f"{file_name} is the bundle of one study, not a backup of a database: `python -m core study import FILE` takes it in."
        )
    if kind != FORMAT:
        raise InputError(f"{file_name} is a zip, but no backup of Assay's.")
    version = manifest.get("version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise InputError(
            f"{file_name} was written by a newer Assay (backup version {version}); update first."
        )
    texts = (manifest.get("created_utc"), manifest.get("app_version"))
    if (
        not isinstance(manifest.get("sha256"), dict)
        or not isinstance(manifest.get("migrations"), list)
        or not all(isinstance(text, str) for text in texts)
    ):
        raise InputError(f"{file_name} is damaged: its manifest lacks something.")


def _database_problems(path: Path, steps: list[Any]) -> list[str]:
    """Why the database of a backup cannot be used, as far as that can be told without opening it as ours."""
    problems: list[str] = []
    try:
        with closing(sqlite3.connect(path)) as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            if found != ["ok"]:
                problems.append(f"{_DATABASE} is damaged: {'; '.join(str(line) for line in found)}")
            astray = connection.execute("PRAGMA foreign_key_check").fetchall()
            if astray:
                problems.append(
                    f"{_DATABASE}: rows that belong to nothing: {len(astray)}, the first in {astray[0][0]}"
                )
            database = Database(connection, execute_plugins=False)
            unknown = unknown_steps(database)
            if unknown:
                problems.append(f"{_DATABASE} was written by a newer Assay (step {unknown[0]}): update first")
            elif not is_ours(database):
                problems.append(f"{_DATABASE} is no database of Assay's")
            elif applied_steps(database) != steps:
                problems.append(f"{_DATABASE} is of another schema than the manifest says")
    except sqlite3.Error as problem:
        problems.append(f"{_DATABASE} cannot be read ({problem})")
    return problems


def _schema_problems(store: Store, blank: Path) -> list[str]:
    """Where a database that was brought to today's schema differs from one that the same steps made from nothing."""

    def objects(opened: Store) -> dict[str, str]:
        rows = opened.rows("select type, name, sql from sqlite_schema where sql is not null")
        return {
            f"{row['type']} {row['name']}": " ".join(row["sql"].split())
            for row in rows
            if (row["type"], row["name"]) not in _OF_SQLITE
        }

    with open_store(blank) as new:
        wanted = objects(new)
    there = objects(store)
    missing = [f"{_DATABASE} lacks the {name}" for name in sorted(wanted.keys() - there.keys())]
    foreign = [
        f"{_DATABASE} has a {name} that is not Assay's" for name in sorted(there.keys() - wanted.keys())
    ]
    changed = [
        f"{_DATABASE}: the {name} is not as Assay makes it"
        for name in sorted(wanted.keys() & there.keys())
        if wanted[name] != there[name]
    ]
    return missing + foreign + changed


def _key_problems(content: bytes) -> list[str]:
    try:
        length = len(bytes.fromhex(content.decode("ascii")))
    except ValueError:
        return [f"{_KEY} is no key"]
    return [] if length == _KEY_BYTES else [f"{_KEY} holds {length} bytes instead of {_KEY_BYTES}"]
