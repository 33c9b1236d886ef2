"""Studies by name, as bundles, as the pilot of a plan, and what a running one has reached."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from core.errors import InputError
from core.results.study.counted import Filters, StudyPart, counts_at_all, filtered
from core.results.study.early import EarlyLook, look
from core.results.study.planning import Basis, Standing, file_basis, own_basis, panel_size, pilot_basis
from core.schema.study import Study, StudyRecord, StudyTexts
from core.sources.named import FileSource, Source, StudySource, parse_source
from core.sources.people import study_record
from core.sources.reading import SourceReader, cannot_give
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import raters_of
from core.store.studies import find_study, items_of, outputs_of
from core.study.analysis_set import USUAL_VOTES, fix_when_shown, main_levels, released_record
from core.study.bundle import stored_or_bundled
from core.study.raters import check_asks


def study_or_bundle(written: str, reading: SourceReader, *, seen: bool = False) -> tuple[StudyRecord, bool]:
    """Return the record of a study or of a bundle, and whether it comes from the database; see `stored_or_bundled`.

    written: a study's name, with `study:` before it or without, or the path of a bundle.
    """
    source = parse_source(written)
    name = source.name if isinstance(source, StudySource) else written
    return stored_or_bundled(name, reading.opened, seen=seen)


_NAMED = ("raters", "questions", "languages")
"""Filters beside levels."""


def part_of(
    written: str,
    reading: SourceReader,
    filters: Filters,
    levels: Callable[[tuple[str, ...]], Sequence[str]] | None = None,
) -> StudyPart:
    """Return a study, by name or as a bundle, with what filters select of it; a stored study counts as seen from then on.

    levels: makes those of the filters from all levels of the study; None: as the filters say. Raises InputError for filters that it
    does not have, NotFound, and NotAllowed before it is unblinded.
    """
    record, stored = study_or_bundle(written, reading)  # nothing counts as seen yet: a filter may be refused
    of_levels = levels is not None or filters.levels is not None
    named = [
        *(["levels"] if of_levels else []),
        *(name for name in _NAMED if getattr(filters, name) is not None),
    ]
    if record.study.kind == "ratings":
        why = "a study of ratings has no filters; leave it out. To analyse a part, export the ratings"
        if named:
            raise InputError("This study has no such part", [f"{name}: {why}" for name in named])
        return StudyPart(record, filters)
    if of_levels and record.study.asks == "preference":
        why = f"levels: study {record.study.name!r} has plain pairs without levels"
        raise InputError("This study has no such part", [why])
    if levels is not None:
        filters = replace(filters, levels=levels(record.study.levels))
    filtered(record, filters)
    if stored:
        with reading.opened() as store:
            fix_when_shown(store, record.study.study_id)
    return StudyPart(record, filters)


def pilot_of(source: Source, reading: SourceReader) -> Basis:
    """Return variance components of an unblinded study, or of a table of votes.

    Raises InputError, and NotAllowed for a study that is not unblinded.
    """
    if isinstance(source, StudySource):
        return pilot_basis(study_record(source, reading))
    if isinstance(source, FileSource):
        return file_basis(reading.table(source), source.name)
    raise cannot_give(source, "other data", "votes on pairs of a pilot, study:NAME or a file,")


def pilot_if_any(written: str | None, reading: SourceReader) -> Basis | None:
    """Return the components of a pilot, as a user writes it; None for none. Raises InputError and NotAllowed as `pilot_of`."""
    return None if written is None else pilot_of(parse_source(written), reading)


def standing_if_any(name: str | None, reading: SourceReader) -> Standing | None:
    """Return how far the study of this name has come; None for none. Raises InputError and NotFound."""
    if name is None:
        return None
    source = parse_source(name)
    with reading.opened() as store:
        return standing_of(store, find_study(store, source.name if isinstance(source, StudySource) else name))


def look_at(name: str, reading: SourceReader, *, by: str) -> EarlyLook:
    """Look at the running study of this name. by: the door, for the log. Raises NotFound, and NotAllowed as `early.look`."""
    source = parse_source(name)
    with reading.opened() as store:
        study = find_study(store, source.name if isinstance(source, StudySource) else name)
        return look(store, study, by=by)


def texts_of(store: Store, study: Study) -> StudyTexts:
    """Return the texts of a study, whatever its state."""
    return StudyTexts(study, tuple(items_of(store, study.study_id)), tuple(outputs_of(store, study.study_id)))


def texts_named(name: str, reading: SourceReader) -> StudyTexts:
    """Return the texts of a study by name, with `study:` before it or without. Raises NotFound."""
    source = parse_source(name)
    with reading.opened() as store:
        return texts_of(store, find_study(store, source.name if isinstance(source, StudySource) else name))


def standing_of(store: Store, study: Study) -> Standing:
    """Return how far a study of pairs has come, without unblinding it. Raises InputError for a study of ratings.

    It reads which entries have an answer, never the choice. Once the study is unblinded, it also has the components of its votes.
    """
    check_asks(study, ["levels", "preference"], "plan")
    design, levels = study.design, main_levels(study.design, study.levels)
    raters, answers = raters_of(store, study.study_id), answers_of(store, study.study_id)
    counting = {rater.rater_id for rater in raters if counts_at_all(rater)}
    votes: Counter[tuple[str, str]] = Counter()
    flagged, voted = set(), set()
    for answer in answers:
        if answer.rater_id not in counting or answer.level not in levels:
            continue
        key = (answer.item_id, answer.level)
        if answer.invalid:
            flagged.add(key)
        if answer.answered and not answer.repeat:
            votes[key] += 1
            voted.add(answer.rater_id)
    enough = design.votes_needed or min(USUAL_VOTES, design.votes_per_pair or USUAL_VOTES)
    left_out = flagged if design.flagged == "leave_out" else set()
    complete = {key for key, n in votes.items() if n >= enough and key not in left_out}
    of_question = Counter(item for item, _ in complete)
    unblinded = study.state == "unblinded"
    own, why_not = own_basis(released_record(store, study)) if unblinded else (None, ())
    return Standing(
        study,
        levels,
        panel=panel_size(raters, answers, levels, ended=unblinded),
        voted=len(voted),
        complete_pairs=len(complete),
        complete_questions=sum(n == len(levels) for n in of_question.values()),
        questions=len(items_of(store, study.study_id)),
        votes=max(1, round(sum(votes[key] for key in complete) / len(complete))) if complete else enough,
        own_basis=own,
        why_not=why_not,
    )
