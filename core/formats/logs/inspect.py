"""Logs of Inspect (`inspect eval`): a zip of JSON files (`.eval`), or one JSON file (`.json`)."""

import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.budget import Drawing, draw_unpacked, open_zip
from core.formats.logs.entries import (
    EPOCH,
    Entry,
    LeftOut,
    json_of,
    log_format,
    object_at,
    objects_at,
    scalars,
    text_of,
)
from core.tables.parquet import pyarrow_for
from core.tables.problems import FileFindings
from core.tables.reading import (
    JsonObject,
    drawing_for,
    duplicate_problems,
    label_of,
    name_problem,
    number_in,
    numbers_as_json,
    parse_json,
    reject,
    shown,
    type_name,
)

VALUES: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Letters as Inspect's `value_to_float` maps them: correct, partly correct, incorrect, no answer."""
WORDS: Mapping[str, float] = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Words as `value_to_float` maps them, in any case."""
_HEADER, _START, _SAMPLES = "header.json", "_journal/start.json", "samples/"
_ZSTANDARD = 93
"""Method of compression that Inspect uses since 2025, and that Python unpacks from 3.14 on."""
_IN_JSON = tuple(f'"{key}"'.encode() for key in ("version", "status", "eval", "samples"))


def holds_log(data: bytes, file_name: str) -> bool:
    """Whether a file is a log of Inspect: a zip with its members, or JSON with its keys."""
    if data.startswith(b"PK\x03\x04"):
        return _HEADER.encode() in data or _START.encode() in data
    return data.lstrip()[:1] == b"{" and all(key in data for key in _IN_JSON) and b'"task"' in data


def read_log(data: bytes, findings: FileFindings) -> list[Entry]:
    """The answers of a log, each with the scores of every scorer."""
    left_out, edited = LeftOut(), list[str]()
    if data.startswith(b"PK\x03\x04"):
        header, samples = _unpacked(data, findings)
    else:
        header = json_of(data, findings)
        samples = objects_at(header, "samples", "sample", findings)
    if (status := header.get("status")) not in ("success", None):
        findings.notes.append(f"the evaluation has the status {shown(str(status))}")
    model = label_of(object_at(header, "eval", "file", findings).get("model"))
    rows = [
        entry
        for where, sample in samples
        if (entry := _entry(where, sample, model, left_out, edited, findings)) is not None
    ]
    left_out.note(findings)
    if edited:
        findings.notes.append(
            f"{'1 score was' if len(edited) == 1 else f'{len(edited):,} scores were'} changed by people later: the scorer's own "
            "score is read, and the change is no label"
        )
    several = any(entry.labels[EPOCH] != "1" for entry in rows)
    return rows if several else [replace(entry, labels={}) for entry in rows]


def _entry(
    where: str,
    sample: JsonObject,
    model: str | None,
    left_out: LeftOut,
    edited: list[str],
    findings: FileFindings,
) -> Entry | None:
    item_id, epoch = label_of(sample.get("id")), label_of(sample.get("epoch", 1))
    if item_id is None or epoch is None:
        field = "id" if item_id is None else "epoch"
        wrong = name_problem(sample[field]) if field in sample else "is missing"
        findings.problems.append(f"{where}: {field} {wrong}")
        return None
    scores, said = dict[str, float](), dict[str, str]()
    for scorer, score in object_at(sample, "scores", where, findings).items():
        if not isinstance(score, JsonObject):
            findings.problems.append(
                f"{where}: score {shown(scorer)} is {type_name(score)}, expected an object"
            )
            continue
        own = _unedited_score(score)
        if own is not score:
            edited.append(where)
        for name, value in _values(scorer, own.get("value")):
            number = _number(value)
            if number is None:
                left_out.add(name, value)
                continue
            scores[name] = number
            if isinstance(reason := own.get("explanation"), str):
                said[name] = reason
    output = object_at(sample, "output", where, findings)
    target = sample.get("target")
    return Entry(
        where,
        item_id,
        scores,
        model,
        {
            "question": text_of(sample.get("input")),
            "reference": "\n".join(map(str, target)) if isinstance(target, list) else target,
            "text": output.get("completion"),
        },
        {EPOCH: epoch},
        scalars(sample.get("metadata")),
        said,
    )


def _unedited_score(score: JsonObject) -> Mapping[str, object]:
    """The score as the scorer gave it: a person may have changed it in the viewer."""
    history = score.get("history")
    first = history[0] if isinstance(history, list) and history else None
    return first if isinstance(first, JsonObject) and first.get("provenance") is None else score


def _values(scorer: str, value: object) -> Iterator[tuple[str, object]]:
    """The values of a score by name; a scorer may give several."""
    if isinstance(value, JsonObject):
        yield from ((f"{scorer}/{name}", one) for name, one in value.items())
    else:
        yield scorer, value


def _number(value: object) -> float | None:
    """A value as Inspect's `value_to_float` maps it; NaN if there is none, None for what it cannot map."""
    if value is None:
        return math.nan
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        known = VALUES.get(value, WORDS.get(value.lower()))
        return known if known is not None else number_in(value)
    return number_in(value)


