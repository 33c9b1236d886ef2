"""Raters' errors on each dimension by Dawid and Skene's model, and the evaluator against the classes that it estimates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.results.calibration.results import MAJORITIES, Calibration
from core.results.cells import ends, interval
from core.results.confusion import Confusions, accuracy_table, confusion_table, confusions, confusions_json
from core.schema.result_table import Column, ResultTable
from core.stats.agreement import majority_labels
from core.stats.dawid_skene import dawid_skene
from core.stats.resampling import Estimate, mean_estimates
from core.stats.votes import MISSING, Codes

DAWID_SKENE_TABLES = ("dawid-skene", "confusion", "dawid-skene-agreement")
NO_CLASSES = "ratings are numbers, not classes"


@dataclass(frozen=True)
class RaterClasses:
    """The model's estimates on one dimension."""

    found: Confusions
    with_majority: Estimate
    """Share of texts on which the evaluator gives the class of the majority."""
    with_model: Estimate
    """Share of texts on which the evaluator gives the most probable class of the model."""
    n_changed: int
    """Texts with a majority and a most probable class that differ."""


def rater_classes(found: Calibration) -> dict[str, RaterClasses]:
    """Fit the model to the votes of each dimension with classes, over all texts that were matched; items are clusters.

    It never replaces the majority: it is a table of its own. Groups are not separated, because small ones are not
    identified.
    """
    made = {}
    for dimension, part in found.parts.items():
        if not part.classes:
            continue
        options = found.options
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
            **options.resampling,
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


def dawid_skene_tables(found: Sequence[tuple[Calibration, Mapping[str, RaterClasses]]]) -> list[ResultTable]:
    """Tables by their names in `DAWID_SKENE_TABLES`, dimension by dimension.

    Raters are those of the first evaluator's texts: all evaluators are usually compared on the same ones.
    """
    first = found[0][1] if found else {}
    rows = [(dimension, one.found) for dimension, one in first.items()]
    several = len(found) > 1
    rule = MAJORITIES[found[0][0].options.majority] if found else ""
    return [
        accuracy_table("dawid-skene", rows, of="Dimension"),
        confusion_table("confusion", rows, of="Dimension"),
        ResultTable(
            "dawid-skene-agreement",
            (
                Column("evaluator", "Evaluator", shown=several, names_row=several),
                Column("dimension", "Dimension", names_row=True),
                Column("with_majority", "Agrees with the majority"),
                Column("with_model", "Agrees with Dawid-Skene"),
                Column("n_changed", "Texts with another class"),
            ),
            tuple(
                (
                    calibration.evaluator,
                    dimension,
                    interval(one.with_majority),
                    interval(one.with_model),
                    one.n_changed,
                )
                for calibration, own in found
                for dimension, one in own.items()
            ),
            title="Evaluator against Dawid-Skene's classes",
            notes=(
                f"Split raters in the majority: {rule}. Another class: the majority and the model's most probable class differ.",
            )
            if rows
            else (f"Not estimated: {NO_CLASSES}.",),
        ),
    ]


def dawid_skene_json(found: Mapping[str, RaterClasses]) -> dict[str, Any]:
    """The documented form (docs/formats.md): dimension -> estimates."""
    return {
        dimension: {
            **confusions_json(one.found),
            "with_majority": {**ends(one.with_majority), "n": one.with_majority.n},
            "with_model": {**ends(one.with_model), "n": one.with_model.n},
            "n_changed": one.n_changed,
        }
        for dimension, one in found.items()
    }
