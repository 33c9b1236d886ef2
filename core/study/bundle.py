"""The zip bundle: everything about a study in plain JSON, from which every number can be derived again; of every version."""

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass, replace
from functools import cache
from itertools import islice
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from core import __version__
from core.errors import InputError, Problems
from core.schema.study import (
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
from core.schema.tasks import RatingAnswer, RatingAssignment, RatingHistoryEntry
from core.store.backup import FORMAT as BACKUP_FORMAT
from core.study.bundle_checks import STUDY_MEMBER, misfits
from core.study.design import LARGEST_SEED

ADDED_SINCE = {"wording.json": b"{}", "guesses.jsonl": b""}
"""Members that version 1 does not have, as they would stand there."""
_ABOUT_ONE = ("rater added", "preview added", "link revoked", "link issued again")


def brought_up(record: StudyRecord) -> StudyRecord:
    """The record with pseudonyms in a field of their own, and nothing asked that was not declared."""
    study = record.study
    if study.first_vote_utc is not None:  # a design is frozen at the first vote
        study = replace(study, design=replace(study.design, blinding_pairs=0))
    raters = {rater.rater_id for rater in record.raters}
    return replace(record, study=study, log=tuple(_entry(entry, raters) for entry in record.log))


def _entry(entry: LogEntry, raters: set[str]) -> LogEntry:
    if entry.action in _ABOUT_ONE:
        return replace(entry, rater_id=entry.detail, detail="")
    if entry.action == "votes imported":
        for rater in raters:
            if entry.detail.startswith(f"{rater}: "):
                return replace(entry, rater_id=rater, detail=entry.detail.removeprefix(f"{rater}: "))
    return entry


FORMAT = "assay-study"
FORMAT_VERSION = 4
LARGEST_BYTES = 512 * 1024 * 1024
"""Unpacked; more is refused before it is read."""
LARGEST_MANIFEST = 1_000_000
MOST_VALUES = 20_000
"""In one line or JSON member; no row has as many."""
MOST_COUNTED = 100_000
"""Problems after which reading stops: a few kB unpack to millions of lines."""

_MANIFEST = "manifest.json"
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
}
_ADDED_IN_3 = {f"rating_{name}.jsonl": b"" for name in ("assignments", "answers", "history")}
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other ways may ask for gigabytes to unpack a few bytes, or raise errors of their own."""
_STRING_OR_COMMA = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|,', re.DOTALL)


def is_bundle(data: bytes) -> bool:
    """Whether a file looks like a zip."""
    return data[:4] == b"PK\x03\x04"


def write_bundle(record: StudyRecord) -> bytes:
    """The study as a zip; the same record gives the same bytes."""
    members = {
        STUDY_MEMBER: _json(asdict(record.study)),
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
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def read_bundle(data: bytes, file_name: str) -> StudyRecord:
    """The study a bundle holds. Raises InputError with the problems; nothing is read half."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            version = _check_members(archive, file_name)
            record, problems = _read(archive, version)
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
    if record is not None:
        problems += islice(misfits(record), MOST_COUNTED)
        if not problems:
            return record
    stopped = f" (reading stopped after {MOST_COUNTED:,} problems)" if problems.n >= MOST_COUNTED else ""
    raise InputError(f"{file_name} cannot be restored{stopped}:", problems)


def _read(archive: zipfile.ZipFile, version: int) -> tuple[StudyRecord | None, Problems]:
    """The study, as far as every line of it can be read."""
    added, present = _added_since(version), set(archive.namelist())

    def member(name: str) -> IO[bytes]:
        return archive.open(name) if name in present else io.BytesIO(added[name])

    def whole(kind: Any, name: str) -> Any:
        return _parse(kind, member(name).read(), name, problems)

    problems = Problems()
    study = whole(Study, STUDY_MEMBER)
    guidelines = whole(dict[str, str], _GUIDELINES)
    wording = whole(dict[str, dict[str, str]], _WORDING)
    tables = {name: _rows(kind, member(f"{name}.jsonl"), name, problems) for name, kind in _TABLES.items()}
    if problems:
        return None, problems
    record = StudyRecord(study=study, guidelines=guidelines, wording=wording, **tables)
    if version < 2:
        record = brought_up(record)
    if version < 4:  # older than the analysis set: its defaults hold, and nobody declared them
        design = replace(record.study.design, declared=False)
        record = replace(record, study=replace(record.study, design=design))
    return record, problems


