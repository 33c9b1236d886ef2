"""Texts, with the ratings of people where a judge reads them, from every kind of source."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from core.formats.mt_metrics_eval import read_folder, read_folder_outputs, usual_ratings
from core.formats.rated import outputs_of, rated_of, write_rated
from core.formats.registry import read_rated, read_ratings, read_spans, read_texts
from core.formats.scorable import write_outputs
from core.judges.kind import JudgeKind
from core.judges.pairwise import Guidelines, shipped_guidelines
from core.judges.rated import TASK_AND_RATINGS
from core.results.judges.made_levels import Made
from core.runs.generation import texts_of_run
from core.runs.judging import judging_run
from core.runs.judging.levels import made_of_outputs
from core.runs.path import saved_run
from core.schema.scores import OutputSet, RatedSet, RatingSet
from core.schema.settings import Remark, SettingsError
from core.schema.study import NO_LEVEL, Item, Output, Study
from core.sources.judges import made_of
from core.sources.named import (
    OF_RUNS,
    FileSource,
    FolderSource,
    PublishedSource,
    RunFolderSource,
    RunSource,
    Source,
    StudySource,
)
from core.sources.people import ratings_of
from core.sources.reading import PUBLISHED_GIVES, SourceReader, cannot_give, folder_gives
from core.store import Store
from core.store.studies import find_study, get_study, items_of
from core.store.studies import outputs_of as answers_of_study
from core.study.analysis_set import released_record
from core.study.masking import masks_of
from core.study.ratings import rated_texts_of
from core.study.shipped import guidelines_read
from core.tables.columns import jsonl_bytes
from core.tables.files import read_file
from core.tables.layouts import turns_of
from core.tables.reading import shown

Texts = tuple[bytes, str]
"""Contents of a file of texts, and its name."""
Apart = Callable[[OutputSet], Sequence[RatingSet]]
"""Reads ratings from a separate file."""


TEXTS_FILE = "outputs.csv"
"""Generated texts in the folder of a run."""
_NEEDED = "texts"


def texts_file(
    source: Source, reading: SourceReader, *, of_study: Callable[[Store, Study], Texts] | None = None
) -> tuple[Texts, tuple[str, ...]]:
    """Return the texts of a source as a file, and notes on it.

    of_study: reads a study; None for the texts of an unblinded one. Raises InputError, and NotAllowed for a study that is not
    unblinded.
    """
    match source:
        case FileSource():
            return (reading.table(source), source.name), ()
        case FolderSource():
            return texts_of_folder(source.path, reading.language_pair)
        case RunFolderSource():
            file = source.path / TEXTS_FILE
            if not file.is_file():
                raise cannot_give(source, folder_gives(source), _NEEDED)
            return (read_file(file), file.name), ()
        case RunSource():
            with reading.opened() as store:
                return texts_of_run(saved_run(store, source.number)), ()
        case StudySource():
            with reading.opened() as store:
                return (of_study or texts_of_study)(store, find_study(store, source.name)), ()
        case PublishedSource():
            raise cannot_give(source, PUBLISHED_GIVES, _NEEDED)


def texts_of(source: Source, reading: SourceReader) -> OutputSet:
    """Return the texts of a source. Raises InputError, and NotAllowed for a study that is not unblinded."""
    if isinstance(source, FolderSource):
        return read_folder_outputs(source.path, language_pair=reading.language_pair)
    texts, notes = texts_file(source, reading)
    found = read_texts(*texts)
    return replace(found, notes=tuple(dict.fromkeys((*notes, *found.notes))))


def rated_file(
    source: Source,
    reading: SourceReader,
    kind: JudgeKind,
    ratings: Sequence[Source] = (),
    rating_sets: Sequence[str] = (),
) -> tuple[Texts, tuple[str, ...]]:
    """Return texts with ratings as a file for a judge, and notes on it.

    ratings: where the ratings are, if elsewhere: files for this kind, or folders. rating_sets: names of rating sets, if the
    source is a folder. Raises InputError, and NotAllowed for a study that is not unblinded.
    """

    def apart(texts: OutputSet) -> list[RatingSet]:
        return [_ratings_apart(one, reading, kind, texts) for one in ratings]

    if isinstance(source, FolderSource):
        return rated_of_folder(source.path, reading.language_pair, rating_sets, apart if ratings else None)
    texts, notes = texts_file(source, reading, of_study=rated_of_study)
    if not ratings:
        return texts, notes
    rated, more = rated_of_texts(*texts, apart)
    return rated, (*notes, *more)


def _ratings_apart(source: Source, reading: SourceReader, kind: JudgeKind, texts: OutputSet) -> RatingSet:
    if isinstance(source, FileSource):
        return read_apart(kind, reading.table(source), source.name, texts, reading.flip)
    return ratings_of(source, replace(reading, lower_is_better=False))


def rated_texts_of_source(source: Source, reading: SourceReader) -> RatedSet:
    """Return the rated texts of a file, folder or study, or those that a judge's run read.

    Raises InputError, and NotAllowed for a study that is not unblinded.
    """
    match source:
        case FolderSource():
            folder = read_folder(source.path, language_pair=reading.language_pair)
            return rated_of(folder.outputs, *(folder.ratings[name] for name in usual_ratings(folder.ratings)))
        case RunSource():
            with reading.opened() as store:
                run = saved_run(store, source.number)
                if run.kind.work == "generation":
                    return read_rated(*texts_of_run(run))
                rated: RatedSet = judging_run(run).contents
                return rated
        case _:
            return read_rated(*texts_file(source, reading, of_study=rated_of_study)[0])


def made_texts_of(source: Source, reading: SourceReader) -> Made:
    """Return the texts of a source, of a run with everything that is known about how they were made. Raises InputError."""
    if isinstance(source, OF_RUNS):
        return made_of(source, reading)
    return made_of_outputs(texts_of(source, reading).outputs)


def texts_of_study(store: Store, study: Study) -> Texts:
    """Both systems' answers. Raises NotAllowed before the study is unblinded, because scores by system would reveal them."""
    record = released_record(store, study)
    return _texts_in(record.items, record.outputs), _named_after(study)


