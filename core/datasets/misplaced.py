"""Which texts of a study's file are misplaced, which are missing, and which of the second the first explain.

A slip in one row leaves a gap elsewhere: a text that stands at level A7 is missing at A3. It is reported once, where
it stands; the gap that it leaves is not.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from core.datasets.reading import shown
from core.nearest import nearest_names


class Key(NamedTuple):
    """Where a text stands."""

    question: int
    """Number of the question in the file."""
    level: str
    source: str


Part = Literal["question", "level", "source"]
MOST_LISTED = 5
"""Lines and names that a sentence lists; it counts the others."""
_RARER = 4
"""A name that is this many times rarer than the most frequent one is taken for a slip."""
_MOST_PAIRED = 50
"""Names of which each is compared with each; no study has so many levels."""


def slips(places: Mapping[str, Collection[object]]) -> set[str]:
    """The names that stand for another: those that are rare, and those that fill just what another one lacks.

    places: name -> where it stands, apart from the name itself.
    """
    top = max(map(len, places.values()), default=0)
    found = {name for name, own in places.items() if len(own) * _RARER <= top}
    left = [name for name in places if name not in found]
    if len(left) > _MOST_PAIRED:
        return found
    every = frozenset().union(*(places[name] for name in left))
    for at, name in enumerate(left):
        own = places[name]
        # Of two halves the smaller is the slip; of equal ones the later.
        larger = [n for n, other in enumerate(left) if (len(places[other]), -n) > (len(own), -at)]
        halves = (places[left[n]] for n in larger if len(places[left[n]]) + len(own) == len(every))
        if any(every == {*own, *half} for half in halves):
            found.add(name)
    return found


def explain(gaps: set[Key], misplaced: Sequence[Key], wrong: Collection[Part]) -> dict[Key, Key]:
    """Take away the gaps that misplaced texts left: no more of them than there are such texts.

    wrong: the parts of a misplaced text's key that are not to be relied on. Returns text -> its gap, where there is one
    of each.
    """

    def relied_on(key: Key) -> tuple[object, ...]:
        return tuple(getattr(key, part) for part in Key._fields if part not in wrong)

    texts = Counter(map(relied_on, misplaced))
    left: dict[tuple[object, ...], list[Key]] = {known: [] for known in texts}
    for gap in gaps:
        if relied_on(gap) in left:
            left[relied_on(gap)].append(gap)
    explained = {known: own for known, own in left.items() if own and len(own) <= texts[known]}
    gaps.difference_update(gap for own in explained.values() for gap in own)
    return {
        key: explained[relied_on(key)][0]
        for key in misplaced
        if relied_on(key) in explained and texts[relied_on(key)] == 1
    }


def lines_named(lines: Collection[int]) -> str:
    """'line 8', 'lines 8 and 9', 'lines 2 to 21', 'lines 2, 5, 8, 11, 14 and 6 more'."""
    ordered = sorted(lines)
    if len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"lines {ordered[0]} to {ordered[-1]}"
    return f"line{'s' if len(ordered) > 1 else ''} {enumerated([str(line) for line in ordered])}"


def enumerated(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b, c, d, e and 7 more', fit for a message."""
    return _joined([shown(name) for name in names])


def _joined(parts: Sequence[str]) -> str:
    if len(parts) > MOST_LISTED + 1:
        return f"{', '.join(parts[:MOST_LISTED])} and {len(parts) - MOST_LISTED} more"
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def slip_sentence(name: str, count: int, others: Sequence[str], meant: str | None) -> str:
    """How often a misspelt name occurs, what the other texts have, and which of these is meant, if that is known."""
    near = meant or next(iter(nearest_names(name, others)), None)
    times = "occurs once" if count == 1 else f"occurs in {count} texts"
    hint = f"; is {shown(near)} meant?" if near else ""
    return f"{shown(name)} {times}, the others have {enumerated(others)}{hint}"


def missing_sentences(gaps: Collection[Key], names: Sequence[str], levels: Sequence[str]) -> list[str]:
    """One sentence for all questions that lack the same texts.

    names: what a sentence calls each question. levels: all of the study.
    """
    same: dict[tuple[tuple[str, str], ...], list[int]] = {}
    order = {level: at for at, level in enumerate(levels)}
    for question, keys in groupby(
        sorted(gaps, key=lambda g: (g.question, order[g.level], g.source)), lambda g: g.question
    ):
        same.setdefault(tuple((level, source) for _, level, source in keys), []).append(question)
    sentences = []
    for lacking, questions in same.items():
        whose = f"question{'s' if len(questions) > 1 else ''} {_joined([names[q] for q in questions])}"
        sentences.append(whose + _lack(lacking, len(levels)))
    return sentences


def _lack(lacking: Sequence[tuple[str, str]], n_levels: int) -> str:
    sources = dict.fromkeys(source for _, source in lacking)
    of_level = {level: [source for at, source in lacking if at == level] for level, _ in lacking}
    (level, whose), *more = of_level.items()
    if not more and len(whose) == 1:
        return f", level {shown(level)}, source {shown(whose[0])}: text is missing"
    if not more:
        return f", level {shown(level)}: texts of both sources are missing"
    if len(sources) == 1 and len(lacking) == n_levels:
        return f": all texts of source {enumerated(list(sources))} are missing"
    each = [
        f"{shown(at)} (source {shown(own[0])})" if len(own) == 1 else shown(at)
        for at, own in of_level.items()
    ]
    return f": texts are missing at the levels {_joined(each)}"
