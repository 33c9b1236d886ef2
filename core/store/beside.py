"""The folder of a run beside the database, for what is too large for SQLite: big tables, and files of batch requests."""

import shutil
from pathlib import Path

from core.store.connection import Store


def folders_of(database: Path) -> Path:
    """The folder that holds the folders of a database's runs, whether it exists or not."""
    return database.with_name(f"{database.name}.d")


def run_folder(store: Store, run_id: int) -> Path:
    """The folder of a run's files, whether it exists or not."""
    return folders_of(store.path) / f"run-{run_id}"


def make_run_folder(store: Store, run_id: int) -> Path:
    """The folder of a run's files, created if missing, readable only by its owner, like the database."""
    folders_of(store.path).mkdir(mode=0o700, exist_ok=True)
    folder = run_folder(store, run_id)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def delete_run_folder(store: Store, run_id: int) -> None:
    """Delete a run's files, if there are any."""
    if (folder := run_folder(store, run_id)).is_dir():
        shutil.rmtree(folder)
