"""Signs that a judge's scores measure little: it says the same of all texts, repeats itself, or says too little.

A sign makes no score wrong by itself. It stands beside the scores, so that nobody reads them without it.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

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
