"""The zip bundle: everything about a study in plain JSON, from which every number can be derived again.

Links are left out: a bundle may be published, and opens nothing.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core import __version__
from core.datasets.reading import text_problem
from core.errors import InputError
from core.schema import (
    Answer,
    Assignment,
    Guess,
    HistoryEntry,
    Item,
    LogEntry,
    Output,
    Rater,
    Study,
    StudyRecord,
)
from core.store.backup import FORMAT as BACKUP_FORMAT
from core.study import bundle_version_1
from core.study.design import LARGEST_SEED, check_design
from core.study.draws import assign, first_source
from core.study.guidelines import check_guideline
from core.study.raters import rater_id_problem
from core.study.wording import check_wording

FORMAT = "assay-study"
FORMAT_VERSION = 2
LARGEST_BYTES = 512 * 1024 * 1024
"""Unpacked; more is refused before it is read."""

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
}
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other ways may ask for gigabytes to unpack a few bytes, or raise errors of their own."""
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def is_bundle(data: bytes) -> bool:
    """Whether a file looks like a zip."""
    return data[:4] == b"PK\x03\x04"


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
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {_MANIFEST: _json(manifest), **members}.items():
            archive.writestr(zipfile.ZipInfo(name, _FIXED_TIME), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def read_bundle(data: bytes, file_name: str) -> StudyRecord:
    """The study a bundle holds. Raises InputError with every problem; nothing is read half."""
    members, version = _members(data, file_name)
    problems: list[str] = []
    study = _parse(Study, members[_STUDY], _STUDY, problems)
    guidelines = _parse(dict[str, str], members[_GUIDELINES], _GUIDELINES, problems)
    wording = _parse(dict[str, dict[str, str]], members[_WORDING], _WORDING, problems)
    tables = {name: _rows(kind, members[f"{name}.jsonl"], name, problems) for name, kind in _TABLES.items()}
    if not problems and study is not None and guidelines is not None and wording is not None:
        record = StudyRecord(study=study, guidelines=guidelines, wording=wording, **tables)
        if version < 2:
            record = bundle_version_1.brought_up(record)
        problems = _misfits(record)
        if not problems:
            return record
    raise InputError(f"{file_name} cannot be restored:", problems)


def _members(data: bytes, file_name: str) -> tuple[dict[str, bytes], int]:
    """Member -> content, and the version of the bundle that holds them."""
    names = [_STUDY, _GUIDELINES, _WORDING, *(f"{name}.jsonl" for name in _TABLES)]
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(info.compress_type not in _PACKED for info in archive.infolist()):
                raise InputError(
                    f"{file_name} is packed in another way than bundles are: stored or deflated."
                )
            if sum(info.file_size for info in archive.infolist()) > LARGEST_BYTES:
                raise InputError(f"{file_name} unpacks to more than {LARGEST_BYTES // 2**20} MiB.")
            present = set(archive.namelist())
            if _MANIFEST not in present:
                raise InputError(f"{file_name} is a zip, but no study bundle: it has no {_MANIFEST}.")
            manifest = json.loads(archive.read(_MANIFEST))
            _check_manifest(manifest, file_name)
            optional = bundle_version_1.ADDED_SINCE if manifest["version"] < 2 else {}
            missing = [f"{name} is missing" for name in names if name not in present and name not in optional]
            members = {name: archive.read(name) for name in names if name in present}
    except (
        zipfile.BadZipFile,
        ValueError,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        zlib.error,
    ) as problem:
        raise InputError(f"{file_name} is damaged and cannot be read as a bundle ({problem}).") from problem
    changed = [
        f"{name} is not what the manifest says (its sha256 differs)"
        for name, content in members.items()
        if hashlib.sha256(content).hexdigest() != manifest["sha256"].get(name)
    ]
    if missing or changed:
        raise InputError(f"{file_name} cannot be restored:", missing + changed)
    return {**optional, **members}, manifest["version"]


def _check_manifest(manifest: Any, file_name: str) -> None:
    if isinstance(manifest, dict) and manifest.get("format") == BACKUP_FORMAT:
        raise InputError(
            f"{file_name} is a backup of a whole database, not the bundle of one study: `study restore` takes it."
        )
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{file_name} is a zip, but no study bundle.")
    version = manifest.get("version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise InputError(
            f"{file_name} was written by a newer Assay (bundle version {version!r}); update first."
        )
    if not isinstance(manifest.get("sha256"), dict):
        raise InputError(f"{file_name} is damaged: its manifest lists no files.")


def _rows(kind: type, content: bytes, name: str, problems: list[str]) -> tuple[Any, ...]:
    parsed = [
        _parse(kind, line, f"{name}.jsonl, line {number}", problems)
        for number, line in enumerate(content.splitlines(), start=1)
    ]
    return tuple(row for row in parsed if row is not None)


def _parse(kind: Any, content: bytes, place: str, problems: list[str]) -> Any:
    try:
        parsed = _adapter(kind).validate_json(content)
    except ValidationError as invalid:
        for error in invalid.errors():
            where = ".".join(str(part) for part in error["loc"])
            problems.append(f"{place}{', ' if where else ''}{where}: {error['msg']}")
        return None
    problems += [f"{place}, {name}: a number beyond what can be kept" for name in _out_of_range(parsed)]
    return parsed


def _out_of_range(row: Any) -> list[str]:
    """Fields with a number that JSON can say and the database cannot hold: 1e999, NaN, an integer of 65 bits."""
    own = asdict(row) if is_dataclass(row) and not isinstance(row, type) else {}
    fields = {**own, **own.get("answer", {}), **own.get("design", {})}
    return [n for n, v in fields.items() if isinstance(v, int | float) and not abs(v) <= LARGEST_SEED]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Made once a kind: making one takes longer than reading a row."""
    return TypeAdapter(kind)


def _misfits(record: StudyRecord) -> list[str]:
    """What is in the bundle although the app would never have let it in."""
    design, levels = record.study.design, record.study.levels
    sources = (design.candidate, design.comparator)
    problems = _doubled(record)
    texts = {(output.item_id, output.level, output.source) for output in record.outputs}
    pairs = {(item.item_id, level) for item in record.items for level in levels}
    wanted = [(item.item_id, level, s) for item in record.items for level in levels for s in sources]
    problems += [f"outputs.jsonl: no text for {key}" for key in wanted if key not in texts]
    problems += [f"outputs.jsonl: nobody asks for {key}" for key in sorted(texts - set(wanted))]
    try:
        check_design(design, sources)
        for text in record.guidelines.values():
            check_guideline(text, record.study)
        for language, labels in record.wording.items():
            check_wording(labels, record.study, language)
    except InputError as wrong:
        problems += [f"{_STUDY}: {problem}" for problem in wrong.problems]
    problems += _wrong_texts(record) + _wrong_lists(record, pairs) + _wrong_answers(record, pairs)
    return problems or _not_drawn(record)


def _doubled(record: StudyRecord) -> list[str]:
    keys: dict[str, list[Any]] = {
        "items": [item.item_id for item in record.items],
        "outputs": [(o.item_id, o.level, o.source) for o in record.outputs],
        "raters": [rater.rater_id for rater in record.raters],
        "assignments": [a.key for a in record.assignments],
        "answers": [a.key for a in record.answers],
        "guesses": [guess.key for guess in record.guesses],
    }
    return [
        f"{name}.jsonl: {key} stands {n} times"
        for name, listed in keys.items()
        for key, n in Counter(listed).items()
        if n > 1
    ]


def _wrong_texts(record: StudyRecord) -> list[str]:
    fields = [("items", i.item_id, text) for i in record.items for text in (i.question, i.reference)]
    fields += [("outputs", o.item_id, o.text) for o in record.outputs]
    problems = [
        f"{name}.jsonl: {item}: text {problem}"
        for name, item, text in fields
        if (problem := text_problem(text))
    ]
    for rater in record.raters:
        if problem := rater_id_problem(rater.rater_id):
            problems.append(f"raters.jsonl: {problem}")
    if not record.study.levels or len(set(record.study.levels)) < len(record.study.levels):
        problems.append(f"{_STUDY}: the levels are none, or stand twice")
    return problems


def _wrong_lists(record: StudyRecord, pairs: set[tuple[str, str]]) -> list[str]:
    problems = []
    sides = {record.study.design.candidate, record.study.design.comparator}
    raters = {rater.rater_id for rater in record.raters}
    positions: dict[str, list[int]] = {}
    for a in record.assignments:
        positions.setdefault(a.rater_id, []).append(a.position)
        if {a.left, a.right} != sides:
            problems.append(
                f"assignments.jsonl: {a.rater_id}, {a.position}: the sides are not the two sources"
            )
        if a.rater_id not in raters:
            problems.append(f"assignments.jsonl: there is no rater {a.rater_id!r}")
        if (a.item_id, a.level) not in pairs:
            problems.append(f"assignments.jsonl: there is no pair {(a.item_id, a.level)}")
    for rater, numbers in positions.items():
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            problems.append(f"assignments.jsonl: the positions of {rater!r} are not 1 to {len(numbers)}")
    return problems


def _not_drawn(record: StudyRecord) -> list[str]:
    """Raters whose list is not the one that the seed gives: a side may have been turned round."""
    items, study = record.items, record.study
    first = first_source(items, study.levels, record.outputs)
    problems = []
    for rater in record.raters:
        own = [a for a in record.assignments if a.rater_id == rater.rater_id]
        ids = [item.item_id for item in items if item.item_id in {a.item_id for a in own}]
        # A withdrawn rater's list was drawn for a name that is gone.
        if not (rater.dry_run or rater.withdrawn) and own != assign(
            study.design, rater.rater_id, ids, study.levels, first
        ):
            problems.append(f"assignments.jsonl: the list of {rater.rater_id!r} is not what the seed gives")
    return problems


def _wrong_answers(record: StudyRecord, pairs: set[tuple[str, str]]) -> list[str]:
    raters = {rater.rater_id: rater for rater in record.raters}
    shown = {a.key for a in record.assignments}
    problems = []
    for name, answers in (("answers", record.answers), ("history", [e.answer for e in record.history])):
        for answer in answers:
            key = answer.key
            rater = raters.get(answer.rater_id)
            if rater is None or (answer.item_id, answer.level) not in pairs:
                problems.append(f"{name}.jsonl: there is no such rater or pair: {key}")
            elif answer.choice is not None and (rater.imported or key not in shown):
                problems.append(f"{name}.jsonl: nobody was shown {key}")
            elif answer.preference is not None and not rater.imported:
                problems.append(f"{name}.jsonl: {key} has a preference, but {rater.rater_id!r} saw sides")
    for guess in record.guesses:
        guesser = raters.get(guess.rater_id)
        if guess.key not in shown or guesser is None or guesser.finished_utc is None:
            problems.append(f"guesses.jsonl: nobody was asked about {guess.key}")
    last = {entry.answer.key: entry.answer for entry in record.history}
    for answer in record.answers:
        if last.get(answer.key) != answer:
            problems.append(f"answers.jsonl: {answer.key} is not what its history ends with")
    counting = {rater.rater_id for rater in record.raters if not rater.dry_run}
    voted = any(answer.answered and answer.rater_id in counting for answer in record.answers)
    if voted and record.study.first_vote_utc is None:
        problems.append(
            f"{_STUDY}: there are votes, so first_vote_utc must say since when the design is frozen"
        )
    return problems


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _lines(rows: Iterable[Any]) -> bytes:
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows).encode()
