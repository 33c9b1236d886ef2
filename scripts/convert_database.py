"""Convert a database, a backup or a bundle of a study from before the first release into version 1.

python scripts/convert_database.py OLD NEW

OLD is recognised by its content and never changed. NEW must not exist. Stop the app first: a database is converted with its key and
the folder of its runs, and only the database itself is copied consistently while others write. Version 1 changes until the first
release, so converting works from an earlier edit of it, too.
"""

import argparse
import hashlib
import json
import os
import shutil
import sqlite3
import sys
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlite_utils import Database

from core.errors import AssayError, InputError
from core.scratch import scratch_folder
from core.store import open_store
from core.store.backup import FORMAT as BACKUP
from core.store.backup import FORMAT_VERSION, read_backup
from core.store.connection import check_owner, copy_database, translating_errors
from core.store.leftovers import PendingRestore, clear_leftovers
from core.store.migrations import STEPS, STEPS_TABLE, applied_steps, differences
from core.store.places import folders_of, key_path
from core.store.studies import list_studies
from core.study.bundle import FORMAT as BUNDLE
from core.study.bundle import read_bundle, write_bundle, zipped
from core.study.shipped import copy_shipped, shipped_texts

OLD_STEPS = (
    *("m001_studies", "m002_real_raters", "m003_runs", "m004_scores", "m005_ratings", "m006_analysis_set"),
    *("m007_run_data", "m008_scores_of_a_text", "m009_calls_seen", "m010_early_looks", "m011_inclusion"),
)
"""Steps of the last databases before version 1."""
OLD_BUNDLES = (4, 5, 6, 7)
OLD_BACKUPS = (1, 2)
VALUES: Mapping[tuple[str, str], str] = {("run", "worked_seconds"): "coalesce(worked_seconds, 0)"}
"""(table, column) -> SQL for its value from the old row, for columns whose meaning changed.
For what SQL cannot do, give `_copy_rows` a Python function with create_function."""
ADDED_COLUMNS: Mapping[tuple[str, str], str] = {
    ("study", "rendering"): "'plain'",
    ("study", "code_language"): "''",
}
"""(table, column) -> SQL for its value, where the old table has no such column and the new one has no default. Raters of older studies
read texts as they were written."""
ADDED_MEMBERS = ("entered.jsonl", "inclusion.jsonl", "shipped.jsonl")
"""Members that older bundles may lack. They are empty then.

A study with votes gets copies of the texts that this version ships: nobody knows which ones its raters read.
"""

_DATABASE = "assay.db"
_MANIFEST = "manifest.json"


def convert(old: Path, new: Path) -> str:
    """Convert a file; return what it is. Raises AssayError, in one sentence, if it cannot be converted."""
    if not old.is_file():
        raise InputError(f"There is no file {old}.")
    clear_leftovers(new)  # what a killed conversion to the same place left
    for path in (new, key_path(new), folders_of(new)):
        if path.exists():
            raise InputError(f"{path} already exists, so nothing was converted.")
    with old.open("rb") as file:
        is_database = file.read(16) == b"SQLite format 3\0"
    with translating_errors(old), scratch_folder(new.parent) as folder:
        if is_database:
            _convert_files(old, new, folder)
            return "database"
        draft = folder / "new.zip"
        try:
            manifest = _manifest(old)
            if manifest["format"] == BACKUP:
                _convert_backup(old, manifest, draft, folder)
            else:
                draft.write_bytes(_converted_bundle(old, manifest))
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as problem:
            raise InputError(f"{old.name} is damaged: it cannot be unpacked ({problem}).") from problem
        draft.chmod(0o600)
        os.link(draft, new)  # unlike a rename, never over another file
        return "backup" if manifest["format"] == BACKUP else "bundle of a study"


