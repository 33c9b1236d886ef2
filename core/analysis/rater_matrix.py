"""Raters against raters, and specialists made from one rater's ratings against each rater (002, rater by rater)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.analysis.span_agreement import DEFAULT_SPAN_OPTIONS, SpanOptions, counts_of
from core.analysis.span_segments import pair_spans
from core.analysis.span_sides import PEOPLE, said_of
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import OutputSet, RatingSet
from core.stats.span_f1 import SpanF1, span_f1

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
