"""Ratings of texts, and the scores that evaluators gave the same texts."""

from dataclasses import dataclass

from core.schema.scale import NOT_DECLARED, DeclaredScale
from core.schema.scores import JudgeOutput, RatingSet, ScoreTable
from core.schema.study import RatingTask


@dataclass(frozen=True)
class Scored:
    """A table of scores, and what is known of the judge's run that made it."""

    table: ScoreTable
    dimension: str | None = None
    """The only dimension that the run scored."""
    task: RatingTask | None = None
    """With the classes that the judge chose from."""
    output: JudgeOutput | None = None
    """Its answers, if they are classes or numbers."""


@dataclass(frozen=True)
class Rated:
    """Ratings with the scores of every evaluator. Nothing is matched yet."""

    ratings: RatingSet
    scored: tuple[Scored, ...]
    task: RatingTask | None = None
    """With the classes that raters chose from; it decides before those of judges."""
    scale: DeclaredScale = NOT_DECLARED
    """What the user says about the raters' scale; it decides before any task."""
    shuffled: JudgeOutput | None = None
    """Answers of the first judge on the same texts with shuffled words."""