def pairs_of_study(store: Store, study: Study, *, masked: bool | None = None) -> Texts:
    """Both systems' answers for a judge that compares the two of a pair: under masks until the study is unblinded.

    masked: True keeps the masks afterwards, for a run that began under them. The file then says nothing of the systems: neither
    its name, nor the order of its rows, which follows the masks. Raises NotAllowed for a study of single texts before it is
    unblinded.
    """
    study = get_study(store, study.study_id)
    if study.kind != "pairs" or (study.state == "unblinded" and not masked):
        return texts_of_study(store, study)
    items = items_of(store, study.study_id)
    outputs = answers_of_study(store, study.study_id)
    masks = masks_of(outputs)
    under = [replace(one, source=masks[one.item_id, one.level, one.source]) for one in outputs]
    places = {item.item_id: place for place, item in enumerate(items)}
    under.sort(key=lambda one: (places[one.item_id], study.levels.index(one.level), one.source))
    return _texts_in(items, under), f"masked-{_named_after(study)}"


def guidelines_of_study(store: Store, study: Study) -> Guidelines:
    """What the raters of a study of pairs read, in the study's language: the shipped guidelines, or the owner's."""
    assert study.asks != "ratings", "only pairs are compared"
    text = guidelines_read(store, study, study.language).strip()
    shipped = (one for one in shipped_guidelines() if (one.asks, one.text) == (study.asks, text))
    named = Guidelines(
        f"study-{study.language.lower()}", "The raters' guidelines in the study", study.asks, text
    )
    return next(shipped, named)


def _texts_in(items: Sequence[Item], outputs: Iterable[Output]) -> bytes:
    of_id = {item.item_id: item for item in items}
    return jsonl_bytes(
        {
            "item_id": output.item_id,
            "question": of_id[output.item_id].question,
            "reference": of_id[output.item_id].reference,
            "language": of_id[output.item_id].language,
            **({} if output.level == NO_LEVEL else {"level": output.level}),
            "source": output.source,
            "text": output.text,
            **turns_of(of_id[output.item_id].turns),
        }
        for output in outputs
    )


