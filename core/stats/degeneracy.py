"""Scores that coincide: those that differ by rounding alone are one number (.1 + .2 is .3, though not in binary), and signs
that a judge's scores measure little: it says nearly the same of all texts, repeats itself, or says nothing.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.resampling import Floats

ROUNDING = 1e-12
"""Relative to what was added up; a sum of a thousand doubles is off by less."""


def tied(values: Floats, sizes: Floats | None = None) -> Floats:
    """Values along the last axis, with those that differ by no more than rounding replaced by the least of them.

    sizes: shape of values; how large what was added up to each value was (a mean of -1 and 1 is 0, its rounding is
    that of 1). None: the values themselves. NaN stays. A chain of values, each near the next, is one value.
    """
    size = np.abs(values) if sizes is None else sizes
    order = np.argsort(values, axis=-1, kind="stable")
    ascending, ordered = (np.take_along_axis(each, order, axis=-1) for each in (values, size))
    reach = ROUNDING * np.maximum(ordered[..., 1:], ordered[..., :-1])
    near = ascending[..., 1:] <= ascending[..., :-1] + reach  # no difference is taken: it could overflow
    differ = near & (ascending[..., 1:] != ascending[..., :-1])
    if not differ.any():
        return values
    place = np.broadcast_to(np.arange(values.shape[-1]), values.shape).copy()
    place[..., 1:][near] = 0
    first = np.maximum.accumulate(place, axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ascending, first, axis=-1), axis=-1)
    return result


def group_means(values: Floats, group: NDArray[np.intp], n_groups: int, least_size: float = 0.0) -> Floats:
    """Mean of the values (n,) of each group, whatever their order, equal ones tied; NaN for a group without any.

    least_size: how large the values' own rounding takes them for, where they are differences of larger numbers.
    """
    if values.size == n_groups == np.unique(group).size:  # one a group, which is its mean
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
    except OverflowError:  # a sum of the largest doubles; their mean is none
        return math.fsum(value / len(own) for value in own)


CONSTANT_SHARE = 0.95
"""From this share of the scores on, one score makes a judge nearly constant. A convention of this product, not a
published one."""


@dataclass(frozen=True)
class Constant:
    """The score that covers all, or nearly all, texts scored."""

    value: float
    """On the judge's own scale."""
    share: float
    """Of the scores, from CONSTANT_SHARE to 1."""
    n: int
    """Scores, at least two."""
    n_others: int
    """Scores that are another."""

    def said(self, name: str, things: str = "texts") -> str:
        """The verdict in a sentence or two; name: of the judge; things: plural of what it scored."""
        score = f"{self.value:.6g}"
        if not self.n_others:
            return (
                f"{name} is constant: all {self.n:,} {things} score {score}. It tells no two of them apart."
            )
        return (
            f"{name} is nearly constant: {self.n - self.n_others:,} of {self.n:,} {things} ({self.share:.1%}) score {score}. "
            f"What else is said of it rests on the remaining {self.n_others:,}."
        )


def constants_said(named: Iterable[tuple[str, Constant | None]], things: str = "texts") -> tuple[str, ...]:
    """What stands before any other number of judges (name, constant): a sentence for each that is constant, once."""
    return tuple(dict.fromkeys(one.said(name, things) for name, one in named if one is not None))


def constant(values: ArrayLike) -> Constant | None:
    """The most frequent score where it covers at least CONSTANT_SHARE of the scores; None where scores vary.

    values: any shape, NaN where there is no score; scores that differ by rounding alone are one. None below two scores,
    of which nothing can be said. Of fewer than 20 scores only equal ones are that close. Misleads on few texts, of which a
    good judge may say the same; and where most texts are alike, a constant judge may be right.
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
"""From this share of the texts on, repeated words are a sign. A convention of this product, not a published one."""


@dataclass(frozen=True)
class Degeneracy:
    """One sign."""

    sign: Sign
    count: int
    """What shows the sign: texts, or what the sentence names."""
    of: int
    """Out of so many."""
    sentence: str
    """Verdict first, then the numbers."""


def duplicates(said: Iterable[tuple[Hashable, Sequence[str]]], called: str) -> Degeneracy | None:
    """Whether a judge says the same words of different texts; None: of fewer than DUPLICATE_SHARE of them.

    said: (text, what was said of it), as the judge read it; texts of which nothing was said do not count, and equal texts
    are one. called: plural of what was said, such as `feedback`. Misleads where words are few: a judge that only ever
    writes "Correct." repeats itself and may be right.
    """
    words = {text: tuple(own) for text, own in said if own}
    times: dict[tuple[str, ...], int] = {}
    for own in words.values():
        times[own] = times.get(own, 0) + 1
    repeated = sum(n for n in times.values() if n > 1)
    if not repeated or repeated < DUPLICATE_SHARE * len(words):
        return None
    sentence = f"Repeated {called}: {repeated:,} of {len(words):,} different texts got exactly the {called} of another text."
    return Degeneracy("duplicates", repeated, len(words), sentence)
