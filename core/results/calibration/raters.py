"""Raters' errors on each dimension by Dawid and Skene's model, and the evaluator against the classes that it estimates."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.results.calibration.results import Calibration, resampling_of
from core.results.confusion import Confusions, confusions
from core.stats.agreement import majority_labels
from core.stats.dawid_skene import dawid_skene
from core.stats.resampling import Estimate, mean_estimates
from core.stats.votes import MISSING, Codes


@dataclass(frozen=True)
class RaterClasses:
    """The model's estimates on one dimension."""

    confusions: Confusions
    with_majority: Estimate
    """Share of texts on which the evaluator gives the class of the majority."""
    with_model: Estimate
    """Share of texts on which the evaluator gives the most probable class of the model."""
    n_changed: int
    """Texts with a majority and a most probable class that differ."""


def rater_classes(calibration: Calibration) -> dict[str, RaterClasses]:
    """Fit the model to the votes of each dimension with classes, over all texts that were matched; items are clusters.

    It never replaces the majority: it is a table of its own. Groups are not separated, because small ones are not
    identified.
    """
    made = {}
    for dimension, part in calibration.parts.items():
        if not part.classes:
            continue
        options = calibration.options
        model = dawid_skene(
            part.votes,
            len(part.classes),
            clusters=part.items,
            confidence_level=options.confidence_level,
            rng=options.rng,
        )
        majority = majority_labels(part.votes, len(part.classes), options.majority)
        both = np.column_stack([majority, model.labels])
        with_majority, with_model = mean_estimates(
            np.column_stack([_same(part.evaluator, majority), _same(part.evaluator, model.labels)]),
            part.items,
            **resampling_of(options),
        )
        made[dimension] = RaterClasses(
            confusions(model, part.raters, [f"{value:g}" for value in part.classes], units="texts"),
            with_majority,
            with_model,
            int(((both != MISSING).all(axis=1) & (both[:, 0] != both[:, 1])).sum()),
        )
    return made


def _same(evaluator: Codes, labels: Codes) -> np.ndarray[Any, Any]:
    """1 where both are equal, 0 where not, NaN where one is missing."""
    known = (evaluator != MISSING) & (labels != MISSING)
    return np.where(known, evaluator == labels, np.nan)
