"""Where people and judge differ most, as the rows that every door shows."""

from collections.abc import Mapping

from core.schema.result_table import Cell
from core.schema.rows import WHOLE, column, columns, entry, row

TITLE = "Where people and judge differ most"


@row
class GapRow:
    """A text that people and a judge both labelled."""

    item: str = column("its item", names_row=True)
    system: str = column("its system", names_row=True)
    language: str = column("its language")
    level: str | None = column("its level, if it has one", names_row=True)
    ratings: Mapping[str, Cell] = columns(
        "the label of each rater, in a column of the rater's name", general=True, flat=True
    )
    judge: str = column("the judge", names_row=True)
    score: str | float | None = column("the judge's label or score", general=True)
    people: float | None = column("the raters' mean", title="raters' mean", general=True)
    gap: float = column("how far judge and people differ, by `measure`", places=2)
    direction: str = column(
        "higher or lower: where the judge stands; empty without an order", title="judge is"
    )
    measure: str = column(
        "scale: distance on the raters' scale; labels: share of raters with another label; ranks: distance of ranks"
    )
    made: Mapping[str, str] = columns("groups that Assay makes, such as marks of injection", flat=True)
    texts: Mapping[str, str] = columns(
        "`question`, `text` and the judge's `reasons`, only if they are asked for, as they may be confidential",
        long=True,
        flat=True,
    )


@row
class Gaps:
    """The texts on which people and judges differ most."""

    gaps: tuple[GapRow, ...] = entry("the texts, largest gap first", key=WHOLE, rows=GapRow)
    notes: tuple[str, ...]
    """How gaps are measured, and what was left out."""
    hidden: tuple[str, ...]
    """Columns that readers need not see."""
    shaped: Mapping[str, Mapping[str, str]]
    """Column -> its title, where that depends on the texts."""
