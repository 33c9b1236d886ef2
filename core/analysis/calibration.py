"""An evaluator against human ratings, by language, task and dimension (004): agreement, kappas, bias, where not to use it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.analysis.calibration_cells import Cell, cell_of
from core.analysis.calibration_classes import Labelled, labelled, together
from core.analysis.calibration_joined import (
    DIMENSION,
    GROUP_BY,
    Evaluator,
    JoinedDimension,
    join_dimension,
)
from core.analysis.choosing import check_names
from core.analysis.row_columns import NO_VALUE, group_columns, items_of
from core.datasets.reading import shown
from core.errors import InputError
from core.judges.quality.held_out import Majority
from core.schema.scores import RatingSet, ScoreTable
from core.schema.tasks import Dimension

MAJORITIES: Mapping[Majority, str] = {
    "drop": "left out",
    "median": "median",
    "middle": "middle class, where a rater gave it",
}
"""What becomes of a text whose raters are split. middle: as 004's authors do it with three raters and three classes."""


@dataclass(frozen=True)
class CalibrationOptions:
    """How ratings and scores are compared."""

    majority: Majority = "drop"
    paper_kappa: bool = False
    """004's convention: an undefined Fleiss' kappa enters means over cells as 0. The cell itself stays undefined."""
    dimensions: tuple[Dimension, ...] = ()
    """Of the task: which classes are on offer."""
    n_resamples: int = 2_000
    confidence_level: float = 0.95
    rng: int = 0


DEFAULT_OPTIONS = CalibrationOptions()


@dataclass(frozen=True)
class Calibration:
    """One evaluator against people."""

    evaluator: str
    ratings: str
    """What the ratings are called: their file."""
    group_by: tuple[str, ...]
    cells: tuple[Cell, ...]
    """One for each combination of the columns' values."""
    by_dimension: tuple[Cell, ...]
    """All texts of a dimension together."""
    pooled: Cell
    """All texts of all dimensions together; as classes only where all dimensions have the same ones."""
    parts: Mapping[str, Labelled]
    """Dimension -> what was compared: for maps and figures."""
    options: CalibrationOptions
    left_out: Mapping[str, int]
    """Reason -> ratings that met no text of the evaluator's, or no column of its scores."""
    notes: tuple[str, ...] = ()


def calibrate(
    ratings: RatingSet,
    table: ScoreTable,
    evaluator: Evaluator,
    *,
    group_by: Sequence[str] | None = None,
    options: CalibrationOptions = DEFAULT_OPTIONS,
) -> Calibration:
    """Compare an evaluator's classes with those of people, text by text; intervals resample items.

    evaluator: which columns of the table are its scores (`evaluators_of`). group_by: columns that make the cells, of
    `dimension`, `language`, `task` (the label of that name, else the data set), `system`, `level` and labels; by default
    004's three, as far as the files have them. Ratings that are no classes are compared as numbers (correlations, mean
    absolute error) and the cell says why. Undefined statistics carry their reason. Raises InputError where nothing
    meets, and for unknown columns.

    Misleads: agreement with a majority hides where people themselves do not agree (see the raters' own columns and the
    bias where they disagree); kappa is low or undefined where one class is popular, however good the evaluator is, and
    percentage agreement is high there, however bad it is.
    """
    _check_columns(group_by, ratings, table)
    wanted = GROUP_BY if group_by is None else tuple(dict.fromkeys(group_by))
    joined = [
        join_dimension(table, ratings, dimension, metric, wanted)
        for dimension, metric in evaluator.columns.items()
    ]
    said = tuple(
        name
        for name in wanted
        if group_by is not None or any(group[name] != NO_VALUE for one in joined for group in one.groups)
    )
    tasks = {one.name: one for one in options.dimensions}
    parts = {
        one.dimension: labelled(one, items, tasks.get(one.dimension))
        for one, items in zip(joined, _items(joined), strict=True)
    }
    intervals: dict[str, Any] = {
        "n_resamples": options.n_resamples,
        "confidence_level": options.confidence_level,
        "rng": options.rng,
    }
    left: Counter[str] = Counter(ratings.left_out)
    for one in joined:
        left.update(one.left_out)
    left.update(_not_said(ratings, evaluator))
    notes = [*ratings.notes, *table.notes, *(note for one in joined for note in one.notes)]
    notes += [note for part in parts.values() for note in part.notes]
    return Calibration(
        evaluator.name,
        ratings.file_name,
        said,
        tuple(
            cell_of(group, texts, options.majority, intervals)
            for group, texts in _groups(joined, parts, said)
        ),
        tuple(cell_of({DIMENSION: name}, part, options.majority, intervals) for name, part in parts.items()),
        cell_of({}, together(list(parts.values())), options.majority, intervals),
        parts,
        options,
        dict(left),
        tuple(dict.fromkeys(notes)),
    )


def columns_to_group_by(ratings: RatingSet, table: ScoreTable) -> tuple[str, ...]:
    """The columns that may make cells, 004's three first."""
    labels = {label: None for one in ratings.ratings for label in one.labels}
    return tuple(dict.fromkeys([*GROUP_BY, *group_columns(table), *labels]))


def _check_columns(group_by: Sequence[str] | None, ratings: RatingSet, table: ScoreTable) -> None:
    if group_by is not None:
        check_names("column to group by", group_by, columns_to_group_by(ratings, table))


def _not_said(ratings: RatingSet, evaluator: Evaluator) -> Counter[str]:
    """Reason -> ratings of dimensions on which the evaluator gives no scores, unless one dimension was asked for."""
    if evaluator.asked is not None:
        return Counter()
    return Counter(
        f"no column of scores says {shown(one.dimension)}"
        for one in ratings.ratings
        if one.dimension not in evaluator.columns
    )


def _items(joined: Sequence[JoinedDimension]) -> list[np.ndarray]:
    """A number for each text's item, the same in every dimension."""
    if not joined:
        raise InputError("The evaluator has no column of scores on a dimension that people rated.")
    rows = [row for one in joined for row in one.rows]
    return np.split(items_of(rows), np.cumsum([len(one.rows) for one in joined])[:-1].tolist())


def _groups(
    joined: Sequence[JoinedDimension], parts: Mapping[str, Labelled], columns: Sequence[str]
) -> list[tuple[dict[str, str], Labelled]]:
    """The cells' texts, dimension by dimension, in the order met."""
    members: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for one in joined:
        for text, group in enumerate(one.groups):
            key = tuple(group[name] for name in columns)
            members.setdefault(key, {}).setdefault(one.dimension, []).append(text)
    found = []
    for key in sorted(members, key=lambda one: tuple(map(str.casefold, one))):
        own = [parts[dimension].only(texts) for dimension, texts in members[key].items()]
        found.append((dict(zip(columns, key, strict=True)), together(own)))
    return found
