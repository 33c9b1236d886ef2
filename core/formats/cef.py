"""Read answers of CEF's cross-examination server: its scores as rows of a long table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from core.formats import Format
from core.formats.scores import read_scores
from core.tables.columns import (
    VOCABULARY,
    Record,
    Table,
    is_json,
    is_jsonl,
    jsonl_objects,
    named_columns,
)
from core.tables.containers import decode
from core.tables.problems import FileFindings
from core.tables.reading import (
    JsonObject,
    duplicate_problems,
    line_place,
    number_in,
    numbers_as_json,
    parse_json,
    shown,
    type_name,
)

SCORES = {
    "coverage_score": "cef-coverage",
    "conformity_score": "cef-conformity",
    "consistency_score": "cef-consistency",
    "conciseness_score": "cef-conciseness",
    "overall_score": "cef-overall",
}
"""The server's names -> Assay's."""
_COUNTS = {
    "coverage_score": ("qa_from_doc_count", "questions_from_original_doc"),
    "conformity_score": ("qa_from_doc_count", "questions_from_original_doc"),
    "consistency_score": ("qa_from_summary_count", "questions_from_generated_doc"),
}
"""Score -> keys in `details` of the number and the list of its questions."""
_PERCENT = "conciseness_score"
_OVERALL = "overall_score"
_LOOKED_AT = 20
"""Entries searched for one with scores to recognise the file; a server's first answers may all be errors."""
_OWN = ("scores", "details")
WHICH_CONSISTENCY = (
    "cef-consistency: the file does not say which answers count as inconsistent. The public server counts only IDK, "
    "the code of CEF's experiments counts NO too"
)
IN_PERCENT = "cef-conciseness: converted from percent to a share from 0 to 1"


@dataclass(frozen=True)
class _Entry:
    """One object of the file."""

    where: str
    value: JsonObject
    item: str | None = None
    """The key that it is stored under; None if there is none."""
    problems: tuple[str, ...] = ()
    """Why the entry cannot be read."""


def _cef_rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """The rows of a file of answers, one row a score."""
    answers = []
    for one in _entries(numbers_as_json(decode(data, findings.file_name)), findings.file_name):
        if one.problems:
            findings.problems += one.problems
        elif not _is_answer(one.value):
            findings.problems.append(f"{one.where}: has no scores")
        else:
            answers.append(one)
    numbered = not any(_has_item(one.value) for one in answers if one.item is None)
    if numbered and all(one.item is None for one in answers):
        findings.notes.append("no answer names its item: answers are numbered from 1 instead")
    rows = [
        row
        for number, one in enumerate(answers, start=1)
        for row in _rows(one, one.item or (str(number) if numbered else None), aliases, findings)
    ]
    findings.notes.append(WHICH_CONSISTENCY)
    if any(row.cells["metric"] == SCORES[_PERCENT] for row in rows):
        findings.notes.append(IN_PERCENT)
    keys = list(dict.fromkeys(key for row in rows for key in row.cells))
    return Table(keys, {key: key for key in keys if key in aliases}, rows)


def _sniff(data: bytes, file_name: str) -> bool:
    """Whether one of the first entries is a server's answer with scores."""
    if not any(f'"{name}"'.encode() in data for name in SCORES):
        return False  # avoids parsing long files of other kinds
    entries = _entries(numbers_as_json(data.decode("utf-8-sig", "replace")), file_name)
    return any(_is_answer(one.value) for one in islice(entries, _LOOKED_AT))


FORMAT = Format(
    "cef_server", "answers of CEF's server", _sniff, {"scores": partial(read_scores, rows=_cef_rows)}
)


def _entries(text: str, file_name: str) -> Iterator[_Entry]:
    """Yield the entries of a file that may be answers; none if the file is not JSON."""
    if is_json(text, file_name) or _one_value(text):
        value, problem = parse_json(text)
        if problem is None:
            yield from _value_entries(value)
    elif is_jsonl(text, file_name):
        for line in jsonl_objects(text, file_name):
            wrong = () if line.value is not None else tuple(line.problems)
            yield _Entry(line_place(line.line), line.value or JsonObject(), problems=wrong)


