"""Which ranked spans may be edited, and at which level: 003, appendix A, Selective Retention and Grouping."""

import hashlib
import math
from collections.abc import Sequence
from fractions import Fraction


def keep_first(ranking: Sequence[int], keep: float) -> tuple[int, ...]:
    """The first ceil(keep * n) of a ranking, counted exactly: the float 0.28 * 25 is above 7."""
    return tuple(ranking[: math.ceil(Fraction(str(keep)) * len(ranking))])


def snake_groups(n: int, n_groups: int) -> tuple[tuple[int, ...], ...]:
    """The indices n-1 ... 0 dealt to groups to and fro, so that each gets important and unimportant ones.

    (10, 4) gives ((9, 2, 1), (8, 3, 0), (7, 4), (6, 5)). With n < n_groups some groups are empty.
    """
    groups: list[list[int]] = [[] for _ in range(n_groups)]
    for place, index in enumerate(range(n - 1, -1, -1)):
        turn, column = divmod(place, n_groups)
        groups[column if turn % 2 == 0 else n_groups - 1 - column].append(index)
    return tuple(tuple(group) for group in groups)


def deal(kept: Sequence[int], n_groups: int, seed: int, item_id: str) -> tuple[tuple[int, ...], ...]:
    """The kept spans (most important first) in groups for A1, A2 ..., each in the order of the text.

    Which group goes to which level depends on the seed and the item's id alone, not on the item's place.
    """
    groups = snake_groups(len(kept), n_groups)
    order = sorted(range(n_groups), key=lambda number: _digest(seed, item_id, number))
    return tuple(tuple(sorted(kept[index] for index in groups[number])) for number in order)


def _digest(seed: int, item_id: str, number: int) -> bytes:
    # The id comes last: whatever it holds, two different triples never give the same text.
    return hashlib.sha256(f"group order {seed} {number} {item_id}".encode("utf-8", "surrogatepass")).digest()
