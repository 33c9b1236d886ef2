"""All formats, and what each door reads of a file whatever its form: a format is its own file and its line in FORMATS."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.errors import InputError
from core.formats import (
    Format,
    Gives,
    cef,
    generation,
    metal,
    mt_metrics_eval,
    rated,
    ratings,
    scorable,
    scores,
    study_tables,
    trutheval,
)
from core.formats.spans import mqm, wmt_qe
from core.formats.spans.cells import Units
from core.formats.spans.rows import Ends, Offsets, at_border, is_span_table, marked_among, read_span_table
from core.schema.scores import OutputSet, RatedSet, RatingSet, ScoreTable
from core.schema.study import MaterialSet
from core.tables.columns import table_rows
from core.tables.problems import FileFindings
from core.tables.reading import sha256_of, shown

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        trutheval.FORMAT,
        scores.PARQUET,
        cef.FORMAT,
        metal.FORMAT,
        mqm.FORMAT,
        mt_metrics_eval.SEG_RATING,
        mt_metrics_eval.SEG_SCORE,
        rated.FORMAT,
        wmt_qe.FORMAT,
    )
}
"""The first one that knows a file reads it."""
TABLE = Format("table", "a table", lambda data, file_name: True, rows=table_rows)
"""What no other format knows: CSV, JSONL, or a JSON list of objects."""
Found = TypeVar("Found")


def format_of(gives: Gives, data: bytes, file_name: str) -> Format:
    """The format of a file, among those that give what is wanted."""
    there = (one for one in FORMATS.values() if gives in one.gives and one.sniff(data, file_name))
    return next(there, TABLE)


@dataclass(frozen=True)
class Door(Generic[Found]):
    """Reads one thing of a file of any format that gives it. Calling it raises InputError with every problem."""

    gives: Gives
    of_rows: Callable[..., Found]
    """Reads it of a table."""

    def __call__(self, data: bytes, file_name: str, **asked: Any) -> Found:
        """What the file holds. asked: keywords of the reader."""
        found = format_of(self.gives, data, file_name)
        if (own := found.read.get(self.gives)) is not None:
            read: Found = own(data, file_name, **asked)
            return read
        return self.of_rows(data, file_name, rows=found.rows, **asked)


read_study = Door[study_tables.DatasetBuilder]("study", study_tables.collect_tabular)
"""A study's texts, before it is asked whether they are a whole data set."""
read_questions = Door[MaterialSet]("questions", generation.read_questions)
"""Questions and references, from which answers are made. task=TASK: what the references are; asks for its context."""
read_texts = Door[OutputSet]("texts", scorable.read_outputs)
"""Texts to be scored or rated."""
read_rated = Door[RatedSet]("rated", rated.read_rated)
"""Texts, with what people said of them where the file has it."""
read_scores = Door[ScoreTable]("scores", scores.read_scores)
"""Scores of metrics."""
_read_ratings = Door[RatingSet]("ratings", ratings.read_ratings)


def read_ratings(
    data: bytes, file_name: str, *, lower_is_better: bool = False, flip: Collection[str] = ()
) -> RatingSet:
    """Ratings by people. Raises InputError.

    lower_is_better: of a table; other formats have their direction. flip: dimensions of METAL's JSON in which 1 is bad.
    """
    found = format_of("ratings", data, file_name)
    _check_flip(found, file_name, flip)
    if found.rows is None and lower_is_better:
        raise InputError(
            f"Only tables of ratings are read with lower as better; {shown(file_name)} holds METAL's JSON: name the "
            "dimensions to flip, such as H and PC."
            if found is metal.FORMAT
            else f"{shown(file_name)} holds {found.title}: leave out that lower is better."
        )
    if "ratings" not in found.read and found.rows is None:
        return read_spans(data, file_name)
    asked = {"lower_is_better": lower_is_better} if found.rows else {"flip": flip} if flip else {}
    return _read_ratings(data, file_name, **asked)


def read_spans(
    data: bytes,
    file_name: str,
    texts: OutputSet | None = None,
    *,
    units: Units = "code-points",
    ends: Ends = "exclusive",
) -> RatingSet:
    """Ratings by people with the errors that they marked. Raises InputError.

    texts: what was rated, as it stands (`read_rated`, or an mt-metrics-eval folder): spans are checked against it, those
    that reach beyond the end are cut there, which a note says. Without, against the texts in the file, where it has any.
    units, ends: what the file's offsets count; formats with marks in their own texts refuse anything else.
    """
    found, offsets = format_of("spans", data, file_name), Offsets(units, ends)
    findings, left_out = FileFindings(file_name, sha256_of(data)), Counter[str]()
    if found.marks and offsets != Offsets():
        raise InputError(
            f"{shown(file_name)} holds {found.marks}: leave out units and ends, which it does not need."
        )
    if found.marks:
        read = marked_among(found.read["ratings"](data, file_name), findings, left_out)
    elif found.rows is not None:
        read = read_span_table(data, findings, left_out, found.rows)
    else:
        read = found.read["spans"](data, findings, left_out)
    settled = at_border(read, texts, offsets, findings)
    if not settled and not findings.problems:
        findings.problems.append("file: no text is rated in it; at least one is needed")
    return RatingSet(tuple(settled), *findings.settled(), {why: n for why, n in left_out.items() if n})


def has_spans_alone(data: bytes, file_name: str) -> bool:
    """Whether a file says what people think of texts by marked errors alone: `read_spans` reads it."""
    found = format_of("ratings", data, file_name)
    if found.rows is None:
        return "ratings" not in found.read
    return is_span_table(data, file_name, found.rows)


def read_with_texts(
    gives: Gives, data: bytes, file_name: str, *, flip: Collection[str] = ()
) -> RatedSet | None:
    """The texts that a file of ratings, or of marked errors, holds beside them; None: it holds none of its own.

    flip: as in `read_ratings`. Raises InputError.
    """
    found = format_of(gives, data, file_name)
    if "with_texts" not in found.read:
        return None
    _check_flip(found, file_name, flip)
    rated_texts: RatedSet = found.read["with_texts"](data, file_name, **({"flip": flip} if flip else {}))
    return rated_texts


def read_evaluators(data: bytes, file_name: str, *, flip: Collection[str] = ()) -> ScoreTable | None:
    """The scores by evaluators that METAL's JSON may hold beside people's; None: the file is something else.

    Raises InputError, also where no evaluator scored anything.
    """
    own = format_of("evaluators", data, file_name).read.get("evaluators")
    return None if own is None else own(data, file_name, flip=flip)


def _check_flip(found: Format, file_name: str, flip: Collection[str]) -> None:
    if flip and found is not metal.FORMAT:
        raise InputError(
            f"Only METAL's JSON has dimensions to flip; {shown(file_name)} does not hold that: flip none."
        )
