"""Names that a user typed: found among those there are, or refused with the nearest of them."""

from collections.abc import Collection, Sequence

from rapidfuzz import process

from core.datasets.reading import shown
from core.errors import InputError

_MOST_NEAREST = 3
_ALIKE_ENOUGH = 60
"""Of 100, on rapidfuzz's scale: below it a suggestion only puzzles."""


def nearest_names(name: str, known: Collection[str]) -> list[str]:
    """The known names most like this one, best first; case does not matter."""
    found = process.extract(name.casefold(), {key: key.casefold() for key in known}, limit=_MOST_NEAREST)
    return [key for _, alike, key in found if alike >= _ALIKE_ENOUGH]


def check_names(what: str, asked: Sequence[str], known: Collection[str]) -> None:
    """Raise InputError for names that are not there, each with the nearest, and with the list of all."""
    problems = []
    for name in asked:
        if name not in known:
            nearest = ", ".join(map(shown, nearest_names(name, known)))
            problems.append(f"{shown(name)!r} is unknown" + (f"; the nearest: {nearest}" if nearest else ""))
    if problems:
        there = ", ".join(map(shown, known)) or "none"
        raise InputError(f"There is no such {what}; there is: {there}.", problems)
