"""The zip bundle of a study: plain JSON from which every number can be recomputed."""

import hashlib
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, is_dataclass
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from core import __version__
from core.budget import Drawing, draw_unpacked, json_values, open_zip
from core.errors import InputError, NotFound, Problems
from core.formats.logs import inspect
from core.installation import COMMAND
from core.schema.designs import LARGEST_SEED
from core.schema.study import (
    NO_ANSWER,
    NO_LEVEL,
    Answer,
    Assignment,
    EnteredQuestion,
    Guess,
    HistoryEntry,
    Inclusion,
    Item,
    LogEntry,
    Output,
    Rater,
    RatingAnswer,
    RatingAssignment,
    RatingHistoryEntry,
    RatingTask,
    ShippedText,
    Study,
    StudyRecord,
)
from core.store import Store
from core.store.backup import FORMAT as BACKUP_FORMAT
from core.store.backup import FORMAT_VERSION, another_version
from core.store.studies import find_study
from core.study.analysis_set import check_released, released_record
from core.study.blinding import checked_scores, checked_spans, missing
from core.study.design import check_design, check_rating_design, dealing, entry_order
from core.study.guidelines import FALLBACK_LANGUAGE, check_guideline, check_wording
from core.study.lifecycle import check_task
from core.study.raters import rater_id_problem
from core.study.shipped import copy_problems
from core.tables.containers import is_workbook
from core.tables.files import read_file
from core.tables.reading import clean_text, is_language_tag, name_of, text_problem

FORMAT = "assay-study"
LARGEST_MANIFEST = 1_000_000
MOST_VALUES = 20_000
"""Most values in one line or JSON member; no valid row has as many."""
MOST_COUNTED = 100_000
"""Number of problems after which reading stops: a few kB can unpack to millions of lines."""

_MANIFEST = "manifest.json"
_STUDY = "study.json"
_GUIDELINES = "guidelines.json"
_WORDING = "wording.json"
_TABLES: dict[str, type] = {
    "items": Item,
    "outputs": Output,
    "raters": Rater,
    "assignments": Assignment,
    "answers": Answer,
    "history": HistoryEntry,
    "log": LogEntry,
    "guesses": Guess,
    "rating_assignments": RatingAssignment,
    "rating_answers": RatingAnswer,
    "rating_history": RatingHistoryEntry,
    "entered": EnteredQuestion,
    "inclusion": Inclusion,
    "shipped": ShippedText,
}
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other methods may need gigabytes to unpack a few bytes, or raise other errors."""


def is_bundle(data: bytes) -> bool:
    """Whether a file looks like a zip file, and is neither a workbook nor a log."""
    return data[:4] == b"PK\x03\x04" and not is_workbook(data) and not inspect.holds_log(data, "")


def write_bundle(record: StudyRecord) -> bytes:
    """The study as a zip; the same record gives the same bytes."""
    members = {
        _STUDY: _json(asdict(record.study)),
        _GUIDELINES: _json(record.guidelines),
        _WORDING: _json(record.wording),
        **{f"{name}.jsonl": _lines(getattr(record, name)) for name in _TABLES},
    }
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "app_version": __version__,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    return zipped({_MANIFEST: _json(manifest), **members})


def zipped(members: Mapping[str, bytes]) -> bytes:
    """File name -> content as one zip; the same content gives the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # Every entry has the earliest time that zip allows, so that equal content gives equal bytes.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def read_bundle(data: bytes, file_name: str) -> StudyRecord:
    """Read the study in a bundle. Raises InputError with every problem; a study is never read in part."""
    drawing = Drawing(file_name, "restored")
    try:
        with open_zip(data, drawing) as archive:
            draw_unpacked(archive.infolist(), drawing)
            _check_members(archive, file_name)
            record, problems = _read(archive, drawing)
    except (
        zipfile.BadZipFile,
        ValueError,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        zlib.error,
    ) as problem:
        raise InputError(f"{file_name} is damaged: it cannot be read as a bundle ({problem}).") from problem
    if record is not None:
        problems += islice(misfits(record), MOST_COUNTED)
        if not problems:
            return record
    stopped = f" (reading stopped after {MOST_COUNTED:,} problems)" if problems.n >= MOST_COUNTED else ""
    raise InputError(f"{file_name} cannot be restored{stopped}:", problems)


