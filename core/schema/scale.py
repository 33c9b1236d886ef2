"""The scale that raters use: kind, classes, order. It belongs to the data: declared, or guessed and shown, never what was observed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Kind = Literal["two", "ordered", "unordered", "scores"]
KINDS: Mapping[Kind, str] = {
    "two": "two classes",
    "ordered": "ordered classes",
    "unordered": "classes without an order",
    "scores": "scores",
}
"""Kinds of a scale, and their names in sentences."""
Origin = Literal["declared", "file", "guessed"]
STANDARD: Sequence[tuple[int, int]] = ((-1, 1), (0, 2), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10))
"""Ends of scales of whole numbers, in the order in which one is guessed that holds all ratings."""
_TWO = tuple(
    (low, high) for low, high in ((0, 1), (1, 2), (-1, 1), (0, 2), (1, 5), (0, 5), (0, 10), (0, 100))
)
"""Pairs of numbers that are read as two classes where raters gave no other: the ends of scales."""
MOST_GUESSED = 11
"""Classes of the largest scale that is guessed: 0 to 10."""


@dataclass(frozen=True)
class Scale:
    """The values that raters may give."""

    kind: Kind
    classes: tuple[float, ...] = ()
    """All classes on offer, from worst to best where they have an order; empty for scores."""
    words: Mapping[float, str] = field(default_factory=dict)
    """Class -> word; empty where classes are numbers."""
    ends: tuple[float, float] | None = None
    """Lowest and highest value on offer; None for classes without an order."""
    origin: Origin = "guessed"
    """declared: by the user; file: by a form or a study; guessed: from the ratings."""
    missing: tuple[str, ...] = ()
    """Words that are read as no rating and no score."""

    @property
    def ordered(self) -> bool:
        """Whether a larger value is better or more."""
        return self.kind != "unordered"

    def on_offer(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Which values are classes of this scale; for scores which lie within its ends. Shape of `values`; NaN is neither."""
        given = np.asarray(values, dtype=np.float64)
        if self.classes:
            return np.asarray(np.isin(given, self.classes))
        if self.ends is None:
            return np.asarray(~np.isnan(given))
        return np.asarray((given >= self.ends[0]) & (given <= self.ends[1]))

    def name(self, value: float) -> str:
        """The word of a class, or its number."""
        return self.words.get(value, f"{value:g}")

    @property
    def said(self) -> str:
        """The scale in a few words: `two classes (fail, pass)`, `ordered classes 1 to 5`."""
        if self.words or self.kind in {"two", "unordered"}:
            names = ", ".join(self.name(value) for value in self.classes)
            return f"{KINDS[self.kind]} ({names})"
        return (
            KINDS[self.kind]
            if self.ends is None
            else f"{KINDS[self.kind]} {self.ends[0]:g} to {self.ends[1]:g}"
        )


TO_GUESS = Scale("scores")
"""Stands for a scale that is to be guessed from the ratings."""


def scale_of_range(low: float, high: float, *, origin: Origin = "declared") -> Scale:
    """The ordered classes of all whole steps from low to high; two of them are two classes."""
    classes = tuple(float(value) for value in np.arange(low, high + 0.5))
    return Scale("two" if len(classes) == 2 else "ordered", classes, ends=(low, high), origin=origin)


def guessed_scale(ratings: ArrayLike) -> Scale:
    """The scale of ratings that are numbers, from their values alone: never their range, which further ratings widen.

    0 and 1, or both ends of a usual scale and nothing between: two classes. Other whole numbers: the first of STANDARD that
    holds them all. All else: scores. ratings: any shape, NaN for none. Misleads where numbers are codes of classes without an
    order, and where a scale of another length was used: declare it.
    """
    given = np.asarray(ratings, dtype=np.float64)
    values = np.unique(given[~np.isnan(given)])
    if not values.size or not np.array_equal(values, np.round(values)):
        return Scale("scores")
    low, high = float(values[0]), float(values[-1])
    if low >= 0 and high <= 1:
        return Scale("two", (0.0, 1.0), ends=(0.0, 1.0))
    if values.size == 2 and (low, high) in _TWO:
        return Scale("two", (low, high), ends=(low, high))
    for first, last in STANDARD:
        if first <= low and high <= last:
            return scale_of_range(first, last, origin="guessed")
    return Scale("scores")
