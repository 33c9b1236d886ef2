"""How much a specialist gains with each further example, and specialists made from one rater's ratings against each rater."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from core.errors import InputError
from core.judges.automqm.errors import AutoMqmRecord
from core.results.cells import interval
from core.results.spans.agreement import (
    DEFAULT_SPAN_OPTIONS,
    DrawSummary,
    JudgeSpans,
    SpanOptions,
    SpanTest,
    compare_spans,
    counts_of,
    draws_columns,
    f1_cells,
    resampling_notes,
)
from core.results.spans.segments import PEOPLE, draws_of_judge, pair_spans, said_of
from core.schema.judging import JudgeOutput
from core.schema.result_table import Column, ResultTable
from core.schema.scores import OutputSet, RatingSet
from core.stats.span_f1 import SpanF1, span_f1
from core.tables.reading import shown

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


CURVE, CURVE_TESTS = "examples-curve", "examples-curve-tests"
"""Names of the tables."""


def curve_table(found: ExampleCurve, options: SpanOptions) -> ResultTable:
    """A row a run, fewest examples first."""
    return ResultTable(
        CURVE,
        (
            Column("run", "Run", names_row=True),
            Column("examples", "Examples"),
            Column("n_examples", "Asked for"),
            Column("mean_shown", "Shown of a text", places=2),
            Column("f1", "F1"),
            Column("draws", "Draws"),
            *draws_columns("f1", shown=True),
        ),
        tuple(
            (
                point.name,
                point.variant,
                "all" if point.n_examples is None else point.n_examples,
                point.mean_shown,
                interval(point.judge.overall.f1),
                point.judge.n_draws,
                point.judge.f1.mean,
                point.judge.f1.sd,
            )
            for point in found.points
        ),
        notes=(*resampling_notes(options), "SD: over draws of the examples, ddof 1.", *found.notes),
    )


THEMSELF = "a rater against themself"
NO_COMMON = "no text was marked by both"


@dataclass(frozen=True)
class MatrixCell:
    """What one predicts of another's marks."""

    agreement: SpanF1 | None
    """On the texts that both marked; None: see `reason`."""
    n_segments: int
    reason: str | None = None


@dataclass(frozen=True)
class RaterMatrix:
    """Who marks what another would have marked."""

    rows: tuple[str, ...]
    """Who predicts: raters, or judges."""
    columns: tuple[str, ...]
    """Whose marks are the gold: raters."""
    cells: tuple[tuple[MatrixCell, ...], ...]
    """Shape (rows, columns)."""
    own: tuple[str, ...]
    """Of each row the rater it stands for: of a specialist the one whose ratings were its examples; empty: nobody."""
    options: SpanOptions
    notes: tuple[str, ...] = ()


def raters_of(ratings: RatingSet) -> tuple[str, ...]:
    """The raters who marked errors, in the order of their names."""
    return tuple(sorted({one.rater for one in ratings.ratings if one.rater and one.spans is not None}))


def rater_matrix(
    gold: RatingSet,
    predictors: Mapping[str, RatingSet] | None = None,
    *,
    raters: Mapping[str, str] | None = None,
    texts: OutputSet | None = None,
    options: SpanOptions = DEFAULT_SPAN_OPTIONS,
) -> RaterMatrix:
    """Precision, recall and F1 of every row's marks against every rater's, on the texts that both marked.

    predictors: name -> marks, such as a specialist for each rater whose ratings were its examples; None: the raters
    themselves. Then precision of one against the other is the other's recall, and the diagonal is left undefined.
    raters: predictor -> the rater it stands for, empty for nobody; one that is not in it stands for its own name.
    Misleads where raters share few texts, or texts of a different kind: cells rest on different texts, so two of them
    differ by more than the raters. Raises InputError where the gold names no rater.
    """
    names = raters_of(gold)
    if not names:
        raise InputError(
            f"{shown(gold.file_name)} names no raters, or nobody marked errors: a matrix needs them."
        )
    own = {name: _only(gold, name) for name in names}
    rows = own if predictors is None else dict(predictors)
    cells = tuple(
        tuple(
            MatrixCell(None, 0, THEMSELF)
            if predictors is None and row == column
            else _cell(own[column], marks, texts, options)
            for column in names
        )
        for row, marks in rows.items()
    )
    notes = [*said_of(PEOPLE, [gold])]
    for row, marks in (predictors or {}).items():
        notes += said_of(row, [marks])
    stands_for = tuple((raters or {}).get(row, row) for row in rows)
    return RaterMatrix(tuple(rows), names, cells, stands_for, options, tuple(notes))


def _only(ratings: RatingSet, rater: str) -> RatingSet:
    """One rater's ratings, without the name: it is compared with others' under any."""
    kept = tuple(replace(one, rater=None) for one in ratings.ratings if one.rater == rater)
    return replace(ratings, ratings=kept, file_name=rater)


def _cell(gold: RatingSet, predicted: RatingSet, texts: OutputSet | None, options: SpanOptions) -> MatrixCell:
    try:
        paired = pair_spans(gold, predicted, texts=texts, **options.pairing)
    except InputError:
        return MatrixCell(None, 0, NO_COMMON)
    found = span_f1(counts_of(paired.segments), paired.items, **options.resampling)
    return MatrixCell(found, len(paired.segments))


def mean_f1(found: RaterMatrix, *, same: bool) -> float | None:
    """The mean F1 over the cells of a row and the rater it stands for, or over the others; None where none is defined.

    Of specialists the first says how well each meets its own rater, the second how well it meets others.
    """
    values = [
        cell.agreement.f1.estimate
        for own, line in zip(found.own, found.cells, strict=True)
        for column, cell in zip(found.columns, line, strict=True)
        if (own == column) is same and cell.agreement is not None and cell.agreement.f1.estimate is not None
    ]
    return float(np.mean(values)) if values else None


def raters_table(found: RaterMatrix, name: str = "raters") -> ResultTable:
    """A row a cell of the matrix: who predicts, and whose marks are the gold."""
    return ResultTable(
        name,
        (
            Column("predicts", "Who predicts", names_row=True),
            Column("gold", "Gold", names_row=True),
            Column("texts", "Texts"),
            Column("f1", "F1"),
            Column("precision", "Precision"),
            Column("recall", "Recall"),
            Column("reason", shown=False),
        ),
        tuple(
            (row, column, cell.n_segments, f1, precision, recall, cell.reason or "")
            for row, line in zip(found.rows, found.cells, strict=True)
            for column, cell in zip(found.columns, line, strict=True)
            for precision, recall, f1 in [f1_cells(cell.agreement, cell.reason or "")]
        ),
        notes=(*resampling_notes(found.options), *found.notes),
    )
