"""Files and JSON as commands and notebooks write them. Commands import this at their start, so it loads nothing slow."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from core.budget import Drawing
from core.errors import InputError


def json_text(value: Any) -> str:
    """Return JSON as commands print and write it. Raises ValueError for NaN, which no result may contain."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def read_file(path: Path) -> bytes:
    """Return the file's bytes. Raises InputError that names the file if it cannot be read, OverBudget if it is too large."""
    try:
        with path.open("rb") as file:
            Drawing(str(path)).draw("bytes", os.fstat(file.fileno()).st_size, known=True)
            return file.read()
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}.") from problem


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all. Raises InputError if it cannot be written."""
    with writing_file(path) as file:
        file.write(data)


@contextmanager
def writing_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write in pieces: it takes its place when the block ends, and nothing is left if the block fails.

    Raises InputError if it cannot be written.
    """
    draft: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".assay-", delete=False) as file:
            draft = Path(file.name)
            yield file
        draft.chmod(0o666 & ~_umask())
        draft.replace(path)
        draft = None
    except (OSError, ValueError) as problem:
        if draft is not None and not isinstance(problem, OSError):
            raise  # of the block: only a path that names no file is a ValueError here
        raise InputError(
            f"{path} cannot be written: {getattr(problem, 'strerror', None) or problem}."
        ) from problem
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
