"""How users name data: a file, a folder, `run:N`, `study:NAME` or `published:NAME`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from core.errors import InputError
from core.installation import COMMAND
from core.schema.runs import RUN_FILE
from core.tables.reading import shown

NAMES = "FILE|FOLDER|run:N|study:NAME"
"""Accepted inputs, for the help of a command."""
_RUN, _STUDY, _PUBLISHED = "run:", "study:", "published:"


@dataclass(frozen=True)
class PathSource:
    """A path, of one of the kinds below."""

    written: str
    """What the user wrote."""

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.written)

    @property
    def name(self) -> str:
        """The path without its folders."""
        return self.path.name


@dataclass(frozen=True)
class FileSource(PathSource):
    """A file, which may not exist, or the contents of one that a program holds: an upload, a data frame."""

    data: bytes | None = None
    """Contents; None: those of the file at the path."""


@dataclass(frozen=True)
class FolderSource(PathSource):
    """A folder in the format of mt-metrics-eval."""


@dataclass(frozen=True)
class RunFolderSource(PathSource):
    """The folder that a run wrote."""


@dataclass(frozen=True)
class RunSource:
    """A run of the database."""

    number: int

    @property
    def written(self) -> str:
        """What the user wrote."""
        return f"{_RUN}{self.number}"


@dataclass(frozen=True)
class StudySource:
    """A study of the database."""

    name: str

    @property
    def written(self) -> str:
        """What the user wrote."""
        return f"{_STUDY}{self.name}"


@dataclass(frozen=True)
class PublishedSource:
    """Correlations that a paper printed."""

    name: str
    """What follows the prefix, such as `cus-qa-cs:qwen-3-30b:zero`."""

    @property
    def written(self) -> str:
        """What the user wrote."""
        return f"{_PUBLISHED}{self.name}"


Source: TypeAlias = FileSource | FolderSource | RunFolderSource | RunSource | StudySource | PublishedSource
STORED = (RunSource, StudySource)
"""Sources that the database holds."""
OF_RUNS = (RunSource, RunFolderSource)
"""Sources that a run made."""


def parse_source(written: str) -> Source:
    """Return the source that a text names.

    A prefix decides, whatever files there are: `./study:a.csv` names a file whose name begins like a study. A path is a file
    unless there is a folder. Raises InputError if no number follows `run:`.
    """
    if written.startswith(_RUN):
        number = written.removeprefix(_RUN)
        if not (number.isascii() and number.isdigit()):
            raise InputError(f"{written!r} is not run:N, e.g. run:3. `{COMMAND} runs list` lists all runs.")
        return RunSource(int(number))
    if written.startswith(_STUDY):
        return StudySource(written.removeprefix(_STUDY))
    if written.startswith(_PUBLISHED):
        return PublishedSource(written.removeprefix(_PUBLISHED))
    path = Path(written)
    if (path / RUN_FILE).is_file():
        return RunFolderSource(written)
    return FolderSource(written) if path.is_dir() else FileSource(written)


def parse_sources(written: Sequence[str]) -> list[Source]:
    """Return the sources that several texts name. Raises InputError."""
    return [parse_source(one) for one in written]


def short_name(source: Source) -> str:
    """Return what the user wrote, a path without its folders."""
    return (source.name if isinstance(source, PathSource) else "") or source.written


def names_apart(short: Iterable[str], inputs: Sequence[str], what: str = "judge") -> list[str]:
    """Name each input by its short name, or as given if two share one. Raises InputError for a repeated input."""
    if len(set(inputs)) < len(inputs):
        twice = sorted({one for one in inputs if list(inputs).count(one) > 1})
        raise InputError(f"{', '.join(map(shown, twice))} is given twice. Name each {what} once.")
    names = list(short)
    return [name if names.count(name) == 1 else whole for name, whole in zip(names, inputs, strict=True)]
