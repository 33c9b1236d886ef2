"""Read and write error spans, one a row (CSV, JSONL, Parquet or a JSON list); convert any file's offsets to Assay's.

Columns: item_id, system, level, language, rater, dimension, score, start, end, severity, category, weight, in_source;
all others are labels. A row with an empty start means that the rater found no error in the text.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal

from core.formats.ratings import OVERALL, UNUSED, TextFinder, optional_name, read_ratings
from core.formats.scores import label_column
from core.formats.spans.cells import SPAN_FIELDS, Clipping, Units, score_in, span_of, span_row
from core.formats.spans.mqm import is_no_error
from core.schema.scores import ErrorSpan, OutputSet, Rating, RatingSet, ScorableOutput
from core.tables.columns import (
    WRITTEN_AS_LABELS,
    Record,
    Rows,
    jsonl_bytes,
    known_at,
    labels_among,
    names_in,
    needed_at,
    repeated,
    require,
)
from core.tables.containers import table_rows
from core.tables.problems import FileFindings
from core.tables.reading import is_nothing, is_undefined, number_in, reject, shown
from core.tables.writer import csv_bytes

Ends = Literal["exclusive", "inclusive"]
"""Whether an end is the position after a span's last character, or of that character."""
ENDS: tuple[Ends, ...] = ("exclusive", "inclusive")
LAST_OF_BMP = 0xFFFF


@dataclass(frozen=True)
class Offsets:
    """The meaning of a file's offsets."""

    units: Units = "code-points"
    ends: Ends = "exclusive"


@dataclass(frozen=True)
class ReadRating:
    """A rating from a file, with spans in the file's offsets."""

    rating: Rating
    where: str
    """Its place for messages: `line 7`."""
    places: tuple[str, ...] = ()
    """The place of each span, if it differs from the rating's."""
    text: str | None = None
    """The rated text, if the file has it."""
    source: str | None = None
    without_place: frozenset[int] = frozenset()
    """Numbers, from 0, of spans without offsets in the file; the reader sets them to 0, 0, and they stay so."""

    def place(self, number: int) -> str:
        """The place of a span for messages. number: from 0."""
        return self.places[number] if self.places else f"{self.where}, span {number + 1}"


def settle_offsets(
    read: Sequence[ReadRating], texts: OutputSet | None, offsets: Offsets, findings: FileFindings
) -> list[Rating]:
    """The ratings with spans in code points and exclusive ends, checked against their texts.

    texts: the rated texts; None takes the texts in the file. A span that ends beyond its text is cut there, with a
    note; one that begins beyond the end, or inside a character, is a problem. Spans of an unknown text stay unchanged,
    but are a problem if offsets are in UTF-16.
    """
    finder = None if texts is None else TextFinder(texts.outputs, [one.rating for one in read])
    clipping, unknown, ratings = Clipping(), 0, []
    for one in read:
        output = _text_of(one, texts, finder)
        unknown += bool(one.rating.spans) and output is None and texts is not None
        spans = one.rating.spans
        if spans is not None:
            found = [
                span
                if number in one.without_place
                else _settled(
                    span, output, offsets, f"{one.place(number)}{_called(one.rating)}", clipping, findings
                )
                for number, span in enumerate(spans)
            ]
            spans = tuple(span for span in found if span is not None)
        ratings.append(replace(one.rating, spans=spans))
    findings.notes += clipping.notes()
    if unknown:
        findings.notes.append(f"{unknown} ratings have no matching text: their spans are not checked")
    return ratings


def code_point(text: str, units: int) -> int | None:
    """The code point at an offset in UTF-16 units; None if it is inside a surrogate pair.

    An offset beyond the end stays as far beyond the end.
    """
    sizes = list(accumulate((1 + (ord(char) > LAST_OF_BMP) for char in text), initial=0))
    if units > sizes[-1]:
        return len(text) + units - sizes[-1]
    return {size: place for place, size in enumerate(sizes)}.get(units)


def _text_of(one: ReadRating, texts: OutputSet | None, finder: TextFinder | None) -> ScorableOutput | None:
    if finder is not None and texts is not None:
        places = finder.places(one.rating)
        return texts.outputs[places[0]] if len(places) == 1 else None
    if one.text is None:
        return None
    return ScorableOutput(one.rating.item_id, one.rating.system or "", one.text, source=one.source)


def _settled(
    span: ErrorSpan,
    output: ScorableOutput | None,
    offsets: Offsets,
    where: str,
    clipping: Clipping,
    findings: FileFindings,
) -> ErrorSpan | None:
    """The span in Assay's offsets; None if it has a problem, which is added to the findings."""
    if offsets.ends == "inclusive":
        span = replace(span, end=span.end + 1)
    text = None if output is None else output.source if span.in_source else output.text
    if offsets.units == "utf-16":
        if text is None:
            findings.problems.append(
                f"{where}: offsets in UTF-16 units need the text; give the texts as well as the spans"
            )
            return None
        start, end = code_point(text, span.start), code_point(text, span.end)
        if start is None or end is None:
            findings.problems.append(
                f"{where}: {span.start} to {span.end} in UTF-16 units begins or ends inside a character"
            )
            return None
        span = replace(span, start=start, end=end)
    known = findings.problems.n
    if output is not None:
        span = clipping.checked(span, output, where, findings.problems)
    return span if findings.problems.n == known else None


