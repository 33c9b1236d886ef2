"""Files and JSON as commands and notebooks write them. Commands import this at their start, so it loads nothing slow."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from core.budget import Drawing
from core.disk import why_not_written
from core.errors import InputError
from core.scratch import scratch_folder


def json_text(value: Any) -> str:
    """Return JSON as commands print and write it. Raises ValueError for NaN, which no result may contain."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def read_file(path: Path) -> bytes:
    """Return the file's bytes. Raises InputError that names the file if it cannot be read, OverBudget if it is too large."""
    try:
        with path.open("rb") as file:
            Drawing(str(path)).draw("bytes", os.fstat(file.fileno()).st_size, whole=True)
            return file.read()
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}.") from problem


def begins_with(path: Path, mark: bytes) -> bool:
    """Whether a file's first bytes are these; False for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(mark)) == mark
    except OSError:
        return False


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all. Raises InputError if it cannot be written."""
    with writing_file(path) as file:
        file.write(data)


@contextmanager
def writing_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write in pieces: it takes its place when the block ends, and nothing is left if the block fails.

    Raises InputError if it cannot be written.
    """
    begun = False
    try:
        with scratch_folder(path.parent) as folder:
            draft = folder / "draft"
            with draft.open("wb") as file:
                begun = True
                yield file
            draft.replace(path)
    except (OSError, ValueError) as problem:
        if begun and not isinstance(problem, OSError):
            raise  # of the block: only a path that names no file is a ValueError here
        raise InputError(f"{path} cannot be written: {why_not_written(problem, path)}.") from problem
