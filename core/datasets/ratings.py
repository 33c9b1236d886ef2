"""Human ratings, in: CSV, JSONL or a JSON list; one row a rating, a column a dimension, or nested (`rating_shapes`)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.datasets.cells import is_nothing, is_undefined, label_of, number_in, number_problem
from core.datasets.findings import FileFindings
from core.datasets.level_names import with_item_level
from core.datasets.open_tables import Record, labels_among, names_in, open_records, repeated, require
from core.datasets.rating_shapes import OVERALL, one_rating_a_row
from core.datasets.reading import (
    decode,
    name_problem,
    printable_text,
    reject,
    sha256_of,
)
from core.datasets.scorable import COLUMNS as TEXT_COLUMNS
from core.datasets.scorable import NO_LABELS
from core.datasets.span_cells import spans_in
from core.schema.scores import Rating, RatingSet

COLUMNS: Mapping[str, Sequence[str]] = {
    **TEXT_COLUMNS,
    "rater": ("rater", "rater_id", "annotator", "annotator_id", "user", "user_id", "evaluator"),
    "score": ("score", "rating", "value"),
    "dimension": ("dimension", "criterion", "aspect"),
    "spans": ("spans",),
}
"""Our name -> the names that a file may use. The texts themselves may stand beside the ratings; they are not read."""
NEEDED = ("item_id", "score")
UNUSED = ("text", "reference", "question", "context", "source", "reason", *NO_LABELS)
SCORES = frozenset({"metric", "metric_name"})
"""Columns of a table of scores."""
NO_RATING = "no rating"


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    rating: Rating


def read_ratings(data: bytes, file_name: str, *, lower_is_better: bool = False) -> RatingSet:
    """The ratings of a file; InputError holds every problem.

    lower_is_better: of the file's scale; the sign of every score is turned, so that higher is better. Any number of
    raters may rate a text, the same one only once on each dimension. A row without a score is left out and counted.
    """
    findings = FileFindings(file_name, sha256_of(data))
    keys, columns, records = open_records(decode(data, file_name), COLUMNS, findings)
    is_scores = bool(SCORES & {key.strip().lower() for key in keys})
    shaped = records if is_scores else one_rating_a_row(records, [*COLUMNS, *UNUSED], findings)
    found = (*columns.values(), *(() if shaped is records else ("score",)))
    require(found, {column: COLUMNS[column] for column in NEEDED}, keys, file_name)
    if is_scores:
        reject(file_name, ["file: it has a column metric: it holds scores of metrics, not ratings by people"])
    left_out: Counter[str] = Counter()
    rows = _rows(with_item_level([*shaped]), lower_is_better, left_out, findings)
    known = ((_key(row.rating), row.where) for row in rows if row.rating.rater is not None)
    repeated(known, "the same rater, text and dimension", findings)
    if not rows and not findings.problems:
        findings.problems.append("file: no row holds a rating; at least one is needed")
    if findings.problems:
        reject(file_name, findings.problems)
    if lower_is_better:
        findings.notes.append("signs were turned, because lower is better in the file")
    _note_unnamed([row.rating for row in rows], findings)
    return RatingSet(
        tuple(row.rating for row in rows),
        findings.sha256,
        printable_text(file_name),
        tuple(findings.notes),
        dict(left_out),
    )


def _rows(
    records: Sequence[Record], lower_is_better: bool, left_out: Counter[str], findings: FileFindings
) -> list[_Row]:
    keys = dict.fromkeys(key for record in records for key in record.cells)
    others = [key for key in keys if key in UNUSED or key not in COLUMNS]
    labels = labels_among(others, UNUSED, records, findings)
    if any(isinstance(record.cells.get("spans"), str) for record in records):
        findings.notes.append("columns not used: spans, which is no list")
    rows = []
    for record in records:
        names = names_in(record, labels, findings)
        rater, dimension = (optional_name(record, column, findings) for column in ("rater", "dimension"))
        score = _score(record, findings)
        if names is None or score is None:
            continue
        if math.isnan(score):
            left_out[NO_RATING] += 1
            continue
        rating = Rating(
            names.item_id,
            0.0 - score if lower_is_better else score,
            names.system,
            names.level,
            rater,
            dimension or OVERALL,
            names.language,
            names.labels,
            spans_in(_list_of(record), record.where, findings.problems),
        )
        rows.append(_Row(record.where, rating))
    return rows


def _list_of(record: Record) -> object:
    """A row's spans; in a table, whose cells hold no lists, a column of that name means something else."""
    value = record.cells.get("spans")
    return value if isinstance(value, list) else None


def optional_name(record: Record, column: str, findings: FileFindings) -> str | None:
    """A cell as a name; None where it is empty, or after its problem was reported."""
    value = record.cells.get(column)
    if is_nothing(value):
        return None
    found = label_of(value)
    if found is None:
        findings.problems.append(f"{record.where}: {column} {name_problem(value)}")
    return found


def _score(record: Record, findings: FileFindings) -> float | None:
    """The score; NaN where there is none on purpose, None after a problem was reported."""
    value = record.cells.get("score")
    number = number_in(value)
    if number is not None and not math.isinf(number):
        return number
    if is_undefined(value):
        return math.nan
    problem = number_problem(value) if number is None else "is infinite, expected a number"
    findings.problems.append(f"{record.where}: score {problem}")
    return None


def _text_key(rating: Rating) -> tuple[object, ...]:
    labels = tuple(sorted(rating.labels.items()))
    return rating.item_id, rating.system, rating.level, rating.language, labels, rating.dimension


def _key(rating: Rating) -> tuple[object, ...]:
    return rating.rater, *_text_key(rating)


def _note_unnamed(ratings: Sequence[Rating], findings: FileFindings) -> None:
    counts = Counter(_text_key(rating) for rating in ratings if rating.rater is None)
    # A text is one, however many dimensions of it are rated.
    if several := len({key[:-1] for key, count in counts.items() if count > 1}):
        findings.notes.append(
            f"{several} texts have several ratings without a rater's name: taken for different raters'"
        )