def _unpacked(data: bytes, findings: FileFindings) -> tuple[JsonObject, Iterator[tuple[str, JsonObject]]]:
    """The header and the samples of a zip. Raises InputError if it is damaged or too large."""
    drawing = drawing_for(findings.file_name)
    try:
        with open_zip(data, drawing) as archive:
            members = archive.infolist()
            named = {one.filename: one for one in members}
            about = named.get(_HEADER) or named.get(_START)
            samples = [
                one for one in members if one.filename.startswith(_SAMPLES) and one.filename.endswith(".json")
            ]
            draw_unpacked([*([about] if about else []), *samples], drawing)
            header = _member(data, archive, about, drawing, findings) if about else None
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        reject(findings.file_name, [f"file: not readable as a zip ({shown(str(error))})"])
    if header is None:
        reject(findings.file_name, findings.problems or [f"file: has no {_HEADER}"])
    return header, _samples(data, samples, drawing, findings)


def _samples(
    data: bytes, members: Sequence[zipfile.ZipInfo], drawing: Drawing, findings: FileFindings
) -> Iterator[tuple[str, JsonObject]]:
    """The samples that can be read, one after the other."""
    with open_zip(data, drawing_for(findings.file_name)) as archive:
        for one in members:
            if (sample := _member(data, archive, one, drawing, findings)) is not None:
                yield one.filename, sample


def _member(
    data: bytes,
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    drawing: Drawing,
    findings: FileFindings,
) -> JsonObject | None:
    """A member's JSON object; None, with a problem added, if it is damaged."""
    name = shown(member.filename)
    content = _content(data, archive, member, findings)
    if content is None:
        return None
    drawing.draw_json(content)
    value, problem = parse_json(numbers_as_json(content))
    if problem is None and not isinstance(value, JsonObject):
        problem = f"is {type_name(value)}, expected an object"
    if problem is not None or not isinstance(value, JsonObject):
        findings.problems.append(f"{name}: {problem}")
        return None
    findings.problems += duplicate_problems(name, value)
    return value


def _content(
    data: bytes, archive: zipfile.ZipFile, member: zipfile.ZipInfo, findings: FileFindings
) -> str | None:
    try:
        if member.compress_type == _ZSTANDARD:
            content = _unpack_zstandard(data, member, findings.file_name)
        elif member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            with archive.open(member) as file:
                content = file.read(member.file_size + 1)
        else:
            findings.problems.append(
                f"{shown(member.filename)}: is compressed with method {member.compress_type}; Inspect uses Zstandard"
            )
            return None
        if len(content) != member.file_size:
            raise ValueError(f"has {len(content):,} bytes, the zip's list says {member.file_size:,}")
        return content.decode()
    except _DAMAGED as error:
        findings.problems.append(f"{shown(member.filename)}: not readable ({shown(str(error))})")
        return None


_DAMAGED: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    ValueError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zlib.error,
)


def _unpack_zstandard(data: bytes, member: zipfile.ZipInfo, file_name: str) -> bytes:
    """The content of a member that is packed with Zstandard, at most a byte more than the zip's list says."""
    arrow, _ = pyarrow_for(file_name)
    start = member.header_offset
    if data[start : start + 4] != b"PK\x03\x04":
        raise ValueError("the zip's list points to no member")
    # The name and the extra field of the member stand between its header and its content.
    begin = start + 30 + int.from_bytes(data[start + 26 : start + 28], "little")
    begin += int.from_bytes(data[start + 28 : start + 30], "little")
    packed = arrow.BufferReader(data[begin : begin + member.compress_size])
    with arrow.CompressedInputStream(packed, "zstd") as stream:
        return bytes(stream.read(member.file_size + 1))


FORMAT = log_format("inspect", "a log of Inspect", holds_log, read_log, letters=VALUES)
