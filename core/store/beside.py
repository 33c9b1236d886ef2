"""The folder of a run beside the database, for what is too large for SQLite: big tables, and files of batch requests."""

import os
import shutil
from collections.abc import Iterable, Iterator
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
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
