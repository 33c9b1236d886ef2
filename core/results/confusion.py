"""Raters' confusion matrices by Dawid and Skene's model, for ratings with classes. Votes on pairs have no true class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.results.cells import interval, plain
from core.schema.result_table import Cell, Column, Interval, ResultTable
from core.stats.dawid_skene import ALPHA, DawidSkene
from core.stats.resampling import Estimate

DECIDES_NOTHING = (
    "Dawid-Skene decides nothing by itself: it takes an error that several raters share for the truth. Exclude a rater only "
    "by a rule that was declared, or by evidence beside it."
)
NOTABLY_BETTER = 1.0
"""Log likelihood that another start must gain before a note reports it."""
_EMPTY_ROW = "too few labels expected on this class"


@dataclass(frozen=True)
class RaterConfusion:
    """What the model estimates of one rater."""

    rater: str
    accuracy: Estimate
    """Expected share of the rater's labels that give the class."""
    difference: Estimate
    """Accuracy minus the mean accuracy of the other raters."""
    p: float | None
    p_holm: float | None
    """The p-value of the difference, corrected by Holm for the number of raters."""
    below_others: bool
    expected: tuple[float | None, ...]
    """Expected number of the rater's labels on each class."""
    matrix: tuple[tuple[float | None, ...], ...]
    """Probability of each label (inner) for each class (outer); None in a row with too few labels."""


@dataclass(frozen=True)
class Confusions:
    """What the model estimates of all raters and classes."""

    classes: tuple[str, ...]
    class_shares: tuple[float | None, ...]
    raters: tuple[RaterConfusion, ...]
    n_units: int
    n_left_out: int
    """Units without a label."""
    n_shared: int
    """Units with labels of at least three raters."""
    log_likelihood: float | None
    n_iterations: int
    converged: bool
    better_by: float
    """Log likelihood that the best of other starts gained."""
    smoothing: float
    reason: str | None
    """Why nothing is estimated."""

    @property
    def below_others(self) -> tuple[str, ...]:
        """Raters who are less accurate than the others."""
        return tuple(one.rater for one in self.raters if one.below_others)


def confusions(
    model: DawidSkene,
    raters: Sequence[str],
    classes: Sequence[str],
    *,
    units: str,
) -> Confusions:
    """Attach names to a model's estimates. units: what reasons call units, such as texts."""

    def named(estimate: Estimate) -> Estimate:
        return replace(estimate, reason=estimate.reason and estimate.reason.replace("units", units))

    return Confusions(
        classes=tuple(classes),
        class_shares=_numbers(model.class_shares),
        raters=tuple(
            RaterConfusion(
                rater=rater,
                accuracy=named(model.accuracy[at]),
                difference=named(model.difference[at]),
                p=model.p[at],
                p_holm=p_holm,
                below_others=below,
                expected=_numbers(model.expected[at]),
                matrix=tuple(_numbers(row) for row in model.confusion[at]),
            )
            for at, (rater, p_holm, below) in enumerate(
                zip(raters, model.p_holm, model.below_others, strict=True)
            )
        ),
        n_units=model.n_units,
        n_left_out=model.n_left_out,
        n_shared=model.n_shared,
        log_likelihood=model.log_likelihood,
        n_iterations=model.n_iterations,
        converged=model.converged,
        better_by=model.better_by,
        smoothing=model.smoothing,
        reason=model.reason and model.reason.replace("units", units),
    )


def _numbers(values: np.ndarray[Any, Any]) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def confusions_json(found: Confusions) -> dict[str, Any]:
    """The documented form (docs/formats.md), ready for json.dumps."""
    made: dict[str, Any] = plain(found)
    return made


def accuracy_table(name: str, rows: Sequence[tuple[str, Confusions]], *, of: str = "") -> ResultTable:
    """Table of raters' accuracies. rows: what the estimates are of (such as a dimension), and the estimates.

    of: title of the column with it; empty: there is only one.
    """
    return ResultTable(
        name,
        (
            *_named(of),
            Column("rater", "Rater", names_row=True),
            Column("labels", "Answers"),
            Column("accuracy", "Accuracy"),
            Column("difference", "Minus the others"),
            Column("p", p_value=True, shown=False),
            Column("p_holm", "p (Holm)", p_value=True),
            Column("below_others", "Below the others"),
        ),
        tuple(
            (
                *((what,) if of else ()),
                one.rater,
                one.accuracy.n,
                interval(one.accuracy),
                interval(one.difference),
                one.p,
                one.p_holm,
                "yes" if one.below_others else "no",
            )
            for what, found in rows
            if found.reason is None
            for one in found.raters
        ),
        title="Raters by Dawid-Skene",
        notes=tuple(
            dict.fromkeys(note for what, found in rows for note in _notes(what if of else "", found))
        ),
    )


def _notes(what: str, found: Confusions) -> list[str]:
    where = f"{what}: " if what else ""
    if found.reason is not None:
        return [f"{where}not estimated: {found.reason}."]
    groups = max((one.accuracy.n_resamples for one in found.raters), default=0)
    level = max((one.accuracy.confidence_level for one in found.raters), default=0.95)
    notes = [
        "Accuracy: expected share of a rater's answers that give the estimated class. Below the others: accuracy minus the "
        f"mean of the other raters is below 0, with p below {ALPHA:g} corrected by Holm for the number of raters.",
        f"In brackets: {level:.0%} intervals, jackknife-t over {groups} groups of items. Smoothing: {found.smoothing:g} label per "
        "row. Classes start from the shares of votes.",
    ]
    if not found.converged:
        notes.append(f"{where}stopped after {found.n_iterations:,} iterations without converging.")
    if found.better_by > NOTABLY_BETTER:
        notes.append(
            f"{where or 'Dawid-Skene: '}another start fits better (log likelihood +{found.better_by:.1f}): the estimates are not the only "
            "plausible ones."
        )
    return [*notes, DECIDES_NOTHING]


def confusion_table(
    name: str,
    rows: Sequence[tuple[str, Confusions]],
    titles: Mapping[str, str] | None = None,
    *,
    of: str = "",
) -> ResultTable:
    """Table of confusion matrices: a row for each rater and class, a column for each label. titles: class -> its title.

    rows, of: as in `accuracy_table`. A column is empty for estimates that do not have its class.
    """
    classes = list(dict.fromkeys(one for _, found in rows for one in found.classes))
    titles = titles or {}
    return ResultTable(
        name,
        (
            *_named(of),
            Column("rater", "Rater", names_row=True),
            Column("class", "Estimated class", names_row=True),
            Column("expected", "Answers expected", places=1),
            *(Column(one, titles.get(one, one), places=2) for one in classes),
        ),
        tuple(
            (
                *((what,) if of else ()),
                one.rater,
                titles.get(said, said),
                expected,
                *_row_cells(dict(zip(found.classes, row, strict=True)), classes),
            )
            for what, found in rows
            if found.reason is None
            for one in found.raters
            for said, expected, row in zip(found.classes, one.expected, one.matrix, strict=True)
        ),
        title="Confusion of each rater",
        notes=(
            "Rows: the class that the model estimates. Columns: the answer. Right answers are on the diagonal.",
        )
        if any(found.reason is None for _, found in rows)
        else (),
    )


def _row_cells(by_class: Mapping[str, float | None], classes: Sequence[str]) -> list[Cell]:
    return [
        None
        if one not in by_class
        else Interval(by_class[one], reason=_EMPTY_ROW if by_class[one] is None else "")
        for one in classes
    ]


def _named(of: str) -> tuple[Column, ...]:
    return (Column(of.lower(), of, names_row=True),) if of else ()
