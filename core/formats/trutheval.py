"""Read and write trutheval's JSON: Factual's data set, the report of a factual perturbation, and one rater's votes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial

from core.errors import Problems
from core.formats import Format
from core.formats.generation import read_questions
from core.formats.rated import read_rated
from core.formats.scorable import read_outputs
from core.formats.study.pairs import DatasetBuilder, natural_order
from core.installation import COMMAND
from core.schema.study import FIRST_LEVEL, Item, Preference
from core.tables.columns import Record, Table, is_json, json_objects
from core.tables.containers import decode, findings_of, table_rows
from core.tables.problems import FileFindings, place
from core.tables.reading import (
    JsonObject,
    duplicate_problems,
    name_of,
    name_problem,
    numbers_as_json,
    parse_json,
    raw_text_problem,
    reject,
    sha256_of,
    shown,
    type_name,
)

QUESTION_FIELDS = ("id", "question", "ground_truth", "answers", "language")


ONE_SOURCE = (
    "only one system's answers, without the system's name. Use the outputs.jsonl of the same run and name the other "
    f"system's file too (`{COMMAND} study import FILE --beside FILE`), or use the page Generate"
)
"""Problem with a run's dataset.json, in which a level is a text and not an object with one text per system."""


def collect_trutheval(data: bytes, file_name: str) -> DatasetBuilder:
    """Collect the content of a file in Factual's JSON, before checking that it is a whole data set."""
    value, problem = parse_json(decode(data, file_name))
    if problem:
        reject(file_name, [problem])
    if not isinstance(value, JsonObject):
        reject(file_name, [f'file: is {type_name(value)}, expected an object with "questions"'])
    if "questions" not in value:
        reject(file_name, ['file: "questions" is missing'])
    builder = findings_of(data, file_name, DatasetBuilder)
    builder.problems += duplicate_problems("file", value)
    _note_unused(builder, "file", [key for key in value if key != "questions"])
    questions = value["questions"]
    if not isinstance(questions, list):
        builder.problems.append(f"questions: is {type_name(questions)}, expected a list")
        reject(file_name, builder.problems)
    if not questions:
        builder.problems.append("questions: the list is empty; at least one question is needed")
    if _has_texts_alone(questions):
        builder.problems.append(f"file: {ONE_SOURCE}")
        reject(file_name, builder.problems)
    unused: dict[str, None] = {}
    for index, question in enumerate(questions):
        if isinstance(question, JsonObject):
            _read_question(builder, index, question)
            unused.update(dict.fromkeys(key for key in question if key not in QUESTION_FIELDS))
        else:
            builder.problems.append(f"questions[{index}]: is {type_name(question)}, expected an object")
    _note_unused(builder, "questions", list(unused))
    return builder


def _has_texts_alone(questions: list[object]) -> bool:
    """Whether every level of every question is a text, as in files written by a run."""
    levels = [q.get("answers") for q in questions if isinstance(q, JsonObject)]
    texts = [list(level.values()) for level in levels if isinstance(level, JsonObject)]
    return (
        bool(texts)
        and len(texts) == len(questions)
        and all(one and all(isinstance(text, str) for text in one) for one in texts)
    )


def _note_unused(builder: DatasetBuilder, where: str, names: list[str]) -> None:
    if names:
        builder.notes.append(f"{where}: fields not used: {', '.join(shown(name) for name in names)}")


def _read_question(builder: DatasetBuilder, index: int, question: JsonObject) -> None:
    item_id = name_of(question.get("id", index))
    if item_id is None:
        builder.problems.append(f"questions[{index}]: id {name_problem(question['id'])}")
        item_id = f"at index {index}"
    where = place(question=item_id)
    builder.problems += duplicate_problems(where, question)
    missing = [field for field in ("question", "ground_truth", "answers") if field not in question]
    builder.problems += [f"{where}: {field} is missing" for field in missing]
    # A missing field has been reported; the placeholder avoids a second problem.
    item = builder.add_item(
        item_id,
        question.get("question", "?"),
        question.get("ground_truth", "?"),
        question.get("language", "und"),
        reference_name="ground_truth",
    )
    answers = question.get("answers")
    if isinstance(answers, JsonObject):
        _read_answers(builder, item, item_id, answers)
    else:
        builder.mark_unusable(item)
        if "answers" in question:
            builder.problems.append(f"{where}: answers is {type_name(answers)}, expected an object of levels")


