"""Raters' confusion matrices by Dawid and Skene's model, for ratings with classes. Votes on pairs have no true class."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.stats.dawid_skene import ALPHA, DawidSkene
from core.stats.resampling import Estimate

DECIDES_NOTHING = (
    "Dawid-Skene decides nothing by itself: it takes an error that several raters share for the truth. Exclude a rater only "
    "by a rule that was declared, or by evidence beside it."
)
NOTABLY_BETTER = 1.0
"""Log likelihood that another start must gain before a note reports it."""
EMPTY_ROW = "too few labels expected on this class"


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


def model_notes(what: str, estimates: Confusions) -> list[str]:
    """How the estimates were made, and what is doubtful about them. what: what they are of; empty: nothing else is there."""
    where = f"{what}: " if what else ""
    if estimates.reason is not None:
        return [f"{where}not estimated: {estimates.reason}."]
    groups = max((one.accuracy.n_resamples for one in estimates.raters), default=0)
    level = max((one.accuracy.confidence_level for one in estimates.raters), default=0.95)
    notes = [
        "Accuracy: expected share of a rater's answers that give the estimated class. Below the others: accuracy minus the "
        f"mean of the other raters is below 0, with p below {ALPHA:g} corrected by Holm for the number of raters.",
        f"In brackets: {level:.0%} intervals, jackknife-t over {groups} groups of items. Smoothing: {estimates.smoothing:g} label per "
        "row. Classes start from the shares of votes.",
    ]
    if not estimates.converged:
        notes.append(f"{where}stopped after {estimates.n_iterations:,} iterations without converging.")
    if estimates.better_by > NOTABLY_BETTER:
        notes.append(
            f"{where or 'Dawid-Skene: '}another start fits better (log likelihood +{estimates.better_by:.1f}): the estimates are not the only "
            "plausible ones."
        )
    return [*notes, DECIDES_NOTHING]
