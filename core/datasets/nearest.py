"""Names that a user typed, and the nearest of those there are: for messages."""

import re
from collections.abc import Collection, Mapping, Sequence

from rapidfuzz import process

from core.datasets.reading import shown

_MOST = 3
_ALIKE_ENOUGH = 60
"""Of 100, on rapidfuzz's scale: below it a suggestion only puzzles."""


def nearest_names(name: str, known: Collection[str]) -> list[str]:
    """The known names most like this one, best first; case does not matter."""
    found = process.extract(name.casefold(), {key: key.casefold() for key in known}, limit=_MOST)
    return [key for _, alike, key in found if alike >= _ALIKE_ENOUGH]


def likely_columns(
    missing: Sequence[str], others: Sequence[str], usual: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Which of a file's other columns may be meant by each that is missing; empty where none is like it.

    usual: column -> the names that other programs give it. A column with such a name is suggested for nothing else.
    """
    written = {other: re.sub(r"[\s.-]+", "_", other.strip().casefold()) for other in others}
    found = {column: [o for o in others if written[o] in usual.get(column, ())] for column in missing}
    taken = {name for names in found.values() for name in names}
    left = [other for other in others if other not in taken]
    return {column: names or nearest_names(column, left) for column, names in found.items()}


def rename(likely: Sequence[str], column: str) -> str:
    """The end of a sentence about a missing column: what to do if it is one of these; empty without any."""
    return f"; is it {' or '.join(map(shown, likely))}? Rename that column to {column}" if likely else ""
