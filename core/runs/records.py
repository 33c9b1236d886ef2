"""Writing and reading of judges' records: judged texts, questions with answers, marked errors.

Each line is a JSON object: first its text (item_id, system, level, language, labels), then the fields of its record.
A run's folder has them as records.jsonl, next to run.json, which describes the run.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from core.errors import InputError, Problems
from core.judges.kind import AuditKind, JudgeKind, twice_problems
from core.runs.kinds import KINDS, kinds_that
from core.schema.runs import RULES, RUN_FILE, Kind
from core.schema.scores import JudgedText, JudgeOutput, Metric, ScoredRow, row_key
from core.schema.settings import Remark, fields_of, said
from core.tables.columns import jsonl_bytes, jsonl_objects
from core.tables.containers import decode_utf8
from core.tables.reading import (
    JsonObject,
    checked,
    name_of,
    name_problem,
    number_problem,
    parse_json,
    printable_text,
    reject,
    shown,
    type_name,
)

RECORDS_FILE = "records.jsonl"

_UNPRINTABLE = re.compile(r"\\[ubf]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""A JSON line without any of these, raw or escaped, contains nothing that printable_record would replace."""

_ABOUT = tuple(field.name for field in fields(ScoredRow))
ABOUT = ("item", "system", "level", "language", "labels")
"""The first columns of every table of judges' output."""
_PLACES = 9
"""Decimals: rounding can move a mean of shares beyond 0 or 1 by less than this."""


adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""The pydantic adapter of a type, created on first use."""


def record_of(kind: JudgeKind, kept: object) -> Any:
    """A record from its stored JSON values. Raises pydantic's ValidationError for anything else."""
    return None if kept is None else adapter(kind.Record).validate_python(kept)


def kept_record(kind: JudgeKind, record: Any) -> Any:
    """A record as JSON values that can be shown and stored; record_of reads it back."""
    return printable_record(adapter(kind.Record).dump_python(record, mode="json"))


def piece_of(kind: AuditKind, kept: object) -> Any:
    """A piece of an audit from its stored JSON values. Raises pydantic's ValidationError for anything else."""
    return adapter(kind.Piece).validate_python(kept)


def text_columns(row: ScoredRow) -> dict[str, Any]:
    """The columns that identify the text of a row."""
    labels = json.dumps(dict(row.labels), ensure_ascii=False, sort_keys=True) if row.labels else None
    names = (row.item_id, row.system, row.level, row.language, labels)
    return dict(zip(ABOUT, names, strict=True))


def printable_record(value: Any) -> Any:
    """A record with characters that pages and databases cannot represent replaced by U+FFFD; models may write anything."""
    if isinstance(value, str):
        return printable_text(value)
    if isinstance(value, Mapping):
        return {printable_record(key): printable_record(inner) for key, inner in value.items()}
    return [printable_record(inner) for inner in value] if isinstance(value, list | tuple) else value


def write_records(texts: Iterable[JudgedText]) -> bytes:
    """One line per judged text, with its scores and record; `read_records` reads them back."""
    return jsonl_bytes(_flat(asdict(text)) for text in texts)


def write_pieces(pieces: Iterable[Any]) -> bytes:
    """One line per piece of an audit, the format of its input file and of its records."""
    return jsonl_bytes(_flat(asdict(one)) for one in pieces)


def read_records(
    data: bytes, file_name: str, kind: JudgeKind, metrics: Sequence[Metric]
) -> tuple[JudgedText, ...]:
    """The judged texts of a file. Raises InputError with every problem, each with line and field.

    metrics: each text must have a score for each of them, or a reason.
    """
    texts: list[JudgedText] = []
    problems = Problems()
    names = [metric.name for metric in metrics]
    for line, value in _lines(data, file_name, problems):
        before = problems.n
        kept = value.pop("record", None)
        record = None
        if kept is not None:
            record = checked(adapter(kind.Record), kept, f"line {line}, record", problems)
        text = checked(adapter(JudgedText), {**value, "record": None}, f"line {line}", problems)
        if text is not None:
            problems += [f"line {line}: {problem}" for problem in _score_problems(text, kind, names)]
        if record is not None:
            read = None if text is None else text.text
            problems += [f"line {line}, record, {problem}" for problem in kind.record_problems(record, read)]
        if text is not None and problems.n == before:
            texts.append(replace(text, record=record))
    _refuse_repeated([(text.row, ()) for text in texts], "text", problems)
    _raise(file_name, problems)
    return tuple(texts)


