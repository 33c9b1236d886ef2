"""Read questions and references for generation, and write the generated answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

from core.errors import InputError
from core.schema.study import Item, Material, MaterialSet
from core.tables.columns import (
    CSV_SUFFIXES,
    JSONL_SUFFIXES,
    MOST_OTHER_NAMES,
    VOCABULARY,
    Columns,
    Record,
    Rows,
    columns_among,
    file_columns,
    header_of,
    is_json,
    is_jsonl,
    jsonl_bytes,
    known_at,
    known_fields,
    read_rows,
    require,
    unknown_columns,
)
from core.tables.containers import decode, findings_of, table_rows
from core.tables.layouts import keep_last_question
from core.tables.problems import FileFindings, Lacking, likely_columns, place, rename, same_wording
from core.tables.reading import (
    JsonObject,
    duplicate_problems,
    is_blank,
    name_of,
    name_problem,
    parse_json,
    reject,
    shown,
    suffix_of,
    type_name,
)
from core.tables.writer import csv_bytes

Task = Literal["qa", "qa-passage", "summary", "translation"]
"""Same names as in generation, which this module must not import."""

KNOWN = known_at("questions")
"""`source` is the text to translate, unless the file contains answers."""
COLUMNS = tuple(KNOWN)
FORMATS = "a JSON list of questions, an object with questions (.json), a table (.csv, .tsv) or JSONL"
_ANSWERS_UNUSED = "answers in the file are not used, only its questions and references"
_OF_ANSWERS = {name: VOCABULARY[name] for name in ("system", "level", "text")}
"""Columns of a file of answers, one row each: only its questions are read."""
MOST_NAMED = 20
"""Duplicate questions that a note names."""

_CONTEXT_NAMES = {
    "qa": "context",
    "qa-passage": "passage",
    "summary": "source text",
    "translation": "source sentence",
}
_STANDS_IN = ("summary", "translation")
"""Tasks in which the source can replace a missing question."""


def read_questions(
    data: bytes, file_name: str, task: Task | None = None, *, rows: Rows = table_rows
) -> MaterialSet:
    """Read the questions of a file in any format. InputError lists every problem.

    task: the kind of references; requires the context that the task needs. None: requires no context.
    """
    try:
        return _read(data, file_name, task, rows)
    except InputError as refused:
        # The shared readers say "imported", which fits studies but not questions.
        found = refused.found
        raise InputError(f"{shown(file_name)} cannot be read: {found.counted}", found) from None


def _read(data: bytes, file_name: str, task: Task | None, rows: Rows) -> MaterialSet:
    findings = findings_of(data, file_name)
    if rows is table_rows:
        entries = _entries(decode(data, file_name), findings)
    else:
        entries = _table_questions(data, rows, findings)
    if not entries and not findings.problems:
        findings.problems.append("file: contains no question; at least one is needed")
    lacking = Lacking(findings)
    read = [
        (entry.where, _material(number, keep_last_question(entry), task, findings, lacking))
        for number, entry in enumerate(entries)
    ]
    lacking.join(len(entries))
    kept = _drop_duplicates([(where, one) for where, one in read if one is not None], findings)
    return MaterialSet(tuple(kept), *findings.settled())


def _entries(text: str, findings: FileFindings) -> list[Record]:
    suffix = suffix_of(findings.file_name)
    if is_json(text, findings.file_name):
        return _json_questions(text, findings)
    table = suffix in CSV_SUFFIXES or suffix in JSONL_SUFFIXES
    if not table and text.lstrip()[:1] in ("<", "#"):
        reject(findings.file_name, [f"file: unknown format; expected {FORMATS}"])
    return _row_questions(text, findings)


def _row_questions(text: str, findings: FileFindings) -> list[Record]:
    name = findings.file_name
    columns = file_columns(text, name, KNOWN | _OF_ANSWERS, ())
    read_as = set(columns.named.values())
    if not is_jsonl(text, name) and "reference" not in read_as:
        _refuse_without_reference(text, columns, findings)
    answers = "text" in read_as and bool(read_as & {"system", "level"})
    if not answers:
        columns = file_columns(text, name, KNOWN, ())
        return list(read_rows(text, columns, findings))
    findings.notes.append(_ANSWERS_UNUSED)
    own = {**KNOWN, "context": VOCABULARY["context"]} | _OF_ANSWERS
    columns = file_columns(text, name, own, ("item_id", "question", "reference"))
    return _merged(_question_cells(read_rows(text, columns, findings)), findings)


def _table_questions(data: bytes, rows: Rows, findings: FileFindings) -> list[Record]:
    """The questions of a table in another format."""
    table = rows(data, KNOWN | _OF_ANSWERS, findings)
    columns = set(table.columns.values())
    require(columns, {"reference": KNOWN["reference"]}, table.keys, findings.file_name)
    known = _question_cells(table.records)
    if "text" in columns and columns & {"system", "level"}:
        findings.notes.append(_ANSWERS_UNUSED)
        return _merged(known, findings)
    return known


def _question_cells(records: Iterable[Record]) -> list[Record]:
    return [
        replace(one, cells={name: cell for name, cell in one.cells.items() if name in COLUMNS})
        for one in records
    ]


def _refuse_without_reference(text: str, columns: Columns, findings: FileFindings) -> NoReturn:
    """Raise InputError for a table without references, with every name that the column may have."""
    line = 1 + next((at for at, line in enumerate(text.splitlines()) if line.strip()), 0)
    unknown = [name for name in header_of(text, findings.file_name) if columns.named.get(name) not in KNOWN]
    likely = likely_columns(["reference"], unknown, {})["reference"]
    instead = rename(likely, "reference") or unknown_columns(unknown, ["reference"])
    others = ", ".join(KNOWN["reference"][1:MOST_OTHER_NAMES])
    findings.problems.append(f"line {line}: column reference is missing (or: {others}){instead}")
    reject(findings.file_name, findings.problems)


def _merged(rows: list[Record], findings: FileFindings) -> list[Record]:
    """One entry for each item from rows of answers; the question may be on any of its rows, the first value is used."""
    found: dict[str, tuple[str, dict[str, object]]] = {}
    for record in rows:
        where, row = record.where, record.cells
        name = name_of(row.get("item_id"))
        if name is None:
            problem = name_problem(row["item_id"]) if "item_id" in row else "is missing"
            findings.problems.append(f"{where}: item_id {problem}")
            continue
        _, cells = found.setdefault(name, (where, {}))
        for column, value in row.items():
            if not _is_nothing(value) and same_value(cells.setdefault(column, value), value) is False:
                at = f"{where}, {place(question=name)}"
                findings.problems.append(f"{at}: {column} differs from an earlier line")
    return [Record(*one) for one in found.values()]


def same_value(first: object, second: object) -> bool:
    """Whether two cells of one item are equal, with texts compared by wording."""
    if isinstance(first, str) and isinstance(second, str):
        return same_wording(first) == same_wording(second)
    return first == second


def _json_questions(text: str, findings: FileFindings) -> list[Record]:
    value, problem = parse_json(text)
    if problem:
        reject(findings.file_name, [problem])
    at = ""
    if isinstance(value, JsonObject):
        if "questions" not in value:
            reject(findings.file_name, ['file: "questions" is missing'])
        findings.problems += duplicate_problems("file", value)
        if others := [shown(key) for key in value if key != "questions"]:
            findings.notes.append(f"file: fields not used: {', '.join(others)}")
        at, value = "questions", value["questions"]
    if not isinstance(value, list):
        reject(findings.file_name, [f"{at or 'file'}: is {type_name(value)}, expected a list of questions"])
    keys = dict.fromkeys(key for one in value if isinstance(one, JsonObject) for key in one)
    columns, ignored, entries = columns_among(list(keys), KNOWN), dict[str, None](), []
    for index, question in enumerate(value):
        where = f"{at}[{index}]"
        if isinstance(question, JsonObject):
            findings.problems += duplicate_problems(where, question)
            entries.append(Record(where, known_fields(question, columns, where, findings, ignored)))
        else:
            findings.problems.append(f"{where}: is {type_name(question)}, expected an object")
    if "answers" in ignored:
        findings.notes.append(_ANSWERS_UNUSED)
    if others := [shown(key) for key in ignored if key != "answers"]:
        findings.notes.append(f"questions: fields not used: {', '.join(others)}")
    return entries


def _material(
    number: int, entry: Record, task: Task | None, findings: FileFindings, lacking: Lacking
) -> Material | None:
    """One checked question; None if it has problems, which are added to the findings."""
    known, cells = findings.problems.n, entry.cells
    item_id = str(number) if _is_nothing(cells.get("item_id")) else name_of(cells["item_id"])
    if item_id is None:
        findings.problems.append(f"{entry.where}: item_id {name_problem(cells['item_id'])}")
        item_id = str(number)
    where = f"{entry.where}, {place(question=item_id)}"
    context = _optional("context", where, cells, findings)
    question = _optional("question", where, cells, findings)
    if "reference" in cells and cells["reference"] is not None:
        reference = findings.text(where, "reference", cells["reference"])
    else:
        reference = ""
        lacking.add(where, "reference")
    if context is None and task in ("qa-passage", "translation") and "context" not in _broken(cells):
        lacking.add(where, f"context ({_CONTEXT_NAMES[task]})", f"; {task} needs it")
    if question is None and task in (None, *_STANDS_IN):
        question = context
        # A source that is not text has already been reported; no second problem for the question.
        known_missing = task == "translation" or "context" in _broken(cells)
    else:
        known_missing = False
    if question is None and not known_missing and "question" not in _broken(cells):
        also = " and so is the source text" if task == "summary" else ""
        lacking.add(where, "question", also)
    language = "und"
    if not _is_nothing(cells.get("language")):
        language = findings.language(where, cells["language"])
    paraphrase = _optional("paraphrase", where, cells, findings)
    if findings.problems.n > known:
        return None
    return Material(Item(item_id, question or "", reference, language), paraphrase, context)


def _optional(field: str, where: str, cells: Mapping[str, object], findings: FileFindings) -> str | None:
    """An optional text; None if it is missing, or if it has a problem, which is added to the findings."""
    value = cells.get(field)
    if _is_nothing(value):
        return None
    return findings.text(where, field, value) or None


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and is_blank(value))


def _broken(cells: Mapping[str, object]) -> set[str]:
    """Fields that are not empty: any problem with them has already been reported."""
    return {name for name, value in cells.items() if not _is_nothing(value)}


def _drop_duplicates(materials: list[tuple[str, Material]], findings: FileFindings) -> list[Material]:
    """The materials without duplicates, as in Meta-Judge. Ids that the remaining ones share are problems.

    materials: (place in the file, material); the place is for messages.
    """
    first: dict[tuple[str, str, str], tuple[str, Material]] = {}
    left_out: list[str] = []
    for where, one in materials:
        texts = (one.item.reference, one.item.question, one.context or "")
        key = (same_wording(texts[0]), same_wording(texts[1]), same_wording(texts[2]))
        _, known = first.setdefault(key, (where, one))
        if known is not one:
            left_out.append(f"{shown(one.item.item_id)} (as {shown(known.item.item_id)})")
    places: dict[str, str] = {}
    for where, one in first.values():
        before = places.setdefault(one.item.item_id, where)
        if before != where:
            findings.problems.append(
                f"{where}, {place(question=one.item.item_id)}: another question has the same id, in {before}"
            )
    kept = [one for _, one in first.values()]
    if left_out:
        more = "" if len(left_out) <= MOST_NAMED else f" and {len(left_out) - MOST_NAMED} more"
        findings.notes.append(
            f"left out, because an earlier question has the same question, reference and context: "
            f"{', '.join(left_out[:MOST_NAMED])}{more}"
        )
    return kept


LONG_COLUMNS = (
    "item_id",
    "question",
    "reference",
    "language",
    "level",
    "source",
    "text",
    "context",
    "origin",
    "reason",
)
"""The first seven are the columns of a data set's long table."""
RUN_LABELS = ("dataset", "generator", "prompt", "shots")
"""Optional further columns: labels of the run, to group scores of the texts by."""
_NO_LABELS: Mapping[str, str] = {}
META_JUDGE_KEYS = (
    "id",
    "item_id",
    "question",
    "context",
    "reference",
    "damage_level",
    "text",
    "language",
    "source",
)


