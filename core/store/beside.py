"""The folder of a run beside the database, for what is too large for SQLite: big tables, and files of batch requests."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

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


_NEW = "new-"


@contextmanager
def new_folder(store: Store) -> Iterator[Path]:
    """A folder for the files of a run that has no number yet. Deleted at the end, unless `keep_folder` has taken it.

    Deletes what processes left here that were killed while they wrote.
    """
    there = folders_of(store.path)
    there.mkdir(mode=0o700, exist_ok=True)
    for left in there.glob(f"{_NEW}*"):
        if not _lives(left.name.removeprefix(_NEW).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_NEW}{os.getpid()}-", dir=there))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lives(process: str) -> bool:
    """Whether there is a process with this number."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
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
    with path.open("a+b") as file:
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
    sync(partial)
    partial.replace(path)
    sync(path.parent)
