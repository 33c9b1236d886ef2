"""Scores exported from Langfuse: its API's answers, its export of the table of scores, and its export to blob storage.

Scores with the source ANNOTATION are ratings by people, the others a judge's. Each row or object is one score of a trace.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.errors import Problems
from core.formats import Format
from core.formats.logs.entries import objects_at
from core.formats.scores import NO_SCORE, metric_made_elsewhere
from core.schema.scores import Rating, RatingSet, ScoredRow, ScoreTable
from core.tables.columns import ONLY_SYSTEM, is_json
from core.tables.containers import decode, findings_of, table_rows
from core.tables.mapping import classes_of
from core.tables.problems import FileFindings
from core.tables.reading import (
    JsonObject,
    is_nothing,
    label_of,
    name_problem,
    no_number,
    number_in,
    numbers_as_json,
    parse_json,
    reject,
    shown,
)

BY_PEOPLE = "ANNOTATION"
NO_VALUE = "score without a value"
NO_NUMBER = "score that is a text or a correction"
NO_TRACE = "score of a session or an experiment, not of a trace"
NO_ORDER = "score in words without a known order"
OBSERVATION, TRACE_NAME = "observation", "trace_name"
_TEXTS = ("TEXT", "CORRECTION")
"""Types of scores that are texts."""
_HEAD = 100_000
_SOURCE = re.compile(rb"\b(?:ANNOTATION|API|EVAL)\b")
_MARKS = tuple(
    re.compile(mark, re.IGNORECASE)
    for mark in (
        rb"\bsource\b",
        rb"\btrace_?id\b|\"subject\"",
        rb"\b(?:data_?type|string_?value|author_?user_?id)\b",
    )
)


def holds_scores(data: bytes, file_name: str) -> bool:
    """Whether a file has scores of Langfuse: a source, a trace, and a type or author as only Langfuse writes them."""
    head = data[:_HEAD]
    return bool(_SOURCE.search(head)) and all(mark.search(head) for mark in _MARKS)


@dataclass(frozen=True)
class _Score:
    where: str
    trace: str
    observation: str | None
    trace_name: str | None
    name: str
    source: str
    author: str | None
    value: object
    """A number, or the word of a category."""
    code: object
    """The number that Langfuse keeps for the word, if any."""


@dataclass
class _Export:
    findings: FileFindings
    scores: list[_Score] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    numbers: dict[int, float] = field(default_factory=dict)
    """Position of a score -> its number."""
    rows: list[ScoredRow] = field(default_factory=list)
    """The scored text of each score."""


def read_ratings(data: bytes, file_name: str) -> RatingSet:
    """Read the scores by people: the score's name is the dimension, its author the rater. Raises InputError."""
    export = _read(data, file_name)
    ratings = tuple(
        Rating(row.item_id, export.numbers[at], None, None, one.author, one.name, labels=row.labels)
        for at, (one, row) in enumerate(zip(export.scores, export.rows, strict=True))
        if one.source == BY_PEOPLE and at in export.numbers
    )
    if not ratings:
        reject(
            file_name,
            [
                f"file: has no score with the source {BY_PEOPLE}, which people give; name a table with people's labels first and this file after it"
            ],
        )
    return RatingSet(ratings, *export.findings.settled(), {why: n for why, n in export.left_out.items() if n})


def read_evaluators(data: bytes, file_name: str, *, flip: Collection[str] = ()) -> ScoreTable | None:
    """Read the scores that people did not give, one metric for each name; None if there are none. Raises InputError.

    flip is for METAL's JSON, and has no meaning here.
    """
    export = _read(data, file_name)
    judged = [at for at, one in enumerate(export.scores) if one.source != BY_PEOPLE and at in export.numbers]
    if not judged:
        return None
    sources: dict[str, set[str]] = {}
    for at in judged:
        sources.setdefault(export.scores[at].name, set()).add(export.scores[at].source)
    rows: dict[str, tuple[int, ScoredRow]] = {}
    metrics: dict[str, int] = {}
    cells: dict[tuple[int, int], float] = {}
    places: dict[tuple[int, int], str] = {}
    problems = Problems()
    for at in judged:
        one, row = export.scores[at], export.rows[at]
        name = one.name if len(sources[one.name]) == 1 else f"{one.name} ({one.source})"
        number, _ = rows.setdefault(repr((row.item_id, row.labels)), (len(rows), row))
        cell = number, metrics.setdefault(name, len(metrics))
        before = places.setdefault(cell, one.where)
        if before != one.where:
            problems.append(
                f"{one.where}: trace {shown(one.trace)} has the score {shown(name)} as in {before}"
            )
        cells[cell] = export.numbers[at]
    if problems:
        reject(file_name, problems)
    values = np.full((len(rows), len(metrics)), np.nan)
    for cell, score in cells.items():
        values[cell] = score
    _, name, notes = export.findings.settled()
    return ScoreTable(
        tuple(row for _, row in rows.values()),
        tuple(metric_made_elsewhere(metric, None) for metric in metrics),
        values,
        {(int(r), int(m)): NO_SCORE for r, m in zip(*np.nonzero(np.isnan(values)), strict=True)},
        name,
        notes,
    )


def read_scores(data: bytes, file_name: str) -> ScoreTable:
    """As read_evaluators, but an export without such scores is a problem."""
    found = read_evaluators(data, file_name)
    if found is None:
        reject(file_name, [f"file: has no score of a judge: every score has the source {BY_PEOPLE}"])
    return found


