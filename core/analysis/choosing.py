"""Names that a user typed: found among those there are, or refused with the nearest of them."""

from collections.abc import Collection, Sequence

from core.datasets.nearest import listed
from core.datasets.reading import shown
from core.errors import InputError
from core.nearest import nearest_names


def check_names(what: str, asked: Sequence[str], known: Collection[str]) -> None:
    """Raise InputError for names that are not there, each with the nearest, and with the list of all."""
    problems = []
    for name in asked:
        if name not in known:
            nearest = ", ".join(map(shown, nearest_names(name, known)))
            problems.append(f"{shown(name)!r} is unknown" + (f"; the nearest: {nearest}" if nearest else ""))
    if problems:
        raise InputError(f"There is no such {what}; there is: {listed([*known], asked) or 'none'}.", problems)