@dataclass(frozen=True)
class GeneratedText:
    """One generated level of one item."""

    item_id: str
    level: str
    source: str
    text: str | None
    """None if generation failed; `reason` says why."""
    origin: str = ""
    """How the text was made: `llm`, `paraphrase`, `verbatim`, or the names of rules."""
    reason: str = ""


def output_id(item_id: str, level: str) -> str:
    """The id of one damaged text, as in Meta-Judge's data: `ITEM_levelL`."""
    return f"{item_id}_level{level}"


def long_rows(
    materials: Sequence[Material], texts: Iterable[GeneratedText], labels: Mapping[str, str] = _NO_LABELS
) -> Iterator[dict[str, Any]]:
    """Yield a dictionary for each level, with the keys LONG_COLUMNS and the labels' names; unknown values are None."""
    for material, made in _pair_with_material(materials, texts):
        item = material.item
        yield {
            "item_id": item.item_id,
            "question": item.question,
            "reference": item.reference,
            "language": item.language,
            "level": made.level,
            "source": made.source,
            "text": made.text,
            "context": material.context,
            "origin": made.origin or None,
            "reason": made.reason or None,
            **labels,
        }


def long_csv(
    materials: Sequence[Material], texts: Iterable[GeneratedText], labels: Mapping[str, str] = _NO_LABELS
) -> bytes:
    """The texts as UTF-8 CSV. A text that a spreadsheet would run as a formula starts with an apostrophe."""
    return csv_bytes([*LONG_COLUMNS, *labels], long_rows(materials, texts, labels))


