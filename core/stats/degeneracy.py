"""Signs that a judge's scores measure little: it says nearly the same of all texts, repeats itself, or says nothing."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.stats.near_ties import tied

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