def read_pieces(kind: AuditKind, data: bytes, file_name: str) -> tuple[Any, ...]:
    """The pieces in an audit's file. Raises InputError with every problem, each with line and field."""
    problems = Problems()
    lines = _lines(data, file_name, problems)
    found = [checked(adapter(kind.Piece), value, f"line {line}", problems) for line, value in lines]
    _raise(file_name, problems)
    pieces = tuple(one for one in found if one is not None)
    # Repeated questions or texts would count twice.
    _refuse_repeated([(one.row, kind.identity(one)) for one in pieces], kind.piece_called, problems)
    _raise(file_name, problems)
    return pieces


def judge_in_folder(folder: Path) -> JudgeOutput | None:
    """A judge's output from its run's folder; None for a path that is no run's folder, or the folder of another run."""
    if not (folder / RUN_FILE).is_file() or not isinstance(KINDS.get(read_report(folder)["kind"]), JudgeKind):
        return None
    return read_judge_folder(folder)


def read_judge_folder(folder: Path) -> JudgeOutput:
    """A judge's output, from the folder that its run wrote. Raises InputError if the folder has none."""
    report = read_report(folder)
    kind = KINDS.get(report["kind"])
    if not isinstance(kind, JudgeKind):
        raise _other_kind(folder, report["kind"], kinds_that("judging"))
    settings = report["settings"]
    problems = Problems()
    metrics = (
        checked(adapter(tuple[Metric, ...]), settings.get("metrics"), "settings, metrics", problems) or ()
    )
    problems += [f"settings, {problem}" for problem in _metric_problems(metrics)]
    own = settings.get(kind.name)
    if isinstance(own, dict):
        wrong: list[Remark] = []
        kind.Settings.read(own, wrong)
        known = fields_of(kind.Settings)
        problems += [
            said(one, known, lambda field, _: f"settings, {kind.name}, {field.name}") for one in wrong
        ]
    else:
        problems.append(f"settings, {kind.name}: is missing")
    name, model = _name(settings, "name", problems), _model(settings, problems)
    not_sent = checked(adapter(dict[str, int]), report.get("not_sent", {}), "not_sent", problems) or {}
    _raise(str(folder / RUN_FILE), problems)
    attached = settings.get(kind.attachment.name) if kind.attachment is not None else ""
    records = folder / RECORDS_FILE
    return JudgeOutput(
        name=name,
        kind=kind.name,
        model=model,
        settings=own,
        metrics=metrics,
        texts=read_records(bytes_of(records), str(records), kind, metrics),
        attached=attached if isinstance(attached, str) else "",
        not_sent=frozenset(not_sent),
    )


def read_audit_folder(folder: Path, kind: AuditKind) -> tuple[str, tuple[Any, ...]]:
    """The model and its pieces, from the folder that an audit's run wrote. Raises InputError if the folder has none."""
    report = read_report(folder)
    if report["kind"] != kind.name:
        raise _other_kind(folder, report["kind"], (kind,))
    problems = Problems()
    model = _model(report["settings"], problems)
    _raise(str(folder / RUN_FILE), problems)
    records = folder / RECORDS_FILE
    return model, read_pieces(kind, bytes_of(records), str(records))


def _score_problems(text: JudgedText, kind: JudgeKind, names: Sequence[str]) -> Iterator[str]:
    """Problems of a text's scores with the judge's metrics. names: names of these metrics."""
    yield from (f"scores: {shown(name)} is missing" for name in names if name not in text.scores)
    for given, column in (("scores", text.scores), ("reasons", text.reasons)):
        yield from (
            f"{given}: {shown(name)} is not one of {', '.join(map(shown, names))}"
            for name in column
            if name not in names
        )
    for name in names:
        score = text.scores.get(name)
        if score is None:
            continue
        if abs(score) == float("inf"):
            yield f"scores: {shown(name)} is infinite"
        elif problem := number_problem(round(score, _PLACES), *kind.score_bounds(name)):
            yield f"scores: {shown(name)} {problem}"


