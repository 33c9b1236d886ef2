"""Which rows are the levels of one text: the same item of the same system, told apart by labels only where needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.analysis.row_columns import Key, values_of
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import ScoredRow

_MOST_NAMED = 10


@dataclass(frozen=True)
class LevelUnits:
    """Rows put together."""

    unit: tuple[int, ...]
    """Number of each row's unit."""
    first: tuple[int, ...]
    """The first row of each unit."""
    labels: tuple[Mapping[str, str], ...]
    """What all rows of a unit share."""


def units_of(rows: Sequence[ScoredRow], levels: Sequence[int]) -> LevelUnits:
    """Put rows together; levels: number of each row's level.

    A unit is an item, in its data set and language, of one system. Where it would hold a level twice, labels under which
    an item has several levels (generator, shots, prompt) tell units apart; a label of each row alone, such as a remark,
    never does. Raises InputError where a level still stands twice.
    """
    columns = [
        [row.item_id for row in rows],
        [row.system for row in rows],
        values_of(rows, "dataset"),
        values_of(rows, "language"),
    ]
    labels = list(dict.fromkeys(label for row in rows for label in row.labels))
    keys: list[Key] = list(zip(*columns, strict=True))
    apart: list[str] = []
    if _twice(keys, levels):
        apart = [
            label for label in labels if _has_levels(keys, [row.labels.get(label) for row in rows], levels)
        ]
        keys = [
            (*key, *(row.labels.get(label) for label in apart)) for key, row in zip(keys, rows, strict=True)
        ]
    if twice := _twice(keys, levels):
        raise InputError("Scores by level need each text once.", _problems(rows, twice))
    numbers: dict[Key, int] = {}
    unit = tuple(numbers.setdefault(key, len(numbers)) for key in keys)
    first: dict[int, int] = {}
    shared: dict[int, dict[str, str]] = {}
    for index, number in enumerate(unit):
        own = rows[index].labels
        first.setdefault(number, index)
        before = shared.setdefault(number, dict(own))
        shared[number] = {name: value for name, value in before.items() if own.get(name) == value}
    return LevelUnits(unit, tuple(first.values()), tuple(shared.values()))


def _twice(keys: Sequence[Key], levels: Sequence[int]) -> list[int]:
    """Rows whose level their unit has already."""
    seen: set[tuple[Key, int]] = set()
    found = []
    for index, at in enumerate(zip(keys, levels, strict=True)):
        if at in seen:
            found.append(index)
        seen.add(at)
    return found


def _has_levels(keys: Sequence[Key], values: Sequence[str | None], levels: Sequence[int]) -> bool:
    """Whether most of an item's texts with one value of a label have further levels under that value."""
    held: dict[tuple[Key, str | None], set[int]] = {}
    for key, value, level in zip(keys, values, levels, strict=True):
        held.setdefault((key, value), set()).add(level)
    return 2 * sum(len(own) > 1 for own in held.values()) > len(held)


def _problems(rows: Sequence[ScoredRow], twice: Sequence[int]) -> list[str]:
    listed = [
        f"item {shown(rows[index].item_id)}, system {shown(rows[index].system)}, level {shown(rows[index].level or '')} "
        "is listed more than once"
        for index in twice[:_MOST_NAMED]
    ]
    more = [f"and {len(twice) - _MOST_NAMED} more"] if len(twice) > _MOST_NAMED else []
    return [*listed, *more]
