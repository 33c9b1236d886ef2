"""Ratings out: a CSV row a text and rater, a CSV row a marked error, JSONL, rated texts. docs/formats.md lists columns."""

import json
from collections import Counter
from typing import Any

from core.datasets.mqm_out import write_mqm
from core.datasets.rated import write_rated
from core.datasets.span_cells import span_row, with_weight
from core.datasets.spreadsheet import csv_bytes
from core.errors import NotAllowed
from core.schema import StudyRecord
from core.schema.tasks import RatingAnswer
from core.study.rating_results import rated_texts_of, task_of

COLUMNS = (
    "study",
    "rater",
    "position",
    "item_id",
    "language",
    "system",
    "level",
    "source",
    "text",
    "scores",
    "spans",
    "no_errors",
    "done",
    "shown_utc",
    "answered_utc",
    "seconds",
    "times_saved",
    "comment",
    "invalid",
    "repeat",
    "dry_run",
    "excluded",
    "app_version",
    "dataset_sha256",
    "design_seed",
)
"""Of the JSONL; the CSV has a column a dimension, `score_NAME`, in place of scores."""
SPAN_COLUMNS = (
    "study",
    "rater",
    "item_id",
    "language",
    "system",
    "level",
    "start",
    "end",
    "quote",
    "severity",
    "category",
    "weight",
    "in_source",
    "repeat",
    "dry_run",
    "invalid",
    "excluded",
)


def rating_rows(record: StudyRecord, *, drafts: bool = False) -> list[dict[str, Any]]:
    """One dictionary with the keys COLUMNS a text and rater; with `drafts` also what was begun and never done."""
    task_of(record)
    look, saves = _LookUp(record), Counter(entry.answer.key for entry in record.rating_history)
    shown = {one.key: one.position for one in record.rating_assignments}
    rows = []
    for answer in record.rating_answers:
        if answer.done or drafts:
            row = {
                **look.names(answer),
                "position": shown.get(answer.key),
                "source": look.items[answer.item_id].question,
                "text": look.texts[answer.item_id, answer.level, answer.source],
                "scores": dict(answer.scores),
                "spans": [span_row(with_weight(span)) for span in answer.spans],
                "no_errors": answer.no_errors,
                "done": answer.done,
                "shown_utc": answer.shown_utc,
                "answered_utc": answer.answered_utc,
                "seconds": answer.seconds,
                "times_saved": saves[answer.key],
                "comment": answer.comment,
                "app_version": answer.app_version,
                "dataset_sha256": record.study.dataset_sha256,
                "design_seed": record.study.design.seed,
            }
            rows.append({name: row[name] for name in COLUMNS})
    return rows


def span_rows(record: StudyRecord) -> list[dict[str, Any]]:
    """One dictionary with the keys SPAN_COLUMNS a marked error; offsets in code points, end exclusive."""
    task_of(record)
    look = _LookUp(record)
    rows = []
    for answer in record.rating_answers:
        for span in answer.spans if answer.done else ():
            text = look.texts[answer.item_id, answer.level, answer.source]
            marked = look.items[answer.item_id].question if span.in_source else text
            row = {
                **look.names(answer),
                "start": span.start,
                "end": span.end,
                "quote": marked[span.start : span.end],
                "severity": span.severity,
                "category": span.category,
                "weight": with_weight(span).weight,
                "in_source": span.in_source,
            }
            rows.append({name: row[name] for name in SPAN_COLUMNS})
    return rows


def ratings_csv(record: StudyRecord) -> bytes:
    """UTF-8 CSV, one row a text and rater, a column a dimension; spans as JSON in one cell."""
    names = {one.name: f"score_{one.name}" for one in task_of(record).dimensions}
    at = COLUMNS.index("scores")
    columns = (*COLUMNS[:at], *names.values(), *COLUMNS[at + 1 :])
    rows = []
    for row in rating_rows(record):
        scores = row.pop("scores")
        row["spans"] = json.dumps(row["spans"], ensure_ascii=False)
        rows.append({**row, **{column: scores.get(name) for name, column in names.items()}})
    return csv_bytes(columns, rows)


def spans_csv(record: StudyRecord) -> bytes:
    """UTF-8 CSV, one row a marked error of a text that is done."""
    return csv_bytes(SPAN_COLUMNS, span_rows(record))


def ratings_jsonl(record: StudyRecord) -> bytes:
    """One JSON object a text and rater, texts untouched; what was begun and never done is in here too."""
    rows = rating_rows(record, drafts=True)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def rated_jsonl(record: StudyRecord) -> bytes:
    """Every text with the ratings that count, as core.datasets.rated reads it: what judges take examples from."""
    return write_rated(rated_texts_of(record))


def mqm_tsv(record: StudyRecord) -> bytes:
    """Marked errors that count as the MQM TSV of translation campaigns. Raises InputError where its form cannot say them.

    Raises NotAllowed for a task that marks no errors.
    """
    if task_of(record).spans is None:
        raise NotAllowed(
            f"In study {record.study.name!r} no errors were marked: there is nothing to write as MQM."
        )
    return write_mqm(rated_texts_of(record))


class _LookUp:
    """Texts, items and raters of a record, by name."""

    def __init__(self, record: StudyRecord) -> None:
        self.study = record.study.name
        self.items = {item.item_id: item for item in record.items}
        self.texts = {(o.item_id, o.level, o.source): o.text for o in record.outputs}
        self.raters = {rater.rater_id: rater for rater in record.raters}

    def names(self, answer: RatingAnswer) -> dict[str, Any]:
        """Whose answer it is, about what, and what speaks against counting it."""
        rater = self.raters[answer.rater_id]
        return {
            "study": self.study,
            "rater": answer.rater_id,
            "item_id": answer.item_id,
            "language": self.items[answer.item_id].language,
            "system": answer.source,
            "level": answer.level,
            "invalid": answer.invalid,
            "repeat": answer.repeat,
            "dry_run": rater.dry_run,
            "excluded": rater.excluded,
        }