def _read(archive: zipfile.ZipFile, drawing: Drawing) -> tuple[StudyRecord | None, Problems]:
    """The study, or None with the problems if a line cannot be read."""

    def whole(kind: Any, name: str) -> Any:
        return _parse(kind, archive.read(name), name, problems)

    problems = Problems()
    study = whole(Study, _STUDY)
    guidelines = whole(dict[str, str], _GUIDELINES)
    wording = whole(dict[str, dict[str, str]], _WORDING)
    tables = {
        name: _rows(kind, archive.open(f"{name}.jsonl"), name, drawing, problems)
        for name, kind in _TABLES.items()
    }
    if problems:
        return None, problems
    return StudyRecord(study=study, guidelines=guidelines, wording=wording, **tables), problems


def _check_members(archive: zipfile.ZipFile, file_name: str) -> None:
    """Raise InputError unless every member is there and matches the manifest."""
    names = [_STUDY, _GUIDELINES, _WORDING, *(f"{name}.jsonl" for name in _TABLES)]
    sizes = {info.filename: info.file_size for info in archive.infolist()}
    if any(info.compress_type not in _PACKED for info in archive.infolist()):
        raise InputError(
            f"{file_name} uses a zip compression that bundles do not use (only stored and deflated)."
        )
    if _MANIFEST not in sizes:
        raise InputError(f"{file_name} is not a study bundle: the zip has no {_MANIFEST}.")
    if sizes[_MANIFEST] > LARGEST_MANIFEST:
        raise InputError(
            f"{file_name} is damaged: its manifest is larger than {LARGEST_MANIFEST // 1000} kB."
        )
    manifest = json.loads(archive.read(_MANIFEST))
    _check_manifest(manifest, file_name)
    problems = [f"{name} is missing" for name in names if name not in sizes]
    for name in names:
        if name in sizes:
            with archive.open(name) as member:
                # Hashed piece by piece, because a member may unpack to a lot.
                found = hashlib.file_digest(member, "sha256")  # type: ignore[arg-type]  # it only reads
            same = found.hexdigest() == manifest["sha256"].get(name)
            if not same:
                problems.append(f"{name} does not match the manifest (its sha256 differs)")
    if problems:
        raise InputError(f"{file_name} cannot be restored:", problems)


def _check_manifest(manifest: Any, file_name: str) -> None:
    if isinstance(manifest, dict) and manifest.get("format") == BACKUP_FORMAT:
        raise InputError(
            f"{file_name} is a backup of a whole database, not a study bundle. Use `{COMMAND} study restore FILE`."
        )
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{file_name} is a zip file, but not a study bundle.")
    if (version := manifest.get("version")) != FORMAT_VERSION:
        raise another_version(file_name, "bundle", version)
    if not isinstance(manifest.get("sha256"), dict):
        raise InputError(f"{file_name} is damaged: its manifest lists no files.")


def _rows(kind: type, lines: IO[bytes], name: str, drawing: Drawing, problems: Problems) -> tuple[Any, ...]:
    rows = []
    for number, line in enumerate(lines, start=1):
        if problems.n >= MOST_COUNTED:
            break
        drawing.draw("rows")
        drawing.draw_json(line)
        row = _parse(kind, line.rstrip(b"\r\n"), f"{name}.jsonl, line {number}", problems)
        if not problems:  # otherwise the rows are not used
            rows.append(row)
    return tuple(rows)


def _parse(kind: Any, content: bytes, place: str, problems: Problems) -> Any:
    if _holds_too_much(content):
        problems.append(f"{place}: more than {MOST_VALUES:,} values")
        return None
    try:
        parsed = _adapter(kind).validate_json(content)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False, include_context=False, include_input=False):
            where = ".".join(str(part) for part in error["loc"])
            problems.append(f"{place}{', ' if where else ''}{where}: {error['msg']}")
        return None
    problems += [
        f"{place}, {name}: the number is too large to store" for name in _fields_out_of_range(parsed)
    ]
    return parsed


def _holds_too_much(content: bytes) -> bool:
    """Whether there are more values than any row has. Reporting each costs hundreds of bytes."""
    return len(content) > MOST_VALUES and json_values(content, MOST_VALUES) > MOST_VALUES


def _fields_out_of_range(row: Any) -> list[str]:
    """Fields with a number that JSON allows and the database cannot store: 1e999, NaN, an integer of 65 bits."""
    own = asdict(row) if is_dataclass(row) and not isinstance(row, type) else {}
    answer = own.get("answer", own)
    fields = {**own, **answer, **answer.get("scores", {}), **own.get("design", {})}
    return [n for n, v in fields.items() if isinstance(v, int | float) and not abs(v) <= LARGEST_SEED]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """A cached adapter: making one takes longer than reading a row."""
    return TypeAdapter(kind)


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _lines(rows: Iterable[Any]) -> bytes:
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows).encode()


