"""Ratings and an evaluator's scores as classes on offer; or as numbers, where they are none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.analysis.calibration_joined import JoinedDimension
from core.schema.tasks import Dimension
from core.stats.resampling import Floats
from core.stats.votes import MISSING, Codes

MOST_CLASSES = 11
"""Whole numbers of a wider range, such as 0 to 100, are taken for numbers."""
NOT_WHOLE = "ratings are not whole numbers"
TOO_WIDE = f"ratings take more than {MOST_CLASSES} whole numbers"
FEW = "a rating is no class on offer"
MIXED = "dimensions with different classes cannot be put together"
_SAME = 1e-9


@dataclass(frozen=True)
class Labelled:
    """Texts with every rater's class and the evaluator's. Arrays have one row a text."""

    dimensions: tuple[str, ...]
    classes: tuple[float, ...]
    """Worst first; empty: numbers."""
    why_numbers: str | None
    one_scale: bool
    """Whether the evaluator's scores lie within the range of the ratings, so that differences mean something."""
    items: NDArray[np.int64]
    """A number for each text's item, the same in all dimensions."""
    raters: tuple[str, ...]
    ratings: Floats
    """Shape (texts, raters)."""
    scores: Floats
    """Shape (texts,); NaN where there is none, or one off the scale."""
    off_scale: NDArray[np.bool_]
    """Texts whose score lies off the scale. They stay among the raters' own."""
    votes: Codes
    """Shape (texts, raters); codes of classes, -1 for missing."""
    evaluator: Codes
    """Shape (texts,)."""
    reasons: tuple[str | None, ...]
    """Why the evaluator gave no score."""
    notes: tuple[str, ...] = ()

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Texts that have a score, be it off the scale."""
        return np.asarray(~np.isnan(self.scores) | self.off_scale, dtype=np.bool_)

    @property
    def mean_ratings(self) -> Floats:
        """The mean of each text's ratings, NaN where it has none: shape (texts,)."""
        given = ~np.isnan(self.ratings)
        total = np.where(given, self.ratings, 0.0).sum(axis=1)
        return np.asarray(
            np.where(given.any(axis=1), total / np.maximum(given.sum(axis=1), 1), np.nan), dtype=np.float64
        )

    def only(self, used: NDArray[np.bool_] | Sequence[int]) -> "Labelled":
        """Some of the texts."""
        places = np.flatnonzero(used) if np.asarray(used).dtype == np.bool_ else np.asarray(used, dtype=int)
        return replace(
            self,
            items=self.items[places],
            ratings=self.ratings[places],
            scores=self.scores[places],
            off_scale=self.off_scale[places],
            votes=self.votes[places],
            evaluator=self.evaluator[places],
            reasons=tuple(self.reasons[place] for place in places.tolist()),
        )


def labelled(joined: JoinedDimension, items: NDArray[np.int64], task: Dimension | None = None) -> Labelled:
    """The texts with their classes.

    items: a number for each text's item. task: the classes on offer. Without it they are the whole numbers from the
    lowest to the highest rating, where all ratings are whole and the range is no wider than MOST_CLASSES; a class that
    no rater ever gave is not known then. The evaluator's scores never change the classes. A score between two classes,
    such as the mean of several repeats, counts as the nearest, of two equally near ones as the lower. A score off the
    scale is left out and noted; where at least half of them are, the evaluator has another scale, and the dimension is
    one of numbers. Misleads where scores are left out and no task is named: they may be classes that no rater gave.
    """
    ratings, scores = joined.ratings, joined.scores
    given = ratings[~np.isnan(ratings)]
    classes, why, notes = _classes(joined.dimension, given, task)
    ends = [*given, *classes, *((task.lowest, task.highest) if task else ())]
    low, high = min(ends, default=0.0) - _SAME, max(ends, default=0.0) + _SAME
    outside = np.asarray((scores < low) | (scores > high), dtype=np.bool_)  # NaN is neither
    one_scale = 2 * outside.sum() < (~np.isnan(scores)).sum()
    off_scale = outside & one_scale & (bool(classes) or task is not None)
    scores = np.where(off_scale, np.nan, scores)
    one_scale = one_scale and not (outside & ~off_scale).any()
    known = scores[~np.isnan(scores)]
    if classes and known.size and not one_scale:
        classes, why, notes = (), _beyond(known, classes), []
    evaluator = np.full(scores.shape, MISSING, dtype=np.int64)
    votes = np.full(ratings.shape, MISSING, dtype=np.int64)
    if off_scale.any():
        notes = [
            *notes,
            f"{joined.dimension}: scores of the evaluator off the scale of {low + _SAME:g} to {high - _SAME:g} are left "
            f"out: {off_scale.sum()}",
        ]
    if classes:
        evaluator[~np.isnan(scores)], n_between = _nearest(known, classes)
        votes[~np.isnan(ratings)], _ = _nearest(given, classes)
        if n_between:
            notes = [
                *notes,
                f"{joined.dimension}: {n_between} scores of the evaluator lie between two classes and count as the nearest",
            ]
    return Labelled(
        (joined.dimension,),
        classes,
        why,
        bool(one_scale),
        items,
        joined.raters,
        ratings,
        scores,
        off_scale,
        votes,
        evaluator,
        joined.reasons,
        tuple(notes),
    )


