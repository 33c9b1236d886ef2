"""Folders for files that a process needs only for a while, or that are not finished yet. They go with their process.

A process that is killed deletes nothing. So it holds a lock on each of its folders, which the system frees when the process ends
in whatever way, and a folder without a lock is a leftover that anyone may delete. Numbers of processes would not do: the system
uses them again, and a container has numbers of its own.
"""

import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

PREFIX = ".assay-"
"""Beginning of the names of these folders."""
_NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{12}")


@contextmanager
def scratch_folder(place: Path | None = None) -> Iterator[Path]:
    """A new folder that only its owner may read, deleted with its content at the end of the block.

    place: the folder to make it in, such as that of the file to write, so that the file can be renamed; None: the system's
    folder for temporary files. Leftovers of killed processes in `place` are deleted first.
    Raises OSError if the folder cannot be made.
    """
    there = _common() if place is None else place.resolve()
    delete_leftovers([there])
    folder, lock = _locked_folder(there)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _unsign(folder)
        if lock is not None:
            os.close(lock)


def _common() -> Path:
    """The system's folder for temporary files, where a link stands for each scratch folder elsewhere."""
    return Path(tempfile.gettempdir()).resolve()


def _locked_folder(place: Path) -> tuple[Path, int | None]:
    while True:
        folder = place / f"{PREFIX}{secrets.token_hex(6)}"
        _sign(folder)  # before it is there, so that a killed process leaves none without
        try:
            folder.mkdir(0o700)
        except OSError:
            _unsign(folder)
            raise
        if sys.platform == "win32":  # folders cannot be locked there, so leftovers stay
            return folder, None
        with suppress(FileNotFoundError):  # taken for a leftover before it was locked
            lock = os.open(folder, os.O_RDONLY)
            try:
                flock(lock, LOCK_EX)
            except OSError:  # a disk without locks: nobody may take the folder for a leftover
                os.close(lock)
                return folder, None
            if folder.exists():
                _sign(folder)  # again: a sign without a folder may have been taken away
                return folder, lock
            os.close(lock)
        _unsign(folder)


def _sign(folder: Path) -> None:
    common = _common()
    with suppress(OSError):
        if not folder.parent.samefile(common):
            (common / folder.name).symlink_to(folder)


def _unsign(folder: Path) -> None:
    sign = _common() / folder.name
    with suppress(OSError):
        if sign.is_symlink():
            sign.unlink()


def delete_leftovers(places: Iterable[Path], settle: Callable[[Path], bool] | None = None) -> None:
    """Delete the folders of processes that do not live any more in each of `places`, and wherever a process of this user left one.

    settle: called with each leftover before it is deleted, while it is locked; returns whether to delete it. None: any.
    What cannot be read or deleted stays, because whoever opens a database must not be stopped by it.
    """
    common = _common()
    for place in dict.fromkeys([*(place.resolve() for place in places), common]):
        for path in _named(place):
            folder = _signed(path) if path.is_symlink() and place == common else path
            if folder is not None and _deleted(folder, settle) and folder != path:
                path.unlink(missing_ok=True)


def _named(place: Path) -> list[Path]:
    try:
        return [place / name for name in os.listdir(place) if _NAME.fullmatch(name)]
    except (OSError, ValueError):  # there is no such folder, or it cannot be read
        return []


def _signed(sign: Path) -> Path | None:
    """The folder that a link in the common folder stands for; None: somebody else made the link, or it leads elsewhere."""
    with suppress(OSError):
        folder = Path(os.readlink(sign))
        if sign.lstat().st_uid == os.geteuid() and folder.name == sign.name:
            return folder
    return None


def _deleted(folder: Path, settle: Callable[[Path], bool] | None) -> bool:
    """Delete a leftover of this user; returns whether the folder is gone."""
    if sys.platform == "win32":
        return False
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return folder.parent.is_dir()  # otherwise its disk is away, and may come back
    except OSError:
        return False
    try:
        made = os.fstat(lock)
        if made.st_uid != os.geteuid() or made.st_mode & 0o077:  # no folder that this user's Assay made
            return False
        flock(lock, LOCK_EX | LOCK_NB)
        if settle is None and is_pending(folder):
            return False
        if settle is not None and not settle(folder):
            return False
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # its process lives
        return False
    finally:
        os.close(lock)
    return not folder.exists()


PENDING = "pending.json"
"""A file in a folder whose content is needed to end what its process began; only a `settle` that knows it deletes the folder."""


def is_pending(folder: Path) -> bool:
    """Whether a folder holds what is needed to end what its process began."""
    return (folder / PENDING).exists()
