"""The database of schema m001 that tests migrate: tests/reference/make_assay_v1.py says how it was made."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
KEY = "5a" * 32


def database_v1(folder: Path, name: str = "assay.db") -> Path:
    """The old database in a folder, with the key of its links, as the old code left it."""
    path = folder / name
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((REFERENCE / "assay-v1.sql").read_text("utf-8"))
        connection.execute("pragma journal_mode = wal")
    path.with_name(f"{name}.key").write_text(KEY)
    return path


def results_v1() -> dict[str, Any]:
    """What the old code's `study results --json --resamples 200` said, by study."""
    found: dict[str, Any] = json.loads((REFERENCE / "assay-v1.results.json").read_text("utf-8"))
    return found


def rows_of(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows as SQLite alone sees them, without opening the database as Assay's."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()
