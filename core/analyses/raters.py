"""Errors that each rater or judge marks beside those that every rater marked: a matrix of predictors by raters."""

from typing import TYPE_CHECKING, Any

from core.analyses.marked_errors import F1Row, f1_values, resampling_notes
from core.schema.analysis import Analysis, Table, Tell
from core.schema.figures import AnyFigure, Heat
from core.schema.marks import Marks, SpanOptions
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row

if TYPE_CHECKING:
    from core.schema.scores import RatingSet

THEMSELF = "a rater against themself"
NO_COMMON = "no text was marked by both"


@row
class MatrixRow:
    """One predictor's marks beside one rater's, on the texts that both marked."""

    predicts: str = column("the rater or judge who predicts", title="Predictor", names_row=True, key="")
    gold: str = column("the rater whose marks are the gold", title="Gold", names_row=True, key="")
    n_segments: int = column("texts that both marked", name="texts", title="Texts")
    precision: Interval = column(
        "share of the predictor's characters that the rater marked", title="Precision", key=""
    )
    recall: Interval = column(
        "share of the rater's characters that the predictor marked", title="Recall", key=""
    )
    f1: Interval = column("both together", title="F1", key="")
    reason: str | None = entry("why nothing is compared")
    why: str = column("the same", name="reason", shown=False, key="")
    agreement: F1Row | None = entry("the numbers", rows=F1Row, inlined=True, optional=True)
    same_rater: bool
    """Whether the predictor represents this rater."""


@row
class RaterMatrix:
    """Every predictor against every rater."""

    rows: tuple[str, ...] = entry("who predicts: raters or judges")
    columns: tuple[str, ...] = entry("raters whose marks are the gold")
    cells: tuple[tuple[MatrixRow, ...], ...] = entry(
        "for each of rows a list with one for each of columns", rows=MatrixRow
    )
    mean_f1_same_name: float | None = entry("mean F1 of rows and the rater whom they represent")
    mean_f1_other_names: float | None = entry("mean F1 of rows and all other raters")
    notes: tuple[str, ...] = entry("what was read, left out and assumed")
    options: SpanOptions


def raters_of(ratings: "RatingSet") -> tuple[str, ...]:
    """The raters who marked errors, in alphabetical order."""
    return tuple(sorted({one.rater for one in ratings.ratings if one.rater and one.spans is not None}))


def compute(options: SpanOptions, marks: Marks, *, tell: Tell) -> RaterMatrix:
    """Compute precision, recall and F1 of every predictor against every rater, on the texts that both marked.

    Without judges the raters predict each other. Precision of one rater against another then equals the other's recall, and the
    diagonal is undefined. A judge represents the rater whose ratings alone were its examples; one of which nothing is known represents
    its own name. Misleads if raters share few texts, or different kinds of texts: cells use different texts, so they differ by
    more than the raters. Raises InputError if the gold names no rater, or a judge has repeats.
    """
    from core.errors import InputError
    from core.results.judges.spans import PEOPLE, said_of
    from core.tables.reading import shown

    names = raters_of(marks.gold)
    if not names:
        raise InputError(
            f"{shown(marks.gold.file_name)} has no named raters with marked errors. The matrix needs them."
        )
    for judge, draws in marks.judges.items():
        if len(draws) > 1:
            raise InputError(
                f"{shown(judge)} has {len(draws)} repeats, so it has no single marks. Run the judge without repeats."
            )
    tell("comparing raters")
    own = {name: _marks_of(marks.gold, name) for name in names}
    predictors = {judge: draws[0] for judge, draws in marks.judges.items()} or own
    cells = tuple(
        tuple(
            _cell(
                row,
                column,
                own[column],
                None if row == column and not marks.judges else given,
                marks,
                options,
            )
            for column in names
        )
        for row, given in predictors.items()
    )
    notes = [*said_of(PEOPLE, [marks.gold])]
    for judge, draws in marks.judges.items():
        notes += said_of(judge, draws)
    return RaterMatrix(
        rows=tuple(predictors),
        columns=names,
        cells=cells,
        mean_f1_same_name=_mean_f1(cells, same=True),
        mean_f1_other_names=_mean_f1(cells, same=False),
        notes=tuple(notes),
        options=options,
    )