_Dealt = TypeVar("_Dealt", Assignment, RatingAssignment)


def misfits(record: StudyRecord) -> Iterator[str]:
    """Problems with content that the app would never have written: the bundle is forged or damaged."""
    study = record.study
    if study.kind == "pairs":
        ratings = (record.rating_assignments, record.rating_answers, record.rating_history)
        if study.task is not None or any(ratings):
            yield f"{_STUDY}: a study of pairs cannot have a task or ratings"
            return
        if record.inclusion:
            yield "inclusion.jsonl: a study of pairs cannot have probabilities of inclusion"
            return
    else:
        yield from _wrong_raters(record)
        if study.task is None:
            yield f"{_STUDY}: a study of ratings has no task"
            return
        try:
            check_task(study.task)  # answers can be checked only against a valid task
        except InputError as wrong:
            yield from wrong.under(f"{_STUDY}: task")
            return
    found = _misfits(record)
    one = next(found, None)
    if one is None:  # draws can be checked only if everything else is valid
        yield from _not_drawn(record)
    else:
        yield one
        yield from found


def _misfits(record: StudyRecord) -> Iterator[str]:
    pairs, design = record.study.kind == "pairs", record.study.design
    sources = (design.candidate, design.comparator) if pairs else {output.source for output in record.outputs}
    yield from _doubled(record)
    yield from _missing_texts(record) if pairs else _pair_files(record)
    try:
        if pairs:
            check_design(design, (design.candidate, design.comparator), record.study.levels)
        else:
            assert record.study.task is not None
            check_rating_design(design, record.study.task)
        for text in record.guidelines.values():
            check_guideline(text, sources)
        for language, labels in record.wording.items():
            check_wording(labels, sources, language)
    except InputError as wrong:
        yield from wrong.under(_STUDY)
    yield from _wrong_texts(record)
    yield from _wrong_copies(record)
    if pairs:
        yield from _wrong_raters(record)
        yield from _wrong_pairs(record)
        yield from _wrong_positions("assignments", record.assignments)
        yield from _wrong_votes(record)
        yield from _wrong_entries(record)
    else:
        yield from _wrong_lists_of_texts(record)
        yield from _wrong_ratings(record)
        yield from _wrong_inclusion(record)
    yield from _unfrozen(record)


def _wrong_copies(record: StudyRecord) -> Iterator[str]:
    """Copies of shipped texts that no version of Assay can have shipped for this study, or that lack a part."""
    needed = {("guidelines", FALLBACK_LANGUAGE), ("wording", FALLBACK_LANGUAGE)}
    if record.study.kind == "pairs":
        needed |= {("practice", ""), ("aids", "")}
    if not record.shipped:
        return
    if record.study.first_vote_utc is None:
        yield "shipped.jsonl: texts are copied at the first vote, and there is none"
    there = {(copy.part, copy.language) for copy in record.shipped}
    yield from (f"shipped.jsonl: {key} is missing" for key in sorted(needed - there))
    for copy in record.shipped:
        if (copy.part, copy.language) not in needed and not (
            copy.part in ("guidelines", "wording") and is_language_tag(copy.language)
        ):
            yield f"shipped.jsonl: {copy.part} in {copy.language!r} are not part of the study"
        yield from (
            f"shipped.jsonl: {copy.part} in {copy.language!r}: {problem}" for problem in copy_problems(copy)
        )


def _doubled(record: StudyRecord) -> Iterator[str]:
    """One problem for each key that occurs more than once in its member."""
    keys: dict[str, Iterable[Any]] = {
        "items": (item.item_id for item in record.items),
        "outputs": ((o.item_id, o.level, o.source) for o in record.outputs),
        "raters": (rater.rater_id for rater in record.raters),
        "inclusion": ((one.item_id, one.level, one.source) for one in record.inclusion),
        "shipped": ((copy.part, copy.language) for copy in record.shipped),
    }
    for name in ("assignments", "answers", "guesses", "rating_assignments", "rating_answers"):
        keys[name] = (one.key for one in getattr(record, name))
    return (
        f"{name}.jsonl: {key} occurs {n} times"
        for name, listed in keys.items()
        for key, n in Counter(listed).items()
        if n > 1
    )


