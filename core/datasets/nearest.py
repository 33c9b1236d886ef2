"""Names in messages: those there are, and the columns that a user may have meant."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from core.datasets.reading import shown
from core.nearest import MOST_NAMED, nearest_names

MOST_LISTED = 30
"""Names that a message lists; of more, the likely ones."""


def listed(names: Sequence[str], wanted: Iterable[str] = ()) -> str:
    """The names for a message; of many, their number and those most like a wanted one, else the first."""
    if len(names) <= MOST_LISTED:
        return ", ".join(map(_written, names))
    likely = dict.fromkeys(near for name in wanted for near in nearest_names(name, names))
    return f"{len(names):,}, among them {', '.join(map(_written, list(likely)[:MOST_LISTED] or names[:MOST_NAMED]))}"


def _written(name: str) -> str:
    return shown(name) or "(no name)"


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
