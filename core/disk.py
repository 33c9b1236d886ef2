"""What an error of the disk means, and what to do about it."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import StorageError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_LITTLE_BYTES = 2**18
"""Free space below which an error of SQLite that may have any cause counts as a full disk."""


def why_not_written(problem: BaseException, path: Path) -> str:
    """Why a file could not be written, as the end of a sentence about it, with what to do."""
    number = getattr(problem, "errno", None)
    if number in _NO_ROOM:
        return f"the disk of {_there(path)} is full. Make room there"
    if number == errno.EROFS:
        return f"the disk of {_there(path)} is read-only. Make it writable, or name another folder"
    return str(getattr(problem, "strerror", None) or problem)


def is_disk_problem(problem: OSError) -> bool:
    """Whether nothing can be written to the disk because it is full or read-only."""
    return problem.errno in (*_NO_ROOM, errno.EROFS)


@contextmanager
def disk_named(path: Path) -> Iterator[None]:
    """Raise StorageError, naming the path, where the block fails because its disk is full or read-only. Other errors pass."""
    try:
        yield
    except OSError as problem:
        if not is_disk_problem(problem):
            raise
        raise StorageError(f"{path} cannot be written: {why_not_written(problem, path)}.") from problem


def is_full(problem: Exception, path: Path) -> bool:
    """Whether an error of the system or of SQLite at `path` means that its disk has no room.

    SQLite reports some full disks as an input/output error, so the free space decides then.
    """
    name = str(getattr(problem, "sqlite_errorname", ""))
    if name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")):
        try:
            return shutil.disk_usage(_there(path)).free < _LITTLE_BYTES
        except OSError:
            return False
    return name == "SQLITE_FULL" or getattr(problem, "errno", None) in _NO_ROOM


def is_read_only(path: Path) -> bool:
    """Whether the disk at `path` cannot be written at all, whatever the permissions."""
    try:
        return bool(os.statvfs(_there(path)).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _there(path: Path) -> Path:
    """The folder of a path, or the first above it that exists."""
    return next((one for one in path.absolute().parents if one.is_dir()), Path("/"))
