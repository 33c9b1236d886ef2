"""Answers of 001's cross-examination server, in: its scores as rows of a long table.

A file is one answer, a JSON list of them, a JSON object of answers by item, or one answer a line. An answer has `scores`
(coverage_score, conformity_score, consistency_score, conciseness_score, overall_score) and perhaps `details`; item,
system, level and labels may stand beside them. Conciseness is in percent there; a number below 0 among the others, or a 0
where no question was made, stands for "undefined".
"""

from collections.abc import Iterator, Mapping, Sequence

from core.datasets.cells import number_in, numbers_as_json
from core.datasets.findings import FileFindings
from core.datasets.open_tables import ITEM_NAMES, Record, is_json, named_columns
from core.datasets.reading import JsonObject, duplicate_problems, parse_json, shown, type_name
from core.datasets.rows import is_jsonl, jsonl_objects

SCORES = {
    "coverage_score": "cef-coverage",
    "conformity_score": "cef-conformity",
    "consistency_score": "cef-consistency",
    "conciseness_score": "cef-conciseness",
    "overall_score": "cef-overall",
}
"""The server's names -> ours."""
_COUNTS = {
    "coverage_score": ("qa_from_doc_count", "questions_from_original_doc"),
    "conformity_score": ("qa_from_doc_count", "questions_from_original_doc"),
    "consistency_score": ("qa_from_summary_count", "questions_from_generated_doc"),
}
"""Score -> where the number of its questions stands in `details`."""
_PERCENT = "conciseness_score"
_OWN = ("scores", "details")
WHICH_CONSISTENCY = (
    "cef-consistency: the file does not say how it was counted. The public server counts IDK answers alone as "
    "inconsistent, the code of the paper's experiments NO answers too"
)
IN_PERCENT = "cef-conciseness was in percent and is kept as a share, 0 to 1"

Found = tuple[list[str], dict[str, str], list[Record]]
"""Keys, key -> our name, rows: what open_tables.open_records gives."""


def cef_records(text: str, known: Mapping[str, Sequence[str]], findings: FileFindings) -> Found | None:
    """The rows of a file of such answers, one a score; None where it holds something else."""
    answers = _answers(text, findings.file_name)
    if answers is None:
        return None
    numbered = not any(_has_item(answer) for _, answer, item in answers if item is None)
    if numbered and all(item is None for _, _, item in answers):
        findings.notes.append("no answer names its item: items are the answers' numbers, from 1")
    rows = [
        row
        for number, (where, answer, item) in enumerate(answers, start=1)
        for row in _rows(where, answer, item or (str(number) if numbered else None), known, findings)
    ]
    findings.notes.append(WHICH_CONSISTENCY)
    if any(row.cells["metric"] == SCORES[_PERCENT] for row in rows):
        findings.notes.append(IN_PERCENT)
    keys = list(dict.fromkeys(key for row in rows for key in row.cells))
    return keys, {key: key for key in keys if key in known}, rows


def _answers(text: str, file_name: str) -> list[tuple[str, JsonObject, str | None]] | None:
    """(place, answer, item) of each; None unless every one of them is such an answer."""
    if is_json(text, file_name) or _one_value(text):
        value, problem = parse_json(numbers_as_json(text))
        found = None if problem else list(_of_value(value))
    elif is_jsonl(text, file_name):
        lines = [(f"line {one.line}", one.value) for one in jsonl_objects(numbers_as_json(text))]
        found = [(where, value, None) for where, value in lines if value is not None]
        found = found if len(found) == len(lines) else None
    else:
        return None
    return found if found and all(_is_answer(answer) for _, answer, _ in found) else None


def _one_value(text: str) -> bool:
    """Whether the whole text is one JSON object over several lines, whatever the file is called."""
    start = text.lstrip()
    return start.startswith("{") and parse_json(start.split("\n", 1)[0])[1] is not None


def _of_value(value: object) -> Iterator[tuple[str, JsonObject, str | None]]:
    if isinstance(value, JsonObject) and _is_answer(value):
        yield "file", value, None
    elif isinstance(value, JsonObject):
        for key, one in value.items():
            yield f"item {shown(key)}", one if isinstance(one, JsonObject) else JsonObject(), key
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield f"[{index}]", one if isinstance(one, JsonObject) else JsonObject(), None


def _is_answer(answer: JsonObject) -> bool:
    scores = answer.get("scores")
    return isinstance(scores, JsonObject) and bool(scores.keys() & SCORES.keys())


def _has_item(answer: JsonObject) -> bool:
    return any(key.strip().lower() in ITEM_NAMES for key in answer)


def _rows(
    where: str,
    answer: JsonObject,
    item: str | None,
    known: Mapping[str, Sequence[str]],
    findings: FileFindings,
) -> Iterator[Record]:
    """One row for each score that the server has a name for."""
    findings.problems += duplicate_problems(where, answer)
    scores = answer["scores"]
    assert isinstance(scores, JsonObject)
    findings.problems += duplicate_problems(f"{where}, scores", scores)
    beside = {key: value for key, value in answer.items() if key not in _OWN}
    names = named_columns(list(beside), known)
    about = {names.get(key, key): value for key, value in beside.items()}
    if item is not None:
        about.setdefault("item_id", item)
    details = answer.get("details")
    if details is not None and not isinstance(details, JsonObject):
        findings.problems.append(f"{where}: details is {type_name(details)}, expected an object")
        details = None
    for name, metric in SCORES.items():
        if name in scores:
            value, reason = _value(name, scores[name], details or JsonObject())
            cells = {
                "metric": metric,
                "score": value,
                "reason": reason,
                "family": "CEF",
                "direction": "higher",
            }
            yield Record(f"{where}, {name}", {**about, **cells})


def _value(name: str, value: object, details: JsonObject) -> tuple[object, str | None]:
    """A score as we keep it, and why there is none; what is no number is left for the table's reader to refuse."""
    number = None if isinstance(value, str) else number_in(value)
    if number is None:
        return value, None
    if name == _PERCENT:
        return number / 100, None
    if number < 0:
        return None, f"no questions: stored as {number:g}"
    if number == 0 and _no_questions(name, details):
        return None, "no questions: stored as 0"
    return value, None


def _no_questions(name: str, details: JsonObject) -> bool:
    """Whether `details` say that the score had no question to be counted from."""
    count, listed = _COUNTS.get(name, ("", ""))
    return details.get(count) == 0 or details.get(listed) == []
