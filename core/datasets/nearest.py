"""Names that a user typed, and the nearest of those there are: for messages."""

from collections.abc import Collection, Iterable, Sequence

from rapidfuzz import process

from core.datasets.reading import shown

MOST_LISTED = 30
"""Names that a message lists; of more, the likely ones."""
_MOST = 3
_ALIKE_ENOUGH = 60
"""Of 100, on rapidfuzz's scale: below it a suggestion only puzzles."""


def nearest_names(name: str, known: Collection[str]) -> list[str]:
    """The known names most like this one, best first; case does not matter."""
    found = process.extract(name.casefold(), {key: key.casefold() for key in known}, limit=_MOST)
    return [key for _, alike, key in found if alike >= _ALIKE_ENOUGH]


def listed(names: Sequence[str], wanted: Iterable[str] = ()) -> str:
    """The names for a message; of many, their number and those most like a wanted one, else the first."""
    if len(names) <= MOST_LISTED:
        return ", ".join(map(_written, names))
    likely = dict.fromkeys(near for name in wanted for near in nearest_names(name, names))
    return (
        f"{len(names):,}, among them {', '.join(map(_written, list(likely)[:MOST_LISTED] or names[:_MOST]))}"
    )


def _written(name: str) -> str:
    return shown(name) or "(no name)"
