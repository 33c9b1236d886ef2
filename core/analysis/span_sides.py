"""What the readers of marked errors said of each side of a comparison."""

from collections.abc import Sequence

from core.datasets.reading import shown
from core.schema.scores import RatingSet

PEOPLE = "people"
"""The gold, in notes."""


def said_of(side: str, sets: Sequence[RatingSet]) -> tuple[str, ...]:
    """A side's notes, and what its reader left out, each with the side's name before it.

    sets: one, or one a draw; of what several draws left out for one reason, the largest number. They are notes, as a
    text without marks on one side is counted once already, where it has nothing to be compared with.
    """
    notes = [note for one in sets for note in one.notes]
    lost: dict[str, int] = {}
    for one in sets:
        for reason, n in one.left_out.items():
            lost[reason] = max(n, lost.get(reason, 0))
    of = "of a draw at most " if len(sets) > 1 else ""
    notes += [f"left out when it was read: {of}{n:,}: {shown(reason)}" for reason, n in lost.items() if n]
    return tuple(dict.fromkeys(f"{shown(side)}: {note}" for note in notes))
