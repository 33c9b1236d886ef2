"""How far generated levels are from their reference: the share of the reference's words that they keep.

It says how much was changed, nothing of how well: a level may keep nearly every word and be wrong in all that
counts. It is a look at what a run did, and no metric of quality.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from core.diff import tokenize


@dataclass(frozen=True)
class WordsKept:
    """One level, over items."""

    level: str
    n: int
    """Items with a text at this level and a reference with words in it."""
    mean: float | None
    """Share of the reference's words kept, 0 to 1; None: no item could be used."""
    low: float | None
    """The item that kept fewest."""
    high: float | None


def share_kept(reference: str, text: str) -> float | None:
    """Words that reference and text have in the same order, over the words of the reference.

    That is the length of the longest common subsequence of their words. A word is a token of core.diff that
    holds a letter or digit (in scripts written without spaces: one visible character), compared as written.
    None: the reference has no word.
    """
    expected = _words(reference)
    if not expected:
        return None
    # rapidfuzz compares hashes: numbered words cannot collide.
    numbers: dict[str, int] = {}
    first, second = (
        [numbers.setdefault(word, len(numbers)) for word in words] for words in (expected, _words(text))
    )
    return float(LCSseq.similarity(first, second)) / len(expected)


def words_kept(
    references: Mapping[str, str], texts: Iterable[tuple[str, Mapping[str, str]]], levels: Sequence[str]
) -> tuple[WordsKept, ...]:
    """Mean and range of share_kept at each level.

    references: item -> reference. texts: item and its texts by level; an item counts at the levels it has.
    """
    shares: dict[str, list[float]] = {level: [] for level in levels}
    for item_id, by_level in texts:
        for level in by_level.keys() & shares.keys():
            share = share_kept(references[item_id], by_level[level])
            if share is not None:
                shares[level].append(share)
    return tuple(_summary(level, found) for level, found in shares.items())


def _summary(level: str, shares: Sequence[float]) -> WordsKept:
    if not shares:
        return WordsKept(level, 0, None, None, None)
    return WordsKept(level, len(shares), sum(shares) / len(shares), min(shares), max(shares))


def _words(text: str) -> list[str]:
    return [token for token in tokenize(text) if any(char.isalnum() for char in token)]
