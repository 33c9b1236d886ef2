"""The folder of a run beside the database, for what is too large for SQLite: big tables, and files of batch requests."""

import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.disk import disk_named
from core.scratch import scratch_folder
from core.store.connection import Store
from core.store.places import folders_of
from core.store.studies import read_setting

LEFT_OUT = "tables_left_out"
"""Setting: JSON list of the runs that had folders when the restored backup was made, whether it contains them or not."""
PARTIAL = ".partial"
"""Ending of a file's name while it is written; see put_in_place."""
FILE_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
"""Names of files and folders in the folder of a run: nothing that another system could read as a path."""
_NAMED = re.compile(r"run-([1-9]\d{0,17})")


def run_folder(store: Store, run_id: int) -> Path:
    """The folder of a run's files, whether it exists or not."""
    return folders_of(store.path) / f"run-{run_id}"


def make_run_folder(store: Store, run_id: int) -> Path:
    """The folder of a run's files, created if missing, readable only by its owner, like the database."""
    folder = run_folder(store, run_id)
    with disk_named(folder):
        folders_of(store.path).mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def delete_run_folder(store: Store, run_id: int) -> None:
    """Delete a run's files, if there are any. Of a link only the link: what it points to is not the run's alone."""
    folder = run_folder(store, run_id)
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
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
    """All finished files in a run's folder, in order, without those of `files_left_out`; files may appear and disappear meanwhile."""
    yield from (path for path, why in _entries(folder) if not why)


def files_left_out(folder: Path) -> dict[Path, str]:
    """Files and folders in a run's folder that no backup contains, with what they are.

    Links, because what they lead to is not the run's alone, and what could not be restored: pipes, devices, and other people's
    files with a name that Assay never gives (`FILE_NAME`). Files that are still written (`.NAME`, `NAME.partial`) are not named.
    """
    return {path: why for path, why in _entries(folder) if why}


def _entries(folder: Path) -> Iterator[tuple[Path, str]]:
    """Finished files in a folder and, where one is left out, what it is."""
    if folder.is_symlink():
        yield folder, LINK
        return
    try:
        names = sorted(os.listdir(folder))
    except PermissionError as problem:
        yield folder, why_unreadable(problem)
        return
    except (FileNotFoundError, NotADirectoryError):  # deleted meanwhile
        return
    for path in (folder / name for name in names if not name.startswith(".") and not name.endswith(PARTIAL)):
        if path.is_symlink():
            yield path, LINK
        elif not FILE_NAME.fullmatch(path.name):
            yield path, "a file with a name that Assay does not use"
        elif path.is_dir():
            yield from _entries(path)
        elif path.is_file():
            yield path, ""
        elif path.exists():
            yield path, "no plain file"


LINK = "a link"


def why_unreadable(problem: OSError) -> str:
    """What a file is that a backup could not read."""
    return f"unreadable ({problem.strerror or problem})"


def size_of(path: Path) -> int:
    """Bytes of a file or of all files in a folder; 0 if it does not exist. Files may disappear meanwhile; links are not followed."""
    try:
        if path.is_dir() and not path.is_symlink():
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
        f"The tables of run {run_id} were left out when this database was restored. Restore a backup made with its tables, or run it "
        "again from its file."
    )


@contextmanager
def new_folder(store: Store) -> Iterator[Path]:
    """A folder for the files of a run that has no number yet. Deleted at the end, unless `keep_folder` has taken it."""
    place = folders_of(store.path)
    with disk_named(place):
        place.mkdir(mode=0o700, exist_ok=True)
        with scratch_folder(place) as folder:
            yield folder


def process_exists(process: int) -> bool:
    """Whether there is a process with this number; it may be another than the one that had it before."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # owned by another user
    return True


def keep_folder(store: Store, folder: Path, run_id: int) -> None:
    """Make a new folder that of a run. Call it in the transaction that saves the run.

    A folder of the same name is the rest of a process that was killed before its transaction ended.
    """
    delete_run_folder(store, run_id)
    sync(folder)
    folder.rename(run_folder(store, run_id))
    sync(folders_of(store.path))


def sync(path: Path) -> None:
    """Wait until a file's contents, or a folder's names, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append_lines(path: Path, lines: Iterable[bytes]) -> int:
    """Append lines, each without its line break, to a file; returns the offset of the first. They are on disk by then.

    A last line that a killed process left unfinished is removed. Only one process may append at a time.
    """
    with disk_named(path), path.open("a+b") as file:
        if file.tell() and not _ends_a_line(file):
            file.truncate(sum(len(line) + 1 for _, line in whole_lines(path)))
        begin = file.seek(0, os.SEEK_END)
        file.writelines(line + b"\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
        return begin


def _ends_a_line(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of a file's lines, read one at a time. A last line without a line break was cut off and is left out."""
    with path.open("rb") as file:
        at = 0
        for line in file:
            if line.endswith(b"\n"):
                yield at, line[:-1]
            at += len(line)


def put_in_place(partial: Path, path: Path) -> None:
    """Give a finished file its name. From then on it is there as a whole, even if this process or the machine fails."""
    with disk_named(path):
        sync(partial)
        partial.replace(path)
        sync(path.parent)
