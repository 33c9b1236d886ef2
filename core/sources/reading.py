"""How sources are read: what a user says about their files and folders, and which database holds runs and studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from core.errors import AssayError, InputError, Problems
from core.schema.scale import NOT_DECLARED, DeclaredScale
from core.schema.settings import Remark, Settings, refuse, setting
from core.sources.named import (
    FileSource,
    FolderSource,
    RunFolderSource,
    Source,
    parse_source,
)
from core.tables.files import read_file
from core.tables.reading import shown

if TYPE_CHECKING:
    from core.runs.jobs import RunAtHand
    from core.schema.study import Study
    from core.store import Store


Found = TypeVar("Found")


class ReadingChoice(Settings):
    """What a user may say about a source: the names by which every door offers it."""

    columns: tuple[str, ...] | None = setting(
        None,
        "Columns",
        "columns of the file that have other names than expected, e.g. text=output,item_id=key",
        listed=True,
        metavar="NAME=COLUMN,...",
    )
    language_pair: str | None = setting(
        None,
        "Language pair",
        "which language pair to read when the folder has several, e.g. en-de",
        metavar="PAIR",
    )
    ratings: str | None = setting(
        None,
        "Rating set",
        "which rating set to read when the folder has several, e.g. mqm",
        metavar="NAME",
    )
    lower_is_better: bool = setting(False, "Lower is better", "low ratings are better, e.g. counts of errors")
    flip: tuple[str, ...] = setting(
        (), "Flip", "for METAL's JSON: dimensions in which 1 means bad", listed=True, metavar="D,..."
    )


NOT_SO = "This cannot be read so"
"""How the message begins where a choice does not fit a source."""


def _no_database() -> AbstractContextManager[Store]:
    raise InputError("No database is open here, so there are no runs and studies.")


@dataclass(frozen=True)
class SourceReader:
    """How sources are read."""

    opened: Callable[[], AbstractContextManager[Store]] = _no_database
    """Opens the database, when a run or a study is read. Raises InputError if there is none."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Assay's name of a column -> the file's."""
    of_several: bool = False
    """Whether the columns are those of several files, so that each may lack some."""
    declared: DeclaredScale = NOT_DECLARED
    """Classes and missing cells of ratings and scores that are read apart."""
    language_pair: str | None = None
    ratings: str | None = None
    """Name of a rating set in a folder; None: the usual one."""
    ratings_called: str | None = None
    """What the door calls that choice, for messages."""
    by_rater: bool = False
    """Whether the usual rating set of a folder is the one that names raters."""
    lower_is_better: bool = False
    """Low ratings of a table are better. Other formats define their own direction."""
    flip: tuple[str, ...] = ()
    """For METAL's JSON: dimensions in which 1 means bad."""

    def table(self, source: FileSource) -> bytes:
        """Return the file with columns renamed, and with declared classes as numbers. Raises InputError."""
        data = read_file(source.path) if source.data is None else source.data
        if self.columns:
            from core.tables.mapping import columns_there, rename_columns  # imported lazily: loads numpy

            named = columns_there(data, source.name, self.columns) if self.of_several else dict(self.columns)
            data = rename_columns(data, source.name, named)
        if self.declared.classes or self.declared.missing:
            from core.tables.mapping import number_declared

            data = number_declared(data, source.name, self.declared)
        return data

    def check_applies(self, source: Source) -> None:
        """Raise SettingsError for anything said here that this kind of source has no use for."""
        of_table = {"columns": self.columns, "lower_is_better": self.lower_is_better, "flip": self.flip}
        of_folder = {"language_pair": self.language_pair, "ratings": self.ratings}
        wrong = [] if isinstance(source, FileSource) else _only("a table", of_table, source)
        wrong += [] if isinstance(source, FolderSource) else _only("a folder", of_folder, source)
        refuse(wrong, ReadingChoice, what=NOT_SO)


def _only(where: str, values: Mapping[str, object], source: Source) -> list[Remark]:
    held = isinstance(source, FileSource) and source.data is not None
    text = (
        "only for {where}; leave it out" if held else "only for {where}, and {source} is none; leave it out"
    )
    about = {"where": where, "source": shown(source.written)}
    return [Remark(name, text, about) for name, value in values.items() if value]


def read_each(written: Sequence[str], read: Callable[[Source], Found]) -> list[Found]:
    """Read every input. Raises InputError with the problems of all of them."""
    found: list[Found] = []
    wrong: list[AssayError] = []
    for one in written:
        try:
            found.append(read(parse_source(one)))
        except AssayError as problem:
            wrong.append(problem)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        problems = Problems()
        for error in wrong:
            if isinstance(error, InputError) and error.problems:
                problems += error.under(error.what)
            else:
                problems.append(str(error))
        raise InputError("Some inputs cannot be read", problems)
    return found


def reading_in(store: Store) -> SourceReader:
    """Return the usual way to read sources, with runs and studies of an open database."""
    return SourceReader(opened=lambda: nullcontext(store))


def cannot_give(source: Source, gives: str, needed: str) -> InputError:
    """Return the error of a source that lacks what is needed, in one sentence.

    gives: what it has instead. needed: in the plural, such as `ratings of single texts`.
    """
    return InputError(f"{shown(source.written)} gives {gives}, and {needed} are needed here.")


_OF_WORK = {
    "generation": "generated texts",
    "scores": "scores of metrics",
    "tables": "estimates over a big table",
    "judging": "scores of a judge",
    "audit": "an audit of judges",
}
"""Work of a run -> what it gives."""


def run_gives(run: RunAtHand) -> str:
    """Return what a run gives, for `cannot_give`."""
    return _OF_WORK[run.kind.work]


def folder_gives(source: RunFolderSource) -> str:
    """Return what the folder of a run gives, for `cannot_give`. Raises InputError for a folder that is damaged."""
    # Imported lazily: the kinds of runs load slowly.
    from core.runs.kinds import KINDS
    from core.runs.records import read_report

    kind = KINDS.get(read_report(source.path)["kind"])
    return "the files of a run of unknown kind" if kind is None else _OF_WORK[kind.work]


def study_gives(study: Study) -> str:
    """Return what a study gives, for `cannot_give`."""
    return "answers and votes on pairs" if study.kind == "pairs" else "texts and ratings by people"


PUBLISHED_GIVES = "correlations of metrics as a paper printed them"
"""What a published source gives, for `cannot_give`."""
