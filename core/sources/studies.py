"""Studies by name, as bundles, and as the pilot of a plan."""

from core.results.study.planning import Basis, of_file, of_pilot
from core.schema.study import StudyRecord
from core.sources.named import FileSource, Source, StudySource, parse_source
from core.sources.people import study_record
from core.sources.reading import SourceReader, cannot_give
from core.study.bundle import stored_or_bundled


def study_or_bundle(written: str, reading: SourceReader, *, seen: bool = False) -> tuple[StudyRecord, bool]:
    """Return the record of a study or of a bundle, and whether it comes from the database; see `stored_or_bundled`.

    written: a study's name, with `study:` before it or without, or the path of a bundle.
    """
    source = parse_source(written)
    name = source.name if isinstance(source, StudySource) else written
    return stored_or_bundled(name, reading.opened, seen=seen)


def pilot_of(source: Source, reading: SourceReader) -> Basis:
    """Return variance components of an unblinded study, or of a table of votes.

    Raises InputError, and NotAllowed for a study that is not unblinded.
    """
    if isinstance(source, StudySource):
        return of_pilot(study_record(source, reading))
    if isinstance(source, FileSource):
        return of_file(reading.table(source), source.name)
    raise cannot_give(source, "other data", "votes on pairs of a pilot, study:NAME or a file,")