def _classes(
    dimension: str, given: Floats, task: Dimension | None
) -> tuple[tuple[float, ...], str | None, list[str]]:
    """The classes, why there are none, and what was assumed. Scores do not decide: they are what is compared."""
    if task is not None and len(task.classes) > MOST_CLASSES:
        return (), f"the task offers more than {MOST_CLASSES} classes", []
    if task is not None and task.classes:
        offered = np.array(task.classes)
        if not np.isclose(given[:, None], offered, atol=_SAME, rtol=0).any(axis=1).all():
            return (), f"{FEW} in the task {_listed(task.classes)}", []
        return task.classes, None, []
    if task is not None:
        return (), "the task offers every number of a range", []
    if not np.array_equal(given, np.round(given)):
        return (), NOT_WHOLE, []
    first, last = given.min(), given.max()
    if last - first + 1 > MOST_CLASSES:
        return (), TOO_WIDE, []
    # A scale of one class is none: another must have been on offer.
    if first == last:
        first, last = (first - 1, last) if first > 0 else (first, last + 1)
    classes = tuple(float(value) for value in np.arange(first, last + 1))
    note = f"{dimension}: the classes are taken to be {_listed(classes)}; name the task for those that were on offer"
    return classes, None, [note]


def _nearest(values: Floats, classes: Sequence[float]) -> tuple[Codes, int]:
    """The nearest class of each value, the lower of two; and how many values are no class themselves."""
    # A hair towards the lower class, so that halves do not depend on rounding.
    apart = np.abs(values[:, None] - np.array(classes)) + _SAME * np.arange(len(classes))
    codes = apart.argmin(axis=1).astype(np.int64)
    between = np.abs(values - np.array(classes)[codes]) > _SAME
    return codes, int(between.sum())


def _beyond(known: Floats, classes: Sequence[float]) -> str:
    return f"scores reach from {known.min():g} to {known.max():g}, beyond the classes {_listed(classes)}"


def _listed(classes: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in classes)


def together(parts: Sequence[Labelled]) -> Labelled:
    """Texts of several dimensions in one: as classes where all have the same ones, else as nothing comparable.

    Items stay the same across dimensions, so that what is said of one item is resampled together.
    """
    if len(parts) == 1:
        return parts[0]
    alike = {(part.classes, part.why_numbers is None) for part in parts}
    raters = tuple(dict.fromkeys(name for part in parts for name in part.raters))
    first = parts[0]
    classes = first.classes if len(alike) == 1 else ()
    why = first.why_numbers if len(alike) == 1 else MIXED
    return Labelled(
        tuple(name for part in parts for name in part.dimensions),
        classes,
        why,
        len(alike) == 1 and all(part.one_scale for part in parts),
        np.concatenate([part.items for part in parts]),
        raters,
        np.concatenate([_aligned(part.ratings, part.raters, raters, np.nan) for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.off_scale for part in parts]),
        np.concatenate([_aligned(part.votes, part.raters, raters, MISSING) for part in parts]).astype(
            np.int64
        ),
        np.concatenate([part.evaluator for part in parts]),
        tuple(reason for part in parts for reason in part.reasons),
    )


def _aligned(array: Floats | Codes, own: Sequence[str], raters: Sequence[str], blank: float) -> Floats:
    """The array with a column for every rater; blank for those who did not rate this dimension."""
    found = np.full((len(array), len(raters)), blank)
    found[:, [raters.index(name) for name in own]] = array
    return found