def _missing_texts(record: StudyRecord) -> Iterator[str]:
    """Problems with the texts of a study of pairs: every item needs every level from both systems, and nothing else."""
    design, levels = record.study.design, record.study.levels
    texts = {(output.item_id, output.level, output.source) for output in record.outputs}
    # Each once, and lazily: a few items and levels can require any number of texts.
    known = (
        dict.fromkeys(item.item_id for item in record.items),
        dict.fromkeys(levels),
        dict.fromkeys((design.candidate, design.comparator)),
    )
    yield from (f"outputs.jsonl: no text for {key}" for key in product(*known) if key not in texts)
    unasked = (key for key in texts if any(name not in own for name, own in zip(key, known, strict=True)))
    yield from (f"outputs.jsonl: {key} is not part of the study" for key in sorted(unasked))


def _pair_files(record: StudyRecord) -> Iterator[str]:
    tables = ("assignments", "answers", "history", "guesses", "entered")
    return (f"{name}.jsonl: a study of ratings cannot have pairs" for name in tables if getattr(record, name))


def _wrong_texts(record: StudyRecord) -> Iterator[str]:
    """Texts and names that no import would store as they are: trailing blanks, for example, can reveal a system."""
    study, pairs = record.study, record.study.kind == "pairs"
    items = {item.item_id for item in record.items}
    if not pairs:
        rated = {output.item_id for output in record.outputs}
        yield from (f"items.jsonl: item {item!r} has no text" for item in sorted(items - rated))
        yield from (f"outputs.jsonl: there is no item {item!r}" for item in sorted(rated - items))
    fields = [("items", i.item_id, text) for i in record.items for text in (i.question, i.reference)]
    fields += [("items", i.item_id, turn.text) for i in record.items for turn in i.turns if turn.text]
    fields += [("outputs", o.item_id, o.text) for o in record.outputs if not pairs or o.text != NO_ANSWER]
    for item_with_turns in (one for one in record.items if one.turns):
        last = item_with_turns.turns[-1]
        if (last.role, last.text) != ("user", item_with_turns.question):
            yield f"items.jsonl: {item_with_turns.item_id!r}: the question is not the last turn"
    for name, item, text in fields:
        if pairs and clean_text(text) != text and not text_problem(text):
            yield f"{name}.jsonl: {item!r}: blanks or line ends of the text differ from what an import stores"
        elif (study.asks == "levels" or text or name == "outputs") and (problem := text_problem(text)):
            yield f"{name}.jsonl: {item!r}: text {problem}"
    names = [(_STUDY, level) for level in study.levels if study.levels != (NO_LEVEL,)]
    names += [("items.jsonl", item.item_id) for item in record.items]
    if pairs:
        names += [(_STUDY, name) for name in (study.design.candidate, study.design.comparator)]
        if not study.levels or len(set(study.levels)) < len(study.levels):
            yield f"{_STUDY}: there are no levels, or a level occurs twice"
    else:
        names += [("outputs.jsonl", name) for o in record.outputs for name in (o.level, o.source) if name]
        if sorted(study.levels) != sorted({output.level for output in record.outputs if output.level}):
            yield f"{_STUDY}: the levels differ from those of the texts"
    yield from (
        f"{place}: {name!r} is not a valid name"
        for place, name in dict.fromkeys(names)
        if name_of(name) != name
    )
    yield from (
        f"items.jsonl: {item.item_id!r}: language {item.language!r} is not a tag such as en, pt-BR or und"
        for item in record.items
        if not is_language_tag(item.language)
    )


def _wrong_raters(record: StudyRecord) -> Iterator[str]:
    found = (rater_id_problem(rater.rater_id) for rater in record.raters)
    return (f"raters.jsonl: {problem}" for problem in found if problem)


def _wrong_pairs(record: StudyRecord) -> Iterator[str]:
    items, levels = {item.item_id for item in record.items}, set(record.study.levels)
    sides = {record.study.design.candidate, record.study.design.comparator}
    raters = {rater.rater_id for rater in record.raters}
    for a in record.assignments:
        if {a.left, a.right} != sides:
            yield f"assignments.jsonl: {a.rater_id}, {a.position}: the sides are not the two systems"
        if a.rater_id not in raters:
            yield f"assignments.jsonl: there is no rater {a.rater_id!r}"
        if a.item_id not in items or a.level not in levels:
            yield f"assignments.jsonl: there is no pair {(a.item_id, a.level)}"