def _check_members(archive: zipfile.ZipFile, file_name: str) -> int:
    """The bundle's version. Raises InputError unless every member is there, and is what the manifest says."""
    names = [STUDY_MEMBER, _GUIDELINES, _WORDING, *(f"{name}.jsonl" for name in _TABLES)]
    sizes = {info.filename: info.file_size for info in archive.infolist()}
    if any(info.compress_type not in _PACKED for info in archive.infolist()):
        raise InputError(f"{file_name} is packed in another way than bundles are: stored or deflated.")
    if sum(info.file_size for info in archive.infolist()) > LARGEST_BYTES:
        raise InputError(f"{file_name} unpacks to more than {LARGEST_BYTES // 2**20} MiB.")
    if _MANIFEST not in sizes:
        raise InputError(f"{file_name} is a zip, but no study bundle: it has no {_MANIFEST}.")
    if sizes[_MANIFEST] > LARGEST_MANIFEST:
        raise InputError(
            f"{file_name} is damaged: its manifest is larger than {LARGEST_MANIFEST // 1000} kB."
        )
    manifest = json.loads(archive.read(_MANIFEST))
    _check_manifest(manifest, file_name)
    optional = _added_since(manifest["version"])
    problems = [f"{name} is missing" for name in names if name not in sizes and name not in optional]
    for name in names:
        if name in sizes:
            with archive.open(name) as member:
                # A piece at a time, so that nobody holds what unpacks to much.
                found = hashlib.file_digest(member, "sha256")  # type: ignore[arg-type]  # it only reads
            same = found.hexdigest() == manifest["sha256"].get(name)
            if not same:
                problems.append(f"{name} is not what the manifest says (its sha256 differs)")
    if problems:
        raise InputError(f"{file_name} cannot be restored:", problems)
    version: int = manifest["version"]
    return version


def _added_since(version: int) -> dict[str, bytes]:
    """Members that a bundle of this version does not have, as they would stand there."""
    added = ADDED_SINCE if version < 2 else {}
    return {**added, **(_ADDED_IN_3 if version < 3 else {})}


def _check_manifest(manifest: Any, file_name: str) -> None:
    if isinstance(manifest, dict) and manifest.get("format") == BACKUP_FORMAT:
        raise InputError(
            f"{file_name} is a backup of a whole database, not the bundle of one study: `python -m core study restore FILE` takes it."
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


def _rows(kind: type, lines: IO[bytes], name: str, problems: Problems) -> tuple[Any, ...]:
    rows = []
    for number, line in enumerate(lines, start=1):
        if problems.n >= MOST_COUNTED:
            break
        row = _parse(kind, line.rstrip(b"\r\n"), f"{name}.jsonl, line {number}", problems)
        if not problems:  # else nobody reads them
            rows.append(row)
    return tuple(rows)


def _parse(kind: Any, content: bytes, place: str, problems: Problems) -> Any:
    if _holds_too_much(content):
        problems.append(f"{place}: holds more than {MOST_VALUES:,} values")
        return None
    try:
        parsed = _adapter(kind).validate_json(content)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False, include_context=False, include_input=False):
            where = ".".join(str(part) for part in error["loc"])
            problems.append(f"{place}{', ' if where else ''}{where}: {error['msg']}")
        return None
    problems += [f"{place}, {name}: a number beyond what can be kept" for name in _out_of_range(parsed)]
    return parsed


def _holds_too_much(content: bytes) -> bool:
    """Whether there are more values than in any row: each that does not fit costs hundreds of bytes to report."""
    commas = (found for found in _STRING_OR_COMMA.finditer(content) if found.end() - found.start() == 1)
    return len(content) > MOST_VALUES and next(islice(commas, MOST_VALUES, None), None) is not None


def _out_of_range(row: Any) -> list[str]:
    """Fields with a number that JSON can say and the database cannot hold: 1e999, NaN, an integer of 65 bits."""
    own = asdict(row) if is_dataclass(row) and not isinstance(row, type) else {}
    answer = own.get("answer", own)
    fields = {**own, **answer, **answer.get("scores", {}), **own.get("design", {})}
    return [n for n, v in fields.items() if isinstance(v, int | float) and not abs(v) <= LARGEST_SEED]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Made once a kind: making one takes longer than reading a row."""
    return TypeAdapter(kind)


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _lines(rows: Iterable[Any]) -> bytes:
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows).encode()
