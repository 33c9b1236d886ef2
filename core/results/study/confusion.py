"""Dawid and Skene's model on a study's votes: raters' errors, and what the verdict would be. It decides nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.results.cells import decimal
from core.results.confusion import (
    Confusions,
    accuracy_table,
    confusion_table,
    confusions,
    confusions_json,
)
from core.results.study.counted import Counted
from core.schema.result_table import Column, Interval, ResultTable
from core.schema.study import PREFERENCES, Design
from core.stats.dawid_skene import dawid_skene
from core.stats.non_inferiority import verdict
from core.stats.resampling import Floats
from core.stats.votes import MISSING, N_CHOICES, composite_scores, preferences

NOT_DECLARED = "Dawid-Skene (not declared)"
COMPOSITE_OF_VOTES = "composite of the votes"
CONFUSION_TABLES = ("dawid-skene", "confusion", "dawid-skene-verdict")


@dataclass(frozen=True)
class VerdictLine:
    """A verdict from the votes, or from the classes that the model estimates."""

    name: str
    n_pairs: int
    n_left_out: int
    """Pairs with several equally probable classes."""
    mean: float | None
    """Mean score: +1 candidate, 0 both good or both bad, -1 comparator."""
    bound: float | None
    value: str
    """The verdict."""


@dataclass(frozen=True)
class StudyConfusion:
    """The model's estimates from the votes that count, with the verdicts to compare."""

    found: Confusions
    lines: tuple[VerdictLine, ...]
    """The composite of the votes, then with the model's classes; empty if nothing is estimated."""
    n_changed: int
    """Pairs whose score by the model's class differs from the composite of their votes."""

    @property
    def reading(self) -> str:
        """The estimates in a few sentences, the most important first."""
        if self.found.reason is not None:
            return f"Dawid-Skene: not estimated, because {self.found.reason}."
        votes, model = self.lines
        said = (
            "With Dawid-Skene's classes the verdict stays the same"
            if model.value == votes.value
            else f'With Dawid-Skene\'s classes the verdict would be "{model.value}" instead of "{votes.value}"'
        )
        below = [
            f"{one.rater} ({decimal(one.accuracy.estimate, 2)})"
            for one in self.found.raters
            if one.below_others and one.accuracy.estimate is not None
        ]
        stands_out = (
            f"Less accurate than the other raters: {', '.join(below)}."
            if below
            else "No rater is less accurate than the others."
        )
        return f"{said}; {self.n_changed} of {votes.n_pairs} pairs get another score. {stands_out}"

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        return {
            "declared": False,
            "reading": self.reading,
            **confusions_json(self.found),
            "verdicts": [
                {
                    "name": line.name,
                    "n_pairs": line.n_pairs,
                    "n_left_out": line.n_left_out,
                    "mean": line.mean,
                    "bound": line.bound,
                    "value": line.value,
                }
                for line in self.lines
            ],
            "n_changed": self.n_changed,
        }


def study_confusion(
    counted: Counted, design: Design, warnings: Mapping[str, Sequence[str]], *, n_resamples: int, rng: int
) -> StudyConfusion:
    """Fit the model to the votes that count; items are questions.

    warnings: rater -> other reasons to check the rater. n_resamples, rng: of the verdicts.
    """
    model = dawid_skene(counted.codes, N_CHOICES, clusters=counted.questions, rng=rng)
    found = confusions(model, counted.raters, PREFERENCES, warnings, units="pairs")
    if model.reason is not None:
        return StudyConfusion(found, (), 0)
    labels = model.labels
    known = labels != MISSING
    votes = composite_scores(preferences(counted.codes))
    by_model = np.nan_to_num(preferences(labels[:, None])[:, 0])

    def line(name: str, scores: Floats, used: np.ndarray[Any, Any]) -> VerdictLine:
        decided = verdict(
            scores[used],
            counted.questions[used],
            margin=design.margin,
            confidence_level=design.confidence_level,
            n_resamples=n_resamples,
            rng=rng,
        )
        mean = float(scores[used].mean()) if used.any() else None
        return VerdictLine(name, int(used.sum()), int((~used).sum()), mean, decided.bound, decided.value)

    return StudyConfusion(
        found,
        (
            line(COMPOSITE_OF_VOTES, votes, np.ones(len(votes), dtype=bool)),
            line(NOT_DECLARED, by_model, known),
        ),
        int((by_model[known] != votes[known]).sum()),
    )


def confusion_tables(
    result: StudyConfusion, names: Mapping[str, str], said: Mapping[str, str]
) -> tuple[ResultTable, ...]:
    """Tables by their names in `CONFUSION_TABLES`. names: preference -> name; said: verdict -> its name."""
    rows = [("", result.found)]
    return (
        accuracy_table("dawid-skene", rows, items="questions"),
        confusion_table("confusion", rows, names),
        ResultTable(
            "dawid-skene-verdict",
            (
                Column("scores", "Scores", names_row=True),
                Column("pairs", "Pairs"),
                Column("mean", "Mean"),
                Column("bound", "Lower bound"),
                Column("verdict", "Verdict"),
            ),
            tuple(
                (
                    line.name,
                    line.n_pairs,
                    Interval(line.mean, n=line.n_pairs, n_left_out=line.n_left_out),
                    line.bound,
                    said[line.value],
                )
                for line in result.lines
            ),
            title="The verdict with Dawid-Skene's classes",
            notes=("Exploratory: no declared verdict uses these classes.",) if result.lines else (),
        ),
    )
