"""The answer of `calibrate` on ratings and scores that a test made."""

from typing import Any

from core.analyses import analysis
from core.analyses.calibrate import CalibrateOptions
from core.schema.analysis import Answer
from core.schema.rated import Rated, Scored
from core.schema.scores import JudgeOutput, RatingSet, ScoreTable


def answered(
    people: RatingSet,
    *tables: ScoreTable,
    outputs: tuple[JudgeOutput, ...] = (),
    shuffled: JudgeOutput | None = None,
    **options: Any,
) -> Answer:
    """outputs: of the tables' runs, if they are of runs."""
    runs = outputs or (None,) * len(tables)
    scored = tuple(Scored(table, output=run) for table, run in zip(tables, runs, strict=True))
    chosen = CalibrateOptions(**{"n_resamples": 200, **options})
    return analysis("calibrate").answer(chosen, Rated(people, scored, shuffled=shuffled))
