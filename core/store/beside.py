"""The folder of a run beside the database, for what is too large for SQLite: big tables, and files of batch requests."""

import json
import re
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.store.connection import Store
from core.store.studies import read_setting

LEFT_OUT = "tables_left_out"
"""Setting: JSON list of the runs whose folders a restored backup did not contain."""
_NAMED = re.compile(r"run-([1-9]\d{0,17})")


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


def numbers_of_folders(database: Path) -> list[int]:
    """Numbers of the runs that have a folder, whether or not the runs still exist."""
    try:
        names = [path.name for path in folders_of(database).iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []
    return sorted(number for name in names if (number := number_of_folder(name)))


def number_of_folder(name: str) -> int | None:
    """The run's number in the name of its folder; None: it is not such a name."""
    found = _NAMED.fullmatch(name)
    return int(found[1]) if found else None


def files_in(folder: Path) -> Iterator[Path]:
    """All finished files in a run's folder, in order; files that are still written, named `.NAME` or `NAME.tmp`, are left out."""
    for path in sorted(folder.rglob("*")):
        if (
            path.is_file()
            and not path.is_symlink()
            and not path.name.startswith(".")
            and path.suffix != ".tmp"
        ):
            yield path


def size_of(path: Path) -> int:
    """Bytes of a file or of all files in a folder; 0 if it does not exist. Files may disappear meanwhile."""
    try:
        if path.is_dir():
            return sum(map(size_of, path.iterdir()))
        return path.lstat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


@dataclass(frozen=True)
class Orphan:
    """A folder without a run. It may belong to a database that had this name before, so only a person deletes it."""

    run_id: int
    n_bytes: int


def orphans(store: Store) -> list[Orphan]:
    """Folders beside the database that belong to no run of it."""
    found = numbers_of_folders(store.path)  # before the runs, so that a new run is not taken for one
    runs = {row["id"] for row in store.rows("select id from run")}
    alone = [number for number in found if number not in runs]
    return [Orphan(number, size_of(run_folder(store, number))) for number in alone]


def left_out(store: Store) -> Collection[int]:
    """Runs without their folders because the restored backup did not contain them."""
    listed = json.loads(read_setting(store, LEFT_OUT) or "[]")
    return {number for number in listed if not run_folder(store, number).is_dir()}


def left_out_said(store: Store, run_id: int) -> str | None:
    """One line about files of a run that a backup left out; None: nothing is missing."""
    if run_id not in left_out(store):
        return None
    return (
        f"The tables of run {run_id} were left out of the backup from which this database was restored. Restore a backup "
        "made with its tables, or run it again from its file."
    )
