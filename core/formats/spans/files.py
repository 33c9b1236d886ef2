"""Error spans in whatever form a file has them: one reader for all, whose offsets are Assay's when it is done.

FORMATS lists the forms. Of them `*.seg.rating` is read here: system, tab, {"errors": [...]} or None; a system's lines are
items 1, 2, ... Spans count code points of the text, ends are exclusive. Files that count otherwise are read with `units` and `ends`.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import PurePath

from core.errors import InputError
from core.formats import Format
from core.formats.mt_metrics_eval import NOT_RATED, marked_segment
from core.formats.rated import RATINGS, ratings_of, read_rated
from core.formats.ratings import read_ratings
from core.formats.spans.cells import Units
from core.formats.spans.mqm import holds_mqm, read_mqm, score_of
from core.formats.spans.offsets import Ends, Offsets, ReadRating, at_border
from core.formats.spans.rows import COLUMNS, read_span_rows
from core.formats.spans.wmt_qe import holds_wmt_qe, read_wmt_qe
from core.schema.scores import OutputSet, Rating, RatingSet
from core.tables.columns import is_json, named_columns, objects_in
from core.tables.problems import FileFindings
from core.tables.reading import (
    decode,
    name_of,
    name_problem,
    reject,
    sha256_of,
    shown,
)
from core.tables.rows import header_of, is_jsonl

FORMATS = (
    "MQM's TSV (.tsv), mt-metrics-eval's .seg.rating, WMT-QE spans, a row a span (CSV or JSONL with start and end), "
    "ratings as JSONL with spans, or rated texts (JSONL with ratings)"
)
"""What read_span_file accepts, for messages and labels."""
RATING_ENDING = ".seg.rating"
UNRATED = "no errors were marked in it"
"""Ratings of a file that has some with spans and some with scores alone."""


def read_span_file(
    data: bytes,
    file_name: str,
    texts: OutputSet | None = None,
    *,
    units: Units = "code-points",
    ends: Ends = "exclusive",
) -> RatingSet:
    """The ratings of a file with their spans; InputError holds every problem, with its line, system and item.

    texts: what was rated, as it stands (`rated.read_rated`, or an mt-metrics-eval folder): spans are checked against
    it, those that reach beyond the end are cut there, which a note says. Without, against the texts in the file, where
    it has any. units, ends: what the file's offsets count; forms that say it themselves, MQM's TSV and rated texts,
    refuse anything else.
    """
    offsets = Offsets(units, ends)
    text = decode(data, file_name)
    findings = FileFindings(file_name, sha256_of(data))
    whole = _whole(data, text, file_name)
    if whole is not None:
        what, read_whole = whole
        if not offsets.ours and what is not None:
            raise InputError(
                f"{shown(file_name)} holds {what}: leave out units and ends, which it does not need."
            )
        return _of_set(read_whole(data, file_name), texts, offsets, findings)
    left_out: Counter[str] = Counter()
    reader = _reader(text, file_name, left_out)
    if reader is None:
        reject(file_name, [f"file: no error spans are found in it; accepted are {FORMATS}"])
    ratings = at_border(reader(text, findings), texts, offsets, findings)
    if not ratings and not findings.problems:
        findings.problems.append("file: no text is rated in it; at least one is needed")
    return RatingSet(tuple(ratings), *findings.settled(), dict(left_out))


def _of_set(
    ratings: RatingSet, texts: OutputSet | None, offsets: Offsets, findings: FileFindings
) -> RatingSet:
    """Ratings of a reader of its own, at the border; those without spans are counted."""
    marked = [one for one in ratings.ratings if one.spans is not None]
    left_out = Counter(ratings.left_out)
    left_out[UNRATED] += len(ratings.ratings) - len(marked)
    if not marked:
        reject(ratings.file_name, [f"file: it has ratings, but no error spans; accepted are {FORMATS}"])
    settled = at_border([ReadRating(one, _name_of(one)) for one in marked], texts, offsets, findings)
    if findings.problems:
        reject(ratings.file_name, findings.problems)
    return RatingSet(
        tuple(settled),
        ratings.sha256,
        ratings.file_name,
        (*ratings.notes, *findings.notes),
        {reason: n for reason, n in left_out.items() if n},
    )


def _name_of(rating: Rating) -> str:
    return "a rating" if rating.rater is None else f"rater {shown(rating.rater)}"


Whole = Callable[[bytes, str], RatingSet]
Rows = Callable[[str, FileFindings], list[ReadRating]]


def _whole(data: bytes, text: str, file_name: str) -> tuple[str | None, Whole] | None:
    """(what it holds, where its offsets are known, and its reader) of a file that another module reads whole."""
    if holds_mqm(data):
        return "marks in its texts (MQM)", read_mqm
    if not (is_json(text, file_name) or is_jsonl(text, file_name)):
        return None
    keys = {key for one in objects_in(text, file_name) for key in one}
    if RATINGS in keys:
        return "rated texts", lambda data, name: ratings_of(read_rated(data, name))
    return (None, read_ratings) if "spans" in keys else None


def has_reader_here(data: bytes, file_name: str) -> bool:
    """Whether a file has errors in a form that is read here alone: .seg.rating, WMT-QE, a row a span."""
    text = decode(data, file_name)
    return _whole(data, text, file_name) is None and _reader(text, file_name, Counter()) is not None


def _reader(text: str, file_name: str, left_out: Counter[str]) -> Rows | None:
    if PurePath(file_name).name.lower().endswith(RATING_ENDING) or _holds_errors(text):
        return lambda text, findings: _seg_ratings(text, left_out, findings)
    if is_json(text, file_name) or is_jsonl(text, file_name):
        keys = list(dict.fromkeys(key for one in objects_in(text, file_name) for key in one))
    elif holds_wmt_qe(text):
        return read_wmt_qe
    else:
        keys = header_of(text, {name for names in COLUMNS.values() for name in names})
    return read_span_rows if {"start", "end"} & set(named_columns(keys, COLUMNS).values()) else None


def _holds_errors(text: str) -> bool:
    """Whether the first line is a system's errors."""
    _, _, rest = text.split("\n", 1)[0].partition("\t")
    return rest.lstrip().startswith('{"errors"')


def _seg_ratings(text: str, left_out: Counter[str], findings: FileFindings) -> list[ReadRating]:
    """One rating a line that is not None."""
    read: list[ReadRating] = []
    counts: Counter[str] = Counter()
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines, start=1):
        written, tab, rest = line.partition("\t")
        system = name_of(written)
        if not tab or system is None:
            problem = "there is no tab; expected a system, a tab, and its errors or None"
            findings.problems.append(
                f"line {number}: {problem if not tab else f'system {name_problem(written)}'}"
            )
            continue
        counts[system] += 1
        marked = marked_segment(rest, number, None, None, findings.problems)
        if marked.errors is None:
            left_out[NOT_RATED] += 1
            continue
        spans = marked.errors
        rating = Rating(str(counts[system]), score_of(spans), system, rater=marked.rater, spans=spans)
        read.append(ReadRating(rating, f"line {number}"))
    if len(set(counts.values())) > 1:
        fewest, most = min(counts, key=lambda one: counts[one]), max(counts, key=lambda one: counts[one])
        findings.problems.append(
            f"file: system {shown(fewest)} has {counts[fewest]} lines, {shown(most)} has {counts[most]}; every system "
            "has one a segment"
        )
    return read


SEG_RATING = Format(
    "seg_rating",
    "marked errors (mt-metrics-eval), whose weights already count against a text",
    lambda data, file_name: file_name.lower().endswith(RATING_ENDING),
    {"ratings": read_span_file},
)