def _read(data: bytes, file_name: str) -> _Export:
    export = _Export(findings_of(data, file_name))
    for where, record in _records(data, export.findings):
        if (score := _score(where, record, export)) is not None:
            export.scores.append(score)
    if not export.scores and not export.findings.problems:
        export.findings.problems.append("file: contains no score of a trace; at least one is needed")
    export.findings.refuse()
    _number(export)
    export.findings.refuse()
    _place(export)
    return export


def _records(data: bytes, findings: FileFindings) -> Sequence[tuple[str, Mapping[str, object]]]:
    """Every score with its fields, whose names are in lower case without separators."""
    found: Sequence[tuple[str, Mapping[str, object]]] = []
    text = decode(data, findings.file_name)
    value, problem = (
        parse_json(numbers_as_json(text)) if text.lstrip().startswith("{") else (None, "is no object")
    )
    if problem is None and isinstance(value, JsonObject) and ("data" in value or "scores" in value):
        found = list(objects_at(value, "data" if "data" in value else "scores", "score", findings))
    elif problem is not None and is_json(text, findings.file_name) and text.lstrip().startswith("{"):
        reject(findings.file_name, [problem])
    else:
        found = [(one.where, one.cells) for one in table_rows(data, {}, findings).records]
    return [(where, {_plain(key): cell for key, cell in record.items()}) for where, record in found]


def _plain(key: str) -> str:
    return "".join(char for char in key.casefold() if char.isalnum())


def _score(where: str, record: Mapping[str, object], export: _Export) -> _Score | None:
    """One score; None if it is left out or has a problem."""
    subject = record.get("subject")
    subject = subject if isinstance(subject, JsonObject) else {}
    kind = subject.get("kind")
    observation = record.get("observationid") or (subject.get("id") if kind == "observation" else None)
    trace = record.get("traceid") or (subject.get("id") if kind == "trace" else subject.get("traceId"))
    if is_nothing(trace):
        export.left_out[NO_TRACE] += 1
        return None
    type_, value, word = (
        str(record.get("datatype") or "").upper(),
        record.get("value"),
        record.get("stringvalue"),
    )
    if type_ in _TEXTS:
        export.left_out[NO_NUMBER] += 1
        return None
    names = {"name": record.get("name"), "traceId": trace, "source": record.get("source")}
    wrong = [f"{key} {name_problem(held)}" for key, held in names.items() if label_of(held) is None]
    export.findings.problems += [f"{where}: {problem}" for problem in wrong]
    if wrong:
        return None
    code = value if number_in(value) is not None and not is_nothing(word) else None
    if is_nothing(value) or (type_ == "CATEGORICAL" and not is_nothing(word)):
        value = word
    if is_nothing(value):
        export.left_out[NO_VALUE] += 1
        return None
    return _Score(
        where,
        label_of(trace) or "",
        None if is_nothing(observation) else label_of(observation),
        label_of(record.get("tracename")),
        label_of(names["name"]) or "",
        (label_of(names["source"]) or "").upper(),
        label_of(record.get("authorusername")) or label_of(record.get("authoruserid")),
        value,
        code,
    )


def _number(export: _Export) -> None:
    """Give every score its number: as it is, or that of its word on a scale, or that which Langfuse keeps for the word."""
    by_name: dict[str, list[int]] = {}
    for at, one in enumerate(export.scores):
        by_name.setdefault(one.name, []).append(at)
    for name, places in by_name.items():
        words = {
            at: one.value
            for at in places
            if isinstance((one := export.scores[at]).value, str | bool) and number_in(one.value) is None
        }
        for at in places:
            if at not in words:
                number = number_in(export.scores[at].value)
                if number is None or not math.isfinite(number):
                    export.findings.problems.append(
                        f"{export.scores[at].where}: value {no_number(export.scores[at].value)}"
                    )
                else:
                    export.numbers[at] = number
        scale = classes_of(words.values()) or _codes([export.scores[at] for at in words])
        if words and not scale:
            export.left_out[NO_ORDER] += len(words)
        elif scale and words:
            said = ", ".join(f"{shown(word)} = {number:g}" for word, number in list(scale.items())[:5])
            export.findings.notes.append(f"{shown(name)}: read words as classes, {said}")
            export.numbers |= {at: float(scale[str(word)]) for at, word in words.items()}


def _codes(scores: Sequence[_Score]) -> dict[str, float]:
    """Word -> Langfuse's number for it; empty if a word has none or two, or if all have the same."""
    codes: dict[str, set[float | None]] = {}
    for one in scores:
        codes.setdefault(str(one.value), set()).add(number_in(one.code))
    numbers = {
        word: number
        for word, held in codes.items()
        if len(held) == 1
        for number in held
        if number is not None
    }
    apart = len(set(numbers.values())) == len(codes) > 1
    return numbers if apart else {}


def _place(export: _Export) -> None:
    """Give every score its text: the trace, told apart by observation and by name of the trace where there are several."""
    parts: dict[str, set[str]] = {}
    for one in export.scores:
        parts.setdefault(one.trace, set()).update([one.observation] if one.observation else [])
    several = any(len(held) > 1 for held in parts.values())
    names = {one.trace_name for one in export.scores} - {None}
    for one in export.scores:
        labels = {}
        if several and one.observation:
            labels[OBSERVATION] = one.observation
        if len(names) > 1 and one.trace_name:
            labels[TRACE_NAME] = one.trace_name
        export.rows.append(ScoredRow(one.trace, ONLY_SYSTEM, labels=labels))


FORMAT = Format(
    "langfuse",
    "scores of Langfuse",
    holds_scores,
    {"ratings": read_ratings, "evaluators": read_evaluators, "scores": read_scores},
)