def _wrong_lists_of_texts(record: StudyRecord) -> Iterator[str]:
    """Lists that no desk could open, including those of previews and of raters who withdrew."""
    texts = {(output.item_id, output.level, output.source) for output in record.outputs}
    raters = {rater.rater_id for rater in record.raters}
    yield from (
        f"raters.jsonl: {rater.rater_id!r}: ratings are given by link and cannot be imported"
        for rater in record.raters
        if rater.imported
    )
    for one in record.rating_assignments:
        if (one.item_id, one.level, one.source) not in texts:
            yield f"rating_assignments.jsonl: {one.rater_id}, {one.position}: there is no such text"
    for name in dict.fromkeys(one.rater_id for one in record.rating_assignments):
        if name not in raters:
            yield f"rating_assignments.jsonl: there is no rater {name!r}"
    yield from _wrong_positions("rating_assignments", record.rating_assignments)


def _wrong_positions(table: str, entries: Iterable[_Dealt]) -> Iterator[str]:
    for rater, listed in _lists_by_rater(entries).items():
        if sorted(one.position for one in listed) != list(range(1, len(listed) + 1)):
            yield f"{table}.jsonl: the positions of {rater!r} are not 1 to {len(listed)}"


def _lists_by_rater(entries: Iterable[_Dealt]) -> dict[str, list[_Dealt]]:
    lists: dict[str, list[_Dealt]] = {}
    for one in entries:
        lists.setdefault(one.rater_id, []).append(one)
    return lists


def _not_drawn(record: StudyRecord) -> Iterator[str]:
    """Raters whose list differs from the one that the seed gives: a side may have been swapped."""
    pairs = record.study.kind == "pairs"
    table = "assignments" if pairs else "rating_assignments"
    lists = _lists_by_rater(record.assignments) if pairs else _lists_by_rater(record.rating_assignments)
    deal = dealing(record.study, record.study.design, record.items, record.outputs)[0]
    for rater in record.raters:
        own = lists.get(rater.rater_id, [])
        dealt = {one.item_id for one in own}
        ids = [item.item_id for item in record.items if item.item_id in dealt]
        # The list of a rater who withdrew was drawn for their deleted pseudonym.
        if not (rater.dry_run or rater.withdrawn) and own != deal(rater.rater_id, ids):
            yield f"{table}.jsonl: the list of {rater.rater_id!r} differs from what the seed gives"


def _wrong_votes(record: StudyRecord) -> Iterator[str]:
    items, levels = {item.item_id for item in record.items}, set(record.study.levels)
    raters = {rater.rater_id: rater for rater in record.raters}
    shown = {a.key for a in record.assignments}
    for name, answers in (("answers", record.answers), ("history", [e.answer for e in record.history])):
        for answer in answers:
            key = answer.key
            rater = raters.get(answer.rater_id)
            if rater is None or answer.item_id not in items or answer.level not in levels:
                yield f"{name}.jsonl: there is no such rater or pair: {key}"
            elif answer.choice is not None and (rater.imported or key not in shown):
                yield f"{name}.jsonl: {key} was never shown"
            elif answer.preference is not None and not rater.imported:
                yield f"{name}.jsonl: {key} has a preference, but {rater.rater_id!r} saw sides"
    for guess in record.guesses:
        guesser = raters.get(guess.rater_id)
        if guess.key not in shown or guesser is None or guesser.finished_utc is None:
            yield f"guesses.jsonl: {guess.key} was never shown for a guess"
    yield from _not_as_saved("answers", record.answers, record.history)


def _wrong_inclusion(record: StudyRecord) -> Iterator[str]:
    """Probabilities of texts that do not exist, or that cannot be probabilities."""
    texts = {(output.item_id, output.level, output.source) for output in record.outputs}
    for one in record.inclusion:
        if (key := (one.item_id, one.level, one.source)) not in texts:
            yield f"inclusion.jsonl: there is no text {key}"
        elif not 0 < one.probability <= 1:
            yield f"inclusion.jsonl: {key}: {one.probability!r} is not above 0 and at most 1"


