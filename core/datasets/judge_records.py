"""What judges said, out and in again: records of judged texts, questions with answers, marked errors.

One JSON object a line: which text it is about (item_id, system, level, language, labels), then the fields of
`core.schema.judges`. A folder that a run wrote has them as records.jsonl, beside the run.json that says whose they are.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import TypeAdapter

from core.datasets.checked_json import checked
from core.datasets.judge_bounds import metric_problems, record_problems, score_problems, settings_problems
from core.datasets.reading import (
    JsonObject,
    decode,
    name_of,
    name_problem,
    parse_json,
    printable_text,
    reject,
    shown,
    type_name,
)
from core.datasets.rows import jsonl_bytes, jsonl_objects
from core.datasets.score_sheet import row_key
from core.errors import InputError, Problems
from core.schema.judges import (
    AnswerSet,
    AutoMqmRecord,
    CefRecord,
    ClaimsRecord,
    DirectRecord,
    JudgedText,
    JudgeOutput,
    MarkedText,
    QualityRecord,
    QuestionSet,
    Record,
    RubricRecord,
)
from core.schema.runs import JUDGE_KINDS, RULES, RUN_FILE, JudgeKind, RunKind
from core.schema.scores import Metric, ScoredRow

RECORDS_FILE = "records.jsonl"

_UNPRINTABLE = re.compile(r"\\[ubf]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Without any of it, escaped or as it is, a line of JSON holds nothing that printable_record would replace."""

T = TypeVar("T")
_ABOUT = tuple(field.name for field in fields(ScoredRow))
_TEXT: TypeAdapter[JudgedText] = TypeAdapter(JudgedText)
_QUESTIONS: TypeAdapter[QuestionSet] = TypeAdapter(QuestionSet)
_MARKED: TypeAdapter[MarkedText] = TypeAdapter(MarkedText)
_METRICS: TypeAdapter[tuple[Metric, ...]] = TypeAdapter(tuple[Metric, ...])
_RECORDS: Mapping[JudgeKind, TypeAdapter[Any]] = {
    "rubric": TypeAdapter(RubricRecord),
    "claims": TypeAdapter(ClaimsRecord),
    "cef": TypeAdapter(CefRecord),
    "automqm": TypeAdapter(AutoMqmRecord),
    "direct": TypeAdapter(DirectRecord),
    "quality": TypeAdapter(QualityRecord),
}


def record_of(kind: JudgeKind, kept: object) -> Record | None:
    """A record as a run kept it: JSON values. Raises pydantic's ValidationError for anything else."""
    record: Record | None = None if kept is None else _RECORDS[kind].validate_python(kept)
    return record


def kept_record(kind: JudgeKind, record: Record) -> Any:
    """A record as a run keeps it, JSON values that can be shown and stored; record_of gives it back."""
    return printable_record(_RECORDS[kind].dump_python(record, mode="json"))


def question_set_of(kept: object) -> QuestionSet:
    """Questions as a run kept them. Raises pydantic's ValidationError for anything else."""
    return _QUESTIONS.validate_python(kept)


def marked_text_of(kept: object) -> MarkedText:
    """A text with marked errors as a run kept it. Raises pydantic's ValidationError for anything else."""
    return _MARKED.validate_python(kept)


def printable_record(value: Any) -> Any:
    """A record with what no page and no database can hold replaced by U+FFFD: a model may write anything."""
    if isinstance(value, str):
        return printable_text(value)
    if isinstance(value, Mapping):
        return {printable_record(key): printable_record(inner) for key, inner in value.items()}
    return [printable_record(inner) for inner in value] if isinstance(value, list | tuple) else value


def write_records(texts: Iterable[JudgedText]) -> bytes:
    """A line a judged text: its scores and how the judge came to them. `read_records` gives them back."""
    return jsonl_bytes(_flat(asdict(text)) for text in texts)


def question_file(sets: Iterable[QuestionSet]) -> bytes:
    """A line a set of questions: the file that a run of answers works on, and what it writes."""
    return jsonl_bytes(_flat(asdict(one)) for one in sets)


def marked_file(texts: Iterable[MarkedText]) -> bytes:
    """A line a text with mismatches and marked errors: the file that a run of alignment works on, and what it writes."""
    return jsonl_bytes(_flat(asdict(text)) for text in texts)


def read_records(
    data: bytes, file_name: str, kind: JudgeKind, metrics: Sequence[Metric]
) -> tuple[JudgedText, ...]:
    """The judged texts of a file. Raises InputError, naming line and field, with every problem.

    metrics: those that each text has a score of, or a reason why not.
    """
    texts: list[JudgedText] = []
    problems = Problems()
    names = [metric.name for metric in metrics]
    for line, value in _lines(data, file_name, problems):
        before = problems.n
        kept = value.pop("record", None)
        record: Record | None = None
        if kept is not None:
            record = checked(_RECORDS[kind], kept, f"line {line}, record", problems)
        text = checked(_TEXT, {**value, "record": None}, f"line {line}", problems)
        if text is not None:
            problems += [f"line {line}: {problem}" for problem in score_problems(text, kind, names)]
        if record is not None:
            read = None if text is None else text.text
            problems += [f"line {line}, record, {problem}" for problem in record_problems(record, read)]
        if text is not None and problems.n == before:
            texts.append(replace(text, record=record))
    _refuse_repeated([(text.row, ()) for text in texts], "text", problems)
    _raise(file_name, problems)
    return tuple(texts)