def _read_answers(builder: DatasetBuilder, item: int, item_id: str, answers: JsonObject) -> None:
    where = place(question=item_id)
    builder.problems += duplicate_problems(where, answers)
    if answers.duplicates:
        builder.mark_unusable(item)  # the level meant for the other text is unknown
    if not answers:
        builder.problems.append(f"{where}: answers is empty")
        builder.mark_unusable(item)
    for key, texts in answers.items():
        level = name_of(key)
        if level is None:
            builder.problems.append(f"{where}: a level's name {name_problem(key)}")
            builder.mark_unusable(item)
            continue
        where_level = place(None, item_id, level)
        if not isinstance(texts, JsonObject):
            builder.problems.append(
                f"{where_level}: is {type_name(texts)}, expected an object with one text per system"
            )
            builder.mark_unusable(item, level)
            continue
        builder.problems += duplicate_problems(where_level, texts)
        if texts.duplicates:
            builder.mark_unusable(item, level)
        if not texts:
            builder.problems.append(f"{where_level}: is empty, expected one text per system")
            builder.mark_unusable(item, level)
        for source_key, text in texts.items():
            source = name_of(source_key)
            if source is None:
                builder.problems.append(f"{where_level}: a system's name {name_problem(source_key)}")
                builder.mark_unusable(item, level)
            else:
                builder.add_output(item, level, source, text)


_OF_QUESTION = {
    "question": "question",
    "ground_truth": "reference",
    "context": "context",
    "language": "language",
}


