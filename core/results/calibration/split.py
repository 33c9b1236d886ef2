"""Split raters: a judge against the distribution of the raters' classes, with a rater left out as the human ceiling."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.results.calibration.cells import Labelled, nearest_classes
from core.results.calibration.repeats import classes_by_repeat, text_key
from core.results.calibration.results import Calibration, resampling_of
from core.schema.scores import JudgeOutput, ScoreTable
from core.stats.agreement import ALL_DEGREES, SplitRaters, split_raters
from core.stats.resampling import Floats
from core.stats.votes import MISSING, Codes

DEGREES: Mapping[str, str] = {
    ALL_DEGREES: "all texts",
    "full": "unanimous",
    "partial": "a majority",
    "none": "split",
}
"""How the other raters of a text split -> the name on screen."""
NOT_CLASSES = "ratings are not classes"
MIN_SPAN = 1e-9


@dataclass(frozen=True)
class DimensionSplit:
    """One evaluator on one dimension."""

    dimension: str
    comparison: SplitRaters | None
    reason: str | None
    """Why nothing was compared."""
    raters_per_text: float | None
    """Mean over the texts compared."""


def split_of(
    calibration: Calibration, table: ScoreTable | None = None, output: JudgeOutput | None = None
) -> tuple[DimensionSplit, ...]:
    """Compare an evaluator with split raters, dimension by dimension (`core.stats.agreement.split_raters`).

    table, output: the evaluator's table of scores and the records of its run. With records, every repeat is an answer of
    the judge; without, or for texts that the records lack, its score is its only answer. Answers between two classes count
    as the nearest, answers off the scale are left out. Dimensions that are not classes have a reason.
    """
    recorded = _recorded(table, output)
    return tuple(
        _split_dimension(name, part, recorded, resampling_of(calibration.options))
        for name, part in calibration.parts.items()
    )


_Recorded = tuple[Floats, tuple[str, ...]]
"""Answers (rows of the table, repeats, dimensions), NaN if missing, and the dimensions."""


def _recorded(table: ScoreTable | None, output: JudgeOutput | None) -> _Recorded | None:
    if table is None or output is None:
        return None
    values, dimensions = classes_by_repeat(output.texts)
    if not dimensions:
        return None
    texts = {text_key(text.row): place for place, text in enumerate(output.texts)}
    places = [texts.get(text_key(row), -1) for row in table.rows]
    blank = np.full((1, *values.shape[1:]), np.nan)
    return np.concatenate([values, blank])[places], dimensions


def _split_dimension(
    dimension: str, part: Labelled, recorded: _Recorded | None, resampling: Mapping[str, Any]
) -> DimensionSplit:
    if not part.classes:
        return DimensionSplit(dimension, None, part.why_numbers or NOT_CLASSES, None)
    answers = part.evaluator[:, None]
    if (repeats := _repeats(dimension, part, recorded)) is not None:
        unknown = (repeats == MISSING).all(axis=1)
        alone = np.full(repeats.shape, MISSING)
        alone[:, 0] = part.evaluator
        answers = np.where(unknown[:, None], alone, repeats)
    found = split_raters(part.votes, answers, len(part.classes), clusters=part.items, **resampling)
    votes = (part.votes != MISSING).sum(axis=1)
    used = (votes >= 2) & (answers != MISSING).any(axis=1)
    return DimensionSplit(dimension, found, None, float(votes[used].mean()) if used.any() else None)


def _repeats(dimension: str, part: Labelled, recorded: _Recorded | None) -> Codes | None:
    """Codes of the evaluator's answers, shape (texts, repeats); None without records of this dimension."""
    if recorded is None:
        return None
    values, dimensions = recorded
    named = [name.casefold() for name in dimensions]
    # `judge direct` names its score itself, whatever the ratings call the dimension.
    at = (
        named.index(dimension.casefold()) if dimension.casefold() in named else 0 if len(named) == 1 else None
    )
    if at is None:
        return None
    own = values[part.places, :, at]
    low, high = part.classes[0] - MIN_SPAN, part.classes[-1] + MIN_SPAN
    known = ~np.isnan(own) & (own >= low) & (own <= high)
    codes = np.full(own.shape, MISSING, dtype=np.int64)
    codes[known], _ = nearest_classes(own[known], part.classes)
    return codes
