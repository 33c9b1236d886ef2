"""Where the database is: one default that the app and the command share."""

import os
from pathlib import Path

DEFAULT_DATABASE = Path(__file__).resolve().parents[2] / "var" / "assay.db"


def database_path(given: str | os.PathLike[str] | None = None) -> Path:
    """`given` (the `--db` option), else the environment's ASSAY_DB, else var/assay.db beside app.py."""
    return Path(given or os.environ.get("ASSAY_DB") or DEFAULT_DATABASE)