def read_question_file(data: bytes, file_name: str) -> tuple[QuestionSet, ...]:
    """The sets of questions of a file. Raises InputError, naming line and field, with every problem."""
    sets = _all_of(_QUESTIONS, data, file_name)
    problems = Problems()
    # The same questions twice would count twice.
    keys = [(one.side, one.author, one.document, *(q.text for q in one.questions)) for one in sets]
    rows = [one.row for one in sets]
    _refuse_repeated(list(zip(rows, keys, strict=True)), "set of the same questions", problems)
    _raise(file_name, problems)
    return sets


def read_marked_file(data: bytes, file_name: str) -> tuple[MarkedText, ...]:
    """The texts with marked errors of a file. Raises InputError, naming line and field, with every problem."""
    texts = _all_of(_MARKED, data, file_name)
    problems = Problems()
    _refuse_repeated([(text.row, ()) for text in texts], "text", problems)
    _raise(file_name, problems)
    return texts


def read_judge_folder(folder: Path) -> JudgeOutput:
    """All that a judge said, from the folder its run wrote. Raises InputError where the folder holds none."""
    report = read_report(folder)
    kind = report["kind"]
    if kind not in get_args(JudgeKind):
        raise _other_kind(folder, kind, JUDGE_KINDS)
    settings = report["settings"]
    problems = Problems()
    metrics = checked(_METRICS, settings.get("metrics"), "settings, metrics", problems) or ()
    problems += [f"settings, {problem}" for problem in metric_problems(metrics)]
    if isinstance(settings.get(kind), dict):
        problems += [f"settings, {kind}, {problem}" for problem in settings_problems(settings[kind])]
    else:
        problems.append(f"settings, {kind}: is missing")
    name, model = _name(settings, "name", problems), _model(settings, problems)
    _raise(str(folder / RUN_FILE), problems)
    return JudgeOutput(
        name=name,
        kind=kind,
        model=model,
        settings=settings[kind],
        metrics=metrics,
        texts=read_records(bytes_of(folder / RECORDS_FILE), str(folder / RECORDS_FILE), kind, metrics),
        task_text=task if isinstance(task := settings.get("task_text"), str) else "",
    )


def read_answer_folder(folder: Path) -> AnswerSet:
    """One model's answers, from the folder a run of answers wrote. Raises InputError where the folder holds none."""
    report = read_report(folder)
    if report["kind"] != "answers":
        raise _other_kind(folder, report["kind"], ("answers",))
    problems = Problems()
    model = _model(report["settings"], problems)
    _raise(str(folder / RUN_FILE), problems)
    return AnswerSet(model, read_question_file(bytes_of(folder / RECORDS_FILE), str(folder / RECORDS_FILE)))


def _flat(value: dict[str, Any]) -> dict[str, Any]:
    """With the names of the text in front instead of in an object of their own."""
    return {**value.pop("row"), **value}


def _nested(value: Mapping[str, object]) -> dict[str, object]:
    row = {name: value[name] for name in _ABOUT if name in value}
    return {"row": row} | {name: inner for name, inner in value.items() if name not in _ABOUT}


def _lines(data: bytes, file_name: str, problems: Problems) -> Iterable[tuple[int, dict[str, object]]]:
    """The objects of a file by line; a run that has come to no item yet wrote none."""
    for one in jsonl_objects(decode(data, file_name)) if data.strip() else ():
        problems += one.problems
        if one.value is None:
            continue
        try:
            fine = _UNPRINTABLE.search(one.written) is None
            yield one.line, _nested(one.value if fine else printable_record(one.value))
        except RecursionError:
            problems.append(f"line {one.line}: is nested too deeply")


def _all_of(adapter: TypeAdapter[T], data: bytes, file_name: str) -> tuple[T, ...]:
    problems = Problems()
    found = [
        checked(adapter, value, f"line {line}", problems) for line, value in _lines(data, file_name, problems)
    ]
    _raise(file_name, problems)
    return tuple(one for one in found if one is not None)


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
    """A file of a run's folder. Raises InputError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(
            f"{path} cannot be read ({problem.strerror or problem}): name a folder that a judge's run wrote."
        ) from problem


def read_report(folder: Path) -> dict[str, Any]:
    """A run's run.json, with a kind and settings, without what no page can hold. Raises InputError."""
    path = folder / RUN_FILE
    value, problem = parse_json(decode(bytes_of(path), str(path)))
    if problem is None and not isinstance(value, JsonObject):
        problem = f"file: is {type_name(value)}, expected an object"
    if problem is None and isinstance(value, JsonObject):
        wanted: tuple[tuple[str, type], ...] = (("kind", str), ("settings", dict))
        missing = [name for name, kind in wanted if not isinstance(value.get(name), kind)]
        problem = f"{' and '.join(missing)}: missing; a run's own file has both" if missing else None
    if problem is not None:
        reject(str(path), [problem])
    try:
        report = printable_record(value)
    except RecursionError:
        reject(str(path), ["file: is nested too deeply"])
    assert isinstance(report, dict)
    return report


def _model(settings: Mapping[str, object], problems: Problems) -> str:
    """The model that was asked; `rules` where none was."""
    return _name(settings, "model", problems) if settings.get("model") else RULES


def _name(settings: Mapping[str, object], key: str, problems: Problems) -> str:
    given = settings.get(key)
    name = name_of(given) if isinstance(given, str) else None
    if name is None:
        problems.append(f"settings, {key}: {'is missing' if given is None else name_problem(given)}")
    return name or ""


def _other_kind(folder: Path, kind: str, wanted: Sequence[RunKind]) -> InputError:
    return InputError(
        f"{folder} holds a run of the kind {shown(kind)}; one of {', '.join(wanted)} is needed."
    )