def _wrong_entries(record: StudyRecord) -> Iterator[str]:
    """Questions that no look could have counted: out of order, with an impossible mean, or without declared looks."""
    design, entered = record.study.design, record.entered
    if entered and not design.early_looks:
        yield "entered.jsonl: the design does not allow early looks"
        return
    order = entry_order(design.seed, [item.item_id for item in record.items])[: len(entered)]
    places = list(range(1, len(entered) + 1))
    if [one.position for one in entered] != places or [one.item_id for one in entered] != order:
        yield "entered.jsonl: the questions are not in the order that the seed gives"
    yield from (
        f"entered.jsonl: {one.item_id!r}: {one.mean!r} of {one.votes} votes is not a mean score"
        for one in entered
        if one.votes < 0 or not (one.votes == 0 if one.mean is None else one.votes > 0 and abs(one.mean) <= 1)
    )


def _wrong_ratings(record: StudyRecord) -> Iterator[str]:
    assert record.study.task is not None
    raters = {rater.rater_id for rater in record.raters}
    shown = {one.key for one in record.rating_assignments}
    questions = {item.item_id: item.question for item in record.items}
    texts = {(o.item_id, o.level, o.source): o.text for o in record.outputs}
    history = [entry.answer for entry in record.rating_history]
    for name, answers in (("rating_answers", record.rating_answers), ("rating_history", tuple(history))):
        for answer in answers:
            place = f"{name}.jsonl: {answer.key}"
            text = texts.get((answer.item_id, answer.level, answer.source))
            if answer.rater_id not in raters or text is None:
                yield f"{place}: there is no such rater or text"
            elif answer.done and answer.key not in shown:
                yield f"{place}: this text was never shown"
            else:
                said = _unsaid(record.study.task, answer, text, questions.get(answer.item_id, ""))
                yield from (f"{place}: {problem}" for problem in said)
    kept = {answer.key for answer in record.rating_answers}
    for key in dict.fromkeys(answer.key for answer in history):
        if key not in kept:
            yield f"rating_answers.jsonl: {key} is missing, but is in the history"
    yield from _not_as_saved("rating_answers", record.rating_answers, record.rating_history)


def _not_as_saved(
    table: str,
    answers: Sequence[Answer] | Sequence[RatingAnswer],
    history: Sequence[HistoryEntry] | Sequence[RatingHistoryEntry],
) -> Iterator[str]:
    last = {entry.answer.key: entry.answer for entry in history}
    for answer in answers:
        if last.get(answer.key) != answer:
            yield f"{table}.jsonl: {answer.key} differs from the last entry in its history"


def _unsaid(task: RatingTask, answer: RatingAnswer, text: str, question: str) -> list[str]:
    """Parts of the answer that no rater could have given for this text."""
    try:
        scores = checked_scores(task, answer.scores)
        spans = checked_spans(task, answer.spans, text, question) if answer.spans else ()
    except InputError as wrong:
        return list(wrong.problems or (str(wrong),))
    problems = []
    if scores != answer.scores or spans != answer.spans:
        problems.append("its scores or errors differ from what a save stores (a weight, a duplicate error)")
    problems += ["it has errors and is ticked as having none"] if answer.spans and answer.no_errors else []
    if answer.done and (left := missing(task, answer)):
        problems.append(f"it is done, but lacks {'; '.join(left)}")
    return problems


def _unfrozen(record: StudyRecord) -> Iterator[str]:
    counting = {rater.rater_id for rater in record.raters if not rater.dry_run and rater.excluded is None}
    said = "votes" if record.answers else "ratings"
    answers: list[Answer | RatingAnswer] = [*record.answers, *record.rating_answers]
    voted = any(answer.answered and answer.rater_id in counting for answer in answers)
    if voted and record.study.first_vote_utc is None:
        yield f"{_STUDY}: there are {said}, so first_vote_utc must give the time of the first one"


def stored_or_bundled(
    name: str, opened: Callable[[], AbstractContextManager[Store]], *, seen: bool = False
) -> tuple[StudyRecord, bool]:
    """Return the record of a study by name or of a bundle by path, and whether it comes from the database.

    opened: opens the database. seen: as in `released_record`. Raises NotAllowed before the study is unblinded.
    """
    path = Path(name)

    def bundled(data: bytes) -> tuple[StudyRecord, bool]:
        record = read_bundle(data, path.name)
        check_released(record.study)
        return record, False

    if path.is_file() and is_bundle(data := read_file(path)):
        return bundled(data)
    with opened() as store:
        try:
            return released_record(store, find_study(store, name), seen=seen), True
        except NotFound:
            if path.suffix.lower() == ".zip":  # meant as a file, so report what is wrong with it
                return bundled(read_file(path))
            raise
