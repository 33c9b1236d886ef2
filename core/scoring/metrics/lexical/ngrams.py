"""Sequences of n neighbours in a text, counted, and how many of them two texts share."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_TAG = 59
"""Bits of a sequence's number. Three bits above them say how long it is, one below says which text it is from."""
LONGEST = 7
"""Of character sequences: the tag has three bits."""


class Ngrams:
    """The sequences of n words of a text, each written as one string."""

    def __init__(self, sequences: Sequence[str]) -> None:
        self.distinct = frozenset(sequences)
        self.repeated: dict[str, int] = {}
        """How often, of those that occur more than once: mostly few."""
        if len(self.distinct) < len(sequences):
            self.repeated = {sequence: times for sequence, times in Counter(sequences).items() if times > 1}


def n_shared(first: Ngrams, second: Ngrams) -> int:
    """Sequences that both have, each as often as the one that has it less often."""
    shared = len(first.distinct & second.distinct)
    if first.repeated and second.repeated:
        for sequence in first.repeated.keys() & second.repeated.keys():
            shared += min(first.repeated[sequence], second.repeated[sequence]) - 1
    return shared


def shared_characters(first: NDArray[np.uint32], second: NDArray[np.uint32], longest: int) -> list[int]:
    """Shared sequences of 1, 2, ... `longest` characters, counted as n_shared counts.

    first, second: code points. Every sequence becomes one whole number, without collisions, so that one sort
    does for all lengths and both texts.
    """
    if longest > LONGEST:
        raise ValueError(f"sequences of at most {LONGEST} characters, not {longest}")
    if not len(first) or not len(second):
        return [0] * longest
    keys = _keys(first, second, longest)
    keys.sort()
    of_second = keys & 1
    keys >>= 1
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    times = np.append(starts[1:], len(keys)) - starts
    there = np.add.reduceat(of_second, starts)
    shared = np.minimum(there, times - there)
    totals = np.bincount(keys[starts] >> _TAG, weights=shared, minlength=longest + 1)
    return [int(total) for total in totals[1 : longest + 1]]


def _keys(first: NDArray[np.uint32], second: NDArray[np.uint32], longest: int) -> NDArray[np.int64]:
    """The sequences of both texts as numbers: equal but for the last bit exactly where the sequences are."""
    letters = np.concatenate((first, second)).astype(np.int64)
    size = int(letters.max()) + 1
    if size**longest > 1 << _TAG:
        alphabet, letters = np.unique(letters, return_inverse=True)
        size = len(alphabet)
    codes, top = letters, size
    end, total = len(first), len(letters)
    ours: list[NDArray[np.int64]] = []
    theirs: list[NDArray[np.int64]] = []
    for n in range(1, longest + 1):
        if n > 1:
            if top * size > 1 << _TAG:
                # Ranks instead of numbers that grow: as many as there are sequences, at most.
                codes = np.unique(codes, return_inverse=True)[1]
                top = int(codes.max()) + 1
            codes = codes[:-1] * size + letters[n - 1 :]
            top *= size
        if n > total:
            break
        tagged = codes + (n << _TAG)
        ours.append(tagged[: max(end - n + 1, 0)])
        theirs.append(tagged[end:])
    keys = np.concatenate((*ours, *theirs)) << 1
    keys[sum(map(len, ours)) :] += 1
    return keys
