"""Every random decision of a study, from SHA-256 over (seed, rater, item, level) and a word for its purpose.

Nothing else goes in: not the sources' names, not which of them is the candidate, not the file's hash.
docs/design.md holds a ten-line script that derives the sides again; a test runs it.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from core.schema.study import Assignment, Design, Item, Output

REPEAT_DISTANCE = 10
"""At least this many other pairs stand between a pair and its hidden repeat."""

_Key = TypeVar("_Key")
Pair = tuple[str, str]
"""(item_id, level)"""


def draw(seed: int, rater: str, item: str, level: str, purpose: str) -> int:
    """A 256-bit integer: SHA-256 of the JSON list [seed, rater, item, level, purpose]."""
    message = json.dumps([seed, rater, item, level, purpose], ensure_ascii=False, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(message.encode()).digest(), "big")


def first_source(items: Sequence[Item], levels: Sequence[str], outputs: Iterable[Output]) -> str:
    """The source whose text sorts first (by code point) where the two first differ.

    It gives the two sources an order that neither their names nor their roles can change.
    """
    texts = {(o.source, o.item_id, o.level): o.text for o in outputs}
    sources = sorted({source for source, _, _ in texts})

    def all_texts(source: str) -> list[str]:
        return [texts[source, item.item_id, level] for item in items for level in levels]

    return min(sources, key=all_texts)


def every_other(keyed: Mapping[_Key, int]) -> set[_Key]:
    """Half of the keys, drawn: sorted by their draws, alternately taken, the first one by its parity.

    Of an odd number it takes one more or one less than the rest, each with probability 1/2.
    """
    ranked = sorted(keyed, key=lambda key: keyed[key])
    offset = keyed[ranked[0]] % 2 if ranked else 0
    return {key for rank, key in enumerate(ranked) if (rank + offset) % 2 == 0}


def first_on_left(seed: int, rater: str, item_ids: Iterable[str], level: str) -> set[str]:
    """Items of one rater and level whose first source stands on the left: half of them."""
    return every_other({item: draw(seed, rater, item, level, "side") for item in item_ids})


def main_sequence(design: Design, rater: str, item_ids: Iterable[str], levels: Sequence[str]) -> list[Pair]:
    """The pairs of one rater in the order shown, without repeats: questions shuffled, whole one by one."""
    seed = design.seed
    sequence: list[Pair] = []
    for item in sorted(item_ids, key=lambda i: draw(seed, rater, i, "", "question")):
        order = list(levels)
        if design.level_order == "shuffled":
            order.sort(key=lambda level: draw(seed, rater, item, level, "level"))
        sequence += [(item, level) for level in order]
    return sequence


def with_repeats(
    design: Design, rater: str, main: Sequence[Pair], n_levels: int
) -> list[tuple[Pair, bool, bool]]:
    """The sequence with hidden repeats, as (pair, repeat, sides swapped).

    round(repeat_share * pairs) pairs come back once, half of them with sides swapped, at a question's
    end and with at least REPEAT_DISTANCE other pairs between; pairs too late for that are never drawn,
    so a very short study has no repeats.
    """
    seed = design.seed
    gaps = range(n_levels, len(main) + 1, n_levels)
    last = len(main) - REPEAT_DISTANCE
    early = sorted(main[: max(last, 0)], key=lambda pair: draw(seed, rater, pair[0], pair[1], "repeat"))
    chosen = early[: int(design.repeat_share * len(main) + 0.5)]
    swapped = every_other({pair: draw(seed, rater, pair[0], pair[1], "swap") for pair in chosen})
    after: dict[int, list[Pair]] = {}
    for pair in chosen:
        free = [gap for gap in gaps if gap >= main.index(pair) + 1 + REPEAT_DISTANCE]
        after.setdefault(free[draw(seed, rater, pair[0], pair[1], "place") % len(free)], []).append(pair)
    sequence: list[tuple[Pair, bool, bool]] = []
    for number, pair in enumerate(main, start=1):
        sequence.append((pair, False, False))
        sequence += [(again, True, again in swapped) for again in after.get(number, [])]
    return sequence


def assign(
    design: Design, rater: str, item_ids: Sequence[str], levels: Sequence[str], first: str
) -> list[Assignment]:
    """What one rater is shown, in order: sides balanced within each level, hidden repeats in place.

    `first` is the source that first_source() names.
    """
    second = design.comparator if first == design.candidate else design.candidate
    on_left = {level: first_on_left(design.seed, rater, item_ids, level) for level in levels}
    main = main_sequence(design, rater, item_ids, levels)
    assignments = []
    for position, ((item, level), repeat, swap) in enumerate(
        with_repeats(design, rater, main, len(levels)), start=1
    ):
        left, right = (first, second) if (item in on_left[level]) != swap else (second, first)
        assignments.append(Assignment(rater, position, item, level, left, right, repeat))
    return assignments


def share_out(
    design: Design,
    item_ids: Sequence[str],
    raters: Sequence[str],
    already: Mapping[str, set[str]] | None = None,
    *,
    closed: Collection[str] = (),
) -> dict[str, list[str]]:
    """Which questions each rater gets: rater -> item ids in the file's order.

    Without votes_per_pair everybody gets all. Else each question goes whole to votes_per_pair raters,
    those with the fewest questions so far first and ties by draw, never more than max_questions each.
    `already` holds what raters have, which stays; those in `closed` get nothing more.
    """
    if design.votes_per_pair is None:
        return {rater: list(item_ids) for rater in raters}
    held = {rater: set((already or {}).get(rater, set())) for rater in raters}
    cap = design.max_questions or len(item_ids)
    for item in sorted(item_ids, key=lambda i: draw(design.seed, "", i, "", "workload")):
        missing = design.votes_per_pair - sum(item in items for items in held.values())
        free = [r for r in raters if r not in closed and item not in held[r] and len(held[r]) < cap]
        free.sort(key=lambda r: (len(held[r]), draw(design.seed, r, item, "", "workload")))
        for rater in free[: max(missing, 0)]:
            held[rater].add(item)
    return {rater: [item for item in item_ids if item in held[rater]] for rater in raters}
