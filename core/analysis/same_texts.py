"""Which of many texts is the one that a row of scores is about, where sides name it in ways of their own."""

from collections.abc import Sequence

from core.analysis.row_columns import level_key
from core.datasets.open_tables import ONLY_SYSTEM
from core.schema.scores import ScoredRow


def place_of(row: ScoredRow, rows: Sequence[ScoredRow]) -> int | None:
    """The place of the one among `rows` that is about the same text; None where there is none, or more than one fits.

    The item is the same, and level, system, language and the labels that both have do not contradict each other; levels
    meet under any of their names (A3, 3). Where two fit, one of them would be another text beside these scores.
    """
    fitting = [place for place, other in enumerate(rows) if _may_be_one(row, other)]
    return fitting[0] if len(fitting) == 1 else None


def text_of(row: ScoredRow, named: Sequence[tuple[ScoredRow, str]]) -> str | None:
    """The text that the row is about, of texts with their rows; None where none fits, or texts that differ do."""
    fitting = {text for other, text in named if _may_be_one(row, other)}
    return fitting.pop() if len(fitting) == 1 else None


def _may_be_one(row: ScoredRow, other: ScoredRow) -> bool:
    sides: list[tuple[object, object, object]] = [
        (level_key(row.level), level_key(other.level), None),
        (row.system, other.system, ONLY_SYSTEM),
        (row.language, other.language, "und"),
        *((row.labels[name], other.labels[name], "") for name in row.labels.keys() & other.labels.keys()),
    ]
    return row.item_id == other.item_id and all(
        one == another or blank in (one, another) for one, another, blank in sides
    )
