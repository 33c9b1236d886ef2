"""Error spans, one a row, as CSV, JSONL or a JSON list: the long form, in and out.

Columns: item_id, system, level, language, rater, dimension, score, start, end, severity, category, weight, in_source;
all others are labels. A row with an empty start says that the rater found no error in the text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.formats.ratings import OVERALL, UNUSED, optional_name
from core.formats.scores import label_column
from core.formats.spans.cells import SPAN_FIELDS, score_in, span_of, span_row
from core.formats.spans.mqm import is_no_error
from core.formats.spans.offsets import ReadRating
from core.schema.scores import ErrorSpan, Rating, RatingSet
from core.tables.cells import is_nothing, is_undefined, number_in
from core.tables.columns import (
    Record,
    known_at,
    labels_among,
    names_in,
    needed_at,
    open_records,
    repeated,
    require,
)
from core.tables.problems import FileFindings
from core.tables.reading import shown
from core.tables.rows import jsonl_bytes
from core.tables.writer import csv_bytes

COLUMNS = known_at("spans")
NEEDED = needed_at("spans")
NO_CATEGORY = "other"
"""What an error is called in a file that has no categories."""
_UNUSED = tuple(name for name in UNUSED if name not in ("text", "source", "context"))
_TAKEN = frozenset({*COLUMNS, *(name for names in COLUMNS.values() for name in names), *UNUSED})


def read_span_rows(text: str, findings: FileFindings) -> list[ReadRating]:
    """The ratings of a file with a row a span; problems go to the findings. Spans are as the file has them."""
    keys, columns, records, _ = open_records(text, COLUMNS, findings)
    require(columns.values(), NEEDED, keys, findings.file_name)
    known = {*COLUMNS, "text", "source", "context"} - set(_UNUSED)
    labels = labels_among(
        [key for key in dict.fromkeys(key for one in records for key in one.cells) if key not in known],
        _UNUSED,
        records,
        findings,
    )
    grouped: dict[tuple[object, ...], list[tuple[Record, Rating]]] = {}
    for record in records:
        rating = _rating(record, labels, findings)
        if rating is not None:
            names = (rating.item_id, rating.system, rating.level, rating.language, rating.dimension)
            key = (*names, rating.rater, tuple(sorted(rating.labels.items())))
            grouped.setdefault(key, []).append((record, rating))
    return [
        found for rows in grouped.values() if (found := _read(rows, "category" in columns.values(), findings))
    ]


def span_columns(ratings: RatingSet) -> list[str]:
    """The header of the long form of some ratings."""
    labels = dict.fromkeys(_label(key) for one in ratings.ratings for key in one.labels)
    names = ("item_id", "system", "level", "language", "rater", "dimension", "score")
    return [*labels, *names, *SPAN_FIELDS]


def write_span_rows_csv(ratings: RatingSet) -> bytes:
    """One row a span, and one for a text without errors; read_span_rows reads it to equal ratings.

    Ratings whose errors were not marked are not in the file.
    """
    return csv_bytes(span_columns(ratings), _rows(ratings))


def write_span_rows_jsonl(ratings: RatingSet) -> bytes:
    """The same, one JSON object a line; what is not known is left out, but for the columns that a reader looks for."""
    return jsonl_bytes(
        {name: value for name, value in row.items() if value is not None or name in NEEDED}
        for row in _rows(ratings)
    )


def _rows(ratings: RatingSet) -> Iterable[dict[str, Any]]:
    for one in ratings.ratings:
        row: dict[str, Any] = {
            **{_label(key): value for key, value in one.labels.items()},
            "item_id": one.item_id,
            "system": one.system,
            "level": one.level,
            "language": None if one.language == "und" else one.language,
            "rater": one.rater,
            "dimension": one.dimension,
            "score": one.score,
        }
        if one.spans is not None:
            empty: list[dict[str, Any]] = [{"start": None, "end": None, "severity": None, "category": None}]
            yield from (row | span for span in ([span_row(span) for span in one.spans] or empty))


def _label(key: str) -> str:
    return label_column(key, (), _TAKEN - {"language_pair"}, wide=False)


def _rating(record: Record, labels: Sequence[str], findings: FileFindings) -> Rating | None:
    names = names_in(record, labels, findings)
    rater, dimension = (optional_name(record, column, findings) for column in ("rater", "dimension"))
    if names is None:
        return None
    return Rating(
        names.item_id,
        0.0,
        names.system,
        names.level,
        rater,
        dimension or OVERALL,
        names.language,
        names.labels,
    )


def _read(
    rows: Sequence[tuple[Record, Rating]], categories: bool, findings: FileFindings
) -> ReadRating | None:
    """The rows of one rating together; None after its problems were reported."""
    known = findings.problems.n
    record, rating = rows[0]
    spans: list[ErrorSpan] = []
    places: list[str] = []
    for one, _ in rows:
        cells = dict(one.cells)
        if _is_clean(cells):
            continue
        if not categories:
            cells["category"] = NO_CATEGORY
        span = span_of(cells, one.where, findings.problems)
        if span is not None:
            spans.append(span)
            places.append(one.where)
    clean = [
        (("no error", *key), one.where) for one, key in ((one, ()) for one, _ in rows) if _is_clean(one.cells)
    ]
    repeated(
        clean, f"the same text and rater, item {shown(rating.item_id)}, is said to have no error", findings
    )
    if clean and len(rows) > len(clean):
        findings.problems.append(
            f"{clean[0][1]}: says that there is no error, but {places[0] if places else 'another row'} marks one"
        )
    scores = {_score_said(one) for one, _ in rows}
    if len(scores) > 1:
        findings.problems.append(f"{record.where}: the score differs between the rows of one text and rater")
    if findings.problems.n > known:
        return None
    score = score_in(record.cells.get("score"), spans, record.where, findings.problems)
    if score is None:
        return None
    return ReadRating(
        replace(rating, score=score, spans=tuple(spans)),
        record.where,
        tuple(places),
        _text(record, "text"),
        _text(record, "context") or _text(record, "source"),
    )


def _is_clean(cells: Mapping[str, object]) -> bool:
    """Whether a row says that there is no error."""
    said = [str(cells.get(name) or "") for name in ("category", "severity")]
    if is_no_error(said[0], said[1]):
        return True
    return all(is_nothing(cells.get(name)) for name in ("start", "end", "severity"))


def _score_said(record: Record) -> float | str | None:
    """The score as a number: 5 and 5.0 are one; None where nothing is said, whether empty, null or without a cell."""
    value = record.cells.get("score")
    if is_undefined(value):
        return None
    number = number_in(value)
    return str(value).strip() if number is None else number


def _text(record: Record, name: str) -> str | None:
    value = record.cells.get(name)
    return value if isinstance(value, str) and value else None
