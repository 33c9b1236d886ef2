"""All formats, and what each door reads of a file whatever its form: a format is its own file and its line in FORMATS."""

from collections.abc import Callable, Collection
from typing import Any

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
from core.formats.spans import files as span_files
from core.formats.spans import mqm
from core.schema.scores import OutputSet, RatedSet, RatingSet, ScoreTable
from core.schema.study import MaterialSet
from core.tables.columns import table_rows
from core.tables.reading import shown

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        trutheval.FORMAT,
        scores.PARQUET,
        cef.FORMAT,
        metal.FORMAT,
        mqm.FORMAT,
        span_files.SEG_RATING,
        mt_metrics_eval.SEG_SCORE,
        rated.FORMAT,
    )
}
"""The first one that knows a file reads it."""
TABLE = Format("table", "a table", lambda data, file_name: True, rows=table_rows)
"""What no other format knows: CSV, JSONL, or a JSON list of objects."""


def format_of(gives: Gives, data: bytes, file_name: str) -> Format:
    """The format of a file, among those that give what is wanted."""
    there = (one for one in FORMATS.values() if gives in one.gives and one.sniff(data, file_name))
    return next(there, TABLE)


def _read(gives: Gives, of_rows: Callable[..., Any], data: bytes, file_name: str, **asked: object) -> Any:
    found = format_of(gives, data, file_name)
    if (own := found.read.get(gives)) is not None:
        return own(data, file_name, **asked)
    return of_rows(data, file_name, rows=found.rows, **asked)


def read_study(data: bytes, file_name: str) -> study_tables.DatasetBuilder:
    """A study's texts, before it is asked whether they are a whole data set. Raises InputError."""
    found: study_tables.DatasetBuilder = _read("study", study_tables.collect_tabular, data, file_name)
    return found


def read_questions(data: bytes, file_name: str, task: generation.Task | None = None) -> MaterialSet:
    """Questions and references, from which answers are made. Raises InputError.

    task: what the references are; asks for the context that it needs.
    """
    found: MaterialSet = _read("questions", generation.read_questions, data, file_name, task=task)
    return found


def read_texts(data: bytes, file_name: str) -> OutputSet:
    """Texts to be scored or rated. Raises InputError."""
    found: OutputSet = _read("texts", scorable.read_outputs, data, file_name)
    return found


def read_rated(data: bytes, file_name: str) -> RatedSet:
    """Texts, with what people said of them where the file has it. Raises InputError."""
    found: RatedSet = _read("rated", rated.read_rated, data, file_name)
    return found


def read_scores(data: bytes, file_name: str) -> ScoreTable:
    """Scores of metrics. Raises InputError."""
    found: ScoreTable = _read("scores", scores.read_scores, data, file_name)
    return found


def read_ratings(
    data: bytes, file_name: str, *, lower_is_better: bool = False, flip: Collection[str] = ()
) -> RatingSet:
    """Ratings by people. Raises InputError.

    lower_is_better: of a table; other formats have their direction. flip: dimensions of METAL's JSON in which 1 is bad.
    """
    found = format_of("ratings", data, file_name)
    is_metal = found.name == metal.FORMAT.name
    if flip and not is_metal:
        raise InputError(
            f"Only METAL's JSON has dimensions to flip; {shown(file_name)} does not hold that: flip none."
        )
    if found.rows is None and lower_is_better:
        raise InputError(
            f"Only tables of ratings are read with lower as better; {shown(file_name)} holds METAL's JSON: name the "
            "dimensions to flip, such as H and PC."
            if is_metal
            else f"{shown(file_name)} holds {found.title}: leave out that lower is better."
        )
    own = {"flip": flip} if is_metal else {} if found.rows is None else {"lower_is_better": lower_is_better}
    read: RatingSet = _read("ratings", ratings.read_ratings, data, file_name, **own)
    return read