def _one_value(text: str) -> bool:
    """Whether the text is one JSON object over several lines, whatever the file's name."""
    start = text.lstrip()
    return start.startswith("{") and parse_json(start.split("\n", 1)[0])[1] is not None


def _value_entries(value: object) -> Iterator[_Entry]:
    if isinstance(value, JsonObject) and "scores" in value:
        yield _Entry("file", value)
    elif isinstance(value, JsonObject):
        for key, one in value.items():
            yield _Entry(f"item {shown(key)}", one if isinstance(one, JsonObject) else JsonObject(), key)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield _Entry(f"[{index}]", one if isinstance(one, JsonObject) else JsonObject())


def _is_answer(answer: JsonObject) -> bool:
    scores = answer.get("scores")
    return isinstance(scores, JsonObject) and bool(scores.keys() & SCORES.keys())


def _has_item(answer: JsonObject) -> bool:
    return any(key.strip().lower() in VOCABULARY["item_id"] for key in answer)


def _rows(
    entry: _Entry, item: str | None, aliases: Mapping[str, Sequence[str]], findings: FileFindings
) -> Iterator[Record]:
    """Yield a row for each of the server's scores."""
    where, answer = entry.where, entry.value
    findings.problems += duplicate_problems(where, answer)
    scores = answer["scores"]
    assert isinstance(scores, JsonObject)
    findings.problems += duplicate_problems(f"{where}, scores", scores)
    beside = {key: value for key, value in answer.items() if key not in _OWN}
    names = named_columns(list(beside), aliases)
    about = {names.get(key, key): value for key, value in beside.items()}
    if item is not None:
        about.setdefault("item_id", item)
    details = answer.get("details")
    if details is not None and not isinstance(details, JsonObject):
        findings.problems.append(f"{where}: details is {type_name(details)}, expected an object")
        details = None
    for name, metric in SCORES.items():
        if name in scores:
            value, reason = _value(name, scores, details or JsonObject())
            cells = {
                "metric": metric,
                "score": value,
                "reason": reason,
                "family": "CEF",
                "direction": "higher",
            }
            yield Record(f"{where}, {name}", {**about, **cells})


def _value(
    name: str, scores: Mapping[str, object], details: Mapping[str, object]
) -> tuple[object, str | None]:
    """A score on Assay's scale and, if it is undefined, the reason. The table's reader refuses non-numbers."""
    number = _number(scores[name])
    if number is None:
        return scores[name], None
    if name == _PERCENT:
        return number / 100, None
    overall = name == _OVERALL
    reason = _not_overall(number, scores, details) if overall else _undefined(name, number, details)
    return (scores[name], None) if reason is None else (None, reason)


def _not_overall(overall: float, scores: Mapping[str, object], details: Mapping[str, object]) -> str | None:
    """Why the file's mean is not the mean of all three scores: some had no questions, and count as 0 or are left out."""
    numbers = {name: _number(scores.get(name)) for name in _COUNTS}
    missing = [
        SCORES[name]
        for name, number in numbers.items()
        if number is not None and _undefined(name, number, details)
    ]
    if missing:
        return f"no questions for {', '.join(missing)}"
    return f"no questions: stored as {overall:g}" if overall < 0 else None


def _number(value: object) -> float | None:
    return None if isinstance(value, str) else number_in(value)


def _undefined(name: str, number: float, details: Mapping[str, object]) -> str | None:
    """Why one of the three scores is undefined; None if it is a score."""
    if number < 0 or (number == 0 and _no_questions(name, details)):
        return f"no questions: stored as {number:g}"
    return None


def _no_questions(name: str, details: Mapping[str, object]) -> bool:
    """Whether `details` show that the score had no question."""
    count, listed = _COUNTS.get(name, ("", ""))
    return details.get(count) == 0 or details.get(listed) == []
