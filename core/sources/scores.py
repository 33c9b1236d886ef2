"""Scores of metrics and judges, from every kind of source."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from core.formats.mt_metrics_eval import read_folder
from core.formats.registry import read_evaluators, read_scores
from core.formats.scores import check_no_ratings
from core.runs.path import saved_run
from core.runs.scoring import score_table
from core.schema.scores import RatingSet, ScoreTable
from core.sources.named import (
    FileSource,
    FolderSource,
    PublishedSource,
    RunFolderSource,
    RunSource,
    Source,
    StudySource,
)
from core.sources.reading import PUBLISHED_GIVES, SourceReader, cannot_give, folder_gives, study_gives
from core.store.studies import find_study
from core.tables.files import read_file

SCORES_FILE = "scores.csv"
"""Scores in the folder of a run."""
_NEEDED = "scores"


@dataclass(frozen=True)
class Scores:
    """Scores, and the ratings that came with them."""

    table: ScoreTable
    ratings: Mapping[str, RatingSet] = field(default_factory=dict)
    """Rating sets of a folder, by name; empty for other sources."""


def scores_of(source: Source, reading: SourceReader) -> ScoreTable:
    """Return the scores of a source; those of a run are named as the user named it. Raises InputError."""
    return scores_and_ratings(source, reading).table


def scores_and_ratings(source: Source, reading: SourceReader) -> Scores:
    """Return the scores of a source, and the rating sets of a folder. Raises InputError."""
    match source:
        case FileSource():
            return Scores(_file_scores(reading.table(source), source.name, reading))
        case FolderSource():
            found = read_folder(source.path, language_pair=reading.language_pair)
            return Scores(found.scores, found.ratings)
        case RunFolderSource():
            file = source.path / SCORES_FILE
            if not file.is_file():
                raise cannot_give(source, folder_gives(source), _NEEDED)
            return Scores(replace(read_scores(read_file(file), SCORES_FILE), file_name=source.written))
        case RunSource():
            with reading.opened() as store:
                return Scores(replace(score_table(saved_run(store, source.number)), file_name=source.written))
        case StudySource():
            with reading.opened() as store:
                raise cannot_give(source, study_gives(find_study(store, source.name)), _NEEDED)
        case PublishedSource():
            raise cannot_give(source, PUBLISHED_GIVES, _NEEDED)


def _file_scores(data: bytes, file_name: str, reading: SourceReader) -> ScoreTable:
    """Return the scores of a file; of METAL's JSON, those of its evaluators."""
    table = read_evaluators(data, file_name, flip=reading.flip)
    if table is None:
        table = read_scores(data, file_name)
        check_no_ratings(table)
    return table
