"""What an item is: the unit that depends on no other, over which intervals are computed. Declared, or guessed and shown."""

from dataclasses import dataclass
from typing import Literal

ID, ROW = "id", "row"
"""Items are what the file's ids name; or every row is an item of its own."""
FEWEST_VALUES = 30
"""Different values from which a column that repeats is the item without being declared."""


@dataclass(frozen=True)
class Unit:
    """What an item is, in one input."""

    name: str = ID
    """ID, ROW, or the column whose values are the items."""
    origin: Literal["declared", "guessed"] = "guessed"
    n: int = 0
    """Number of items."""
    undecided: str | None = None
    """A column whose values repeat in several rows, but too few to be sure that they are the items; None if there is none."""
    n_values: int = 0
    """Different values of that column."""
    joined_by_row: bool = False
    """Whether files without ids were joined by the numbers of their rows."""

    @property
    def said(self) -> str:
        """The unit in one line: `items: 140 rows; question repeats (14 values)`."""
        of_rows = self.name == ROW or (self.name == ID and self.undecided is not None)
        what = "rows" if of_rows else "ids" if self.name == ID else f"values of {self.name}"
        parts = [f"items: {self.n:,} {what}"]
        if self.undecided is not None:
            parts.append(f"{self.undecided} repeats ({self.n_values:,} values)")
        if self.joined_by_row:
            parts.append("files joined by row number, because they have no ids")
        return "; ".join(parts)

    @property
    def undecided_said(self) -> str:
        """Why it is not known what an item is: the unit of all intervals; empty if it is."""
        if self.undecided is None:
            return ""
        return (
            f"{self.undecided} repeats, with {self.n_values} values, so items may be {self.undecided} or rows: "
            f"say which, item {self.undecided} or row"
        )

    @property
    def advice(self) -> str:
        """What to do where the unit is undecided, with names of fields: `item: say what an item is, question or row`."""
        return "" if self.undecided is None else f"item: say what an item is, {self.undecided} or {ROW}"


UNCOUNTED = Unit()
"""Of a panel whose items were not counted yet."""