def _metric_problems(metrics: Sequence[Metric]) -> Iterator[str]:
    """Invalid or duplicate names, which make scores ambiguous."""
    yield from (
        f"metrics, {n}, name: {name_problem(metric.name)}"
        for n, metric in enumerate(metrics, start=1)
        if name_of(metric.name) is None
    )
    yield from twice_problems("metrics", metrics, "name")


def _flat(value: dict[str, Any]) -> dict[str, Any]:
    """The record with the fields of the text first, instead of in a nested object."""
    return {**value.pop("row"), **value}


def _nested(value: Mapping[str, object]) -> dict[str, object]:
    row = {name: value[name] for name in _ABOUT if name in value}
    return {"row": row} | {name: inner for name, inner in value.items() if name not in _ABOUT}


def _lines(data: bytes, file_name: str, problems: Problems) -> Iterable[tuple[int, dict[str, object]]]:
    """The objects of a file by line; empty for a run without processed items."""
    for one in jsonl_objects(decode_utf8(data, file_name), file_name) if data.strip() else ():
        problems += one.problems
        if one.value is None:
            continue
        try:
            fine = _UNPRINTABLE.search(one.written) is None
            yield one.line, _nested(one.value if fine else printable_record(one.value))
        except RecursionError:
            problems.append(f"line {one.line}: is nested too deeply")


def _refuse_repeated(
    found: Sequence[tuple[ScoredRow, tuple[str, ...]]], what: str, problems: Problems
) -> None:
    seen: set[object] = set()
    for row, more in found:
        key = (row_key(row), more)
        if key in seen:
            level = "" if row.level is None else f", level {shown(row.level)}"
            problems.append(f"item {shown(row.item_id)}, system {shown(row.system)}{level}: a second {what}")
        seen.add(key)


def _raise(file_name: str, problems: Problems) -> None:
    if problems:
        reject(file_name, problems)


def bytes_of(path: Path) -> bytes:
    """The contents of a file in a run's folder. Raises InputError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(
            f"{path} cannot be read ({problem.strerror or problem}): choose a folder that a judge's run wrote."
        ) from problem


def read_report(folder: Path) -> dict[str, Any]:
    """A run's run.json with kind and settings, made printable. Raises InputError."""
    path = folder / RUN_FILE
    value, problem = parse_json(decode_utf8(bytes_of(path), str(path)))
    if problem is None and not isinstance(value, JsonObject):
        problem = f"file: is {type_name(value)}, expected an object"
    if problem is None and isinstance(value, JsonObject):
        wanted: tuple[tuple[str, type], ...] = (("kind", str), ("settings", dict))
        missing = [name for name, kind in wanted if not isinstance(value.get(name), kind)]
        problem = (
            f"{' and '.join(missing)}: missing; a run.json written by a run has both" if missing else None
        )
    if problem is not None:
        reject(str(path), [problem])
    try:
        report = printable_record(value)
    except RecursionError:
        reject(str(path), ["file: is nested too deeply"])
    assert isinstance(report, dict)
    return report


def _model(settings: Mapping[str, object], problems: Problems) -> str:
    """The model that was used; `rules` if none was."""
    return _name(settings, "model", problems) if settings.get("model") else RULES


def _name(settings: Mapping[str, object], key: str, problems: Problems) -> str:
    given = settings.get(key)
    name = name_of(given) if isinstance(given, str) else None
    if name is None:
        problems.append(f"settings, {key}: {'is missing' if given is None else name_problem(given)}")
    return name or ""


def _other_kind(folder: Path, kind: str, wanted: Sequence[Kind]) -> InputError:
    names = ", ".join(one.name for one in wanted)
    return InputError(f"{folder} contains a run of the kind {shown(kind)}; choose a run of the kind {names}.")