def _rows(data: bytes, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """The texts as rows with Assay's column names; the table reader refuses anything without "questions"."""
    value, problem = parse_json(numbers_as_json(decode(data, findings.file_name)))
    if problem or not isinstance(value, JsonObject) or "questions" not in value:
        return table_rows(data, aliases, findings)
    findings.problems += duplicate_problems("file", value)
    names = dict.fromkeys(("item_id", "text", "level", *_OF_QUESTION.values()))
    return Table(list(names), {name: name for name in names}, _question_rows(value["questions"], findings))


def _sniff(data: bytes, file_name: str) -> bool:
    """Whether a file is JSON but not a list of objects; this format reports the problems of other values."""
    text = data.decode("utf-8-sig", "replace")
    if not is_json(text, file_name):
        return False
    value, _ = parse_json(text)
    return not (isinstance(value, list) and any(isinstance(one, JsonObject) for one in value))


def _question_rows(value: object, findings: FileFindings) -> list[Record]:
    """Rows of Factual's JSON: {"questions": [{"id", "question", "ground_truth", "answers"}]}.

    A level of "answers" has one text per system, or is a single text, as in Factual's generated data set.
    """
    records: list[Record] = []
    unused: dict[str, None] = {}
    for index, (where, question) in enumerate(json_objects(value, "questions", findings)):
        item_id = name_of(question.get("id", index))
        if item_id is None:
            findings.problems.append(f"{where}: id {name_problem(question['id'])}")
            continue
        cells = {name: question[key] for key, name in _OF_QUESTION.items() if key in question}
        unused.update(dict.fromkeys(set(question) - {"id", "answers", *_OF_QUESTION}))
        records += _answer_rows(item_id, question.get("answers"), cells | {"item_id": item_id}, findings)
    if unused:
        findings.notes.append(
            f"questions: fields not used: {', '.join(shown(key) for key in sorted(unused))}"
        )
    return records


def _answer_rows(
    item_id: str, answers: object, cells: Mapping[str, object], findings: FileFindings
) -> list[Record]:
    where = place(question=item_id)
    if not isinstance(answers, JsonObject):
        findings.problems.append(f"{where}: answers is {type_name(answers)}, expected an object of levels")
        return []
    findings.problems += duplicate_problems(where, answers)
    records = []
    for level, texts in answers.items():
        at_level = place(question=item_id, level=level)
        if isinstance(texts, JsonObject):
            findings.problems += duplicate_problems(at_level, texts)
            sources = [({"system": source}, text) for source, text in texts.items()]
        else:
            sources = [({}, texts)]
        records += [
            Record(
                place(question=item_id, level=level, source=source.get("system")),
                {**cells, **source, "level": level, "text": text},
            )
            for source, text in sources
        ]
    return records


FORMAT = Format(
    "trutheval",
    "Factual's JSON",
    _sniff,
    {
        "study": collect_trutheval,
        "questions": read_questions,
        "texts": partial(read_outputs, rows=_rows),
        "rated": partial(read_rated, rows=_rows),
    },
)


MEANING: dict[str, Preference] = {
    "AI": "candidate",
    "Expert": "comparator",
    "Both are good": "both_good",
    "Both are bad": "both_bad",
}
WORDS: dict[Preference, str] = {preference: word for word, preference in MEANING.items()}


def read_votes(
    data: bytes, file_name: str, dataset_item_levels: set[tuple[str, str]]
) -> dict[tuple[str, str], Preference]:
    """Read votes by (item_id, level). Null and missing votes are unanswered and left out."""
    value, problem = parse_json(decode(data, file_name))
    if problem:
        reject(file_name, [problem])
    if not isinstance(value, JsonObject):
        reject(file_name, [f"file: is {type_name(value)}, expected an object of questions"])
    problems = Problems(duplicate_problems("file", value))
    votes: dict[tuple[str, str], Preference] = {}
    known_items = {item_id for item_id, _ in dataset_item_levels}
    for item_id, levels in value.items():
        where = place(question=item_id)
        if item_id not in known_items:
            problems.append(f"{where}: not in the data set")
        elif not isinstance(levels, JsonObject):
            problems.append(f"{where}: is {type_name(levels)}, expected an object of levels")
        else:
            problems += duplicate_problems(where, levels)
            for level, vote in levels.items():
                where_level = place(None, item_id, level)
                if (item_id, level) not in dataset_item_levels:
                    problems.append(f"{where_level}: not in the data set")
                elif isinstance(vote, str) and vote in MEANING:
                    votes[item_id, level] = MEANING[vote]
                elif vote is not None:
                    problems.append(f"{where_level}: vote {_unknown(vote)}")
    if problems:
        reject(file_name, problems)
    return votes


def _unknown(vote: object) -> str:
    expected = ", ".join(MEANING)
    if isinstance(vote, str):
        return f'"{shown(vote)}" is unknown; expected one of {expected}, or null'
    return f"is {type_name(vote)}; expected one of {expected}, or null"


def write_votes(votes: Mapping[tuple[str, str], Preference | None]) -> bytes:
    """Write votes in Factual's JSON: questions in the given order, levels best first, None as null."""
    questions: dict[str, dict[str, str | None]] = {}
    for item_id, level in sorted(votes, key=lambda pair: natural_order(pair[1])):
        vote = votes[item_id, level]
        questions.setdefault(item_id, {})[level] = None if vote is None else WORDS[vote]
    in_order = {item_id: questions[item_id] for item_id, _ in votes}
    return json.dumps(in_order, indent=4, ensure_ascii=False).encode()


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
    """How the spans of a report were selected; Factual's published reports lack this."""

    keep: float
    """Share of the ranked spans that may be edited."""
    filter_order: str
    """`paper`: drop spans that the question names, then keep a share; `trutheval`: the other way round."""
    question_filter: str
    """`words` or `trutheval`."""
    levels: int
    """Number of levels beyond A0; an item with fewer has failed."""


@dataclass(frozen=True)
class ReportQuestion:
    """One item of a report. A list that is None was never made."""

    question: str
    ground_truth: str
    raw_factual_data: tuple[str, ...] | None = None
    """Spans in the order of the text."""
    with_brackets: Mapping[str, str] = field(default_factory=dict)
    """Level -> text with brackets around spans that no edit has changed."""
    thinking: Mapping[str, str] = field(default_factory=dict)
    """Level -> the model's reasoning."""
    blacklisted: tuple[str, ...] | None = None
    """Spans that share a word with the question, in lower case."""
    factual_data: tuple[str, ...] | None = None
    """Spans that may be edited, most important first."""
    ranked_factual_data: tuple[str, ...] | None = None
    """Most important first."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Level -> text."""
    stop_words: str = ""
    """The question filter's stop words; empty if the report lacks them."""


@dataclass(frozen=True)
class FactualReport:
    """A whole report."""

    questions: tuple[ReportQuestion, ...]
    counters: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    """`step: reason` -> number of items; only in reports written by Assay."""
    settings: ReportSettings | None = None
    """None if the report lacks them."""
    sha256: str = ""
    """Hash of the file's bytes; empty if the report was not read from a file."""
    file_name: str = ""


def read_report(data: bytes, file_name: str) -> FactualReport:
    """Read a report. Raises InputError with every problem and its place."""
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
        problems.append(
            "questions: none has `raw_factual_data`; is this the data set rather than the report?"
        )
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
        problems.append("settings, keep: not a share above 0 and at most 1")
    if not isinstance(levels, int) or isinstance(levels, bool) or levels < 1:
        problems.append("settings, levels: not a whole number of at least 1")
    for name, choices in (("filter_order", FILTER_ORDERS), ("question_filter", QUESTION_FILTERS)):
        if value.get(name) not in choices:
            problems.append(f"settings, {name}: not one of {', '.join(choices)}")
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
                found.append(f"{place}, {name}: {FIRST_LEVEL} is missing")
    stop_words = entry.get("stop_words", "")
    if not isinstance(stop_words, str):
        found.append(f"{place}, stop_words: is {type_name(stop_words)}, expected text")
    problems += found
    if found:
        return None
    texts = {"question": entry["question"], "ground_truth": entry["ground_truth"], "stop_words": stop_words}
    return ReportQuestion(**texts, **lists, **levels)  # type: ignore[arg-type]  # fields by name, each checked above


def _texts(place: str, value: object, problems: Problems) -> tuple[str, ...] | None:
    """A list of texts; None if the report has null or nothing, which means that the list was never made."""
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
            problems.append(f"{place}: {shown(name)} is not a level; levels are A0, A1 ...")
        elif wrong := raw_text_problem(text):
            problems.append(f"{place}, {name}: text {wrong}")
    return {name: text for name, text in value.items() if isinstance(text, str)}


def report_json(report: FactualReport) -> bytes:
    """Write a report as JSON; empty `settings` and `failed` are left out."""
    value: dict[str, object] = {"report": {name: report.counters.get(name, 0) for name in COUNTERS}}
    if report.settings is not None:
        value["settings"] = asdict(report.settings)
    if report.failed:
        value["failed"] = dict(report.failed)
    value["questions"] = [_written(question) for question in report.questions]
    return _json(value)


def _written(question: ReportQuestion) -> dict[str, object]:
    written = {
        name: (dict(value) or None) if isinstance(value, Mapping) else value
        for name, value in vars(question).items()
    }
    return {name: value for name, value in written.items() if name != "stop_words" or value}


def dataset_json(rows: Iterable[tuple[Item, Mapping[str, str]]]) -> bytes:
    """Write items with their level texts as trutheval's data set; whole-number ids are written as numbers."""
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
    """Whether a name is the usual text of a whole number; `007` stays text."""
    return name.isascii() and name.isdecimal() and len(name) < 16 and str(int(name)) == name


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8")
