"""The results of judges as files: scores as any metric's, every record, and a table of what was said."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.analysis.judged_spans import ratings_of_judge
from core.datasets.judge_records import RECORDS_FILE, marked_file, question_file, write_records
from core.datasets.span_rows import write_span_rows_csv
from core.datasets.spreadsheet import csv_bytes
from core.errors import InputError
from core.runs.judge_results import answer_set, judge_output, marked_texts_of
from core.runs.rated_outputs import ERROR_COLUMNS, SCORE_COLUMNS, rated_details
from core.runs.report import report_file
from core.runs.score_outputs import score_tables
from core.schema import Run, RunKind
from core.schema.judges import (
    CefRecord,
    ClaimsRecord,
    CrossQuestion,
    JudgedText,
    JudgeOutput,
    MarkedText,
    QuestionSet,
    RubricRecord,
)
from core.schema.scores import ScoredRow
from core.store import Store

SPANS_FILE = "spans.csv"
ABOUT = ("item", "system", "level", "language", "labels")
DETAIL_COLUMNS = (
    *ABOUT,
    "what",
    "side",
    "repeat",
    "text",
    "expected",
    "verdict",
    "again",
    "why",
    "reason",
)
"""what: trial, claim, question, or a step that failed; side: the order of a trial, response or reference of a claim,
source or text of a question; verdict: of a trial the score, of a claim yes or no, of a question YES, NO or IDK."""
_OTHER_DETAILS: Mapping[RunKind, tuple[str, ...]] = {
    "automqm": (*ABOUT, *ERROR_COLUMNS),
    "direct": (*ABOUT, *SCORE_COLUMNS),
    "quality": (*ABOUT, *SCORE_COLUMNS),
}
ANSWER_COLUMNS = (*ABOUT, "side", "author", "text", "expected", "verdict", "reason")
ALIGNMENT_COLUMNS = (*ABOUT, "category", "severity", "error", "found", "why", "reason", "mismatches")


def judge_files(store: Store, run: Run) -> dict[str, bytes]:
    """File name -> content, as far as the run is.

    scores.csv (and scores.parquet where its library is there) as of any metric; records.jsonl holds all that was
    said and can be read again; details.csv has a row a trial, claim, question, error or score; run.json settings and
    cost. Of a judge that marks errors, spans.csv has a row an error as `core.datasets.span_rows` reads it.
    """
    output = judge_output(store, run)
    texts = output.texts
    details = (_about(text.row) | row for text in texts for row in _details(text))
    columns = _OTHER_DETAILS.get(run.kind, DETAIL_COLUMNS)
    said = {RECORDS_FILE: write_records(texts), "details.csv": csv_bytes(columns, details)}
    if run.kind == "automqm" and (spans := _spans(output)) is not None:
        said[SPANS_FILE] = spans
    return score_tables(store, run) | said | report_file(store, run)


def _spans(output: JudgeOutput) -> bytes | None:
    """The errors as a row a span, as people's can be given too; None where no text has been answered of."""
    try:
        return write_span_rows_csv(ratings_of_judge(output))
    except InputError:
        return None


def check_files(store: Store, run: Run) -> dict[str, bytes]:
    """File name -> content of a run of answers or of alignment, as far as it is."""
    if run.kind == "answers":
        sets = answer_set(store, run).sets
        files = {
            RECORDS_FILE: question_file(sets),
            "answers.csv": csv_bytes(ANSWER_COLUMNS, _answer_rows(sets)),
        }
    else:
        texts = marked_texts_of(store, run)
        files = {
            RECORDS_FILE: marked_file(texts),
            "alignment.csv": csv_bytes(ALIGNMENT_COLUMNS, _error_rows(texts)),
        }
    return files | report_file(store, run)


def _about(row: ScoredRow) -> dict[str, Any]:
    labels = json.dumps(dict(row.labels), ensure_ascii=False, sort_keys=True) if row.labels else None
    names = (row.item_id, row.system, row.level, row.language, labels)
    return dict(zip(ABOUT, names, strict=True))


def _yes_or_no(verdict: bool | None) -> str | None:
    """A cell; empty where there is no verdict."""
    return None if verdict is None else "yes" if verdict else "no"


def _details(text: JudgedText) -> Iterator[dict[str, Any]]:
    record = text.record
    if isinstance(record, RubricRecord):
        for trial in record.trials:
            yield {
                "what": "trial",
                "side": trial.order,
                "repeat": trial.repeat,
                "verdict": trial.verdict,
                "why": trial.feedback or trial.detail,
                "reason": trial.reason,
            }
    elif isinstance(record, ClaimsRecord):
        yield from _claims(record)
    elif isinstance(record, CefRecord):
        yield from _questions(record)
    else:
        yield from rated_details(record)


def _claims(record: ClaimsRecord) -> Iterator[dict[str, Any]]:
    for side, claims in (("response", record.response), ("reference", record.reference)):
        for claim in claims or ():
            yield {
                "what": "claim",
                "side": side,
                "text": claim.text,
                "verdict": _yes_or_no(claim.supported),
                "why": claim.why,
                "reason": claim.reason,
            }
    yield from _failed(record.reasons)


def _questions(record: CefRecord) -> Iterator[dict[str, Any]]:
    for examination in record.examinations:
        repeat = {"repeat": examination.repeat}
        for side, questions in (("source", examination.from_source), ("text", examination.from_text)):
            for question in questions or ():
                yield {"what": "question", "side": side, **repeat, **_question(question)}
        yield from (row | repeat for row in _failed(examination.reasons))


def _question(question: CrossQuestion) -> dict[str, Any]:
    return {
        "text": question.text,
        "expected": question.expected,
        "verdict": question.answer,
        "again": question.again,
        "why": question.said,
        "reason": question.reason or question.again_reason,
    }


def _failed(reasons: Iterable[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    for step, reason in reasons:
        yield {"what": f"step: {step}", "reason": reason}


def _answer_rows(sets: Iterable[QuestionSet]) -> Iterator[dict[str, Any]]:
    for one in sets:
        for question in one.questions:
            said = {
                "text": question.text,
                "expected": question.expected,
                "verdict": question.answer,
                "reason": question.reason,
            }
            yield _about(one.row) | {"side": one.side, "author": one.author} | said


def _error_rows(texts: Iterable[MarkedText]) -> Iterator[dict[str, Any]]:
    for text in texts:
        for error in text.errors:
            yield _about(text.row) | {
                "category": error.category,
                "severity": error.severity,
                "error": error.quote,
                "found": _yes_or_no(error.found),
                "why": error.why,
                "reason": error.reason,
                "mismatches": len(text.mismatches),
            }
