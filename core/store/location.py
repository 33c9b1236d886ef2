"""Where the database is: one default that the app and the command share; and that its files are its owner's alone."""

import os
from contextlib import suppress
from glob import escape
from pathlib import Path

DEFAULT_DATABASE = Path(__file__).resolve().parents[2] / "var" / "assay.db"


def database_path(given: str | os.PathLike[str] | None = None) -> Path:
    """`given` (the `--db` option), else the environment's ASSAY_DB, else var/assay.db beside app.py."""
    return Path(given or os.environ.get("ASSAY_DB") or DEFAULT_DATABASE)


def make_private(database: Path) -> None:
    """Make the file and its folder where there are none, and shut its files and copies to all but their owner.

    SQLite gives its side files the mode of the database. A folder that was there is left as it is.
    """
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not database.exists():
        os.close(os.open(database, os.O_RDONLY | os.O_CREAT, 0o600))
    for ending in ("", "-wal", "-shm", "-journal", ".key", ".before-*"):
        for file in database.parent.glob(escape(database.name) + ending):
            with suppress(OSError):  # it has just gone, or is somebody else's
                if file.stat().st_mode & 0o077:
                    file.chmod(file.stat().st_mode & 0o700)
