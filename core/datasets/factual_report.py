"""The report of a factual perturbation as trutheval publishes it, and its data set: reading and writing.

A report keeps spans as texts in square brackets: `with_brackets` holds every level with brackets around the
spans that are still as they were, `ranked_factual_data` the spans by importance, `factual_data` those that may be
edited, `blacklisted` (in lower case) those that share a word with the question. Reports that Assay writes also say
which settings selected the spans: `settings` beside `report`, and `stop_words` with every question.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from core.datasets.reading import (
    JsonObject,
    decode,
    duplicate_problems,
    parse_json,
    raw_text_problem,
    reject,
    sha256_of,
    shown,
    type_name,
)
from core.errors import Problems
from core.schema import FIRST_LEVEL, Item

COUNTERS = (
    "input_samples",
    "find_factual_data_error",
    "json_parse_ranking_error",
    "index_ranking_error",
    "ranking_factual_data_error",
    "output_samples",
)
FILTER_ORDERS = ("paper", "trutheval")
QUESTION_FILTERS = ("words", "trutheval")
_LISTS = ("raw_factual_data", "blacklisted", "factual_data", "ranked_factual_data")
_TEXTS = ("with_brackets", "thinking", "answers")
_LEVEL_NAME_START = "A"


@dataclass(frozen=True)
class ReportSettings:
    """How the spans of a report were selected; the paper's reports do not say it."""

    keep: float
    """Share of the ranked spans that may be edited."""
    filter_order: str
    """`paper`: drop what the question names, then keep; `trutheval`: the other way round."""
    question_filter: str
    """`words` or `trutheval`."""
    levels: int
    """Beyond A0: an item with fewer has failed."""


@dataclass(frozen=True)
class ReportQuestion:
    """One item of a report. A list that is None was never made."""

    question: str
    ground_truth: str
    raw_factual_data: tuple[str, ...] | None = None
    """Spans in the order of the text."""
    with_brackets: Mapping[str, str] = field(default_factory=dict)
    """Level -> text with brackets around the spans that no edit has touched."""
    blacklisted: tuple[str, ...] | None = None
    """Spans that share a word with the question, in lower case."""
    factual_data: tuple[str, ...] | None = None
    """Spans that may be edited, most important first."""
    ranked_factual_data: tuple[str, ...] | None = None
    """Most important first."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Level -> text."""
    thinking: Mapping[str, str] = field(default_factory=dict)
    """Level -> what the model considered."""
    stop_words: str = ""
    """The question filter's list; empty: the report does not say."""


@dataclass(frozen=True)
class FactualReport:
    """A whole report."""

    questions: tuple[ReportQuestion, ...]
    counters: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    """`step: reason` -> items; only in reports that Assay wrote."""
    settings: ReportSettings | None = None
    """None: the report does not say."""
    sha256: str = ""
    """Of the file's bytes; empty: it was not read from a file."""
    file_name: str = ""


def read_report(data: bytes, file_name: str) -> FactualReport:
    """The report in a file. Raises InputError with every problem and its place."""
    value, problem = parse_json(decode(data, file_name))
    if problem:
        reject(file_name, [problem])
    problems = Problems()
    questions: list[ReportQuestion] = []
    if not isinstance(value, JsonObject) or not isinstance(value.get("questions"), list):
        what = (
            type_name(value) if not isinstance(value, JsonObject) else "an object without a list `questions`"
        )
        reject(file_name, [f"file: is {what}, expected a report: an object with `report` and `questions`"])
    problems += duplicate_problems("file", value)
    counters = _counters(value.get("report", JsonObject()), problems)
    settings = _settings(value["settings"], problems) if "settings" in value else None
    listed = value["questions"]
    assert isinstance(listed, list)
    if not listed:
        problems.append("questions: the list is empty")
    for number, entry in enumerate(listed, start=1):
        if (read := _question(f"question {number}", entry, problems)) is not None:
            questions.append(read)
    if listed and not problems and not any(q.raw_factual_data for q in questions):
        problems.append("questions: none has `raw_factual_data`; is this the data set instead of the report?")
    if problems:
        reject(file_name, problems)
    failed = value.get("failed")
    told = {name: n for name, n in failed.items() if isinstance(n, int)} if isinstance(failed, dict) else {}
    return FactualReport(tuple(questions), counters, told, settings, sha256_of(data), file_name)


def _settings(value: object, problems: Problems) -> ReportSettings | None:
    if not isinstance(value, JsonObject):
        problems.append(f"settings: is {type_name(value)}, expected an object")
        return None
    known = problems.n
    keep, levels = value.get("keep"), value.get("levels")
    if not isinstance(keep, int | float) or isinstance(keep, bool) or not 0 < keep <= 1:
        problems.append("settings, keep: is no share above 0, up to 1")
    if not isinstance(levels, int) or isinstance(levels, bool) or levels < 1:
        problems.append("settings, levels: is no number of levels, 1 or more")
    for name, choices in (("filter_order", FILTER_ORDERS), ("question_filter", QUESTION_FILTERS)):
        if value.get(name) not in choices:
            problems.append(f"settings, {name}: is none of {' and '.join(choices)}")
    if problems.n > known:
        return None
    assert isinstance(keep, int | float)
    assert isinstance(levels, int)
    return ReportSettings(keep, str(value["filter_order"]), str(value["question_filter"]), levels)


