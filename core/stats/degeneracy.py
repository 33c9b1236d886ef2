"""Equal scores: ties up to rounding (.1 + .2 is .3, though not in binary), and signs that a judge's scores measure little.

Such signs are nearly constant scores, repeated words and missing findings.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import Floats

ROUNDING = 1e-12
"""Tolerance relative to the size of the summands; the error of a sum of a thousand doubles is smaller."""


FEWEST_IN_RANGE = 4


def usual_range(values: ArrayLike) -> float:
    """Range of the values that are not NaN, without the one value that more than doubles it; 0 without a value.

    Shares of a judge's range say what is small on its scale. One score of 1,000 among shares would make everything small. With
    fewer than four values, or if the others are all equal, it is the plain range. Misleads with two such values.

    >>> usual_range([0.0, 0.4, 0.6, 1.0, 1000.0]), usual_range([1.0, 1.0, 1.0, 1.0, 5.0])
    (1.0, 4.0)
    """
    given = np.asarray(values, dtype=np.float64).ravel()
    there = np.sort(given[~np.isnan(given)])
    if not there.size:
        return 0.0
    whole = float(there[-1] - there[0])
    if there.size < FEWEST_IN_RANGE:
        return whole
    others = float(min(there[-1] - there[1], there[-2] - there[0]))
    return others if ROUNDING < others < whole / 2 else whole


def tied(values: Floats, sizes: Floats | None = None) -> Floats:
    """Values along the last axis; values that differ only by rounding become the smallest of them.

    sizes: shape of values; size of the summands behind each value (a mean of -1 and 1 is 0 but has the rounding of 1).
    None: the values themselves. NaN stays. A chain of values, each close to the next, is one value.
    """
    if sizes is None:
        # Sorting values is several times as fast as sorting their places, and most columns need no more.
        ascending = np.sort(values, axis=-1)
        if not _rounding_steps(ascending, np.abs(ascending))[1].any():
            return values
    order = np.argsort(values, axis=-1, kind="stable")
    size = np.abs(values) if sizes is None else sizes
    ascending, ordered = (np.take_along_axis(each, order, axis=-1) for each in (values, size))
    near, differ = _rounding_steps(ascending, ordered)
    if not differ.any():
        return values
    place = np.broadcast_to(np.arange(values.shape[-1]), values.shape).copy()
    place[..., 1:][near] = 0
    first = np.maximum.accumulate(place, axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ascending, first, axis=-1), axis=-1)
    return result


def _rounding_steps(ascending: Floats, sizes: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each value but the first is within rounding of the one before, and whether it differs from it all the same."""
    reach = ROUNDING * np.maximum(sizes[..., 1:], sizes[..., :-1])
    near = ascending[..., 1:] <= ascending[..., :-1] + reach  # no subtraction, which could overflow
    return near, near & (ascending[..., 1:] != ascending[..., :-1])


def group_means(values: Floats, group: NDArray[np.intp], n_groups: int, least_size: float = 0.0) -> Floats:
    """Mean of the values (n,) of each group, independent of their order, with equal means tied; NaN for an empty group.

    least_size: smallest size to assume for rounding, if the values are differences of larger numbers.
    """
    if values.size == n_groups == np.unique(group).size:  # one value a group is its mean
        means = np.empty(n_groups)
        means[group] = values
        return tied(means, np.maximum(np.abs(means), least_size))
    members: list[list[float]] = [[] for _ in range(n_groups)]
    for number, value in zip(group.tolist(), values.tolist(), strict=True):
        members[number].append(value)
    means, sizes = _means(members), _means([[abs(value) for value in own] for own in members])
    return tied(means, np.maximum(sizes, least_size))


def _means(members: Sequence[Sequence[float]]) -> Floats:
    return np.array([_mean(own) if own else math.nan for own in members], dtype=np.float64)


def _mean(own: Sequence[float]) -> float:
    try:
        return math.fsum(own) / len(own)
    except OverflowError:  # the sum of the largest doubles overflows, but their mean does not
        return math.fsum(value / len(own) for value in own)


CONSTANT_SHARE = 0.95
"""A judge is nearly constant if one score has at least this share. A convention of this product, not a published
one."""


@dataclass(frozen=True)
class Constant:
    """The score of all, or nearly all, texts."""

    value: float
    """The score, on the judge's own scale."""
    share: float
    """Its share of the scores, from CONSTANT_SHARE to 1."""
    n: int
    """Number of scores, at least two."""
    n_others: int
    """Number of other scores."""

    def said(self, name: str, things: str = "texts") -> str:
        """The verdict in one or two sentences. name: the judge; things: plural noun for what it scored."""
        score = f"{self.value:.6g}"
        if not self.n_others:
            return f"{name} is constant: all {self.n:,} {things} score {score}. It cannot rank them."
        return (
            f"{name} is nearly constant: {self.n - self.n_others:,} of {self.n:,} {things} ({self.share:.1%}) score {score}. "
            f"All other results depend on the remaining {self.n_others:,}."
        )


def constants_said(named: Iterable[tuple[str, Constant | None]], things: str = "texts") -> tuple[str, ...]:
    """Sentences to show before any other number: one for each constant judge (name, constant), without repetition."""
    return tuple(dict.fromkeys(one.said(name, things) for name, one in named if one is not None))


def constant(values: ArrayLike) -> Constant | None:
    """The most frequent score if it has at least CONSTANT_SHARE of the scores; None if scores vary.

    values: any shape, NaN for missing; scores that differ only by rounding are equal. None for fewer than two scores. With
    fewer than 20 scores, all must be equal. Misleads with few texts, to which a good judge may give the same score, and if
    most texts are alike, because a constant judge may then be right.
    """
    given = np.asarray(values, dtype=np.float64).ravel()
    known = given[~np.isnan(given)]
    if known.size < 2:
        return None
    distinct, counts = np.unique(tied(known), return_counts=True)
    most = int(counts.max())
    if most < CONSTANT_SHARE * known.size:
        return None
    return Constant(float(distinct[counts.argmax()]), most / known.size, known.size, known.size - most)


Sign = Literal["constant", "duplicates", "too few", "not found", "invented"]
DUPLICATE_SHARE = 0.1
"""Repeated words are a sign from this share of the texts. A convention of this product, not a published one."""


@dataclass(frozen=True)
class Degeneracy:
    """One sign of degeneracy."""

    sign: Sign
    count: int
    """Number of texts (or of the things that the sentence names) with the sign."""
    of: int
    """Total number."""
    sentence: str
    """Sentence with the verdict first, then the numbers."""


def duplicates(answers: Iterable[tuple[Hashable, Sequence[str]]], called: str) -> Degeneracy | None:
    """Detect a judge that repeats its words for different texts; None for fewer than DUPLICATE_SHARE of them.

    answers: (text, words about it), as the judge read the text; texts without words do not count, and equal texts count
    once. called: plural noun for the words, such as `feedback`. Misleads if the words are few: a judge that always writes
    "Correct." repeats itself and may be right.
    """
    words = {text: tuple(own) for text, own in answers if own}
    times: dict[tuple[str, ...], int] = {}
    for own in words.values():
        times[own] = times.get(own, 0) + 1
    repeated = sum(n for n in times.values() if n > 1)
    if not repeated or repeated < DUPLICATE_SHARE * len(words):
        return None
    sentence = f"Repeated {called}: {repeated:,} of {len(words):,} different texts got exactly the {called} of another text."
    return Degeneracy("duplicates", repeated, len(words), sentence)