def _called(rating: Rating) -> str:
    system = "" if rating.system is None else f", system {shown(rating.system)}"
    return f"{system}, item {shown(rating.item_id)}"


COLUMNS = known_at("spans")
NEEDED = needed_at("spans")
NO_CATEGORY = "other"
"""The category of errors in a file without categories."""
_UNUSED = tuple(name for name in UNUSED if name not in ("text", "source", "context"))
_TAKEN = frozenset(
    {*COLUMNS, *(name for names in COLUMNS.values() for name in names), *UNUSED} - WRITTEN_AS_LABELS
)


FORMS = (
    "MQM's TSV (.tsv), mt-metrics-eval's .seg.rating, WMT-QE spans, a row a span (CSV or JSONL with start and end), "
    "ratings as JSONL with spans, or rated texts (JSONL with ratings)"
)
"""Formats of marked errors, for messages."""
UNMARKED = "errors were not marked"
"""Why ratings are left out of a file that has some with spans and some with scores alone."""


def is_span_table(data: bytes, file_name: str, rows: Rows) -> bool:
    """Whether a table has one row for each span. Raises InputError if the file is not a table."""
    _, columns, _, lists = rows(data, COLUMNS, FileFindings(file_name, ""))
    there = set(columns.values())
    return bool({"start", "end"} & there) and not (lists and "spans" in there)


def read_span_table(
    data: bytes, findings: FileFindings, left_out: Counter[str], rows: Rows = table_rows
) -> list[ReadRating]:
    """Read the ratings of a table with a row for each span, or with a list of spans for each rating.

    Adds problems to the findings. Spans stay in the file's offsets.
    """
    keys, columns, records, lists = rows(data, COLUMNS, findings)
    if lists and "spans" in columns.values():
        return marked_among(read_ratings(data, findings.file_name, rows=rows), findings, left_out)
    if not {"start", "end"} & set(columns.values()):
        reject(findings.file_name, [f"file: contains no error spans; expected {FORMS}"])
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


def marked_among(ratings: RatingSet, findings: FileFindings, left_out: Counter[str]) -> list[ReadRating]:
    """The ratings of a file that have spans; the others are counted. Raises InputError if none has."""
    marked = [one for one in ratings.ratings if one.spans is not None]
    if not marked:
        reject(ratings.file_name, [f"file: contains ratings, but no error spans; expected {FORMS}"])
    findings.notes += (note for note in ratings.notes if note not in findings.notes)
    left_out.update({**ratings.left_out, UNMARKED: len(ratings.ratings) - len(marked)})
    return [
        ReadRating(one, "a rating" if one.rater is None else f"rater {shown(one.rater)}") for one in marked
    ]


def span_columns(ratings: RatingSet) -> list[str]:
    """The header of the ratings' table with one row for each span."""
    labels = dict.fromkeys(_label(key) for one in ratings.ratings for key in one.labels)
    names = ("item_id", "system", "level", "language", "rater", "dimension", "score")
    return [*labels, *names, *SPAN_FIELDS]


def write_span_rows_csv(ratings: RatingSet) -> bytes:
    """The ratings as CSV, one row for each span, and one for a text without errors.

    read_span_table restores equal ratings. Ratings without marked errors are left out.
    """
    return csv_bytes(span_columns(ratings), _rows(ratings))


def write_span_rows_jsonl(ratings: RatingSet) -> bytes:
    """The same rows as JSONL; unknown values are left out, except in columns that a reader requires."""
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
    """The rating in a group of rows; None if it has problems, which are added to the findings."""
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
        clean,
        f"the same text (item {shown(rating.item_id)}) and rater without an error",
        findings,
    )
    if clean and len(rows) > len(clean):
        findings.problems.append(
            f"{clean[0][1]}: marks no error, but {places[0] if places else 'another row'} marks one for the same rater"
        )
    scores = {_written_score(one) for one, _ in rows}
    if len(scores) > 1:
        findings.problems.append(
            f"{record.where}: rows of one text and rater have different scores; expected one"
        )
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
    """Whether a row states that the text has no error."""
    category, severity = (str(cells.get(name) or "") for name in ("category", "severity"))
    if is_no_error(category, severity):
        return True
    return all(is_nothing(cells.get(name)) for name in ("start", "end", "severity"))


def _written_score(record: Record) -> float | str | None:
    """The score as a number, so that 5 and 5.0 are equal; None if the cell is empty, null or missing."""
    value = record.cells.get("score")
    if is_undefined(value):
        return None
    number = number_in(value)
    return str(value).strip() if number is None else number


def _text(record: Record, name: str) -> str | None:
    value = record.cells.get(name)
    return value if isinstance(value, str) and value else None