def _counters(value: object, problems: Problems) -> dict[str, int]:
    if not isinstance(value, JsonObject):
        problems.append(f"report: is {type_name(value)}, expected an object of counters")
        return {}
    counters = {}
    for name, count in value.items():
        if isinstance(count, int) and not isinstance(count, bool):
            counters[name] = count
        else:
            problems.append(f"report, {shown(name)}: is {type_name(count)}, expected a whole number")
    return counters


def _question(place: str, entry: object, problems: Problems) -> ReportQuestion | None:
    if not isinstance(entry, JsonObject):
        problems.append(f"{place}: is {type_name(entry)}, expected an object")
        return None
    found = Problems(duplicate_problems(place, entry))
    for name in ("question", "ground_truth"):
        if wrong := raw_text_problem(entry.get(name)):
            found.append(f"{place}, {name}: text {wrong}" if name in entry else f"{place}: {name} is missing")
    lists = {name: _texts(f"{place}, {name}", entry.get(name), found) for name in _LISTS}
    levels = {name: _levels(f"{place}, {name}", entry.get(name), found) for name in _TEXTS}
    if lists["raw_factual_data"] is not None and not found:
        for name in ("with_brackets", "answers"):
            if FIRST_LEVEL not in levels[name]:
                found.append(f"{place}, {name}: has no {FIRST_LEVEL}")
    stop_words = entry.get("stop_words", "")
    if not isinstance(stop_words, str):
        found.append(f"{place}, stop_words: is {type_name(stop_words)}, expected a text")
    problems += found
    if found:
        return None
    texts = {"question": entry["question"], "ground_truth": entry["ground_truth"], "stop_words": stop_words}
    return ReportQuestion(**texts, **lists, **levels)  # type: ignore[arg-type]  # fields by name, each checked above


def _texts(place: str, value: object, problems: Problems) -> tuple[str, ...] | None:
    """A list of texts; None where the report has null or nothing, which is how it says "never made"."""
    if value is None:
        return None
    if not isinstance(value, list):
        problems.append(f"{place}: is {type_name(value)}, expected a list of texts")
        return None
    for number, text in enumerate(value, start=1):
        if wrong := raw_text_problem(text):
            problems.append(f"{place}, entry {number}: text {wrong}")
    return tuple(text for text in value if isinstance(text, str))


def _levels(place: str, value: object, problems: Problems) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, JsonObject):
        problems.append(f"{place}: is {type_name(value)}, expected an object of texts by level")
        return {}
    problems += duplicate_problems(place, value)
    for name, text in value.items():
        if not (name.startswith(_LEVEL_NAME_START) and name[1:].isascii() and name[1:].isdecimal()):
            problems.append(f"{place}: {shown(name)} is no level; levels are A0, A1 ...")
        elif wrong := raw_text_problem(text):
            problems.append(f"{place}, {name}: text {wrong}")
    return {name: text for name, text in value.items() if isinstance(text, str)}


def report_json(report: FactualReport) -> bytes:
    """The report as a file in that format; `settings` and `failed` are left out where there are none."""
    value: dict[str, object] = {"report": {name: report.counters.get(name, 0) for name in COUNTERS}}
    if report.settings is not None:
        value["settings"] = asdict(report.settings)
    if report.failed:
        value["failed"] = dict(report.failed)
    value["questions"] = [_written(question) for question in report.questions]
    return _json(value)


def _written(question: ReportQuestion) -> dict[str, object]:
    lists: dict[str, object] = {}
    for name in _LISTS:
        texts: Sequence[str] | None = getattr(question, name)
        lists[name] = None if texts is None else list(texts)
    written = {
        "question": question.question,
        "ground_truth": question.ground_truth,
        "raw_factual_data": lists["raw_factual_data"],
        "with_brackets": dict(question.with_brackets) or None,
        "thinking": dict(question.thinking) or None,
        "blacklisted": lists["blacklisted"],
        "factual_data": lists["factual_data"],
        "ranked_factual_data": lists["ranked_factual_data"],
        "answers": dict(question.answers) or None,
    }
    return written | ({"stop_words": question.stop_words} if question.stop_words else {})


def dataset_json(rows: Iterable[tuple[Item, Mapping[str, str]]]) -> bytes:
    """Items with their level texts as trutheval's data set; an id that is a whole number is written as one."""
    questions = [
        {
            "id": int(item.item_id) if _is_whole(item.item_id) else item.item_id,
            "question": item.question,
            "ground_truth": item.reference,
            "answers": dict(levels),
        }
        for item, levels in rows
    ]
    return _json({"questions": questions})


def _is_whole(name: str) -> bool:
    """Whether a number's text is the number's only one: `007` stays a text."""
    return name.isascii() and name.isdecimal() and len(name) < 16 and str(int(name)) == name


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8")