def texts_of_folder(path: Path, language_pair: str | None = None) -> tuple[Texts, tuple[str, ...]]:
    """The systems' translations in an mt-metrics-eval folder, and notes from reading it."""
    outputs = read_folder_outputs(path, language_pair=language_pair)
    return (write_outputs(outputs.outputs), _named_as(path, language_pair)), outputs.notes


def _named_as(folder: Path, language_pair: str | None) -> str:
    return f"{folder.resolve().name}{'' if language_pair is None else f'-{language_pair}'}.jsonl"


def rated_of_study(store: Store, study: Study) -> Texts:
    """The texts of a study with all ratings; for a study of pairs, only the texts.

    Raises NotAllowed before the study is unblinded.
    """
    if study.kind != "ratings":
        return texts_of_study(store, study)
    return write_rated(rated_texts_of(released_record(store, study))), _named_after(study)


def _named_after(study: Study) -> str:
    return "study-" + re.sub(r"[^\w-]+", "-", study.name) + ".jsonl"


def rated_of_folder(
    path: Path,
    language_pair: str | None = None,
    ratings: Sequence[str] = (),
    apart: Apart | None = None,
) -> tuple[Texts, tuple[str, ...]]:
    """The systems' translations in an mt-metrics-eval folder with ratings, and notes.

    ratings: names of the folder's human scores; apart: reads separate ratings. Neither: mqm, or the only ones, or none
    if the folder has none.
    """
    folder = read_folder(path, language_pair=language_pair)
    wanted = list(ratings) or ([] if apart is not None else usual_ratings(folder.ratings))
    if unknown := [name for name in wanted if name not in folder.ratings]:
        named = ", ".join(map(shown, folder.ratings)) or "none"
        _refuse_ratings(
            f"{', '.join(map(shown, unknown))} is neither a file nor one of the folder's ratings ({named})"
        )
    more = [] if apart is None else apart(folder.outputs)
    rated = rated_of(folder.outputs, *(folder.ratings[name] for name in wanted), *more)
    return (write_rated(rated.texts), _named_as(path, language_pair)), notes_of(rated)


def read_apart(
    kind: JudgeKind, data: bytes, file_name: str, texts: OutputSet, flip: Collection[str] = ()
) -> RatingSet:
    """Ratings from a separate file: with spans for the error-marking judge, scores for the others.

    texts: the rated texts, which span positions refer to. flip: dimensions of METAL's JSON in which 1 is bad. Raises
    InputError.
    """
    if kind.marks_errors:
        return read_spans(data, file_name, texts)
    return read_ratings(data, file_name, flip=flip)


def rated_of_texts(data: bytes, file_name: str, apart: Apart) -> tuple[Texts, tuple[str, ...]]:
    """The texts of a file with ratings from elsewhere, and notes.

    Raises InputError if the file has ratings itself, because the choice would be ambiguous.
    """
    found = read_rated(data, file_name)
    if any(text.ratings for text in found.texts):
        _refuse_ratings(f"{shown(file_name)} already contains ratings; leave these out")
    rated = rated_of(outputs_of(found), *apart(outputs_of(found)))
    if not any(text.ratings for text in rated.texts):
        _refuse_ratings(
            f"none matches a text in {shown(file_name)}: use the same names of items, systems and levels",
            *(f"left out, {reason}: {count:,}" for reason, count in rated.left_out.items()),
        )
    stem = file_name.rpartition(".")[0] or file_name
    return (write_rated(rated.texts), f"{stem}.jsonl"), notes_of(rated)


def _refuse_ratings(why: str, *more: str) -> NoReturn:
    problems = [Remark("", "{why}", {"why": one}) for one in (why, *more)]
    problems[0] = replace(problems[0], name="ratings")
    raise SettingsError(problems, {one.name: one for one in TASK_AND_RATINGS}, "The ratings cannot be used")


def notes_of(rated: RatedSet) -> tuple[str, ...]:
    """The notes, and the numbers of ratings that were left out."""
    counted = sum(len(text.ratings) for text in rated.texts)
    n_rated = sum(bool(text.ratings) for text in rated.texts)
    return (
        *rated.notes,
        f"{counted:,} ratings of {n_rated:,} of {len(rated.texts):,} texts",
        *(f"left out, {reason}: {count:,}" for reason, count in rated.left_out.items()),
    )
