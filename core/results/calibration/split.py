"""Split raters: a judge against the distribution of the raters' classes, with a rater left out as the human ceiling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from core.results.calibration.cells import Labelled, nearest_classes
from core.results.calibration.repeats import classes_by_repeat, text_key
from core.results.calibration.results import Calibration
from core.results.cells import interval, picked, plain
from core.schema.result_table import Column, ResultTable
from core.schema.scores import JudgeOutput, ScoreTable
from core.stats.agreement import ALL_DEGREES, SplitRaters, split_raters
from core.stats.resampling import Estimate, Floats
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
    found: SplitRaters | None
    reason: str | None
    """Why nothing was compared."""
    raters_per_text: float | None
    """Mean over the texts compared."""


def split_of(
    found: Calibration, table: ScoreTable | None = None, output: JudgeOutput | None = None
) -> tuple[DimensionSplit, ...]:
    """Compare an evaluator with split raters, dimension by dimension (`core.stats.agreement.split_raters`).

    table, output: the evaluator's table of scores and the records of its run. With records, every repeat is an answer of
    the judge; without, or for texts that the records lack, its score is its only answer. Answers between two classes count
    as the nearest, answers off the scale are left out. Dimensions that are not classes have a reason.
    """
    recorded = _recorded(table, output)
    return tuple(
        _of_dimension(name, part, recorded, found.options.resampling) for name, part in found.parts.items()
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


def _of_dimension(
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


_SHOWN: Mapping[str, str] = {
    "rater_agreement": "Rater agrees",
    "judge_agreement": "Evaluator agrees",
    "agreement_gap": "Difference",
    "rater_distance": "Distance: rater",
    "judge_distance": "Distance: evaluator",
    "distance_gap": "Difference of distances",
}
_REPEATED: Mapping[str, str] = {
    "distribution_distance": "Distance: all answers",
    "distribution_brier": "Brier score: all answers",
    "rater_brier": "Brier score: rater",
}
"""Of a judge with several answers a text."""


def split_table(found: Sequence[tuple[str, Sequence[DimensionSplit]]]) -> ResultTable:
    """One row for each evaluator, dimension and way in which the other raters split."""
    several = len({evaluator for evaluator, _ in found}) > 1
    rows = [
        (evaluator, one, degree)
        for evaluator, own in found
        for one in own
        if one.found is not None
        for degree in one.found.degrees
    ]
    repeated = any(one.found is not None and one.found.n_answers > 1 for _, own in found for one in own)
    levels = {
        degree.agreement_gap.confidence_level for _, _, degree in rows if degree.agreement_gap.low is not None
    }
    few = [
        one for _, own in found for one in own if one.raters_per_text is not None and one.raters_per_text < 3
    ]
    return ResultTable(
        "split-raters",
        (
            Column("evaluator", "Evaluator", shown=several, names_row=several),
            Column("dimension", "Dimension", names_row=True),
            Column("other_raters", "Other raters", names_row=True),
            Column("n_texts", "Texts"),
            *(Column(name, title) for name, title in _SHOWN.items()),
            *(
                Column(name, title, shown=repeated and name == "distribution_distance")
                for name, title in _REPEATED.items()
            ),
            Column("follows", "Its doubt follows theirs", shown=repeated),
            Column("raters_per_text", "Raters a text", places=1, shown=False),
            Column("most_answers", shown=False),
        ),
        tuple(
            (
                *(evaluator, one.dimension, DEGREES[degree.kind], degree.n),
                *(interval(getattr(degree, name)) for name in (*_SHOWN, *_REPEATED)),
                interval(one.found.follows) if one.found is not None and degree.kind == ALL_DEGREES else None,
                one.raters_per_text,
                one.found.n_answers if one.found is not None else None,
            )
            for evaluator, one, degree in rows
        ),
        title="Split raters: one rater left out, against the others",
        notes=(
            "Each rater is left out in turn; rater and evaluator are compared with the same other raters, who also decide "
            "the row. Agrees: probability of the answer of a random other rater.",
            "Distance: Jensen-Shannon distance of one answer from the distribution of the others, 0 to 1. It depends on the "
            "number of raters, for both: read the difference.",
            *(
                (
                    "Its doubt follows theirs: Spearman's correlation, over texts, of the share of its answers that differ and "
                    "of the share of raters' that differ.",
                )
                if repeated
                else ()
            ),
            *(("Rows by how the others split need three raters a text.",) if few else ()),
            *(
                f"Intervals: {level:.0%}, percentile bootstrap over items, each for itself."
                for level in levels
            ),
            *dict.fromkeys(
                f"{one.dimension}: not compared: {one.reason}"
                for _, own in found
                for one in own
                if one.reason is not None
            ),
        ),
    )


def split_json(found: Sequence[DimensionSplit]) -> dict[str, Any]:
    """The documented JSON: dimension -> its numbers."""
    return {
        one.dimension: {
            "reason": one.reason,
            "raters_per_text": one.raters_per_text,
            **(
                {"n": 0, "n_left_out": 0, "n_answers": 0, "follows": None, "degrees": []}
                if one.found is None
                else {
                    **picked(one.found, "n", "n_left_out", "n_answers"),
                    "follows": plain(one.found.follows),
                    "degrees": [
                        {
                            "other_raters": degree.kind,
                            "n": degree.n,
                            **{
                                each.name: plain(value)
                                for each in fields(degree)
                                if isinstance(value := getattr(degree, each.name), Estimate)
                            },
                        }
                        for degree in one.found.degrees
                    ],
                }
            ),
        }
        for one in found
    }
