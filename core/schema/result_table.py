"""A table of results: columns that know what they hold, typed cells, notes. Every door renders the same one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Heat = Literal["coefficient", "share"]
"""Colours behind numbers: from -1 to 1 with white at 0, or from 0 to 1 with white at one half."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with the ends of its interval; where one is missing, the reason."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    """Units behind the number: texts, items, pairs."""
    n_left_out: int | None = None
    reason: str = ""
    """Why the value is undefined."""
    interval_reason: str = ""
    """Why a defined value has no interval, where one was asked for; with an interval, why not to trust it."""
    beside: str = ""
    """What readers see behind the number, such as `(1 of 14 items)`; files have it as counts."""
    how: tuple[tuple[str, str | int | float | None], ...] = ()
    """Further entries of its object in JSON, such as how its interval was drawn."""


Cell: TypeAlias = str | int | float | Interval | Mapping[str, int] | None
"""Text, count, number, number with its interval, reasons with their counts, or nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Files hold every column; readers see those that are `shown`."""

    name: str
    """In CSV and data frames: lower case with underscores, unless it is a name of the user's."""
    title: str = ""
    """Above the column for readers; empty: the name with blanks."""
    places: int = 3
    """Decimals for readers; files hold every digit."""
    shown: bool = True
    names_row: bool = False
    """Whether it says what the row is about: notes name rows by it, narrow terminals repeat it."""
    heat: Heat | None = None
    percent: bool = False
    """Whether readers see the number times 100."""
    p_value: bool = False
    """Whether a number too small for the decimals is written as `below 0.001`."""
    general: bool = False
    """Whether readers see significant digits instead of decimals, as of a threshold that may be tiny."""
    long: bool = False
    """Whether it holds texts too long for a cell of a terminal, which then writes each row as lines."""

    @property
    def heading(self) -> str:
        """What stands above the column."""
        return self.title or self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows of cells in the order of the columns. Raises ValueError where a row has another length."""

    name: str
    """Of its files, in lower case with hyphens, such as `correlations`."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    """A line above the table, for readers."""
    notes: tuple[str, ...] = field(default=())
    """Sentences below the table: how intervals were made, what was left out."""
    marked: tuple[int, ...] = ()
    """Places of rows that the answer is about. A page shows them in bold, and says what they are."""
    mark: str = ""
    """What the marked rows are, such as `the fewest votes`."""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.name}: every row needs {len(self.columns)} cells")