def _convert_files(old: Path, new: Path, folder: Path) -> None:
    """Convert a database with its key and the folder of its runs, as a restore: a killed conversion is ended or undone later."""
    made, key = convert_database(old, folder, old.name), 0
    if folders_of(old).is_dir():
        shutil.copytree(folders_of(old), folders_of(made), symlinks=True)
    if key_path(old).exists():
        shutil.copyfile(key_path(old), key_path(made))
        key_path(made).chmod(0o600)
        key = key_path(made).stat().st_ino
    pending = PendingRestore(new.name, made.name, f"{folder.name}-none", key, 0)
    pending.note(folder)
    if key:
        os.link(key_path(made), key_path(new))
    os.link(made, new)
    pending.end(folder)


def convert_database(old: Path, folder: Path, name: str) -> Path:
    """Write the rows of an old database into a new one in an empty folder; return its path. name: for messages."""
    copy, made = folder / "old.db", folder / _DATABASE
    if old.with_name(f"{old.name}-wal").exists():  # in use, or its last process was killed
        copy_database(old, copy)
    else:
        shutil.copyfile(old, copy)  # SQLite would leave a log and its index beside the old database
    with closing(sqlite3.connect(copy)) as connection:
        database = Database(connection, execute_plugins=False)
        if not check_owner(database, name):
            raise InputError(f"{name} is empty, so there is nothing to convert.")
        steps = applied_steps(database)
        if steps == list(STEPS) and not differences(database):
            raise InputError(f"{name} is a database of this version already.")
        if steps not in (list(STEPS), list(OLD_STEPS)):
            raise InputError(f"{name} has the step {steps[-1]}, from which this script cannot convert.")
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise InputError(f"{name} is damaged: restore a backup, and convert that.")
    open_store(made).close()
    with closing(sqlite3.connect(made, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS old", [str(copy)])
        connection.execute("BEGIN")
        try:
            _copy_rows(connection, name)
        except sqlite3.IntegrityError as problem:  # a new column without a value
            raise InputError(f"{name} cannot be converted: {problem}.") from problem
        connection.execute("COMMIT")
        if astray := connection.execute("PRAGMA main.foreign_key_check").fetchall():
            raise InputError(
                f"{name}: {len(astray)} rows refer to missing rows, the first in {astray[0][0]}."
            )
    with open_store(made) as store:
        for study in list_studies(store):
            if study.first_vote_utc is not None:
                copy_shipped(store, study)
    return made


def _copy_rows(connection: sqlite3.Connection, name: str) -> None:
    """Copy all tables, in the order of their rows, from the schema `old` to `main`."""
    connection.execute("DELETE FROM setting")  # the old database has an id of its own
    there, wanted = _columns(connection, "old"), _columns(connection, "main")
    unknown = [
        f"{table}.{column}"
        for table in there
        for column in there[table]
        if column not in wanted.get(table, ())
    ]
    if unknown:
        raise InputError(f"{name} has {unknown[0]}, which version 1 does not have any more.")
    for table, columns in wanted.items():
        if table not in there:
            continue
        values = {
            column: VALUES.get((table, column)) or f'"{column}"'
            if column in there[table]
            else ADDED_COLUMNS.get((table, column))
            for column in columns
        }
        listed = [column for column in columns if values[column] is not None]
        names = ", ".join(f'"{column}"' for column in listed)
        (ordered,) = connection.execute(
            "SELECT NOT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", [table]
        ).fetchone()
        connection.execute(
            f'INSERT INTO main."{table}" ({names}) SELECT {", ".join(str(values[column]) for column in listed)} '
            f'FROM old."{table}"' + (" ORDER BY rowid" if ordered else "")
        )


def _columns(connection: sqlite3.Connection, schema: str) -> dict[str, list[str]]:
    """Table -> its columns."""
    tables = connection.execute(
        f"SELECT name FROM {schema}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name <> ?",
        [STEPS_TABLE],
    ).fetchall()
    return {
        table: [row[1] for row in connection.execute(f'PRAGMA {schema}.table_info("{table}")')]
        for (table,) in tables
    }


def _manifest(old: Path) -> dict[str, Any]:
    """The manifest of a backup or bundle that can be converted."""
    try:
        with zipfile.ZipFile(old) as archive:
            manifest = json.loads(archive.read(_MANIFEST))
        found, version = manifest["format"], manifest["version"]
        hashes = manifest["sha256"]
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as problem:
        raise InputError(f"{old.name} is neither a database nor a backup nor a bundle of Assay.") from problem
    versions = {BACKUP: OLD_BACKUPS, BUNDLE: OLD_BUNDLES}.get(found, ())
    if version not in (FORMAT_VERSION, *versions) or not versions or not isinstance(hashes, dict):
        raise InputError(
            f"{old.name} is a {found} of version {version}, from which this script cannot convert."
        )
    return manifest


def _convert_backup(old: Path, manifest: dict[str, Any], draft: Path, folder: Path) -> None:
    """Write the backup again with its database converted; key and folders of runs stay as they are."""
    (folder / "unpacked").mkdir()
    (folder / "converted").mkdir()
    with zipfile.ZipFile(old) as archive, zipfile.ZipFile(draft, "w") as made:
        packed = Path(archive.extract(_DATABASE, folder / "unpacked"))
        if _sha256(packed) != manifest["sha256"].get(_DATABASE):
            raise InputError(f"{old.name} is damaged: {_DATABASE} does not match its manifest.")
        database = convert_database(packed, folder / "converted", f"{old.name}, {_DATABASE},")
        for info in archive.infolist():
            if info.filename not in (_DATABASE, _MANIFEST):
                with archive.open(info) as content:
                    _add(made, info, content)
        with database.open("rb") as content:
            _add(made, archive.getinfo(_DATABASE), content)
        changed = {
            "version": FORMAT_VERSION,
            "migrations": list(STEPS),
            "sha256": manifest["sha256"] | {_DATABASE: _sha256(database)},
            "tables": manifest.get("tables") or {"included": True, "runs": {}},
        }
        made.writestr(_MANIFEST, json.dumps(manifest | changed, indent=2))
    (folder / "restored").mkdir()
    read_backup(draft, old.name, folder / "restored")


def _add(archive: zipfile.ZipFile, like: zipfile.ZipInfo, content: IO[bytes]) -> None:
    info = zipfile.ZipInfo(like.filename, like.date_time)
    info.external_attr, info.compress_type = like.external_attr, like.compress_type
    with archive.open(info, "w", force_zip64=True) as member:
        shutil.copyfileobj(content, member)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _converted_bundle(old: Path, manifest: dict[str, Any]) -> bytes:
    """The bundle of a study as this version writes it."""
    with zipfile.ZipFile(old) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != _MANIFEST}
    missing = {name: b"" for name in ADDED_MEMBERS if name not in members}
    if manifest["version"] == FORMAT_VERSION and not missing:
        raise InputError(f"{old.name} is a bundle of this version already.")
    hashes = manifest["sha256"] | {
        name: hashlib.sha256(content).hexdigest() for name, content in missing.items()
    }
    changed = manifest | {"version": FORMAT_VERSION, "sha256": hashes}
    record = read_bundle(zipped({_MANIFEST: json.dumps(changed).encode(), **members, **missing}), old.name)
    if record.study.first_vote_utc is not None and not record.shipped:
        record = replace(record, shipped=tuple(shipped_texts(record.study)))
    return write_bundle(record)


def main(words: list[str] | None = None) -> int:
    """Convert one file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "old", type=Path, metavar="OLD", help="database, backup or bundle to convert; not changed"
    )
    parser.add_argument("new", type=Path, metavar="NEW", help="file to write; must not exist")
    options = parser.parse_args(words)
    try:
        what = convert(options.old, options.new)
    except AssayError as problem:
        print(problem, file=sys.stderr)
        return 2
    print(f"{options.new} is the {what} {options.old} as version {FORMAT_VERSION}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
