"""What the last code before version 1 left: tests/reference/make_before_version_1.py says how it was made."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from helpers.texts.factories import zipped

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
KEY = "5a" * 32


def old_database(folder: Path, name: str = "assay.db") -> Path:
    """The old database in a folder, with the key of its links, as the old code left it."""
    path = folder / name
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((REFERENCE / "before-version-1.sql").read_text("utf-8"))
        connection.execute("pragma journal_mode = wal")
    path.with_name(f"{name}.key").write_text(KEY)
    return path


def old_studies() -> dict[str, Any]:
    """Study -> its bundle as the old code wrote it (member -> text), and the votes that it exported."""
    found: dict[str, Any] = json.loads((REFERENCE / "before-version-1.json").read_text("utf-8"))
    return found


def old_bundle(name: str) -> bytes:
    """The bundle of a study as the old code wrote it."""
    members = old_studies()[name]["bundle"]
    return zipped({member: text.encode() for member, text in members.items()})


def old_backup(folder: Path, tables: dict[str, bytes] | None = None) -> bytes:
    """A backup as the old code wrote it, with these files of runs."""
    database = old_database(folder)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("pragma journal_mode = delete")
        steps = [name for (name,) in connection.execute("select name from _sqlite_migrations order by id")]
    files = {f"assay.db.d/{name}": content for name, content in (tables or {}).items()}
    members = {"assay.db": database.read_bytes(), "assay.db.key": KEY.encode(), **files}
    manifest = {
        "format": "assay-backup",
        "version": 2 if files else 1,
        "app_version": "0.1.0",
        "created_utc": "2026-11-29T01:00:00.000Z",
        "migrations": steps,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
        "tables": {"included": bool(files), "runs": {"1": 4, "2": 4}},
    }
    return zipped({**members, "manifest.json": json.dumps(manifest).encode()})


def rows_of(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows as SQLite alone sees them, without opening the database as Assay's."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()
