"""What people said of texts: their ratings, or their votes on pairs, from every kind of source."""

from dataclasses import replace
from pathlib import PurePath

from core.errors import InputError
from core.formats.mt_metrics_eval import ratings_among, read_folder
from core.formats.registry import read_ratings
from core.runs.path import saved_run
from core.schema.scores import RatingSet
from core.schema.settings import Remark, refuse
from core.schema.study import RatingTask, StudyRecord
from core.sources.named import (
    FileSource,
    FolderSource,
    PublishedSource,
    RunFolderSource,
    RunSource,
    Source,
    StudySource,
)
from core.sources.reading import (
    NOT_SO,
    PUBLISHED_GIVES,
    ReadingChoice,
    SourceReader,
    cannot_give,
    folder_gives,
    run_gives,
    study_gives,
)
from core.store.runs import run_data
from core.store.studies import find_study
from core.study.analysis_set import check_released, released_record
from core.study.bundle import is_bundle, read_bundle
from core.study.ratings import rating_set_of, task_of
from core.tables.containers import ZIP
from core.tables.files import begins_with, read_file
from core.tables.reading import shown

_NEEDED = "ratings of single texts"


def ratings_of(source: Source, reading: SourceReader) -> RatingSet:
    """Return the ratings of a source: of a run, those in the file that it read.

    Raises InputError, and NotAllowed for a study that is not unblinded.
    """
    found = people_of(source, reading)
    if isinstance(found, StudyRecord):
        raise _no_ratings(source, found)
    return found


def people_of(source: Source, reading: SourceReader) -> RatingSet | StudyRecord:
    """Return ratings, or the record of a study whose raters vote on pairs. Raises as `ratings_of`."""
    record = _record_of(source, reading)
    if record is not None or not isinstance(source, FileSource):
        _check_own_direction(source, reading)
    if record is not None:
        return record if record.study.kind == "pairs" else rating_set_of(record)
    match source:
        case FileSource():
            return read_ratings(
                reading.table(source),
                source.name,
                lower_is_better=reading.lower_is_better,
                flip=reading.flip,
            )
        case FolderSource():
            there = read_folder(source.path, language_pair=reading.language_pair).ratings
            return ratings_among(there, reading.ratings, reading.ratings_called, by_rater=reading.by_rater)
        case RunFolderSource():
            raise cannot_give(source, folder_gives(source), _NEEDED)
        case RunSource():
            return read_ratings(*rated_by_run(source, reading), flip=reading.flip)
        case StudySource():
            raise AssertionError("a study has a record")
        case PublishedSource():
            raise cannot_give(source, PUBLISHED_GIVES, _NEEDED)


def rated_by_run(source: RunSource, reading: SourceReader) -> tuple[bytes, str]:
    """Return the file that a judge or metric read, and its name. Raises InputError for other runs."""
    with reading.opened() as store:
        run = saved_run(store, source.number)
        if run.kind.work not in ("judging", "scores"):
            raise cannot_give(source, run_gives(run), _NEEDED)
        return run_data(store, source.number), PurePath(run.run.data_file).name


def _record_of(source: Source, reading: SourceReader) -> StudyRecord | None:
    """Return the record of a study or of its bundle; None for other sources. Raises NotAllowed before it is unblinded."""
    if isinstance(source, StudySource):
        return study_record(source, reading)
    if not isinstance(source, FileSource):
        return None
    if source.data is None and not begins_with(source.path, ZIP):
        return None
    data = read_file(source.path) if source.data is None else source.data
    if not is_bundle(data):
        return None
    record = read_bundle(data, source.name)
    check_released(record.study)
    return record


def _check_own_direction(source: Source, reading: SourceReader) -> None:
    if reading.lower_is_better:
        own = Remark("lower_is_better", "only for a table: {source} has a direction of its own; leave it out")
        refuse([replace(own, values={"source": shown(source.written)})], ReadingChoice, what=NOT_SO)


def _no_ratings(source: Source, record: StudyRecord) -> InputError:
    return cannot_give(source, study_gives(record.study), _NEEDED)


def study_record(source: StudySource, reading: SourceReader) -> StudyRecord:
    """Return all answers of a study. Raises NotFound, and NotAllowed before it is unblinded."""
    with reading.opened() as store:
        return released_record(store, find_study(store, source.name))


def ratings_and_task(source: Source, reading: SourceReader) -> tuple[RatingSet, RatingTask | None]:
    """Return the ratings of a source, and the raters' task if they come from a study. Raises as `ratings_of`."""
    record = _record_of(source, reading)
    if record is None:
        return ratings_of(source, reading), None
    _check_own_direction(source, reading)
    if record.study.kind == "pairs":
        raise _no_ratings(source, record)
    return rating_set_of(record), task_of(record)
