"""An evaluator's scores beside what every rater said of the same texts, dimension by dimension."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.analysis.choosing import check_names
from core.analysis.joining import NO_SCORE, OTHER_ITEM, OTHER_TEXT, directions, rows_met
from core.analysis.metric_directions import with_directions
from core.analysis.rating_choice import dimensions_of
from core.analysis.row_columns import NO_VALUE, column_of
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import Rating, RatingSet, ScoredRow, ScoreTable
from core.stats.resampling import Floats

DIMENSION, TASK = "dimension", "task"
GROUP_BY = ("language", TASK, DIMENSION)
"""The cells of 004's tables."""
_DATASET = "dataset"
_NO_LANGUAGE = "und"
SIGNS = "-_.: "
"""Between a judge's name and a dimension, in the name of a column."""
_BEFORE_IT = f"(?:(.*)[{re.escape(SIGNS)}])?"


@dataclass(frozen=True)
class Evaluator:
    """The columns of one evaluator."""

    name: str
    """Of the judge, or of the only column."""
    columns: Mapping[str, str]
    """Dimension -> name of the metric that is the evaluator's score on it."""
    asked: str | None = None
    """The one dimension that was asked for; None: all that people rated."""


@dataclass(frozen=True)
class JoinedDimension:
    """Texts that people rated on a dimension, with the evaluator's score of each."""

    dimension: str
    metric: str
    rows: tuple[ScoredRow, ...]
    groups: tuple[Mapping[str, str], ...]
    """Of each text: what stands in the columns that may group it, `NO_VALUE` where nothing does."""
    raters: tuple[str, ...]
    ratings: Floats
    """Shape (texts, raters), NaN where the rater gave none."""
    scores: Floats
    """Shape (texts,); NaN where the evaluator gave none. Turned where a metric's lower end is better."""
    reasons: tuple[str | None, ...]
    """Why there is no score."""
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> ratings that met no text."""


def evaluators_of(
    table: ScoreTable,
    ratings: RatingSet,
    *,
    dimension: str | None = None,
    columns: Mapping[str, str] | None = None,
    said: str | None = None,
) -> tuple[Evaluator, ...]:
    """Which column of a table says which dimension, evaluator by evaluator, in the table's order.

    `JUDGE-LA` is the judge JUDGE on the dimension LA; upper and lower case are alike. Where no column ends with a
    dimension, every column is an evaluator of the one that the ratings have (or that is asked for), or else of the one
    that the judge's run was asked for (said). columns: metric -> dimension, in place of that. Raises InputError for unknown names, and where nothing tells what a column says.
    """
    there = dimensions_of(ratings)
    if not there:
        raise InputError(f"{shown(ratings.file_name)} holds no ratings.")
    names = [metric.name for metric in table.metrics]
    if columns:
        check_names("column of scores", list(columns), names)
        check_names("dimension", list(columns.values()), there)
    if dimension is not None:
        check_names("dimension", [dimension], there)
    wanted = there if dimension is None else (dimension,)
    named = columns or {}
    found: dict[str, dict[str, str]] = {}
    for name in names:
        says = (name, named[name]) if name in named else None if named else dimension_said(name, wanted)
        if says is not None and says[1] in wanted:
            found.setdefault(says[0], {}).setdefault(says[1], name)
    only = wanted[0] if len(wanted) == 1 else said
    if not found and not named and only is not None and only in wanted:
        found = {name: {only: name} for name in names}
    if not found:
        raise InputError(
            f"Nothing tells which column of {_called(table)} says what people rated: name a column and its dimension "
            "(--columns COLUMN=DIMENSION,...), or the one dimension that all columns are scores of (--dimension D).",
            [
                f"columns: {', '.join(map(shown, names)) or 'none'}",
                f"dimensions: {', '.join(map(shown, wanted))}",
            ],
        )
    if named:  # one evaluator, whatever its columns are called
        merged = {on: metric for own in found.values() for on, metric in own.items()}
        if len(merged) == len(found):
            return (Evaluator(_called(table) if len(merged) > 1 else next(iter(found)), merged, dimension),)
    return tuple(Evaluator(name or _called(table), own, dimension) for name, own in found.items())


def dimension_said(column: str, dimensions: Sequence[str]) -> tuple[str, str] | None:
    """The judge's name and the dimension that a column ends with; the longest dimension that fits."""
    for dimension in sorted(dimensions, key=len, reverse=True):
        if fits := re.fullmatch(_BEFORE_IT + re.escape(dimension), column, re.IGNORECASE | re.DOTALL):
            return fits[1] or "", dimension
    return None


