"""Damage levels by their names, and ids that name them."""

from dataclasses import replace

import regex

from core.datasets.cells import is_nothing, label_of
from core.datasets.open_tables import Record

# A hyphen joins only behind a word: alone it is a minus.
_LEVEL = regex.compile(r"(?:(?:A|L|level)[ _-]?)?(?P<number>\d+(?:\.\d+)?)", regex.IGNORECASE)
_DAMAGED = regex.compile(r"(?P<item>.+)_level(?P<level>\d+)", regex.DOTALL)


def level_number(level: str | None) -> float | None:
    """How much was damaged: 0 for A0, L0 or 0, 3 for A3 or 3; higher is worse. None: the name tells no number."""
    found = (
        _LEVEL.fullmatch(level.strip()) if level is not None and len(level) < 20 and level.isascii() else None
    )
    return float(found["number"]) if found else None


def with_item_level(records: list[Record]) -> list[Record]:
    """000's ids name the level: ITEM_levelL is item ITEM at level L.

    The list itself where one id names none, or where a column says another level.
    """
    split: list[Record] = []
    for record in records:
        match = _DAMAGED.fullmatch(label_of(record.cells.get("item_id")) or "")
        level = record.cells.get("level")
        if match is None:
            return records
        if is_nothing(level):
            level = match["level"]
        elif level_number(label_of(level)) != float(match["level"]):
            return records
        split.append(replace(record, cells={**record.cells, "item_id": match["item"], "level": level}))
    return split