def _marks_of(ratings: "RatingSet", rater: str) -> "RatingSet":
    """One rater's ratings without the name, so that they can be compared with any other rater's."""
    from dataclasses import replace

    kept = tuple(replace(one, rater=None) for one in ratings.ratings if one.rater == rater)
    return replace(ratings, ratings=kept, file_name=rater)


def _cell(
    predicts: str,
    rater: str,
    gold: "RatingSet",
    predicted: "RatingSet | None",
    marks: Marks,
    options: SpanOptions,
) -> MatrixRow:
    """One cell. predicted: None for a rater against themself."""
    from core.errors import InputError
    from core.results.judges.spans import counts_of, pair_spans
    from core.stats.span_f1 import span_f1

    reason, numbers, n_segments = THEMSELF, None, 0
    if predicted is not None:
        try:
            paired = pair_spans(gold, predicted, texts=marks.texts, **options.pairing)
        except InputError:
            reason = NO_COMMON
        else:
            found = span_f1(counts_of(paired.segments), paired.items, **options.resampling)
            reason, numbers, n_segments = "", F1Row(**f1_values(found)), len(paired.segments)
    none = Interval(None, reason=reason)
    measures: dict[str, Any] = {
        name: none if numbers is None else getattr(numbers, name) for name in ("precision", "recall", "f1")
    }
    return MatrixRow(
        predicts=predicts,
        gold=rater,
        n_segments=n_segments,
        **measures,
        reason=reason or None,
        why=reason,
        agreement=numbers,
        same_rater=marks.raters.get(predicts, predicts) == rater,
    )


def _mean_f1(cells: tuple[tuple[MatrixRow, ...], ...], *, same: bool) -> float | None:
    """Mean F1 over cells whose row represents the column's rater (`same`) or over the others; None if none is defined.

    For specialists: how well each matches its own rater, or other raters.
    """
    import numpy as np

    values = [
        cell.f1.value
        for line in cells
        for cell in line
        if cell.same_rater is same and cell.f1.value is not None
    ]
    return float(np.mean(values)) if values else None


def _sentences(found: RaterMatrix) -> tuple[str, ...]:
    from core.results.cells import decimal

    means = (
        ("with the rater of the same name", found.mean_f1_same_name),
        ("with other raters", found.mean_f1_other_names),
    )
    return tuple(f"Mean F1 {whose}: {decimal(mean, 3)}" for whose, mean in means if mean is not None)


def _figures(found: RaterMatrix) -> tuple[AnyFigure, ...]:
    cells = f"{len(found.rows)} rows that predict {len(found.columns)} raters"
    return (
        Heat(
            table="raters",
            alt=f"Heat map of F1: {cells}",
            value="f1",
            row="predicts",
            columns=("gold",),
            row_title="predicting rater",
            column_title="rater whose marks are the gold",
            also={name: f"Heat map of {name}: {cells}" for name in ("precision", "recall")},
            instead=True,
        ),
    )


ANALYSIS = Analysis(
    name="raters",
    title="Rater by rater",
    question="How well do the errors that one rater or judge marks predict another rater's?",
    Options=SpanOptions,
    Result=RaterMatrix,
    takes=("marks_by_rater",),
    compute=compute,
    verdicts=lambda _: (),
    sentences=_sentences,
    figures=_figures,
    section="judges#rater-by-rater",
    refuses="If the ratings name no raters.",
    misleads="If raters share few texts, cells rest on different texts, so they differ by more than the raters.",
    example="""
>>> import assay, pandas as pd
>>> marks = pd.DataFrame({"item_id": "q1", "system": "A", "rater": ["ann", "ben"], "severity": "major"})
>>> found = assay.raters(marks.assign(start=0, end=[4, 6]), resamples=0)
>>> found.json["rows"], round(found.json["mean_f1_other_names"], 2)
(['ann', 'ben'], 0.8)
""",
    tables=(
        Table(
            "raters",
            MatrixRow,
            lambda found: [cell for line in found.cells for cell in line],
            "Rater by rater",
            notes=lambda found: (*resampling_notes(found.options), *found.notes),
        ),
    ),
)