def _called(table: ScoreTable) -> str:
    return shown(table.file_name) if table.file_name else "the scores"


def join_dimension(
    table: ScoreTable, ratings: RatingSet, dimension: str, metric: str, group_by: Sequence[str]
) -> JoinedDimension:
    """Texts that people rated on the dimension and that the table knows; in the table's order.

    Raises InputError where no rating meets a text of the table.
    """
    table, assumed = with_directions(table)
    chosen = [one for one in ratings.ratings if one.dimension == dimension]
    met = rows_met(table, ratings, chosen).tolist()
    used = sorted({row for row in met if row >= 0})
    place = {row: number for number, row in enumerate(used)}
    raters: dict[str, int] = {}
    cells: dict[tuple[int, int], float] = {}
    about: dict[int, Rating] = {}
    for one, row in zip(chosen, met, strict=True):
        if row < 0:
            continue
        about.setdefault(row, one)
        cells[place[row], _column(raters, cells, place[row], one.rater)] = one.score
    values = np.full((len(used), len(raters)), np.nan)
    for (text, rater), score in cells.items():
        values[text, rater] = score
    column = [one.name for one in table.metrics].index(metric)
    turned = (table.values * directions(table))[used, column]
    return JoinedDimension(
        dimension,
        metric,
        tuple(_filled(table.rows[row], about[row]) for row in used),
        tuple({name: _value(table.rows[row], about[row], name) for name in group_by} for row in used),
        tuple(raters),
        values,
        turned,
        tuple(
            table.reasons.get((row, column), NO_SCORE) if np.isnan(table.values[row, column]) else None
            for row in used
        ),
        assumed,
        _unmet(table, chosen, met),
    )


def _column(
    raters: dict[str, int], cells: Mapping[tuple[int, int], float], text: int, rater: str | None
) -> int:
    """The rater's column; ratings of a text that name no rater, or one rater twice, are taken for several raters'."""
    number = 1
    while True:
        name = f"rating {number}" if rater is None else rater if number == 1 else f"{rater} ({number})"
        column = raters.setdefault(name, len(raters))
        if (text, column) not in cells:
            return column
        number += 1


def _value(row: ScoredRow, rating: Rating, column: str) -> str:
    """What a text has in a column, from either file; of a task that is not named, its data set."""
    if column == DIMENSION:
        return rating.dimension
    for name in (TASK, _DATASET) if column == TASK else (column,):
        for one in (row, rating):
            value = column_of(one, name)
            if value not in (None, "", _NO_LANGUAGE):
                return str(value)
    return NO_VALUE


def _filled(row: ScoredRow, rating: Rating) -> ScoredRow:
    """The row with the language and the labels that only the rating knows, so that items are told apart."""
    language = rating.language if row.language == _NO_LANGUAGE else row.language
    labels = {**rating.labels, **row.labels}
    return ScoredRow(row.item_id, row.system, row.level, language, labels)


def _unmet(table: ScoreTable, chosen: Sequence[Rating], met: Sequence[int]) -> dict[str, int]:
    items = {row.item_id for row in table.rows}
    return dict(
        Counter(
            OTHER_TEXT if one.item_id in items else OTHER_ITEM
            for one, row in zip(chosen, met, strict=True)
            if row < 0
        )
    )