def long_jsonl(
    materials: Sequence[Material], texts: Iterable[GeneratedText], labels: Mapping[str, str] = _NO_LABELS
) -> bytes:
    """The same rows as JSONL with unchanged texts: the format to read back."""
    return jsonl_bytes(long_rows(materials, texts, labels))


def meta_judge_jsonl(materials: Sequence[Material], texts: Iterable[GeneratedText]) -> bytes:
    """The damaged texts as JSONL, one object with the keys META_JUDGE_KEYS each; levels without a text are left out."""
    return jsonl_bytes(_meta_judge_rows(materials, texts))


def _meta_judge_rows(
    materials: Sequence[Material], texts: Iterable[GeneratedText]
) -> Iterator[dict[str, Any]]:
    for material, made in _pair_with_material(materials, texts):
        if not (made.level.isascii() and made.level.isdigit()):
            raise InputError(
                f"Level {made.level} is not a damage level: Meta-Judge's file has levels 0 to 5. "
                "Write levels A0 to A4 as Factual's JSON or as a long table."
            )
        if made.text is None:
            continue
        item = material.item
        yield {
            "id": output_id(item.item_id, made.level),
            "item_id": item.item_id,
            "question": item.question,
            "context": material.context,
            "reference": item.reference,
            "damage_level": int(made.level),
            "text": made.text,
            "language": item.language,
            "source": made.source,
        }


def _pair_with_material(
    materials: Sequence[Material], texts: Iterable[GeneratedText]
) -> Iterator[tuple[Material, GeneratedText]]:
    known = {material.item.item_id: material for material in materials}
    for made in texts:
        if made.item_id not in known:
            raise InputError(f"Question {shown(made.item_id)}: the texts name it, but the questions lack it")
        yield known[made.item_id], made
