"""How much a specialist gains with each further example: F1 against their number (002, nested subsets of 1 to N - 1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from core.analysis.judged_spans import draws_of_judge
from core.analysis.span_agreement import DEFAULT_SPAN_OPTIONS, SpanOptions
from core.analysis.span_comparison import DrawSummary, JudgeSpans, SpanTest, compare_spans
from core.datasets.reading import shown
from core.errors import InputError
from core.judges.automqm.errors import AutoMqmRecord
from core.schema.judging import JudgeOutput
from core.schema.scores import OutputSet, RatingSet

_NO_EXAMPLES = "none"


@dataclass(frozen=True)
class CurvePoint:
    """One run of the curve."""

    name: str
    """As the caller names it."""
    variant: str
    """Where its examples came from: specialist, shuffled, fixed, none."""
    n_examples: int | None
    """As it was asked for; None: all there are."""
    mean_shown: float
    """Examples a text, as they were shown: fewer than asked for where the item has fewer texts."""
    judge: JudgeSpans


@dataclass(frozen=True)
class ExampleCurve:
    """Runs of one judge with more and more examples, on the texts that all of them marked."""

    gold: str
    points: tuple[CurvePoint, ...]
    """By variant, then by the mean number of examples shown."""
    tests: tuple[SpanTest, ...]
    """Every two runs, by their names."""
    n_segments: int
    n_items: int
    notes: tuple[str, ...] = ()


def example_curve(
    gold: RatingSet,
    runs: Mapping[str, JudgeOutput],
    *,
    texts: OutputSet | None = None,
    options: SpanOptions = DEFAULT_SPAN_OPTIONS,
) -> ExampleCurve:
    """F1 with its interval against the number of examples that each run was shown, on the segments all runs have.

    Runs of one seed draw nested subsets: a run with k examples was shown those of the run with k - 1. Misleads where
    items have few texts: beyond them a larger number asked for adds nothing, which `mean_shown` shows. Raises
    InputError for fewer than two runs, for a judge that marks no errors, and where the runs share no text of the gold.
    """
    if len(runs) < 2:
        raise InputError("A curve needs at least two runs with different numbers of examples.")
    compared = compare_spans(
        gold,
        {name: draws_of_judge(run) for name, run in runs.items()},
        texts=texts,
        options=options,
    )
    points = [
        _point(name, run, judge) for (name, run), judge in zip(runs.items(), compared.judges, strict=True)
    ]
    models = {run.model for run in runs.values()}
    notes = (
        *compared.notes,
        *((f"several models: {', '.join(sorted(map(shown, models)))}",) if len(models) > 1 else ()),
    )
    return ExampleCurve(
        gold=gold.file_name,
        points=tuple(sorted(points, key=lambda point: (point.variant, point.mean_shown))),
        tests=compared.tests,
        n_segments=compared.n_segments,
        n_items=compared.n_items,
        notes=notes,
    )


def _point(name: str, run: JudgeOutput, judge: JudgeSpans) -> CurvePoint:
    shown_counts = [
        len(trial.examples)
        for text in run.texts
        if isinstance(text.record, AutoMqmRecord)
        for trial in text.record.trials
        if trial.errors is not None
    ]
    variant = str(run.settings.get("examples", ""))
    asked = cast("int", run.settings.get("n_examples", 0))
    return CurvePoint(
        name=name,
        variant=variant,
        n_examples=0 if variant == _NO_EXAMPLES else asked or None,
        mean_shown=float(np.mean(shown_counts)) if shown_counts else 0.0,
        judge=judge,
    )


def interval_of(point: CurvePoint) -> tuple[float | None, float | None, float | None]:
    """Low, F1 and high: of items where there is one draw; of several draws the mean and one SD to each side."""
    draws: DrawSummary = point.judge.f1
    if point.judge.n_draws < 2 or draws.mean is None or draws.sd is None:
        f1 = point.judge.overall.f1
        return f1.low, f1.estimate, f1.high
    return draws.mean - draws.sd, draws.mean, draws.mean + draws.sd
