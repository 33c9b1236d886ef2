"""The scale that raters use: kind, classes, order. It belongs to the data: declared, or guessed and shown, never what was observed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import InputError, Problems

Kind = Literal["two", "ordered", "unordered", "scores"]
KINDS: Mapping[Kind, str] = {
    "two": "two classes",
    "ordered": "ordered classes",
    "unordered": "classes without an order",
    "scores": "scores",
}
"""Kinds of a scale, and their names in sentences."""
SCORES: Kind = "scores"
BY_NAME: frozenset[Kind] = frozenset({"two", "unordered"})
"""Kinds on which two values are the same or not; on the others it counts how far apart they are."""
Origin = Literal["declared", "file", "guessed"]
ORIGINS: Mapping[Origin, str] = {
    "declared": "as declared",
    "file": "as the study defines it",
    "guessed": "guessed from the ratings",
}
"""Where a scale comes from, in sentences."""
STANDARD: Sequence[tuple[int, int]] = ((-1, 1), (0, 2), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10))
"""Ends of scales of whole numbers, in the order in which one is guessed that holds all ratings."""
_TWO = tuple(
    (low, high) for low, high in ((0, 1), (1, 2), (-1, 1), (0, 2), (1, 5), (0, 5), (0, 10), (0, 100))
)
"""Pairs of numbers that are read as two classes where raters gave no other: the ends of scales."""
MOST_GUESSED = 11
"""Classes of the largest scale that is guessed: 0 to 10."""
_LISTED = 7


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
    penalties: bool = False
    """Whether a rating is the penalty of the errors that a rater marked: 0 without an error, else below."""

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
        if self.words or self.kind in BY_NAME:
            names = ", ".join(self.name(value) for value in self.classes[:_LISTED])
            more = f" and {len(self.classes) - _LISTED} more" if len(self.classes) > _LISTED else ""
            return f"{KINDS[self.kind]} ({names}{more})"
        if self.penalties:
            return "penalties of marked errors"
        if self.ends is None:
            return KINDS[self.kind]
        return f"{KINDS[self.kind]} {self.ends[0]:g} to {self.ends[1]:g}"

    @property
    def read_as(self) -> str:
        """The scale and where it comes from: `two classes (fail, pass), guessed from the ratings`."""
        return f"{self.said}, {ORIGINS[self.origin]}"


TO_GUESS = Scale("scores")
"""Stands for a scale that is to be guessed from the ratings."""


@dataclass(frozen=True)
class DeclaredScale:
    """What a user says about the scale of the ratings. What is not said is guessed."""

    kind: Kind | None = None
    ends: tuple[float, float] | None = None
    """Lowest and highest number on offer."""
    classes: tuple[str, ...] = ()
    """All classes as the file writes them, from worst to best unless `kind` is unordered."""
    missing: tuple[str, ...] = ()
    """Cells that are no rating and no score."""

    @property
    def numbers(self) -> tuple[float, ...]:
        """The classes as numbers that rise; empty where they are words, or numbers that fall from worst to best."""
        try:
            found = tuple(float(name) for name in self.classes)
        except ValueError:
            return ()
        if self.kind == "unordered":
            return tuple(sorted(found))
        return found if list(found) == sorted(found) else ()

    @property
    def leaves_all_open(self) -> bool:
        """Whether nothing is said about kind, range and classes."""
        return self.kind is None and self.ends is None and not self.classes

    def kind_of(self, n_classes: int) -> Kind:
        """The kind of a scale with so many declared classes."""
        return "unordered" if self.kind == "unordered" else "two" if n_classes == 2 else "ordered"


NOT_DECLARED = DeclaredScale()
_RANGE = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*-\s*([-+]?\d+(?:\.\d+)?)\s*")


def declared_scale(
    scale: str | None = None, classes: Sequence[str] | None = None, missing: Sequence[str] | None = None
) -> DeclaredScale:
    """Read what a user declares. scale: a kind, or a range such as `1-5`. Raises InputError with all problems."""
    problems = Problems()
    kind: Kind | None = None
    ends: tuple[float, float] | None = None
    named = tuple(str(name).strip() for name in classes or ())
    left_out = tuple(str(name).strip() for name in missing or ())
    plain = [name.casefold() for name in named]
    if scale is not None:
        kind = next((one for one in get_args(Kind) if one == scale.strip().casefold()), None)
        if kind is None and (found := _RANGE.fullmatch(scale)):
            ends = float(found[1]), float(found[2])
        if kind is None and (ends is None or ends[0] >= ends[1]):
            problems.append(
                f"scale: {scale!r} is neither {', '.join(get_args(Kind))} nor a range from low to high such as 1-5"
            )
    if named and (ends is not None or kind == SCORES):
        problems.append("classes: not beside a range or scores, which have no list of classes; leave one out")
    if named and (len({*plain}) < len(plain) or "" in plain or len(plain) < 2):
        problems.append("classes: expected at least two different ones, such as fail,partial,pass")
    elif named and kind == "two" and len(named) != 2:
        problems.append(f"classes: {len(named)} are named, and the scale is declared to have two")
    if both := [name for name in left_out if name.casefold() in plain]:
        problems.append(f"missing: {', '.join(both)}: named among the classes too; leave one out")
    if problems:
        raise InputError("Invalid scale", problems)
    return DeclaredScale(kind, ends, named, left_out)


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


def guessed_beside(ratings: ArrayLike, scores: ArrayLike) -> Scale:
    """The scale of ratings that are numbers; where they are all the same, guessed from the judges' scores, too.

    ratings all 1 may be the better of 0 and 1, or the worst of 1 to 5: a judge whose scores go beyond the two classes shows a
    longer scale, and if none has both, the ratings are scores. scores: shape (n, judges), NaN for none.
    """
    guess = guessed_scale(ratings)
    given = np.asarray(ratings, dtype=np.float64)
    values = np.unique(given[~np.isnan(given)])
    if values.size != 1 or not guess.classes:
        return guess
    beyond = False
    for column in np.asarray(scores, dtype=np.float64).T:
        known = column[~np.isnan(column)]
        if not known.size or (guess.on_offer(known).all() or (known.min() >= 0 and known.max() <= 1)):
            continue
        both = guessed_scale([*values, *np.floor(known), *np.ceil(known)])
        if both.classes:
            return both
        beyond = True
    return Scale("scores") if beyond else guess


def scale_of_numbers(
    ratings: ArrayLike,
    declared: DeclaredScale = NOT_DECLARED,
    *,
    codes: bool = False,
    beside: ArrayLike | None = None,
) -> Scale:
    """The scale of ratings that are numbers: as declared, else guessed.

    beside: the judges' scores, for `guessed_beside`. codes: whether the numbers are codes of classes without an order, unless something else is declared. Of these, and of two
    classes that are not the ends of a usual scale, the ratings show which are on offer. Raises InputError where the ratings do
    not tell what the declaration leaves open.
    """
    given = np.asarray(ratings, dtype=np.float64)
    values = tuple(np.unique(given[~np.isnan(given)]).tolist())
    guess = guessed_scale(values) if beside is None else guessed_beside(values, beside)
    return replace(_number_scale(values, declared, codes, guess), missing=declared.missing)


def _number_scale(values: tuple[float, ...], declared: DeclaredScale, codes: bool, guess: Scale) -> Scale:
    kind = declared.kind
    if numbers := declared.numbers:
        ends = None if kind == "unordered" else (numbers[0], numbers[-1])
        return Scale(declared.kind_of(len(numbers)), numbers, ends=ends, origin="declared")
    if declared.ends is not None:
        low, high = declared.ends
        steps = low.is_integer() and high.is_integer() and high - low < MOST_GUESSED
        return scale_of_range(low, high) if steps else Scale("scores", ends=(low, high), origin="declared")
    if kind == SCORES:
        return Scale("scores", origin="declared")
    if kind == "unordered" or (kind is None and codes):
        return Scale("unordered", values, origin="guessed" if kind is None else "declared")
    if kind is None or guess.kind == kind:
        return guess if kind is None else replace(guess, origin="declared")
    if kind == "two" and len(values) == 2:
        return Scale("two", values, ends=values, origin="declared")
    if kind == "ordered" and guess.kind == "two" and guess.ends != (0.0, 1.0):
        return scale_of_range(values[0], values[-1])
    seen = ", ".join(f"{value:g}" for value in values[:_LISTED]) + (", ..." if len(values) > _LISTED else "")
    wanted = (
        "state the range, such as 1-5, or list the classes" if kind == "ordered" else "list the two classes"
    )
    raise InputError(
        "The ratings do not show their scale",
        [f"scale: {KINDS[kind]} cannot be told from {seen or 'no rating'}; {wanted}"],
    )
