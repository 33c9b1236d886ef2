"""Names that a user typed, and the nearest of those there are."""

from collections.abc import Collection

from rapidfuzz import process

MOST_NAMED = 3
_ALIKE_ENOUGH = 60
"""Of 100, on rapidfuzz's scale: below it a suggestion only puzzles."""


def nearest_names(name: str, known: Collection[str]) -> list[str]:
    """The known names most like this one, best first; case does not matter."""
    found = process.extract(name.casefold(), {key: key.casefold() for key in known}, limit=MOST_NAMED)
    return [key for _, alike, key in found if alike >= _ALIKE_ENOUGH]
